// A plug-in for vendors with one fault: the reference, loaded from FP4PROOF_REFERENCE_BACKEND, but the lowest bit of
// one code is wrong in every matrix of 576 rows that it quantizes. FP4PROOF_FAULT names misconduct in place of that:
// offers-nothing, takes-back (it refuses in run() what it offered).

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "conformance/backend.h"

namespace {

constexpr std::int64_t faulty_rows = 576;
constexpr std::int64_t faulty_code = 33;

const fp4proof_backend* reference = nullptr;

bool misconduct(std::string_view name) {
  const char* const fault = std::getenv("FP4PROOF_FAULT");
  return fault != nullptr && fault == name;
}

fp4proof_status supports(const fp4proof_call* call) {
  return misconduct("offers-nothing") ? FP4PROOF_UNSUPPORTED : reference->supports(call);
}

fp4proof_status run(const fp4proof_call* call) {
  if (misconduct("takes-back")) return FP4PROOF_UNSUPPORTED;
  const fp4proof_status status = reference->run(call);
  if (status != FP4PROOF_OK || call->rows != faulty_rows || call->other_rows != 0) return status;
  for (std::int32_t i = 0; i < call->output_count; ++i) {
    const fp4proof_tensor* const tensor = fp4proof_tensor_at(call, call->outputs, i);
    if (std::string_view(tensor->name) != "codes") continue;
    static_cast<std::uint8_t*>(tensor->data)[faulty_code / 2] ^= std::uint8_t{1} << (4 * (faulty_code % 2));
  }
  return status;
}

}  // namespace

extern "C" const fp4proof_backend* fp4proof_open_backend(std::uint32_t version) {
  const char* const path = std::getenv("FP4PROOF_REFERENCE_BACKEND");
  void* const library = path == nullptr ? nullptr : ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  using Open = const fp4proof_backend* (*)(std::uint32_t);
  reference = reinterpret_cast<Open>(::dlsym(library, "fp4proof_open_backend"))(version);
  static fp4proof_backend table;
  table = *reference;
  table.name = "faulty";
  table.supports = supports;
  table.run = run;
  return &table;
}
