#pragma once
// Device memory of the evidence, inputs and digests in it.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "gpu/correct.h"
#include "gpu/status.h"
#include "tests/gpu/evidence_entries.h"

namespace fp4proof::evidence {

/// Ends the program where CUDA or a launch function reports a fault.
inline void sound(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(70);
}
inline void sound(gpu::Status status, const std::string& what) {
  if (status == gpu::Status::ok) return;
  std::fprintf(stderr, "%s: %s\n", what.c_str(), gpu::status_text(status));
  std::exit(70);
}

/// Memory that holds 0xA5 at first, so that bytes that nobody writes show.
class DeviceBytes {
 public:
  /// Whether it does: a tool that looks for reads of what was not written must see none of that.
  inline static bool poisons = true;

  explicit DeviceBytes(std::int64_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    sound(cudaMalloc(&data_, static_cast<std::size_t>(bytes)), "cudaMalloc");
    if (!poisons) return;
    constexpr int poison = 0xA5;
    sound(cudaMemset(data_, poison, static_cast<std::size_t>(bytes)), "cudaMemset");
  }
  ~DeviceBytes() { cudaFree(data_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  DeviceBytes(DeviceBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

  template <class T = std::uint8_t>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::int64_t size() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// The sum of the terms of bytes at `position` and behind.
std::uint64_t digest_on_device(Output output, std::int64_t position, const void* data, std::int64_t bytes);
std::uint64_t digest_on_device(Output output, const DeviceBytes& bytes);

/// The terms of a tile of numbers of a matrix whose rows have `columns`.
std::uint64_t digest_of_tile_on_device(const float* c, std::int64_t columns, std::int64_t row, std::int64_t column);

DeviceBytes input_on_device(const Input& input);

/// Codes, scales and tensor scales of a coded part in device memory.
struct DevicePart {
  gpu::CodedShape shape;
  DeviceBytes codes;
  DeviceBytes scales;
  DeviceBytes tensor_scales;
  DeviceBytes macro;

  DevicePart(const Profile& profile, const gpu::CodedShape& coded, const MacroSpec& spec);
  gpu::CodedPart part() const;
  /// Output::codes is the first output that is counted where `first` is 0.
  std::uint64_t digest(int first) const;
};

/// Codes and scales made of their places, as the reference has them.
DevicePart made_on_device(const Profile& profile, ScaleSpread spread, std::int64_t batch, std::int64_t lines,
                          std::int64_t length, std::uint64_t seed);

inline gpu::RandomSource random_of(const Input& input) { return {input.seed, random_stream, random_step, nullptr}; }

}  // namespace fp4proof::evidence
