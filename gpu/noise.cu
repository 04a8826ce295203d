#include "gpu/noise.h"

#include "formats/philox.h"
#include "formats/strict_math.h"
#include "gpu/checks.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

namespace {

/// A thread takes two neighbours: they share a pair of normals.
__global__ void add_pairs(NoiseJob job) {
  const std::int64_t step = 2 * std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t first = 2 * (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x); first < job.channels;
       first += step) {
    const std::uint64_t element = (std::uint64_t{job.layer} << 32) + static_cast<std::uint64_t>(first);
    const PhiloxBlock block = random_block(job.seed, Stream::aqn, job.step, element);
    const auto word = static_cast<int>(element & 2U);
    const NormalPair normals = normals_from_words(block.word[word], block.word[word + 1]);
    const float pair[2] = {normals.cosine, normals.sine};
    for (int i = 0; i < 2 && first + i < job.channels; ++i) {
      const float weight = job.clean[first + i];
      job.noisy[first + i] = strict::canonicalise_nan(weight + job.sigma * pair[i]);
    }
  }
}

__global__ void copy_weights(NoiseJob job) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < job.channels; i += step) {
    job.noisy[i] = job.clean[i];
  }
}

}  // namespace

Status add_noise(const NoiseJob& job, cudaStream_t stream) {
  constexpr int threads = 128;
  const bool sound = job.channels >= 0 && job.channels <= std::int64_t{1} << 32 && job.sigma >= 0.0F &&
                     is_finite_bits(float_bits(job.sigma));
  if (!sound) return Status::invalid;
  if (job.channels == 0) return Status::ok;
  if (job.clean == nullptr || job.noisy == nullptr) return Status::invalid;
  if (!is_aligned(job.clean, alignof(float)) || !is_aligned(job.noisy, alignof(float))) return Status::invalid;
  if (job.sigma == 0.0F) {
    copy_weights<<<grid_for(job.channels, threads), threads, 0, stream>>>(job);
  } else {
    add_pairs<<<grid_for(job.channels, 2 * threads), threads, 0, stream>>>(job);
  }
  return launch_status();
}

}  // namespace fp4proof::gpu
