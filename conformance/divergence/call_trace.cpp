#include "conformance/divergence/call_trace.h"

#include <algorithm>
#include <cstring>

#include "conformance/training/digest.h"
#include "conformance/vectors/bit_units.h"

namespace fp4proof::training {

namespace {

TracedPlace place_of(const ObservedCall& call) {
  return {std::string(call.name), std::string(call.place.product), call.place.tensor, std::string(call.place.operand)};
}

ReadIntegers integers_in(Operators& operators) {
  return [&operators](const std::int32_t* from, std::int64_t count) {
    return operators.download(from, static_cast<std::size_t>(count));
  };
}

/// The elements of a tensor, without what lies between rows.
std::vector<std::uint8_t> elements_of(Operators& operators, const CallTensor& tensor) {
  std::vector<std::uint8_t> span =
      operators.download(static_cast<const std::uint8_t*>(tensor.data), tensor.span_bytes());
  if (tensor.row_stride == 0) return span;
  const std::size_t row = tensor.dense_bytes() / static_cast<std::size_t>(tensor.shape[0]);
  const std::size_t stride = static_cast<std::size_t>(tensor.row_stride) * bits_of(tensor.type) / 8;
  for (std::size_t r = 1; r < static_cast<std::size_t>(tensor.shape[0]); ++r) {
    std::memmove(span.data() + r * row, span.data() + r * stride, row);
  }
  span.resize(tensor.dense_bytes());
  return span;
}

/// T50 of bytes, filled up with zeros to words.
std::uint64_t digest_of_bytes(std::vector<std::uint8_t> bytes) {
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return digest_of(std::span<const std::uint32_t>(copy_elements<std::uint32_t>(bytes)));
}

bool counts(const CallTensor& tensor, bool written) {
  return tensor.access == Access::update || (tensor.access == Access::write) == written;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Digests
// ---------------------------------------------------------------------------------------------------------------------

void CallTrace::before(const ObservedCall& call) {
  calls_.push_back({place_of(call), {}});
  add(call, false);
}

void CallTrace::after(const ObservedCall& call) { add(call, true); }

void CallTrace::add(const ObservedCall& call, bool written) {
  if (!sound_) return;
  Result<CallCopy> copy = copy_of(call.call);
  if (!copy) {
    sound_ = copy.error();
    return;
  }
  for (const CallTensor& tensor : tensors_of(*copy, integers_in(*operators_))) {
    if (!counts(tensor, written)) continue;
    calls_.back().tensors.push_back(
        {tensor.name, written, tensor.count(), digest_of_bytes(elements_of(*operators_, tensor))});
  }
}

Result<std::vector<TracedCall>> CallTrace::take() {
  if (!sound_) return sound_.error();
  return std::exchange(calls_, {});
}

// ---------------------------------------------------------------------------------------------------------------------
// One call
// ---------------------------------------------------------------------------------------------------------------------

std::uint64_t CapturedTensor::word(const std::vector<std::uint8_t>& bytes, std::int64_t index) const {
  return unit_at(bytes, static_cast<std::uint64_t>(index), bits_of(type));
}

const CapturedTensor* CapturedCall::find(std::string_view name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const CapturedTensor& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

void CallCapture::before(const ObservedCall& call) {
  if (seen_++ != index_) return;
  Result<CallCopy> copy = copy_of(call.call);
  if (!copy) {
    sound_ = copy.error();
    return;
  }
  captured_ = CapturedCall{place_of(call), *copy, {}};
  for (const CallTensor& tensor : tensors_of(*copy, integers_in(*operators_))) {
    CapturedTensor captured{tensor.name, tensor.type, tensor.access, tensor.shape, {}, {}};
    if (counts(tensor, false)) captured.before = elements_of(*operators_, tensor);
    captured_->tensors.push_back(std::move(captured));
  }
}

void CallCapture::after(const ObservedCall& call) {
  if (seen_ != index_ + 1 || !captured_) return;
  Result<CallCopy> copy = copy_of(call.call);
  if (!copy) return;
  const auto tensors = tensors_of(*copy, integers_in(*operators_));
  for (std::size_t i = 0; i < tensors.size() && i < captured_->tensors.size(); ++i) {
    if (counts(tensors[i], true)) captured_->tensors[i].after = elements_of(*operators_, tensors[i]);
  }
}

Result<std::optional<CapturedCall>> CallCapture::take() {
  if (!sound_) return sound_.error();
  return std::exchange(captured_, std::nullopt);
}

}  // namespace fp4proof::training
