#include "conformance/training/activations.h"

namespace fp4proof::training {

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
    for (Floats* tensor : {&layer.feed_forward.gate, &layer.feed_forward.up, &layer.feed_forward.hidden}) {
      *tensor = floats(shape.feed_forward);
    }
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
