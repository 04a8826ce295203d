#pragma once
// Dense row-major tensors of real numbers, as the caller holds them.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "formats/float_bits.h"

namespace fp4proof::portable {

enum class DType : std::uint8_t { f32, f16, bf16 };

constexpr int bytes_of(DType dtype) { return dtype == DType::f32 ? 4 : 2; }

/// A view of a contiguous row-major tensor; `data` need not be aligned.
struct TensorView {
  DType dtype = DType::f32;
  std::span<const std::int64_t> shape;
  const std::byte* data = nullptr;
};

/// The product of the dimensions; 1 for a zero-dimensional tensor.
constexpr std::int64_t element_count_of(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

template <DType D>
std::uint32_t load_word(const std::byte* data, std::int64_t index) {
  if constexpr (D == DType::f32) {
    std::uint32_t word;
    std::memcpy(&word, data + 4 * index, sizeof word);
    return word;
  } else {
    std::uint16_t half;
    std::memcpy(&half, data + 2 * index, sizeof half);
    return D == DType::bf16 ? std::uint32_t{half} << 16 : float_bits(fp16_to_float(half));
  }
}

/// Widens `count` elements that stand `stride` apart, starting at `first`, to binary32 words. Exact.
template <DType D>
void load_words(const std::byte* data, std::int64_t first, std::int64_t stride, int count, std::uint32_t* words) {
  if (stride == 1) {
    for (int i = 0; i < count; ++i) words[i] = load_word<D>(data, first + i);
  } else {
    for (int i = 0; i < count; ++i) words[i] = load_word<D>(data, first + i * stride);
  }
}

inline void load_words(const TensorView& tensor, std::int64_t first, std::int64_t stride, int count,
                       std::uint32_t* words) {
  switch (tensor.dtype) {
    case DType::f32: load_words<DType::f32>(tensor.data, first, stride, count, words); break;
    case DType::f16: load_words<DType::f16>(tensor.data, first, stride, count, words); break;
    case DType::bf16: load_words<DType::bf16>(tensor.data, first, stride, count, words); break;
  }
}

}  // namespace fp4proof::portable
