#pragma once
// Whole sequences through the training engine: log-probabilities of their answers, and gradients.

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/training/model.h"
#include "conformance/training/task.h"

namespace fp4proof::training {

class Teacher {
 public:
  /// Memory for `sequences` sequences at once.
  Teacher(Operators& operators, const ModelShape& shape, Task task, std::int64_t sequences);

  /// Log-probability of every answer token, [sequences, answer], of tokens [sequences, prompt + answer]. The model is
  /// prepared for `product`.
  std::vector<float> log_probabilities(Model& model, std::span<const std::int32_t> tokens,
                                       Product product = Product::forward);

  /// Gradients of the sum over answer tokens of -weight * log-probability, after log_probabilities() under
  /// Product::forward. weights: [sequences, answer].
  void backward(Model& model, std::span<const float> weights);

 private:
  std::int64_t queries() const { return lengths_.sequence() - 1; }
  std::int64_t rows() const { return sequences_ * queries(); }
  Batch batch() const { return {sequences_, queries(), 0, inputs_.get(), positions_.get()}; }
  /// The row whose target is answer token `place` of a sequence.
  std::size_t row(std::int64_t sequence, std::int64_t place) const {
    return static_cast<std::size_t>(sequence * queries() + lengths_.prompt - 1 + place);
  }

  Operators* operators_;
  ModelShape shape_;
  TaskLengths lengths_;
  std::int64_t sequences_;
  Activations activations_;
  Integers inputs_, targets_, positions_;
  Floats log_probability_, weights_, d_logits_;
};

}  // namespace fp4proof::training
