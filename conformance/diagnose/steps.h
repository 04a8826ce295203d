#pragma once
// Steps of a model on what a kernel reads and on what it writes. Each is a Step::run; the parameter's meaning stands
// with it.

#include "conformance/diagnose/kernel_model.h"

namespace fp4proof::diagnose {

// ---------------------------------------------------------------------------------------------------------------------
// Inputs
// ---------------------------------------------------------------------------------------------------------------------

enum class WordChange : std::uint8_t {
  flushed,           ///< subnormal words are zeros of their sign
  binary16,          ///< rounded to binary16
  bf16_truncated,    ///< the low 16 bits cleared
  infinity_largest,  ///< infinity is the largest finite number
  nan_infinity,      ///< NaN is infinity of its sign
};

/// Changes every word of `input`; the parameter is a WordChange.
void change_words(Working& working, int parameter);

/// Reads `input` column after column; parameter 1: only where blocks run along the rows.
void transpose_input(Working& working, int parameter);

/// Exchanges tensors a_... and b_... of equal size whose names end in codes (parameter 0: all tensors), or in scales
/// (1).
void exchange_operands(Working& working, int parameter);

// ---------------------------------------------------------------------------------------------------------------------
// Outputs
// ---------------------------------------------------------------------------------------------------------------------

enum class ValueChange : std::uint8_t {
  bf16,              ///< rounded to bfloat16
  binary16,          ///< rounded to binary16
  flushed,           ///< subnormal values are zeros of their sign
  zero_unsigned,     ///< -0 becomes +0
  nan_zero,          ///< NaN becomes +0
  nan_infinity,      ///< NaN becomes +infinity
  overflow_clamped,  ///< infinity becomes the largest finite number
};

/// Changes every binary32 value of `values` or `c`; the parameter is a ValueChange.
void change_values(Working& working, int parameter);

/// Writes `values` or `c` column after column.
void transpose_values(Working& working, int parameter);

enum class CodeChange : std::uint8_t {
  next,           ///< code + 1, the bits wrap around
  previous,       ///< code - 1, the bits wrap around
  larger,         ///< magnitude + 1, not beyond the largest
  smaller,        ///< magnitude - 1, not below 0
  zero_unsigned,  ///< the code of -0 becomes 0
  zero,           ///< magnitude 0, the sign kept
  unsigned_all,   ///< every sign cleared
};

/// Changes every element code that is written; the parameter is a CodeChange.
void change_codes(Working& working, int parameter);

/// The same, but for the codes under a NaN scale. For plain quantize.
void change_codes_of_numbers(Working& working, int parameter);

/// Adds the parameter to the first byte of every scale that is written, modulo 256, whatever it means.
void add_to_scales(Working& working, int parameter);

/// The answers of the case before, where there is one.
void repeat_previous(Working& working, int parameter);

/// All outputs zero.
void write_zeros(Working& working, int parameter);

enum class Unwritten : std::uint8_t {
  cases,      ///< nothing at all of some cases
  tensors,    ///< whole tensors of some cases
  rows,       ///< the last rows of a tensor
  tail,       ///< the last bytes of a tensor
  scattered,  ///< any bytes
};

/// Leaves poison where the answers given have it in that arrangement; the parameter is an Unwritten. Fitted to the
/// evidence: the place is taken from it.
void leave_unwritten(Working& working, int parameter);

/// Adds the parameter to every macro factor byte that is written, modulo 256.
void add_to_macro(Working& working, int parameter);

enum class TermChange : std::uint8_t {
  negated,         ///< x - Q in place of Q - x
  binary32,        ///< rounded to binary32
  without_factor,  ///< the terms themselves, not F times them
};

/// Decompose: changes every term; the parameter is a TermChange.
void change_terms(Working& working, int parameter);

/// Decompose: sums of each row made again from its terms, one element after the other.
void add_terms_in_order(Working& working, int parameter);

}  // namespace fp4proof::diagnose
