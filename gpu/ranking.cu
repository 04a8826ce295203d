#include "gpu/ranking.h"

#include "formats/float_bits.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

namespace {

constexpr int threads = 1024;
constexpr int warp = 32;
constexpr int warps = threads / warp;
constexpr int digit_bits = 8;
constexpr int digits = 1 << digit_bits;

/// The smallest measure that is kept, as a word, and how many of those equal to it are.
struct Threshold {
  std::uint64_t word;
  std::int64_t equals;
};

/// Lanes with the same digit add together: measures of one order of magnitude share their upper digits.
__device__ void count_digit(unsigned long long* histogram, unsigned digit) {
  const unsigned equals = __match_any_sync(__activemask(), digit);
  const unsigned lane = threadIdx.x % warp;
  if (lane == static_cast<unsigned>(__ffs(static_cast<int>(equals)) - 1)) {
    atomicAdd(&histogram[digit], static_cast<unsigned long long>(__popc(equals)));
  }
}

/// Words of non-negative numbers order like the numbers. The threshold is found digit by digit, from the top: `equals`
/// is what is left to keep among the words that share all digits so far.
__device__ Threshold find_threshold(const double* measures, std::int64_t count, std::int64_t kept) {
  __shared__ unsigned long long histogram[digits];
  __shared__ Threshold found;
  Threshold so_far{0, kept};
  for (int shift = 64 - digit_bits; shift >= 0; shift -= digit_bits) {
    const std::uint64_t known = shift == 64 - digit_bits ? 0 : ~std::uint64_t{0} << (shift + digit_bits);
    for (int i = static_cast<int>(threadIdx.x); i < digits; i += threads) histogram[i] = 0;
    __syncthreads();
    for (std::int64_t i = threadIdx.x; i < count; i += threads) {
      const auto word = bits_as<std::uint64_t>(measures[i]);
      if ((word & known) == so_far.word) count_digit(histogram, static_cast<unsigned>((word >> shift) % digits));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      found = so_far;
      int digit = digits - 1;
      for (; static_cast<std::int64_t>(histogram[digit]) < found.equals; --digit) {
        found.equals -= static_cast<std::int64_t>(histogram[digit]);
      }
      found.word |= static_cast<std::uint64_t>(digit) << shift;
    }
    __syncthreads();
    so_far = found;
  }
  return so_far;
}

/// How many threads of lower number say yes; `total` becomes how many of all do.
__device__ int count_before(bool says_yes, int& total) {
  __shared__ int of_warp[warps];
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const int mine = static_cast<int>(threadIdx.x) / warp;
  const unsigned votes = __ballot_sync(0xFFFFFFFFU, says_yes);
  __syncthreads();  // the counts of the call before are read
  if (lane == 0) of_warp[mine] = __popc(votes);
  __syncthreads();
  int before = __popc(votes & ((1U << lane) - 1U));
  total = 0;
  for (int w = 0; w < warps; ++w) {
    if (w < mine) before += of_warp[w];
    total += of_warp[w];
  }
  return before;
}

/// One block a row.
__global__ void __launch_bounds__(threads)
    flag_rows(std::int64_t batch, std::int64_t count, std::int64_t kept, const double* measures, std::uint8_t* flags) {
  for (std::int64_t row = blockIdx.x; row < batch; row += gridDim.x) {
    const double* mine = measures + row * count;
    const Threshold threshold = find_threshold(mine, count, kept);
    std::int64_t taken = 0;
    for (std::int64_t first = 0; first < count; first += threads) {
      const std::int64_t i = first + threadIdx.x;
      const std::uint64_t word = i < count ? bits_as<std::uint64_t>(mine[i]) : 0;
      const bool is_equal = i < count && word == threshold.word;
      int together = 0;
      const std::int64_t before = taken + count_before(is_equal, together);
      taken += together;
      if (i < count) flags[row * count + i] = word > threshold.word || (is_equal && before < threshold.equals) ? 1 : 0;
    }
    __syncthreads();
  }
}

}  // namespace

Status flag_largest(std::int64_t batch, std::int64_t count, std::int64_t kept, const double* measures,
                    std::uint8_t* flags, cudaStream_t stream) {
  if (batch * count == 0) return Status::ok;
  flag_rows<<<grid_for(batch, 1), threads, 0, stream>>>(batch, count, kept, measures, flags);
  return launch_status();
}

}  // namespace fp4proof::gpu
