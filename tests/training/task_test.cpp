// Problems and their verifiers, against enumeration.

#include "conformance/training/task.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace fp4proof::training {
namespace {

/// The answer tokens that hold the decimal digits of `sum`, least significant first, made from its text.
std::vector<std::int32_t> answer_by_text(int sum, std::size_t digits) {
  std::string text = std::to_string(sum);
  text.insert(0, digits + 1 - text.size(), '0');
  std::vector<std::int32_t> answer;
  for (auto c = text.rbegin(); c != text.rend(); ++c) answer.push_back(*c - '0');
  answer.push_back(token::end);
  return answer;
}

TEST(Task, AddsEveryPairOfTwoDigits) {
  for (int a = 0; a < 100; ++a) {
    for (int b = 0; b < 100; ++b) {
      const Problem problem = addition(2, a, b);
      ASSERT_EQ(problem.prompt,
                (std::vector<std::int32_t>{a / 10, a % 10, token::plus, b / 10, b % 10, token::equals}));
      ASSERT_EQ(problem.answer, answer_by_text(a + b, 2));
    }
  }
}

TEST(Task, AcceptsOneAnswerOfAllWithTwoDigits) {
  for (const auto& [a, b] : {std::pair{0, 0}, {99, 99}, {7, 95}, {48, 51}}) {
    const Problem problem = addition(2, a, b);
    int accepted = 0;
    std::vector<std::int32_t> answer(4);
    for (int code = 0; code < 16 * 16 * 16 * 16; ++code) {
      for (int i = 0; i < 4; ++i) answer[static_cast<std::size_t>(i)] = (code >> (4 * i)) & 15;
      if (!verify(Task::add2, problem.prompt, answer)) continue;
      ++accepted;
      EXPECT_EQ(answer, answer_by_text(a + b, 2));
    }
    EXPECT_EQ(accepted, 1);
  }
}

TEST(Task, AddsThreeDigits) {
  for (int a = 0; a < 1000; a += 7) {
    for (int b = 3; b < 1000; b += 11) {
      const Problem problem = addition(3, a, b);
      ASSERT_EQ(problem.answer, answer_by_text(a + b, 3));
      ASSERT_TRUE(verify(Task::add3, problem.prompt, problem.answer));
      ASSERT_EQ(problem.prompt.size(), std::size_t(lengths_of(Task::add3).prompt));
      ASSERT_EQ(problem.answer.size(), std::size_t(lengths_of(Task::add3).answer));
    }
  }
}

/// a first b second c in words, for a check that shares nothing with the verifier.
int by_lambda(int a, char first, int b, char second, int c) {
  const auto once = [](int x, char op, int y) { return op == '+' ? x + y : op == '-' ? x - y : x * y; };
  return once(once(a, first, b), second, c);
}

TEST(Task, AcceptsExactlyTheOperatorsThatReachTheTarget) {
  const std::array<std::pair<std::int32_t, char>, 3> symbols = {
      {{token::plus, '+'}, {token::minus, '-'}, {token::times, '*'}}};
  std::size_t several = 0;
  for (int abc = 0; abc < 1000; ++abc) {
    const std::array<std::int32_t, 3> numbers = {abc / 100, abc / 10 % 10, abc % 10};
    for (const auto& [first, first_symbol] : symbols) {
      for (const auto& [second, second_symbol] : symbols) {
        const Problem problem = operators(numbers, first, second);
        const int target = by_lambda(numbers[0], first_symbol, numbers[1], second_symbol, numbers[2]);
        int accepted = 0;
        for (std::int32_t x = 0; x < 20; ++x) {
          for (std::int32_t y = 0; y < 20; ++y) {
            bool right = false;
            for (const auto& [p, p_symbol] : symbols) {
              for (const auto& [q, q_symbol] : symbols) {
                right |=
                    p == x && q == y && by_lambda(numbers[0], p_symbol, numbers[1], q_symbol, numbers[2]) == target;
              }
            }
            ASSERT_EQ(verify(Task::ops3, problem.prompt, std::vector{x, y, token::end}), right);
            ASSERT_FALSE(verify(Task::ops3, problem.prompt, std::vector{x, y, token::pad}));
            accepted += right;
          }
        }
        ASSERT_GE(accepted, 1);
        several += accepted > 1;
      }
    }
  }
  EXPECT_GT(several, 0U);
}

TEST(Task, LengthEndsWithTheFirstEnd) {
  using V = std::vector<std::int32_t>;
  EXPECT_EQ(answered_length(V{1, 2, 3, token::end}), 4);
  EXPECT_EQ(answered_length(V{1, token::end, 3, token::end}), 2);
  EXPECT_EQ(answered_length(V{1, 2, 3, 4}), 4);
  EXPECT_EQ(answered_length(V{token::end, 2, 3, 4}), 1);
}

TEST(Task, DrawsManyProblemsAndRepeatsThem) {
  for (const Task task : {Task::add2, Task::add3, Task::ops3}) {
    std::set<std::vector<std::int32_t>> seen;
    for (std::uint64_t i = 0; i < 500; ++i) {
      const Problem problem = draw_problem(task, 7, Stream::rl_prompt, 3, i);
      EXPECT_EQ(problem.prompt, draw_problem(task, 7, Stream::rl_prompt, 3, i).prompt);
      EXPECT_TRUE(verify(task, problem.prompt, problem.answer));
      seen.insert(problem.prompt);
    }
    EXPECT_GT(seen.size(), 400U);
  }
}

TEST(Task, NoiseReplacesAShareOfTheSymbolsAndNeverTheEnd) {
  int changed = 0;
  int digits = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const Problem problem = draw_problem(Task::add2, 1, Stream::sft_prompt, 1, i);
    std::vector<std::int32_t> noisy = problem.answer;
    add_label_noise(Task::add2, 0.3F, 1, 1, i, noisy);
    ASSERT_EQ(noisy.back(), token::end);
    for (std::size_t d = 0; d < 3; ++d, ++digits) {
      changed += noisy[d] != problem.answer[d];
      ASSERT_TRUE(noisy[d] >= 0 && noisy[d] < 10);
    }
  }
  // A replaced digit stays the same once in ten times: 0.27, within 5 standard deviations.
  const double expected = 0.27 * digits;
  EXPECT_NEAR(changed, expected, 5 * std::sqrt(digits * 0.27 * 0.73));
}

}  // namespace
}  // namespace fp4proof::training
