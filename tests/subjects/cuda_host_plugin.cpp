// The host conversions of CUDA's cuda_fp4.h, cuda_fp6.h and cuda_fp8.h as a plug-in: a public implementation under
// test. Headers alone are needed, no GPU and no CUDA library. What the conversions leave to their user is done exactly:
// amax, and the division by a power of two.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

#include "conformance/backend.h"

namespace {

constexpr int nan_scale = 255;
constexpr auto not_a_number = std::numeric_limits<float>::quiet_NaN();

float widen(__half_raw half) { return __half2float(__half(half)); }

std::uint8_t to_e2m1(double y) { return __nv_cvt_double_to_fp4(y, __NV_E2M1, cudaRoundNearest); }
std::uint8_t to_e2m3(double y) { return __nv_cvt_double_to_fp6(y, __NV_E2M3, cudaRoundNearest); }
std::uint8_t to_e3m2(double y) { return __nv_cvt_double_to_fp6(y, __NV_E3M2, cudaRoundNearest); }
std::uint8_t to_e4m3(double y) { return __nv_cvt_double_to_fp8(y, __NV_SATFINITE, __NV_E4M3); }
std::uint8_t to_e5m2(double y) { return __nv_cvt_double_to_fp8(y, __NV_SATFINITE, __NV_E5M2); }
float from_e2m1(std::uint8_t code) { return widen(__nv_cvt_fp4_to_halfraw(code, __NV_E2M1)); }
float from_e2m3(std::uint8_t code) { return widen(__nv_cvt_fp6_to_halfraw(code, __NV_E2M3)); }
float from_e3m2(std::uint8_t code) { return widen(__nv_cvt_fp6_to_halfraw(code, __NV_E3M2)); }
float from_e4m3(std::uint8_t code) { return widen(__nv_cvt_fp8_to_halfraw(code, __NV_E4M3)); }
float from_e5m2(std::uint8_t code) { return widen(__nv_cvt_fp8_to_halfraw(code, __NV_E5M2)); }

/// amax rounded down to E8M0, less the exponent of the element.
template <int Emax>
int scale_down(float amax) {
  const int code = __nv_cvt_float_to_e8m0(amax, __NV_SATFINITE, cudaRoundZero);
  return code == nan_scale ? nan_scale : std::max(0, code - Emax);
}

/// The same, NaN for an infinity too.
template <int Emax>
int standard_scale(float amax) {
  return std::isinf(amax) ? nan_scale : scale_down<Emax>(amax);
}

int scale_up_e2m1(float amax) { return __nv_cvt_float_to_e8m0(amax / 6.0F, __NV_SATFINITE, cudaRoundPosInf); }

/// A scale rounded up from amax times the binary32 reciprocal of the largest element.
template <int Largest>
int scale_up_by_reciprocal(float amax) {
  return __nv_cvt_float_to_e8m0(amax * (1.0F / float{Largest}), __NV_SATFINITE, cudaRoundPosInf);
}

struct Rule {
  std::string_view profile;
  int (*scale)(float amax);
  std::uint8_t (*encode)(double y);
  float (*decode)(std::uint8_t code);
  bool is_nibble;
};

constexpr std::array<Rule, 9> rules = {
    {{"mxfp4/ocp", standard_scale<2>, to_e2m1, from_e2m1, true},
     {"mxfp4/cuda-floor", scale_down<2>, to_e2m1, from_e2m1, true},
     {"mxfp4/cuda-rceil", scale_up_e2m1, to_e2m1, from_e2m1, true},
     {"mxfp6-e2m3/ocp", standard_scale<2>, to_e2m3, from_e2m3, false},
     {"mxfp6-e3m2/ocp", standard_scale<4>, to_e3m2, from_e3m2, false},
     {"mxfp8-e4m3/ocp", standard_scale<8>, to_e4m3, from_e4m3, false},
     {"mxfp8-e5m2/ocp", standard_scale<15>, to_e5m2, from_e5m2, false},
     {"mxfp8/te-rceil", scale_up_by_reciprocal<448>, to_e4m3, from_e4m3, false},
     {"mxfp8-e5m2/te-rceil", scale_up_by_reciprocal<57344>, to_e5m2, from_e5m2, false}}};

constexpr int block_length = 32;

const Rule* rule_of(const fp4proof_call* call) {
  for (const Rule& rule : rules)
    if (rule.profile == call->profile) return &rule;
  return nullptr;
}

std::uint8_t* bytes(const fp4proof_call* call, const fp4proof_tensor* tensors, int index) {
  return static_cast<std::uint8_t*>(fp4proof_tensor_at(call, tensors, index)->data);
}

float amax_of(std::span<const float> block) {
  float amax = 0;
  for (const float x : block) {
    if (std::isnan(x)) return not_a_number;
    amax = std::max(amax, std::fabs(x));
  }
  return amax;
}

struct Block {
  std::uint8_t scale;
  std::array<std::uint8_t, block_length> codes;
};

Block encode(const Rule& rule, std::span<const float> block) {
  Block result{};
  const int scale = rule.scale(amax_of(block));
  result.scale = static_cast<std::uint8_t>(scale);
  if (scale == nan_scale) return result;
  for (std::size_t i = 0; i < block.size(); ++i) {
    result.codes[i] = rule.encode(std::ldexp(static_cast<double>(block[i]), 127 - scale));
  }
  return result;
}

void quantize(const fp4proof_call* call, const Rule& rule) {
  const auto* words = static_cast<const std::uint32_t*>(call->inputs->data);
  std::uint8_t* codes = bytes(call, call->outputs, 0);
  std::uint8_t* scales = bytes(call, call->outputs, 1);
  const std::int64_t rows = call->axis == 1 ? call->rows : call->columns;
  const std::int64_t length = call->axis == 1 ? call->columns : call->rows;
  for (std::int64_t row = 0; row < call->cases * rows; ++row) {
    const std::uint32_t* matrix = words + row / rows * rows * length;
    for (std::int64_t first = 0; first < length; first += block_length) {
      std::array<float, block_length> block{};
      for (std::int64_t i = first; i < std::min(length, first + block_length); ++i) {
        const std::int64_t place = call->axis == 1 ? row % rows * length + i : i * rows + row % rows;
        std::memcpy(&block[static_cast<std::size_t>(i - first)], matrix + place, sizeof(float));
      }
      const Block coded = encode(rule, block);
      *scales++ = coded.scale;
      for (std::size_t i = 0; i < coded.codes.size(); i += rule.is_nibble ? 2 : 1) {
        *codes++ =
            rule.is_nibble ? static_cast<std::uint8_t>(coded.codes[i] | coded.codes[i + 1] << 4) : coded.codes[i];
      }
    }
  }
}

void dequantize(const fp4proof_call* call, const Rule& rule) {
  const std::uint8_t* codes = bytes(call, call->inputs, 0);
  const std::uint8_t* scales = bytes(call, call->inputs, 1);
  auto* values = static_cast<std::uint32_t*>(call->outputs->data);
  const std::int64_t count = call->cases * call->rows * call->columns;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint8_t byte = codes[rule.is_nibble ? i / 2 : i];
    const std::uint8_t code = rule.is_nibble ? static_cast<std::uint8_t>(i % 2 == 0 ? byte & 15 : byte >> 4) : byte;
    const float scale = __bfloat162float(__nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(scales[i / block_length])));
    const float value = rule.decode(code) * scale;
    std::memcpy(values + i, &value, sizeof value);
  }
}

fp4proof_status supports(const fp4proof_call* call) {
  const std::string_view operation = call->operation;
  const bool is_ours = (operation == "quantize" || operation == "dequantize") && rule_of(call) != nullptr;
  return is_ours ? FP4PROOF_OK : FP4PROOF_UNSUPPORTED;
}

fp4proof_status run(const fp4proof_call* call) {
  const Rule& rule = *rule_of(call);
  if (std::string_view(call->operation) == "quantize") {
    quantize(call, rule);
  } else {
    dequantize(call, rule);
  }
  return FP4PROOF_OK;
}

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

constexpr fp4proof_backend table = {sizeof(fp4proof_backend),
                                    FP4PROOF_ABI_VERSION,
                                    0,
                                    "CUDA host conversions",
                                    TEXT(FP4PROOF_CUDA_VERSION),
                                    "cuda_fp4.h, cuda_fp6.h, cuda_fp8.h on the host compiler",
                                    FP4PROOF_TAKES_HOST_MEMORY,
                                    supports,
                                    run,
                                    nullptr,
                                    nullptr};

}  // namespace

const fp4proof_backend* fp4proof_open_backend(std::uint32_t host) {
  return host < FP4PROOF_ABI_VERSION ? nullptr : &table;
}
