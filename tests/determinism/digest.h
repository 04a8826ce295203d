#pragma once
// What the digests are made of.

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "reference/portable/environment.h"

namespace fp4proof::determinism {

inline constexpr std::uint64_t seed = 20240229;
inline constexpr std::int64_t rows = 128;
inline constexpr std::int64_t columns = 384;
inline constexpr std::int64_t depth = 1152;  // of the products; more than two chunks of 512

inline constexpr std::int64_t words_per_function = 1 << 18;

/// FNV-1a over bytes.
class Digest {
 public:
  template <class T>
  Digest& add(std::span<const T> values) {
    for (const std::byte byte : std::as_bytes(values)) state_ = (state_ ^ std::to_integer<std::uint64_t>(byte)) * prime;
    return *this;
  }
  template <class T>
  Digest& add(T value) {
    return add(std::span<const T>(&value, 1));
  }
  void print(const std::string& what) const {
    std::printf("%-56s %016llx\n", what.c_str(), static_cast<unsigned long long>(state_));
  }

 private:
  static constexpr std::uint64_t prime = 0x100000001B3U;
  std::uint64_t state_ = 0xCBF29CE484222325U;
};

/// Words of all kinds, [rows, columns] bfloat16: NaN, infinities and subnormals included.
std::vector<std::uint16_t> tensor_of_bits();

/// Normal numbers, [rows, columns] binary32, row r scaled by 2^(2 (r - 64)).
std::vector<float> tensor_of_normals();

/// A matrix [count, depth] of normal numbers whose magnitude changes along the rows by factors of 2^-8 to 2^8.
std::vector<float> operand(std::uint32_t step, std::int64_t count);

/// Every stack on several profiles, products of corrected matrices, decompositions, noise.
void print_corrections();

/// Prints every part, where the floating-point environment is sound. The exit code of the program.
inline int print_parts(std::initializer_list<void (*)()> parts) {
  if (const Result<void> checked = portable::check_environment(); !checked) {
    std::fprintf(stderr, "%s\n", checked.error().message.c_str());
    return 70;
  }
  for (const auto print : parts) print();
  return 0;
}

}  // namespace fp4proof::determinism
