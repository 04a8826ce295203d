// Replays of single elements lead to the bits of the reference, for every way to code an operand; and the finder of
// wrong orders finds those that were made.

#include <gtest/gtest.h>

#include <random>

#include "conformance/divergence/call_trace.h"
#include "conformance/divergence/reference_answer.h"
#include "conformance/divergence/replay.h"
#include "conformance/divergence/sum_orders.h"
#include "conformance/training/coded.h"
#include "conformance/training/row_operators.h"
#include "formats/float_bits.h"
#include "formats/spec_profiles.h"
#include "tests/training/on_reference.h"

namespace fp4proof::training {
namespace {

constexpr std::int64_t lines = 64;
constexpr std::int64_t length = 576;

Floats random_matrix(Operators& operators, std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(generator);
  return operators.upload<float>(values);
}

/// The last call that `make` makes.
template <class Make>
CapturedCall last_call(Operators& operators, std::size_t calls_before, Make make) {
  CallCapture capture(operators, calls_before);
  operators.observe(&capture);
  make();
  operators.observe(nullptr);
  EXPECT_TRUE(operators.check()) << operators.check().error().message;
  auto call = capture.take();
  EXPECT_TRUE(call) << call.error().message;
  EXPECT_TRUE(*call);
  return **std::move(call);
}

/// Every element of an output leads to what the operator wrote.
void expect_replays(const CapturedCall& call, std::string_view name, std::int64_t stride) {
  const auto answer = reference_answer(call);
  ASSERT_TRUE(answer) << answer.error().message;
  const CapturedTensor* const output = answer->find(name);
  ASSERT_NE(output, nullptr);
  EXPECT_EQ(output->after, call.find(name)->after);
  const std::int64_t count = static_cast<std::int64_t>(output->after.size()) / 4;
  for (std::int64_t index = 0; index < count; index += stride) {
    const Replay made = replay({*answer, *output, index, 0});
    ASSERT_TRUE(made.result);
    EXPECT_EQ(*made.result, output->word(output->after, index)) << name << " " << index;
    EXPECT_FALSE(made.rows.empty());
    for (const auto& row : made.rows) EXPECT_EQ(row.size(), made.columns.size());
  }
}

/// A named plan, or a profile for every operand of the rollout.
PlanCodings codings(std::string_view name) {
  if (find_profile(name) == nullptr) return testing::codings_of(name);
  PrecisionPlan plan;
  plan.rollout_activation.profile = name;
  plan.rollout_weight.profile = name;
  plan.allow_batch_masks = true;  // a scale of the whole tensor mixes rows
  return *PlanCodings::of(plan);
}

class Products : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Products, ReplaysGiveTheBitsOfTheReference) {
  Operators operators = testing::reference_operators();
  const PlanCodings plan = codings(GetParam());
  const Floats x = random_matrix(operators, lines * length, 1);
  const Floats w = random_matrix(operators, lines * length, 2);
  const Floats y = operators.make<float>(lines * lines);
  Coded a, b;
  const CapturedCall call = last_call(operators, 2, [&] {
    const auto code = [&](Coded& to, Operand operand, const Floats& from) {
      to.code(operators, plan.at(LayerKind::other, Product::rollout, operand), {from.get(), lines, length},
              Along::columns, {1, 3, 0}, 5, false);
    };
    code(a, Operand::activation, x);
    code(b, Operand::weight, w);
    multiply(operators, a, b, y.get());
  });
  expect_replays(call, "c", 97);
}

INSTANTIATE_TEST_SUITE_P(Plans, Products,
                         ::testing::Values("bf16", "mxfp4", "hif4", "nvfp4/tensor-scale", "mxfp8-e5m2/rceil",
                                           "mxfp4+resq", "hif4+resq", "mxfp4+all", "mxfp4-2d-all",
                                           "mxfp4+hadamard-16"));

TEST(Steps, OfRmsNormGiveTheBitsOfTheReference) {
  Operators operators = testing::reference_operators();
  const Floats x = random_matrix(operators, lines * length, 3);
  const Floats weight = random_matrix(operators, length, 4);
  const Floats gain = random_matrix(operators, length, 5);
  const Floats y = operators.make<float>(lines * length);
  const Floats inverse = operators.make<float>(lines);
  const CapturedCall call = last_call(operators, 0, [&] {
    rms_norm(operators, lines, length, x.get(), weight.get(), gain.get(), y.get(), inverse.get());
  });
  expect_replays(call, "inverse", 1);
  expect_replays(call, "y", 997);
}

TEST(Steps, OfAdamGiveTheBitsOfTheReference) {
  Operators operators = testing::reference_operators();
  constexpr std::int64_t count = 256;
  const Floats gradient = random_matrix(operators, count, 6);
  const Floats first = random_matrix(operators, count, 7);
  const Floats weight = random_matrix(operators, count, 8);
  const Floats second = operators.upload<float>(std::vector<float>(count, 0.3F));
  const CapturedCall call = last_call(operators, 0, [&] {
    operators.call(&fp4proof_training::adam, "adam",
                   {0, count, 1e-3F, 0.9F, 0.95F, 1e-8F, 0.19F, 0.0975F, 0.7F, 0, gradient.get(), first.get(),
                    second.get(), weight.get()});
  });
  for (const char* const name : {"first_moment", "second_moment", "weight"}) expect_replays(call, name, 1);
}

TEST(Orders, AreFound) {
  std::mt19937 generator(9);
  std::normal_distribution<float> normal;
  LongSum sum{{}, 16, "block"};
  for (int i = 0; i < 40; ++i) sum.terms.push_back(double{normal(generator)});
  const auto finish = [](float total) { return float_bits(total); };
  const auto found = [&](const LongSum& wrong, const std::string& what) {
    const auto orders = orders_that_give(sum, finish, finish(wrong.total()));
    return std::find(orders.begin(), orders.end(), what) != orders.end();
  };
  LongSum wrong = sum;
  std::swap(wrong.terms[20], wrong.terms[21]);
  EXPECT_TRUE(found(wrong, "blocks 20 and 21 are added in the other order"));
  wrong = sum;
  wrong.terms[33] = 0;
  EXPECT_TRUE(found(wrong, "block 33 is left out"));
  wrong = sum;
  wrong.chunk = 40;
  EXPECT_TRUE(found(wrong, "no new sum after 512 elements"));
  wrong = sum;
  wrong.terms[3] += 1000.0;
  EXPECT_TRUE(orders_that_give(sum, finish, finish(wrong.total())).empty());
}

}  // namespace
}  // namespace fp4proof::training
