#include "conformance/training/load_backend.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "conformance/training/mixed_training.h"
#include "conformance/training/reference_training.h"
#include "conformance/vectors/os_error.h"

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
  const auto table = mixed_training(*plugin);
  if (!table) return table.error();
  return closing(*table);
}

}  // namespace

Result<SharedBackend> load_backend(const std::string& name_or_path) {
  if (name_or_path == "reference") return SharedBackend(reference_training(), [](const fp4proof_training*) {});
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
  SharedBackend backend = closing(table);
  if (table->synchronize() == FP4PROOF_OK) return backend;
  return Error{ErrorKind::unsupported,
               fmt::format("backend {} cannot work on this machine: {}; run it where its device is",
                           quote_path(name_or_path), table->error())};
}

}  // namespace fp4proof::training
