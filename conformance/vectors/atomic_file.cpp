#include "conformance/vectors/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include "conformance/vectors/os_error.h"

namespace fp4proof {
namespace fs = std::filesystem;
namespace {

// One system call moves at most this much: Linux cuts longer writes short.
constexpr std::size_t largest_write = std::size_t{1} << 30;
constexpr std::uint64_t largest_file = std::numeric_limits<off_t>::max();
constexpr int most_links = 40;
constexpr int most_name_attempts = 100;

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// The descriptor behind /dev/stdout, /dev/fd/N and their kin. It must be duplicated: opening such a name anew would
/// start at offset 0 of a redirected file, and fail for a socket.
std::optional<int> inherited_descriptor(const fs::path& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  std::error_code code;
  const fs::path folder = fs::canonical(folder_of(path), code);
  if (code || folder != fs::canonical("/proc/self/fd", code) || code) return std::nullopt;
  const std::string name = path.filename().string();
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size() || number < 0) return std::nullopt;
  return number;
}

/// The file that a chain of symbolic links leads to, whether or not it exists yet.
Result<fs::path> follow_links(fs::path path) {
  for (int link = 0; link < most_links; ++link) {
    if (inherited_descriptor(path)) return path;
    std::error_code code;
    const fs::path next = fs::read_symlink(path, code);
    if (code) return path;
    path = next.is_absolute() ? next : folder_of(path) / next;
  }
  return os_error("write to", path, ELOOP);
}

std::string temporary_name() {
  std::random_device entropy;
  return fmt::format(".fp4proof-{}-{:08x}{:08x}.tmp", ::getpid(), entropy(), entropy());
}

/// The mode of an existing target, which the file that replaces it inherits; none for a new file.
Result<std::optional<mode_t>> mode_to_keep(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::optional<mode_t>();
    return os_error("write to", path, errno);
  }
  // rename() would replace even a write-protected file.
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) return os_error("write to", path, errno);
  return std::optional<mode_t>(status.st_mode & 07777);
}

bool cannot_be_flushed(int number) { return number == EINVAL || number == EROFS || number == ENOTSUP; }

int flush(int descriptor) {
  int outcome = 0;
  do {
    outcome = ::fsync(descriptor);
  } while (outcome != 0 && errno == EINTR);
  return outcome == 0 ? 0 : errno;
}

/// Makes a rename in `folder` survive a power cut. Some file systems cannot flush a folder and need not.
int flush_folder(const fs::path& folder) {
  FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) return errno == EACCES ? 0 : errno;
  const int number = flush(descriptor.number());
  return cannot_be_flushed(number) ? 0 : number;
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const fs::path& path) {
  if (path.empty()) return Error{ErrorKind::usage, "the output path is empty; name a file"};
  const Result<fs::path> target = follow_links(path);
  if (!target) return target.error();
  if (inherited_descriptor(*target)) return create_direct(*target);
  struct stat status {};
  const bool exists = ::stat(target->c_str(), &status) == 0;
  if (!target->has_filename() || (exists && S_ISDIR(status.st_mode))) {
    return Error{ErrorKind::usage,
                 fmt::format("cannot write to {}: it is a folder; name a file in it", quote_path(path))};
  }
  return exists && !S_ISREG(status.st_mode) ? create_direct(*target) : create_temporary(*target);
}

Result<AtomicFile> AtomicFile::create_direct(const fs::path& path) {
  const std::optional<int> inherited = inherited_descriptor(path);
  FileDescriptor descriptor(inherited ? ::fcntl(*inherited, F_DUPFD_CLOEXEC, 0)
                                      : ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!descriptor.is_open()) return os_error("write to", path, errno);
  return AtomicFile(path, {}, {}, std::move(descriptor));
}

Result<AtomicFile> AtomicFile::create_temporary(const fs::path& path) {
  const Result<std::optional<mode_t>> mode = mode_to_keep(path);
  if (!mode) return mode.error();
  for (int attempt = 0; attempt < most_name_attempts; ++attempt) {
    const fs::path temporary = folder_of(path) / temporary_name();
    PendingPath pending(temporary);
    FileDescriptor descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!descriptor.is_open() && errno == EEXIST) continue;
    if (!descriptor.is_open()) return os_error("write to", path, errno);
    AtomicFile file(path, temporary, std::move(pending), std::move(descriptor));
    if (*mode && ::fchmod(file.descriptor_.number(), **mode) != 0) {
      return os_error("set the permissions of", path, errno);
    }
    return file;
  }
  return os_error("find a free temporary name beside", path, EEXIST);
}

