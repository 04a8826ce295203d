#pragma once
// The accumulators of the block GEMM: in which order and precision block products become one number.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/spec.h"

namespace fp4proof::portable {

/// docs/rules-gemm.md states each in full.
enum class Accumulator : std::uint8_t {
  seq512,                 ///< normative: binary32, block after block, a new sum every 512 elements of K
  seq,                    ///< the same with one chunk
  exact,                  ///< the exact sum, rounded once
  tc_hopper_fp16,         ///< block dots by a model of Hopper's fp16 instructions, then as seq512
  tc_hopper_fp8,          ///< block dots by a model of Hopper's fp8 instructions, then as seq512
  tc_blackwell_mxf8f6f4,  ///< a model of Blackwell's block-scaled instructions for MX elements of 4 to 8 bits
  tc_blackwell_mxf4,      ///< a model of Blackwell's block-scaled instructions for E2M1
};

/// Elements of K in one chunk of seq512.
inline constexpr std::int64_t chunk_elements = 512;

inline constexpr auto accumulators = std::to_array<Accumulator>(
    {Accumulator::seq512, Accumulator::seq, Accumulator::exact, Accumulator::tc_hopper_fp16, Accumulator::tc_hopper_fp8,
     Accumulator::tc_blackwell_mxf8f6f4, Accumulator::tc_blackwell_mxf4});

}  // namespace fp4proof::portable

/// Gives fp4proof::name_of(Accumulator), for example "tc:hopper-fp16".
template <>
struct fp4proof::EnumNames<fp4proof::portable::Accumulator> {
  static constexpr auto names = std::to_array<std::string_view>(
      {"seq512", "seq", "exact", "tc:hopper-fp16", "tc:hopper-fp8", "tc:blackwell-mxf8f6f4", "tc:blackwell-mxf4"});
};

namespace fp4proof::portable {

/// The accumulator of that exact name, or nothing.
constexpr std::optional<Accumulator> find_accumulator(std::string_view name) {
  for (const Accumulator accumulator : accumulators) {
    if (name_of(accumulator) == name) return accumulator;
  }
  return std::nullopt;
}

}  // namespace fp4proof::portable
