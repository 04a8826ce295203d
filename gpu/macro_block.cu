#include "gpu/macro_block.h"

#include "formats/float_bits.h"
#include "formats/macro_block.h"
#include "formats/strict_math.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

namespace {

constexpr int warp = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFU;

struct MacroJob {
  MacroSpec macro;
  Element element;
  std::int64_t batch;
  std::int64_t lines;
  std::int64_t length;
  std::int64_t height;  ///< lines of a macro block
  std::int64_t across;  ///< macro blocks of a line
  std::int64_t down;    ///< macro blocks of a matrix, one below the other
};

/// One warp a macro block.
__global__ void scale_blocks(MacroJob job, const float* lines, std::uint8_t* bytes, float* scaled) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const std::int64_t warps = std::int64_t{gridDim.x} * (blockDim.x / warp);
  std::int64_t unit = std::int64_t{blockIdx.x} * (blockDim.x / warp) + threadIdx.x / warp;
  for (; unit < job.batch * job.down * job.across; unit += warps) {
    const std::int64_t block = unit % job.across;
    const std::int64_t top = unit / job.across % job.down * job.height;
    const std::int64_t height = min(job.height, job.lines - top);
    const std::int64_t first_line = unit / job.across / job.down * job.lines + top;
    const std::int64_t first_column = block * job.macro.size;
    const int width = static_cast<int>(min(std::int64_t{job.macro.size}, job.length - first_column));

    std::uint32_t largest = 0;
    for (std::int64_t row = 0; row < height; ++row) {
      const float* values = lines + (first_line + row) * job.length + first_column;
      for (int i = lane; i < width; i += warp) {
        const std::uint32_t magnitude = float_bits(values[i]) & float_magnitude_mask;
        if (magnitude < float_infinity_bits) largest = max(largest, magnitude);
      }
    }
    const std::uint8_t byte = macro_byte(job.macro.form, job.element, __reduce_max_sync(all_lanes, largest));
    for (std::int64_t row = lane; row < height; row += warp) bytes[(first_line + row) * job.across + block] = byte;

    const float factor = macro_factor(byte);
    for (std::int64_t row = 0; row < height; ++row) {
      const std::int64_t first = (first_line + row) * job.length + first_column;
      for (int i = lane; i < width; i += warp) {
        const float value = lines[first + i];
        scaled[first + i] = job.macro.form == MacroForm::multiply ? strict::canonicalise_nan(value * factor)
                                                                  : strict::divide(value, factor);
      }
    }
  }
}

}  // namespace

Status scale_macro_blocks(const MacroSpec& macro, const Profile& profile, const MatrixShape& shape, const float* lines,
                          std::uint8_t* bytes, float* scaled, cudaStream_t stream) {
  constexpr int threads = 256;
  MacroJob job{macro, profile.element, shape.batch, shape.lines(), shape.length(), 1, 0, 0};
  if (profile.block.is_2d()) job.height = macro.size;
  job.across = ceil_div(job.length, macro.size);
  job.down = ceil_div(job.lines, job.height);
  const std::int64_t units = job.batch * job.down * job.across;
  if (units == 0) return Status::ok;
  scale_blocks<<<grid_for(units, threads / warp), threads, 0, stream>>>(job, lines, bytes, scaled);
  return launch_status();
}

}  // namespace fp4proof::gpu
