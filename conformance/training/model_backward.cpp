// The backward pass of the model: forward() read from its end.

#include "conformance/training/model.h"
#include "conformance/training/row_operators.h"

namespace fp4proof::training {

void Model::reserve_gradients(std::int64_t rows) {
  if (gradients_.rows == rows) return;
  gradients_.rows = rows;
  const auto make = [&](std::initializer_list<Floats*> tensors, std::int64_t numbers) {
    for (Floats* tensor : tensors) *tensor = operators_->make<float>(static_cast<std::size_t>(numbers));
  };
  Gradients& g = gradients_;
  const std::int64_t inner_rows = shape_.experts == 0 ? rows : most_expert_rows(rows, shape_.experts);
  make({&g.stream, &g.norm_output}, rows * shape_.width);
  make({&g.sum}, inner_rows * shape_.width);
  make({&g.hidden, &g.gate, &g.up}, inner_rows * shape_.feed_forward);
  make({&g.attended, &g.query, &g.key, &g.value}, rows * shape_.heads * shape_.head_size);
  if (shape_.experts != 0) make({&g.expert_input, &g.expert_output}, inner_rows * shape_.width);
}

void Model::backward_at(std::size_t layer, std::string_view tensor) {
  operators_->at("backward", "d." + place_name(layer, tensor));
}

void Model::backward(const Batch& batch, Activations& activations, const float* d_logits) {
  Operators& o = *operators_;
  Gradients& g = gradients_;
  const std::int64_t rows = batch.rows();
  const std::int64_t d = shape_.width;
  reserve_gradients(rows);

  head_.set_gradient(g.head, {d_logits, rows, shape_.vocabulary}, address_);
  head_.input_gradient(o, *codings_, address_, g.head, g.norm_output.get());
  head_.weight_gradient(o, *codings_, address_, g.head, activations.final_norm.coded,
                        (*parameters_)[parameters_->head].gradient.get());
  o.at("backward", "d.output");
  rms_norm_backward(o, rows, d, activations.output.get(), (*parameters_)[parameters_->final_norm].weight.get(), nullptr,
                    activations.final_norm.inverse.get(), g.norm_output.get(), g.stream.get(),
                    (*parameters_)[parameters_->final_norm].gradient.get());
  for (std::size_t l = layers_.size(); l-- > 0;) {
    LayerActivations& a = activations.layers[l];
    const LayerPlaces& places = parameters_->layers[l];
    feed_forward_backward(rows, l, a);
    backward_at(l, "middle");
    norm_backward(places.feed_forward_norm, true, a.middle.get(), rows, a.feed_forward_norm, g.norm_output.get());
    attend_backward(batch, l, a);
    backward_at(l, "input");
    norm_backward(places.attention_norm, true, a.input.get(), rows, a.attention_norm, g.norm_output.get());
  }
  const auto table = [&](std::size_t place, const std::int32_t* indices) {
    Parameter& p = (*parameters_)[place];
    o.at("backward", "d." + p.name);
    embed_backward(o, rows, d, p.rows, indices, g.stream.get(), p.gradient.get());
  };
  table(parameters_->token_embedding, batch.tokens);
  table(parameters_->position_embedding, batch.positions);
}

/// Adds what flows through a norm to the gradient of the residual stream.
void Model::norm_backward(std::size_t place, bool with_gain, const float* x, std::int64_t rows,
                          const NormActivations& norm, const float* dy) {
  Parameter& weight = (*parameters_)[place];
  Gradients& g = gradients_;
  rms_norm_backward(*operators_, rows, shape_.width, x, weight.weight.get(), with_gain ? gain() : nullptr,
                    norm.inverse.get(), dy, g.sum.get(), weight.gradient.get());
  add(*operators_, rows * shape_.width, g.stream.get(), g.sum.get(), g.stream.get());
}

/// From the gradient of the residual stream to that of the norm's output.
void Model::feed_forward_backward(std::int64_t rows, std::size_t l, LayerActivations& a) {
  if (shape_.experts != 0) return mix_experts_backward(rows, l, a);
  gated_backward(l, 0, 0, rows, a.feed_forward_norm.coded, a.feed_forward, gradients_.stream.get(),
                 gradients_.norm_output.get());
}

void Model::gated_backward(std::size_t l, std::size_t part, std::int64_t first, std::int64_t rows, CodedTensor& input,
                           FeedForwardActivations& f, const float* dy, float* dx) {
  Operators& o = *operators_;
  Gradients& g = gradients_;
  const FeedForward& layer = layers_[l].experts[part];
  const FeedForwardPlaces& places = parameters_->layers[l].experts[part];
  const std::int64_t d = shape_.width;
  const std::int64_t width = shape_.feed_forward;
  const auto gradient_of = [&](std::size_t place) { return (*parameters_)[place].gradient.get(); };

  layer.down.set_gradient(g.down, {dy, rows, d}, address_);
  layer.down.input_gradient(o, *codings_, address_, g.down, g.hidden.get());
  layer.down.weight_gradient(o, *codings_, address_, g.down, f.hidden_coded[part], gradient_of(places.down));
  o.at("backward", "d." + part_name(l, part, "hidden"));
  swiglu_backward(o, rows * width, f.gate.get() + first * width, f.up.get() + first * width, g.hidden.get(),
                  g.gate.get(), g.up.get());
  layer.gate.set_gradient(g.gate_coded, {g.gate.get(), rows, width}, address_);
  layer.up.set_gradient(g.up_coded, {g.up.get(), rows, width}, address_);
  layer.gate.input_gradient(o, *codings_, address_, g.gate_coded, dx);
  layer.up.input_gradient(o, *codings_, address_, g.up_coded, g.sum.get());
  o.at("backward", "d." + part_name(l, part, "input"));
  add(o, rows * d, dx, g.sum.get(), dx);
  layer.gate.weight_gradient(o, *codings_, address_, g.gate_coded, input, gradient_of(places.gate));
  layer.up.weight_gradient(o, *codings_, address_, g.up_coded, input, gradient_of(places.up));
}

void Model::attend_backward(const Batch& batch, std::size_t l, LayerActivations& a) {
  Operators& o = *operators_;
  Gradients& g = gradients_;
  const Layer& layer = layers_[l];
  const LayerPlaces& places = parameters_->layers[l];
  const std::int64_t rows = batch.rows();
  const std::int64_t d = shape_.width;
  const std::int64_t width = shape_.heads * shape_.head_size;
  const auto gradient_of = [&](std::size_t place) { return (*parameters_)[place].gradient.get(); };

  layer.output.set_gradient(g.output, {g.stream.get(), rows, d}, address_);
  layer.output.input_gradient(o, *codings_, address_, g.output, g.attended.get());
  layer.output.weight_gradient(o, *codings_, address_, g.output, a.attended_coded, gradient_of(places.output));
  backward_at(l, "attended");
  o.call(&fp4proof_training::attention_backward, "attention_backward",
         {0, batch.sequences, batch.queries, shape_.heads, shape_.head_size, a.query.get(), a.key.get(), a.value.get(),
          a.probabilities.get(), g.attended.get(), g.query.get(), g.key.get(), g.value.get()});

  layer.query.set_gradient(g.query_coded, {g.query.get(), rows, width}, address_);
  layer.key.set_gradient(g.key_coded, {g.key.get(), rows, width}, address_);
  layer.value.set_gradient(g.value_coded, {g.value.get(), rows, width}, address_);
  layer.query.input_gradient(o, *codings_, address_, g.query_coded, g.norm_output.get());
  layer.key.input_gradient(o, *codings_, address_, g.key_coded, g.sum.get());
  backward_at(l, "attention_norm");
  add(o, rows * d, g.norm_output.get(), g.sum.get(), g.norm_output.get());
  layer.value.input_gradient(o, *codings_, address_, g.value_coded, g.sum.get());
  backward_at(l, "attention_norm");
  add(o, rows * d, g.norm_output.get(), g.sum.get(), g.norm_output.get());
  layer.query.weight_gradient(o, *codings_, address_, g.query_coded, a.attention_norm.coded, gradient_of(places.query));
  layer.key.weight_gradient(o, *codings_, address_, g.key_coded, a.attention_norm.coded, gradient_of(places.key));
  layer.value.weight_gradient(o, *codings_, address_, g.value_coded, a.attention_norm.coded, gradient_of(places.value));
}

}  // namespace fp4proof::training
