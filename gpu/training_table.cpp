// The CUDA path behind the interface of a training backend (conformance/training_backend.h).
//
// Everything runs on one stream. In steady state a call neither allocates nor synchronises: it is a few launches, one
// by one or, where FP4PROOF_TRAINING_GRAPHS is 1, recorded in CUDA graphs (gpu/training_graph.h). Whatever is no
// operator flushes the open segment first.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/training_backend.h"
#include "formats/result.h"
#include "gpu/plugin_device.h"
#include "gpu/plugin_memory.h"
#include "gpu/status.h"
#include "gpu/training_attention.h"
#include "gpu/training_graph.h"
#include "gpu/training_products.h"
#include "gpu/training_rows.h"
#include "gpu/training_tokens.h"
#include "gpu/training_weights.h"

namespace fp4proof::gpu::training {

namespace {

/// What is held between open and close.
struct Session {
  std::string description;
  std::string error;       ///< of the last call that failed
  bool is_broken = false;  ///< CUDA failed: every later call fails with the same error
  cudaStream_t stream = nullptr;
  std::optional<SegmentGraphs> graphs;  ///< none: calls are launched one by one
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

std::optional<Session> session;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): the interface has none

fp4proof_status refuse(fp4proof_status status, const std::string& message) {
  session->error = message;
  return status;
}

fp4proof_status break_down(const std::string& message) {
  session->is_broken = true;
  return refuse(FP4PROOF_FAILED, message);
}

fp4proof_status report(const Result<void>& done) { return done ? FP4PROOF_OK : break_down(done.error().message); }

fp4proof_status report(cudaError_t error, const char* what) { return report(plugin::check_cuda(error, what)); }

fp4proof_status report(const Error& error) {
  return refuse(error.kind == ErrorKind::unsupported ? FP4PROOF_UNSUPPORTED : FP4PROOF_INVALID, error.message);
}

fp4proof_status report(Status status) {
  switch (status) {
    case Status::ok: return FP4PROOF_OK;
    case Status::invalid: return refuse(FP4PROOF_INVALID, status_text(status));
    case Status::unsupported: return refuse(FP4PROOF_UNSUPPORTED, status_text(status));
    default: break;
  }
  cudaError_t reason = session->graphs ? session->graphs->discard() : cudaSuccess;
  if (reason == cudaSuccess) reason = cudaStreamSynchronize(session->stream);
  return break_down(std::string(status_text(status)) + ": " + cudaGetErrorString(reason));
}

/// Whether everything so far is on the stream.
bool flush() { return !session->graphs || report(session->graphs->launch()) == FP4PROOF_OK; }

/// Memory for one call at a time: calls on a stream do not overlap. It grows by a half at least, so that it soon stays
/// as it is.
bool grow_workspace(std::size_t bytes) {
  if (bytes <= session->workspace_bytes) return true;
  if (!flush()) return false;
  const std::size_t larger = session->workspace_bytes + session->workspace_bytes / 2;
  const std::size_t wanted = bytes > larger ? bytes : larger;
  cudaFree(session->workspace);
  session->workspace = nullptr;
  session->workspace_bytes = 0;
  if (report(cudaMalloc(&session->workspace, wanted), "workspace") != FP4PROOF_OK) return false;
  session->workspace_bytes = wanted;
  return true;
}

/// A call may come from a later version, which is longer.
template <class Call, class Body>
fp4proof_status guard(const Call* call, const Body& body) {
  if (session->is_broken) return FP4PROOF_FAILED;
  if (call == nullptr || call->size < sizeof(Call)) return refuse(FP4PROOF_INVALID, "the call is too short");
  try {
    return body(*call);
  } catch (const std::exception& exception) {
    return refuse(FP4PROOF_FAILED, exception.what());
  }
}

template <auto Launch, class... Arguments>
fp4proof_status launch(const Arguments&... arguments) {
  if (session->graphs) {
    const Result<void> recording = session->graphs->record(reinterpret_cast<std::uintptr_t>(Launch));
    if (!recording) return report(recording);
  }
  return report(Launch(arguments..., session->stream));
}

template <class Call, Status (*Launch)(const Call&, cudaStream_t)>
fp4proof_status run(const Call* call) {
  return guard(call, [](const Call& given) { return launch<Launch>(given); });
}

template <auto Size, auto Launch, class Task>
fp4proof_status launch_in_workspace(const Task& task) {
  if (!grow_workspace(Size(task))) return FP4PROOF_FAILED;
  return launch<Launch>(task, session->workspace, session->workspace_bytes);
}

template <class Call, auto Size, auto Launch>
fp4proof_status run_in_workspace(const Call* call) {
  return guard(call, [](const Call& given) { return launch_in_workspace<Size, Launch>(given); });
}

/// The same for calls with names, which `Read` looks up.
template <class Call, auto Read, auto Size, auto Launch>
fp4proof_status run_named(const Call* call) {
  return guard(call, [](const Call& given) {
    const auto task = Read(given);
    return task ? launch_in_workspace<Size, Launch>(*task) : report(task.error());
  });
}

void* allocate(std::size_t bytes) {
  if (session->is_broken || !flush()) return nullptr;
  void* memory = nullptr;
  const cudaError_t failure = cudaMalloc(&memory, bytes);
  if (failure == cudaSuccess) {
    return report(cudaMemsetAsync(memory, 0, bytes, session->stream), "memset") == FP4PROOF_OK ? memory : nullptr;
  }
  static_cast<void>(cudaGetLastError());  // memory that is not there breaks nothing; later launches ask for errors
  session->error = std::string("cudaMalloc: ") + cudaGetErrorString(failure);
  return nullptr;
}

/// cudaFree waits for what is on the stream. A flush that fails is told by the next call.
void release(void* memory) {
  static_cast<void>(flush());
  cudaFree(memory);
}

fp4proof_status synchronize() {
  if (session->is_broken || !flush()) return FP4PROOF_FAILED;
  return report(cudaStreamSynchronize(session->stream), "synchronize");
}

fp4proof_status copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (session->is_broken || !flush()) return FP4PROOF_FAILED;
  const fp4proof_status copied = report(cudaMemcpyAsync(to, from, bytes, kind, session->stream), "copy");
  return copied == FP4PROOF_OK ? synchronize() : copied;
}

fp4proof_status copy_in(void* to, const void* host, std::size_t bytes) {
  return copy(to, host, bytes, cudaMemcpyHostToDevice);
}

fp4proof_status copy_out(void* host, const void* from, std::size_t bytes) {
  return copy(host, from, bytes, cudaMemcpyDeviceToHost);
}

const char* error() { return session->error.c_str(); }

void report_graphs() {
  if (!session->graphs || std::getenv("FP4PROOF_GPU_REPORT") == nullptr) return;
  const SegmentGraphs::Counts& counts = session->graphs->counts();
  std::fprintf(stderr, "fp4proof-gpu: segments launched as CUDA graphs %lld, graphs made %lld, updates refused %lld\n",
               static_cast<long long>(counts.segments), static_cast<long long>(counts.made),
               static_cast<long long>(counts.refused));
}

void close() {
  static_cast<void>(flush());
  report_graphs();
  session->graphs.reset();
  if (session->stream != nullptr) {
    cudaStreamSynchronize(session->stream);
    cudaStreamDestroy(session->stream);
  }
  cudaFree(session->workspace);
  session.reset();
}

constexpr fp4proof_training operators = {
    .size = sizeof(fp4proof_training),
    .version = FP4PROOF_TRAINING_VERSION,
    .reserved = 0,
    .name = "fp4proof-gpu",
    .description = "",
    .allocate = allocate,
    .release = release,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .synchronize = synchronize,
    .error = error,
    .close = close,
    .quantize = run_named<fp4proof_quantize_call, read_quantize, quantize_workspace, quantize>,
    .multiply = run_named<fp4proof_multiply_call, read_multiply, gemm_workspace, gemm>,
    .to_bf16 = run<fp4proof_to_bf16_call, to_bf16>,
    .multiply_bf16 = run<fp4proof_multiply_bf16_call, multiply_bf16>,
    .embed = run<fp4proof_embed_call, embed>,
    .embed_backward = run<fp4proof_embed_backward_call, embed_backward>,
    .rms_norm = run<fp4proof_rms_norm_call, rms_norm>,
    .rms_norm_backward = run<fp4proof_rms_norm_backward_call, rms_norm_backward>,
    .add = run<fp4proof_add_call, add>,
    .attention = run<fp4proof_attention_call, attention>,
    .attention_backward =
        run_in_workspace<fp4proof_attention_backward_call, attention_backward_workspace, attention_backward>,
    .swiglu = run<fp4proof_swiglu_call, swiglu>,
    .swiglu_backward = run<fp4proof_swiglu_backward_call, swiglu_backward>,
    .copy_rows = run<fp4proof_copy_rows_call, copy_rows>,
    .gather_rows = run<fp4proof_gather_rows_call, gather_rows>,
    .log_softmax = run<fp4proof_log_softmax_call, log_softmax>,
    .sample = run<fp4proof_sample_call, sample>,
    .log_softmax_backward = run<fp4proof_log_softmax_backward_call, log_softmax_backward>,
    .sum_squares = run_in_workspace<fp4proof_sum_squares_call, sum_squares_workspace, sum_squares>,
    .adam = run<fp4proof_adam_call, adam>,
    .add_noise = run<fp4proof_add_noise_call, add_noise>,
    .digest = run<fp4proof_digest_call, digest>,
};

bool wants_graphs() {
  const char* const wanted = std::getenv("FP4PROOF_TRAINING_GRAPHS");
  return wanted != nullptr && wanted == std::string_view("1");
}

Result<void> start(Session& started) {
  const Result<std::string> device = plugin::describe_device();
  if (!device) return device.error();
  started.description = *device;
  const Result<void> made =
      plugin::check_cuda(cudaStreamCreateWithFlags(&started.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  if (!made) return made;
  if (const Result<void> sound = plugin::check_arithmetic(started.stream); !sound) return sound;
  if (wants_graphs()) {
    started.description += ", CUDA graphs";
    started.graphs.emplace(started.stream);
  }
  return {};
}

/// Where nothing can be offered, every call says why.
const fp4proof_training* open() {
  static fp4proof_training table = operators;
  if (session) return nullptr;
  session.emplace();
  if (const Result<void> started = start(*session); !started) {
    break_down(started.error().message);
    session->description = "offers nothing: " + session->error;
  }
  table.description = session->description.c_str();
  return &table;
}

}  // namespace

}  // namespace fp4proof::gpu::training

extern "C" const fp4proof_training* fp4proof_open_training(std::uint32_t host_version) {
  try {
    return host_version < FP4PROOF_TRAINING_VERSION ? nullptr : fp4proof::gpu::training::open();
  } catch (const std::exception&) {
    return nullptr;
  }
}
