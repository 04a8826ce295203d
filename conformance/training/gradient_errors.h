#pragma once
// What a plan does to gradients: each beside the bfloat16 gradient of the same batch. The lines of gradients.csv.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/training/teacher.h"

namespace fp4proof::training {

/// The gradient g of one parameter, or of all side by side (`all`), against that of bfloat16, g0. Not clipped. Sums are
/// binary64, in order.
struct GradientError {
  std::string tensor;
  double cosine = 0;      ///< of g and g0; 0 where one of them is 0
  double norm_ratio = 0;  ///< |g| / |g0|
  double error = 0;       ///< |g - g0| / |g0|
  // Of plans that round at random in training, over `repeats` gradients from other random words:
  std::int64_t repeats = 1;
  double bias = 0;      ///< |mean of g - g0| / |g0|
  double variance = 0;  ///< mean of |g - mean of g|^2, over |g0|^2
};

class GradientErrors {
 public:
  static constexpr std::int64_t repeats = 4;

  /// Everything must outlive this. Needs the memory of one more model and batch.
  GradientErrors(Operators& operators, const ModelShape& shape, Task task, std::int64_t sequences,
                 const PlanCodings& plan, const PlanCodings& bf16, Parameters& parameters);

  /// Of the gradients that stand in the parameters after a step's backward pass, and still stand there afterwards.
  /// `tokens` and `weights` are those of that pass (Teacher). Repeat r takes the seed of `address` plus r 2^48.
  std::vector<GradientError> measure(std::span<const std::int32_t> tokens, std::span<const float> weights,
                                     StepAddress address);

 private:
  using Gradient = std::vector<std::vector<float>>;  // by place of the parameter
  Gradient download() const;
  void upload(const Gradient& gradient);
  Gradient gradient_of(Model& model, std::span<const std::int32_t> tokens, std::span<const float> weights,
                       StepAddress address);

  Operators* operators_;
  Parameters* parameters_;
  bool random_;
  Model plan_, bf16_;
  Teacher teacher_;
};

}  // namespace fp4proof::training
