#include "conformance/training/load_backend.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "conformance/training/mixed_training.h"
#include "conformance/training/reference_training.h"
#include "conformance/vectors/os_error.h"
#include "reference/portable/environment.h"

namespace fp4proof::training {

namespace {

using OpenTraining = const fp4proof_training* (*)(std::uint32_t);
using OpenBackend = const fp4proof_backend* (*)(std::uint32_t);

Error refused(const std::string& path, const std::string& reason) {
  return {ErrorKind::usage,
          fmt::format("backend {}: {}; name `reference`, or a library that exports fp4proof_open_training() or "
                      "fp4proof_open_backend()",
                      quote_path(path), reason)};
}

/// Whether it goes into JSON as it is.
bool is_text(const char* text) {
  using nlohmann::json;
  if (text == nullptr) return false;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)) == text;
}

SharedBackend closing(const fp4proof_training* table) {
  return {table, [](const fp4proof_training* opened) {
            if (opened->close != nullptr) opened->close();
          }};
}

/// A library without the operators of training, whose plug-in quantizes and multiplies.
Result<SharedBackend> open_mixed(const std::string& name, void* library) {
  const auto open = reinterpret_cast<OpenBackend>(::dlsym(library, "fp4proof_open_backend"));
  if (open == nullptr) return refused(name, "it exports no table of functions");
  const fp4proof_backend* const plugin = open(FP4PROOF_ABI_VERSION);
  if (plugin == nullptr) return refused(name, fmt::format("it does not work with version {}", FP4PROOF_ABI_VERSION));
  constexpr std::size_t least_size = offsetof(fp4proof_backend, close) + sizeof plugin->close;
  const bool is_whole = plugin->size >= least_size && plugin->abi_version != 0 &&
                        plugin->abi_version <= FP4PROOF_ABI_VERSION && plugin->supports != nullptr &&
                        plugin->run != nullptr;
  if (!is_whole || !is_text(plugin->name) || !is_text(plugin->description)) {
    return refused(name, "its table is not whole ('fp4proof info' says more)");
  }
  const auto table = mixed_training(*plugin);
  if (!table) return table.error();
  return closing(*table);
}

Result<SharedBackend> open_library(const std::string& name_or_path) {
  // A path without a slash would be searched for along the library path.
  const std::string path = std::filesystem::absolute(name_or_path).string();
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    return refused(name_or_path, reason == nullptr ? "it cannot be loaded" : reason);
  }
  const auto open = reinterpret_cast<OpenTraining>(::dlsym(library, "fp4proof_open_training"));
  if (open == nullptr) return open_mixed(name_or_path, library);
  const fp4proof_training* const table = open(FP4PROOF_TRAINING_VERSION);
  if (table == nullptr) {
    return refused(name_or_path, fmt::format("it does not work with version {}", FP4PROOF_TRAINING_VERSION));
  }
  if (table->size < sizeof(fp4proof_training) || table->version != FP4PROOF_TRAINING_VERSION) {
    return refused(name_or_path, fmt::format("its table has size {} and version {}, not {} and {}", table->size,
                                             table->version, sizeof(fp4proof_training), FP4PROOF_TRAINING_VERSION));
  }
  const bool is_whole = table->allocate != nullptr && table->release != nullptr && table->copy_in != nullptr &&
                        table->copy_out != nullptr && table->synchronize != nullptr && table->error != nullptr;
  if (!is_whole || !is_text(table->name) || !is_text(table->description)) {
    return refused(name_or_path, "its table lacks a name, a description or a function that is no operator");
  }
  SharedBackend backend = closing(table);
  if (table->synchronize() == FP4PROOF_OK) return backend;
  return Error{ErrorKind::unsupported,
               fmt::format("backend {} cannot work on this machine: {}; run it where its device is",
                           quote_path(name_or_path), table->error())};
}

}  // namespace

Result<SharedBackend> load_backend(const std::string& name_or_path) {
  if (name_or_path == "reference") return SharedBackend(reference_training(), [](const fp4proof_training*) {});
  auto backend = open_library(name_or_path);
  if (!backend) return backend;
  if (const Result<void> sound = portable::check_environment(); !sound) {
    return Error{ErrorKind::backend, fmt::format("loading the backend {} changed how this process computes: {}",
                                                 quote_path(name_or_path), sound.error().message)};
  }
  return backend;
}

}  // namespace fp4proof::training
