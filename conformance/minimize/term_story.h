#pragma once
// How a value or a sum of products comes about. Internal to the minimiser.

#include "conformance/minimize/minimal_case.h"

namespace fp4proof::minimize {

/// Of dequantize, gemm and correct-gemm: each code that is not zero with what it stands for.
Result<AnswerStory> term_story(const Topic& topic, const Minimal& minimal);

}  // namespace fp4proof::minimize
