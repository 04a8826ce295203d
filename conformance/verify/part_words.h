#pragma once
// What the parts of a corrected tensor are codes of.

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/suite/case_group.h"

namespace fp4proof::verify {

/// The words that the inner quantizer rounds to the codes of one part, row-major [rows, columns], block axis last: x
/// after a Hadamard transform and under its macro factor, or three quarters of it; for the residual RN(x - x1) under
/// its own factor.
struct PartWords {
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> random;  ///< of the same elements; empty where nothing rounds stochastically
  float tensor_scale = 1.0F;
  std::int64_t columns = 0;

  /// Padding is zero.
  std::uint32_t word(std::int64_t row, std::int64_t column) const { return at(words, row, column); }
  std::uint32_t random_word(std::int64_t row, std::int64_t column) const { return at(random, row, column); }

 private:
  std::uint32_t at(const std::vector<std::uint32_t>& all, std::int64_t row, std::int64_t column) const {
    return all.empty() || column >= columns ? 0 : all[static_cast<std::size_t>(row * columns + column)];
  }
};

/// Of a correct case, computed by the reference; nothing where the profile refuses the case, or it has no such part.
std::optional<PartWords> part_words(const Profile& profile, const suite::CaseGroup& group, std::size_t index,
                                    bool residual);

}  // namespace fp4proof::verify
