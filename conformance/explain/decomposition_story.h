#pragma once
// The error decomposition of one block: scale bias, deadzone truncation, grid noise. Rules D1 to D8 of
// docs/rules-corrections.md.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conformance/explain/explanation.h"
#include "formats/result.h"
#include "reference/portable/decompose.h"
#include "reference/portable/tensor.h"

namespace fp4proof::explain {

/// The rows that a block stands in, and what became of them.
struct DecompositionQuestion {
  const Profile& profile;                 ///< Q* is the ideal quantizer of this one (D8)
  portable::TensorView tensor;            ///< block axis last
  std::span<const std::uint32_t> random;  ///< one random word an element where the profile rounds stochastically
  float tensor_scale = 1.0F;              ///< of the profile, without corrections
  std::span<const float> values;          ///< Q(x), one an element
  std::int64_t row = 0;                   ///< corner and extent of the block that is asked for
  std::int64_t column = 0;
  BlockShape block;
};

struct ElementDecomposition {
  int index = 0;                  ///< in the block
  std::uint32_t input = 0;        ///< x
  std::uint32_t value = 0;        ///< Q(x)
  std::uint32_t largest = 0;      ///< m, the largest finite magnitude of its block under the profile
  double ideal = 0;               ///< F Q*(x)
  std::optional<Rational> level;  ///< |Q*| over the ideal scale; nothing where m is 0 or x is not finite
  std::optional<int> code;        ///< the ideal magnitude code; nothing for HiF4, whose level bits share in it
  bool excluded = false;          ///< D4
  bool in_deadzone = false;       ///< D2
  bool identity_holds = true;     ///< F e = (F e_scale + F e_deadzone) + F e_grid
  portable::ErrorTerms terms;     ///< F times each
};

struct BlockDecomposition {
  const Profile* profile = nullptr;
  int factor = 0;                              ///< F
  Rational full_scale;                         ///< what m is coded as: the largest value of the element, 7 for HiF4
  std::vector<ElementDecomposition> elements;  ///< those of the block that the tensor has, row after row
  std::optional<portable::ErrorSplit> sums;    ///< D5; nothing where the block is a tile of the stack
};

/// Decomposes one block; the profile must outlive the result. Errors: those of portable::decompose_rows().
Result<BlockDecomposition> decompose_block(const DecompositionQuestion& question);

/// A block without corrections, as decompose_block() asks for it. `explanation` is of a block that was not refused and
/// outlives this.
class PlainBlock {
 public:
  explicit PlainBlock(const Explanation& explanation);
  DecompositionQuestion question() const;

 private:
  const Explanation& explanation_;
  std::vector<std::int64_t> shape_;
  std::vector<float> values_;
};

}  // namespace fp4proof::explain
