#include "conformance/vectors/pending_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "conformance/vectors/file_descriptor.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof {

namespace fs = std::filesystem;

Result<PendingFolder> PendingFolder::create(const fs::path& target) {
  const fs::path whole = fs::absolute(target).lexically_normal();
  const fs::path plain = whole.has_filename() ? whole : whole.parent_path();
  std::string pattern = (plain.parent_path() / fmt::format(".{}.XXXXXX", plain.filename().string())).string();
  if (::mkdtemp(pattern.data()) == nullptr) return os_error("make a folder in", plain.parent_path(), errno);
  PendingFolder folder(plain, pattern);
  std::error_code failure;
  fs::create_directory(folder.path(), failure);
  if (failure) return os_error("make", folder.path(), failure.value());
  return folder;
}

PendingFolder::PendingFolder(fs::path target, fs::path hidden)
    : target_(std::move(target)), hidden_(std::move(hidden)), pending_(hidden_) {}

PendingFolder::PendingFolder(PendingFolder&& other) noexcept
    : target_(std::move(other.target_)),
      hidden_(std::exchange(other.hidden_, {})),
      pending_(std::move(other.pending_)) {}

PendingFolder::~PendingFolder() {
  std::error_code ignored;
  if (!hidden_.empty()) fs::remove_all(hidden_, ignored);
}

Result<void> PendingFolder::flush() const {
  const FileDescriptor folder(::open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open() || ::syncfs(folder.number()) != 0) return os_error("write to", target_, errno);
  return {};
}

Result<void> PendingFolder::commit(bool replace) {
  std::error_code failure;
  const fs::path old = hidden_ / "old";
  const bool moved = replace && fs::exists(target_, failure);
  pending_.release();  // from here on a signal must not remove the folder, in which the old content may stand
  if (moved) fs::rename(target_, old, failure);
  if (failure) return os_error("move away", target_, failure.value());
  fs::rename(path(), target_, failure);
  if (!failure) {
    pending_ = PendingPath(hidden_);
    return {};
  }
  std::error_code ignored;
  if (moved) fs::rename(old, target_, ignored);
  return os_error("make", target_, failure.value());
}

Result<void> write_pending_file(const fs::path& path, Bytes bytes) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.is_open()) return os_error("make", path, errno);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return os_error("write to", path, written < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (const int failure = file.close(); failure != 0) return os_error("write to", path, failure);
  return {};
}

namespace {

/// Whether nothing is there, or an empty folder. A `usage` error for what is no folder.
Result<bool> is_free_folder(const fs::path& folder) {
  std::error_code failure;
  const fs::file_status status = fs::status(folder, failure);
  if (status.type() == fs::file_type::not_found) return true;
  const std::string name = quote_path(folder);
  if (status.type() != fs::file_type::directory) {
    return Error{ErrorKind::usage, fmt::format("{} exists and is no folder", name)};
  }
  const bool is_empty = fs::is_empty(folder, failure);
  if (failure) return Error{ErrorKind::io, fmt::format("cannot read {}: {}", name, failure.message())};
  return is_empty;
}

}  // namespace

Result<void> check_new_folder(const fs::path& folder) {
  const Result<bool> free = is_free_folder(folder);
  if (!free) return free.error();
  if (*free) return {};
  return Error{ErrorKind::usage, fmt::format("{} is not empty; name another folder", quote_path(folder))};
}

Result<void> check_target_folder(const fs::path& folder, std::string_view marker, std::string_view what, bool force) {
  const Result<bool> free = is_free_folder(folder);
  if (!free) return free.error();
  if (*free) return {};
  const std::string name = quote_path(folder);
  std::error_code failure;
  if (!fs::exists(folder / marker, failure)) {
    return Error{ErrorKind::usage, fmt::format("{} is not empty and holds no {}; name another folder", name, what)};
  }
  if (force) return {};
  return Error{ErrorKind::usage, fmt::format("{} already holds a {}; --force replaces it", name, what)};
}

}  // namespace fp4proof
