#include "conformance/training/activations.h"

namespace fp4proof::training {

namespace {

void make_feed_forward(Operators& operators, const ModelShape& shape, std::int64_t rows, LayerActivations& layer) {
  const bool dense = shape.experts == 0;
  const std::int64_t inner_rows = dense ? rows : most_expert_rows(rows, shape.experts);
  const auto make = [&](std::initializer_list<Floats*> tensors, std::int64_t numbers) {
    for (Floats* tensor : tensors) *tensor = operators.make<float>(static_cast<std::size_t>(numbers));
  };
  FeedForwardActivations& f = layer.feed_forward;
  make({&f.gate, &f.up, &f.hidden}, inner_rows * shape.feed_forward);
  f.hidden_coded.resize(static_cast<std::size_t>(dense ? 1 : shape.experts));
  if (dense) return;
  ExpertActivations& e = layer.experts;
  e.token = operators.make<std::int32_t>(static_cast<std::size_t>(inner_rows));
  e.low = operators.make<std::int32_t>(static_cast<std::size_t>(rows));
  e.high = operators.make<std::int32_t>(static_cast<std::size_t>(rows));
  make({&e.weight}, inner_rows);
  make({&e.low_weight, &e.high_weight}, rows);
  make({&e.input, &e.output}, inner_rows * shape.width);
  make({&e.chosen}, rows * shape.width);
  e.input_coded.resize(static_cast<std::size_t>(shape.experts));
}

}  // namespace

Activations::Activations(Operators& operators, const ModelShape& shape, std::int64_t sequences, std::int64_t queries,
                         std::int64_t keys) {
  const std::int64_t rows = sequences * queries;
  const std::int64_t attention = shape.heads * shape.head_size;
  const auto floats = [&](std::int64_t columns) {
    return operators.make<float>(static_cast<std::size_t>(rows * columns));
  };
  const auto make_norm = [&](NormActivations& norm) {
    norm.output = floats(shape.width);
    norm.inverse = floats(1);
  };
  layers.resize(static_cast<std::size_t>(shape.layers));
  for (LayerActivations& layer : layers) {
    layer.input = floats(shape.width);
    make_norm(layer.attention_norm);
    for (Floats* tensor : {&layer.query, &layer.key, &layer.value, &layer.attended}) *tensor = floats(attention);
    layer.probabilities = floats(shape.heads * keys);
    layer.projected = floats(shape.width);
    layer.middle = floats(shape.width);
    make_norm(layer.feed_forward_norm);
    make_feed_forward(operators, shape, rows, layer);
    layer.feed_forward_output = floats(shape.width);
  }
  output = floats(shape.width);
  make_norm(final_norm);
  logits = floats(shape.vocabulary);
}

KeyValueCache::KeyValueCache(Operators& operators, const ModelShape& shape, std::int64_t sequences,
                             std::int64_t cache_capacity)
    : capacity(cache_capacity) {
  const auto size = static_cast<std::size_t>(sequences * capacity * shape.heads * shape.head_size);
  for (std::int64_t l = 0; l < shape.layers; ++l) {
    keys.push_back(operators.make<float>(size));
    values.push_back(operators.make<float>(size));
  }
}

}  // namespace fp4proof::training
