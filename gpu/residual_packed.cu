#include "gpu/residual_packed.h"

#include <cstdint>

#include "formats/residual_mask.h"
#include "gpu/hif4_packed.h"
#include "gpu/hif4_packed_lanes.h"
#include "gpu/launch.h"
#include "gpu/mx_packed.h"
#include "gpu/mx_packed_lanes.h"
#include "gpu/values_packed.h"

namespace fp4proof::gpu {

namespace {

constexpr int threads = 256;
constexpr int loads = 4;  ///< of a lane, 16 bytes each
constexpr int pieces_per_warp = loads * 32;

struct Target {
  std::uint32_t* codes;
  std::uint8_t* scales;
};

struct Task {
  const uint4* input;
  std::int64_t pieces;  ///< of 8 elements
  Target first;
  Target residual;
};

/// What a warp works on: the pieces of a lane stand 32 apart.
struct Share {
  std::int64_t start;  ///< the first piece of the warp
  int lane;
  int rest;  ///< pieces from the lane's first one to the end of the task, or the warp's share

  __device__ explicit Share(std::int64_t pieces)
      : start((std::int64_t{blockIdx.x} * threads + threadIdx.x) / 32 * pieces_per_warp),
        lane(static_cast<int>(threadIdx.x) % 32),
        rest(static_cast<int>(min(pieces - start, std::int64_t{pieces_per_warp})) - lane) {}

  __device__ bool has(int load) const { return load * 32 < rest; }
  __device__ std::int64_t place(int load) const { return start + lane + load * 32; }
};

__device__ void load_pieces(const Task& task, const Share& share, uint4 (&words)[loads]) {
#pragma unroll
  for (int i = 0; i < loads; ++i) words[i] = share.has(i) ? __ldcs(task.input + share.place(i)) : uint4{0, 0, 0, 0};
}

__device__ void store_codes(const Target& to, const Share& share, int load, std::uint32_t codes) {
  if (share.has(load)) __stcs(to.codes + share.place(load), codes);
}

/// x - scale * element for the eight elements of a piece, which are bfloat16 numbers (C27). Each half of the piece has
/// its scale, negative, in both halves of a word.
__device__ uint4 rest_of(const uint4& words, std::uint32_t codes, const PackedValueTable& table, std::uint32_t lower,
                         std::uint32_t upper) {
  const FourBf16 first = packed_values(table, codes);
  const FourBf16 second = packed_values(table, codes >> 16);
  return {packed_fma_bf16(first.first, lower, words.x), packed_fma_bf16(first.second, lower, words.y),
          packed_fma_bf16(second.first, upper, words.z), packed_fma_bf16(second.second, upper, words.w)};
}

// ---------------------------------------------------------------------------------------------------------------------
// The 2:4 mask
// ---------------------------------------------------------------------------------------------------------------------

__device__ std::uint32_t majority(std::uint32_t a, std::uint32_t b, std::uint32_t c) { return (a & b) | (c & (a | b)); }

/// C22 on the four numbers in two words: a byte each, all ones where it is kept.
__device__ std::uint32_t kept_bytes(std::uint32_t lower, std::uint32_t upper) {
  // Each comparison is the top bit of a half: a with the bit set, less b, keeps it where a >= b.
  constexpr std::uint32_t second_loses = 0x80000000U;
  const std::uint32_t a = packed_magnitude(lower);
  const std::uint32_t b = packed_magnitude(upper);
  const std::uint32_t a_marked = lower | packed_sign_mask;
  const std::uint32_t straight = a_marked - b;                             // 0 over 2, 1 over 3
  const std::uint32_t crossed = a_marked - permuted_bytes(b, 0, 0x1032U);  // 0 over 3, 1 over 2
  const std::uint32_t inner_lower = a_marked - (a >> 16);                  // 0 over 1, in the low half
  const std::uint32_t inner_upper = (upper | packed_sign_mask) - (b >> 16);
  const std::uint32_t kept_lower = majority(straight, crossed, packed_half(inner_lower, 0) ^ second_loses);
  const std::uint32_t kept_upper =
      majority(~straight, ~permuted_bytes(crossed, 0, 0x1032U), packed_half(inner_upper, 0) ^ second_loses);
  return permuted_bytes(kept_lower, kept_upper, 0xFDB9U);
}

/// Four bytes of ones or zeros as nibbles, in bytes 0 and 2.
__device__ std::uint32_t halved_bytes(std::uint32_t bytes) {
  return (bytes & 0x000F000FU) | ((bytes >> 4) & 0x00F000F0U);
}

/// The codes of a piece that are kept, as nibbles of ones.
__device__ std::uint32_t kept_codes(const uint4& residual) {
  return permuted_bytes(halved_bytes(kept_bytes(residual.x, residual.y)),
                        halved_bytes(kept_bytes(residual.z, residual.w)), 0x6420U);
}

// ---------------------------------------------------------------------------------------------------------------------
// MXFP4
// ---------------------------------------------------------------------------------------------------------------------

struct MxRule {
  PackedScaleRule scale;
  std::uint32_t
      to_overflow;  ///< takes the smallest magnitude whose block decodes to infinity to 0x8000, in both halves
};

/// The bfloat16 words of -2^(code - 127).
__device__ std::uint32_t minus_scales(std::uint32_t scale_codes) {
  return packed_max_u16(scale_codes * 128U, both_halves(bf16_of_e8m0(0))) | packed_sign_mask;
}

/// Stores the scales of the warp's blocks.
__device__ void store_mx_scales(const Task& task, const Target& to, const Share& share,
                                const mx_packed::ScalePair (&pairs)[2]) {
  using namespace mx_packed;
  const std::uint32_t bytes = transposed_bytes(scale_bytes_of(pairs[0], pairs[1]), share.lane);
  const std::int64_t index = share.start / lanes_per_block + first_scale_of_lane(share.lane);
  const std::int64_t count = task.pieces / lanes_per_block;
  if (share.lane % lanes_per_block == 0 && index < count) store_four_of_string(to.scales, index, count, bytes);
}

template <bool Sparse>
__global__ void __launch_bounds__(threads) code_mx(Task task, MxRule rule) {
  using namespace mx_packed;
  static_assert(loads == loads_per_chunk);
  constexpr PackedValueTable table = packed_value_table(Element::e2m1);
  const Share share(task.pieces);
  if (share.start >= task.pieces) return;
  uint4 words[loads];
  load_pieces(task, share, words);
  ScalePair first[2];
  ScalePair second[2];
#pragma unroll
  for (int pair = 0; pair < 2; ++pair) {
    const std::uint32_t amax = largest_pair(words[2 * pair], words[2 * pair + 1]);
    first[pair] = scale_pair(amax, rule.scale);
    const std::uint32_t scales = minus_scales(first[pair].codes);
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      uint4& piece = words[2 * pair + which];
      const std::uint32_t codes = eight_codes(piece, first[pair], which);
      store_codes(task.first, share, 2 * pair + which, codes);
      const std::uint32_t scale = packed_half(scales, which);
      piece = rest_of(piece, codes, table, scale, scale);
    }
    second[pair] = scale_pair(largest_pair(words[2 * pair], words[2 * pair + 1]), rule.scale);
    second[pair].not_finite = (amax + rule.to_overflow) & packed_sign_mask;
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      const uint4& piece = words[2 * pair + which];
      const std::uint32_t codes = eight_codes(piece, second[pair], which);
      store_codes(task.residual, share, 2 * pair + which, Sparse ? codes & kept_codes(piece) : codes);
    }
  }
  store_mx_scales(task, task.first, share, first);
  store_mx_scales(task, task.residual, share, second);
}

