#pragma once
// Small runs of the harness on the reference.

#include <gtest/gtest.h>

#include "conformance/training/reference_training.h"
#include "conformance/training/trainer.h"

namespace fp4proof::testing {

inline training::Operators reference_operators() { return training::Operators(*training::reference_training()); }

inline training::PlanCodings codings_of(std::string_view plan) {
  auto codings = training::PlanCodings::of(*find_precision_plan(plan));
  EXPECT_TRUE(codings) << codings.error().message;
  return *std::move(codings);
}

inline const training::Config& tiny() { return *training::find_preset("tiny"); }

/// The tensors of a whole batch: problems of `stream`, right answers.
inline std::vector<std::int32_t> right_answers(const training::Config& config, std::int64_t sequences) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < sequences; ++i) {
    const training::Problem problem =
        training::draw_problem(config.task, config.seed, Stream::eval, 1, static_cast<std::uint64_t>(i));
    tokens.insert(tokens.end(), problem.prompt.begin(), problem.prompt.end());
    tokens.insert(tokens.end(), problem.answer.begin(), problem.answer.end());
  }
  return tokens;
}

}  // namespace fp4proof::testing
