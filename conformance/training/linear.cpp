#include "conformance/training/linear.h"

namespace fp4proof::training {

std::uint32_t Linear::number(Product product, StepAddress address) const {
  const std::uint32_t place = product == Product::input_gradient ? 1 : product == Product::weight_gradient ? 2 : 0;
  return (address.step << 12) | (4 * index_ + place);
}

void Linear::coding_at(Operators& operators, Product product, Operand operand, const std::string& tensor) const {
  operators.at(name_of(product), tensor, name_of(operand));
}

void Linear::product_at(Operators& operators, Product product) const { operators.at(name_of(product), name_); }

void Linear::code_weight(Operators& operators, const PlanCodings& codings, Product product, StepAddress address) {
  const auto code = [&](Coded& weight, Product of, Along along) {
    coding_at(operators, of, Operand::weight, name_);
    weight.code(operators, codings.at(kind_, of, Operand::weight), weight_, along, address.tensor(index_),
                number(of, address), false);
  };
  if (product == Product::rollout) return code(rollout_weight_, Product::rollout, Along::columns);
  code(forward_weight_, Product::forward, Along::columns);
  code(input_gradient_weight_, Product::input_gradient, Along::rows);
}

void Linear::forward(Operators& operators, const PlanCodings& codings, Product product, StepAddress address,
                     CodedTensor& x, float* y) const {
  const bool corrected_later =
      product == Product::forward && codings.at(kind_, Product::weight_gradient, Operand::activation).from_corrected;
  coding_at(operators, product, Operand::activation, x.name());
  const Coded& activation = x.along(operators, codings.at(kind_, product, Operand::activation), Along::columns,
                                    number(product, address), corrected_later);
  product_at(operators, product);
  multiply(operators, activation, product == Product::rollout ? rollout_weight_ : forward_weight_, y);
}

void Linear::set_gradient(CodedTensor& dy, Matrix gradient, StepAddress address) const {
  dy.set(gradient, address.tensor(index_), "d." + name_);
}

void Linear::input_gradient(Operators& operators, const PlanCodings& codings, StepAddress address, CodedTensor& dy,
                            float* dx) const {
  coding_at(operators, Product::input_gradient, Operand::gradient, dy.name());
  const Coded& gradient = dy.along(operators, codings.at(kind_, Product::input_gradient, Operand::gradient),
                                   Along::columns, number(Product::input_gradient, address));
  product_at(operators, Product::input_gradient);
  multiply(operators, gradient, input_gradient_weight_, dx);
}

void Linear::weight_gradient(Operators& operators, const PlanCodings& codings, StepAddress address, CodedTensor& dy,
                             CodedTensor& x, float* dw) const {
  const std::uint32_t product = number(Product::weight_gradient, address);
  coding_at(operators, Product::weight_gradient, Operand::gradient, dy.name());
  const Coded& gradient =
      dy.along(operators, codings.at(kind_, Product::weight_gradient, Operand::gradient), Along::rows, product);
  const Coding& wanted = codings.at(kind_, Product::weight_gradient, Operand::activation);
  coding_at(operators, Product::weight_gradient, Operand::activation, x.name());
  const Coded& activation = wanted.from_corrected
                                ? x.along_rows_of(operators, codings.at(kind_, Product::forward, Operand::activation),
                                                  number(Product::forward, address), wanted, product)
                                : x.along(operators, wanted, Along::rows, product);
  product_at(operators, Product::weight_gradient);
  multiply(operators, gradient, activation, dw);
}

}  // namespace fp4proof::training
