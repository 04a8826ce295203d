#include "tests/gpu/evidence_device.h"

#include <algorithm>

#include "gpu/correct.h"
#include "gpu/decompose.h"
#include "gpu/dequantize.h"
#include "gpu/gemm.h"
#include "gpu/quantize.h"
#include "tests/gpu/evidence_device_memory.h"
#include "tests/gpu/sweeps_device.h"

namespace fp4proof::evidence {

namespace {

/// Everything runs on the stream 0 of the device, so that allocations and digests come in order.
constexpr cudaStream_t stream = nullptr;

gpu::QuantizeJob quantize_job(const QuantizeEntry& entry, const void* input) {
  gpu::QuantizeJob job;
  job.profile = *entry.profile;
  job.dtype = entry.input.dtype;
  job.shape = entry.input.shape;
  job.input = input;
  job.random = random_of(entry.input);
  job.scale_layout = entry.layout;
  job.three_quarters = entry.three_quarters;
  return job;
}

MatrixShape along(MatrixShape shape, int axis) {
  shape.axis = axis;
  return shape;
}

/// An input that starts one element behind an address of every larger alignment.
DeviceBytes moved_input(const Input& input) {
  const int element_bytes = gpu::bytes_of(input.dtype);
  const DeviceBytes aligned = input_on_device(input);
  DeviceBytes moved(aligned.size() + element_bytes);
  sound(cudaMemcpy(moved.as() + element_bytes, aligned.as(), static_cast<std::size_t>(aligned.size()),
                   cudaMemcpyDeviceToDevice),
        "copy");
  return moved;
}

std::uint64_t digest_of_one_axis(const QuantizeEntry& entry, const void* input) {
  const gpu::QuantizeJob job = quantize_job(entry, input);
  const DevicePart part(*entry.profile, gpu::coded_shape(*entry.profile, job.shape, entry.layout), {});
  const std::size_t bytes = gpu::quantize_workspace(job);
  const DeviceBytes workspace(static_cast<std::int64_t>(bytes));
  sound(gpu::quantize(job, part.part().coded, workspace.as(), bytes, stream), name_of_entry(entry));
  return part.digest(0);
}

std::uint64_t digest_of_both_axes(const QuantizeEntry& entry, const void* input) {
  const gpu::QuantizeJob job = quantize_job(entry, input);
  const DevicePart columns(*entry.profile, gpu::coded_shape(*entry.profile, along(job.shape, 1), entry.layout), {});
  const DevicePart rows(*entry.profile, gpu::coded_shape(*entry.profile, along(job.shape, 0), entry.layout), {});
  const std::size_t bytes = gpu::quantize_workspace(job);
  const DeviceBytes workspace(static_cast<std::int64_t>(bytes));
  sound(gpu::quantize_both_axes(job, columns.part().coded, rows.part().coded, workspace.as(), bytes, stream),
        name_of_entry(entry));
  return columns.digest(0) + rows.digest(static_cast<int>(Output::second));
}

/// A corrected matrix on the device.
struct DeviceCorrected {
  DevicePart first;
  DevicePart residual;
  DeviceBytes values;
};

DeviceCorrected corrected(const Profile& profile, const CorrectionStack& stack, const Input& input, bool with_values,
                          const std::string& name) {
  const Profile effective = stack.effective(profile);
  gpu::CodedShape coded = gpu::coded_shape(effective, input.shape);
  gpu::CodedShape absent = coded;
  absent.batch = 0;
  DeviceCorrected made{DevicePart(effective, coded, stack.macro),
                       DevicePart(effective, stack.residual.is_on() ? coded : absent, stack.macro),
                       DeviceBytes(with_values ? input.shape.elements() * std::int64_t{sizeof(float)} : 0)};
  const DeviceBytes data = input_on_device(input);
  gpu::CorrectJob job;
  job.profile = profile;
  job.stack = stack;
  job.dtype = input.dtype;
  job.shape = input.shape;
  job.input = data.as();
  job.random = random_of(input);
  job.product = hadamard_product;
  const std::size_t bytes = gpu::correct_workspace(job);
  const DeviceBytes workspace(static_cast<std::int64_t>(bytes));
  sound(gpu::correct(job, {made.first.part(), made.residual.part(), made.values.as<float>()}, workspace.as(), bytes,
                     stream),
        name);
  sound(cudaDeviceSynchronize(), name.c_str());
  return made;
}

std::uint64_t digest_of_product(const GemmEntry& entry, gpu::GemmJob job) {
  const DeviceBytes c(entry.batch * entry.m * entry.n * std::int64_t{sizeof(float)});
  job.batch = entry.batch;
  job.k = entry.k;
  job.a.profile = entry.stack->effective(*entry.profile);
  job.b.profile = job.a.profile;
  job.a.lines = entry.m;
  job.b.lines = entry.n;
  job.stack = *entry.stack;
  job.accumulator = entry.one_chunk ? gpu::Accumulator::seq : gpu::Accumulator::seq512;
  job.c = c.as<float>();
  const std::size_t bytes = gpu::gemm_workspace(job);
  const DeviceBytes workspace(static_cast<std::int64_t>(bytes));
  sound(gpu::gemm(job, workspace.as(), bytes, stream), name_of_entry(entry));
  if (entry.tiles == 0) return digest_on_device(Output::product, c);
  std::uint64_t sum = 0;
  for (int i = 0; i < entry.tiles; ++i) {
    sum += digest_of_tile_on_device(job.c, entry.n, sampled_line(entry, i, 0), sampled_line(entry, i, 1));
  }
  return sum;
}

}  // namespace

std::uint64_t device_digest(const QuantizeEntry& entry) {
  const DeviceBytes input = input_on_device(entry.input);
  return entry.both_axes ? digest_of_both_axes(entry, input.as()) : digest_of_one_axis(entry, input.as());
}

std::uint64_t device_digest_of_moved_input(const QuantizeEntry& entry) {
  const DeviceBytes moved = moved_input(entry.input);
  const std::uint8_t* input = moved.as() + gpu::bytes_of(entry.input.dtype);
  return entry.both_axes ? digest_of_both_axes(entry, input) : digest_of_one_axis(entry, input);
}

bool can_be_sliced(const QuantizeEntry& entry) {
  return !entry.both_axes && entry.input.shape.axis == 1 && entry.input.shape.batch == 1 &&
         entry.layout == ScaleLayout::row_major && !entry.profile->tensor_scale &&
         entry.profile->rounding != Rounding::stochastic;
}

std::uint64_t device_digest_in_slices(const QuantizeEntry& entry, std::int64_t rows) {
  const int element_bytes = gpu::bytes_of(entry.input.dtype);
  const DeviceBytes moved = moved_input(entry.input);
  const gpu::CodedShape whole = gpu::coded_shape(*entry.profile, entry.input.shape);
  const std::int64_t code_bytes = whole.code_bytes_per_line();
  const std::int64_t scale_bytes = whole.blocks * whole.bytes_per_scale;
  std::uint64_t sum = 0;
  for (std::int64_t row = 0; row < whole.lines; row += rows) {
    gpu::QuantizeJob job = quantize_job(entry, moved.as() + (row * whole.length + 1) * element_bytes);
    job.shape.rows = std::min(rows, whole.lines - row);
    const DevicePart part(*entry.profile, gpu::coded_shape(*entry.profile, job.shape), {});
    sound(gpu::quantize(job, part.part().coded, nullptr, 0, stream), name_of_entry(entry));
    sum += digest_on_device(Output::codes, row * code_bytes, part.codes.as(), part.codes.size()) +
           digest_on_device(Output::scales, row * scale_bytes, part.scales.as(), part.scales.size());
  }
  return sum;
}

std::uint64_t device_digest(const DequantizeEntry& entry) {
  const DevicePart made = made_on_device(*entry.profile, entry.scales, 1, entry.lines, entry.length, entry.seed);
  const DeviceBytes values(entry.lines * entry.length * gpu::bytes_of(entry.dtype));
  gpu::DequantizeJob job;
  job.profile = *entry.profile;
  job.shape = made.shape;
  job.coded = made.part().coded;
  job.dtype = entry.dtype;
  job.values = values.as();
  sound(gpu::dequantize(job, stream), name_of_entry(entry));
  return digest_on_device(Output::values, values);
}

std::uint64_t device_digest(const GemmEntry& entry) {
  gpu::GemmJob job;
  const Profile& profile = *entry.profile;
  if (entry.operands == Operands::codes) {
    const DevicePart a = made_on_device(profile, entry.scales, entry.batch, entry.m, entry.k, entry.seed);
    const DevicePart b = made_on_device(profile, entry.scales, entry.batch, entry.n, entry.k, entry.seed + 1);
    job.a.first = a.part();
    job.b.first = b.part();
    return digest_of_product(entry, job);
  }
  const std::string name = name_of_entry(entry);
  const CorrectionStack stack_b = entry.stack->without_residual();
  const DeviceCorrected a = corrected(profile, *entry.stack, input_a(entry), false, name);
  const DeviceCorrected b = corrected(profile, stack_b, input_b(entry), false, name);
  job.a.first = a.first.part();
  job.b.first = b.first.part();
  if (entry.stack->residual.is_on()) job.a.residual = a.residual.part();
  return digest_of_product(entry, job);
}

std::uint64_t device_digest(const CorrectEntry& entry) {
  constexpr int to_residual = static_cast<int>(Output::residual_codes) - static_cast<int>(Output::codes);
  const DeviceCorrected made = corrected(*entry.profile, *entry.stack, entry.input, true, name_of_entry(entry));
  return made.first.digest(0) + made.residual.digest(to_residual) + digest_on_device(Output::values, made.values);
}

std::uint64_t device_digest(const DecomposeEntry& entry) {
  const MatrixShape& shape = entry.input.shape;
  const std::int64_t lines = shape.batch * shape.lines();
  const DeviceBytes input = input_on_device(entry.input);
  const DeviceBytes terms(entry.with_terms ? shape.elements() * 3 * std::int64_t{sizeof(double)} : 0);
  const DeviceBytes sums(lines * 8 * std::int64_t{sizeof(double)});
  const DeviceBytes counts(lines * 4 * std::int64_t{sizeof(std::uint32_t)});
  gpu::DecomposeJob job;
  job.profile = *entry.profile;
  job.dtype = entry.input.dtype;
  job.shape = shape;
  job.input = input.as();
  job.random = random_of(entry.input);
  const std::size_t bytes = gpu::decompose_workspace(job);
  const DeviceBytes workspace(static_cast<std::int64_t>(bytes));
  sound(gpu::decompose(job, {terms.as<double>(), sums.as<double>(), counts.as<std::uint32_t>()}, workspace.as(), bytes,
                       stream),
        name_of_entry(entry));
  return digest_on_device(Output::terms, terms) + digest_on_device(Output::sums, sums) +
         digest_on_device(Output::counts, counts);
}

std::uint64_t device_digest(const SweepEntry& entry) {
  const DeviceBytes digest(sizeof(std::uint64_t));
  sound(cudaMemset(digest.as(), 0, sizeof(std::uint64_t)), "cudaMemset");
  sound(sweeps::add_device_digest(entry.index, digest.as<std::uint64_t>(), stream), entry.name);
  std::uint64_t total = 0;
  sound(cudaMemcpy(&total, digest.as(), sizeof total, cudaMemcpyDeviceToHost), entry.name);
  return total;
}

}  // namespace fp4proof::evidence