/// Blocks whose largest magnitude reaches 1.75 * 2^127 decode to infinity under the rules that round scales up, so that
/// the residual is one; under the others those alone that hold an infinity or a NaN.
std::uint32_t to_overflow(ScaleRule rule) {
  constexpr std::uint32_t least_overflow = 0x7F60U;
  constexpr std::uint32_t infinity = 0x7F80U;
  const bool overflows = rule == ScaleRule::ceil || rule == ScaleRule::rceil || rule == ScaleRule::even;
  return both_halves(0x8000U - (overflows ? least_overflow : infinity));
}

// ---------------------------------------------------------------------------------------------------------------------
// HiF4
// ---------------------------------------------------------------------------------------------------------------------

/// Groups with magnitudes of 2^22 and more lie so far above the largest scale that the residual of those is no bfloat16
/// number. Rounded to one it codes the same, but two that differ may become equal.
constexpr std::uint32_t least_inexact = 0x4A80U;

/// kept_codes() from binary32 residuals.
__device__ __noinline__ std::uint32_t kept_codes_exactly(uint4 words, std::uint32_t codes, std::uint32_t units) {
  const std::uint32_t pairs[4] = {words.x, words.y, words.z, words.w};
  std::uint32_t kept_nibbles = 0;
  for (int four = 0; four < 2; ++four) {
    const float unit = float_from_bits(packed_half(units, four) & 0xFFFF0000U);
    float residual[4];
    std::uint8_t kept[4];
    for (int i = 0; i < 4; ++i) {
      const int element = 4 * four + i;
      const float value = float_from_bits(pairs[element / 2] >> (element % 2 * 16) << 16);
      const auto code = static_cast<std::uint8_t>((codes >> (4 * element)) & 0xFU);
      residual[i] = value - decode_element(Element::s1p2, code) * unit;
    }
    keep_two_of_four(residual, kept);
    for (int i = 0; i < 4; ++i) kept_nibbles |= kept[i] != 0 ? 0xFU << (16 * four + 4 * i) : 0U;
  }
  return kept_nibbles;
}

