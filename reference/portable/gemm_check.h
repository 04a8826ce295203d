#pragma once
// What a product of two quantized matrices refuses, with the reason and what to do instead.

#include <cstdint>
#include <string>
#include <vector>

#include "formats/result.h"
#include "formats/spec.h"
#include "reference/portable/accumulator.h"
#include "reference/portable/quantize.h"

namespace fp4proof::portable {

/// The errors of gemm() in gemm.h but for memory: operands that are no matrices, bytes that do not fit their geometry,
/// operands that do not fit each other, an accumulator that does not take the formats.
Result<void> check_gemm(const Profile& profile_a, const Quantized& a, const Profile& profile_b, const Quantized& b,
                        Accumulator accumulator);

/// A shape as errors show it, for example "[2, 64]".
std::string text_of_shape(const std::vector<std::int64_t>& shape);

}  // namespace fp4proof::portable
