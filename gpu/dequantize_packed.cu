#include "gpu/dequantize_packed.h"

#include <cstdint>
#include <type_traits>

#include "formats/hif4.h"
#include "gpu/checks.h"
#include "gpu/launch.h"
#include "gpu/values_packed.h"

namespace fp4proof::gpu {

namespace {

constexpr int mx_block = 32;
constexpr int hif4_group = 64;

/// All codes and values of a job as one string; a unit is what becomes one 16-byte store.
struct Work {
  const std::uint8_t* codes;
  const std::uint8_t* scales;
  uint4* values;
  std::int64_t units;
};

/// The scale of four elements and the bits of products with it that stay.
struct Scale {
  std::uint32_t word;  // in both halves
  std::uint32_t kept;
};

template <Family F>
__device__ std::uint32_t load_scale(const std::uint8_t* scales, std::int64_t element) {
  if constexpr (F == Family::mx) return __ldg(scales + element / mx_block);
  return __ldg(reinterpret_cast<const std::uint32_t*>(scales) + element / hif4_group);
}

/// `column` is that of the first of the four elements in its block.
template <Family F>
__device__ Scale scale_of(std::uint32_t scale, int column) {
  if constexpr (F == Family::mx) return {both_halves(bf16_of_e8m0(scale)), kept_bits(scale == e8m0_nan)};
  const std::uint32_t code = hif4_e6m2(scale);
  const auto levels = static_cast<std::uint32_t>(hif4_level2(scale, column) + hif4_level3(scale, column));
  return {both_halves(bf16_of_e6m2(code, levels)), kept_bits(code == e6m2_nan)};
}

template <Family F>
__device__ FourBf16 four_values(std::uint32_t codes, std::uint32_t scale, int column) {
  constexpr PackedValueTable table = packed_value_table(F == Family::mx ? Element::e2m1 : Element::s1p2);
  const Scale factor = scale_of<F>(scale, column);
  const FourBf16 values = packed_values(table, codes);
  return {packed_scaled_values(values.first, factor.word, factor.kept),
          packed_scaled_values(values.second, factor.word, factor.kept)};
}

/// Eight elements to bf16 or four to f32.
template <Family F, DType D>
__device__ uint4 unit_of(std::uint32_t codes, std::uint32_t scale, int column) {
  const FourBf16 lower = four_values<F>(codes, scale, column);
  if constexpr (D == DType::f32) {
    return {lower.first << 16, lower.first & 0xFFFF0000U, lower.second << 16, lower.second & 0xFFFF0000U};
  } else {
    const FourBf16 upper = four_values<F>(codes >> 16, scale, column + 4);
    return {lower.first, lower.second, upper.first, upper.second};
  }
}

template <Family F, DType D, int Units, int Threads>
__global__ void __launch_bounds__(Threads) decode_string(const __grid_constant__ Work work) {
  using Codes = std::conditional_t<D == DType::f32, std::uint16_t, std::uint32_t>;
  constexpr int per_unit = 2 * sizeof(Codes);
  constexpr int block = F == Family::mx ? mx_block : hif4_group;
  const std::int64_t first = std::int64_t{blockIdx.x} * (Threads * Units) + threadIdx.x;
  const auto* codes = reinterpret_cast<const Codes*>(work.codes) + first;
  Codes eight[Units];
  std::uint32_t scales[Units];
#pragma unroll
  for (int i = 0; i < Units; ++i) {
    const bool inside = first + i * Threads < work.units;
    eight[i] = inside ? __ldcs(codes + i * Threads) : Codes{0};
    scales[i] = inside ? load_scale<F>(work.scales, (first + i * Threads) * per_unit) : 0;
  }
  const int column = static_cast<int>(threadIdx.x) * per_unit % block;
#pragma unroll
  for (int i = 0; i < Units; ++i) {
    const uint4 unit = unit_of<F, D>(eight[i], scales[i], column);
    if (first + i * Threads < work.units) __stcs(work.values + first + i * Threads, unit);
  }
}

template <Family F, DType D>
Status launch(const DequantizeJob& job, cudaStream_t stream) {
  constexpr int units = 2;
  constexpr int threads = 128;
  constexpr int per_unit = 16 / bytes_of(D);
  const std::int64_t elements = job.shape.batch * job.shape.lines * job.shape.length;
  const Work work{job.coded.codes, job.coded.scales, static_cast<uint4*>(job.values), elements / per_unit};
  decode_string<F, D, units, threads><<<grid_for(work.units, units * threads), threads, 0, stream>>>(work);
  return launch_status();
}

}  // namespace

bool takes_dequantize_packed(const DequantizeJob& job) {
  const bool is_mx = job.profile.family == Family::mx && job.profile.element == Element::e2m1 &&  //
                     job.shape.block == mx_block;
  const bool is_hif4 =
      job.profile.family == Family::hif4 && job.profile.element == Element::s1p2 && job.shape.block == hif4_group;
  return (is_mx || is_hif4) && job.dtype != DType::f16 && job.shape.length % job.shape.block == 0 &&
         job.shape.layout == ScaleLayout::row_major && is_aligned(job.coded.codes, 4) &&
         is_aligned(job.coded.scales, 4) && is_aligned(job.values, 16);
}

Status dequantize_packed(const DequantizeJob& job, cudaStream_t stream) {
  const bool is_mx = job.profile.family == Family::mx;
  if (job.dtype == DType::f32) {
    return is_mx ? launch<Family::mx, DType::f32>(job, stream) : launch<Family::hif4, DType::f32>(job, stream);
  }
  return is_mx ? launch<Family::mx, DType::bf16>(job, stream) : launch<Family::hif4, DType::bf16>(job, stream);
}

}  // namespace fp4proof::gpu
