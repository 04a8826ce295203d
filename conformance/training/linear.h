#pragma once
// A linear layer Y = X W^T and its products, each operand coded as the plan says.

#include <cstdint>
#include <string>

#include "conformance/training/coded.h"

namespace fp4proof::training {

/// What addresses the random words and Hadamard signs of a step.
struct StepAddress {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;

  /// Tensor `index` of a stream has its own range of elements, so no two tensors share a word.
  RandomPlace tensor(std::uint64_t index) const { return {seed, step, index << 40}; }
};

class Linear {
 public:
  /// @param index  unique among the layers of a model, below 1024
  /// @param weight  [out features, in features]
  Linear(LayerKind kind, std::uint32_t index, std::string name, Matrix weight)
      : kind_(kind), index_(index), name_(std::move(name)), weight_(weight) {}

  /// Codes the weight for Product::rollout, or for the products of training.
  void code_weight(Operators& operators, const PlanCodings& codings, Product product, StepAddress address);

  /// y = x W^T, under Product::rollout or Product::forward.
  void forward(Operators& operators, const PlanCodings& codings, Product product, StepAddress address, CodedTensor& x,
               float* y) const;

  /// Gives dy, as a tensor whose words are those of this layer.
  void set_gradient(CodedTensor& dy, Matrix gradient, StepAddress address) const;

  /// dx = dy W.
  void input_gradient(Operators& operators, const PlanCodings& codings, StepAddress address, CodedTensor& dy,
                      float* dx) const;

  /// dW = dy^T x, after forward() of the same x.
  void weight_gradient(Operators& operators, const PlanCodings& codings, StepAddress address, CodedTensor& dy,
                       CodedTensor& x, float* dw) const;

 private:
  /// Where calls stand: the coding of an operand, or the product itself.
  void coding_at(Operators& operators, Product product, Operand operand, const std::string& tensor) const;
  void product_at(Operators& operators, Product product) const;
  /// Rollout and forward count as one product: in equal precision they give the same bits.
  std::uint32_t number(Product product, StepAddress address) const;

  LayerKind kind_;
  std::uint32_t index_;
  std::string name_;
  Matrix weight_;
  Coded rollout_weight_, forward_weight_, input_gradient_weight_;
};

}  // namespace fp4proof::training
