#include "gpu/gemm.h"

#include "formats/float_bits.h"
#include "gpu/checks.h"
#include "gpu/gemm_general.h"
#include "gpu/gemm_tensor.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

namespace {

CorrectionStack stack_of_b(const GemmJob& job) { return job.stack_b.value_or(job.stack.without_residual()); }

bool has_known_block(const Profile& profile) {
  const int length = profile.block.cols;
  switch (profile.family) {
    case Family::mx: return length == 8 || length == 16 || length == 32 || length == 64;
    case Family::hif4: return length == 64;
    case Family::nvfp4: return length == 16;
  }
  return false;
}

bool is_readable(const GemmJob& job, const GemmOperand& operand, const ConstCodedPart& part) {
  if (job.batch == 0 || operand.lines == 0 || job.k == 0) return true;
  const bool is_hif4 = operand.profile.family == Family::hif4;
  return part.coded.codes != nullptr && part.coded.scales != nullptr && is_aligned(part.coded.codes, 8) &&
         is_aligned(part.coded.scales, is_hif4 ? 4 : 1) &&
         (!operand.profile.tensor_scale || part.coded.tensor_scales != nullptr);
}

Status check_operand(const GemmJob& job, const GemmOperand& operand, const CorrectionStack& stack) {
  if (!has_known_block(operand.profile)) return Status::invalid;
  if (!has_known_elements(operand.profile)) return Status::unsupported;
  const int macro = stack.macro.size;
  if (stack.macro.is_on()) {
    if ((macro != 32 && macro != 64 && macro != 128) || macro % operand.profile.block.cols != 0) return Status::invalid;
  }
  const bool is_empty = job.batch == 0 || operand.lines == 0 || job.k == 0;
  for (const ConstCodedPart* part : {&operand.first, &operand.residual}) {
    if (part == &operand.residual && !stack.residual.is_on()) continue;
    if (!is_readable(job, operand, *part)) return Status::invalid;
    if (stack.macro.is_on() && part->macro == nullptr && !is_empty) return Status::invalid;
  }
  return Status::ok;
}

ProductSide side_of(const GemmOperand& operand, const ConstCodedPart& part, const CorrectionStack& stack) {
  ProductSide side;
  side.family = operand.profile.family;
  side.element = operand.profile.element;
  side.lines = operand.lines;
  side.coded = part.coded;
  if (!operand.profile.tensor_scale) side.coded.tensor_scales = nullptr;
  if (stack.macro.is_on()) side.macro = part.macro;
  side.macro_form = stack.macro.form;
  return side;
}

PartProduct product_of(const GemmJob& job, const ConstCodedPart& part_a, const ConstCodedPart& part_b) {
  const CorrectionStack stack_b = stack_of_b(job);
  PartProduct product;
  product.batch = job.batch;
  product.k = job.k;
  product.block = job.a.profile.block.cols;
  product.slice = job.stack.macro.is_on() ? job.stack.macro.size : stack_b.macro.size;
  product.accumulator = job.accumulator;
  product.a = side_of(job.a, part_a, job.stack);
  product.b = side_of(job.b, part_b, stack_b);
  product.c = job.c;
  const int three_quarters = int{job.stack.three_quarters} + int{stack_b.three_quarters};
  product.epilogue.divisor = three_quarters == 0 ? 1.0F : three_quarters == 1 ? 0.75F : 0.5625F;
  return product;
}

bool has_extents(const GemmJob& job) {
  const std::int64_t m = job.a.lines;
  const std::int64_t n = job.b.lines;
  return are_extents({job.batch, m, job.k}) && are_extents({job.batch, n, job.k}) && are_extents({job.batch, m, n});
}

}  // namespace

Status check_gemm(const GemmJob& job) {
  const CorrectionStack stack_b = stack_of_b(job);
  const std::int64_t m = job.a.lines;
  const std::int64_t n = job.b.lines;
  if (!has_extents(job)) return Status::invalid;
  if (job.accumulator != Accumulator::seq512 && job.accumulator != Accumulator::seq) return Status::invalid;
  if (const Status status = check_operand(job, job.a, job.stack); status != Status::ok) return status;
  if (const Status status = check_operand(job, job.b, stack_b); status != Status::ok) return status;
  if (job.a.profile.block.cols != job.b.profile.block.cols) return Status::invalid;
  if (job.stack.residual.is_on() && stack_b.residual.is_on()) return Status::invalid;
  const bool transformed = job.stack.hadamard.is_on() || stack_b.hadamard.is_on();
  if (transformed && job.stack.hadamard != stack_b.hadamard) return Status::invalid;
  const MacroSpec& macro = job.stack.macro;
  if (macro.is_on() && stack_b.macro.is_on() && macro.size != stack_b.macro.size) return Status::invalid;
  const bool is_empty = job.batch == 0 || m == 0 || n == 0;
  return is_empty || (job.c != nullptr && is_aligned(job.c, alignof(float))) ? Status::ok : Status::invalid;
}

PartProduct first_product(const GemmJob& job) { return product_of(job, job.a.first, job.b.first); }

bool has_residual_product(const GemmJob& job) { return job.stack.residual.is_on() || stack_of_b(job).residual.is_on(); }

PartProduct residual_product(const GemmJob& job) {
  const bool on_a = job.stack.residual.is_on();
  PartProduct product =
      on_a ? product_of(job, job.a.residual, job.b.first) : product_of(job, job.a.first, job.b.residual);
  product.epilogue.adds_to_c = true;
  product.epilogue.alpha = on_a ? job.stack.residual.alpha : stack_of_b(job).residual.alpha;
  return product;
}

std::size_t gemm_workspace(const GemmJob& job) { return has_extents(job) ? tensor_workspace(first_product(job)) : 0; }

Status gemm(const GemmJob& job, void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
  if (const Status status = check_gemm(job); status != Status::ok) return status;
  if (workspace_bytes < gemm_workspace(job)) return Status::small_workspace;
  const std::int64_t size = job.batch * job.a.lines * job.b.lines;
  if (size == 0) return Status::ok;
  if (job.k == 0) {
    const auto bytes = static_cast<std::size_t>(size) * sizeof(float);
    return cudaMemsetAsync(job.c, 0, bytes, stream) == cudaSuccess ? Status::ok : Status::launch_failed;
  }
  const auto launch = [&](const PartProduct& product, ReadyImages ready) {
    return takes_tensor_road(product) ? launch_tensor_product(product, ready, workspace, workspace_bytes, stream)
                                      : launch_general_product(product, nullptr, stream);
  };
  const Status status = launch(first_product(job), {});
  if (status != Status::ok || !has_residual_product(job)) return status;
  const bool on_a = job.stack.residual.is_on();
  return launch(residual_product(job), {.a = !on_a, .b = on_a});
}

}  // namespace fp4proof::gpu
