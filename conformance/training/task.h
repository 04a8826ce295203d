#pragma once
// Problems with exact answers, as tokens.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "conformance/training/config.h"
#include "formats/philox.h"

namespace fp4proof::training {

/// Tokens 0 to 9 are digits.
namespace token {
inline constexpr std::int32_t plus = 10;
inline constexpr std::int32_t equals = 11;
inline constexpr std::int32_t end = 12;
inline constexpr std::int32_t pad = 13;
inline constexpr std::int32_t minus = 14;
inline constexpr std::int32_t times = 15;
}  // namespace token

/// How many tokens a prompt has, and an answer with its end.
struct TaskLengths {
  std::int64_t prompt = 0;
  std::int64_t answer = 0;
  constexpr std::int64_t sequence() const { return prompt + answer; }
};

constexpr TaskLengths lengths_of(Task task) {
  switch (task) {
    case Task::add2: return {6, 4};
    case Task::add3: return {8, 5};
    case Task::ops3: return {8, 3};
  }
  return {};
}

/// A prompt, and one right answer.
struct Problem {
  std::vector<std::int32_t> prompt;
  std::vector<std::int32_t> answer;
};

/// ADD: the problem a + b. OPS3: the problem (a first b) second c.
Problem addition(int digits, std::int32_t a, std::int32_t b);
Problem operators(std::array<std::int32_t, 3> numbers, std::int32_t first, std::int32_t second);

/// Problem `index` of a step, drawn from `stream`.
Problem draw_problem(Task task, std::uint64_t seed, Stream stream, std::uint32_t step, std::uint64_t index);

/// Replaces symbols of the answer (not its end) with random ones, each with probability `noise`.
void add_label_noise(Task task, float noise, std::uint64_t seed, std::uint32_t step, std::uint64_t index,
                     std::vector<std::int32_t>& answer);

/// Whether `answer` (as many tokens as an answer has) is right, up to its end. Reads nothing but the prompt.
bool verify(Task task, std::span<const std::int32_t> prompt, std::span<const std::int32_t> answer);

/// How many tokens of `answer` count: up to the first end, that included.
std::int64_t answered_length(std::span<const std::int32_t> answer);

}  // namespace fp4proof::training
