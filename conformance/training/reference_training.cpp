#include "conformance/training/reference_training.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

#include "formats/spec_corrections.h"
#include "formats/spec_profiles.h"
#include "reference/portable/training/attention.h"
#include "reference/portable/training/products.h"
#include "reference/portable/training/rows.h"
#include "reference/portable/training/tokens.h"
#include "reference/portable/training/weights.h"

namespace fp4proof::training {

namespace {

namespace on_cpu = portable::training;

// --- Errors ----------------------------------------------------------------------------------------------------------

std::string& last_error() {
  static std::string message;
  return message;
}

fp4proof_status failed(const Error& error) {
  last_error() = error.message;
  switch (error.kind) {
    case ErrorKind::usage:
    case ErrorKind::data:
    case ErrorKind::corrupt: return FP4PROOF_INVALID;
    case ErrorKind::unsupported: return FP4PROOF_UNSUPPORTED;
    case ErrorKind::io:
    case ErrorKind::backend:
    case ErrorKind::internal: break;
  }
  return FP4PROOF_FAILED;
}

/// An operator as the table wants it: `Operate` takes the call and returns nothing or a Result.
template <auto Operate, class Call>
fp4proof_status run(const Call* call) {
  try {
    if (call->size < sizeof(Call)) return failed({ErrorKind::usage, "the call is shorter than its struct"});
    if constexpr (std::is_void_v<decltype(Operate(*call))>) {
      Operate(*call);
    } else if (const Result<void> done = Operate(*call); !done) {
      return failed(done.error());
    }
    return FP4PROOF_OK;
  } catch (const std::exception& exception) {
    return failed({ErrorKind::internal, exception.what()});
  }
}

// --- Memory ----------------------------------------------------------------------------------------------------------

void* allocate(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  const std::size_t padded = (bytes + alignment - 1) / alignment * alignment;
  if (padded < bytes) return nullptr;
  void* memory = std::aligned_alloc(alignment, padded);
  if (memory != nullptr) std::memset(memory, 0, padded);
  return memory;
}

fp4proof_status copy(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) std::memmove(to, from, bytes);
  return FP4PROOF_OK;
}

// --- Products --------------------------------------------------------------------------------------------------------

struct Names {
  const Profile* profile;
  const CorrectionStack* stack;
};

Result<Names> look_up(const char* profile, const char* stack) {
  const Names names = {find_profile(profile), find_correction_stack(stack)};
  if (names.profile == nullptr) return Error{ErrorKind::usage, "no profile is named " + std::string(profile)};
  if (names.stack == nullptr) return Error{ErrorKind::usage, "no stack is named " + std::string(stack)};
  return names;
}

on_cpu::PartBytes bytes_of(const fp4proof_part& part) {
  return {part.codes, part.scales, part.tensor_scale, part.macro};
}

on_cpu::RandomAddress address_of(const fp4proof_random& random) {
  return {random.seed, static_cast<Stream>(random.stream), random.step, random.first};
}

Result<void> quantize(const fp4proof_quantize_call& c) {
  const Result<Names> names = look_up(c.profile, c.stack);
  if (!names) return names.error();
  CorrectionStack stack = *names->stack;
  stack.stochastic = stack.stochastic || c.stochastic != 0;
  const on_cpu::QuantizeTask task = {*names->profile,      stack,     c.rows, c.columns, c.axis,
                                     address_of(c.random), c.product, c.x};
  return on_cpu::quantize(task, bytes_of(c.first), bytes_of(c.residual), c.values);
}

Result<void> multiply(const fp4proof_multiply_call& c) {
  const Result<Names> a = look_up(c.a.profile, c.a.stack);
  if (!a) return a.error();
  const Result<Names> b = look_up(c.b.profile, c.b.stack);
  if (!b) return b.error();
  return on_cpu::multiply({*a->profile, *a->stack, c.a.lines, bytes_of(c.a.first), bytes_of(c.a.residual)},
                          {*b->profile, *b->stack, c.b.lines, bytes_of(c.b.first), bytes_of(c.b.residual)}, c.k, c.c);
}

void to_bf16(const fp4proof_to_bf16_call& c) { on_cpu::to_bf16(c.rows, c.columns, c.transpose != 0, c.x, c.y); }

Result<void> multiply_bf16(const fp4proof_multiply_bf16_call& c) {
  return on_cpu::multiply_bf16(c.m, c.n, c.k, c.a, c.b, c.c);
}

// --- Rows ------------------------------------------------------------------------------------------------------------

void embed(const fp4proof_embed_call& c) {
  on_cpu::embed(c.rows, c.columns, c.tokens, c.positions, c.token_table, c.position_table, c.y);
}

void embed_backward(const fp4proof_embed_backward_call& c) {
  on_cpu::embed_backward(c.rows, c.columns, c.entries, c.indices, c.dy, c.table_gradient);
}

void rms_norm(const fp4proof_rms_norm_call& c) {
  on_cpu::rms_norm(c.rows, c.columns, c.x, c.weight, c.gain, c.y, c.inverse);
}

void rms_norm_backward(const fp4proof_rms_norm_backward_call& c) {
  on_cpu::rms_norm_backward(c.rows, c.columns, c.x, c.weight, c.gain, c.inverse, c.dy, c.dx, c.weight_gradient);
}

void add(const fp4proof_add_call& c) { on_cpu::add(c.count, c.a, c.b, c.y); }

void attention(const fp4proof_attention_call& c) {
  on_cpu::attention({c.sequences, c.queries, c.capacity, c.first_position, c.heads, c.head_size}, c.q, c.k, c.v, c.out,
                    c.probabilities);
}

void attention_backward(const fp4proof_attention_backward_call& c) {
  on_cpu::attention_backward({c.sequences, c.queries, c.queries, 0, c.heads, c.head_size}, c.q, c.k, c.v,
                             c.probabilities, c.d_out, c.dq, c.dk, c.dv);
}

void swiglu(const fp4proof_swiglu_call& c) { on_cpu::swiglu(c.count, c.gate, c.up, c.y); }

void swiglu_backward(const fp4proof_swiglu_backward_call& c) {
  on_cpu::swiglu_backward(c.count, c.gate, c.up, c.dy, c.d_gate, c.d_up);
}

void copy_rows(const fp4proof_copy_rows_call& c) {
  on_cpu::copy_rows(c.rows, c.width, c.from_stride, c.to_stride, c.from, c.to);
}

void gather_rows(const fp4proof_gather_rows_call& c) {
  on_cpu::gather_rows(c.rows, c.columns, c.indices, c.weights, c.x, c.y);
}

// --- Tokens ----------------------------------------------------------------------------------------------------------

void log_softmax(const fp4proof_log_softmax_call& c) {
  on_cpu::log_softmax(c.rows, c.vocabulary, c.logits, c.targets, c.log_probability, c.entropy, c.largest);
}

void sample(const fp4proof_sample_call& c) {
  on_cpu::sample(c.rows, c.vocabulary, address_of(c.random), c.logits, c.tokens);
}

void log_softmax_backward(const fp4proof_log_softmax_backward_call& c) {
  on_cpu::log_softmax_backward(c.rows, c.vocabulary, c.logits, c.targets, c.weights, c.d_logits);
}

// --- Weights ---------------------------------------------------------------------------------------------------------

void sum_squares(const fp4proof_sum_squares_call& c) { *c.sum = on_cpu::sum_squares(c.count, c.x); }

void adam(const fp4proof_adam_call& c) {
  on_cpu::adam({c.learning_rate, c.beta1, c.beta2, c.epsilon, c.correction1, c.correction2, c.gradient_scale}, c.count,
               c.gradient, c.first_moment, c.second_moment, c.weight);
}

void add_noise(const fp4proof_add_noise_call& c) {
  on_cpu::add_noise(c.count, address_of(c.random), c.sigma, c.weight, c.y);
}

void digest(const fp4proof_digest_call& c) {
  *c.digest = on_cpu::digest(c.count, static_cast<const std::uint32_t*>(c.words));
}

constexpr fp4proof_training table = {
    .size = sizeof(fp4proof_training),
    .version = FP4PROOF_TRAINING_VERSION,
    .reserved = 0,
    .name = "cpu",
    .description = "the CPU reference",
    .allocate = allocate,
    .release = std::free,
    .copy_in = copy,
    .copy_out = copy,
    .synchronize = [] { return fp4proof_status{FP4PROOF_OK}; },
    .error = [] { return last_error().c_str(); },
    .close = [] {},
    .quantize = run<quantize>,
    .multiply = run<multiply>,
    .to_bf16 = run<to_bf16>,
    .multiply_bf16 = run<multiply_bf16>,
    .embed = run<embed>,
    .embed_backward = run<embed_backward>,
    .rms_norm = run<rms_norm>,
    .rms_norm_backward = run<rms_norm_backward>,
    .add = run<add>,
    .attention = run<attention>,
    .attention_backward = run<attention_backward>,
    .swiglu = run<swiglu>,
    .swiglu_backward = run<swiglu_backward>,
    .copy_rows = run<copy_rows>,
    .gather_rows = run<gather_rows>,
    .log_softmax = run<log_softmax>,
    .sample = run<sample>,
    .log_softmax_backward = run<log_softmax_backward>,
    .sum_squares = run<sum_squares>,
    .adam = run<adam>,
    .add_noise = run<add_noise>,
    .digest = run<digest>,
};

}  // namespace

const fp4proof_training* reference_training() { return &table; }

}  // namespace fp4proof::training
