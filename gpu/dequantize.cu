#include "gpu/dequantize.h"

#include <cuda_fp16.h>

#include "formats/block_codec.h"
#include "gpu/checks.h"
#include "gpu/dequantize_packed.h"
#include "gpu/launch.h"
#include "gpu/load_word.h"

namespace fp4proof::gpu {

namespace {

constexpr int threads = 256;
constexpr int unit = 8;  ///< elements of a thread; divides every block length

struct Work {
  DequantizeJob job;
  std::int64_t units_per_line;
  std::int64_t units;
};

/// A decoded value as a word of the number format, NaN canonical.
template <DType D>
__device__ auto word_of(float value) {
  if constexpr (D == DType::f32) {
    return is_nan_bits(float_bits(value)) ? canonical_nan_bits : float_bits(value);
  } else if constexpr (D == DType::f16) {
    return is_nan_bits(float_bits(value)) ? std::uint16_t{0x7E00} : __half_as_ushort(__float2half_rn(value));
  } else {
    return is_nan_bits(float_bits(value)) ? std::uint16_t{0x7FC0} : float_to_bf16(value);
  }
}

/// The eight words as 16-byte stores.
template <class Word>
__device__ void store_aligned(const Word (&words)[unit], Word* out) {
  struct alignas(16) Vector {
    Word word[16 / sizeof(Word)];
  };
  constexpr int per_vector = 16 / sizeof(Word);
#pragma unroll
  for (int v = 0; v < unit / per_vector; ++v) {
    Vector vector;
#pragma unroll
    for (int i = 0; i < per_vector; ++i) vector.word[i] = words[v * per_vector + i];
    reinterpret_cast<Vector*>(out)[v] = vector;
  }
}

template <DType D, Family F>
__global__ void __launch_bounds__(threads) decode_units(const __grid_constant__ Work work) {
  const DequantizeJob& job = work.job;
  const CodedShape& shape = job.shape;
  const int log2_block = top_bit(static_cast<unsigned>(shape.block));
  const std::int64_t step = std::int64_t{gridDim.x} * threads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < work.units; i += step) {
    const std::int64_t row = i / work.units_per_line;
    const std::int64_t k = (i - row * work.units_per_line) * unit;
    const std::int64_t matrix = row / shape.lines;
    const std::uint8_t* scales = job.coded.scales + matrix * shape.scale_bytes_per_matrix();
    std::uint32_t scale = 0;
#pragma unroll
    for (int byte = 0; byte < scale_bytes(F); ++byte) {
      const std::size_t at =
          scale_offset(shape.layout, shape.scale_grid(), static_cast<std::size_t>(row - matrix * shape.lines),
                       static_cast<std::size_t>(k >> log2_block), static_cast<std::size_t>(byte));
      scale |= std::uint32_t{scales[at]} << (8 * byte);
    }
    const float tensor_scale = F == Family::nvfp4 && job.profile.tensor_scale ? job.coded.tensor_scales[matrix] : 1.0F;
    const std::uint8_t* codes = job.coded.codes + row * shape.code_bytes_per_line() + (shape.nibbles ? k / 2 : k);
    decltype(word_of<D>(0.0F)) words[unit];
#pragma unroll
    for (int j = 0; j < unit; ++j) {
      const int code = shape.nibbles ? codes[j / 2] >> (4 * (j % 2)) & 0xF : codes[j];
      const int column = static_cast<int>(k & (shape.block - 1)) + j;
      Profile profile = job.profile;
      profile.family = F;
      words[j] =
          word_of<D>(decode_block_element(profile, scale, tensor_scale, column, static_cast<std::uint8_t>(code)));
    }
    auto* out = static_cast<decltype(word_of<D>(0.0F))*>(job.values) + row * shape.length + k;
    const bool whole = k + unit <= shape.length;
    if (whole && reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
      store_aligned(words, out);
    } else {
#pragma unroll
      for (int j = 0; j < unit; ++j) {
        if (k + j < shape.length) out[j] = words[j];
      }
    }
  }
}

bool is_power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

Status check(const DequantizeJob& job) {
  const CodedShape& shape = job.shape;
  if (!are_extents({shape.batch, shape.lines, shape.length})) return Status::invalid;
  if (shape.block < unit || !is_power_of_two(shape.block) || shape.block != job.profile.block.cols ||
      shape.blocks != ceil_div(shape.length, shape.block) || shape.bytes_per_scale != scale_bytes(job.profile.family) ||
      shape.nibbles != element_spec(job.profile.element).is_nibble()) {
    return Status::invalid;
  }
  if (!scale_layout_fits(shape.layout, static_cast<std::size_t>(shape.bytes_per_scale))) return Status::unsupported;
  if (shape.batch * shape.lines * shape.length == 0) return Status::ok;
  if (job.coded.codes == nullptr || job.coded.scales == nullptr || job.values == nullptr) return Status::invalid;
  if (!is_aligned(job.values, static_cast<std::size_t>(bytes_of(job.dtype)))) return Status::invalid;
  const bool has_tensor_scale = job.profile.family == Family::nvfp4 && job.profile.tensor_scale;
  return has_tensor_scale && job.coded.tensor_scales == nullptr ? Status::invalid : Status::ok;
}

template <DType D>
Status launch(const Work& work, cudaStream_t stream) {
  const unsigned grid = grid_for(work.units, threads);
  switch (work.job.profile.family) {
    case Family::mx: decode_units<D, Family::mx><<<grid, threads, 0, stream>>>(work); break;
    case Family::hif4: decode_units<D, Family::hif4><<<grid, threads, 0, stream>>>(work); break;
    case Family::nvfp4: decode_units<D, Family::nvfp4><<<grid, threads, 0, stream>>>(work); break;
  }
  return launch_status();
}

}  // namespace

Status dequantize(const DequantizeJob& job, cudaStream_t stream) {
  if (const Status status = check(job); status != Status::ok) return status;
  const std::int64_t units_per_line = ceil_div(job.shape.length, unit);
  const Work work{job, units_per_line, job.shape.batch * job.shape.lines * units_per_line};
  if (work.units == 0) return Status::ok;
  if (takes_dequantize_packed(job)) return dequantize_packed(job, stream);
  return with_dtype(job.dtype, [&]<DType D>() { return launch<D>(work, stream); });
}

}  // namespace fp4proof::gpu
