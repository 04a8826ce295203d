#pragma once
// A plug-in in a process of its own, as the verifier sees it.

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "conformance/runners/guarded_process.h"
#include "conformance/runners/subject.h"
#include "conformance/vectors/file_descriptor.h"

namespace fp4proof::runners {

/// What came of a question, with the whole reply where there is one.
struct PluginAnswer : SubjectReply {
  nlohmann::json body;
};

/// Asks one plug-in. The process starts with the first question and again after it was lost. For one thread.
class PluginSession {
 public:
  PluginSession(std::filesystem::path library, std::chrono::milliseconds limit);

  /// Loads the library where it is not loaded yet. On `ok` description() holds.
  PluginAnswer open();

  /// Asks under the time limit; loads the library first where that is needed.
  PluginAnswer ask(std::string_view what, const nlohmann::json& call, std::span<const int> files);

  /// Closes the plug-in and ends its processes.
  SessionEnd close();

  const BackendDescription& description() const { return description_; }

 private:
  bool start();
  PluginAnswer exchange(nlohmann::json request, std::span<const int> files);
  PluginAnswer await_reply(const std::string& token);
  PluginAnswer read_reply(const std::string& token);
  PluginAnswer lose(std::string why);
  std::string how_host_ended();
  void end_processes();

  std::filesystem::path library_;
  std::chrono::milliseconds limit_;
  GuardedProcess process_;
  FileDescriptor channel_;
  BackendDescription description_;
};

}  // namespace fp4proof::runners
