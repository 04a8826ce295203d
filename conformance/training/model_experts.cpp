// Mixture of experts: every row goes through the two experts that its router likes best.

#include <fmt/format.h>

#include "conformance/training/model.h"
#include "conformance/training/row_operators.h"
#include "conformance/training/tensor_numbers.h"

namespace fp4proof::training {

namespace {

std::uint64_t expert_input_number(std::size_t layer, std::size_t expert) {
  return numbers_a_layer * layer + first_expert_input + expert;
}

}  // namespace

void Model::mix_experts(Product product, std::int64_t rows, std::size_t l, LayerActivations& a) {
  Operators& o = *operators_;
  ExpertActivations& e = a.experts;
  const std::int64_t d = shape_.width;
  const float* const input = a.feed_forward_norm.output.get();
  e.host_input = o.download(a.feed_forward_norm.output, static_cast<std::size_t>(rows * d));
  e.routing = route(e.host_input, routers_[l], d);
  o.copy_in<std::int32_t>(e.token, e.routing.token);
  o.copy_in<std::int32_t>(e.low, e.routing.low);
  o.copy_in<std::int32_t>(e.high, e.routing.high);
  o.copy_in<float>(e.weight, e.routing.weight);
  o.copy_in<float>(e.low_weight, e.routing.low_weight);
  o.copy_in<float>(e.high_weight, e.routing.high_weight);

  o.at(name_of(product), place_name(l, "experts.input"));
  gather_rows(o, e.routing.expert_rows(), d, e.token.get(), nullptr, input, e.input.get());
  for (std::size_t expert = 0; expert < layers_[l].experts.size(); ++expert) {
    const std::int64_t first = e.routing.begin[expert];
    const std::int64_t count = e.routing.begin[expert + 1] - first;
    if (count == 0) continue;
    e.input_coded[expert].set({e.input.get() + first * d, count, d}, address_.tensor(expert_input_number(l, expert)),
                              part_name(l, expert, "input"));
    gated(product, l, expert, first, count, e.input_coded[expert], a.feed_forward, e.output.get() + first * d);
  }
  o.at(name_of(product), place_name(l, "experts.output"));
  gather_rows(o, rows, d, e.low.get(), e.low_weight.get(), e.output.get(), a.feed_forward_output.get());
  gather_rows(o, rows, d, e.high.get(), e.high_weight.get(), e.output.get(), e.chosen.get());
  add(o, rows * d, a.feed_forward_output.get(), e.chosen.get(), a.feed_forward_output.get());
}

void Model::mix_experts_backward(std::int64_t rows, std::size_t l, LayerActivations& a) {
  Operators& o = *operators_;
  Gradients& g = gradients_;
  ExpertActivations& e = a.experts;
  const std::int64_t d = shape_.width;
  const LayerPlaces& places = parameters_->layers[l];
  const auto clear = [&](std::size_t place) {
    Parameter& p = (*parameters_)[place];
    o.copy_in<float>(p.gradient, std::vector<float>(static_cast<std::size_t>(p.count()), 0.0F));
  };

  backward_at(l, "experts.output");
  gather_rows(o, e.routing.expert_rows(), d, e.token.get(), e.weight.get(), g.stream.get(), g.expert_output.get());
  for (std::size_t expert = 0; expert < layers_[l].experts.size(); ++expert) {
    const std::int64_t first = e.routing.begin[expert];
    const std::int64_t count = e.routing.begin[expert + 1] - first;
    if (count == 0) {
      const FeedForwardPlaces& unused = places.experts[expert];
      for (const std::size_t place : {unused.gate, unused.up, unused.down}) clear(place);
      continue;
    }
    gated_backward(l, expert, first, count, e.input_coded[expert], a.feed_forward, g.expert_output.get() + first * d,
                   g.expert_input.get() + first * d);
  }
  backward_at(l, "experts.input");
  gather_rows(o, rows, d, e.low.get(), nullptr, g.expert_input.get(), g.norm_output.get());
  gather_rows(o, rows, d, e.high.get(), nullptr, g.expert_input.get(), e.chosen.get());
  add(o, rows * d, g.norm_output.get(), e.chosen.get(), g.norm_output.get());

  const std::vector<float> dy = o.download(g.stream, static_cast<std::size_t>(rows * d));
  const auto outputs = o.download(e.output, static_cast<std::size_t>(e.routing.expert_rows() * d));
  const RouterGradient gradient = router_gradient(e.routing, e.host_input, routers_[l], dy, outputs, d);
  o.copy_in<float>((*parameters_)[places.router].gradient, gradient.router);
  o.copy_in<float>(e.chosen, gradient.x);
  add(o, rows * d, g.norm_output.get(), e.chosen.get(), g.norm_output.get());
}

}  // namespace fp4proof::training
