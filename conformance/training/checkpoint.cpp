#include "conformance/training/checkpoint.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "conformance/training/digest.h"
#include "conformance/training/trace_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/safetensors.h"

namespace fp4proof::training {

namespace {

constexpr std::string_view checkpoint_format = "fp4proof-checkpoint/1";

/// The tensors of a parameter and the ends of their names.
auto tensors_of(const Parameter& p) {
  return std::array<std::pair<std::string, const Floats*>, 3>{{{p.name, &p.weight},
                                                               {p.name + ".first_moment", &p.first_moment},
                                                               {p.name + ".second_moment", &p.second_moment}}};
}

std::vector<std::uint64_t> shape_of(const Parameter& p) {
  return {static_cast<std::uint64_t>(p.rows), static_cast<std::uint64_t>(p.columns)};
}

/// The digest chain over the tensors of a file.
class Content {
 public:
  void add(const std::string& name, std::span<const float> numbers) {
    chain_ = chained(chain_, name, numbers.size(), digest_of(numbers));
  }
  std::string text() const { return digest_text(chain_); }

 private:
  std::uint64_t chain_ = 0;
};

Result<std::string> text_field(const SafetensorsFile& file, const std::string& key, const std::string& label) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) {
    return Error{ErrorKind::corrupt, fmt::format("{}: no checkpoint; its metadata has no {}", label, key)};
  }
  return found->second;
}

template <class Number>
Result<Number> number_field(const SafetensorsFile& file, const std::string& key, int base, const std::string& label) {
  const Result<std::string> text = text_field(file, key, label);
  if (!text) return text.error();
  Number number{};
  const char* const end = text->data() + text->size();
  const auto [stop, failure] = std::from_chars(text->data(), end, number, base);
  if (failure == std::errc() && stop == end) return number;
  return Error{ErrorKind::corrupt, fmt::format("{}: {} is {}, not a number", label, key, *text)};
}

/// Where two identities, JSON texts, differ first.
std::string first_difference(const std::string& stored, const std::string& wanted) {
  using nlohmann::json;
  const json from = json::parse(stored, nullptr, false);
  const json changes = json::diff(from, json::parse(wanted, nullptr, false));
  if (from.is_discarded() || changes.empty()) return "its identity cannot be read";
  const std::string place = changes.front().value("path", "");
  const json::json_pointer pointer(place);
  const std::string value = from.contains(pointer) ? from.at(pointer).dump() : "missing";
  constexpr std::size_t longest = 80;
  return fmt::format("there {} is {}{}", place, value.substr(0, longest), value.size() > longest ? "..." : "");
}

Result<void> check_identity(const CheckpointState& state, const std::string& label, const std::string& identity) {
  if (state.identity == identity) return {};
  return Error{ErrorKind::usage,
               fmt::format("{} belongs to another run: {}; choose the settings of that run or another folder", label,
                           first_difference(state.identity, identity))};
}

Result<CheckpointState> state_of(const SafetensorsFile& file, const std::string& label) {
  const Result<std::string> format = text_field(file, "format", label);
  if (!format) return format.error();
  if (*format != checkpoint_format) {
    return Error{ErrorKind::corrupt, fmt::format("{}: format {}, not {}", label, *format, checkpoint_format)};
  }
  const Result<std::string> phase = text_field(file, "phase", label);
  const Result<std::string> identity = text_field(file, "identity", label);
  const Result<std::int64_t> step = number_field<std::int64_t>(file, "step", 10, label);
  const Result<std::uint64_t> chain = number_field<std::uint64_t>(file, "chain", 16, label);
  if (!phase) return phase.error();
  if (!identity) return identity.error();
  if (!step) return step.error();
  if (!chain) return chain.error();
  return CheckpointState{*phase, *step, *chain, *identity};
}

struct Opened {
  SafetensorsFile file;
  std::string label;
  CheckpointState state;
};

Result<Opened> open_checkpoint(const std::filesystem::path& path) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file) return file.error();
  std::string label = quote_path(path);
  Result<CheckpointState> state = state_of(*file, label);
  if (!state) return state.error();
  return Opened{*std::move(file), std::move(label), *std::move(state)};
}

}  // namespace

std::filesystem::path kept_checkpoint(const std::filesystem::path& folder, std::int64_t step) {
  return folder / fmt::format("checkpoint-{:06}.safetensors", step);
}

Result<void> save_checkpoint(const std::filesystem::path& path, Operators& operators, const Parameters& parameters,
                             const CheckpointState& state) {
  Content content;
  std::vector<std::vector<float>> contents;
  std::vector<TensorData> tensors;
  contents.reserve(3 * parameters.all.size());
  for (const Parameter& p : parameters.all) {
    for (const auto& [name, memory] : tensors_of(p)) {
      contents.push_back(operators.download(*memory));
      content.add(name, contents.back());
      tensors.push_back({{name, TensorDtype::f32, shape_of(p)}, bytes_of(contents.back())});
    }
  }
  if (const Result<void> done = operators.check(); !done) return done;
  return write_safetensors(path, tensors,
                           {{"format", std::string(checkpoint_format)},
                            {"phase", state.phase},
                            {"step", std::to_string(state.step)},
                            {"chain", digest_text(state.chain)},
                            {"content", content.text()},
                            {"identity", state.identity}});
}

Result<CheckpointState> check_checkpoint(const std::filesystem::path& path, std::string_view phase,
                                         const std::string& identity) {
  const Result<Opened> opened = open_checkpoint(path);
  if (!opened) return opened.error();
  const auto& [file, label, state] = *opened;
  if (state.phase != phase) {
    return Error{ErrorKind::usage,
                 fmt::format("{} is a checkpoint of the phase {}, not of {}; name another file or folder", label,
                             quote(state.phase), phase)};
  }
  if (const Result<void> fits = check_identity(state, label, identity); !fits) return fits.error();
  return state;
}

Result<CheckpointState> load_checkpoint(const std::filesystem::path& path, Operators& operators, Parameters& parameters,
                                        const std::string& identity) {
  const Result<Opened> opened = open_checkpoint(path);
  if (!opened) return opened.error();
  const auto& [file, label, state] = *opened;
  if (const Result<void> fits = check_identity(state, label, identity); !fits) return fits.error();
  Content content;
  for (const Parameter& p : parameters.all) {
    for (const auto& [name, memory] : tensors_of(p)) {
      const Result<const TensorEntry*> entry = file.require(name);
      if (!entry) return entry.error();
      if ((*entry)->spec.dtype != TensorDtype::f32 || (*entry)->spec.shape != shape_of(p)) {
        return Error{ErrorKind::usage, fmt::format("{}: tensor {} is no F32 [{}, {}]", label, name, p.rows, p.columns)};
      }
      const std::vector<float> numbers = copy_elements<float>(file.bytes(**entry));
      content.add(name, numbers);
      operators.copy_in<float>(*memory, numbers);
    }
  }
  const Result<std::string> recorded = text_field(file, "content", label);
  if (!recorded) return recorded.error();
  if (*recorded != content.text()) {
    return Error{ErrorKind::corrupt,
                 fmt::format("{} does not hold the numbers that its run saved; start again in another folder", label)};
  }
  if (const Result<void> done = operators.check(); !done) return done.error();
  return state;
}

}  // namespace fp4proof::training
