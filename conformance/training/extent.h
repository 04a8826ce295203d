#pragma once
// Shapes are signed, sizes of containers are not.

#include <cstddef>
#include <cstdint>

namespace fp4proof::training {

/// A count of rows, columns or elements, which is never negative, as a size.
constexpr std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

}  // namespace fp4proof::training
