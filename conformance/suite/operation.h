#pragma once
// What a case asks for.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fp4proof::suite {

enum class Operation : std::uint8_t {
  quantize,    ///< binary32 words to codes and scales
  dequantize,  ///< codes and scales to binary32 words
  gemm,        ///< two quantized matrices to a binary32 matrix
};

inline constexpr std::array<std::string_view, 3> operation_names = {"quantize", "dequantize", "gemm"};
inline constexpr std::array<Operation, 3> operations = {Operation::quantize, Operation::dequantize, Operation::gemm};

constexpr std::string_view name_of(Operation operation) { return operation_names[static_cast<std::size_t>(operation)]; }

/// The operation of that name; none when there is none.
constexpr std::optional<Operation> operation_named(std::string_view name) {
  for (const Operation operation : operations)
    if (name_of(operation) == name) return operation;
  return std::nullopt;
}

}  // namespace fp4proof::suite
