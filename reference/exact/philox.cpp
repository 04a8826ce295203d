#include "reference/exact/philox.h"

namespace fp4proof::exact {
namespace {

struct Product {
  std::uint32_t high;
  std::uint32_t low;
};

Product multiply(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t product = std::uint64_t{a} * b;
  return {static_cast<std::uint32_t>(product >> 32), static_cast<std::uint32_t>(product)};
}

std::array<std::uint32_t, 4> round(const std::array<std::uint32_t, 4>& c, const std::array<std::uint32_t, 2>& key) {
  const Product p0 = multiply(0xD2511F53U, c[0]);
  const Product p1 = multiply(0xCD9E8D57U, c[2]);
  return {p1.high ^ c[1] ^ key[0], p1.low, p0.high ^ c[3] ^ key[1], p0.low};
}

}  // namespace

std::array<std::uint32_t, 4> philox_4x32_10(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int i = 0; i < 10; ++i) {
    counter = round(counter, key);
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return counter;
}

std::uint32_t random_word(std::uint64_t seed, std::uint32_t stream, std::uint32_t step, std::uint64_t element) {
  const std::uint64_t block = element / 4;
  const std::array<std::uint32_t, 4> words =
      philox_4x32_10({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), step, stream},
                     {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return words[element % 4];
}

}  // namespace fp4proof::exact
