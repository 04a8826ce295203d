#include "gpu/launch.h"
#include "tests/gpu/evidence_device_memory.h"

namespace fp4proof::evidence {

namespace {

constexpr int threads = 256;
constexpr std::int64_t most_blocks = 8192;

unsigned grid_of(std::int64_t units) {
  const unsigned blocks = gpu::grid_for(units, threads);
  return blocks < most_blocks ? blocks : static_cast<unsigned>(most_blocks);
}

__device__ std::int64_t first_unit() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::int64_t unit_step() { return std::int64_t{gridDim.x} * blockDim.x; }

__device__ void add_to(std::uint64_t* sum, std::uint64_t value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xFFFFFFFFU, value, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(reinterpret_cast<unsigned long long*>(sum), value);
}

__global__ void add_terms(Output output, std::int64_t position, const std::uint8_t* data, std::int64_t bytes,
                          std::uint64_t* sum) {
  std::uint64_t own = 0;
  for (std::int64_t i = first_unit(); i < bytes; i += unit_step()) {
    own += digest_term(output, static_cast<std::uint64_t>(position + i), data[i]);
  }
  add_to(sum, own);
}

__global__ void add_tile(const float* c, std::int64_t columns, std::int64_t row, std::int64_t column,
                         std::uint64_t* sum) {
  constexpr std::int64_t row_bytes = sampled_tile * std::int64_t{sizeof(float)};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(c);
  std::uint64_t own = 0;
  for (std::int64_t i = first_unit(); i < sampled_tile * row_bytes; i += unit_step()) {
    const std::int64_t place = ((row + i / row_bytes) * columns + column) * std::int64_t{sizeof(float)} + i % row_bytes;
    own += digest_term(Output::product, static_cast<std::uint64_t>(place), bytes[place]);
  }
  add_to(sum, own);
}

template <class Word>
__global__ void fill_input(Input input, Word* words) {
  const std::int64_t count = input.shape.elements();
  for (std::int64_t i = first_unit(); i < count; i += unit_step()) {
    words[i] = static_cast<Word>(input_word(input.dtype, input.spread, input.seed, static_cast<std::uint64_t>(i)));
  }
}

__global__ void fill_codes(Element element, std::uint64_t seed, std::int64_t bytes, std::uint8_t* codes) {
  for (std::int64_t i = first_unit(); i < bytes; i += unit_step()) {
    codes[i] = code_byte(element, seed, static_cast<std::uint64_t>(i));
  }
}

__global__ void fill_scales(Family family, ScaleSpread spread, std::uint64_t seed, gpu::CodedShape shape,
                            std::uint8_t* scales) {
  const std::int64_t count = shape.batch * shape.lines * shape.blocks * shape.bytes_per_scale;
  for (std::int64_t i = first_unit(); i < count; i += unit_step()) {
    const std::int64_t block = i / shape.bytes_per_scale;
    const auto byte = static_cast<int>(i % shape.bytes_per_scale);
    scales[i] = scale_byte(family, spread, seed, block / shape.blocks, block % shape.blocks, byte);
  }
}

/// Runs `add` on a sum on the device and returns it.
template <class Add>
std::uint64_t summed(const Add& add) {
  const DeviceBytes sum(sizeof(std::uint64_t));
  sound(cudaMemset(sum.as<void>(), 0, sizeof(std::uint64_t)), "cudaMemset");
  add(sum.as<std::uint64_t>());
  sound(gpu::launch_status(), "digest");
  std::uint64_t total = 0;
  sound(cudaMemcpy(&total, sum.as<void>(), sizeof total, cudaMemcpyDeviceToHost), "digest");
  return total;
}

}  // namespace

std::uint64_t digest_on_device(Output output, std::int64_t position, const void* data, std::int64_t bytes) {
  if (bytes == 0) return 0;
  return summed([&](std::uint64_t* sum) {
    add_terms<<<grid_of(bytes), threads>>>(output, position, static_cast<const std::uint8_t*>(data), bytes, sum);
  });
}

std::uint64_t digest_on_device(Output output, const DeviceBytes& bytes) {
  return digest_on_device(output, 0, bytes.as(), bytes.size());
}

std::uint64_t digest_of_tile_on_device(const float* c, std::int64_t columns, std::int64_t row, std::int64_t column) {
  return summed([&](std::uint64_t* sum) { add_tile<<<4, threads>>>(c, columns, row, column, sum); });
}

DeviceBytes input_on_device(const Input& input) {
  const std::int64_t count = input.shape.elements();
  DeviceBytes bytes(count * gpu::bytes_of(input.dtype));
  if (input.dtype == DType::f32) {
    fill_input<<<grid_of(count), threads>>>(input, bytes.as<std::uint32_t>());
  } else {
    fill_input<<<grid_of(count), threads>>>(input, bytes.as<std::uint16_t>());
  }
  sound(gpu::launch_status(), "input");
  return bytes;
}

DevicePart::DevicePart(const Profile& profile, const gpu::CodedShape& coded, const MacroSpec& spec)
    : shape(coded),
      codes(coded.code_bytes()),
      scales(coded.scale_bytes()),
      tensor_scales(profile.tensor_scale ? coded.batch * std::int64_t{sizeof(float)} : 0),
      macro(coded.batch * coded.lines * gpu::macro_blocks(spec, coded.padded_length())) {}

gpu::CodedPart DevicePart::part() const { return {{codes.as(), scales.as(), tensor_scales.as<float>()}, macro.as()}; }

std::uint64_t DevicePart::digest(int first) const {
  const auto at = [&](Output output, const DeviceBytes& bytes) {
    return digest_on_device(static_cast<Output>(static_cast<int>(output) + first), bytes);
  };
  return at(Output::codes, codes) + at(Output::scales, scales) + at(Output::tensor_scales, tensor_scales) +
         at(Output::macro, macro);
}

DevicePart made_on_device(const Profile& profile, ScaleSpread spread, std::int64_t batch, std::int64_t lines,
                          std::int64_t length, std::uint64_t seed) {
  DevicePart made(profile, gpu::coded_shape(profile, {batch, lines, length, 1}), {});
  fill_codes<<<grid_of(made.codes.size()), threads>>>(profile.element, seed, made.codes.size(), made.codes.as());
  fill_scales<<<grid_of(made.scales.size()), threads>>>(profile.family, spread, seed, made.shape, made.scales.as());
  sound(gpu::launch_status(), "operand");
  const float tensor_scale = made_tensor_scale(seed);
  for (std::int64_t b = 0; profile.tensor_scale && b < batch; ++b) {
    sound(cudaMemcpy(made.tensor_scales.as<float>() + b, &tensor_scale, sizeof tensor_scale, cudaMemcpyHostToDevice),
          "tensor scale");
  }
  return made;
}

}  // namespace fp4proof::evidence
