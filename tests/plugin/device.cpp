// A plug-in for a device that no host can touch: its memory is a heap whose addresses have some high bits flipped, so
// that an access with them faults. It stores zeros; the environment variable FP4PROOF_DEVICE names a fault.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "conformance/backend.h"

namespace {

constexpr std::uintptr_t far_away = std::uintptr_t{0x5A} << 56U;

std::string_view fault() {
  const char* value = std::getenv("FP4PROOF_DEVICE");
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// Tables of other versions, whose plug-ins take host memory.
bool is_on_host() { return fault().ends_with("on the host"); }

/// From the device to the host and back: the same flip.
std::uint8_t* across(const void* address) {
  return reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(address) ^ (is_on_host() ? 0 : far_away));
}

void* allocate(std::size_t bytes) { return fault() == "no memory" ? nullptr : across(std::malloc(bytes)); }

void release(void* memory) { std::free(across(memory)); }

fp4proof_status copy_to_device(void* device, const void* host, std::size_t bytes) {
  if (fault() == "no way in") return FP4PROOF_FAILED;
  std::memcpy(across(device), host, bytes);
  return FP4PROOF_OK;
}

fp4proof_status copy_to_host(void* host, const void* device, std::size_t bytes) {
  if (fault() == "no way out") return FP4PROOF_FAILED;
  std::memcpy(host, across(device), bytes);
  return FP4PROOF_OK;
}

std::size_t bytes_of(const fp4proof_tensor& tensor) {
  std::size_t bytes = tensor.dtype == FP4PROOF_U32 ? 4 : 1;
  for (std::int32_t d = 0; d < tensor.rank; ++d) bytes *= static_cast<std::size_t>(tensor.shape[d]);
  return bytes;
}

fp4proof_status supports(const fp4proof_call* call) {
  const bool is_told = call->outputs->device_kind == (is_on_host() ? FP4PROOF_HOST : FP4PROOF_OTHER_DEVICE);
  const bool ours = std::string_view(call->operation) == "dequantize" && std::string_view(call->profile) == "mxfp4/ocp";
  return ours && is_told ? FP4PROOF_OK : FP4PROOF_UNSUPPORTED;
}

/// Products of tables, as a kernel would have them.
void dequantize(const fp4proof_call& call) {
  constexpr std::uint32_t quiet_nan = 0x7FC00000U;
  const std::uint8_t* codes = across(call.inputs->data);
  const std::uint8_t* scales = across(fp4proof_tensor_at(&call, call.inputs, 1)->data);
  std::uint8_t* values = across(call.outputs->data);
  const auto count = static_cast<std::size_t>(call.cases * call.rows * call.columns);
  for (std::size_t i = 0; i < count; ++i) {
    constexpr float magnitudes[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    const unsigned code = i % 2 == 1 ? codes[i / 2] >> 4U : codes[i / 2] & 0xFU;
    const double scale = __builtin_ldexp(1.0, scales[i / 32] - 127);
    const auto value = static_cast<float>(magnitudes[code & 7U] * scale);
    std::uint32_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    word |= (code & 8U) << 28U;
    if (scales[i / 32] == 255) word = quiet_nan;
    std::memcpy(values + 4 * i, &word, sizeof word);
  }
}

fp4proof_status run(const fp4proof_call* call) {
  std::uint8_t* values = across(call->outputs->data);
  if (fault() == "host access") *static_cast<std::uint8_t*>(call->outputs->data) = 0;
  if (fault() == "unwritten") return FP4PROOF_OK;
  dequantize(*call);
  if (fault() == "behind") values[bytes_of(*call->outputs)] = 0;
  if (fault() == "in front") values[-1] = 0;
  if (fault() == "input") *across(call->inputs->data) ^= 1U;
  if (fault() == "input margin") *(across(call->inputs->data) - 1) = 0;
  return FP4PROOF_OK;
}

const fp4proof_device_memory* device_memory() {
  static const fp4proof_device_memory whole = {
      .size = sizeof(fp4proof_device_memory),
      .allocate = allocate,
      .release = release,
      .copy_to_device = copy_to_device,
      .copy_to_host = fault() == "function missing" ? nullptr : copy_to_host,
  };
  return fault() == "no functions" ? nullptr : &whole;
}

/// The sizes of tables of other versions.
std::size_t table_size() {
  if (fault().starts_with("table of before")) return offsetof(fp4proof_backend, device_memory);
  if (fault().starts_with("table without close")) return offsetof(fp4proof_backend, close);
  if (fault().starts_with("table without run")) return offsetof(fp4proof_backend, run);
  return sizeof(fp4proof_backend) + (fault().starts_with("table of later") ? 64 : 0);
}

std::uint64_t flags() {
  if (fault() == "no flags") return 0;
  return is_on_host() ? FP4PROOF_TAKES_HOST_MEMORY : FP4PROOF_TAKES_OTHER_DEVICE_MEMORY;
}

}  // namespace

extern "C" const fp4proof_backend* fp4proof_open_backend(std::uint32_t) {
  static const fp4proof_backend table = {
      .size = table_size(),
      .abi_version = FP4PROOF_ABI_VERSION,
      .reserved = 0,
      .name = "device",
      .version = "1",
      .description = "a device that is none",
      .flags = flags(),
      .supports = supports,
      .run = run,
      .close = nullptr,
      .device_memory = device_memory(),
  };
  return &table;
}
