#include "gpu/hadamard.h"

#include "formats/float_bits.h"
#include "formats/hadamard.h"
#include "formats/philox.h"
#include "formats/strict_math.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

namespace {

/// Where the signs of a transform come from.
struct Signs {
  bool drawn;
  std::uint64_t seed;
  std::uint32_t step;
};

__device__ void apply_signs(const Signs& signs, std::int64_t column, float (&v)[4]) {
  if (!signs.drawn) return;
  const PhiloxBlock block = random_block(signs.seed, Stream::hadamard, signs.step, static_cast<std::uint64_t>(column));
  for (int i = 0; i < 4; ++i) v[i] = float_from_bits(float_bits(v[i]) ^ hadamard_sign(block.word[i]));
}

__device__ void add_and_subtract(float& a, float& b) {
  const float sum = a + b;
  b = a - b;
  a = sum;
}

/// A thread holds four neighbours: the butterflies of h = 1 and 2 stay in it, the others go to another lane.
template <int Size, bool Inverse>
__global__ void transform(float* lines, std::int64_t quads, std::int64_t length, Signs signs) {
  constexpr unsigned lanes = Size / 4;
  constexpr float factor = Size == 16 ? 0.25F : 0.125F;
  const unsigned lane = threadIdx.x % 32;
  const unsigned group = ((1U << lanes) - 1U) << (lane / lanes * lanes);
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t quad = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; quad < quads; quad += step) {
    float4* const place = reinterpret_cast<float4*>(lines) + quad;
    const std::int64_t column = 4 * quad % length;
    const float4 loaded = *place;
    float v[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
    if (!Inverse) apply_signs(signs, column, v);
    add_and_subtract(v[0], v[1]);
    add_and_subtract(v[2], v[3]);
    add_and_subtract(v[0], v[2]);
    add_and_subtract(v[1], v[3]);
    for (unsigned h = 1; h < lanes; h *= 2) {
      for (float& mine : v) {
        const float other = __shfl_xor_sync(group, mine, static_cast<int>(h));
        mine = (lane & h) == 0 ? mine + other : other - mine;
      }
    }
    for (float& mine : v) mine *= factor;
    if (Inverse) apply_signs(signs, column, v);
    for (float& mine : v) mine = strict::canonicalise_nan(mine);
    *place = {v[0], v[1], v[2], v[3]};
  }
}

template <bool Inverse>
Status launch(const HadamardSpec& spec, std::uint32_t product, const MatrixShape& shape, float* lines,
              cudaStream_t stream) {
  constexpr int threads = 256;
  const std::int64_t quads = shape.elements() / 4;
  if (quads == 0) return Status::ok;
  const Signs signs{spec.signs != HadamardSigns::none, spec.seed, hadamard_step(spec.signs, product)};
  const auto kernel = spec.size == 16 ? transform<16, Inverse> : transform<64, Inverse>;
  kernel<<<grid_for(quads, threads), threads, 0, stream>>>(lines, quads, shape.length(), signs);
  return launch_status();
}

}  // namespace

Status transform_lines(const HadamardSpec& spec, std::uint32_t product, const MatrixShape& shape, float* lines,
                       cudaStream_t stream) {
  return launch<false>(spec, product, shape, lines, stream);
}

Status transform_lines_back(const HadamardSpec& spec, std::uint32_t product, const MatrixShape& shape, float* lines,
                            cudaStream_t stream) {
  return launch<true>(spec, product, shape, lines, stream);
}

}  // namespace fp4proof::gpu
