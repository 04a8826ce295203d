// fp4proof lint: whether a file is in the form that this program writes.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "conformance/cli/check_list.h"
#include "conformance/cli/file_kind.h"
#include "conformance/cli/quantized_file.h"
#include "conformance/cli/quantized_lint.h"
#include "conformance/cli/verbs.h"
#include "conformance/corrections/plan_lookup.h"
#include "conformance/corrections/stack_lookup.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/suite/vector_set.h"
#include "conformance/vectors/folder_entries.h"
#include "conformance/vectors/is_absent.h"
#include "conformance/vectors/manifest.h"
#include "conformance/vectors/mapped_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/safetensors.h"

namespace fp4proof::cli {

namespace {

std::string problem_of(const Result<void>& result) { return result ? std::string() : result.error().message; }

/// Whether the file starts with the bytes that plan_safetensors() lays out for its tensors.
std::string layout_problem(const std::string& path, const SafetensorsFile& file) {
  std::vector<TensorSpec> specs;
  for (const TensorEntry& entry : file.tensors()) specs.push_back(entry.spec);
  const Result<SafetensorsLayout> layout = plan_safetensors(specs, file.metadata());
  if (!layout) return layout.error().message;
  const Result<MappedFile> bytes = MappedFile::open(path);
  if (!bytes) return bytes.error().message;
  if (text_of(bytes->bytes()).starts_with(layout->head)) return {};
  return "the header is not in canonical form; rewrite the file (docs/file-format.md)";
}

/// Whether the file says that this program wrote it.
bool is_ours(const SafetensorsFile& file) {
  const auto format = file.metadata().find("fp4proof.format");
  return format != file.metadata().end() && format->second.starts_with("fp4proof-");
}

/// A foreign file may lie in any valid order; of ours, `must_be_ours` for a table of a vector set, the order is fixed.
Result<void> lint_safetensors(const std::string& path, const std::string& name, bool must_be_ours, CheckList& checks) {
  const Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file) {
    if (file.error().kind != ErrorKind::corrupt) return file.error();
    checks.fail(name + ": structure", file.error().message);
    return {};
  }
  checks.pass(name + ": structure");
  const std::string layout = layout_problem(path, *file);
  if (layout.empty() || must_be_ours || is_ours(*file)) {
    checks.add(name + ": canonical layout", layout);
  } else {
    checks.skip(name + ": canonical layout",
                "not a file of fp4proof (no metadata \"fp4proof.format\"), and valid as it is");
  }
  if (is_quantized_file(*file)) lint_quantized(*file, name, checks);
  return {};
}

/// A file that users write: `read` says what is wrong with it.
template <class Value>
Result<void> lint_written(const char* what, const Result<Value>& read, CheckList& checks) {
  if (!read && read.error().kind == ErrorKind::io) return read.error();
  checks.add(what, read ? std::string() : read.error().message);
  return {};
}

std::string manifest_form_problem(const std::string& path, const Manifest& manifest) {
  const Result<std::string> canonical = manifest_text(manifest);
  if (!canonical) return canonical.error().message;
  const Result<MappedFile> bytes = MappedFile::open(path);
  if (!bytes) return bytes.error().message;
  return text_of(bytes->bytes()) == *canonical ? "" : "the text is not in canonical form";
}

/// Files of the folder that the manifest does not name, or why they are not known.
std::string stray_files(const std::filesystem::path& folder, const Manifest& manifest, const std::string& own_name) {
  const auto entries = folder_entries(folder);
  if (!entries) return entries.error().message;
  std::vector<std::string> strays;
  for (const auto& entry : *entries) {
    const std::string name = entry.path().filename().string();
    if (name != own_name && !manifest.files.contains(name)) strays.push_back(quote(name));
  }
  return strays.empty() ? "" : fmt::format("not in the manifest: {}", fmt::join(strays, " "));
}

Result<void> lint_manifest(const std::string& path, CheckList& checks) {
  const Result<Manifest> manifest = read_manifest(path);
  if (!manifest) {
    if (manifest.error().kind != ErrorKind::corrupt) return manifest.error();
    checks.fail("manifest: structure", manifest.error().message);
    return {};
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  checks.pass("manifest: structure");
  checks.add("manifest: canonical form", manifest_form_problem(path, *manifest));
  checks.add("manifest: digests", problem_of(check_files(folder.empty() ? "." : folder, *manifest)));
  checks.add("manifest: no other files",
             stray_files(folder.empty() ? "." : folder, *manifest, std::filesystem::path(path).filename().string()));
  return {};
}

std::string table_problem(const suite::VectorSet& set, const suite::TableEntry& entry) {
  const auto table = suite::read_table(set, entry);
  return table ? std::string() : table.error().message;
}

Result<void> lint_vector_set(const std::string& path, CheckList& checks) {
  const std::string manifest_path = (std::filesystem::path(path) / suite::manifest_name).string();
  if (is_absent(manifest_path)) {
    return Error{ErrorKind::usage,
                 fmt::format("folder {} holds no {}: it is no vector set", quote_path(path), suite::manifest_name)};
  }
  if (Result<void> done = lint_manifest(manifest_path, checks); !done) return done;
  const Result<suite::VectorSet> set = suite::open_set(path, false);
  checks.add("set: description", set ? std::string() : set.error().message);
  if (!set) return {};
  for (const suite::TableEntry& entry : set->tables) {
    const std::string file = (set->folder / entry.file).string();
    if (Result<void> done = lint_safetensors(file, entry.file, true, checks); !done) {
      checks.fail(entry.file + ": structure", done.error().message);
      continue;
    }
    checks.add(entry.file + ": cases", table_problem(*set, entry));
  }
  return {};
}

Result<void> lint_path(const std::string& path, CheckList& checks) {
  const Result<FileKind> kind = file_kind(path);
  if (!kind) return kind.error();
  switch (*kind) {
    case FileKind::safetensors: return lint_safetensors(path, quote_path(path), false, checks);
    case FileKind::manifest: return lint_manifest(path, checks);
    case FileKind::profile: return lint_written("profile file", read_profile_file(path), checks);
    case FileKind::stack: return lint_written("stack of corrections", read_stack_file(path), checks);
    case FileKind::plan: return lint_written("precision plan", read_plan_file(path), checks);
    case FileKind::vector_set: return lint_vector_set(path, checks);
    case FileKind::library:
      return Error{ErrorKind::unsupported,
                   fmt::format("{} is a shared library; lint checks data files alone", quote_path(path))};
  }
  return {};
}

constexpr const char* help =
    "Examples:\n"
    "  fp4proof lint out.safetensors\n"
    "  fp4proof lint vectors/smoke\n"
    "Checks structure, canonical layout and digests; of quantized files also the metadata, unused bits, padding, and\n"
    "codes under a NaN scale; of profile files every field. The layout of a valid file of another program is not "
    "checked.\n"
    "Exit code 0: no check fails, 3: one fails.";

Action add(CLI::App& command, Session& session) {
  auto path = std::make_shared<std::string>();
  command.description(
      "Check the form of a safetensors file, a vector set (folder), a manifest, a profile, a stack of corrections, or "
      "a plan.");
  command.footer(help);
  command.add_option("FILE", *path, "File or folder")->required()->option_text("REQUIRED");
  return [path, &session]() -> Result<ExitCode> {
    CheckList checks(session);
    if (const Result<void> done = lint_path(*path, checks); !done) return done.error();
    checks.print_tally();
    return checks.failed() == 0 ? ExitCode::conformant : ExitCode::corrupt;
  };
}

}  // namespace

const Verb lint_verb{"lint", add};

}  // namespace fp4proof::cli
