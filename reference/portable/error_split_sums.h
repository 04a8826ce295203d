#pragma once
// The sums of an error split by name, in the order in which documents list them.

#include <array>

#include "reference/portable/decompose.h"

namespace fp4proof::portable {

struct ErrorSplitSum {
  const char* name;
  double ErrorSplit::*member;
};

inline constexpr std::array<ErrorSplitSum, 8> error_split_sums = {{{"value", &ErrorSplit::value},
                                                                   {"quantized_value", &ErrorSplit::quantized_value},
                                                                   {"error", &ErrorSplit::error},
                                                                   {"scale", &ErrorSplit::scale},
                                                                   {"deadzone", &ErrorSplit::deadzone},
                                                                   {"grid", &ErrorSplit::grid},
                                                                   {"scale_grid", &ErrorSplit::scale_grid},
                                                                   {"scale_deadzone", &ErrorSplit::scale_deadzone}}};

}  // namespace fp4proof::portable
