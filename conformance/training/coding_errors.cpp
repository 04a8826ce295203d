#include "conformance/training/coding_errors.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "formats/spec_profiles.h"

namespace fp4proof::training {

namespace {

portable::QuantizeOptions options_of(const fp4proof_quantize_call& call, const CorrectionStack& stack) {
  portable::QuantizeOptions options;
  options.axis = call.axis;
  options.tail = portable::Tail::pad;
  options.seed = call.random.seed;
  options.stream = static_cast<Stream>(call.random.stream);
  options.step = call.random.step;
  options.first_element = call.random.first;
  options.three_quarters = stack.three_quarters;
  return options;
}

Result<CorrectedError> error_of(const fp4proof_quantize_call& call, std::span<const float> x) {
  const Profile* const profile = find_profile(call.profile);
  const CorrectionStack* const named = find_correction_stack(call.stack);
  if (profile == nullptr || named == nullptr) return Error{ErrorKind::internal, "a call names no profile or stack"};
  CorrectionStack stack = *named;
  stack.stochastic = stack.stochastic || call.stochastic != 0;
  const std::array<std::int64_t, 2> shape = {call.rows, call.columns};
  const portable::TensorView tensor{portable::DType::f32, shape, reinterpret_cast<const std::byte*>(x.data())};
  const portable::QuantizeOptions options = options_of(call, stack);
  const auto corrected = portable::correct(*profile, stack, tensor, {options, call.product});
  if (!corrected) return corrected.error();
  return corrected_error(*profile, tensor, options, *corrected, portable::dequantize(*corrected));
}

}  // namespace

void CodingErrors::after(const ObservedCall& call) {
  const auto* const quantize = std::get_if<const fp4proof_quantize_call*>(&call.call);
  if (quantize == nullptr || !sound_) return;
  const fp4proof_quantize_call& c = **quantize;
  const auto error = error_of(c, operators_->download(c.x, static_cast<std::size_t>(c.rows * c.columns)));
  if (!error) {
    sound_ = error.error();
    return;
  }
  CodingError line{
      std::string(call.place.product), std::string(call.place.operand), call.place.tensor, c.profile, c.stack, *error};
  const auto same = std::find_if(seen_.begin(), seen_.end(), [&](const CodingError& other) {
    return std::tie(other.product, other.operand, other.tensor) == std::tie(line.product, line.operand, line.tensor);
  });
  if (same == seen_.end()) {
    seen_.push_back(std::move(line));
  } else {
    same->error.add(line.error);
  }
}

Result<std::vector<CodingError>> CodingErrors::take() {
  if (!sound_) return sound_.error();
  return std::exchange(seen_, {});
}

}  // namespace fp4proof::training
