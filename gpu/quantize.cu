#include "gpu/quantize.h"

#include "formats/block.h"
#include "gpu/checks.h"
#include "gpu/general_quantize.h"
#include "gpu/hif4_packed.h"
#include "gpu/launch.h"
#include "gpu/mx_packed.h"
#include "gpu/mx_stochastic.h"
#include "gpu/tensor_scale.h"

namespace fp4proof::gpu {

namespace {

bool has_tensor_scale(const Profile& profile) { return profile.family == Family::nvfp4 && profile.tensor_scale; }

Status check(const QuantizeJob& job, const Coded& coded) {
  const Profile& profile = job.profile;
  const MatrixShape& shape = job.shape;
  const Status of_profile = check_quantized_profile(profile);
  if (!is_sound(shape) || of_profile == Status::invalid) return Status::invalid;
  if (job.three_quarters && profile.family != Family::mx) return Status::invalid;
  if (has_tensor_scale(profile) && shape.batch != 0) {
    if (coded.tensor_scales == nullptr || !is_aligned(coded.tensor_scales, alignof(float))) return Status::invalid;
  }
  if (shape.elements() != 0) {
    if (job.input == nullptr || coded.codes == nullptr || coded.scales == nullptr) return Status::invalid;
    if (!is_aligned(job.input, static_cast<std::size_t>(bytes_of(job.dtype)))) return Status::invalid;
    if (!is_aligned(job.random.words, alignof(std::uint32_t))) return Status::invalid;
  }
  if (of_profile != Status::ok) return of_profile;
  if (!scale_layout_fits(job.scale_layout, static_cast<std::size_t>(scale_bytes(profile.family)))) {
    return Status::unsupported;
  }
  return Status::ok;
}

/// Fills the whole buffer where the layout has padding; the kernels write the scales alone.
Status fill_scale_padding(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  const CodedShape shape = coded_shape(job.profile, job.shape, job.scale_layout);
  const std::int64_t scales = shape.batch * shape.lines * shape.blocks * shape.bytes_per_scale;
  if (shape.scale_bytes() == scales) return Status::ok;
  const auto bytes = static_cast<std::size_t>(shape.scale_bytes());
  const cudaError_t error = cudaMemsetAsync(coded.scales, scale_padding, bytes, stream);
  return error == cudaSuccess ? Status::ok : Status::launch_failed;
}

/// Codes and scales of a checked job that has elements, by the fastest road that takes it.
Status quantize_elements(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  if (takes_mx_packed(job, coded)) return quantize_mx_packed(job, coded, stream);
  if (takes_mx_stochastic(job, coded)) return quantize_mx_stochastic(job, coded, stream);
  if (takes_hif4_packed(job, coded)) return quantize_hif4_packed(job, coded, stream);
  return general_quantize(job, coded, stream);
}

}  // namespace

std::size_t quantize_workspace(const QuantizeJob& job) {
  return has_tensor_scale(job.profile) ? tensor_scale_workspace(job) : 0;
}

Status quantize(const QuantizeJob& job, const Coded& coded, void* workspace, std::size_t workspace_bytes,
                cudaStream_t stream) {
  if (const Status status = check(job, coded); status != Status::ok) return status;
  if (has_tensor_scale(job.profile) && job.shape.batch != 0) {
    if (workspace == nullptr || workspace_bytes < quantize_workspace(job)) return Status::small_workspace;
    if (!is_aligned(workspace, alignof(std::uint32_t))) return Status::invalid;
    const Status status = write_tensor_scales(job, coded.tensor_scales, workspace, stream);
    if (status != Status::ok) return status;
  }
  if (job.shape.elements() == 0) return Status::ok;
  if (const Status status = fill_scale_padding(job, coded, stream); status != Status::ok) return status;
  return quantize_elements(job, coded, stream);
}

Status quantize_both_axes(const QuantizeJob& job, const Coded& along_columns, const Coded& along_rows, void* workspace,
                          std::size_t workspace_bytes, cudaStream_t stream) {
  QuantizeJob by_columns = job;
  QuantizeJob by_rows = job;
  by_columns.shape.axis = 1;
  by_rows.shape.axis = 0;
  if (const Status status = check(by_columns, along_columns); status != Status::ok) return status;
  if (const Status status = check(by_rows, along_rows); status != Status::ok) return status;
  if (job.shape.elements() != 0 && takes_both_axes_mx_packed(job, along_columns, along_rows)) {
    Status status = fill_scale_padding(by_columns, along_columns, stream);
    if (status == Status::ok) status = fill_scale_padding(by_rows, along_rows, stream);
    return status != Status::ok ? status : quantize_both_axes_mx_packed(job, along_columns, along_rows, stream);
  }
  const Status status = quantize(by_columns, along_columns, workspace, workspace_bytes, stream);
  if (status != Status::ok) return status;
  return quantize(by_rows, along_rows, workspace, workspace_bytes, stream);
}

}  // namespace fp4proof::gpu
