#pragma once
// What the families share: reading a block, the non-finite policies, and one element under a known scale. Internal to
// the oracle.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reference/exact/block.h"
#include "reference/exact/element.h"
#include "reference/exact/rational.h"

namespace fp4proof::exact {

enum class Kind : std::uint8_t { finite, infinity, nan };

/// One input after input rounding and, where the profile flushes, after flushing.
struct Input {
  Kind kind = Kind::finite;
  bool negative = false;
  Rational magnitude;  ///< of a finite input
  RandomBits random;
};

struct BlockInput {
  std::vector<Input> elements;
  bool has_nan = false;
  bool has_infinity = false;
  Rational amax;  ///< largest finite magnitude, 0 if there is none
};

BlockInput read_block(const Profile& profile, std::span<const std::uint32_t> words,
                      std::span<const std::uint32_t> random_words);

/// The scale code of the family that means NaN.
std::uint8_t nan_scale_code(Family family);

/// The block that the non-finite policies settle without quantizing: rejected, NaN scale, or scale zero. Level bits and
/// codes have their full length. Nothing where the block goes on to be quantized.
std::optional<EncodedBlock> settle_non_finite(const Profile& profile, const BlockInput& block);

/// Whether the block is quantized under a saturated scale because it holds an infinity.
bool saturates(const BlockInput& block);

/// A block of the profile's size with every bit 0.
EncodedBlock zero_block(const Profile& profile);

/// The code of one element under a known scale. `y` is the scaled magnitude before the profile's ElementArithmetic and
/// `scale` the value that the decoder multiplies with. Infinity gives the largest code, NaN gives 0.
std::uint8_t encode_element(const Profile& profile, const Input& input, const Rational& y, const Rational& scale);

/// The zero code of an element that a zero scale or a flush takes away: the sign by Profile::zero_sign, +0 for NaN.
std::uint8_t zero_code(const Profile& profile, const Input& input, const Rational& y);

/// element * scale as binary32, rounded once; the element codes that mean NaN and infinity included.
std::uint32_t decode_element(Element element, std::uint8_t code, const Rational& scale);

EncodedBlock encode_mx(const Profile& profile, const BlockInput& input);
EncodedBlock encode_hif4(const Profile& profile, const BlockInput& input);
EncodedBlock encode_nvfp4(const Profile& profile, const BlockInput& input, const Rational& tensor_scale);

/// HiF4: the cell of level-2 (`parts` 8) or level-3 (`parts` 16) bits that element `index` of the block belongs to.
std::size_t hif4_cell(const BlockShape& shape, int parts, std::size_t index);

/// The scale under which element `index` is decoded; nothing where it is NaN.
std::optional<Rational> scale_of_element(const Profile& profile, const EncodedBlock& block, std::size_t index,
                                         const Rational& tensor_scale);

}  // namespace fp4proof::exact
