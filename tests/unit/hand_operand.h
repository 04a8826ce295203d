#pragma once
// Quantized matrices written down block by block.

#include <cstdint>
#include <vector>

#include "formats/spec_profiles.h"
#include "reference/portable/gemm.h"

namespace fp4proof::portable::hand {

using Codes = std::vector<std::uint8_t>;
inline const Profile& named(const char* name) { return *find_profile(name); }

/// One block of a row: its scale word and the codes at its front; the others are zero.
struct Block {
  std::uint32_t scale;
  Codes front;
};
using Row = std::vector<Block>;

struct Operand {
  const Profile& profile;
  Quantized quantized;
};

/// Packs rows of blocks; `columns` cuts the last block short and leaves its codes in the padding.
inline Operand operand(const char* name, const std::vector<Row>& rows, std::int64_t columns = -1) {
  const Profile& profile = named(name);
  const auto full = static_cast<std::int64_t>(rows.at(0).size()) * profile.block.cols;
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(rows.size()), columns < 0 ? full : columns};
  Operand result = {profile, {*geometry_of_quantized(profile, shape, 1), {}, {}, 1.0F}};
  for (const Row& row : rows) {
    for (const Block& block : row) {
      Codes codes = block.front;
      codes.resize(profile.block.cols, 0);
      if (element_spec(profile.element).is_nibble()) {
        for (std::size_t i = 0; i < codes.size(); i += 2)
          result.quantized.codes.push_back(static_cast<std::uint8_t>(codes[i] | (codes[i + 1] << 4)));
      } else {
        result.quantized.codes.insert(result.quantized.codes.end(), codes.begin(), codes.end());
      }
      for (int k = 0; k < scale_bytes(profile.family); ++k)
        result.quantized.scales.push_back(static_cast<std::uint8_t>(block.scale >> (8 * k)));
    }
  }
  return result;
}

inline Result<std::vector<float>> multiply(const Operand& a, const Operand& b, Accumulator accumulator) {
  return gemm(a.profile, a.quantized, b.profile, b.quantized, accumulator);
}

/// The word of the one element of C.
inline std::uint32_t single(const Operand& a, const Operand& b, Accumulator accumulator = Accumulator::seq512) {
  return float_bits(multiply(a, b, accumulator)->at(0));
}
inline std::uint32_t single(const char* name, const Row& a, const Row& b,
                            Accumulator accumulator = Accumulator::seq512) {
  return single(operand(name, {a}), operand(name, {b}), accumulator);
}

inline std::uint32_t word(float value) { return float_bits(value); }
inline constexpr std::uint32_t plus_inf = 0x7F800000U;
inline constexpr std::uint32_t minus_inf = 0xFF800000U;

// E2M1 codes: 1 = 0.5, 2 = 1, 3 = 1.5, 4 = 2, 5 = 3, 6 = 4, 7 = 6; 8 is the sign. E8M0 code 127 is 1.
inline constexpr std::uint32_t one = 127;
inline Block mxfp4(std::uint32_t scale, std::uint8_t code) { return {scale, {code}}; }
inline const Block mxfp4_zero = {one, {}};

}  // namespace fp4proof::portable::hand
