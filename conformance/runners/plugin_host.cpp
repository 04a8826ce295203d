#include "conformance/runners/plugin_host.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "conformance/backend.h"
#include "conformance/runners/message.h"
#include "conformance/runners/plugin_call.h"
#include "conformance/runners/plugin_device.h"
#include "conformance/runners/touch_watch.h"

namespace fp4proof::runners {

namespace {

using nlohmann::json;
using OpenBackend = const fp4proof_backend* (*)(std::uint32_t);

/// The fields up to `run` must be there.
constexpr std::size_t least_table_size = offsetof(fp4proof_backend, run) + sizeof(fp4proof_backend::run);

std::string text_or_empty(const char* text) { return text == nullptr ? std::string() : std::string(text); }

/// The plug-in, and why there is none.
struct Plugin {
  const fp4proof_backend* table = nullptr;
  std::string problem;
};

/// The most bytes of each text of the table, all of which travel in one message.
constexpr std::size_t most_text_bytes = 2048;

std::string problem_with_texts(const fp4proof_backend& table) {
  const std::array<std::pair<const char*, const char*>, 3> texts = {
      {{"name", table.name}, {"version", table.version}, {"description", table.description}}};
  for (const auto& [label, text] : texts) {
    if (text != nullptr && ::strnlen(text, most_text_bytes + 1) > most_text_bytes) {
      return fmt::format("its {} is too long: {} bytes are the most", label, most_text_bytes);
    }
  }
  return {};
}

std::string problem_of(const fp4proof_backend* table) {
  if (table == nullptr) return fmt::format("the plug-in does not work with ABI version {}", FP4PROOF_ABI_VERSION);
  if (table->size < least_table_size) return fmt::format("its table says size {}, too small", table->size);
  if (table->abi_version == 0 || table->abi_version > FP4PROOF_ABI_VERSION) {
    return fmt::format("its table has ABI version {}, this program has {}", table->abi_version, FP4PROOF_ABI_VERSION);
  }
  if (table->name == nullptr || *table->name == '\0') return "its table has no name";
  if (const std::string problem = problem_with_texts(*table); !problem.empty()) return problem;
  if (table->supports == nullptr || table->run == nullptr) return "its table lacks supports() or run()";
  return problem_with_device(*table);
}

Plugin load(const std::string& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {nullptr, text_or_empty(::dlerror())};
  const auto open = reinterpret_cast<OpenBackend>(::dlsym(handle, "fp4proof_open_backend"));
  if (open == nullptr) return {nullptr, "the library does not export fp4proof_open_backend"};
  const fp4proof_backend* table = open(FP4PROOF_ABI_VERSION);
  const std::string problem = problem_of(table);
  return problem.empty() ? Plugin{table, {}} : Plugin{nullptr, problem};
}

/// A call and what it points to.
class HostedCall {
 public:
  HostedCall(const json& body, const fp4proof_backend& table) : device_kind_(device_kind_of(table)) {
    call_.size = sizeof call_;
    call_.operation = text(body, "operation");
    call_.profile = text(body, "profile");
    call_.profile_json = text(body, "profile_json");
    call_.correction = text(body, "correction");
    call_.accumulator = text(body, "accumulator");
    call_.cases = body["cases"];
    call_.rows = body["rows"];
    call_.columns = body["columns"];
    call_.other_rows = body["other_rows"];
    call_.axis = body["axis"];
    call_.tail = body["tail"];
    call_.tensor_size = sizeof(fp4proof_tensor);
    add_tensors(body["inputs"], inputs_);
    add_tensors(body["outputs"], outputs_);
    call_.inputs = inputs_.data();
    call_.outputs = outputs_.data();
    call_.input_count = static_cast<std::int32_t>(inputs_.size());
    call_.output_count = static_cast<std::int32_t>(outputs_.size());
    call_.error = error_.data();
    call_.error_size = error_.size();
  }
  HostedCall(const HostedCall&) = delete;
  HostedCall& operator=(const HostedCall&) = delete;

  Result<void> map(const json& body, int input_file, int output_file) {
    if (const Result<void> mapped = map_tensors(body["inputs"], input_file, false, inputs_); !mapped) return mapped;
    return map_tensors(body["outputs"], output_file, true, outputs_);
  }

  /// Hands over copies on the device in place of the mapped tensors.
  Result<void> move_to(const fp4proof_device_memory& device) {
    device_tensors_.emplace(device);
    for (std::size_t i = 0; i < mapped_.size(); ++i) {
      const Bytes content(static_cast<const std::uint8_t*>(mapped_[i].data()), mapped_[i].bytes());
      const Result<void*> address = device_tensors_->add(content, i < inputs_.size(), label(i));
      if (!address) return address.error();
      tensor(i).data = *address;
    }
    return {};
  }

  /// Brings the outputs from the device, if that is where they are. What was written elsewhere, or nothing.
  Result<std::string> collect() {
    if (!device_tensors_) return std::string();
    std::vector<void*> outputs;
    for (std::size_t i = inputs_.size(); i < mapped_.size(); ++i) outputs.push_back(mapped_[i].data());
    return device_tensors_->collect(outputs);
  }

  const fp4proof_call& call() const { return call_; }

