#pragma once
// The numbers of linear layers and of coded tensors, which address random words and Hadamard signs: a range for each
// layer of the model, and one for the head. docs/training.md, "Random numbers".

#include <cstdint>

namespace fp4proof::training {

inline constexpr std::uint32_t numbers_a_layer = 64;
inline constexpr std::uint32_t head_number = 1023;
/// Inputs of experts, behind the tensors of a layer and its experts' hidden ones.
inline constexpr std::uint32_t first_expert_input = 32;

/// What the ranges hold: four linear layers, and three for each expert.
inline constexpr std::int64_t most_experts = (numbers_a_layer - 4) / 3;
inline constexpr std::int64_t most_layers = head_number / numbers_a_layer;

}  // namespace fp4proof::training
