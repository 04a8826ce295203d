#include "conformance/divergence/operator_tensors.h"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "formats/spec_corrections.h"
#include "formats/spec_profiles.h"
#include "reference/portable/correct.h"
#include "reference/portable/tensor.h"

namespace fp4proof::training {

namespace {

using Shape = std::vector<std::int64_t>;

template <class T>
constexpr ElementType type_of() {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, float>) return ElementType::f32;
  if constexpr (std::is_same_v<Plain, std::uint16_t>) return ElementType::bf16;
  if constexpr (std::is_same_v<Plain, std::int32_t>) return ElementType::i32;
  if constexpr (std::is_same_v<Plain, double>) return ElementType::f64;
  if constexpr (std::is_same_v<Plain, std::uint64_t>) return ElementType::u64;
  return ElementType::byte;
}

/// Gathers the tensors of one call.
class Gatherer {
 public:
  explicit Gatherer(const ReadIntegers& read) : read_(&read) {}

  template <class T>
  CallTensor* add(std::string_view name, T*& pointer, Access access, Shape shape, ElementType type = type_of<T>()) {
    if (pointer == nullptr) return nullptr;
    CallTensor tensor{
        name, type, access, std::move(shape), 0, pointer, [&pointer](void* to) { pointer = static_cast<T*>(to); }};
    if (tensor.count() == 0) return nullptr;
    return &tensors_.emplace_back(std::move(tensor));
  }
  template <class T>
  CallTensor* reads(std::string_view name, const T*& pointer, Shape shape) {
    return add(name, pointer, Access::read, std::move(shape));
  }
  template <class T>
  CallTensor* writes(std::string_view name, T*& pointer, Shape shape) {
    return add(name, pointer, Access::write, std::move(shape));
  }

  /// The rows of a table that `indices` reach.
  std::int64_t rows_up_to(const std::int32_t* indices, std::int64_t count) const {
    std::int32_t largest = -1;
    for (const std::int32_t index : (*read_)(indices, count)) largest = std::max(largest, index);
    return std::int64_t{largest} + 1;
  }

  std::vector<CallTensor> take() { return std::move(tensors_); }

