#include "conformance/vectors/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "conformance/vectors/file_descriptor.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof {

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  Result<OpenedFile> file = open_regular_file(path);
  if (!file) return file.error();
  if (file->size == 0) return MappedFile(Bytes{});
  void* address = ::mmap(nullptr, file->size, PROT_READ, MAP_PRIVATE, file->descriptor.number(), 0);
  if (address == MAP_FAILED) return os_error("map into memory", path, errno);
  return MappedFile(Bytes(static_cast<const std::uint8_t*>(address), file->size));
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap();
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

MappedFile::~MappedFile() { unmap(); }

void MappedFile::unmap() {
  if (!bytes_.empty()) ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace fp4proof
