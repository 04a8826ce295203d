#pragma once
// Answers of the policy, token by token.

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/training/model.h"
#include "conformance/training/task.h"

namespace fp4proof::training {

/// Answers to prompts, `group` to each, those of one prompt side by side.
struct Answers {
  std::vector<std::int32_t> tokens;    ///< [sequences, prompt + answer]; behind the end token::pad
  std::vector<float> log_probability;  ///< [sequences, answer]; behind the end 0
  std::vector<float> entropy;          ///< likewise
  std::vector<std::int64_t> length;    ///< [sequences] tokens that count, the end included
};

class Rollout {
 public:
  /// Memory for `prompts` prompts at once.
  Rollout(Operators& operators, const ModelShape& shape, Task task, std::int64_t prompts, std::int64_t group);

  /// Answers `problems`, as many as the constructor said. The model is prepared for `product`. A prompt is read once
  /// for its whole group. Sequence s draws the token at place t of its answer with the uniform number of element
  /// t * 2^32 + first_sequence + s of Stream::sample; `greedy` takes the most likely token instead.
  Answers answer(Model& model, Product product, std::span<const Problem> problems, StepAddress address, bool greedy,
                 std::uint64_t first_sequence = 0);

 private:
  std::int64_t sequences() const { return prompts_ * group_; }
  void read_prompts(Model& model, Product product, std::span<const Problem> problems);
  void choose(const float* logits, std::int64_t place, StepAddress address, bool greedy, std::uint64_t first_sequence);
  Answers collect(std::span<const Problem> problems);

  Operators* operators_;
  ModelShape shape_;
  TaskLengths lengths_;
  std::int64_t prompts_;
  std::int64_t group_;
  Activations prompt_, token_;
  KeyValueCache cache_;
  Integers prompt_tokens_, prompt_positions_;
  Integers chosen_, positions_;       // [answer, sequences]
  Floats log_probability_, entropy_;  // [answer, sequences]
  Floats first_logits_;               // [sequences, vocabulary]
};

}  // namespace fp4proof::training
