#pragma once
// The vocabulary of the project: element codes, scale codes, and the profile, which holds every choice that the
// published formats leave open. Plain data only. This header and spec_profiles.h are the only ones of formats/ that
// the oracle may include. docs/rules-mx.md, docs/rules-hif4.md and docs/rules-nvfp4.md give the same rules in prose.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/host_device.h"

namespace fp4proof {

// ---------------------------------------------------------------------------------------------------------------------
// Element codes
// ---------------------------------------------------------------------------------------------------------------------

/// A signed element code: sign bit, exponent field, mantissa field, most significant first.
/// E2M1 E2M3 E3M2 E4M3 E5M2 follow OCP Microscaling 1.0; S1P1 S1P2 S1P3 are HiF4's fixed-point elements, which are
/// E1M1 E1M2 E1M3 with bias 1 and subnormals.
enum class Element : std::uint8_t { e2m1, e2m3, e3m2, e4m3, e5m2, s1p1, s1p2, s1p3 };
inline constexpr std::size_t element_count = 8;

/// One row of the element table. A magnitude code c has exponent field e = c >> mantissa_bits and mantissa field
/// f = c mod 2^mantissa_bits, and the value
///     e == 0:  f * 2^(1 - bias - mantissa_bits)
///     e >= 1:  (2^mantissa_bits + f) * 2^(e - bias - mantissa_bits).
struct ElementSpec {
  const char* name;  ///< no string_view: device code cannot make one
  int exponent_bits;
  int mantissa_bits;
  int bias;
  std::uint8_t max_code;  ///< magnitude code of the largest finite value
  int emax;               ///< floor(log2(largest finite value))
  std::uint8_t nan_code;  ///< a magnitude code that means NaN, 0 where the element has none
  std::uint8_t inf_code;  ///< the magnitude code of infinity, 0 where the element has none

