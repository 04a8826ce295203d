#pragma once
// Whether an answer is the right one in another order.

#include <optional>
#include <string_view>

#include "conformance/verify/quantized_view.h"

namespace fp4proof::verify {

/// The reordering (swapped-nibbles, split-nibbles, transposed, scale-order, micro-order, byte-order) under which
/// `actual` equals `expected` in every code and scale; none where there is none.
std::optional<std::string_view> packing_kind(const QuantizedView& expected, const QuantizedView& actual);

}  // namespace fp4proof::verify
