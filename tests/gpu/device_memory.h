#pragma once
// Device memory of tests: filled with 0xA5, with a margin behind it that nobody may write.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace fp4proof::gpu {

inline void require(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

inline bool has_device() {
  int count = 0;
  const bool found = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  if (!found) static_cast<void>(cudaGetLastError());
  return found;
}

template <class Value>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    require(cudaMalloc(&memory_, bytes() + margin));
    require(cudaMemset(memory_, filling, bytes() + margin));
  }
  explicit DeviceArray(std::span<const Value> values) : DeviceArray(values.size()) {
    if (!values.empty()) require(cudaMemcpy(memory_, values.data(), bytes(), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(memory_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  Value* get() const { return static_cast<Value*>(memory_); }
  std::size_t bytes() const { return count_ * sizeof(Value); }

  /// The values, after everything that was launched before.
  std::vector<Value> values() const {
    std::vector<Value> result(count_);
    require(cudaDeviceSynchronize());
    if (count_ > 0) require(cudaMemcpy(result.data(), memory_, bytes(), cudaMemcpyDeviceToHost));
    return result;
  }

  bool margin_is_whole() const {
    std::vector<std::uint8_t> tail(margin);
    require(cudaMemcpy(tail.data(), static_cast<const std::byte*>(memory_) + bytes(), margin, cudaMemcpyDeviceToHost));
    for (const std::uint8_t byte : tail)
      if (byte != filling) return false;
    return true;
  }

 private:
  static constexpr std::size_t margin = 256;
  static constexpr int filling = 0xA5;
  std::size_t count_;
  void* memory_ = nullptr;
};

}  // namespace fp4proof::gpu