  /// Bits of a code, sign included.
  FP4PROOF_HD constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  /// The sign bit of a code.
  FP4PROOF_HD constexpr std::uint8_t sign_mask() const { return static_cast<std::uint8_t>(1U << (bits() - 1)); }
  /// Whether two codes share a byte when packed. Wider and narrower codes take one byte each.
  FP4PROOF_HD constexpr bool is_nibble() const { return bits() == 4; }
};

FP4PROOF_HD constexpr ElementSpec element_spec(Element element) {
  switch (element) {
    case Element::e2m1: return {"e2m1", 2, 1, 1, 7, 2, 0, 0};
    case Element::e2m3: return {"e2m3", 2, 3, 1, 31, 2, 0, 0};
    case Element::e3m2: return {"e3m2", 3, 2, 3, 31, 4, 0, 0};
    case Element::e4m3: return {"e4m3", 4, 3, 7, 0x7E, 8, 0x7F, 0};
    case Element::e5m2: return {"e5m2", 5, 2, 15, 0x7B, 15, 0x7E, 0x7C};
    case Element::s1p1: return {"s1p1", 1, 1, 1, 3, 0, 0, 0};
    case Element::s1p2: return {"s1p2", 1, 2, 1, 7, 0, 0, 0};
    case Element::s1p3: return {"s1p3", 1, 3, 1, 15, 0, 0, 0};
  }
  return {};
}

// ---------------------------------------------------------------------------------------------------------------------
// Choices
// ---------------------------------------------------------------------------------------------------------------------

/// How a scaled value becomes one of its two neighbours on the grid. Values beyond the largest clamp to it.
enum class Rounding : std::uint8_t {
  rne,         ///< nearest, ties to the even code
  rna,         ///< nearest, ties away from zero
  rtz,         ///< toward zero
  ties_down,   ///< nearest, ties toward zero
  stochastic,  ///< up in magnitude with probability equal to the fraction, see Profile::random_bits
};

enum class Family : std::uint8_t {
  mx,     ///< one E8M0 scale a block (OCP Microscaling)
  hif4,   ///< E6M2 scale, one bit per eighth and one bit per sixteenth of the block
  nvfp4,  ///< one E4M3 scale a block and optionally one binary32 scale a tensor
};

/// Blocks are `rows` x `cols` elements of a matrix whose last dimension is the reduction axis.
struct BlockShape {
  std::uint8_t rows;
  std::uint8_t cols;
  FP4PROOF_HD constexpr int size() const { return int{rows} * int{cols}; }
  FP4PROOF_HD constexpr bool is_2d() const { return rows > 1; }
  constexpr bool operator==(const BlockShape&) const = default;
};

/// MX: from the largest magnitude amax of the block to the exponent e of the scale 2^e. emax and max are the element's.
enum class ScaleRule : std::uint8_t {
  floor,    ///< floor(log2 amax) - emax (the standard)
  ceil,     ///< ceil(log2 amax) - emax
  rceil,    ///< the smallest e with amax / 2^e <= max: nothing clips ("truncation-free")
  even,     ///< floor(log2 of amax rounded half up to the element's mantissa width) - emax
  nearest,  ///< amax / max rounded to the nearest power of two, a tie (1.5 * 2^e) to the even scale code
};

/// MX: the arithmetic in which the scale rule is evaluated. Everything but `exact` reproduces an implementation.
enum class ScaleArithmetic : std::uint8_t {
  exact,            ///< on the real numbers
  float_log2,       ///< `floor` of log2(amax) rounded to binary32: one too large just under a power of two
  fp32_divide,      ///< the quotient amax / max rounded to binary32 first
  fp32_reciprocal,  ///< the product amax * fl(1/max) rounded to binary32 first
  fp32_word,        ///< as fp32_divide, then the rule on the exponent field of the word: a nonzero subnormal quotient
                    ///< gives code 1 under `rceil` and 0 under `floor` (where the divisor is 2^emax)
  word_add,         ///< `even` by adding half a mantissa step to the word of amax: amax >= 1.75 * 2^127 gives code 255
};

/// The arithmetic between the scaled value and the rounding decision.
enum class ElementArithmetic : std::uint8_t {
  exact,          ///< on the real numbers
  bf16,           ///< the scaled value is rounded to bfloat16 (ties to even) first
  fp32_bf16,      ///< the scaled value is rounded to binary32, then to bfloat16
  fp32_half_add,  ///< floor(|z| + 0.5) with the sum rounded to binary32, z in steps of the grid around the value
  fp32_distance,  ///< the level with the smallest binary32 distance, the first of equals in order of magnitude;
                  ///< a level whose product with the scale overflows binary32 is out of reach
};

enum class NanPolicy : std::uint8_t {
  scale_nan,   ///< the block's scale becomes NaN, element codes are 0 and carry no meaning
  ignore,      ///< NaN is skipped in amax and coded +0
  error,       ///< the tensor is refused
  scale_zero,  ///< scale code 0 and zero elements; NaN and infinity, multiplied by zero, become the largest code
};

enum class InfPolicy : std::uint8_t {
  scale_nan,  ///< as NanPolicy::scale_nan
  saturate,   ///< scale code Profile::inf_scale_code, infinity becomes the largest element
  error,      ///< the tensor is refused
};

/// What happens where the scale rule falls below the smallest scale code.
enum class TinyPolicy : std::uint8_t {
  clamp,         ///< the scale clamps to code 0 and elements are quantized under it
  flush_block,   ///< a block with scale code 0 becomes all zeros
  flush_inputs,  ///< subnormal binary32 inputs are zero from the start
};

enum class ZeroSign : std::uint8_t {
  kept,                 ///< -0 and negative values that round to zero give the negative zero code
  dropped,              ///< every zero is +0
  zero_input_dropped,   ///< -0 gives +0; a negative value that rounds to zero keeps its sign
  zero_scaled_dropped,  ///< as before, and also where the scaled value rounds to zero in binary32
};

/// Where the two codes of a byte stand, and how a row of codes becomes bytes.
enum class NibbleOrder : std::uint8_t {
  even_low,   ///< element 2i low, 2i+1 high
  even_high,  ///< element 2i high, 2i+1 low
  split,      ///< byte j of a block of 2h holds j (low) and j+h (high)
};

enum class ScaleLayout : std::uint8_t {
  row_major,
  tiled_128x4,  ///< 128 rows x 4 scale columns a tile, see formats/scale_layout.h
  patches_16,   ///< HiF4: 64-byte patches of 16 rows x one group
};

/// HiF4: order of the micro-exponent bits inside each scale byte.
enum class MicroOrder : std::uint8_t { lsb_first, msb_first };

/// HiF4: how amax / 7, the wanted scale, is computed before it is rounded to E6M2.
enum class SeventhRule : std::uint8_t {
  bf16_product,       ///< amax * bf16(1/7), rounded once to bfloat16
  fp32_bf16_product,  ///< amax * bf16(1/7), rounded to binary32, then to bfloat16
  exact,              ///< amax / 7 on the real numbers
};

/// HiF4: the reciprocal of the E6M2 scale.
enum class Reciprocal : std::uint8_t { bf16, exact };

/// HiF4: rounding of the products that are compared with 4 and 2 to set the micro-exponents.
enum class ThresholdArithmetic : std::uint8_t { exact, fp32, bf16 };

/// Rounding of the input before anything else.
enum class InputRounding : std::uint8_t { none, bf16 };

// ---------------------------------------------------------------------------------------------------------------------
// Profile
// ---------------------------------------------------------------------------------------------------------------------

/// A named, immutable set of choices. Every vector, report and command names one. Fields of other families are ignored.
struct Profile {
  std::string_view name;
  std::string_view summary;

