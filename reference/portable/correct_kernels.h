#pragma once
// The vectorised inner loops of correct() on a segment of a row that stays in cache, on binary32 words. They follow the
// rules of docs/rules-corrections.md lane by lane. Counts are multiples of 16. NaNs are not made canonical: what
// follows only asks whether a number is NaN.

#include <cstdint>

#include "formats/spec.h"

namespace fp4proof::portable {

/// Coded blocks of one row: one code a byte, and one scale word a block.
struct CodedRun {
  int blocks = 0;
  const std::uint8_t* codes = nullptr;
  const std::uint32_t* scales = nullptr;
};

/// Blocks of `length` E2M1 elements under E8M0 scales. result[i] := RN(input[i] - v), v being code times scale, rounded
/// once, and NaN under scale code 255; where `input` is null, result[i] := v.
void decode_e2m1_blocks(const CodedRun& run, int length, const std::uint32_t* input, std::uint32_t* result);

/// HiF4 groups of 64 elements S1P1, S1P2 or S1P3, likewise.
void decode_hif4_groups(Element element, const CodedRun& run, const std::uint32_t* input, std::uint32_t* result);

/// words[i] := RN(input[i] - words[i]).
void subtract_from(const std::uint32_t* input, int count, std::uint32_t* words);

/// C22: codes[i] := 0 where the 2:4 mask of the residual drops the element.
void mask_two_of_four(const std::uint32_t* residual, int count, std::uint8_t* codes);

/// words[i] := RN(words[i] * factor) or RN(words[i] / factor).
void multiply_by(float factor, int count, std::uint32_t* words);
void divide_by(float factor, int count, std::uint32_t* words);

/// The largest finite magnitude; 0 if there is none.
std::uint32_t largest_finite(const std::uint32_t* words, int count);

}  // namespace fp4proof::portable
