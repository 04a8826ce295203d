#pragma once
// A kernel as a diagnosis imagines it: the rules of a profile, and where it departs from them. The fields are stages in
// the order in which a kernel works: what it reads, how it codes or decodes or adds, what it writes. A change of one
// dimension sets one of them, so changes of different dimensions go together.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "conformance/diagnose/evidence.h"
#include "conformance/suite/case_group.h"
#include "formats/spec.h"
#include "formats/spec_corrections.h"

namespace fp4proof::diagnose {

/// The kept cases of one group. Answers are rows of `answer_bytes`, tensor after tensor, every NaN value canonical.
struct GroupEvidence {
  suite::CaseGroup cases;              ///< inputs, and the right answers as expected tensors
  std::vector<const KeptCase*> kept;   ///< for each case of the group
  std::vector<std::uint8_t> expected;  ///< the right answers
  std::vector<std::uint8_t> actual;    ///< the answers given
  std::size_t answer_bytes = 0;        ///< of one case
  /// For each case the bytes of the answer that are not compared; zero in all three kinds of answers. Empty where all
  /// are.
  std::vector<std::vector<std::size_t>> ignored;

  bool failed(std::size_t index) const { return !kept[index]->actual.empty(); }
};

/// A group on its way through a model: inputs as the kernel takes them, then the expected tensors as it writes them.
struct Working {
  suite::Operation operation;
  const Profile& profile;  ///< of the question, not of the model
  const GroupEvidence& evidence;
  suite::CaseGroup cases;
};

/// One step on inputs or outputs. A step that has no meaning for the shape of a group leaves it as it is.
struct Step {
  void (*run)(Working& working, int parameter) = nullptr;
  int parameter = 0;
  bool operator==(const Step&) const = default;
};

/// Departures from the scale rule of a block.
enum class ScaleFault : std::uint8_t {
  none,
  mask,               ///< MX: amax / max rounded up where (mantissa & 0x4FFFFF) != 0
  quotient_half_up,   ///< MX: amax / max to the nearest power of two, 1.5 goes up
  quotient_down,      ///< MX: amax / max rounded down to a power of two
  quotient_log2,      ///< MX: amax / max to the power of two with the nearest logarithm
  amax_half_up,       ///< MX: amax to the nearest power of two, 1.5 goes up
  e8m0_cast,          ///< MX: amax / max cast to E8M0: 1.5 goes up, and all between 2^-127 and 2^-126
  e8m0_cast_zero,     ///< MX: the same, and a quotient of 0 is NaN, as E8M0 has no zero
  wraps,              ///< MX, HiF4: out of range, the bits of the code wrap around
  truncated,          ///< HiF4, NVFP4: the scale is rounded toward zero
  away,               ///< NVFP4: ties of the scale go away from zero
  fp32_divide,        ///< NVFP4: the quotients are rounded to binary32 first
  fp32_reciprocal,    ///< NVFP4: amax times the binary32 reciprocal of 6 and of the tensor scale
  subnormal_flushed,  ///< NVFP4: a subnormal scale is 0
  never_zero,         ///< NVFP4: code 0 becomes 1
  overflow_nan,       ///< NVFP4: a scale that rounds beyond the largest is NaN, and so is every element
  after_nan,          ///< a > b ? a : b: the maximum starts anew behind a NaN, and is one where it comes last
  half_block,         ///< the largest magnitude of the first half of the block
  signed_maximum,     ///< the largest of the signed values
  two_blocks,         ///< the largest magnitude of two blocks
};

/// Departures from the rule of an element.
enum class ElementFault : std::uint8_t {
  none,
  reciprocal,        ///< |x| times the binary32 reciprocal of the scale, rounded to binary32
  divide,            ///< |x| / scale rounded to binary32
  bf16_reciprocal,   ///< |x| times the bfloat16 reciprocal of the scale
  scale_flushed,     ///< a subnormal scale is zero: everything becomes the largest code
  inverse_flushed,   ///< the reciprocal of a scale above 2^126 is zero: everything becomes zero
  binary16,          ///< the scaled value is rounded to binary16 first
  up,                ///< what is not on the grid goes away from zero
  no_sticky,         ///< all but two bits behind the last one of the element are dropped
  beyond_nan,        ///< beyond the largest code: infinity where the element has one, else NaN
  wrapped,           ///< beyond the largest code the bits wrap around
  subnormal_halved,  ///< what is below the smallest normal element is taken for half of it
  even_code,         ///< the last bit of the code is cleared after rounding
};

/// What a NaN element becomes where NaN was lost in the maximum, or where elements are coded under the NaN scale.
enum class NanCode : std::uint8_t { zero, zero_signed, largest, largest_signed, nan };

/// What stands behind the last element in an incomplete block.
enum class Padding : std::uint8_t { zeros, ones, last };

/// How a kernel takes the bits of a random word.
enum class RandomUse : std::uint8_t { as_stated, low_bits, inverted };

/// What the encoder of a block does differently.
struct EncodeModel {
  ScaleFault scale = ScaleFault::none;
  int scale_shift = 0;     ///< added to the scale code; elements follow it
  int exponent_shift = 0;  ///< MX: the same before the code is clamped
  int stored_shift = 0;    ///< added to the scale code as it is written
  int element_shift = 0;   ///< added to the scale code under which elements are coded
  ElementFault element = ElementFault::none;
  std::optional<Element> grid;                 ///< elements are coded on another grid
  bool without_levels = false;                 ///< HiF4: no level bit is ever set
  bool strided_levels = false;                 ///< HiF4: level bits belong to i mod 8 and i mod 16
  bool levels_above = false;                   ///< HiF4: a level bit is set above its threshold, and not at it
  bool without_tensor_scale = false;           ///< NVFP4: coded as if it were 1
  bool elements_without_tensor_scale = false;  ///< NVFP4: elements are not divided by it
  NanCode nan_code = NanCode::zero;
  bool codes_under_nan = false;      ///< MX: elements are coded under the NaN scale as under 2^128
  bool zeros_with_infinity = false;  ///< every code of a block with an infinity is 0
  Padding padding = Padding::zeros;
  RandomUse random = RandomUse::as_stated;
  bool operator==(const EncodeModel&) const = default;
};

/// How a scale byte is read.
enum class ScaleReading : std::uint8_t {
  as_stated,
  zero_is_zero,       ///< E8M0: code 0 is 0
  nan_is_infinity,    ///< E8M0: code 255 is infinity
  both,               ///< E8M0: code 0 is 0 and code 255 is infinity, as an exponent field of binary32
  nan_in_number,      ///< E8M0: code 255 is infinity, and 134, the number 128, is NaN
  inverse_flushed,    ///< E8M0: the reciprocal of code 254 is subnormal and flushed, its own reciprocal infinite
  nan_is_number,      ///< the NaN code is read as the number that its fields would mean
  raw,                ///< the byte itself is the scale
  exponent_only,      ///< E6M2, E4M3: the mantissa is not looked at
  subnormal_flushed,  ///< E4M3: subnormal scales are 0
};

enum class LevelReading : std::uint8_t { as_stated, none, level2_only, level3_only, strided };

/// How a product of element and scales becomes a value.
enum class ValueRounding : std::uint8_t { once, bf16, binary16, flushed, scales_first };

/// What the decoder does differently.
struct DecodeModel {
  ScaleReading scale = ScaleReading::as_stated;
  int scale_shift = 0;  ///< added to the exponent of the scale
  LevelReading levels = LevelReading::as_stated;
  std::optional<Element> grid;  ///< codes are read as another element
  bool without_tensor_scale = false;
  ValueRounding rounding = ValueRounding::once;
  int blocks_a_scale = 1;  ///< 2: a scale is taken for two blocks
  bool operator==(const DecodeModel&) const = default;
};

enum class ProductRounding : std::uint8_t { binary32, none, bf16, binary16 };
enum class SumRounding : std::uint8_t { binary32, flushed, bf16, binary16, binary64 };
enum class SumOrder : std::uint8_t { blocks, reversed, pairwise, elements };

/// What a product of matrices does differently.
struct SumModel {
  std::string_view accumulator = {};  ///< another accumulator of the reference; empty: that of the question
  std::optional<int> chunk;           ///< elements of K in one chunk, 0 for all
  ProductRounding product = ProductRounding::binary32;
  SumRounding sum = SumRounding::binary32;
  SumOrder order = SumOrder::blocks;
  bool from_first = false;  ///< the first product is copied, not added to zero: a sum of -0 alone stays -0
  bool operator==(const SumModel&) const = default;
};

/// Departures from the rules of macro blocks (C15 to C17).
enum class MacroFault : std::uint8_t {
  none,
  rounded,  ///< the factor is rounded to eight bits, not truncated
  unused,   ///< the factor is stored, and elements are coded without it
};

/// Departures from the choice of residual elements (C22).
enum class MaskFault : std::uint8_t {
  none,
  ties_last,  ///< 2:4: between equals the higher column
  by_input,   ///< 2:4: the two largest |x|, not |r|
};

/// What the corrections do differently.
struct CorrectModel {
  std::string_view stack = {};                      ///< another named stack; empty: that of the question
  void (*change)(CorrectionStack&, int) = nullptr;  ///< changes the stack
  int parameter = 0;                                ///< of `change`
  MacroFault macro = MacroFault::none;
  MaskFault mask = MaskFault::none;
  bool operator==(const CorrectModel&) const = default;
};

struct KernelModel {
  Profile profile;                ///< the rules that it follows
  std::vector<Step> inputs;       ///< before anything else
  bool other_axis = false;        ///< blocks along the other axis
  EncodeModel encode;             ///< quantize
  DecodeModel decode;             ///< dequantize, gemm
  CorrectModel correct;           ///< correct; of correct-gemm the name of the stack alone
  SumModel sum;                   ///< gemm, correct-gemm
  bool either_neighbour = false;  ///< quantize: elements are fitted to the evidence, between both neighbours
  std::vector<Step> outputs;      ///< after everything else but the packing
  std::vector<Step> packing;      ///< how codes and scales are laid out where they are read or written
};

}  // namespace fp4proof::diagnose
