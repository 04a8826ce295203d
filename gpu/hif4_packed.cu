#include "gpu/hif4_packed.h"

#include <cstdint>

#include "gpu/checks.h"
#include "gpu/hif4_packed_lanes.h"
#include "gpu/hif4_tiles.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

namespace {

using namespace hif4_packed;

/// The matrix as one string of groups. A warp takes Pairs * 8 groups.
template <int Pairs, int Threads>
__global__ void __launch_bounds__(Threads)
    quantize_rows(const uint4* input, std::uint32_t* codes, std::uint32_t* scale_words, std::int64_t pieces) {
  constexpr int loads = 2 * Pairs;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t first = (std::int64_t{blockIdx.x} * Threads + threadIdx.x) / 32 * (loads * 32);
  if (first >= pieces) return;
  const int rest = static_cast<int>(min(pieces - first, std::int64_t{loads * 32})) - lane;
  input += first + lane;
  codes += first + lane;
  uint4 words[loads];
#pragma unroll
  for (int i = 0; i < loads; ++i) words[i] = i * 32 < rest ? __ldcs(input + i * 32) : uint4{0, 0, 0, 0};

  const int written = written_group(lane);
  scale_words += first / lanes_per_group + place_of_written(lane);
#pragma unroll
  for (int pair = 0; pair < Pairs; ++pair) {
    const PairOfGroups out = quantize_pair(words[2 * pair], words[2 * pair + 1], lane);
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      const int i = 2 * pair + which;
      if (i * 32 < rest) __stcs(codes + i * 32, out.codes[which]);
    }
    const bool inside = (2 * pair + written) * 32 < rest;
    if (writes_word(lane) && inside) scale_words[pair * groups_per_pair] = out.word;
  }
}

}  // namespace

bool takes_hif4_packed(const QuantizeJob& job, const Coded& coded) {
  const Profile& p = job.profile;
  const MatrixShape& shape = job.shape;
  const bool fits = shape.axis == 1 ? shape.columns % group == 0 && shape.rows % p.block.rows == 0
                                    : shape.rows % group == 0 && shape.columns % 2 == 0 && !p.block.is_2d();
  return fits && job.dtype == DType::bf16 && p.family == Family::hif4 && p.element == Element::s1p2 &&
         p.block.cols == group && p.rounding == Rounding::rna && p.scale_rounding == Rounding::rne &&
         p.seventh == SeventhRule::bf16_product && p.reciprocal == Reciprocal::bf16 &&
         p.threshold_arithmetic == ThresholdArithmetic::exact && p.element_arithmetic == ElementArithmetic::exact &&
         p.nan == NanPolicy::scale_nan && p.inf == InfPolicy::scale_nan && p.tiny != TinyPolicy::flush_inputs &&
         p.zero_sign == ZeroSign::zero_input_dropped && job.scale_layout == ScaleLayout::row_major &&
         is_aligned(job.input, 16) && is_aligned(coded.codes, 16) && is_aligned(coded.scales, 4);
}

Status quantize_hif4_packed(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  if (job.profile.block.is_2d()) return quantize_hif4_tiles(job, coded, stream);
  if (job.shape.axis == 0) return quantize_hif4_columns(job, coded, stream);
  constexpr int pairs = 4;
  constexpr int threads = 128;
  const std::int64_t pieces = job.shape.elements() / piece;
  quantize_rows<pairs, threads><<<grid_for(pieces, 2 * pairs * threads), threads, 0, stream>>>(
      static_cast<const uint4*>(job.input), reinterpret_cast<std::uint32_t*>(coded.codes),
      reinterpret_cast<std::uint32_t*>(coded.scales), pieces);
  return launch_status();
}

}  // namespace fp4proof::gpu
