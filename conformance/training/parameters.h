#pragma once
// The tensors that a run trains.

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/training/coded.h"
#include "conformance/training/config.h"
#include "conformance/training/operators.h"

namespace fp4proof::training {

/// One trained tensor, [rows, columns], with its gradient and the moments of Adam.
struct Parameter {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Floats weight, gradient, first_moment, second_moment;

  std::int64_t count() const { return rows * columns; }
  Matrix matrix() const { return {weight.get(), rows, columns}; }
};

/// Places in Parameters::all of one feed-forward part.
struct FeedForwardPlaces {
  std::size_t gate = 0, up = 0, down = 0;
};

/// Places of one layer; `router` counts only where there are several feed-forward parts (experts).
struct LayerPlaces {
  std::size_t attention_norm = 0, query = 0, key = 0, value = 0, output = 0, feed_forward_norm = 0, router = 0;
  std::vector<FeedForwardPlaces> experts;
};

struct Parameters {
  std::vector<Parameter> all;
  std::size_t token_embedding = 0, position_embedding = 0, final_norm = 0, head = 0;
  std::vector<LayerPlaces> layers;

  /// Gain of each channel behind the RMSNorms of a layer; empty: none.
  std::vector<float> outlier_gain;

  Parameter& operator[](std::size_t place) { return all[place]; }
  const Parameter& operator[](std::size_t place) const { return all[place]; }
};

/// Initial weights from the seed: normals of Stream::init, the place of the tensor as step. Norm weights are 1. Weights
/// that read a channel with an outlier gain are divided by the root of the gain.
Parameters initial_parameters(Operators& operators, const Config& config);

}  // namespace fp4proof::training
