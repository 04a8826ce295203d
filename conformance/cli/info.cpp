// fp4proof info: what a file is.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cli/correction_tables.h"
#include "conformance/cli/file_kind.h"
#include "conformance/cli/format_tables.h"
#include "conformance/cli/plugin_info.h"
#include "conformance/cli/quantized_file.h"
#include "conformance/cli/table.h"
#include "conformance/cli/verbs.h"
#include "conformance/corrections/plan_lookup.h"
#include "conformance/corrections/stack_lookup.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/suite/vector_set.h"
#include "conformance/vectors/counted.h"
#include "conformance/vectors/manifest.h"
#include "conformance/vectors/mapped_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/safetensors.h"
#include "conformance/vectors/sha256.h"

namespace fp4proof::cli {

namespace {

using nlohmann::json;

struct Options {
  std::string path;
  bool as_json = false;
};

// ---------------------------------------------------------------------------------------------------------------------
// Safetensors
// ---------------------------------------------------------------------------------------------------------------------

std::string tensors_text(const SafetensorsFile& file) {
  Table table("lllr");
  table.add({"tensor", "dtype", "shape", "bytes"});
  for (const TensorEntry& entry : file.tensors()) {
    table.add({quote(entry.spec.name), std::string(name_of(entry.spec.dtype)),
               fmt::format("[{}]", fmt::join(entry.spec.shape, ", ")), fmt::format("{}", entry.size())});
  }
  return table.text();
}

std::string corrections_text(const QuantizedFile& file) {
  if (!file.corrections) return {};
  const CorrectionStack& stack = *file.corrections->stack;
  std::string text = fmt::format("corrections {}", stack.name);
  if (!stack.summary.empty()) text += fmt::format(" ({})", stack.summary);
  if (stack.hadamard.signs == HadamardSigns::fresh) text += fmt::format(", product {}", file.corrections->product);
  if (file.has_residual()) {
    text += file.corrections->residual == ResidualForm::packed ? ", residual packed 2:4" : ", residual as codes";
  }
  return text + "\n";
}

json corrections_json(const FileCorrections& corrections) {
  json value = {{"stack", stack_to_json(*corrections.stack)}, {"product", corrections.product}};
  if (corrections.stack->residual.is_on()) {
    value["residual"] = corrections.residual == ResidualForm::packed ? "packed" : "codes";
  }
  return value;
}

std::string quantized_text(const QuantizedFile& file) {
  Table table("lllrl");
  table.add({"quantized", "from", "shape", "axis", "tail"});
  for (const TensorRecord& record : file.tensors) {
    table.add({quote(record.name), std::string(name_of(record.dtype)),
               fmt::format("[{}]", fmt::join(record.shape, ", ")), fmt::format("{}", record.axis),
               record.tail == portable::Tail::pad ? "pad" : "error"});
  }
  return fmt::format("\nprofile {}, {} packing, seed {}\n{}{}", file.profile->name,
                     file.packing == Packing::canonical ? "canonical" : "profile", file.seed, corrections_text(file),
                     table.text());
}

json tensors_json(const SafetensorsFile& file) {
  json tensors = json::array();
  for (const TensorEntry& entry : file.tensors()) {
    tensors.push_back({{"name", entry.spec.name},
                       {"dtype", name_of(entry.spec.dtype)},
                       {"shape", entry.spec.shape},
                       {"bytes", entry.size()}});
  }
  return tensors;
}

Result<void> show_safetensors(const Options& options, Session& session) {
  const std::string label = quote_path(options.path);
  const Result<SafetensorsFile> file = SafetensorsFile::open(options.path);
  if (!file) return file.error();
  std::optional<QuantizedFile> quantized;
  if (is_quantized_file(*file)) {
    Result<QuantizedFile> description = read_quantized_file(*file, label);
    if (!description) return description.error();
    quantized = *std::move(description);
  }
  const Result<FileDigest> digest = sha256_of_file(options.path);
  if (!digest) return digest.error();
  const std::string hex = to_hex(digest->digest);
  if (options.as_json) {
    json value = {{"kind", "safetensors"},
                  {"bytes", digest->bytes},
                  {"sha256", hex},
                  {"metadata", file->metadata()},
                  {"tensors", tensors_json(*file)}};
    if (quantized && quantized->corrections) value["corrections"] = corrections_json(*quantized->corrections);
    session.print_json(value);
    return {};
  }
  session.print(fmt::format("{}: safetensors, {}, {}\nsha256 {}\n", label, counted(file->tensors().size(), "tensor"),
                            counted(digest->bytes, "byte"), hex));
  for (const auto& [key, value] : file->metadata()) {
    session.print(fmt::format("metadata {} = {}\n", quote(key), quote(value)));
  }
  if (!file->tensors().empty()) session.print("\n" + tensors_text(*file));
  if (quantized) session.print(quantized_text(*quantized));
  return {};
}

// ---------------------------------------------------------------------------------------------------------------------
// Others
// ---------------------------------------------------------------------------------------------------------------------

Result<void> show_manifest(const Options& options, Session& session) {
  const Result<Manifest> manifest = read_manifest(options.path);
  if (!manifest) return manifest.error();
  json files = json::object();
  Table table("lrl");
  table.add({"file", "bytes", "sha256"});
  for (const auto& [name, record] : manifest->files) {
    files[name] = {{"bytes", record.bytes}, {"sha256", record.sha256}};
    table.add({name, fmt::format("{}", record.bytes), record.sha256});
  }
  if (options.as_json) {
    session.print_json(
        {{"kind", "manifest"}, {"set", manifest->set}, {"tool_version", manifest->tool_version}, {"files", files}});
    return {};
  }
  session.print(fmt::format("{}: manifest of the set {}, written by version {}\n\n{}", quote_path(options.path),
                            quote(manifest->set), manifest->tool_version, table.text()));
  return {};
}

Result<void> show_vector_set(const Options& options, Session& session) {
  const Result<suite::VectorSet> set = suite::open_set(options.path, false);
  if (!set) return set.error();
  json tables = json::array();
  Table table("lllr");
  table.add({"operation", "profile", "file", "cases"});
  std::uint64_t cases = 0;
  for (const suite::TableEntry& entry : set->tables) {
    cases += entry.cases;
    tables.push_back({{"operation", suite::name_of(entry.operation)},
                      {"profile", entry.profile->name},
                      {"file", entry.file},
                      {"cases", entry.cases}});
    table.add({std::string(suite::name_of(entry.operation)), std::string(entry.profile->name), entry.file,
               fmt::format("{}", entry.cases)});
  }
  if (options.as_json) {
    session.print_json({{"kind", "vector-set"},
                        {"set", set->manifest.set},
                        {"tool_version", set->manifest.tool_version},
                        {"shard", set->shard},
                        {"inputs_only", set->inputs_only},
                        {"cases", cases},
                        {"tables", tables}});
    return {};
  }
  session.print(fmt::format("{}: vector set {}, shard {}, {}{}, written by version {}\n\n{}", quote_path(options.path),
                            quote(set->manifest.set), set->shard, counted(cases, "case"),
                            set->inputs_only ? ", inputs only" : "", set->manifest.tool_version, table.text()));
  return {};
}

/// A file that users write, as JSON or as text.
template <class Shared, class ToJson, class ToText>
Result<void> show_written(const Result<Shared>& read, const Options& options, Session& session, ToJson to_json,
                          ToText to_text) {
  if (!read) return read.error();
  if (options.as_json) {
    session.print_json(to_json(**read));
  } else {
    session.print(to_text(**read));
  }
  return {};
}

Result<void> show_data(FileKind kind, const Options& options, Session& session) {
  switch (kind) {
    case FileKind::safetensors: return show_safetensors(options, session);
    case FileKind::manifest: return show_manifest(options, session);
    case FileKind::profile:
      return show_written(read_profile_file(options.path), options, session, profile_to_json, profile_text);
    case FileKind::stack:
      return show_written(read_stack_file(options.path), options, session, stack_to_json, stack_text);
    case FileKind::plan: return show_written(read_plan_file(options.path), options, session, plan_to_json, plan_text);
    case FileKind::vector_set: return show_vector_set(options, session);
    case FileKind::library: break;
  }
  return {};
}

/// Whether the name promises a shared library ("libkernel.so", "libkernel.so.1"), of which no safetensors file has the
/// beginning: byte 8 of such a file opens its header.
bool is_false_library(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  if (!name.ends_with(".so") && name.find(".so.") == std::string::npos) return false;
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return false;
  const std::string_view text = text_of(file->bytes());
  return text.size() < 9 || text[8] != '{';
}

Result<ExitCode> show(const Options& options, Session& session) {
  const Result<FileKind> kind = file_kind(options.path);
  if (!kind) return kind.error();
  if (*kind == FileKind::library) return show_plugin(options.path, options.as_json, session);
  if (*kind == FileKind::safetensors && is_false_library(options.path)) {
    session.complain({ErrorKind::internal, fmt::format("{} is no shared library: it does not begin as ELF files do",
                                                       quote_path(options.path))});
    return ExitCode::plugin_failed;
  }
  if (const Result<void> shown = show_data(*kind, options, session); !shown) return shown.error();
  return ExitCode::conformant;
}

constexpr const char* help =
    "Examples:\n"
    "  fp4proof info out.safetensors          tensors, shapes, metadata, digest\n"
    "  fp4proof info vectors/smoke            the tables of a vector set\n"
    "  fp4proof info my-profile.json --json   a profile with every field filled in\n"
    "  fp4proof info ./libkernel.so           what a plug-in is and offers; it is loaded in a process of its own\n"
    "Nothing is changed. 'fp4proof lint' also checks the content.";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description(
      "Describe a safetensors file, a vector set (folder), a manifest, a profile, a stack of corrections, a plan, or a "
      "plug-in.");
  command.footer(help);
  command.add_option("FILE", options->path, "File or folder")->required()->option_text("REQUIRED");
  command.add_flag("--json", options->as_json, "Print JSON");
  return [options, &session] { return show(*options, session); };
}

}  // namespace

const Verb info_verb{"info", add};

}  // namespace fp4proof::cli
