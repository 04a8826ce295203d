#pragma once
// A plug-in in a process of its own, as the verifier sees it.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/vectors/file_descriptor.h"
#include "formats/result.h"

namespace fp4proof::runners {

/// What a plug-in says about itself.
struct BackendDescription {
  std::string name;
  std::string version;
  std::string description;
  std::uint32_t abi_version = 0;
};

/// What came of a question.
struct PluginAnswer {
  enum class Kind : std::uint8_t {
    ok,
    unsupported,
    refused,  ///< the plug-in returned another status; it lives on
    lost,     ///< crash, exit, time limit or nonsense; the process was ended
  };
  Kind kind = Kind::lost;
  std::string why;      ///< refused, lost: a clause, for example "was killed by signal 11 (SIGSEGV)"
  nlohmann::json body;  ///< the whole reply where there is one
};

/// How a session went to its end.
struct SessionEnd {
  std::string problem;        ///< empty where the plug-in closed in order
  std::size_t survivors = 0;  ///< processes that it left behind; they were ended
};

/// Asks one plug-in. The process starts with the first question and again after it was lost. Makes this process a child
/// subreaper and ends every process that the plug-in leaves behind. For one thread.
class PluginSession {
 public:
  PluginSession(std::filesystem::path library, std::chrono::milliseconds limit);
  ~PluginSession();
  PluginSession(const PluginSession&) = delete;
  PluginSession& operator=(const PluginSession&) = delete;

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
  std::vector<pid_t> spared_;  // children that this process had before
  pid_t guardian_ = -1;
  FileDescriptor channel_;
  FileDescriptor status_;
  BackendDescription description_;
};

}  // namespace fp4proof::runners
