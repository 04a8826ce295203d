#include "conformance/vectors/os_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

namespace fp4proof {
namespace {

constexpr std::size_t longest_quote = 80;

std::string_view hint(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT: return "; free some space or choose another folder";
    case EFBIG: return "; raise the file size limit (ulimit -f) or choose another file system";
    case ENOENT: return "; check the spelling and that the folder exists";
    case ENOTDIR: return "; a part of the path is a file, choose another folder";
    case EEXIST: return "; something of that name is there, choose another";
    case EACCES:
    case EPERM: return "; check the permissions of the file and of its folder";
    case EROFS: return "; choose a folder on a writable file system";
    case EMFILE:
    case ENFILE: return "; raise the limit of open files (ulimit -n)";
    case EIO: return "; the device reports a fault, check it before trusting the file";
    default: return "";
  }
}

}  // namespace

std::string quote(std::string_view text) {
  const bool cut = text.size() > longest_quote;
  const nlohmann::json value = std::string(text.substr(0, longest_quote));
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + (cut ? "..." : "");
}

std::string quote_path(const std::filesystem::path& path) {
  const nlohmann::json value = path.string();
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Error os_error(std::string_view action, const std::filesystem::path& path, int number) {
  return {ErrorKind::io, fmt::format("cannot {} {}: {}{}", action, quote_path(path),
                                     std::generic_category().message(number), hint(number))};
}

}  // namespace fp4proof