 private:
  const ReadIntegers* read_;
  std::vector<CallTensor> tensors_;
};

// --- Coded operands --------------------------------------------------------------------------------------------------

struct PartNames {
  std::string_view codes, scales, tensor_scale, macro;
};

void add_part(Gatherer& g, const PartNames& names, fp4proof_part& part, Access access, const Profile& profile,
              const CorrectionStack& stack, std::int64_t lines, std::int64_t length) {
  const std::array<std::int64_t, 2> shape = {lines, length};
  const auto geometry = portable::geometry_of_quantized(profile, shape, 1);
  if (!geometry) return;
  const bool nibbles = element_spec(profile.element).is_nibble();
  if (profile.family == Family::nvfp4 && profile.tensor_scale) {
    g.add(names.tensor_scale, part.tensor_scale, access, {1});
  }
  g.add(names.macro, part.macro, access, {lines, portable::macro_blocks_per_row(stack.macro, length)});
  g.add(names.scales, part.scales, access, {lines, geometry->blocks},
        profile.family == Family::hif4 ? ElementType::scale_word : ElementType::byte);
  g.add(names.codes, part.codes, access, {lines, geometry->padded_columns},
        nibbles ? ElementType::nibble : ElementType::byte);
}

struct OperandNames {
  PartNames first, residual;
};

void add_operand(Gatherer& g, const OperandNames& names, const char* profile_name, const char* stack_name,
                 std::array<fp4proof_part*, 2> parts, Access access, std::int64_t lines, std::int64_t length) {
  const CorrectionStack& stack = *find_correction_stack(stack_name);
  const Profile profile = stack.effective(*find_profile(profile_name));
  add_part(g, names.first, *parts[0], access, profile, stack, lines, length);
  if (stack.residual.is_on()) add_part(g, names.residual, *parts[1], access, profile, stack, lines, length);
}

constexpr OperandNames quantized_names = {
    {"first.codes", "first.scales", "first.tensor_scale", "first.macro"},
    {"residual.codes", "residual.scales", "residual.tensor_scale", "residual.macro"}};
constexpr OperandNames a_names = {
    {"a.first.codes", "a.first.scales", "a.first.tensor_scale", "a.first.macro"},
    {"a.residual.codes", "a.residual.scales", "a.residual.tensor_scale", "a.residual.macro"}};
constexpr OperandNames b_names = {
    {"b.first.codes", "b.first.scales", "b.first.tensor_scale", "b.first.macro"},
    {"b.residual.codes", "b.residual.scales", "b.residual.tensor_scale", "b.residual.macro"}};

// --- Calls -----------------------------------------------------------------------------------------------------------

void gather(Gatherer& g, fp4proof_quantize_call& c) {
  const std::int64_t lines = c.axis == 1 ? c.rows : c.columns;
  const std::int64_t length = c.axis == 1 ? c.columns : c.rows;
  g.reads("x", c.x, {c.rows, c.columns});
  add_operand(g, quantized_names, c.profile, c.stack, {&c.first, &c.residual}, Access::write, lines, length);
  g.writes("values", c.values, {lines, length});
}

void gather(Gatherer& g, fp4proof_multiply_call& c) {
  add_operand(g, a_names, c.a.profile, c.a.stack, {&c.a.first, &c.a.residual}, Access::read, c.a.lines, c.k);
  add_operand(g, b_names, c.b.profile, c.b.stack, {&c.b.first, &c.b.residual}, Access::read, c.b.lines, c.k);
  g.writes("c", c.c, {c.a.lines, c.b.lines});
}

void gather(Gatherer& g, fp4proof_to_bf16_call& c) {
  g.reads("x", c.x, {c.rows, c.columns});
  g.writes("y", c.y, c.transpose != 0 ? Shape{c.columns, c.rows} : Shape{c.rows, c.columns});
}

void gather(Gatherer& g, fp4proof_multiply_bf16_call& c) {
  g.reads("a", c.a, {c.m, c.k});
  g.reads("b", c.b, {c.n, c.k});
  g.writes("c", c.c, {c.m, c.n});
}

void gather(Gatherer& g, fp4proof_embed_call& c) {
  g.reads("tokens", c.tokens, {c.rows});
  g.reads("positions", c.positions, {c.rows});
  g.reads("token_table", c.token_table, {g.rows_up_to(c.tokens, c.rows), c.columns});
  g.reads("position_table", c.position_table, {g.rows_up_to(c.positions, c.rows), c.columns});
  g.writes("y", c.y, {c.rows, c.columns});
}

void gather(Gatherer& g, fp4proof_embed_backward_call& c) {
  g.reads("indices", c.indices, {c.rows});
  g.reads("dy", c.dy, {c.rows, c.columns});
  g.writes("table_gradient", c.table_gradient, {c.entries, c.columns});
}

void gather(Gatherer& g, fp4proof_rms_norm_call& c) {
  g.reads("x", c.x, {c.rows, c.columns});
  g.reads("weight", c.weight, {c.columns});
  g.reads("gain", c.gain, {c.columns});
  g.writes("inverse", c.inverse, {c.rows});
  g.writes("y", c.y, {c.rows, c.columns});
}

void gather(Gatherer& g, fp4proof_rms_norm_backward_call& c) {
  g.reads("x", c.x, {c.rows, c.columns});
  g.reads("weight", c.weight, {c.columns});
  g.reads("gain", c.gain, {c.columns});
  g.reads("inverse", c.inverse, {c.rows});
  g.reads("dy", c.dy, {c.rows, c.columns});
  g.writes("dx", c.dx, {c.rows, c.columns});
  g.writes("weight_gradient", c.weight_gradient, {c.columns});
}

void gather(Gatherer& g, fp4proof_add_call& c) {
  g.reads("a", c.a, {c.count});
  g.reads("b", c.b, {c.count});
  g.writes("y", c.y, {c.count});
}

void gather(Gatherer& g, fp4proof_attention_call& c) {
  const std::int64_t width = c.heads * c.head_size;
  g.reads("q", c.q, {c.sequences, c.queries, width});
  g.reads("k", c.k, {c.sequences, c.capacity, width});
  g.reads("v", c.v, {c.sequences, c.capacity, width});
  g.writes("probabilities", c.probabilities, {c.sequences, c.heads, c.queries, c.capacity});
  g.writes("out", c.out, {c.sequences, c.queries, width});
}

void gather(Gatherer& g, fp4proof_attention_backward_call& c) {
  const Shape whole = {c.sequences, c.queries, c.heads * c.head_size};
  g.reads("q", c.q, whole);
  g.reads("k", c.k, whole);
  g.reads("v", c.v, whole);
  g.reads("probabilities", c.probabilities, {c.sequences, c.heads, c.queries, c.queries});
  g.reads("d_out", c.d_out, whole);
  g.writes("dq", c.dq, whole);
  g.writes("dk", c.dk, whole);
  g.writes("dv", c.dv, whole);
}

void gather(Gatherer& g, fp4proof_swiglu_call& c) {
  g.reads("gate", c.gate, {c.count});
  g.reads("up", c.up, {c.count});
  g.writes("y", c.y, {c.count});
}

void gather(Gatherer& g, fp4proof_swiglu_backward_call& c) {
  g.reads("gate", c.gate, {c.count});
  g.reads("up", c.up, {c.count});
  g.reads("dy", c.dy, {c.count});
  g.writes("d_gate", c.d_gate, {c.count});
  g.writes("d_up", c.d_up, {c.count});
}

void gather(Gatherer& g, fp4proof_copy_rows_call& c) {
  if (CallTensor* const from = g.reads("from", c.from, {c.rows, c.width})) from->row_stride = c.from_stride;
  if (CallTensor* const to = g.writes("to", c.to, {c.rows, c.width})) to->row_stride = c.to_stride;
}

void gather(Gatherer& g, fp4proof_gather_rows_call& c) {
  g.reads("indices", c.indices, {c.rows});
  g.reads("weights", c.weights, {c.rows});
  g.reads("x", c.x, {g.rows_up_to(c.indices, c.rows), c.columns});
  g.writes("y", c.y, {c.rows, c.columns});
}

void gather(Gatherer& g, fp4proof_log_softmax_call& c) {
  g.reads("logits", c.logits, {c.rows, c.vocabulary});
  g.reads("targets", c.targets, {c.rows});
  g.writes("log_probability", c.log_probability, {c.rows});
  g.writes("entropy", c.entropy, {c.rows});
  g.writes("largest", c.largest, {c.rows});
}

void gather(Gatherer& g, fp4proof_sample_call& c) {
  g.reads("logits", c.logits, {c.rows, c.vocabulary});
  g.writes("tokens", c.tokens, {c.rows});
}

void gather(Gatherer& g, fp4proof_log_softmax_backward_call& c) {
  g.reads("logits", c.logits, {c.rows, c.vocabulary});
  g.reads("targets", c.targets, {c.rows});
  g.reads("weights", c.weights, {c.rows});
  g.writes("d_logits", c.d_logits, {c.rows, c.vocabulary});
}

void gather(Gatherer& g, fp4proof_sum_squares_call& c) {
  g.reads("x", c.x, {c.count});
  g.writes("sum", c.sum, {1});
}

void gather(Gatherer& g, fp4proof_adam_call& c) {
  g.reads("gradient", c.gradient, {c.count});
  g.add("first_moment", c.first_moment, Access::update, {c.count});
  g.add("second_moment", c.second_moment, Access::update, {c.count});
  g.add("weight", c.weight, Access::update, {c.count});
}

void gather(Gatherer& g, fp4proof_add_noise_call& c) {
  g.reads("weight", c.weight, {c.count});
  g.writes("y", c.y, {c.count});
}

void gather(Gatherer& g, fp4proof_digest_call& c) {
  g.add("words", c.words, Access::read, {c.count}, ElementType::f32);
  g.writes("digest", c.digest, {1});
}

// --- Names -----------------------------------------------------------------------------------------------------------

/// Makes both names those of the tables of fp4proof, which live for ever.
Result<void> use_own_names(const char*& profile_name, const char*& stack_name) {
  const Profile* const profile = find_profile(profile_name);
  const CorrectionStack* const stack = find_correction_stack(stack_name);
  if (profile == nullptr || stack == nullptr) {
    return Error{ErrorKind::internal, std::string("a call names profile ") + profile_name + " and stack " + stack_name};
  }
  profile_name = profile->name.data();
  stack_name = stack->name.data();
  return {};
}

template <class Call>
Result<void> own_names(Call& call) {
  if constexpr (std::is_same_v<Call, fp4proof_quantize_call>) {
    return use_own_names(call.profile, call.stack);
  } else if constexpr (std::is_same_v<Call, fp4proof_multiply_call>) {
    if (const auto done = use_own_names(call.a.profile, call.a.stack); !done) return done;
    return use_own_names(call.b.profile, call.b.stack);
  }
  return {};
}

}  // namespace

