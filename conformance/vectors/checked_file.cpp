#include "conformance/vectors/checked_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "conformance/vectors/file_descriptor.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/sha256.h"

namespace fp4proof {

namespace {

/// As many bytes as the file had when it was opened, or fewer where it shrank.
Result<std::vector<std::uint8_t>> read_whole(const std::filesystem::path& path) {
  const Result<OpenedFile> file = open_regular_file(path);
  if (!file) return file.error();
  std::vector<std::uint8_t> bytes(file->size);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pread(file->descriptor.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return os_error("read", path, errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace

Result<std::vector<std::uint8_t>> read_checked_file(const std::filesystem::path& folder, const Manifest& manifest,
                                                    const std::string& name) {
  const std::filesystem::path path = folder / name;
  const auto corrupt = [&](std::string_view problem) {
    return Error{ErrorKind::corrupt, fmt::format("{}: {}", quote_path(path), problem)};
  };
  const auto record = manifest.files.find(name);
  if (record == manifest.files.end()) return corrupt("the manifest does not name it");
  Result<std::vector<std::uint8_t>> bytes = read_whole(path);
  if (!bytes) return bytes;
  const Result<Sha256Digest> digest = sha256(*bytes);
  if (!digest) return digest.error();
  if (to_hex(*digest) != record->second.sha256) return corrupt("its digest is not that of the manifest");
  return bytes;
}

}  // namespace fp4proof
