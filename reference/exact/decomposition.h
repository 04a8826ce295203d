#pragma once
// The error of a quantized block, taken apart into scale bias, deadzone truncation and grid noise on exact numbers, and
// sums of products of the parts in emulated binary64. Rules D1 to D8 of docs/rules-corrections.md, written out one
// element at a time.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/spec.h"
#include "reference/exact/rational.h"

namespace fp4proof::exact {

/// F of rule D3.
int error_factor(const Profile& profile);

/// One element. An excluded one (D4) has every number 0 and is in no deadzone.
struct SplitElement {
  bool excluded = false;
  bool in_deadzone = false;         ///< x != 0 and Q*(x) = 0
  bool zeroed = false;              ///< x != 0 and Q(x) = 0
  bool negative = false;            ///< the sign of x, and of Q* where that is zero
  bool quantized_negative = false;  ///< the sign of Q(x), of zero too
  std::uint8_t ideal_code = 0;      ///< the magnitude code of Q*
  Rational value;                   ///< x
  Rational quantized;               ///< Q(x)
  Rational ideal;                   ///< Q*(x)
  // F times each term, exact
  Rational error;
  Rational scale;
  Rational deadzone;
  Rational grid;
};

struct SplitBlock {
  bool rejected = false;                   ///< the profile refuses the block; `elements` is empty
  Rational amax;                           ///< m
  std::vector<std::uint8_t> ideal_level2;  ///< HiF4, laid out as EncodedBlock::level2
  std::vector<std::uint8_t> ideal_level3;  ///< HiF4
  std::vector<SplitElement> elements;      ///< row-major
};

/// Takes one block apart. Arguments as in encode_block(). `quantized_words`: Q(x) as binary32 words; empty for the
/// profile's own quantization, decoded.
SplitBlock split_block(const Profile& profile, std::span<const std::uint32_t> words,
                       std::span<const std::uint32_t> random_words = {}, std::uint32_t tensor_scale = 0x3F800000U,
                       std::span<const std::uint32_t> quantized_words = {});

/// The four terms of one element as binary64 words, each rounded once; a difference of zeros has IEEE 754's sign.
struct TermWords {
  std::uint64_t error = 0;
  std::uint64_t scale = 0;
  std::uint64_t deadzone = 0;
  std::uint64_t grid = 0;
  bool operator==(const TermWords&) const = default;
};
TermWords term_words(const SplitElement& element);

/// The sums of rule D5, in the order of SplitSums::words.
enum class SplitSum : std::uint8_t {
  value,
  quantized_value,
  error,
  scale,
  deadzone,
  grid,
  scale_grid,
  scale_deadzone,
};
inline constexpr std::size_t split_sum_count = 8;

struct SplitSums {
  std::int64_t elements = 0;
  std::int64_t excluded = 0;
  std::int64_t in_deadzone = 0;
  std::int64_t zeroed = 0;
  std::int64_t inexact = 0;                            ///< a term was rounded
  std::int64_t identity_failures = 0;                  ///< error != (scale + deadzone) + grid in binary64
  std::array<std::uint64_t, split_sum_count> words{};  ///< binary64 words

  /// Adds counts, and sums with one binary64 addition each.
  void add(const SplitSums& other);
  bool operator==(const SplitSums&) const = default;
};

/// The sums over the elements of one row, or of one row of a block, in the order of D5.
SplitSums sum_row(const Profile& profile, std::span<const SplitElement> elements);

}  // namespace fp4proof::exact
