#include "conformance/runners/plugin_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "conformance/verify/classify.h"

namespace fp4proof::runners {

namespace {

constexpr std::size_t margin_bytes =
    4096;  // a multiple of every alignment, so that the tensor is aligned as the memory

constexpr std::uint64_t device_flags = FP4PROOF_TAKES_CUDA_MEMORY | FP4PROOF_TAKES_OTHER_DEVICE_MEMORY;

constexpr std::size_t size_with_device = offsetof(fp4proof_backend, device_memory) + sizeof(void*);
constexpr std::size_t size_of_functions =
    offsetof(fp4proof_device_memory, copy_to_host) + sizeof(fp4proof_device_memory::copy_to_host);

Error failed(std::string_view function) { return {ErrorKind::internal, fmt::format("{}() failed", function)}; }

std::size_t count_changes(Bytes before, Bytes after) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < before.size(); ++i) changes += before[i] != after[i] ? 1U : 0U;
  return changes;
}

}  // namespace

std::string problem_with_device(const fp4proof_backend& table) {
  if ((table.flags & FP4PROOF_TAKES_HOST_MEMORY) != 0) return {};
  if ((table.flags & device_flags) == 0) return "it takes neither host memory nor memory of a device";
  if (table.size < size_with_device || table.device_memory == nullptr) {
    return "it takes memory of a device alone, and its table has no device_memory";
  }
  const fp4proof_device_memory& device = *table.device_memory;
  const bool is_whole = device.size >= size_of_functions && device.allocate != nullptr && device.release != nullptr &&
                        device.copy_to_device != nullptr && device.copy_to_host != nullptr;
  return is_whole ? "" : "its device_memory lacks functions";
}

const fp4proof_device_memory* device_of(const fp4proof_backend& table) {
  return (table.flags & FP4PROOF_TAKES_HOST_MEMORY) != 0 ? nullptr : table.device_memory;
}

fp4proof_device_kind device_kind_of(const fp4proof_backend& table) {
  if ((table.flags & FP4PROOF_TAKES_HOST_MEMORY) != 0) return FP4PROOF_HOST;
  return (table.flags & FP4PROOF_TAKES_CUDA_MEMORY) != 0 ? FP4PROOF_CUDA : FP4PROOF_OTHER_DEVICE;
}

Result<void*> DeviceTensors::add(Bytes content, bool is_input, const std::string& label) {
  std::vector<std::uint8_t> bytes(content.size() + 2 * margin_bytes, verify::poison_byte);
  std::ranges::copy(content, bytes.begin() + margin_bytes);
  std::unique_ptr<void, Release> memory(device_.allocate(bytes.size()), Release{&device_});
  if (memory == nullptr) return failed("allocate");
  if (device_.copy_to_device(memory.get(), bytes.data(), bytes.size()) != FP4PROOF_OK) return failed("copy_to_device");
  void* address = static_cast<std::uint8_t*>(memory.get()) + margin_bytes;
  tensors_.push_back({std::move(memory), std::move(bytes), is_input, label});
  return address;
}

Result<std::string> DeviceTensors::collect(const std::vector<void*>& outputs) {
  std::string misuse;
  std::size_t next = 0;
  for (const Tensor& tensor : tensors_) {
    std::vector<std::uint8_t> after(tensor.before.size());
    if (device_.copy_to_host(after.data(), tensor.memory.get(), after.size()) != FP4PROOF_OK) {
      return failed("copy_to_host");
    }
    const std::size_t size = after.size() - 2 * margin_bytes;
    const auto changes = [&](std::size_t offset, std::size_t count) {
      return count_changes(Bytes(tensor.before).subspan(offset, count), Bytes(after).subspan(offset, count));
    };
    const std::size_t in_front = changes(0, margin_bytes);
    const std::size_t behind = changes(margin_bytes + size, margin_bytes);
    const std::size_t inside = tensor.is_input ? changes(margin_bytes, size) : 0;
    if (in_front != 0) misuse = fmt::format("outside of {}: {} bytes in front of its start", tensor.label, in_front);
    if (behind != 0) misuse = fmt::format("outside of {}: {} bytes behind its end", tensor.label, behind);
    if (inside != 0) misuse = fmt::format("to {}: {} bytes of it", tensor.label, inside);
    if (!tensor.is_input && size != 0) std::memcpy(outputs[next], after.data() + margin_bytes, size);
    next += tensor.is_input ? 0U : 1U;
  }
  return misuse;
}

}  // namespace fp4proof::runners
