#pragma once
// What a subject must offer.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fp4proof::verdict {

enum class Requirement : std::uint8_t {
  offered,   ///< nothing: what it offers is judged
  standard,  ///< quantize and dequantize, or the one operation that is asked for, wholly
  full,      ///< every operation and group; of products one accumulator
};

inline constexpr std::array<std::string_view, 3> requirement_names = {"offered", "standard", "full"};
constexpr std::string_view name_of(Requirement requirement) {
  return requirement_names[static_cast<std::size_t>(requirement)];
}

/// The requirement of that name; none when there is none.
constexpr std::optional<Requirement> requirement_named(std::string_view name) {
  for (std::size_t i = 0; i < requirement_names.size(); ++i)
    if (requirement_names[i] == name) return static_cast<Requirement>(i);
  return std::nullopt;
}

}  // namespace fp4proof::verdict
