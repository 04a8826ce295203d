#include "conformance/training/model.h"

#include <fmt/format.h>

#include "conformance/training/row_operators.h"
#include "conformance/training/tensor_numbers.h"

namespace fp4proof::training {

namespace {

enum Tensor : std::uint64_t { attention_input, attended, feed_forward_input, hidden };  // hidden of part 0, 1, ...

std::uint64_t tensor_number(std::size_t layer, Tensor tensor) { return numbers_a_layer * layer + tensor; }

}  // namespace

std::string Model::place_name(std::size_t layer, std::string_view tensor) {
  return fmt::format("layers.{}.{}", layer, tensor);
}

std::string Model::part_name(std::size_t layer, std::size_t part, std::string_view tensor) const {
  return shape_.experts == 0 ? place_name(layer, tensor) : fmt::format("layers.{}.experts.{}.{}", layer, part, tensor);
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights
// ---------------------------------------------------------------------------------------------------------------------

Model::Model(Operators& operators, const ModelShape& shape, const PlanCodings& codings, Parameters& parameters)
    : operators_(&operators),
      shape_(shape),
      codings_(&codings),
      parameters_(&parameters),
      head_(LayerKind::head, head_number, parameters[parameters.head].name, parameters[parameters.head].matrix()),
      gain_(operators.upload<float>(parameters.outlier_gain)),
      routers_(parameters.layers.size()),
      noisy_(parameters.all.size()) {
  for (std::uint32_t l = 0; l < parameters.layers.size(); ++l) {
    const LayerPlaces& places = parameters.layers[l];
    std::uint32_t number = numbers_a_layer * l;
    const auto linear = [&](LayerKind kind, std::size_t place) {
      return Linear(kind, number++, parameters[place].name, parameters[place].matrix());
    };
    Layer layer{linear(LayerKind::query, places.query),
                linear(LayerKind::key, places.key),
                linear(LayerKind::other, places.value),
                linear(LayerKind::other, places.output),
                {}};
    for (const FeedForwardPlaces& expert : places.experts) {
      layer.experts.push_back({linear(LayerKind::other, expert.gate), linear(LayerKind::other, expert.up),
                               linear(LayerKind::other, expert.down)});
    }
    layers_.push_back(std::move(layer));
  }
}

void Model::prepare(Product product, StepAddress address, float sigma) {
  address_ = address;
  const auto code = [&](Linear& linear) { linear.code_weight(*operators_, *codings_, product, address); };
  for (Layer& layer : layers_) {
    for (Linear* linear : {&layer.query, &layer.key, &layer.value, &layer.output}) code(*linear);
    for (FeedForward& expert : layer.experts) {
      for (Linear* linear : {&expert.gate, &expert.up, &expert.down}) code(*linear);
    }
  }
  code(head_);
  for (std::size_t l = 0; l < layers_.size() && shape_.experts != 0; ++l) {
    routers_[l] = operators_->download((*parameters_)[parameters_->layers[l].router].weight);
  }
  if (product != Product::rollout || !codings_->noise().on) return;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const LayerPlaces& places = parameters_->layers[l];
    if (is_noisy(l, true)) make_noise(places.attention_norm, 2 * l, address, sigma);
    if (is_noisy(l, false)) make_noise(places.feed_forward_norm, 2 * l + 1, address, sigma);
  }
  if (codings_->noise().norms == NoisyNorms::all) {
    make_noise(parameters_->final_norm, 2 * layers_.size(), address, sigma);
  }
}

bool Model::is_noisy(std::size_t layer, bool feeds_attention) const {
  const NoisePlan& noise = codings_->noise();
  if (!feeds_attention && layers_[layer].experts.size() > 1 && noise.skip_router_norms) return false;
  return noise.norms != (feeds_attention ? NoisyNorms::feed_forward : NoisyNorms::attention);
}

void Model::make_noise(std::size_t place, std::uint64_t norm, StepAddress address, float sigma) {
  const Parameter& weight = (*parameters_)[place];
  Floats& noisy = noisy_[place];
  if (noisy.size() == 0) noisy = operators_->make<float>(static_cast<std::size_t>(weight.count()));
  fp4proof_add_noise_call call{};
  call.count = weight.count();
  call.random = {address.seed, static_cast<std::uint32_t>(Stream::aqn), address.step, norm << 32};
  call.sigma = sigma;
  call.weight = weight.weight.get();
  call.y = noisy.get();
  operators_->at(name_of(Product::rollout), weight.name);
  operators_->call(&fp4proof_training::add_noise, "add_noise", call);
}

const float* Model::norm_weight(Product product, std::size_t place) const {
  if (product == Product::rollout && noisy_[place].size() != 0) return noisy_[place].get();
  return (*parameters_)[place].weight.get();
}

// ---------------------------------------------------------------------------------------------------------------------
// Forward
// ---------------------------------------------------------------------------------------------------------------------

void Model::forward(Product product, const Batch& batch, Activations& activations, KeyValueCache* cache) {
  Operators& o = *operators_;
  const std::int64_t d = shape_.width;
  const std::int64_t rows = batch.rows();
  const auto stream_into = [&](std::size_t l) -> Floats& {
    return l < layers_.size() ? activations.layers[l].input : activations.output;
  };

  o.at(name_of(product), "embedding");
  embed(o, rows, d, batch.tokens, batch.positions, (*parameters_)[parameters_->token_embedding].weight.get(),
        (*parameters_)[parameters_->position_embedding].weight.get(), stream_into(0).get());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    LayerActivations& a = activations.layers[l];
    const LayerPlaces& places = parameters_->layers[l];
    norm(product, places.attention_norm, true, a.input.get(), rows, tensor_number(l, attention_input),
         a.attention_norm);
    attend(product, batch, l, activations, cache);
    o.at(name_of(product), place_name(l, "middle"));
    add(o, rows * d, a.input.get(), a.projected.get(), a.middle.get());
    norm(product, places.feed_forward_norm, true, a.middle.get(), rows, tensor_number(l, feed_forward_input),
         a.feed_forward_norm);
    feed_forward(product, rows, l, a);
    o.at(name_of(product), place_name(l, "sum"));
    add(o, rows * d, a.middle.get(), a.feed_forward_output.get(), stream_into(l + 1).get());
  }
  norm(product, parameters_->final_norm, false, activations.output.get(), rows, head_number, activations.final_norm);
  head_.forward(o, *codings_, product, address_, activations.final_norm.coded, activations.logits.get());
}

