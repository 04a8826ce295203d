// The library as a plug-in. It has one fault, named by its file: libraries are copies of one another, and NAME.so has
// the fault NAME of faults(). Under any other name it has none.

#include <dlfcn.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "tests/plugin/kernels/call.h"
#include "tests/plugin/kernels/faults.h"

namespace {

using namespace kernels;

/// The file name of this library without folder and ending.
std::string own_name() {
  Dl_info info{};
  static const char here = 0;
  if (::dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return "";
  return std::filesystem::path(info.dli_fname).stem().string();
}

const Fault* own_fault() {
  static const Fault* const fault = find_fault(own_name());
  return fault;
}

std::optional<Kernel> own_kernel(std::string_view profile) {
  std::optional<Kernel> kernel = good_kernel(profile);
  if (kernel && own_fault() != nullptr) own_fault()->plant(*kernel);
  return kernel;
}

/// Products with elements that have an infinity would need wider sums.
bool offers(const fp4proof_call& call, const Kernel& kernel) {
  const std::string_view operation = call.operation;
  if (operation == "gemm") return std::string_view(call.accumulator) == "seq512" && kernel.format.infinity == 0;
  return operation == "quantize" || operation == "dequantize";
}

fp4proof_status supports(const fp4proof_call* call) {
  const std::optional<Kernel> kernel = good_kernel(call->profile);
  return kernel && offers(*call, *kernel) ? FP4PROOF_OK : FP4PROOF_UNSUPPORTED;
}

fp4proof_status run(const fp4proof_call* call) try {
  std::optional<Kernel> kernel = own_kernel(call->profile);
  if (!kernel) return FP4PROOF_INVALID;
  static unsigned calls = 0;
  if (kernel->alternates && calls++ % 2 == 1) kernel = good_kernel(call->profile);
  if (kernel->conduct != nullptr && kernel->conduct(*call)) return FP4PROOF_OK;
  const std::string_view operation = call->operation;
  if (operation == "quantize") {
    quantize(*kernel, *call);
  } else if (operation == "dequantize") {
    dequantize(*kernel, *call);
  } else {
    multiply(*kernel, *call);
  }
  return FP4PROOF_OK;
} catch (const std::exception& error) {
  std::snprintf(call->error, call->error_size, "%s", error.what());
  return FP4PROOF_FAILED;
}

/// Says which fault this copy has, so that a report shows it.
const char* description() {
  static const std::string text = own_fault() != nullptr
                                      ? std::string("planted: ") + own_fault()->name
                                      : "no fault planted, " + std::to_string(faults().size()) + " to choose from";
  return text.c_str();
}

}  // namespace

extern "C" const fp4proof_backend* fp4proof_open_backend(std::uint32_t) {
  static const fp4proof_backend table = {
      .size = sizeof(fp4proof_backend),
      .abi_version = FP4PROOF_ABI_VERSION,
      .reserved = 0,
      .name = "naive kernels",
      .version = "1",
      .description = description(),
      .flags = FP4PROOF_TAKES_HOST_MEMORY,
      .supports = supports,
      .run = run,
      .close = nullptr,
      .device_memory = nullptr,
  };
  return &table;
}
