#pragma once
// A view on the operator calls of a run as they happen: for measurements, times and traces. It changes no bit.

#include <string>
#include <string_view>
#include <variant>

#include "conformance/training_backend.h"

namespace fp4proof::training {

/// Where in a step a call stands.
struct CallPlace {
  std::string_view product;  ///< a Product's name, or `backward`, `optimizer`, `trace`
  std::string tensor;        ///< what it is about: a parameter, or an activation such as `layers.0.attended`
  std::string_view operand;  ///< an Operand's name where an operand is coded, else empty
};

/// The struct of the call; its type says which operator it is.
using OperatorCall =
    std::variant<const fp4proof_quantize_call*, const fp4proof_multiply_call*, const fp4proof_to_bf16_call*,
                 const fp4proof_multiply_bf16_call*, const fp4proof_embed_call*, const fp4proof_embed_backward_call*,
                 const fp4proof_rms_norm_call*, const fp4proof_rms_norm_backward_call*, const fp4proof_add_call*,
                 const fp4proof_attention_call*, const fp4proof_attention_backward_call*, const fp4proof_swiglu_call*,
                 const fp4proof_swiglu_backward_call*, const fp4proof_copy_rows_call*, const fp4proof_gather_rows_call*,
                 const fp4proof_log_softmax_call*, const fp4proof_sample_call*,
                 const fp4proof_log_softmax_backward_call*, const fp4proof_sum_squares_call*, const fp4proof_adam_call*,
                 const fp4proof_add_noise_call*, const fp4proof_digest_call*>;

struct ObservedCall {
  std::string_view name;  ///< of the operator
  const CallPlace& place;
  OperatorCall call;
};

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  virtual void before(const ObservedCall& /*call*/) {}
  /// Only behind calls that the backend took without an error; its work may still be under way.
  virtual void after(const ObservedCall& /*call*/) {}
};

}  // namespace fp4proof::training
