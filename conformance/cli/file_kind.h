#pragma once
// What kind of file or folder a user points at.

#include <string>

#include "formats/result.h"

namespace fp4proof::cli {

enum class FileKind {
  safetensors,  ///< anything that is none of the others
  manifest,     ///< JSON with a field `files`
  stack,        ///< JSON that names the format of correction stacks
  plan,         ///< JSON that names the format of precision plans
  profile,      ///< any other JSON
  vector_set,   ///< a folder
  library,      ///< a shared library: a plug-in
};

/// Looks at the path and its first bytes. An `io` or `usage` error where it cannot be read.
Result<FileKind> file_kind(const std::string& path);

}  // namespace fp4proof::cli
