#include "gpu/plugin_call.h"

#include <array>
#include <string_view>

#include "formats/correction_rules.h"
#include "formats/spec_profiles.h"

namespace fp4proof::gpu::plugin {

namespace {

struct OperationName {
  std::string_view name;
  Operation operation;
};

constexpr std::array<OperationName, 6> operations = {{{"quantize", Operation::quantize},
                                                      {"dequantize", Operation::dequantize},
                                                      {"gemm", Operation::gemm},
                                                      {"correct", Operation::correct},
                                                      {"correct-gemm", Operation::correct_gemm},
                                                      {"decompose", Operation::decompose}}};

Error unsupported(std::string message) { return {ErrorKind::unsupported, std::move(message)}; }

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

bool is_product(Operation operation) { return operation == Operation::gemm || operation == Operation::correct_gemm; }

bool is_corrected(Operation operation) {
  return operation == Operation::correct || operation == Operation::correct_gemm;
}

Result<Operation> read_operation(std::string_view name) {
  for (const OperationName& known : operations)
    if (known.name == name) return known.operation;
  return unsupported("operation " + quoted(name) + " is not offered");
}

Result<Profile> read_profile(std::string_view name) {
  const Profile* named = find_profile(name);
  if (named == nullptr) {
    return unsupported(quoted(name) + " is no named profile; profiles by profile_json are not offered");
  }
  Profile profile = *named;
  profile.nibble_order = NibbleOrder::even_low;
  profile.scale_layout = ScaleLayout::row_major;
  profile.micro_order = MicroOrder::lsb_first;
  return profile;
}

Result<CorrectionStack> read_stack(Operation operation, std::string_view name) {
  if (!is_corrected(operation)) {
    if (!name.empty()) return unsupported("this operation takes no correction");
    return *find_correction_stack("none");
  }
  const CorrectionStack* stack = find_correction_stack(name.empty() ? "none" : name);
  if (stack == nullptr) return unsupported(quoted(name) + " is no named stack of corrections");
  return *stack;
}

Result<Accumulator> read_accumulator(Operation operation, std::string_view name) {
  if (!is_product(operation) || name == "seq512") return Accumulator::seq512;
  if (name == "seq") return Accumulator::seq;
  return unsupported("accumulator " + quoted(name) + " is not offered; seq512 and seq are");
}

bool has_elements_of(fp4proof_dtype dtype, std::int64_t bytes) {
  return bytes == 1 ? dtype == FP4PROOF_U8 : bytes == 4 && (dtype == FP4PROOF_U32 || dtype == FP4PROOF_F32);
}

Result<void*> find_tensor(const fp4proof_call& call, const fp4proof_tensor* first, std::int32_t count,
                          const std::string& name, std::int64_t element_bytes, std::int64_t bytes) {
  for (std::int32_t i = 0; i < count; ++i) {
    const fp4proof_tensor& tensor = *fp4proof_tensor_at(&call, first, i);
    if (name != tensor.name) continue;
    std::int64_t elements = 1;
    for (std::int32_t d = 0; d < tensor.rank; ++d) elements *= tensor.shape[d];
    if (!has_elements_of(tensor.dtype, element_bytes)) return Error{ErrorKind::usage, name + " has another dtype"};
    if (tensor.device_kind != FP4PROOF_CUDA) return Error{ErrorKind::usage, name + " is not in CUDA memory"};
    if (elements * element_bytes != bytes) return Error{ErrorKind::usage, name + " has another shape"};
    if (tensor.data == nullptr && bytes != 0) return Error{ErrorKind::usage, name + " has no data"};
    return tensor.data;
  }
  return Error{ErrorKind::usage, "tensor " + name + " is missing"};
}

}  // namespace

Result<Request> read_request(const fp4proof_call& call) {
  const Result<Operation> operation = read_operation(call.operation);
  if (!operation) return operation.error();
  const Result<Profile> profile = read_profile(call.profile);
  if (!profile) return profile.error();
  const Result<CorrectionStack> stack = read_stack(*operation, call.correction);
  if (!stack) return stack.error();
  if (const char* refusal = stack_refusal(*profile, *stack)) return unsupported(refusal);
  const Result<Accumulator> accumulator = read_accumulator(*operation, call.accumulator);
  if (!accumulator) return accumulator.error();
  if (call.axis != 0 && call.axis != 1) return Error{ErrorKind::usage, "the axis is neither 0 nor 1"};
  if (call.cases < 0 || call.rows < 0 || call.columns < 0 || call.other_rows < 0) {
    return Error{ErrorKind::usage, "an extent is negative"};
  }
  Request request;
  request.operation = *operation;
  request.profile = *profile;
  request.stack = *stack;
  request.accumulator = *accumulator;
  request.shape = {call.cases, call.rows, call.columns, call.axis};
  request.other_rows = call.other_rows;
  return request;
}

Result<const void*> find_input(const fp4proof_call& call, const std::string& name, std::int64_t element_bytes,
                               std::int64_t bytes) {
  const Result<void*> found = find_tensor(call, call.inputs, call.input_count, name, element_bytes, bytes);
  if (!found) return found.error();
  return static_cast<const void*>(*found);
}

Result<void*> find_output(const fp4proof_call& call, const std::string& name, std::int64_t element_bytes,
                          std::int64_t bytes) {
  return find_tensor(call, call.outputs, call.output_count, name, element_bytes, bytes);
}

}  // namespace fp4proof::gpu::plugin
