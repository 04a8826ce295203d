#include "conformance/divergence/reference_answer.h"

#include <cstring>
#include <tuple>

#include "conformance/training/reference_training.h"

namespace fp4proof::training {

namespace {

fp4proof_status run_on(const fp4proof_training& t, const CallCopy& call) {
  // Each operator has a call of its own, which finds it.
  const auto functions = std::tuple(t.quantize, t.multiply, t.to_bf16, t.multiply_bf16, t.embed, t.embed_backward,
                                    t.rms_norm, t.rms_norm_backward, t.add, t.attention, t.attention_backward, t.swiglu,
                                    t.swiglu_backward, t.copy_rows, t.gather_rows, t.log_softmax, t.sample,
                                    t.log_softmax_backward, t.sum_squares, t.adam, t.add_noise, t.digest);
  return std::visit(
      [&]<class Call>(const Call& c) { return std::get<fp4proof_status (*)(const Call*)>(functions)(&c); }, call);
}

/// Copies rows of `row` bytes between a dense tensor and one with gaps.
void copy_rows(std::uint8_t* to, std::size_t to_stride, const std::uint8_t* from, std::size_t from_stride,
               std::size_t row, std::size_t rows) {
  for (std::size_t r = 0; r < rows; ++r) std::memcpy(to + r * to_stride, from + r * from_stride, row);
}

/// The memory of one tensor, as the call wants it.
class Buffer {
 public:
  Buffer(const CallTensor& wanted, CapturedTensor& captured) : captured_(&captured) {
    const bool gaps = wanted.row_stride != 0;
    rows_ = gaps ? static_cast<std::size_t>(captured.shape[0]) : 1;
    CallTensor whole = wanted;
    whole.shape = captured.shape;
    row_ = whole.dense_bytes() / rows_;
    stride_ = gaps ? static_cast<std::size_t>(wanted.row_stride) * bits_of(wanted.type) / 8 : row_;
    memory_.resize((whole.span_bytes() + 7) / 8);
    if (!captured.before.empty()) copy_rows(data(), stride_, captured.before.data(), row_, row_, rows_);
    wanted.place(memory_.data());
  }
  void take() {
    if (captured_->access == Access::read) return;
    captured_->after.resize(row_ * rows_);
    copy_rows(captured_->after.data(), row_, data(), stride_, row_, rows_);
  }

 private:
  std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(memory_.data()); }

  CapturedTensor* captured_;
  std::size_t rows_ = 0, row_ = 0, stride_ = 0;
  std::vector<std::uint64_t> memory_;
};

}  // namespace

Result<CapturedCall> reference_answer(const CapturedCall& call) {
  CapturedCall answer = call;
  CallCopy asked = call.call;
  std::vector<Buffer> buffers;
  const ReadIntegers unread = [](const std::int32_t*, std::int64_t) { return std::vector<std::int32_t>{0}; };
  for (const CallTensor& wanted : tensors_of(asked, unread)) {
    for (CapturedTensor& captured : answer.tensors) {
      if (captured.name == wanted.name) buffers.emplace_back(wanted, captured);
    }
  }
  const fp4proof_training& reference = *reference_training();
  if (run_on(reference, asked) != FP4PROOF_OK) {
    return Error{ErrorKind::internal, "the reference refuses " + call.place.name + ": " + reference.error()};
  }
  for (Buffer& buffer : buffers) buffer.take();
  return answer;
}

}  // namespace fp4proof::training
