#include "conformance/training/teacher.h"

#include "conformance/training/row_operators.h"

namespace fp4proof::training {

namespace {

std::vector<std::int32_t> positions_of(std::int64_t sequences, std::int64_t queries) {
  std::vector<std::int32_t> positions;
  for (std::int64_t row = 0; row < sequences * queries; ++row) positions.push_back(std::int32_t(row % queries));
  return positions;
}

}  // namespace

Teacher::Teacher(Operators& operators, const ModelShape& shape, Task task, std::int64_t sequences)
    : operators_(&operators),
      shape_(shape),
      lengths_(lengths_of(task)),
      sequences_(sequences),
      activations_(operators, shape, sequences, queries(), queries()),
      inputs_(operators.make<std::int32_t>(static_cast<std::size_t>(rows()))),
      targets_(operators.make<std::int32_t>(static_cast<std::size_t>(rows()))),
      positions_(operators.upload<std::int32_t>(positions_of(sequences, queries()))),
      log_probability_(operators.make<float>(static_cast<std::size_t>(rows()))),
      weights_(operators.make<float>(static_cast<std::size_t>(rows()))),
      d_logits_(operators.make<float>(static_cast<std::size_t>(rows() * shape.vocabulary))) {}

std::vector<float> Teacher::log_probabilities(Model& model, std::span<const std::int32_t> tokens, Product product) {
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> targets;
  for (std::int64_t s = 0; s < sequences_; ++s) {
    const auto sequence = tokens.subspan(static_cast<std::size_t>(s * lengths_.sequence()),
                                         static_cast<std::size_t>(lengths_.sequence()));
    inputs.insert(inputs.end(), sequence.begin(), sequence.end() - 1);
    targets.insert(targets.end(), sequence.begin() + 1, sequence.end());
  }
  Operators& o = *operators_;
  o.copy_in<std::int32_t>(inputs_, inputs);
  o.copy_in<std::int32_t>(targets_, targets);
  model.forward(product, batch(), activations_);
  o.at(name_of(product), "log_probability");
  log_softmax(o, rows(), shape_.vocabulary, activations_.logits.get(), targets_.get(), log_probability_.get(), nullptr,
              nullptr);
  const std::vector<float> all = o.download(log_probability_);
  std::vector<float> result;
  for (std::int64_t s = 0; s < sequences_; ++s) {
    for (std::int64_t place = 0; place < lengths_.answer; ++place) result.push_back(all[row(s, place)]);
  }
  return result;
}

void Teacher::backward(Model& model, std::span<const float> weights) {
  std::vector<float> all(static_cast<std::size_t>(rows()), 0.0F);
  for (std::int64_t s = 0; s < sequences_; ++s) {
    for (std::int64_t place = 0; place < lengths_.answer; ++place) {
      all[row(s, place)] = weights[static_cast<std::size_t>(s * lengths_.answer + place)];
    }
  }
  Operators& o = *operators_;
  o.copy_in<float>(weights_, all);
  o.at("backward", "d.logits");
  log_softmax_backward(o, rows(), shape_.vocabulary, activations_.logits.get(), targets_.get(), weights_.get(),
                       d_logits_.get());
  model.backward(batch(), activations_, d_logits_.get());
}

}  // namespace fp4proof::training
