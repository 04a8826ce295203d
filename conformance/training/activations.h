#pragma once
// What a forward pass leaves behind, for the backward pass and for the next token.

#include <cstdint>
#include <vector>

#include "conformance/training/coded.h"
#include "conformance/training/config.h"
#include "conformance/training/operators.h"
#include "conformance/training/routing.h"

namespace fp4proof::training {

/// Rows of a pass: sequence by sequence, position fastest.
struct Batch {
  std::int64_t sequences = 0;
  std::int64_t queries = 0;         ///< positions of each sequence in this pass
  std::int64_t first_position = 0;  ///< of the first query; with a KeyValueCache of what lies before
  const std::int32_t* tokens = nullptr;
  const std::int32_t* positions = nullptr;

  std::int64_t rows() const { return sequences * queries; }
};

/// A norm, and what it gave.
struct NormActivations {
  Floats output, inverse;
  CodedTensor coded;
};

/// Gated feed-forward parts. Dense: one, on all rows. A mixture: each expert on its own rows.
struct FeedForwardActivations {
  Floats gate, up, hidden;
  std::vector<CodedTensor> hidden_coded;  ///< one a part
};

/// What a mixture of experts has beside that, over its expert rows.
struct ExpertActivations {
  Routing routing;
  std::vector<float> host_input;  ///< what the router read
  Integers token, low, high;
  Floats weight, low_weight, high_weight;
  Floats input, output, chosen;
  std::vector<CodedTensor> input_coded;
};

struct LayerActivations {
  Floats input;  ///< the residual stream as it enters
  NormActivations attention_norm;
  Floats query, key, value;
  Floats query_coded, key_coded;  ///< what Q K^T reads, where a plan codes its operands
  Coded attention_codes;
  Floats probabilities;
  Floats attended, projected;
  CodedTensor attended_coded;
  Floats middle;  ///< the residual stream between attention and feed-forward
  NormActivations feed_forward_norm;
  FeedForwardActivations feed_forward;
  ExpertActivations experts;
  Floats feed_forward_output;
};

struct Activations {
  /// Memory for passes of that many rows. `keys`: how many a query can see at most.
  Activations(Operators& operators, const ModelShape& shape, std::int64_t sequences, std::int64_t queries,
              std::int64_t keys);

  std::vector<LayerActivations> layers;
  Floats output;  ///< the residual stream as it leaves the last layer
  NormActivations final_norm;
  Floats logits;
};

/// Keys and values of every position so far, [sequences, capacity, heads * head_size] a layer.
struct KeyValueCache {
  KeyValueCache(Operators& operators, const ModelShape& shape, std::int64_t sequences, std::int64_t capacity);

  std::int64_t capacity;
  std::vector<Floats> keys, values;
};

}  // namespace fp4proof::training
