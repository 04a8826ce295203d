#include "conformance/profiles/json_file.h"

#include "conformance/vectors/mapped_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof {

Result<nlohmann::json> read_json_file(std::string_view path, std::size_t deepest) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  Result<nlohmann::json> value = parse_strict_json(text_of(file->bytes()), quote_path(path), deepest);
  if (!value) return Error{ErrorKind::usage, value.error().message};
  return value;
}

}  // namespace fp4proof
