// fp4proof diff: two safetensors files, bit for bit.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cli/check_list.h"
#include "conformance/cli/common_options.h"
#include "conformance/cli/tensor_reading.h"
#include "conformance/cli/tensor_source.h"
#include "conformance/cli/verbs.h"
#include "conformance/vectors/bit_units.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

using nlohmann::json;

struct Options {
  std::string a;
  std::string b;
  std::vector<std::string> tensors;
  bool as_json = false;
};

/// One of the two files.
struct Side {
  SafetensorsFile file;
  std::optional<QuantizedFile> quantized;
};

/// What is said about one tensor.
struct Finding {
  std::string status;  ///< equal, differs, dtype, shape, only-in-a, only-in-b
  std::string text;    ///< a sentence where it is not equal
  json details = json::object();
};

Result<Side> open_side(const std::string& path) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file) return file.error();
  std::optional<QuantizedFile> quantized;
  if (is_quantized_file(*file)) {
    Result<QuantizedFile> description = read_quantized_file(*file, quote_path(path));
    if (!description) return description.error();
    quantized = *std::move(description);
  }
  return Side{*std::move(file), std::move(quantized)};
}

std::string spec_text(const TensorSpec& spec) {
  return fmt::format("{} [{}]", name_of(spec.dtype), fmt::join(spec.shape, ", "));
}

Finding compare_bits(const Side& a, const TensorEntry& in_a, const Side& b, const TensorEntry& in_b) {
  const TensorReading reading = reading_of(in_a, a.quantized);
  const Bytes bytes_a = a.file.bytes(in_a);
  const Bytes bytes_b = b.file.bytes(in_b);
  const BitDifference difference = compare_units(bytes_a, bytes_b, reading.unit_bits);
  if (difference.count == 0) return {"equal", "", json::object()};
  const std::uint64_t units = bytes_a.size() * 8 / reading.unit_bits;
  const std::uint64_t unit_a = unit_at(bytes_a, difference.first, reading.unit_bits);
  const std::uint64_t unit_b = unit_at(bytes_b, difference.first, reading.unit_bits);
  const std::string place = reading.place(difference.first);
  return {
      "differs",
      fmt::format("{} of {} {} differ, first at {}: A {}, B {}", difference.count, units, reading.unit_name(), place,
                  reading.describe(unit_a), reading.describe(unit_b)),
      {{"differing", difference.count},
       {"of", units},
       {"unit", reading.unit_name()},
       {"first",
        {{"index", difference.first}, {"place", place}, {"a", reading.bits(unit_a)}, {"b", reading.bits(unit_b)}}}}};
}

Finding compare_tensor(const Side& a, const Side& b, const std::string& name) {
  const TensorEntry* in_a = a.file.find(name);
  const TensorEntry* in_b = b.file.find(name);
  if (in_b == nullptr) return {"only-in-a", "only in A", json::object()};
  if (in_a == nullptr) return {"only-in-b", "only in B", json::object()};
  if (in_a->spec != in_b->spec) {
    return {in_a->spec.dtype != in_b->spec.dtype ? "dtype" : "shape",
            fmt::format("A is {}, B is {}", spec_text(in_a->spec), spec_text(in_b->spec)), json::object()};
  }
  return compare_bits(a, *in_a, b, *in_b);
}

Result<std::vector<std::string>> names_to_compare(const Side& a, const Side& b, const Options& options) {
  std::map<std::string, bool> names;
  for (const std::string& name : options.tensors) {
    if (a.file.find(name) == nullptr && b.file.find(name) == nullptr) {
      return tensor_named(a.file, quote_path(options.a), name).error();
    }
    names[name] = true;
  }
  for (const Side* side : {&a, &b}) {
    if (!options.tensors.empty()) break;
    for (const TensorEntry& entry : side->file.tensors()) names[entry.spec.name] = true;
  }
  std::vector<std::string> sorted;
  for (const auto& [name, unused] : names) sorted.push_back(name);
  return sorted;
}

void note_metadata(const Side& a, const Side& b, Session& session) {
  SafetensorsMetadata merged = a.file.metadata();
  merged.insert(b.file.metadata().begin(), b.file.metadata().end());
  for (const auto& [key, unused] : merged) {
    const auto in_a = a.file.metadata().find(key);
    const auto in_b = b.file.metadata().find(key);
    const auto text = [](const auto& found, const auto& end) {
      return found == end ? std::string("nothing") : quote(found->second);
    };
    const std::string text_a = text(in_a, a.file.metadata().end());
    const std::string text_b = text(in_b, b.file.metadata().end());
    const bool both = in_a != a.file.metadata().end() && in_b != b.file.metadata().end();
    if (both && in_a->second == in_b->second) continue;
    session.note(fmt::format("metadata {} differs (not counted): A {}, B {}", quote(key), text_a, text_b));
  }
}

Result<ExitCode> diff(const Options& options, Session& session) {
  const Result<Side> a = open_side(options.a);
  if (!a) return a.error();
  const Result<Side> b = open_side(options.b);
  if (!b) return b.error();
  const Result<std::vector<std::string>> names = names_to_compare(*a, *b, options);
  if (!names) return names.error();
  note_metadata(*a, *b, session);
  std::size_t equal = 0;
  json tensors = json::object();
  for (const std::string& name : *names) {
    Finding finding = compare_tensor(*a, *b, name);
    if (finding.status == "equal") ++equal;
    if (!options.as_json && !finding.text.empty()) session.print(fmt::format("{}: {}\n", quote(name), finding.text));
    finding.details["status"] = finding.status;
    tensors[name] = std::move(finding.details);
  }
  const std::size_t unequal = names->size() - equal;
  if (options.as_json) {
    session.print_json({{"format", "fp4proof-diff/1"}, {"passed", equal}, {"failed", unequal}, {"tensors", tensors}});
  } else {
    session.print(tally(equal, unequal, 0));
  }
  if (names->empty()) {
    session.complain({ErrorKind::usage, "neither file holds a tensor: nothing was compared"});
    return ExitCode::incomplete;
  }
  return unequal == 0 ? ExitCode::conformant : ExitCode::mismatch;
}

constexpr const char* help =
    "Examples:\n"
    "  fp4proof diff ours.safetensors theirs.safetensors\n"
    "  fp4proof diff a.safetensors b.safetensors --tensor layer.weight.codes --json\n"
    "Each tensor that is missing or differs gets a line: how many elements differ, and the bits of the first. In "
    "files\n"
    "of 'fp4proof quantize' codes and scales are named by row, block and element. Exit code 0: no bit differs, 1: "
    "some\n"
    "do. Differing metadata are noted and do not count.";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Compare two safetensors files bit for bit.");
  command.footer(help);
  command.add_option("A", options->a, "The one file")->required()->type_name("FILE");
  command.add_option("B", options->b, "The other file")->required()->type_name("FILE");
  add_tensor_option(command, options->tensors);
  command.add_flag("--json", options->as_json, "Print JSON");
  return [options, &session] { return diff(*options, session); };
}

}  // namespace

const Verb diff_verb{"diff", add};

}  // namespace fp4proof::cli
