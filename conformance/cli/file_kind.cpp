#include "conformance/cli/file_kind.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "conformance/corrections/plan_json.h"
#include "conformance/corrections/stack_json.h"
#include "conformance/vectors/mapped_file.h"

namespace fp4proof::cli {

namespace {

constexpr std::string_view elf_magic =
    "\x7f"
    "ELF";

}  // namespace

Result<FileKind> file_kind(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return FileKind::vector_set;
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  const std::string_view text = text_of(file->bytes());
  if (text.starts_with(elf_magic)) return FileKind::library;
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  // Byte 8 of a safetensors file is '{' too; its first byte is the low byte of the header's length.
  const bool json = start != std::string_view::npos && text[start] == '{' && (text.size() < 9 || text[8] != '{');
  if (!json) return FileKind::safetensors;
  const auto holds = [&](std::string_view word) { return text.find(fmt::format("\"{}\"", word)) != text.npos; };
  if (holds("files")) return FileKind::manifest;
  if (holds(corrections_format)) return FileKind::stack;
  return holds(plan_format) ? FileKind::plan : FileKind::profile;
}

}  // namespace fp4proof::cli
