#pragma once
// What a subject of the document is called in sentences.

#include <string_view>

namespace fp4proof::verdict {

/// For a `kind` of the document's subject: "plug-in", "program", "function", "file"; the kind itself where it is
/// another.
constexpr std::string_view word_of_subject(std::string_view kind) {
  if (kind == "plugin") return "plug-in";
  if (kind == "process") return "program";
  if (kind == "python") return "function";
  if (kind == "files") return "file";
  return kind;
}

}  // namespace fp4proof::verdict
