#pragma once
// Views of raw bytes. Tensor files are little-endian, and so must the host be: nothing here swaps bytes.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fp4proof {

static_assert(std::endian::native == std::endian::little, "fp4proof reads and writes little-endian files in place");

/// A read-only view of bytes. It owns nothing; whoever made it keeps the memory alive.
using Bytes = std::span<const std::uint8_t>;

/// The object bytes of a contiguous range (vector, span, string) of trivially copyable elements.
/// C arrays are refused because a string literal would bring its terminating zero along; wrap them in std::span.
template <std::ranges::contiguous_range Range>
requires(std::is_trivially_copyable_v<std::ranges::range_value_t<Range>> &&
         !std::is_array_v<std::remove_cvref_t<Range>>) Bytes bytes_of(const Range& range) {
  return {reinterpret_cast<const std::uint8_t*>(std::ranges::data(range)),
          std::ranges::size(range) * sizeof(std::ranges::range_value_t<Range>)};
}

/// The same bytes seen as text; no check of the encoding.
inline std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Copies bytes into aligned elements; the tail that does not fill an element is dropped.
template <class Element>
std::vector<Element> copy_elements(Bytes bytes) {
  static_assert(std::is_trivially_copyable_v<Element>);
  std::vector<Element> elements(bytes.size() / sizeof(Element));
  std::copy_n(bytes.begin(), elements.size() * sizeof(Element), reinterpret_cast<std::uint8_t*>(elements.data()));
  return elements;
}

}  // namespace fp4proof