AtomicFile::AtomicFile(fs::path target, fs::path temporary, PendingPath pending, FileDescriptor descriptor)
    : target_(std::move(target)),
      temporary_(std::move(temporary)),
      pending_(std::move(pending)),
      descriptor_(std::move(descriptor)),
      direct_(temporary_.empty()) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : target_(std::exchange(other.target_, {})),
      temporary_(std::exchange(other.temporary_, {})),
      pending_(std::move(other.pending_)),
      descriptor_(std::move(other.descriptor_)),
      direct_(other.direct_),
      appended_(other.appended_),
      failure_(std::move(other.failure_)) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    discard();
    target_ = std::exchange(other.target_, {});
    temporary_ = std::exchange(other.temporary_, {});
    pending_ = std::move(other.pending_);
    descriptor_ = std::move(other.descriptor_);
    direct_ = other.direct_;
    appended_ = other.appended_;
    failure_ = std::move(other.failure_);
  }
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  descriptor_.close();
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
  pending_.release();
}

Error AtomicFile::fail(Error error) {
  failure_ = error;
  return error;
}

Result<void> AtomicFile::refuse_if_finished() const {
  if (failure_) return *failure_;
  if (!descriptor_.is_open()) {
    return Error{ErrorKind::internal, fmt::format("{} was already committed", quote_path(target_))};
  }
  return {};
}

Result<void> AtomicFile::append(Bytes bytes) {
  if (Result<void> ready = refuse_if_finished(); !ready) return ready;
  Result<void> written = is_direct() ? write_in_order(bytes) : write_positioned(appended_, bytes);
  if (written) appended_ += bytes.size();
  return written;
}

Result<void> AtomicFile::write_at(std::uint64_t offset, Bytes bytes) {
  if (Result<void> ready = refuse_if_finished(); !ready) return ready;
  if (!is_direct()) return write_positioned(offset, bytes);
  if (offset != appended_) {
    return fail({ErrorKind::unsupported, fmt::format("{} takes bytes only in order: at {}, asked for {}; write to a "
                                                     "regular file and copy it",
                                                     quote_path(target_), appended_, offset)});
  }
  return append(bytes);
}

Result<void> AtomicFile::write_positioned(std::uint64_t offset, Bytes bytes) {
  if (offset > largest_file || bytes.size() > largest_file - offset) {
    return fail(os_error("write to", target_, EFBIG));
  }
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor_.number(), bytes.data(), std::min(bytes.size(), largest_write), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(os_error("write to", target_, written < 0 ? errno : EIO));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<void> AtomicFile::write_in_order(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_.number(), bytes.data(), std::min(bytes.size(), largest_write));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(os_error("write to", target_, written < 0 ? errno : EIO));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> AtomicFile::commit() {
  if (Result<void> ready = refuse_if_finished(); !ready) return ready;
  return is_direct() ? finish_direct() : finish_temporary();
}

Result<void> AtomicFile::finish_direct() {
  const int flushed = flush(descriptor_.number());
  if (flushed != 0 && !cannot_be_flushed(flushed)) return fail(os_error("finish writing to", target_, flushed));
  if (const int closed = descriptor_.close(); closed != 0) return fail(os_error("finish writing to", target_, closed));
  return {};
}

Result<void> AtomicFile::finish_temporary() {
  if (const int flushed = flush(descriptor_.number()); flushed != 0) {
    return fail(os_error("finish writing to", target_, flushed));
  }
  if (const int closed = descriptor_.close(); closed != 0) return fail(os_error("finish writing to", target_, closed));
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    return fail(os_error("rename the finished temporary file to", target_, errno));
  }
  temporary_.clear();
  pending_.release();
  if (const int flushed = flush_folder(folder_of(target_)); flushed != 0) {
    return fail(os_error("flush to the disk the (complete) folder entry of", target_, flushed));
  }
  return {};
}

Result<void> write_file(const fs::path& path, Bytes bytes) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) return file.error();
  if (Result<void> written = file->append(bytes); !written) return written;
  return file->commit();
}

}  // namespace fp4proof