/// Stores the scale words of a pair of groups.
__device__ void store_hif4_words(const Target& to, const Share& share, int pair, std::uint32_t word) {
  using namespace hif4_packed;
  const std::int64_t place = share.start / lanes_per_group + place_of_written(share.lane) + pair * groups_per_pair;
  const bool inside = share.has(2 * pair + written_group(share.lane));
  if (writes_word(share.lane) && inside) reinterpret_cast<std::uint32_t*>(to.scales)[place] = word;
}

template <bool Sparse>
__global__ void __launch_bounds__(threads) code_hif4(Task task) {
  using namespace hif4_packed;
  constexpr PackedValueTable table = packed_value_table(Element::s1p2);
  const Share share(task.pieces);
  if (share.start >= task.pieces) return;
  uint4 words[loads];
  load_pieces(task, share, words);
#pragma unroll
  for (int pair = 0; pair < loads / 2; ++pair) {
    const PairOfGroups first = quantize_pair(words[2 * pair], words[2 * pair + 1], share.lane);
    store_hif4_words(task.first, share, pair, first.word);
    std::uint32_t kept[2] = {~0U, ~0U};
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      uint4& piece = words[2 * pair + which];
      store_codes(task.first, share, 2 * pair + which, first.codes[which]);
      const uint4 residual =
          rest_of(piece, first.codes[which], table, packed_half(first.units[which], 0) | packed_sign_mask,
                  packed_half(first.units[which], 1) | packed_sign_mask);
      if constexpr (Sparse) {
        const bool is_exact = (packed_half(first.amax, which) & 0x7FFFU) < least_inexact;
        kept[which] =
            is_exact ? kept_codes(residual) : kept_codes_exactly(piece, first.codes[which], first.units[which]);
      }
      piece = residual;
    }
    const PairOfGroups second = quantize_pair(words[2 * pair], words[2 * pair + 1], share.lane);
    store_hif4_words(task.residual, share, pair, second.word);
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      store_codes(task.residual, share, 2 * pair + which, second.codes[which] & kept[which]);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Launching
// ---------------------------------------------------------------------------------------------------------------------

QuantizeJob quantize_job(const CorrectJob& job) {
  QuantizeJob inner;
  inner.profile = job.stack.effective(job.profile);
  inner.dtype = job.dtype;
  inner.shape = job.shape;
  inner.input = job.input;
  return inner;
}

}  // namespace

bool takes_residual_packed(const CorrectJob& job, const Corrected& output) {
  const CorrectionStack& stack = job.stack;
  const bool residual_alone =
      stack.residual.is_on() && !stack.hadamard.is_on() && !stack.macro.is_on() && !stack.three_quarters;
  const QuantizeJob inner = quantize_job(job);
  if (!residual_alone || job.shape.axis != 1 || inner.profile.block.is_2d()) return false;
  if (inner.profile.family == Family::hif4) {
    return takes_hif4_packed(inner, output.first.coded) && takes_hif4_packed(inner, output.residual.coded);
  }
  return takes_mx_packed(inner, output.first.coded) && takes_mx_packed(inner, output.residual.coded);
}

Status code_residual_packed(const CorrectJob& job, const Corrected& output, cudaStream_t stream) {
  const auto target = [](const Coded& coded) {
    return Target{reinterpret_cast<std::uint32_t*>(coded.codes), coded.scales};
  };
  const Task task{static_cast<const uint4*>(job.input), job.shape.elements() / 8, target(output.first.coded),
                  target(output.residual.coded)};
  if (task.pieces == 0) return Status::ok;
  const unsigned grid = grid_for(task.pieces, threads / 32 * pieces_per_warp);
  const bool sparse = job.stack.residual.mask == ResidualMask::two_four;
  if (job.profile.family == Family::hif4) {
    const auto kernel = sparse ? code_hif4<true> : code_hif4<false>;
    kernel<<<grid, threads, 0, stream>>>(task);
  } else {
    const auto kernel = sparse ? code_mx<true> : code_mx<false>;
    const ScaleRule rule = job.profile.scale_rule;
    kernel<<<grid, threads, 0, stream>>>(task, MxRule{packed_scale_rule(rule), to_overflow(rule)});
  }
  return launch_status();
}

}  // namespace fp4proof::gpu
