#include "conformance/vectors/file_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "conformance/vectors/os_error.h"

namespace fp4proof {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

FileDescriptor::~FileDescriptor() { close(); }

int FileDescriptor::release() { return std::exchange(number_, -1); }

int FileDescriptor::close() {
  if (!is_open()) return 0;
  return ::close(release()) == 0 || errno == EINTR ? 0 : errno;
}

Result<OpenedFile> open_regular_file(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe nobody writes to must fail below, not wait.
  FileDescriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.is_open()) return os_error("open", path, errno);
  struct stat status {};
  if (::fstat(descriptor.number(), &status) != 0) return os_error("examine", path, errno);
  if (S_ISDIR(status.st_mode)) {
    return Error{ErrorKind::usage, fmt::format("{} is a folder; name a file in it", quote_path(path))};
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorKind::usage,
                 fmt::format("{} is not a regular file; copy its content to a file first", quote_path(path))};
  }
  return OpenedFile{std::move(descriptor), static_cast<std::uint64_t>(status.st_size)};
}

}  // namespace fp4proof
