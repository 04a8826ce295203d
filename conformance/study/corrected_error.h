#pragma once
// What a correction leaves of a tensor's error, and what that consists of.

#include <cstdint>

#include "formats/result.h"
#include "formats/spec_corrections.h"
#include "reference/portable/correct.h"
#include "reference/portable/decompose.h"

namespace fp4proof {

struct CorrectedError {
  portable::ErrorSplit split;
  std::int64_t saturated = 0;  ///< the first part's code is the largest and its value nearer to 0 than its input

  void add(const CorrectedError& other);
};

/// The error of `corrected`, made of `tensor` under `profile` with `options`, whose values `values` are those of
/// portable::dequantize(). Errors: those of portable::decompose().
Result<CorrectedError> corrected_error(const Profile& profile, const portable::TensorView& tensor,
                                       const portable::QuantizeOptions& options, const portable::Corrected& corrected,
                                       std::span<const float> values);

}  // namespace fp4proof
