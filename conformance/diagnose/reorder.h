#pragma once
// Codes and scales in another order than the canonical one.

#include "conformance/diagnose/kernel_model.h"

namespace fp4proof::diagnose {

enum class CodeOrder : std::uint8_t {
  swapped,        ///< the two codes of a byte exchanged
  split,          ///< the first half of a block in the low nibbles, the second in the high ones
  transposed,     ///< column after column
  words,          ///< the bytes of each 32-bit word exchanged
  reversed_bits,  ///< the bits of each code in reverse order
  complement,     ///< negative codes as two's complement
};

enum class ScaleOrder : std::uint8_t {
  column_major,
  tiled_128x4,
  patches_16,
  micro_msb,    ///< HiF4: micro-exponent bits MSB first
  big_endian,   ///< HiF4: the bytes of the word exchanged
  level_bytes,  ///< HiF4: level 3 before level 2
  padded_last,  ///< read as rows padded to 256 elements; behind the end the last scale
  padded_zero,  ///< the same; behind the end zeros
};

/// Which operands of a product are meant: 1 is a, 2 is b, 3 both.
constexpr int reorder_parameter(CodeOrder order, int operands = 3) { return static_cast<int>(order) | operands << 8; }
constexpr int reorder_parameter(ScaleOrder order, int operands = 3) { return static_cast<int>(order) | operands << 8; }

/// Steps of KernelModel::packing: the tensors of codes (or scales) that the kernel writes, or else those that it reads,
/// as they are for a kernel that takes them to be in that order.
void reorder_codes(Working& working, int parameter);
void reorder_scales(Working& working, int parameter);

}  // namespace fp4proof::diagnose
