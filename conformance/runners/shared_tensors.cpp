#include "conformance/runners/shared_tensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "conformance/verify/classify.h"

namespace fp4proof::runners {

namespace {

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t down_to_page(std::size_t offset) { return offset / page_size() * page_size(); }
std::size_t up_to_page(std::size_t offset) { return down_to_page(offset + page_size() - 1); }

Error refused(std::string_view action) {
  return {ErrorKind::internal, fmt::format("cannot {} shared memory: {}", action, std::strerror(errno))};
}

std::size_t count_overwritten(Bytes bytes) {
  return bytes.size() - static_cast<std::size_t>(std::ranges::count(bytes, verify::poison_byte));
}

}  // namespace

Result<TensorFile> TensorFile::create(std::span<const std::size_t> sizes, Placement placement) {
  TensorFile file;
  for (const std::size_t bytes : sizes) {
    const std::size_t pages = up_to_page(bytes);
    file.places_.push_back({file.size_ + (placement == Placement::end ? pages - bytes : 0), bytes});
    file.size_ += pages;
  }
  file.file_ = FileDescriptor(::memfd_create("fp4proof-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.file_.is_open()) return refused("make");
  if (::ftruncate(file.descriptor(), static_cast<off_t>(file.size_)) != 0) return refused("size");
  return file;
}

Result<TensorFile> TensorFile::of_inputs(std::span<const Bytes> tensors, Placement placement) {
  std::vector<std::size_t> sizes;
  for (const Bytes tensor : tensors) sizes.push_back(tensor.size());
  Result<TensorFile> file = create(sizes, placement);
  if (!file) return file;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (const Result<void> written = file->write(file->places_[i].offset, tensors[i]); !written) return written.error();
  }
  if (const Result<void> sealed = file->seal(F_SEAL_WRITE); !sealed) return sealed.error();
  return file;
}

Result<TensorFile> TensorFile::of_outputs(std::span<const std::size_t> sizes, Placement placement) {
  Result<TensorFile> file = create(sizes, placement);
  if (!file) return file;
  const std::vector<std::uint8_t> poison(file->size_, verify::poison_byte);
  if (const Result<void> written = file->write(0, poison); !written) return written.error();
  if (const Result<void> sealed = file->seal(0); !sealed) return sealed.error();
  return file;
}

Result<void> TensorFile::write(std::size_t offset, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0) return refused("fill");
    offset += static_cast<std::size_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> TensorFile::seal(int seals) {
  if (::fcntl(descriptor(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | seals) == 0) return {};
  return refused("seal");
}

Result<std::vector<std::uint8_t>> TensorFile::snapshot() const {
  std::vector<std::uint8_t> bytes(size_);
  for (std::size_t done = 0; done < size_;) {
    const ssize_t count = ::pread(descriptor(), bytes.data() + done, size_ - done, static_cast<off_t>(done));
    if (count <= 0) return refused("read");
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

std::string writes_beside(Bytes snapshot, const TensorPlace& place) {
  const std::size_t begin = down_to_page(place.offset);
  const std::size_t end = place.offset + place.bytes;
  const std::size_t before = count_overwritten(snapshot.subspan(begin, place.offset - begin));
  const std::size_t behind = count_overwritten(snapshot.subspan(end, up_to_page(end) - end));
  if (before != 0) return fmt::format("{} bytes in front of its start", before);
  if (behind != 0) return fmt::format("{} bytes behind its end", behind);
  return {};
}

Result<MappedTensor> MappedTensor::map(int file, const TensorPlace& place, bool writable) {
  const std::size_t begin = down_to_page(place.offset);
  const std::size_t pages = up_to_page(place.offset + place.bytes) - begin;
  const std::size_t length = pages + 2 * page_size();
  void* reserved = ::mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return refused("reserve room for");
  auto* base = static_cast<std::uint8_t*>(reserved);
  MappedTensor tensor(base, length, base + page_size() + (place.offset - begin), place.bytes);
  if (pages == 0) return tensor;
  // A sealed file takes no shared mapping that could become writable; a private one shows the same bytes.
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  const int sharing = writable ? MAP_SHARED : MAP_PRIVATE;
  void* mapped = ::mmap(base + page_size(), pages, protection, sharing | MAP_FIXED, file, static_cast<off_t>(begin));
  if (mapped == MAP_FAILED) return refused("map");
  return tensor;
}

MappedTensor::MappedTensor(MappedTensor&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), length_(other.length_), data_(other.data_), bytes_(other.bytes_) {}

MappedTensor::~MappedTensor() {
  if (base_ != nullptr) ::munmap(base_, length_);
}

}  // namespace fp4proof::runners
