#pragma once
// What a case asks for.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fp4proof::suite {

enum class Operation : std::uint8_t {
  quantize,      ///< binary32 words to codes and scales
  dequantize,    ///< codes and scales to binary32 words
  gemm,          ///< two quantized matrices to a binary32 matrix
  correct,       ///< binary32 words to the coded parts of a corrected tensor, and what they stand for
  correct_gemm,  ///< two corrected matrices to a binary32 matrix
  decompose,     ///< binary32 words to the terms of their quantization error
};

inline constexpr std::array<std::string_view, 6> operation_names = {"quantize", "dequantize",   "gemm",
                                                                    "correct",  "correct-gemm", "decompose"};
inline constexpr std::array<Operation, 6> operations = {Operation::quantize,     Operation::dequantize,
                                                        Operation::gemm,         Operation::correct,
                                                        Operation::correct_gemm, Operation::decompose};

/// Whether the operation multiplies matrices.
constexpr bool is_product(Operation operation) {
  return operation == Operation::gemm || operation == Operation::correct_gemm;
}

/// Whether the operation reads binary32 words.
constexpr bool reads_words(Operation operation) {
  return operation == Operation::quantize || operation == Operation::correct || operation == Operation::decompose;
}

/// Whether the whole rule of a profile shows in the answer, and not the meaning of its codes alone.
constexpr bool needs_whole_rule(Operation operation) {
  return operation != Operation::dequantize && operation != Operation::gemm;
}

constexpr std::string_view name_of(Operation operation) { return operation_names[static_cast<std::size_t>(operation)]; }

/// The operation of that name; none when there is none.
constexpr std::optional<Operation> operation_named(std::string_view name) {
  for (const Operation operation : operations)
    if (name_of(operation) == name) return operation;
  return std::nullopt;
}

}  // namespace fp4proof::suite
