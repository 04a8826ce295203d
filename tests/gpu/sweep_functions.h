#pragma once
// The functions that sweeps.h sweeps, for both compilers. A function is an object that maps words [0, inputs) to words.

#include <tuple>

#include "formats/block_codec.h"
#include "formats/host_device.h"
#include "formats/spec_profiles.h"
#include "formats/strict_math.h"
#include "gpu/e2m1_packed.h"
#include "gpu/s1p2_packed.h"
#include "tests/gpu/sweeps.h"

namespace fp4proof::sweeps {

inline constexpr std::uint64_t all_words = std::uint64_t{1} << 32;

/// How the CPU goes over the inputs.
enum class Road : std::uint8_t {
  runs,    ///< outputs are constant over long runs of inputs
  vector,  ///< output by output, in vector code
  plain,   ///< output by output
};

/// A word at scale 1 to its code.
template <Element E, Rounding R>
struct ElementCode {
  static constexpr std::uint64_t inputs = all_words;
  static constexpr Road road = Road::runs;
  FP4PROOF_HD constexpr std::uint32_t on_cpu(std::uint32_t word) const {
    return encode_element(E, R, float_from_bits(word));
  }
  FP4PROOF_HD constexpr std::uint32_t on_device(std::uint32_t word) const { return on_cpu(word); }
};

struct StrictFunction {
  static constexpr std::uint64_t inputs = all_words;
  static constexpr Road road = Road::vector;
};

struct Exp : StrictFunction {
  FP4PROOF_HD static float of(float x) { return strict::exp(x); }
};
struct Log : StrictFunction {
  FP4PROOF_HD static float of(float x) { return strict::log(x); }
};
struct Rsqrt : StrictFunction {
  FP4PROOF_HD static float of(float x) { return strict::rsqrt(x); }
};
struct Silu : StrictFunction {
  FP4PROOF_HD static float of(float x) { return strict::silu(x); }
};
/// Almost every quotient is rounded; subnormal ones too.
struct Divide : StrictFunction {
  FP4PROOF_HD static float of(float x) { return strict::divide(x, 3.7F); }
};

template <class Function>
struct OnWords : Function {
  FP4PROOF_HD std::uint32_t on_cpu(std::uint32_t word) const { return float_bits(Function::of(float_from_bits(word))); }
  FP4PROOF_HD std::uint32_t on_device(std::uint32_t word) const { return on_cpu(word); }
};

/// A bfloat16 word in bits 15:0 under the E8M0 code in bits 23:16; under the NaN scale 256.
struct UnderE8m0 {
  Profile profile;
  static constexpr std::uint64_t inputs = std::uint64_t{1} << 24;
  static constexpr Road road = Road::plain;
  FP4PROOF_HD constexpr std::uint32_t on_cpu(std::uint32_t input) const {
    const auto scale = static_cast<std::uint8_t>(input >> 16);
    return scale == e8m0_nan ? 256U : mx_encode_element(profile, scale, input << 16, 0);
  }
  FP4PROOF_HD constexpr std::uint32_t on_device(std::uint32_t input) const { return on_cpu(input); }
};

/// A bfloat16 word in bits 15:0 under the E6M2 code in bits 23:16 and the sum of level bits above; under the NaN
/// scale 256.
struct UnderE6m2 {
  Profile profile;
  static constexpr std::uint64_t inputs = std::uint64_t{3} << 24;
  static constexpr Road road = Road::plain;
  FP4PROOF_HD constexpr std::uint32_t on_cpu(std::uint32_t input) const {
    const auto scale = static_cast<std::uint8_t>(input >> 16);
    if (scale == e6m2_nan) return 256;
    return hif4_encode_element(profile, scale, static_cast<int>(input >> 24), input << 16, 0);
  }
  FP4PROOF_HD constexpr std::uint32_t on_device(std::uint32_t input) const { return on_cpu(input); }
};

/// What a packed road does not take is 512 on both sides.
inline constexpr std::uint32_t left_out = 512;

/// The code that a packed road gives to the word in bits 15:0 of an input. Two neighbouring words go through it
/// together, the one asked for now in the lower, now in the upper half; `encode` gives both codes in its top byte.
template <class Encode>
FP4PROOF_HD std::uint32_t packed_code(std::uint32_t input, Encode encode) {
  const std::uint32_t word = input & 0xFFFFU;
  const std::uint32_t other = word ^ 1U;
  const bool upper = (input * 0x9E3779B9U >> 31) != 0;
  const std::uint32_t codes = encode(upper ? word << 16 | other : other << 16 | word) >> 24;
  return upper ? codes >> 4 : codes & 0xFU;
}

/// UnderE8m0 by the packed road, which takes finite words below 2^16 times the scale.
struct PackedUnderE8m0 : UnderE8m0 {
  FP4PROOF_HD static constexpr bool takes(std::uint32_t input) {
    return is_finite_bits(input << 16) && (input >> 7 & 0xFFU) < (input >> 16) + 16U && input >> 16 != e8m0_nan;
  }
  FP4PROOF_HD constexpr std::uint32_t on_cpu(std::uint32_t input) const {
    return takes(input) ? UnderE8m0::on_cpu(input) : left_out;
  }
  FP4PROOF_HD std::uint32_t on_device(std::uint32_t input) const {
    if (!takes(input)) return left_out;
    return packed_code(
        input, [&](std::uint32_t words) { return gpu::packed_e2m1(words, gpu::packed_inverse_scale(input >> 16)); });
  }
};

/// UnderE6m2 by the packed road, which takes finite words.
struct PackedUnderE6m2 : UnderE6m2 {
  FP4PROOF_HD static constexpr bool takes(std::uint32_t input) {
    return is_finite_bits(input << 16) && (input >> 16 & 0xFFU) != e6m2_nan;
  }
  FP4PROOF_HD constexpr std::uint32_t on_cpu(std::uint32_t input) const {
    return takes(input) ? UnderE6m2::on_cpu(input) : left_out;
  }
  FP4PROOF_HD std::uint32_t on_device(std::uint32_t input) const {
    if (!takes(input)) return left_out;
    const gpu::PackedHif4Scales scales = gpu::packed_hif4_scales(gpu::both_halves(input >> 16 & 0xFFU));
    std::uint32_t reciprocals = scales.reciprocals;
    for (std::uint32_t level = 0; level < input >> 24; ++level) reciprocals = gpu::packed_halved(reciprocals, ~0U);
    return packed_code(input,
                       [&](std::uint32_t words) { return gpu::packed_s1p2(words, reciprocals, scales.tie_breaks); });
  }
};

template <class Function>
struct Named {
  const char* name;
  const char* what;
  Function function = {};
};

inline constexpr auto all = std::tuple{
    Named<ElementCode<Element::e2m1, Rounding::rne>>{"e2m1-rne", "binary32 to E2M1, ties to even"},
    Named<ElementCode<Element::e2m3, Rounding::rne>>{"e2m3-rne", "binary32 to E2M3, ties to even"},
    Named<ElementCode<Element::e3m2, Rounding::rne>>{"e3m2-rne", "binary32 to E3M2, ties to even"},
    Named<ElementCode<Element::e4m3, Rounding::rne>>{"e4m3-rne", "binary32 to E4M3, ties to even"},
    Named<ElementCode<Element::e5m2, Rounding::rne>>{"e5m2-rne", "binary32 to E5M2, ties to even"},
    Named<ElementCode<Element::s1p1, Rounding::rne>>{"s1p1-rne", "binary32 to S1P1, ties to even"},
    Named<ElementCode<Element::s1p2, Rounding::rne>>{"s1p2-rne", "binary32 to S1P2, ties to even"},
    Named<ElementCode<Element::s1p3, Rounding::rne>>{"s1p3-rne", "binary32 to S1P3, ties to even"},
    Named<ElementCode<Element::s1p1, Rounding::rna>>{"s1p1-rna", "binary32 to S1P1, ties away"},
    Named<ElementCode<Element::s1p2, Rounding::rna>>{"s1p2-rna", "binary32 to S1P2, ties away"},
    Named<ElementCode<Element::s1p3, Rounding::rna>>{"s1p3-rna", "binary32 to S1P3, ties away"},
    Named<OnWords<Exp>>{"exp", "exponential of binary32"},
    Named<OnWords<Log>>{"log", "logarithm of binary32"},
    Named<OnWords<Rsqrt>>{"rsqrt", "1 / square root of binary32"},
    Named<OnWords<Silu>>{"silu", "SiLU of binary32"},
    Named<OnWords<Divide>>{"divide", "binary32 divided by 3.7"},
    Named<UnderE8m0>{"e2m1-under-e8m0", "bfloat16 under E8M0 codes to E2M1, mxfp4/ocp", {*find_profile("mxfp4/ocp")}},
    Named<PackedUnderE8m0>{"e2m1-under-e8m0-packed",
                           "the same by packed arithmetic, finite words below 2^16 scales",
                           {{*find_profile("mxfp4/ocp")}}},
    Named<UnderE6m2>{
        "s1p2-under-e6m2", "bfloat16 under E6M2 codes and level sums to S1P2, hif4/gcc", {*find_profile("hif4/gcc")}},
    Named<PackedUnderE6m2>{
        "s1p2-under-e6m2-packed", "the same by packed arithmetic, finite words", {{*find_profile("hif4/gcc")}}},
    Named<UnderE6m2>{"s1p2-under-e6m2-amct",
                     "bfloat16 under E6M2 codes and level sums to S1P2, hif4/amct",
                     {*find_profile("hif4/amct")}},
    Named<UnderE6m2>{"s1p2-under-e6m2-pto-a6",
                     "bfloat16 under E6M2 codes and level sums to S1P2, hif4/pto-a6",
                     {*find_profile("hif4/pto-a6")}},
    Named<UnderE6m2>{"s1p2-under-e6m2-exact",
                     "bfloat16 under E6M2 codes and level sums to S1P2, hif4/exact",
                     {*find_profile("hif4/exact")}},
};

inline constexpr std::size_t count = std::tuple_size_v<decltype(all)>;

/// Calls use(function) with the function of sweep `index`.
template <std::size_t I = 0, class Use>
auto with_function(std::size_t index, Use use) {
  if constexpr (I + 1 < count) {
    if (index != I) return with_function<I + 1>(index, use);
  }
  return use(std::get<I>(all).function);
}

}  // namespace fp4proof::sweeps
