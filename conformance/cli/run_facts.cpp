#include "conformance/cli/run_facts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "conformance/cli/version.h"
#include "conformance/corrections/plan_json.h"
#include "conformance/profiles/json_file.h"
#include "conformance/training/config_json.h"
#include "conformance/training/record_files.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/is_absent.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/sha256.h"
#include "conformance/verdict/host.h"

namespace fp4proof::cli {

namespace {

using nlohmann::json;

constexpr std::size_t deepest_facts = 16;

/// A path as another working folder finds it.
std::string lasting_path(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

json to_json(const RunFacts& facts) {
  return {{"format", training::run_format},
          {"tool_version", tool_version},
          {"preset", facts.options.preset},
          {"config", training::config_to_json(facts.config)},
          {"plan", plan_to_json(facts.plan)},
          {"backend",
           {{"name", facts.backend.name},
            {"description", facts.backend.description},
            {"library", facts.library.path},
            {"sha256", facts.library.sha256}}},
          {"warm_start", facts.warm_start.empty() ? json() : json(lasting_path(facts.warm_start))},
          {"host", verdict::host_facts()}};
}

std::string text_at(const json& stored, const char* pointer) {
  const json::json_pointer place(pointer);
  return stored.contains(place) && stored.at(place).is_string() ? stored.at(place).get<std::string>() : "";
}

}  // namespace

Result<LibraryFacts> library_facts(const std::string& backend) {
  if (backend == "reference") return LibraryFacts{backend, {}};
  const auto digest = sha256_of_file(backend);
  if (!digest) return digest.error();
  return LibraryFacts{lasting_path(backend), to_hex(digest->digest)};
}

Result<void> check_facts(const std::filesystem::path& folder, const RunFacts& facts) {
  const std::filesystem::path path = folder / training::run_file;
  if (is_absent(path)) return {};
  const auto stored = read_json_file(path.string(), deepest_facts);
  if (!stored || !stored->is_object() || !stored->contains("config") || !stored->contains("plan")) {
    return Error{ErrorKind::corrupt,
                 fmt::format("{} is not what train has written; restore it, or remove it to have it written again",
                             quote_path(path))};
  }
  const json identity = {{"config", stored->at("config")}, {"plan", training::without_words(stored->at("plan"))}};
  const json differences = json::diff(identity, json::parse(training::run_identity(facts.config, facts.plan)));
  if (!differences.empty()) {
    return Error{ErrorKind::usage, fmt::format("{} holds another run, which differs in {}; resume with the settings of "
                                               "that run, or choose another folder",
                                               quote_path(folder), differences[0].at("path").get<std::string>())};
  }
  const std::string backend = text_at(*stored, "/backend/name");
  if (backend != facts.backend.name) {
    return Error{ErrorKind::usage, fmt::format("the run in {} is one of the backend {} and not of {}; resume on its "
                                               "own backend, or choose another folder",
                                               quote_path(folder), quote(backend), quote(facts.backend.name))};
  }
  if (text_at(*stored, "/backend/sha256") == facts.library.sha256) return {};
  return Error{ErrorKind::usage, fmt::format("the run in {} began on another build of {}; resume with that build, or "
                                             "choose another folder",
                                             quote_path(folder), quote(facts.library.path))};
}

Result<void> write_facts(const std::filesystem::path& folder, const RunFacts& facts, bool goes_on) {
  const std::filesystem::path path = folder / training::run_file;
  if (goes_on && !is_absent(path)) return {};
  return write_file(path, bytes_of(to_json(facts).dump(2) + "\n"));
}

}  // namespace fp4proof::cli
