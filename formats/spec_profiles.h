#pragma once
// The table of named profiles. A profile is never edited once released: a changed rule gets a new name.

#include <array>
#include <span>
#include <string_view>

#include "formats/spec.h"

namespace fp4proof {

namespace profile_parts {

constexpr Profile named(Profile base, std::string_view name, std::string_view summary) {
  base.name = name;
  base.summary = summary;
  return base;
}

constexpr Profile mx(Element element, ScaleRule rule, BlockShape block = {1, 32}) {
  Profile p;
  p.element = element;
  p.scale_rule = rule;
  p.block = block;
  return p;
}

constexpr Profile with_stochastic(Profile p, std::uint8_t bits) {
  p.rounding = Rounding::stochastic;
  p.random_bits = bits;
  return p;
}

constexpr Profile torchao(ScaleRule rule) {
  Profile p = mx(Element::e2m1, rule);
  if (rule == ScaleRule::even) p.scale_arithmetic = ScaleArithmetic::word_add;
  if (rule == ScaleRule::rceil) p.scale_arithmetic = ScaleArithmetic::fp32_reciprocal;
  return p;
}

constexpr Profile microxcaling_python(Rounding rounding) {
  Profile p = mx(Element::e2m1, ScaleRule::floor);
  p.scale_arithmetic = ScaleArithmetic::float_log2;
  p.element_arithmetic = ElementArithmetic::fp32_half_add;
  p.rounding = rounding;
  p.zero_sign = ZeroSign::zero_scaled_dropped;
  return p;
}

constexpr Profile microxcaling_cpp(Rounding rounding) {
  Profile p = mx(Element::e2m1, ScaleRule::floor);
  p.rounding = rounding;
  p.zero_sign = ZeroSign::dropped;
  return p;
}

constexpr Profile cuda(ScaleRule rule) {
  Profile p = mx(Element::e2m1, rule);
  p.inf = InfPolicy::saturate;
  if (rule == ScaleRule::rceil) p.scale_arithmetic = ScaleArithmetic::fp32_divide;
  if (rule == ScaleRule::floor) p.inf_scale_code = 252;  // the conversion saturates at 254, then emax = 2 is taken off
  return p;
}

constexpr Profile triton(ScaleRule rule) {
  Profile p = mx(Element::e2m1, rule);
  p.scale_arithmetic = ScaleArithmetic::fp32_word;
  p.tiny = TinyPolicy::flush_block;
  if (rule == ScaleRule::rceil) p.nan = NanPolicy::scale_zero;
  return p;
}

constexpr Profile ggml() {
  Profile p = mx(Element::e2m1, ScaleRule::floor);
  p.scale_arithmetic = ScaleArithmetic::float_log2;
  p.element_arithmetic = ElementArithmetic::fp32_distance;
  p.rounding = Rounding::ties_down;
  p.nan = NanPolicy::ignore;
  p.zero_sign = ZeroSign::dropped;
  p.nibble_order = NibbleOrder::split;
  return p;
}

constexpr Profile te_rceil(Element element) {
  Profile p = mx(element, ScaleRule::rceil);
  p.scale_arithmetic = ScaleArithmetic::fp32_reciprocal;
  p.inf = InfPolicy::saturate;
  return p;
}

constexpr Profile hif4_gcc(Element element = Element::s1p2, BlockShape block = {1, 64}) {
  Profile p;
  p.family = Family::hif4;
  p.element = element;
  p.block = block;
  p.rounding = Rounding::rna;
  p.zero_sign = ZeroSign::zero_input_dropped;
  return p;
}

constexpr Profile hif4_amct(BlockShape block = {1, 64}) {
  Profile p = hif4_gcc(Element::s1p2, block);
  p.seventh = SeventhRule::fp32_bf16_product;
  p.threshold_arithmetic = ThresholdArithmetic::fp32;
  p.element_arithmetic = ElementArithmetic::fp32_bf16;
  p.micro_order = MicroOrder::msb_first;
  return p;
}

constexpr Profile hif4_bf16_products(Rounding element, Rounding scale, BlockShape block = {1, 64}) {
  Profile p = hif4_gcc(Element::s1p2, block);
  p.input_rounding = InputRounding::bf16;
  p.rounding = element;
  p.scale_rounding = scale;
  p.threshold_arithmetic = ThresholdArithmetic::bf16;
  p.element_arithmetic = ElementArithmetic::bf16;
  return p;
}

constexpr Profile hif4_exact(BlockShape block = {1, 64}) {
  Profile p = hif4_gcc(Element::s1p2, block);
  p.seventh = SeventhRule::exact;
  p.reciprocal = Reciprocal::exact;
  p.rounding = Rounding::rne;
  return p;
}

constexpr Profile nvfp4(bool tensor_scale) {
  Profile p;
  p.family = Family::nvfp4;
  p.block = {1, 16};
  p.tensor_scale = tensor_scale;
  return p;
}

}  // namespace profile_parts

/// Every named profile, defaults first.
inline constexpr auto profile_table = [] {
  using namespace profile_parts;
  using enum Element;
  using enum ScaleRule;
  constexpr BlockShape tile32 = {32, 32};
  constexpr BlockShape tile64 = {64, 64};
  constexpr Rounding ne = Rounding::rne;
  constexpr Rounding na = Rounding::rna;
  return std::to_array<Profile>({
      named(mx(e2m1, floor), "mxfp4/ocp", "the standard: floor scale, ties to even (default)"),
      named(mx(e2m1, ceil), "mxfp4/ceil", "scale rounded up to a power of two"),
      named(mx(e2m1, rceil), "mxfp4/rceil", "smallest scale under which nothing clips"),
      named(mx(e2m1, rceil), "mxfp4/truncation-free", "another name of mxfp4/rceil"),
      named(mx(e2m1, even), "mxfp4/even", "scale of amax rounded to the element's mantissa width"),
      named(mx(e2m1, nearest), "mxfp4/nearest", "scale is the power of two nearest to amax/6"),
      named(with_stochastic(mx(e2m1, floor), 32), "mxfp4/ocp-sr", "floor scale, stochastic rounding, 32 bits"),
      named(with_stochastic(mx(e2m1, rceil), 32), "mxfp4/rceil-sr", "rceil scale, stochastic rounding, 32 bits"),
      named(with_stochastic(mx(e2m1, rceil), 16), "mxfp4/rceil-sr16", "rceil scale, stochastic rounding, 16 bits"),
      named(with_stochastic(mx(e2m1, rceil), 8), "mxfp4/rceil-sr8", "rceil scale, stochastic rounding, 8 bits"),
      named(mx(e2m1, floor, tile32), "mxfp4-2d/ocp", "one floor scale a 32x32 tile"),
      named(mx(e2m1, ceil, tile32), "mxfp4-2d/ceil", "one ceil scale a 32x32 tile"),
      named(mx(e2m1, rceil, tile32), "mxfp4-2d/rceil", "one rceil scale a 32x32 tile"),
      named(mx(e2m1, rceil, tile32), "mxfp4-2d/truncation-free", "another name of mxfp4-2d/rceil"),
      named(mx(e2m1, even, tile32), "mxfp4-2d/even", "one even scale a 32x32 tile"),
      named(with_stochastic(mx(e2m1, rceil, tile32), 32), "mxfp4-2d/rceil-sr",
            "one rceil scale a 32x32 tile, stochastic rounding"),
      named(mx(e4m3, floor), "mxfp8-e4m3/ocp", "E4M3 elements, the standard"),
      named(mx(e4m3, rceil), "mxfp8-e4m3/rceil", "E4M3 elements, nothing clips"),
      named(mx(e5m2, floor), "mxfp8-e5m2/ocp", "E5M2 elements, the standard"),
      named(mx(e5m2, rceil), "mxfp8-e5m2/rceil", "E5M2 elements, nothing clips"),
      named(mx(e2m3, floor), "mxfp6-e2m3/ocp", "E2M3 elements, the standard"),
      named(mx(e2m3, rceil), "mxfp6-e2m3/rceil", "E2M3 elements, nothing clips"),
      named(mx(e3m2, floor), "mxfp6-e3m2/ocp", "E3M2 elements, the standard"),
      named(mx(e3m2, rceil), "mxfp6-e3m2/rceil", "E3M2 elements, nothing clips"),

      named(torchao(floor), "mxfp4/torchao-2026-08-floor", "torchao, scale mode floor"),
      named(torchao(ceil), "mxfp4/torchao-2026-08-ceil", "torchao, scale mode ceil"),
      named(torchao(rceil), "mxfp4/torchao-2026-08-rceil", "torchao, scale mode rceil (multiplies by fl(1/6))"),
      named(torchao(even), "mxfp4/torchao-2026-08-even", "torchao, scale mode even (255 from 1.75*2^127 up)"),
      named(microxcaling_python(na), "mxfp4/microxcaling-python", "microxcaling, Python path, round nearest"),
      named(microxcaling_python(na), "mxfp4/microxcaling-python-nearest", "another name of the former"),
      named(microxcaling_python(ne), "mxfp4/microxcaling-python-even", "microxcaling, Python path, round even"),
      named(microxcaling_cpp(na), "mxfp4/microxcaling-cpp", "microxcaling, C++ path, round nearest (away)"),
      named(microxcaling_cpp(na), "mxfp4/microxcaling-cpp-nearest", "another name of the former"),
      named(microxcaling_cpp(ne), "mxfp4/microxcaling-cpp-even", "microxcaling, C++ path, round even"),
      named(cuda(rceil), "mxfp4/cuda-rceil", "CUDA 13 conversions, scale rounded up from amax/6"),
      named(cuda(floor), "mxfp4/cuda-floor", "CUDA 13 conversions, scale rounded down, less emax"),
      named(triton(rceil), "mxfp4/triton-round-up", "triton_kernels, scale rounded up on the word of amax/6"),
      named(triton(floor), "mxfp4/triton-round-down", "triton_kernels, scale rounded down on the word of amax/4"),
      named(ggml(), "mxfp4/ggml", "llama.cpp: nearest level by distance, split nibbles; undefined below 2^-125"),
      named(te_rceil(e4m3), "mxfp8/te-rceil", "TransformerEngine, E4M3, amax times fl(1/448)"),
      named(te_rceil(e5m2), "mxfp8-e5m2/te-rceil", "TransformerEngine, E5M2, amax times fl(1/57344)"),

      named(hif4_gcc(), "hif4/gcc", "the authors' published simulator (default)"),
      named(hif4_amct(), "hif4/amct", "AMCT packer: elements through bfloat16, micro-exponent bits MSB first"),
      named(hif4_bf16_products(ne, ne), "hif4/pto-a6", "PTO A6 kernel: bfloat16 products, ties to even"),
      named(hif4_bf16_products(ne, na), "hif4/supernpu", "SuperNPU golden: as pto-a6, E6M2 ties up"),
      named(hif4_bf16_products(na, ne), "hif4/paper-bf16", "Algorithm 1 with bfloat16 products, ties away"),
      named(hif4_exact(), "hif4/exact", "an ideal converter: exact amax/7 and reciprocal, ties to even"),
      named(with_stochastic(hif4_gcc(), 32), "hif4/gcc-sr", "hif4/gcc with stochastic element rounding, 32 bits"),
      named(hif4_gcc(s1p1), "hifx3/gcc", "HiFX3: S1P1 elements under the hif4/gcc rule"),
      named(hif4_gcc(s1p3), "hifx5/gcc", "HiFX5: S1P3 elements under the hif4/gcc rule"),
      named(hif4_gcc(s1p2, tile64), "hif4-2d/gcc", "one E6M2 a 64x64 tile, level bits per 8x8 and 4x4"),
      named(hif4_amct(tile64), "hif4-2d/amct", "hif4/amct on 64x64 tiles"),
      named(hif4_bf16_products(ne, ne, tile64), "hif4-2d/pto-a6", "hif4/pto-a6 on 64x64 tiles"),
      named(hif4_bf16_products(ne, na, tile64), "hif4-2d/supernpu", "hif4/supernpu on 64x64 tiles"),
      named(hif4_bf16_products(na, ne, tile64), "hif4-2d/paper-bf16", "hif4/paper-bf16 on 64x64 tiles"),
      named(hif4_exact(tile64), "hif4-2d/exact", "hif4/exact on 64x64 tiles"),

      named(nvfp4(false), "nvfp4/direct", "E4M3 scale per 16, no tensor scale"),
      named(nvfp4(true), "nvfp4/tensor-scale", "E4M3 scale per 16 under a binary32 tensor scale amax/2688"),
  });
}();

/// The named profiles as a span.
inline std::span<const Profile> profiles() { return profile_table; }

/// The profile of that exact name, or nullptr.
constexpr const Profile* find_profile(std::string_view name) {
  for (const Profile& profile : profile_table)
    if (profile.name == name) return &profile;
  return nullptr;
}

}  // namespace fp4proof
