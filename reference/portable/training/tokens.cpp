#include "reference/portable/training/tokens.h"

#include <algorithm>
#include <vector>

#include "formats/strict_math.h"
#include "reference/portable/training/row_sum.h"
#include "reference/portable/training/softmax.h"
#include "reference/portable/training/threads.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable::training {

namespace {

constexpr std::int64_t row_cost = 10;  // for each token of the vocabulary

/// What T41 makes of one row of logits, but for the target.
struct RowSoftmax {
  float largest;
  float log_sum;
  float entropy;
};

/// e and terms hold one number a token.
FP4PROOF_CLONES RowSoftmax row_softmax(const float* logits, std::int64_t vocabulary, float largest, bool with_entropy,
                                       float* e, float* terms) {
  exponentials(logits, vocabulary, largest, e);
  const float sum = row_sum(e, vocabulary);
  RowSoftmax row = {largest, strict::log(sum), 0.0F};
  if (!with_entropy) return row;
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t v = 0; v < vocabulary; ++v) terms[v] = (e[v] / sum) * (logits[v] - largest);
  row.entropy = strict::canonicalise_nan(row.log_sum - row_sum(terms, vocabulary));
  return row;
}

std::int32_t token_at(const float* e, std::int64_t vocabulary, float threshold) {
  float sum = 0.0F;
  for (std::int64_t v = 0; v < vocabulary; ++v) {
    sum += e[v];
    if (sum > threshold) return static_cast<std::int32_t>(v);
  }
  for (std::int64_t v = vocabulary - 1; v >= 0; --v) {
    if (e[v] > 0.0F) return static_cast<std::int32_t>(v);
  }
  return 0;
}

FP4PROOF_CLONES std::int32_t sample_row(const float* logits, std::int64_t vocabulary, float uniform, float* e) {
  exponentials(logits, vocabulary, largest_of(logits, vocabulary).value, e);
  float sum = 0.0F;
  for (std::int64_t v = 0; v < vocabulary; ++v) sum += e[v];
  return token_at(e, vocabulary, uniform * sum);
}

FP4PROOF_CLONES void backward_row(const float* logits, std::int64_t vocabulary, std::int64_t target, float weight,
                                  float* d_logits) {
  exponentials(logits, vocabulary, largest_of(logits, vocabulary).value, d_logits);
  const float sum = row_sum(d_logits, vocabulary);
  const float p_target = d_logits[target] / sum;
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t v = 0; v < vocabulary; ++v) d_logits[v] = strict::canonicalise_nan(weight * (d_logits[v] / sum));
  d_logits[target] = strict::canonicalise_nan(weight * (p_target - 1.0F));
}

}  // namespace

void log_softmax(std::int64_t rows, std::int64_t vocabulary, const float* logits, const std::int32_t* targets,
                 float* log_probability, float* entropy, std::int32_t* largest) {
  in_ranges(rows, row_cost * vocabulary, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> scratch(static_cast<std::size_t>(2 * vocabulary));
    for (std::int64_t r = first; r < last; ++r) {
      const float* z = logits + r * vocabulary;
      const Largest top = largest_of(z, vocabulary);
      if (largest != nullptr) largest[r] = static_cast<std::int32_t>(top.index);
      if (log_probability == nullptr && entropy == nullptr) continue;
      const RowSoftmax row =
          row_softmax(z, vocabulary, top.value, entropy != nullptr, scratch.data(), scratch.data() + vocabulary);
      if (log_probability != nullptr)
        log_probability[r] = strict::canonicalise_nan((z[targets[r]] - row.largest) - row.log_sum);
      if (entropy != nullptr) entropy[r] = row.entropy;
    }
  });
}

void sample(std::int64_t rows, std::int64_t vocabulary, const RandomAddress& random, const float* logits,
            std::int32_t* tokens) {
  in_ranges(rows, row_cost * vocabulary, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> scratch(static_cast<std::size_t>(vocabulary));
    for (std::int64_t r = first; r < last; ++r) {
      const std::uint64_t element = random.first + static_cast<std::uint64_t>(r);
      tokens[r] = sample_row(logits + r * vocabulary, vocabulary,
                             random_uniform(random.seed, random.stream, random.step, element), scratch.data());
    }
  });
}

void log_softmax_backward(std::int64_t rows, std::int64_t vocabulary, const float* logits, const std::int32_t* targets,
                          const float* weights, float* d_logits) {
  in_ranges(rows, row_cost * vocabulary, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      float* to = d_logits + r * vocabulary;
      if (weights[r] == 0.0F) {
        std::fill_n(to, vocabulary, 0.0F);
      } else {
        backward_row(logits + r * vocabulary, vocabulary, targets[r], weights[r], to);
      }
    }
  });
}

}  // namespace fp4proof::portable::training
