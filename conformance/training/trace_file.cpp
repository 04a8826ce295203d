#include "conformance/training/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "conformance/training/text_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof::training {

namespace {

using nlohmann::json;

constexpr std::string_view trace_format = "fp4proof-trace/1";
constexpr std::size_t deepest_nesting = 8;

json to_json(const TraceStep& step) {
  json tensors = json::array();
  for (const auto& [name, digest] : step.tensors) tensors.push_back({name, digest_text(digest)});
  return {{"step", step.step}, {"chain", digest_text(step.chain)}, {"tensors", tensors}};
}

/// Reads values and remembers the first that is not what it should be.
class Reader {
 public:
  explicit Reader(std::string label) : label_(std::move(label)) {}

  const json& at(const json& object, const char* key) {
    static const json nothing;
    if (object.is_object() && object.contains(key)) return object[key];
    fail(fmt::format("it has no {}", key));
    return nothing;
  }
  std::string text(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    fail("a name or digest is no string");
    return {};
  }
  std::uint64_t digest(const json& value) {
    const std::string digits = text(value);
    std::uint64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, number, 16);
    if (digits.size() != 16 || failure != std::errc() || stop != end) fail("a digest has not 16 hexadecimal digits");
    return number;
  }
  const json& list(const json& value) {
    static const json nothing = json::array();
    if (value.is_array()) return value;
    fail("steps and tensors are no lists");
    return nothing;
  }
  void fail(const std::string& reason) {
    if (sound_) sound_ = Error{ErrorKind::corrupt, fmt::format("{} is no trace of a run: {}", label_, reason)};
  }
  const Result<void>& sound() const { return sound_; }

 private:
  std::string label_;
  Result<void> sound_;
};

TraceStep step_of(Reader& reader, const json& value, std::int64_t number) {
  TraceStep step{number, {}, reader.digest(reader.at(value, "chain"))};
  if (reader.at(value, "step") != number) reader.fail(fmt::format("the step in place {} has another number", number));
  for (const json& tensor : reader.list(reader.at(value, "tensors"))) {
    const json& pair = reader.list(tensor);
    if (pair.size() != 2) {
      reader.fail("a tensor is no pair of a name and a digest");
      break;
    }
    step.tensors.emplace_back(reader.text(pair[0]), reader.digest(pair[1]));
  }
  return step;
}

}  // namespace

std::string digest_text(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

std::string trace_text(const TraceFile& trace) {
  const json head = {
      {"format", trace_format}, {"warm_start", digest_text(trace.warm_start)}, {"digest", digest_text(trace.chain())}};
  std::string text = head.dump();
  text.back() = ',';
  text += "\"steps\": [";
  for (std::size_t i = 0; i < trace.steps.size(); ++i) text += (i == 0 ? "\n" : ",\n") + to_json(trace.steps[i]).dump();
  return text + "\n]}\n";
}

Result<TraceFile> read_trace(const std::filesystem::path& path) {
  const auto text = content_of(path);
  if (!text)
    return Error{ErrorKind::io, fmt::format("cannot read {}; train to the end of a step, or start again in another "
                                            "folder",
                                            quote_path(path))};
  const Result<json> value = parse_strict_json(*text, quote_path(path), deepest_nesting);
  if (!value) return value.error();
  Reader reader(quote_path(path));
  if (reader.at(*value, "format") != trace_format) reader.fail(fmt::format("its format is not {}", trace_format));
  TraceFile trace{reader.digest(reader.at(*value, "warm_start")), {}};
  for (const json& step : reader.list(reader.at(*value, "steps"))) {
    trace.steps.push_back(step_of(reader, step, static_cast<std::int64_t>(trace.steps.size()) + 1));
    if (!reader.sound()) break;
  }
  if (reader.digest(reader.at(*value, "digest")) != trace.chain()) reader.fail("its digest is not its last chain");
  if (!reader.sound()) return reader.sound().error();
  return trace;
}

std::string first_differing_tensor(const TraceStep& a, const TraceStep& b) {
  for (std::size_t i = 0; i < std::max(a.tensors.size(), b.tensors.size()); ++i) {
    if (i >= a.tensors.size()) return b.tensors[i].first;
    if (i >= b.tensors.size() || a.tensors[i] != b.tensors[i]) return a.tensors[i].first;
  }
  return {};
}

}  // namespace fp4proof::training
