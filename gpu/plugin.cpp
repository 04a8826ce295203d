// The CUDA path behind the interface that `fp4proof run --backend` asks (docs/plug-ins.md, docs/gpu.md).

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include "conformance/backend.h"
#include "gpu/plugin_answers.h"
#include "gpu/plugin_call.h"
#include "gpu/plugin_device.h"
#include "gpu/plugin_input.h"
#include "gpu/plugin_memory.h"

namespace fp4proof::gpu::plugin {

namespace {

/// What the plug-in holds between open and close.
struct Session {
  std::string description;
  std::string problem;  ///< why nothing is offered; empty where everything is well
  InputMode mode = InputMode::narrowest;
  cudaStream_t stream = nullptr;
  FormatCounts counts = {};
  fp4proof_backend table = {};
};

std::optional<Session> session;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): the interface has none

/// Freed memory stays with the process: calls are short and many.
Result<void> keep_memory() {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  std::uint64_t all = UINT64_MAX;
  if (const Result<void> done = check_cuda(cudaGetDevice(&device), "cudaGetDevice"); !done) return done;
  const Result<void> found = check_cuda(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool");
  if (!found) return found;
  return check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "cudaMemPoolSetAttribute");
}

Result<void> start(Session& started) {
  const Result<InputMode> mode = input_mode_of_environment();
  if (!mode) return mode.error();
  started.mode = *mode;
  const Result<std::string> device = describe_device();
  if (!device) return device.error();
  started.description = *device + "; inputs " + input_mode_text(*mode);
  const Result<void> made =
      check_cuda(cudaStreamCreateWithFlags(&started.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  if (!made) return made;
  if (const Result<void> kept = keep_memory(); !kept) return kept;
  return check_arithmetic(started.stream);
}

fp4proof_status fail(const fp4proof_call& call, const std::string& message, fp4proof_status status) {
  std::snprintf(call.error, call.error_size, "%s", message.c_str());
  return status;
}

fp4proof_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::unsupported: return FP4PROOF_UNSUPPORTED;
    case ErrorKind::usage: return FP4PROOF_INVALID;
    default: return FP4PROOF_FAILED;
  }
}

fp4proof_status supports(const fp4proof_call* call) {
  try {
    if (!session->problem.empty()) return fail(*call, session->problem, FP4PROOF_UNSUPPORTED);
    const Result<Request> request = read_request(*call);
    return request ? FP4PROOF_OK : fail(*call, request.error().message, FP4PROOF_UNSUPPORTED);
  } catch (const std::exception& exception) {
    return fail(*call, exception.what(), FP4PROOF_UNSUPPORTED);
  }
}

fp4proof_status run(const fp4proof_call* call) {
  try {
    const Result<Request> request = read_request(*call);
    if (!request) return fail(*call, request.error().message, status_of(request.error().kind));
    const Result<void> answered = answer(*call, *request, session->mode, session->stream, session->counts);
    return answered ? FP4PROOF_OK : fail(*call, answered.error().message, status_of(answered.error().kind));
  } catch (const std::exception& exception) {
    return fail(*call, exception.what(), FP4PROOF_FAILED);
  }
}

void report_counts() {
  if (std::getenv("FP4PROOF_GPU_REPORT") == nullptr) return;
  const auto count = [](DType dtype) {
    return static_cast<long long>(session->counts.at(static_cast<std::size_t>(dtype)));
  };
  std::fprintf(stderr, "fp4proof-gpu: inputs answered in bf16 %lld, in f16 %lld, in f32 %lld\n", count(DType::bf16),
               count(DType::f16), count(DType::f32));
}

void close() {
  report_counts();
  if (session->stream != nullptr) cudaStreamDestroy(session->stream);
  session.reset();
}

void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  return plugin::check_cuda(cudaMalloc(&memory, bytes), "cudaMalloc") ? memory : nullptr;
}

void release(void* memory) { cudaFree(memory); }

/// cudaMemcpy may return while pageable memory is still on its way, and the stream of the calls waits for no other.
fp4proof_status copy_to_device(void* device, const void* host, std::size_t bytes) {
  const bool copied = cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
  return copied && cudaStreamSynchronize(nullptr) == cudaSuccess ? FP4PROOF_OK : FP4PROOF_FAILED;
}

fp4proof_status copy_to_host(void* host, const void* device, std::size_t bytes) {
  return cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost) == cudaSuccess ? FP4PROOF_OK : FP4PROOF_FAILED;
}

constexpr fp4proof_device_memory device_memory = {.size = sizeof(fp4proof_device_memory),
                                                  .allocate = allocate,
                                                  .release = release,
                                                  .copy_to_device = copy_to_device,
                                                  .copy_to_host = copy_to_host};

const fp4proof_backend* open() {
  if (session) return nullptr;
  session.emplace();
  if (const Result<void> started = start(*session); !started) session->problem = started.error().message;
  if (!session->problem.empty()) session->description = "offers nothing: " + session->problem;
  session->table = {.size = sizeof(fp4proof_backend),
                    .abi_version = FP4PROOF_ABI_VERSION,
                    .reserved = 0,
                    .name = "fp4proof-gpu",
                    .version = FP4PROOF_VERSION,
                    .description = session->description.c_str(),
                    .flags = FP4PROOF_TAKES_CUDA_MEMORY,
                    .supports = supports,
                    .run = run,
                    .close = close,
                    .device_memory = &device_memory};
  return &session->table;
}

}  // namespace

}  // namespace fp4proof::gpu::plugin

extern "C" const fp4proof_backend* fp4proof_open_backend(std::uint32_t host_abi_version) {
  try {
    return host_abi_version < FP4PROOF_ABI_VERSION ? nullptr : fp4proof::gpu::plugin::open();
  } catch (const std::exception&) {
    return nullptr;
  }
}
