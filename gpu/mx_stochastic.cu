#include "gpu/mx_stochastic.h"

#include <algorithm>
#include <cstdint>

#include "gpu/checks.h"
#include "gpu/e2m1_stochastic.h"
#include "gpu/launch.h"
#include "gpu/mx_packed_lanes.h"
#include "gpu/philox_words.h"

namespace fp4proof::gpu {

namespace {

using namespace mx_packed;

constexpr int piece = 8;  ///< elements of a 16-byte load: two Philox blocks

/// A part of the matrix whose Philox block numbers have one high word.
struct Segment {
  const uint4* input;
  std::uint32_t* codes;
  std::uint8_t* scales;
  std::int64_t pieces;
  PackedScaleRule rule;
  PhiloxWords random;
};

template <int Bits, bool Clips>
__device__ std::uint32_t eight_stochastic_codes(const uint4& words, const ScalePair& scales, int which,
                                                const PhiloxWords& random, std::uint32_t place) {
  const std::uint32_t inverse = half_of(scales.inverse, which);
  const std::uint32_t unscaled[4] = {words.x, words.y, words.z, words.w};
  std::uint32_t scaled[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    scaled[i] = scaled_e2m1<Clips>(unscaled[i], inverse);
  }
  const PhiloxBlock first = random.block(2 * place);
  const PhiloxBlock second = random.block(2 * place + 1);
  const std::uint32_t random_words[8] = {first.word[0],  first.word[1],  first.word[2],  first.word[3],
                                         second.word[0], second.word[1], second.word[2], second.word[3]};
  return (stochastic_e2m1<Bits>(scaled, random_words) | signs_of_eight(unscaled)) &
         ~sign_of_half(scales.not_finite, which);
}

/// The pieces of a chunk from `first` on. Where it is not whole, this lane has those that begin before `rest`.
template <int Bits, bool Clips, bool Whole>
__device__ void quantize_chunk(const Segment& segment, std::int64_t first, int lane, int rest) {
  const uint4* input = segment.input + first + lane;
  std::uint32_t* codes = segment.codes + first + lane;
  const std::uint32_t place = static_cast<std::uint32_t>(first) + lane;
  uint4 words[loads_per_chunk];
#pragma unroll
  for (int i = 0; i < loads_per_chunk; ++i) {
    words[i] = Whole || i * 32 < rest ? __ldcs(input + i * 32) : uint4{0, 0, 0, 0};
  }
  ScalePair scales[2];
#pragma unroll
  for (int pair = 0; pair < 2; ++pair) {
    scales[pair] = scale_pair(largest_pair(words[2 * pair], words[2 * pair + 1]), segment.rule);
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      const int i = 2 * pair + which;
      const std::uint32_t eight =
          eight_stochastic_codes<Bits, Clips>(words[i], scales[pair], which, segment.random, place + i * 32);
      if (Whole || i * 32 < rest) __stcs(codes + i * 32, eight);
    }
  }
  const std::uint32_t bytes = transposed_bytes(scale_bytes_of(scales[0], scales[1]), lane);
  if (lane % lanes_per_block == 0) {
    const std::int64_t index = first / lanes_per_block + first_scale_of_lane(lane);
    if constexpr (Whole) {
      *reinterpret_cast<std::uint32_t*>(segment.scales + index) = bytes;
    } else {
      store_four_of_string(segment.scales, index, segment.pieces / lanes_per_block, bytes);
    }
  }
}

constexpr int threads = 256;

template <int Bits, bool Clips>
__global__ void __launch_bounds__(threads, 3) quantize_rows(const __grid_constant__ Segment segment) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t warp = (std::int64_t{blockIdx.x} * threads + threadIdx.x) / 32;
  const std::int64_t first = warp * pieces_per_chunk;
  const std::int64_t left = segment.pieces - first;
  if (left >= pieces_per_chunk) {
    quantize_chunk<Bits, Clips, true>(segment, first, lane, 0);
  } else if (left > 0) {
    quantize_chunk<Bits, Clips, false>(segment, first, lane, static_cast<int>(left) - lane);
  }
}

template <int Bits, bool Clips>
void launch(const Segment& segment, cudaStream_t stream) {
  const unsigned grid = grid_for(segment.pieces, loads_per_chunk * threads);
  quantize_rows<Bits, Clips><<<grid, threads, 0, stream>>>(segment);
}

template <bool Clips>
void launch(int bits, const Segment& segment, cudaStream_t stream) {
  switch (bits) {
    case 8: return launch<8, Clips>(segment, stream);
    case 16: return launch<16, Clips>(segment, stream);
    default: return launch<32, Clips>(segment, stream);
  }
}

}  // namespace

bool takes_mx_stochastic(const QuantizeJob& job, const Coded& coded) {
  const Profile& p = job.profile;
  return job.dtype == DType::bf16 && !job.three_quarters && p.family == Family::mx && p.element == Element::e2m1 &&
         p.block == BlockShape{1, block} && p.rounding == Rounding::stochastic && job.random.words == nullptr &&
         p.element_arithmetic == ElementArithmetic::exact && p.nan == NanPolicy::scale_nan &&
         p.inf == InfPolicy::scale_nan && p.zero_scale_code == 0 && p.tiny == TinyPolicy::clamp &&
         p.zero_sign == ZeroSign::kept && p.scale_arithmetic == ScaleArithmetic::exact &&
         job.scale_layout == ScaleLayout::row_major && job.shape.axis == 1 && job.shape.columns % block == 0 &&
         is_aligned(job.input, 16) && is_aligned(coded.codes, 4) && is_aligned(coded.scales, 4);
}

Status quantize_mx_stochastic(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  constexpr std::int64_t most = std::int64_t{1} << 31;  // 2^32 Philox blocks
  const std::int64_t pieces = job.shape.elements() / piece;
  for (std::int64_t first = 0; first < pieces; first += most) {
    const RandomSource& random = job.random;
    const Segment segment{
        static_cast<const uint4*>(job.input) + first,
        reinterpret_cast<std::uint32_t*>(coded.codes) + first,
        coded.scales + first / lanes_per_block,
        std::min(pieces - first, most),
        packed_scale_rule(job.profile.scale_rule),
        PhiloxWords(random.seed, random.stream, random.step, static_cast<std::uint32_t>(first / most))};
    const int bits = job.profile.random_bits;
    rule_clips_e2m1(job.profile.scale_rule) ? launch<true>(bits, segment, stream)
                                            : launch<false>(bits, segment, stream);
    if (const Status status = launch_status(); status != Status::ok) return status;
  }
  return Status::ok;
}

}  // namespace fp4proof::gpu
