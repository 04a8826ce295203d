#pragma once
// The policy: token and position embeddings, layers of causal attention and SwiGLU behind RMSNorms, a head in bfloat16.
//
// forward() serves the rollout, token by token with a cache, and training, whole sequences at once: the same operators
// on the same rows, so in equal precision the same bits.

#include <string>
#include <vector>

#include "conformance/training/activations.h"
#include "conformance/training/linear.h"
#include "conformance/training/parameters.h"

namespace fp4proof::training {

class Model {
 public:
  /// All arguments must outlive the model.
  Model(Operators& operators, const ModelShape& shape, const PlanCodings& codings, Parameters& parameters);

  /// Codes the weights as they stand: once before the passes of a step. The norms of the rollout get noise of `sigma`
  /// as the plan says (C51).
  void prepare(Product product, StepAddress address, float sigma = 0.0F);

  /// Logits of every row. `product`: rollout or forward. With a cache, keys and values of this pass are put into it.
  void forward(Product product, const Batch& batch, Activations& activations, KeyValueCache* cache = nullptr);

  /// Gradients of every parameter after a forward() of whole sequences.
  void backward(const Batch& batch, Activations& activations, const float* d_logits);

 private:
  struct FeedForward {
    Linear gate, up, down;
  };
  struct Layer {
    Linear query, key, value, output;
    std::vector<FeedForward> experts;
  };
  /// Gradients on their way down; every tensor is used by all layers in turn.
  struct Gradients {
    std::int64_t rows = 0;
    Floats stream, norm_output, sum, hidden, gate, up, attended, query, key, value;
    Floats expert_input, expert_output;  // over expert rows
    CodedTensor head, down, gate_coded, up_coded, output, query_coded, key_coded, value_coded;
  };

  const float* norm_weight(Product product, std::size_t place) const;
  const float* gain() const { return parameters_->outlier_gain.empty() ? nullptr : gain_.get(); }
  bool is_noisy(std::size_t layer, bool feeds_attention) const;
  void make_noise(std::size_t place, std::uint64_t norm, StepAddress address, float sigma);

  void norm(Product product, std::size_t place, bool with_gain, const float* x, std::int64_t rows, std::uint64_t tensor,
            NormActivations& norm);
  void attend(Product product, const Batch& batch, std::size_t l, Activations& activations, KeyValueCache* cache);
  void feed_forward(Product product, std::int64_t rows, std::size_t l, LayerActivations& a);
  void mix_experts(Product product, std::int64_t rows, std::size_t l, LayerActivations& a);
  /// One gated part on `rows` rows from row `first` of its activations.
  void gated(Product product, std::size_t l, std::size_t part, std::int64_t first, std::int64_t rows,
             CodedTensor& input, FeedForwardActivations& f, float* output);
  /// x as attention reads it: `coded` where the plan codes the operands of Q K^T.
  const float* attention_operand(const Floats& x, std::int64_t rows, Coded& codes, Floats& coded);

  void reserve_gradients(std::int64_t rows);
  void norm_backward(std::size_t place, bool with_gain, const float* x, std::int64_t rows, const NormActivations& norm,
                     const float* dy);
  void feed_forward_backward(std::int64_t rows, std::size_t l, LayerActivations& a);
  void mix_experts_backward(std::int64_t rows, std::size_t l, LayerActivations& a);
  /// The same part backward: from dy to dx, with the gradients of its weights.
  void gated_backward(std::size_t l, std::size_t part, std::int64_t first, std::int64_t rows, CodedTensor& input,
                      FeedForwardActivations& f, const float* dy, float* dx);
  void attend_backward(const Batch& batch, std::size_t l, LayerActivations& a);

  // Names for observers: of a tensor of a layer, of one of a feed-forward part.
  static std::string place_name(std::size_t layer, std::string_view tensor);
  std::string part_name(std::size_t layer, std::size_t part, std::string_view tensor) const;
  /// Where calls of the backward pass stand.
  void backward_at(std::size_t layer, std::string_view tensor);

  Operators* operators_;
  ModelShape shape_;
  const PlanCodings* codings_;
  Parameters* parameters_;
  std::vector<Layer> layers_;
  Linear head_;
  Floats gain_;
  std::vector<std::vector<float>> routers_;  // of each layer, on the host
  std::vector<Floats> noisy_;                // by place of the parameter; empty: the clean weight
  StepAddress address_;
  Gradients gradients_;
};

}  // namespace fp4proof::training
