#include "conformance/training/trace.h"

#include <array>
#include <cmath>
#include <limits>

#include "formats/float_bits.h"

namespace fp4proof::training {

void Trace::begin(std::int64_t step) { step_ = {step, {}, 0}; }

void Trace::add(const std::string& name, std::uint64_t elements, std::uint64_t digest) {
  step_.tensors.emplace_back(name, digest);
  chain_ = chained(chain_, name, elements, digest);
}

void Trace::add(const std::string& name, double number) {
  const double canonical = std::numeric_limits<double>::quiet_NaN();
  const auto word = bits_as<std::uint64_t>(std::isnan(number) ? canonical : number);
  const std::array words = {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  add(name, std::span<const std::uint32_t>(words));
}

void Trace::add(Operators& operators, const Parameters& parameters) {
  const std::size_t tensors = 3 * parameters.all.size();
  if (digests_.size() != tensors) digests_ = operators.make<std::uint64_t>(tensors);
  std::vector<std::pair<std::string, std::int64_t>> names;
  const auto ask = [&](const std::string& name, std::int64_t count, const Floats& numbers) {
    operators.at("trace", name);
    operators.call(&fp4proof_training::digest, "digest", {0, count, numbers.get(), digests_.get() + names.size()});
    names.emplace_back(name, count);
  };
  for (const Parameter& p : parameters.all) ask(p.name, p.count(), p.weight);
  for (const Parameter& p : parameters.all) ask(p.name + ".first_moment", p.count(), p.first_moment);
  for (const Parameter& p : parameters.all) ask(p.name + ".second_moment", p.count(), p.second_moment);
  const std::vector<std::uint64_t> digests = operators.download(digests_);
  for (std::size_t i = 0; i < names.size(); ++i) {
    add(names[i].first, static_cast<std::uint64_t>(names[i].second), digests[i]);
  }
}

const TraceStep& Trace::end() {
  step_.chain = chain_;
  return step_;
}

}  // namespace fp4proof::training
