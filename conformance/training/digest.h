#pragma once
// Digests of tensors (rule T50), and chains of them.

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "formats/mix64.h"

namespace fp4proof::training {

/// T50 of elements in the memory of the host, each of 32 bits.
template <class T>
std::uint64_t digest_of(std::span<const T> elements) {
  static_assert(sizeof(T) == 4);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::uint32_t word;
    std::memcpy(&word, &elements[i], sizeof word);
    sum += mix64((static_cast<std::uint64_t>(i) << 32) + word);
  }
  return sum;
}

/// What one more number makes of a chain: mix64(chain + 0x9E3779B97F4A7C15 + number).
constexpr std::uint64_t chained(std::uint64_t chain, std::uint64_t number) {
  return mix64(chain + 0x9E3779B97F4A7C15U + number);
}

/// What a tensor makes of a chain: the bytes of its name one by one, their count, its number of elements, its digest.
constexpr std::uint64_t chained(std::uint64_t chain, std::string_view name, std::uint64_t elements,
                                std::uint64_t digest) {
  for (const char c : name) chain = chained(chain, static_cast<unsigned char>(c));
  return chained(chained(chained(chain, name.size()), elements), digest);
}

}  // namespace fp4proof::training
