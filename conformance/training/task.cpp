#include "conformance/training/task.h"

#include <algorithm>
#include <optional>

namespace fp4proof::training {

namespace {

constexpr std::array<std::int32_t, 3> operator_tokens = {token::plus, token::minus, token::times};

/// A whole number below `limit` from one random word.
std::int32_t below(std::uint32_t word, std::int32_t limit) {
  return static_cast<std::int32_t>(word % static_cast<std::uint32_t>(limit));
}

/// The digits of `number`, most significant first.
void append_digits(std::vector<std::int32_t>& tokens, std::int32_t number, int digits) {
  std::vector<std::int32_t> reversed;
  for (int i = 0; i < digits; ++i, number /= 10) reversed.push_back(number % 10);
  tokens.insert(tokens.end(), reversed.rbegin(), reversed.rend());
}

std::int32_t number_of(std::span<const std::int32_t> digits) {
  std::int32_t number = 0;
  for (const std::int32_t digit : digits) number = 10 * number + digit;
  return number;
}

std::optional<std::int32_t> apply(std::int32_t a, std::int32_t operation, std::int32_t b) {
  switch (operation) {
    case token::plus: return a + b;
    case token::minus: return a - b;
    case token::times: return a * b;
    default: return std::nullopt;
  }
}

bool verify_addition(int digits, std::span<const std::int32_t> prompt, std::span<const std::int32_t> answer) {
  const auto width = static_cast<std::size_t>(digits);
  std::int32_t sum = number_of(prompt.subspan(0, width)) + number_of(prompt.subspan(width + 1, width));
  for (std::size_t i = 0; i < width + 1; ++i, sum /= 10)
    if (answer[i] != sum % 10) return false;
  return answer[width + 1] == token::end;
}

bool verify_operators(std::span<const std::int32_t> prompt, std::span<const std::int32_t> answer) {
  const std::int32_t sign = prompt[3] == token::minus ? -1 : 1;
  const auto inner = apply(prompt[0], answer[0], prompt[1]);
  if (!inner) return false;
  const auto outer = apply(*inner, answer[1], prompt[2]);
  return outer && *outer == sign * number_of(prompt.subspan(4, 3)) && answer[2] == token::end;
}

}  // namespace

Problem addition(int digits, std::int32_t a, std::int32_t b) {
  Problem problem;
  append_digits(problem.prompt, a, digits);
  problem.prompt.push_back(token::plus);
  append_digits(problem.prompt, b, digits);
  problem.prompt.push_back(token::equals);
  std::int32_t sum = a + b;
  for (int i = 0; i <= digits; ++i, sum /= 10) problem.answer.push_back(sum % 10);
  problem.answer.push_back(token::end);
  return problem;
}

Problem operators(std::array<std::int32_t, 3> numbers, std::int32_t first, std::int32_t second) {
  const std::int32_t target = *apply(*apply(numbers[0], first, numbers[1]), second, numbers[2]);
  Problem problem;
  problem.prompt.assign(numbers.begin(), numbers.end());
  problem.prompt.push_back(target < 0 ? token::minus : token::plus);
  append_digits(problem.prompt, target < 0 ? -target : target, 3);
  problem.prompt.push_back(token::equals);
  problem.answer = {first, second, token::end};
  return problem;
}

Problem draw_problem(Task task, std::uint64_t seed, Stream stream, std::uint32_t step, std::uint64_t index) {
  constexpr std::uint64_t words_a_problem = 8;
  const auto word = [&](std::uint64_t i) { return random_word(seed, stream, step, words_a_problem * index + i); };
  switch (task) {
    case Task::add2: return addition(2, below(word(0), 100), below(word(1), 100));
    case Task::add3: return addition(3, below(word(0), 1000), below(word(1), 1000));
    case Task::ops3: break;
  }
  const auto drawn = [&](std::uint64_t i) { return operator_tokens[static_cast<std::size_t>(below(word(i), 3))]; };
  return operators({below(word(0), 10), below(word(1), 10), below(word(2), 10)}, drawn(3), drawn(4));
}

void add_label_noise(Task task, float noise, std::uint64_t seed, std::uint32_t step, std::uint64_t index,
                     std::vector<std::int32_t>& answer) {
  constexpr std::uint64_t words_an_answer = 16;
  for (std::size_t i = 0; i + 1 < answer.size(); ++i) {
    const std::uint64_t first = words_an_answer * index + 2 * i;
    if (!(random_uniform(seed, Stream::sft_noise, step, first) < noise)) continue;
    const std::uint32_t word = random_word(seed, Stream::sft_noise, step, first + 1);
    answer[i] = task == Task::ops3 ? operator_tokens[static_cast<std::size_t>(below(word, 3))] : below(word, 10);
  }
}

bool verify(Task task, std::span<const std::int32_t> prompt, std::span<const std::int32_t> answer) {
  switch (task) {
    case Task::add2: return verify_addition(2, prompt, answer);
    case Task::add3: return verify_addition(3, prompt, answer);
    case Task::ops3: return verify_operators(prompt, answer);
  }
  return false;
}

std::int64_t answered_length(std::span<const std::int32_t> answer) {
  const auto end = std::find(answer.begin(), answer.end(), token::end);
  return end == answer.end() ? static_cast<std::int64_t>(answer.size()) : end - answer.begin() + 1;
}

}  // namespace fp4proof::training
