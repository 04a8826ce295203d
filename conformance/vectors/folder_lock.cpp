#include "conformance/vectors/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "conformance/vectors/os_error.h"

namespace fp4proof {

Result<FileDescriptor> lock_folder(const std::filesystem::path& folder, std::string_view name) {
  const std::filesystem::path path = folder / fmt::format("{}.lock", name);
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT, 0666));  // without O_CLOEXEC: children inherit it
  if (!file.is_open()) return os_error("write to", path, errno);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return os_error("lock", path, errno);
    if (std::chrono::steady_clock::now() > deadline) {
      return Error{ErrorKind::usage, fmt::format("another {} is at work in {}; wait for its end, or choose another "
                                                 "folder",
                                                 name, quote_path(folder))};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return file;
}

}  // namespace fp4proof
