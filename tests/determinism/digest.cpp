// Prints one line, "what digest", for each thing that must have the same bits on every compiler, optimisation level,
// instruction set and number of threads. compare_builds compares the lines of several builds and runs.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "formats/strict_math.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/gemm.h"
#include "reference/portable/quantize.h"
#include "tests/determinism/digest.h"

namespace fp4proof::determinism {
namespace {

std::uint32_t case_word(std::int64_t index) {
  return random_word(seed, Stream::cases, 0, static_cast<std::uint64_t>(index));
}

void print_function(const std::string& name, const std::function<float(float)>& function) {
  Digest digest;
  for (std::int64_t i = 0; i < words_per_function; ++i) digest.add(function(float_from_bits(case_word(i))));
  digest.print("strict " + name);
}

void print_elementary_functions() {
  print_function("exp", [](float x) { return strict::exp(x); });
  print_function("log", [](float x) { return strict::log(x); });
  print_function("sqrt", [](float x) { return strict::sqrt(x); });
  print_function("rsqrt", [](float x) { return strict::rsqrt(x); });
  print_function("silu", [](float x) { return strict::silu(x); });
  print_function("divide", [](float x) { return strict::divide(1.0F, x); });
}

void print_random_numbers() {
  Digest words;
  Digest normals;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(words_per_function); ++i) {
    words.add(random_word(seed, Stream::init, 7, i));
    normals.add(random_normal(seed, Stream::init, 7, i));
  }
  words.print("philox words");
  normals.print("philox normals");
}

}  // namespace

std::vector<std::uint16_t> tensor_of_bits() {
  std::vector<std::uint16_t> tensor;
  for (std::int64_t i = 0; i < rows * columns; ++i) tensor.push_back(static_cast<std::uint16_t>(case_word(i)));
  return tensor;
}

std::vector<float> tensor_of_normals() {
  std::vector<float> tensor;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const int exponent = 2 * (static_cast<int>(i / columns) - static_cast<int>(rows) / 2);
    tensor.push_back(random_normal(seed, Stream::cases, 1, static_cast<std::uint64_t>(i)) * pow2f(exponent));
  }
  return tensor;
}

namespace {

/// Codes, scales and values of one tensor, or the message of its refusal.
void print_quantization(const Profile& profile, const portable::TensorView& tensor, int axis, const char* input) {
  portable::QuantizeOptions options;
  options.axis = axis;
  options.seed = seed;
  const std::string what = std::string(profile.name) + " " + input;
  const Result<portable::Quantized> quantized = portable::quantize(profile, tensor, options);
  if (!quantized) {
    Digest().add(std::span<const char>(quantized.error().message)).print(what + " refusal");
    return;
  }
  Digest()
      .add(std::span<const std::uint8_t>(quantized->codes))
      .add(std::span<const std::uint8_t>(quantized->scales))
      .add(quantized->tensor_scale)
      .print(what + " codes");
  const std::vector<float> values = portable::dequantize(profile, *quantized);
  Digest().add(std::span<const float>(values)).print(what + " values");
}

void print_profiles() {
  const std::int64_t shape[] = {rows, columns};
  const std::vector<std::uint16_t> bits = tensor_of_bits();
  const std::vector<float> normals = tensor_of_normals();
  const portable::TensorView bits_view = {portable::DType::bf16, shape, std::as_bytes(std::span(bits)).data()};
  const portable::TensorView normals_view = {portable::DType::f32, shape, std::as_bytes(std::span(normals)).data()};
  for (const Profile& profile : profile_table) {
    print_quantization(profile, bits_view, 0, "bits");
    print_quantization(profile, normals_view, -1, "normals");
  }
}

}  // namespace

std::vector<float> operand(std::uint32_t step, std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count * depth; ++i) {
    const int exponent = static_cast<int>(i / 16 % 17) - 8;
    values.push_back(random_normal(seed, Stream::cases, step, static_cast<std::uint64_t>(i)) * pow2f(exponent));
  }
  return values;
}

namespace {

Result<portable::Quantized> quantized_operand(const Profile& profile, std::uint32_t step, std::int64_t count) {
  const std::vector<float> values = operand(step, count);
  const std::int64_t shape[] = {count, depth};
  return portable::quantize(profile, {portable::DType::f32, shape, std::as_bytes(std::span(values)).data()});
}

void print_product(const std::string& what, const Result<std::vector<float>>& product) {
  if (product) {
    Digest().add(std::span<const float>(*product)).print(what);
  } else {
    Digest().add(std::span<const char>(product.error().message)).print(what + " refusal");
  }
}

void print_products() {
  constexpr std::int64_t m = 48;
  constexpr std::int64_t n = 40;
  for (const char* name : {"mxfp4/ocp", "mxfp8-e4m3/ocp", "mxfp8-e5m2/ocp", "hif4/gcc", "nvfp4/tensor-scale"}) {
    const Profile& profile = *find_profile(name);
    const Result<portable::Quantized> a = quantized_operand(profile, 2, m);
    const Result<portable::Quantized> b = quantized_operand(profile, 3, n);
    for (const portable::Accumulator accumulator : portable::accumulators) {
      print_product("gemm " + std::string(name) + " " + std::string(name_of(accumulator)),
                    portable::gemm(profile, *a, profile, *b, accumulator));
    }
  }
  std::vector<std::uint16_t> a;
  std::vector<std::uint16_t> b;
  for (const float value : operand(2, m)) a.push_back(static_cast<std::uint16_t>(float_bits(value) >> 16));
  for (const float value : operand(3, n)) b.push_back(static_cast<std::uint16_t>(float_bits(value) >> 16));
  print_product("gemm bf16", portable::gemm_bf16(a, b, m, n, depth));
}

}  // namespace
}  // namespace fp4proof::determinism

int main() {
  using namespace fp4proof::determinism;
  return print_parts(
      {print_elementary_functions, print_random_numbers, print_profiles, print_products, print_corrections});
}
