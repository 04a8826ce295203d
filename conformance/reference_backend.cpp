// The CPU reference as a plug-in.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/backend.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/suite/case_group.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/vectors/strict_json.h"

namespace {

using namespace fp4proof;
using suite::CaseTable;
using suite::CaseTensor;

Error usage(std::string message) { return {ErrorKind::usage, std::move(message)}; }

Result<SharedProfile> profile_of(const fp4proof_call& call) {
  if (Result<SharedProfile> named = named_profile(call.profile)) return named;
  const Result<nlohmann::json> value = parse_strict_json(call.profile_json, "profile_json", 8);
  if (!value) return value.error();
  return profile_from_json(*value, "profile_json");
}

suite::GroupSpec spec_of(const fp4proof_call& call) {
  suite::GroupSpec spec;
  spec.rows = call.rows;
  spec.columns = call.columns;
  spec.axis = call.axis;
  spec.tail = call.tail == FP4PROOF_TAIL_PAD ? portable::Tail::pad : portable::Tail::error;
  spec.other_rows = call.other_rows;
  spec.accumulator = call.accumulator;
  spec.correction = call.correction;
  return spec;
}

/// The tensor of the call under that name, which must have that dtype and size.
Result<const fp4proof_tensor*> find_tensor(const fp4proof_call& call, const CaseTensor& wanted) {
  const fp4proof_tensor* first = wanted.expected ? call.outputs : call.inputs;
  const std::int32_t count = wanted.expected ? call.output_count : call.input_count;
  for (std::int32_t i = 0; i < count; ++i) {
    const fp4proof_tensor* tensor = fp4proof_tensor_at(&call, first, i);
    if (wanted.name != tensor->name) continue;
    const bool is_word = wanted.dtype == TensorDtype::u32;
    if (tensor->dtype != (is_word ? FP4PROOF_U32 : FP4PROOF_U8)) break;
    if (tensor->device_kind != FP4PROOF_HOST || tensor->data == nullptr) break;
    std::size_t bytes = is_word ? 4 : 1;
    for (std::int32_t d = 0; d < tensor->rank; ++d) bytes *= static_cast<std::size_t>(tensor->shape[d]);
    if (bytes == static_cast<std::size_t>(call.cases) * wanted.case_bytes()) return tensor;
  }
  return usage("tensor " + wanted.name + " is missing or has another dtype or shape");
}

/// The group that the call describes, empty.
Result<CaseTable> table_of(const fp4proof_call& call) {
  const std::optional<suite::Operation> operation = suite::operation_named(call.operation);
  if (!operation) return Error{ErrorKind::unsupported, "unknown operation"};
  Result<SharedProfile> profile = profile_of(call);
  if (!profile) return profile.error();
  const suite::GroupSpec spec = spec_of(call);
  Result<std::vector<CaseTensor>> tensors = suite::group_tensors(*operation, **profile, spec);
  if (!tensors) return tensors.error();
  const auto cases = static_cast<std::size_t>(call.cases);
  CaseTable table{*operation, *profile, {}};
  table.groups.push_back({spec, std::vector<std::uint64_t>(cases), std::vector<std::uint16_t>(cases), *tensors});
  return table;
}

Result<void> answer(const fp4proof_call& call) {
  Result<CaseTable> table = table_of(call);
  if (!table) return table.error();
  for (CaseTensor& tensor : table->groups[0].tensors) {
    if (tensor.expected) continue;
    const Result<const fp4proof_tensor*> given = find_tensor(call, tensor);
    if (!given) return given.error();
    const auto* data = static_cast<const std::uint8_t*>((*given)->data);
    tensor.bytes.assign(data, data + static_cast<std::size_t>(call.cases) * tensor.case_bytes());
  }
  if (const Result<void> answered = suite::answer_by_reference(*table); !answered) return answered;
  for (const CaseTensor& tensor : table->groups[0].tensors) {
    if (!tensor.expected) continue;
    const Result<const fp4proof_tensor*> wanted = find_tensor(call, tensor);
    if (!wanted) return wanted.error();
    std::memcpy((*wanted)->data, tensor.bytes.data(), tensor.bytes.size());
  }
  return {};
}

fp4proof_status fail(const fp4proof_call& call, const std::string& message, fp4proof_status status) {
  std::snprintf(call.error, call.error_size, "%s", message.c_str());
  return status;
}

fp4proof_status supports(const fp4proof_call* call) {
  try {
    const Result<CaseTable> table = table_of(*call);
    return table ? FP4PROOF_OK : fail(*call, table.error().message, FP4PROOF_UNSUPPORTED);
  } catch (const std::exception& exception) {
    return fail(*call, exception.what(), FP4PROOF_FAILED);
  }
}

fp4proof_status run(const fp4proof_call* call) {
  try {
    const Result<void> answered = answer(*call);
    return answered ? FP4PROOF_OK : fail(*call, answered.error().message, FP4PROOF_INVALID);
  } catch (const std::exception& exception) {
    return fail(*call, exception.what(), FP4PROOF_FAILED);
  }
}

constexpr fp4proof_backend reference_backend = {
    .size = sizeof(fp4proof_backend),
    .abi_version = FP4PROOF_ABI_VERSION,
    .reserved = 0,
    .name = "fp4proof-reference",
    .version = FP4PROOF_VERSION,
    .description = "the CPU reference",
    .flags = FP4PROOF_TAKES_HOST_MEMORY,
    .supports = supports,
    .run = run,
    .close = nullptr,
    .device_memory = nullptr,
};

}  // namespace

extern "C" const fp4proof_backend* fp4proof_open_backend(std::uint32_t host_abi_version) {
  return host_abi_version < FP4PROOF_ABI_VERSION ? nullptr : &reference_backend;
}
