#include "conformance/cli/tensor_place.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

constexpr std::string_view ending = ".safetensors:";

std::size_t separating_colon(const std::string& text) {
  if (const std::size_t at = text.find(ending); at != std::string::npos) return at + ending.size() - 1;
  std::error_code ignored;
  for (std::size_t colon = text.find(':'); colon != std::string::npos; colon = text.find(':', colon + 1)) {
    const std::filesystem::path file = text.substr(0, colon);
    if (std::filesystem::exists(file, ignored) && !std::filesystem::is_directory(file, ignored)) return colon;
  }
  return text.rfind(':');
}

}  // namespace

Result<TensorPlace> parse_tensor_place(const std::string& text, std::string_view what) {
  const std::size_t colon = separating_colon(text);
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    return Error{ErrorKind::usage,
                 fmt::format("{} {} must be FILE:TENSOR, for example a.safetensors:weight", what, quote(text))};
  }
  return TensorPlace{text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace fp4proof::cli
