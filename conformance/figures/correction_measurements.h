#pragma once
// Tensors of the published figures on corrections, and measurements of them, each made once.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "conformance/study/distributions.h"
#include "formats/spec.h"
#include "formats/spec_corrections.h"
#include "reference/portable/decompose.h"

namespace fp4proof {

/// The error of a corrected tensor by the place of its elements, over |x|^2.
struct ErrorParts {
  double scale = 0;         ///< |e_scale|^2 / |x|^2 (rule D3)
  double in_deadzone = 0;   ///< the error on the elements of D (rule D2)
  double off_deadzone = 0;  ///< the error on the others
  double whole = 0;
};

/// Draws tensors by name and measures them under profiles and stacks of the tables; a result is kept for the next time
/// that it is asked for. All names must exist.
class CorrectionMeasurements {
 public:
  static constexpr std::int64_t rows = 1024;
  static constexpr std::int64_t columns = 4096;

  /// @param seed  Philox seed of the tensors (stream `eval`, step 0)
  /// @param done  called after each measurement
  CorrectionMeasurements(std::uint64_t seed, std::function<void()> done) : seed_(seed), done_(std::move(done)) {}

  /// The decomposed error of `distribution` under a profile and a stack.
  const portable::ErrorSplit& split(std::string_view distribution, std::string_view profile,
                                    std::string_view stack = "none");

  /// The same for a stack that has no name in the table; not kept.
  portable::ErrorSplit split_of(std::string_view distribution, const Profile& profile, const CorrectionStack& stack);

  /// The error by place.
  ErrorParts parts(std::string_view distribution, std::string_view profile, std::string_view stack);

 private:
  const Bf16Matrix& tensor(std::string_view distribution);

  std::uint64_t seed_;
  std::function<void()> done_;
  std::map<std::string, Bf16Matrix, std::less<>> tensors_;
  std::map<std::string, portable::ErrorSplit, std::less<>> splits_;
};

}  // namespace fp4proof
