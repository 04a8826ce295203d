#pragma once
// Memory of a training backend, owned.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "conformance/training_backend.h"

namespace fp4proof::training {

/// `size` elements of type T in the memory of a backend, zero at first. Moves, does not copy. An allocation that fails
/// leaves it empty; Operators reports that (Operators::make()).
template <class T>
class Memory {
 public:
  Memory() = default;
  Memory(const fp4proof_training& backend, std::size_t size)
      : backend_(&backend),
        data_(size == 0 ? nullptr : static_cast<T*>(backend.allocate(size * sizeof(T)))),
        size_(size) {}
  ~Memory() {
    if (data_ != nullptr) backend_->release(data_);
  }
  Memory(Memory&& other) noexcept
      : backend_(other.backend_), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Address in the memory of the backend; null where the size is 0 or the allocation failed.
  T* get() const { return data_; }
  std::size_t size() const { return size_; }
  bool failed() const { return size_ != 0 && data_ == nullptr; }

 private:
  const fp4proof_training* backend_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

using Floats = Memory<float>;
using Bytes8 = Memory<std::uint8_t>;
using Words16 = Memory<std::uint16_t>;
using Integers = Memory<std::int32_t>;

}  // namespace fp4proof::training
