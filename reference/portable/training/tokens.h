#pragma once
// Softmax over the vocabulary, sampling, and the gradient of log-probabilities: rules T41 to T43 of
// docs/rules-training.md.

#include <cstdint>

#include "reference/portable/training/random_address.h"

namespace fp4proof::portable::training {

/// Each output may be null; without `log_probability` the targets may be null too. T41
void log_softmax(std::int64_t rows, std::int64_t vocabulary, const float* logits, const std::int32_t* targets,
                 float* log_probability, float* entropy, std::int32_t* largest);

/// One token a row, drawn with the uniform numbers of elements random.first, random.first + 1, ... T42
void sample(std::int64_t rows, std::int64_t vocabulary, const RandomAddress& random, const float* logits,
            std::int32_t* tokens);

/// T43
void log_softmax_backward(std::int64_t rows, std::int64_t vocabulary, const float* logits, const std::int32_t* targets,
                          const float* weights, float* d_logits);

}  // namespace fp4proof::portable::training