  /// Watches the tensors, which are mapped.
  void watch(TouchWatch& watch, const std::string& token) {
    for (std::size_t i = 0; i < mapped_.size(); ++i) watch.add(mapped_[i], label(i), token);
  }

  std::string error() {
    error_.back() = '\0';
    return error_.data();
  }

 private:
  /// Inputs, then outputs, as they are mapped.
  fp4proof_tensor& tensor(std::size_t index) {
    return index < inputs_.size() ? inputs_[index] : outputs_[index - inputs_.size()];
  }

  std::string label(std::size_t index) {
    return fmt::format("{} {}", index < inputs_.size() ? "input" : "output", tensor(index).name);
  }

  const char* text(const json& body, const char* field) {
    texts_.push_back(body[field].get<std::string>());
    return texts_.back().c_str();
  }

  void add_tensors(const json& bodies, std::vector<fp4proof_tensor>& tensors) {
    for (const json& body : bodies) {
      fp4proof_tensor tensor{};
      tensor.size = sizeof tensor;
      tensor.name = text(body, "name");
      tensor.dtype = body["dtype"];
      tensor.rank = static_cast<std::int32_t>(body["shape"].size());
      std::int64_t stride = 1;
      for (auto d = static_cast<std::size_t>(tensor.rank); d-- > 0;) {
        tensor.shape[d] = body["shape"][d];
        tensor.strides[d] = stride;
        stride *= tensor.shape[d];
      }
      tensor.device_kind = device_kind_;
      tensors.push_back(tensor);
    }
  }

  Result<void> map_tensors(const json& bodies, int file, bool writable, std::vector<fp4proof_tensor>& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      Result<MappedTensor> mapped = MappedTensor::map(file, {bodies[i]["offset"], bodies[i]["bytes"]}, writable);
      if (!mapped) return mapped.error();
      tensors[i].data = mapped->data();
      mapped_.push_back(std::move(*mapped));
    }
    return {};
  }

  fp4proof_device_kind device_kind_;
  fp4proof_call call_{};
  std::array<char, 1024> error_{};
  std::deque<std::string> texts_;  // addresses stay
  std::vector<fp4proof_tensor> inputs_;
  std::vector<fp4proof_tensor> outputs_;
  std::vector<MappedTensor> mapped_;
  std::optional<DeviceTensors> device_tensors_;
};

class Host {
 public:
  explicit Host(const std::string& library) : library_(library) {}

  [[noreturn]] void serve() {
    while (true) {
      Received received = receive_message(channel_descriptor);
      if (received.kind != Received::Kind::message) ::_exit(channel_lost);
      const json& request = received.message.body;
      json reply = answer(request, received.message.files);
      reply["token"] = request["token"];
      if (!send_message(channel_descriptor, reply, {})) ::_exit(channel_lost);
      if (request["ask"] == ask::close) ::_exit(0);
    }
  }

 private:
  json answer(const json& request, const std::vector<FileDescriptor>& files) {
    const json& asked = request["ask"];
    if (asked == ask::open) return open();
    if (asked == ask::close) return close();
    HostedCall hosted(request["call"], *plugin_.table);
    if (asked == ask::supports) return status_reply(plugin_.table->supports(&hosted.call()), hosted);
    const Result<void> mapped = hosted.map(request["call"], files.at(0).number(), files.at(1).number());
    return mapped ? run(hosted, request["token"]) : failure(mapped.error());
  }

  json run(HostedCall& hosted, const std::string& token) {
    if (const fp4proof_device_memory* device = device_of(*plugin_.table)) {
      if (const Result<void> moved = hosted.move_to(*device); !moved) return failure(moved.error());
    }
    TouchWatch watch(channel_descriptor);
    hosted.watch(watch, token);
    watch.begin();
    json reply = status_reply(plugin_.table->run(&hosted.call()), hosted);
    if (reply["status"] != FP4PROOF_OK) return reply;
    const Result<std::string> misuse = hosted.collect();
    if (!misuse) return failure(misuse.error());
    if (!misuse->empty()) reply["misuse"] = *misuse;
    return reply;
  }

  static json failure(const Error& error) { return {{"status", FP4PROOF_FAILED}, {"error", error.message}}; }

  static json status_reply(fp4proof_status status, HostedCall& hosted) {
    return {{"status", status}, {"error", hosted.error()}};
  }

  json open() {
    plugin_ = load(library_);
    if (plugin_.table == nullptr) return {{"status", FP4PROOF_FAILED}, {"error", plugin_.problem}};
    return {{"status", FP4PROOF_OK},
            {"error", ""},
            {"backend",
             {{"name", text_or_empty(plugin_.table->name)},
              {"version", text_or_empty(plugin_.table->version)},
              {"description", text_or_empty(plugin_.table->description)},
              {"abi_version", plugin_.table->abi_version}}}};
  }

  json close() {
    const bool has_close = plugin_.table != nullptr &&
                           plugin_.table->size >= offsetof(fp4proof_backend, close) + sizeof(fp4proof_backend::close);
    if (has_close && plugin_.table->close != nullptr) plugin_.table->close();
    return {{"status", FP4PROOF_OK}, {"error", ""}};
  }

  std::string library_;
  Plugin plugin_;
};

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an exception of the plug-in ends the process
void host_plugin(const std::string& library) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  Host(library).serve();
}

}  // namespace fp4proof::runners