  Family family = Family::mx;
  Element element = Element::e2m1;
  BlockShape block = {1, 32};

  Rounding rounding = Rounding::rne;
  std::uint8_t random_bits = 32;  ///< stochastic: 8, 16 or 32; the high bits of the element's random word
  ElementArithmetic element_arithmetic = ElementArithmetic::exact;
  InputRounding input_rounding = InputRounding::none;

  NanPolicy nan = NanPolicy::scale_nan;
  InfPolicy inf = InfPolicy::scale_nan;
  std::uint8_t inf_scale_code = 254;
  std::uint8_t zero_scale_code = 0;  ///< MX: scale code of an all-zero block
  TinyPolicy tiny = TinyPolicy::clamp;
  ZeroSign zero_sign = ZeroSign::kept;
  NibbleOrder nibble_order = NibbleOrder::even_low;
  ScaleLayout scale_layout = ScaleLayout::row_major;

  // MX
  ScaleRule scale_rule = ScaleRule::floor;
  ScaleArithmetic scale_arithmetic = ScaleArithmetic::exact;

  // HiF4
  SeventhRule seventh = SeventhRule::bf16_product;
  Rounding scale_rounding = Rounding::rne;  ///< to E6M2: rne or rna
  Reciprocal reciprocal = Reciprocal::bf16;
  ThresholdArithmetic threshold_arithmetic = ThresholdArithmetic::exact;
  MicroOrder micro_order = MicroOrder::lsb_first;

  // NVFP4
  bool tensor_scale = false;  ///< a binary32 scale amax(tensor) / (6 * 448) stands above the block scales

