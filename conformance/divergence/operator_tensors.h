#pragma once
// The tensors that a call of an operator reads and writes: names, places, shapes. For traces and replays.

#include <cstdint>
#include <functional>
#include <string_view>
#include <variant>
#include <vector>

#include "conformance/training/observer.h"
#include "formats/result.h"

namespace fp4proof::training {

enum class ElementType : std::uint8_t {
  f32,
  bf16,
  i32,
  f64,
  u64,
  byte,
  nibble,      ///< the even element in the low half of a byte
  scale_word,  ///< of HiF4, four bytes
};

std::uint32_t bits_of(ElementType type);

enum class Access : std::uint8_t { read, write, update };

/// One tensor of a call, row-major.
struct CallTensor {
  std::string_view name;  ///< of the field, such as `x` or `first.codes`
  ElementType type = ElementType::f32;
  Access access = Access::read;
  std::vector<std::int64_t> shape;
  std::int64_t row_stride = 0;       ///< elements from row to row of a matrix with gaps; 0: dense
  const void* data = nullptr;        ///< in the memory of the backend
  std::function<void(void*)> place;  ///< makes the call use another memory

  std::int64_t count() const;
  /// Bytes from `data` to behind the last element, gaps included; and without gaps.
  std::size_t span_bytes() const;
  std::size_t dense_bytes() const;
};

/// The struct of a call by value.
using CallCopy =
    std::variant<fp4proof_quantize_call, fp4proof_multiply_call, fp4proof_to_bf16_call, fp4proof_multiply_bf16_call,
                 fp4proof_embed_call, fp4proof_embed_backward_call, fp4proof_rms_norm_call,
                 fp4proof_rms_norm_backward_call, fp4proof_add_call, fp4proof_attention_call,
                 fp4proof_attention_backward_call, fp4proof_swiglu_call, fp4proof_swiglu_backward_call,
                 fp4proof_copy_rows_call, fp4proof_gather_rows_call, fp4proof_log_softmax_call, fp4proof_sample_call,
                 fp4proof_log_softmax_backward_call, fp4proof_sum_squares_call, fp4proof_adam_call,
                 fp4proof_add_noise_call, fp4proof_digest_call>;

/// A copy that outlives the call: its profiles and stacks are the named ones. `internal` error for a name that is none.
Result<CallCopy> copy_of(const OperatorCall& call);

/// Reads integers in the memory of the backend.
using ReadIntegers = std::function<std::vector<std::int32_t>(const std::int32_t* from, std::int64_t count)>;

/// The tensors of a call: what it reads in the order of the struct, then what it writes, scales before codes. Tensors
/// that are left out (null, empty) do not count, and a table has the rows up to the largest index that `read` finds.
/// `call` must outlive the result.
std::vector<CallTensor> tensors_of(CallCopy& call, const ReadIntegers& read);

}  // namespace fp4proof::training