void Model::norm(Product product, std::size_t place, bool with_gain, const float* x, std::int64_t rows,
                 std::uint64_t tensor, NormActivations& norm) {
  const std::string& name = (*parameters_)[place].name;
  operators_->at(name_of(product), name);
  rms_norm(*operators_, rows, shape_.width, x, norm_weight(product, place), with_gain ? gain() : nullptr,
           norm.output.get(), norm.inverse.get());
  norm.coded.set({norm.output.get(), rows, shape_.width}, address_.tensor(tensor), name);
}

const float* Model::attention_operand(const Floats& x, std::int64_t rows, Coded& codes, Floats& coded) {
  if (!codings_->attention()) return x.get();
  const Matrix heads{x.get(), rows * shape_.heads, shape_.head_size};
  codes.code(*operators_, *codings_->attention(), heads, Along::columns, address_.tensor(0), 0, true);
  if (coded.size() != x.size()) coded = operators_->make<float>(x.size());
  copy_rows(*operators_, 1, heads.rows * heads.columns, codes.values(), 0, coded.get(), 0);
  return coded.get();
}

void Model::attend(Product product, const Batch& batch, std::size_t l, Activations& activations, KeyValueCache* cache) {
  Operators& o = *operators_;
  LayerActivations& a = activations.layers[l];
  const Layer& layer = layers_[l];
  const std::int64_t rows = batch.rows();
  const std::int64_t width = shape_.heads * shape_.head_size;
  layer.query.forward(o, *codings_, product, address_, a.attention_norm.coded, a.query.get());
  layer.key.forward(o, *codings_, product, address_, a.attention_norm.coded, a.key.get());
  layer.value.forward(o, *codings_, product, address_, a.attention_norm.coded, a.value.get());

  o.at(name_of(product), place_name(l, "query"), name_of(Operand::activation));
  const float* query = attention_operand(a.query, rows, a.attention_codes, a.query_coded);
  o.at(name_of(product), place_name(l, "key"), name_of(Operand::activation));
  const float* key = attention_operand(a.key, rows, a.attention_codes, a.key_coded);
  const float* value = a.value.get();
  o.at(name_of(product), place_name(l, "attended"));
  if (cache != nullptr) {
    const auto append = [&](const float* from, const Floats& to) {
      copy_rows(o, batch.sequences, batch.queries * width, from, batch.queries * width,
                to.get() + batch.first_position * width, cache->capacity * width);
      return to.get();
    };
    key = append(key, cache->keys[l]);
    value = append(value, cache->values[l]);
  }
  const std::int64_t capacity = cache != nullptr ? cache->capacity : batch.queries;
  o.call(&fp4proof_training::attention, "attention",
         {0, batch.sequences, batch.queries, capacity, batch.first_position, shape_.heads, shape_.head_size, query, key,
          value, a.attended.get(), a.probabilities.get()});
  a.attended_coded.set({a.attended.get(), rows, width}, address_.tensor(tensor_number(l, attended)),
                       place_name(l, "attended"));
  layer.output.forward(o, *codings_, product, address_, a.attended_coded, a.projected.get());
}

void Model::feed_forward(Product product, std::int64_t rows, std::size_t l, LayerActivations& a) {
  if (shape_.experts != 0) {
    mix_experts(product, rows, l, a);
  } else {
    gated(product, l, 0, 0, rows, a.feed_forward_norm.coded, a.feed_forward, a.feed_forward_output.get());
  }
}

void Model::gated(Product product, std::size_t l, std::size_t part, std::int64_t first, std::int64_t rows,
                  CodedTensor& input, FeedForwardActivations& f, float* output) {
  Operators& o = *operators_;
  const FeedForward& layer = layers_[l].experts[part];
  const std::int64_t width = shape_.feed_forward;
  float* const gate = f.gate.get() + first * width;
  float* const up = f.up.get() + first * width;
  float* const hidden_part = f.hidden.get() + first * width;
  layer.gate.forward(o, *codings_, product, address_, input, gate);
  layer.up.forward(o, *codings_, product, address_, input, up);
  const std::string hidden_name = part_name(l, part, "hidden");
  o.at(name_of(product), hidden_name);
  swiglu(o, rows * width, gate, up, hidden_part);
  f.hidden_coded[part].set({hidden_part, rows, width}, address_.tensor(tensor_number(l, hidden) + part), hidden_name);
  layer.down.forward(o, *codings_, product, address_, f.hidden_coded[part], output);
}

}  // namespace fp4proof::training