  constexpr bool operator==(const Profile&) const = default;
};

// ---------------------------------------------------------------------------------------------------------------------
// Facts of the scale codes
// ---------------------------------------------------------------------------------------------------------------------

/// E8M0: 2^(code - 127), codes 0..254; 255 is NaN.
inline constexpr std::uint8_t e8m0_nan = 255;
inline constexpr std::uint8_t e8m0_max = 254;
inline constexpr int e8m0_bias = 127;

/// E6M2: (1 + m/4) * 2^(e - 48), exponent field in bits 7:2, mantissa in bits 1:0; 0xFF is NaN; no zero.
inline constexpr std::uint8_t e6m2_nan = 0xFF;
inline constexpr std::uint8_t e6m2_max = 0xFE;
inline constexpr int e6m2_bias = 48;

/// E4M3 as NVFP4 block scale: the element table's E4M3, sign bit 0.
inline constexpr std::uint8_t e4m3_scale_nan = 0x7F;
inline constexpr std::uint8_t e4m3_scale_max = 0x7E;

/// HiF4: a level-2 bit covers an eighth, a level-3 bit a sixteenth of the block's columns (and rows, in 2D).
inline constexpr int hif4_level2_count = 8;
inline constexpr int hif4_level3_count = 16;

/// Bytes of scale data that one block row carries: 1 for MX and NVFP4, 4 for HiF4.
FP4PROOF_HD constexpr int scale_bytes(Family family) { return family == Family::hif4 ? 4 : 1; }

// ---------------------------------------------------------------------------------------------------------------------
// Names, used by the command line, JSON profiles and reports
// ---------------------------------------------------------------------------------------------------------------------

template <class Enum>
struct EnumNames;

#define FP4PROOF_ENUM_NAMES(type, ...)                                          \
  template <>                                                                   \
  struct EnumNames<type> {                                                      \
    static constexpr auto names = std::to_array<std::string_view>(__VA_ARGS__); \
  }

FP4PROOF_ENUM_NAMES(Element, {"e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "s1p1", "s1p2", "s1p3"});
FP4PROOF_ENUM_NAMES(Rounding, {"rne", "rna", "rtz", "ties-down", "stochastic"});
FP4PROOF_ENUM_NAMES(Family, {"mx", "hif4", "nvfp4"});
FP4PROOF_ENUM_NAMES(ScaleRule, {"floor", "ceil", "rceil", "even", "nearest"});
FP4PROOF_ENUM_NAMES(ScaleArithmetic,
                    {"exact", "float-log2", "fp32-divide", "fp32-reciprocal", "fp32-word", "word-add"});
FP4PROOF_ENUM_NAMES(ElementArithmetic, {"exact", "bf16", "fp32-bf16", "fp32-half-add", "fp32-distance"});
FP4PROOF_ENUM_NAMES(NanPolicy, {"scale-nan", "ignore", "error", "scale-zero"});
FP4PROOF_ENUM_NAMES(InfPolicy, {"scale-nan", "saturate", "error"});
FP4PROOF_ENUM_NAMES(TinyPolicy, {"clamp", "flush-block", "flush-inputs"});
FP4PROOF_ENUM_NAMES(ZeroSign, {"kept", "dropped", "zero-input-dropped", "zero-scaled-dropped"});
FP4PROOF_ENUM_NAMES(NibbleOrder, {"even-low", "even-high", "split"});
FP4PROOF_ENUM_NAMES(ScaleLayout, {"row-major", "tiled-128x4", "patches-16"});
FP4PROOF_ENUM_NAMES(MicroOrder, {"lsb-first", "msb-first"});
FP4PROOF_ENUM_NAMES(SeventhRule, {"bf16-product", "fp32-bf16-product", "exact"});
FP4PROOF_ENUM_NAMES(Reciprocal, {"bf16", "exact"});
FP4PROOF_ENUM_NAMES(ThresholdArithmetic, {"exact", "fp32", "bf16"});
FP4PROOF_ENUM_NAMES(InputRounding, {"none", "bf16"});

/// The name of an enumerator as users write it, for example "rne" or "scale-nan".
template <class Enum>
constexpr std::string_view name_of(Enum value) {
  return EnumNames<Enum>::names[static_cast<std::size_t>(value)];
}

}  // namespace fp4proof
