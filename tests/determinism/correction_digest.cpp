#include <array>

#include "formats/spec_corrections.h"
#include "formats/spec_profiles.h"
#include "reference/portable/correct.h"
#include "reference/portable/decompose.h"
#include "reference/portable/noise.h"
#include "tests/determinism/digest.h"

namespace fp4proof::determinism {
namespace {

constexpr std::array<const char*, 7> profile_names = {
    "mxfp4/ocp", "mxfp4/rceil", "mxfp4/even", "mxfp4-2d/rceil", "mxfp8-e4m3/rceil", "hif4/gcc", "nvfp4/tensor-scale"};

void add_part(const portable::CodedPart& part, Digest& digest) {
  digest.add(std::span<const std::uint8_t>(part.quantized.codes))
      .add(std::span<const std::uint8_t>(part.quantized.scales))
      .add(part.quantized.tensor_scale)
      .add(std::span<const std::uint8_t>(part.macro));
}

portable::CorrectOptions options_of(int axis) {
  portable::CorrectOptions options;
  options.quantize.axis = axis;
  options.quantize.seed = seed;
  options.product = 3;
  return options;
}

void print_corrected(const Profile& profile, const CorrectionStack& stack, const portable::TensorView& tensor, int axis,
                     const char* input) {
  if (!portable::check_stack(profile, stack)) return;
  const std::string what = "correct " + std::string(profile.name) + " " + std::string(stack.name) + " " + input;
  const auto corrected = portable::correct(profile, stack, tensor, options_of(axis));
  if (!corrected) {
    Digest().add(std::span<const char>(corrected.error().message)).print(what + " refusal");
    return;
  }
  Digest digest;
  add_part(corrected->first, digest);
  if (corrected->residual) add_part(*corrected->residual, digest);
  const std::vector<float> values = portable::dequantize(*corrected);
  digest.add(std::span<const float>(values)).print(what);
}

void print_decomposition(const Profile& profile, const portable::TensorView& tensor, const char* input) {
  portable::QuantizeOptions options;
  options.seed = seed;
  const auto split = portable::decompose(profile, tensor, options);
  const std::string what = "decompose " + std::string(profile.name) + " " + input;
  if (!split) {
    Digest().add(std::span<const char>(split.error().message)).print(what + " refusal");
    return;
  }
  Digest digest;
  for (const std::int64_t count : {split->excluded, split->in_deadzone, split->zeroed, split->inexact}) {
    digest.add(count);
  }
  for (const double sum : {split->value, split->quantized_value, split->error, split->scale, split->deadzone,
                           split->grid, split->scale_grid, split->scale_deadzone}) {
    digest.add(sum);
  }
  digest.print(what);
}

void print_tensors() {
  const std::int64_t shape[] = {rows, columns};
  const std::vector<std::uint16_t> bits = tensor_of_bits();
  const std::vector<float> normals = tensor_of_normals();
  const portable::TensorView bits_view = {portable::DType::bf16, shape, std::as_bytes(std::span(bits)).data()};
  const portable::TensorView normals_view = {portable::DType::f32, shape, std::as_bytes(std::span(normals)).data()};
  for (const char* name : profile_names) {
    for (const CorrectionStack& stack : correction_stacks()) {
      print_corrected(*find_profile(name), stack, bits_view, 0, "bits");
      print_corrected(*find_profile(name), stack, normals_view, -1, "normals");
    }
  }
  for (const Profile& profile : profile_table) {
    print_decomposition(profile, bits_view, "bits");
    print_decomposition(profile, normals_view, "normals");
  }
}

void print_products() {
  for (const char* name : {"mbs", "mbs-32", "resq", "fallback", "mbs+resq", "hadamard-16", "tile-8"}) {
    const CorrectionStack& stack = *find_correction_stack(name);
    const auto corrected = [&](const CorrectionStack& of_operand, std::uint32_t step, std::int64_t count) {
      const std::vector<float> values = operand(step, count);
      const std::int64_t shape[] = {count, depth};
      return portable::correct(*find_profile("mxfp4/rceil"), of_operand,
                               {portable::DType::f32, shape, std::as_bytes(std::span(values)).data()}, options_of(-1));
    };
    const auto a = corrected(stack, 2, 48);
    const auto b = corrected(stack.without_residual(), 3, 40);
    for (const auto accumulator :
         {portable::Accumulator::seq512, portable::Accumulator::seq, portable::Accumulator::exact}) {
      const auto c = portable::gemm(a.value(), b.value(), accumulator);
      Digest()
          .add(std::span<const float>(c.value()))
          .print("correct-gemm " + std::string(name) + " " + std::string(name_of(accumulator)));
    }
  }
}

void print_noise() {
  portable::NoiseSchedule schedule;
  schedule.steps = 150;
  const std::vector<float> clean(64, 1.0F);
  Digest digest;
  for (std::uint32_t step = 0; step < schedule.steps; ++step) {
    const float sigma = portable::noise_sigma(schedule, step);
    const std::vector<float> noisy = portable::noisy_weights(clean, sigma, seed, step, 2);
    digest.add(sigma).add(std::span<const float>(noisy));
  }
  digest.print("adaptive quantization noise");
}

}  // namespace

void print_corrections() {
  print_tensors();
  print_products();
  print_noise();
}

}  // namespace fp4proof::determinism