std::uint32_t bits_of(ElementType type) {
  switch (type) {
    case ElementType::nibble: return 4;
    case ElementType::byte: return 8;
    case ElementType::bf16: return 16;
    case ElementType::f32:
    case ElementType::i32:
    case ElementType::scale_word: return 32;
    case ElementType::f64:
    case ElementType::u64: return 64;
  }
  return 0;
}

std::int64_t CallTensor::count() const { return portable::element_count_of(shape); }

std::size_t CallTensor::dense_bytes() const { return static_cast<std::size_t>(count()) * bits_of(type) / 8; }

std::size_t CallTensor::span_bytes() const {
  if (row_stride == 0) return dense_bytes();
  const std::int64_t elements = (shape[0] - 1) * row_stride + shape[1];
  return static_cast<std::size_t>(elements) * bits_of(type) / 8;
}

Result<CallCopy> copy_of(const OperatorCall& call) {
  return std::visit(
      [](const auto* original) -> Result<CallCopy> {
        auto copy = *original;
        if (const auto named = own_names(copy); !named) return named.error();
        return CallCopy(copy);
      },
      call);
}

std::vector<CallTensor> tensors_of(CallCopy& call, const ReadIntegers& read) {
  Gatherer gatherer(read);
  std::visit([&](auto& c) { gather(gatherer, c); }, call);
  return gatherer.take();
}

}  // namespace fp4proof::training
