#include "conformance/training/mixed_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "conformance/profiles/profile_lookup.h"
#include "conformance/suite/case_group.h"
#include "conformance/training/reference_training.h"
#include "formats/philox.h"

namespace fp4proof::training {

namespace {

struct Mixed {
  fp4proof_training table{};
  const fp4proof_backend* plugin = nullptr;
  std::string name, description, error;
  std::int64_t by_plugin = 0;     ///< calls
  std::int64_t by_reference = 0;  ///< calls of the same operators that the plug-in does not offer
};

Mixed& mixed() {
  static Mixed one;
  return one;
}

fp4proof_status refuse(const std::string& reason, fp4proof_status status) {
  mixed().error = reason;
  return status;
}

/// Where the tensors of a call lie, by their names in docs/vectors.md.
using Places = std::map<std::string, void*>;

void add_part(Places& places, const std::string& prefix, const fp4proof_part& part) {
  places[prefix + "codes"] = part.codes;
  places[prefix + "scales"] = part.scales;
  places[prefix + "tensor_scale"] = part.tensor_scale;
  places[prefix + "macro"] = part.macro;
}

void* mutable_place(const void* data) { return const_cast<void*>(data); }

/// The tensors of a question of one case, as the plug-in gets them. Their names are those of `wanted`.
struct Tensors {
  std::vector<fp4proof_tensor> inputs, outputs;
};

fp4proof_tensor tensor_at(const suite::CaseTensor& wanted, void* data) {
  fp4proof_tensor tensor{};
  tensor.size = sizeof tensor;
  tensor.name = wanted.name.c_str();
  tensor.data = data;
  tensor.dtype = wanted.dtype == TensorDtype::u32 ? FP4PROOF_U32 : FP4PROOF_U8;
  tensor.rank = static_cast<std::int32_t>(wanted.case_shape.size()) + 1;
  tensor.shape[0] = 1;
  std::int64_t stride = 1;
  for (std::size_t d = wanted.case_shape.size(); d > 0; --d) {
    tensor.shape[d] = static_cast<std::int64_t>(wanted.case_shape[d - 1]);
    tensor.strides[d] = stride;
    stride *= tensor.shape[d];
  }
  tensor.strides[0] = stride;
  return tensor;
}

Tensors tensors_of(const std::vector<suite::CaseTensor>& wanted, const Places& places) {
  Tensors tensors;
  for (const suite::CaseTensor& one : wanted) {
    (one.expected ? tensors.outputs : tensors.inputs).push_back(tensor_at(one, places.at(one.name)));
  }
  return tensors;
}

fp4proof_call call_of(const suite::GroupSpec& spec, const Tensors& tensors) {
  fp4proof_call call{};
  call.size = sizeof call;
  call.correction = spec.correction.c_str();
  call.accumulator = spec.accumulator.c_str();
  call.cases = 1;
  call.rows = spec.rows;
  call.columns = spec.columns;
  call.other_rows = spec.other_rows;
  call.axis = spec.axis;
  call.tail = spec.tail == portable::Tail::pad ? FP4PROOF_TAIL_PAD : FP4PROOF_TAIL_ERROR;
  call.tensor_size = sizeof(fp4proof_tensor);
  call.inputs = tensors.inputs.data();
  call.outputs = tensors.outputs.data();
  call.input_count = static_cast<std::int32_t>(tensors.inputs.size());
  call.output_count = static_cast<std::int32_t>(tensors.outputs.size());
  return call;
}

/// What the plug-in makes of a call. It may not take back in run() what it has said in supports().
fp4proof_status answer(fp4proof_call& call) {
  std::array<char, 1024> error{};
  call.error = error.data();
  call.error_size = error.size();
  const fp4proof_backend& plugin = *mixed().plugin;
  const fp4proof_status offered = plugin.supports(&call);
  if (offered == FP4PROOF_UNSUPPORTED) return offered;
  const fp4proof_status status = offered == FP4PROOF_OK ? plugin.run(&call) : offered;
  if (status == FP4PROOF_OK) {
    ++mixed().by_plugin;
    return status;
  }
  error.back() = '\0';
  const char* const told = error.front() == '\0' ? "it does not say why" : error.data();
  return refuse(
      fmt::format("{} under {} with corrections '{}': {}", call.operation, call.profile, call.correction, told),
      status == FP4PROOF_UNSUPPORTED ? FP4PROOF_FAILED : status);
}

/// Asks the plug-in one question of one case.
fp4proof_status ask(suite::Operation operation, const char* profile_name, const suite::GroupSpec& spec,
                    const Places& places) {
  const Result<SharedProfile> profile = find_profile_or_file(profile_name);
  if (!profile) return refuse(profile.error().message, FP4PROOF_INVALID);
  const auto wanted = suite::group_tensors(operation, **profile, spec);
  if (!wanted) return refuse(wanted.error().message, FP4PROOF_INVALID);
  const Tensors tensors = tensors_of(*wanted, places);
  const std::string operation_name(name_of(operation));
  const std::string profile_json = profile_to_json(**profile).dump();
  fp4proof_call call = call_of(spec, tensors);
  call.operation = operation_name.c_str();
  call.profile = profile_name;
  call.profile_json = profile_json.c_str();
  return answer(call);
}

/// The name of the stack with stochastic rounding added; empty: there is none.
std::string_view with_stochastic(std::string_view name, bool stochastic) {
  const CorrectionStack* const stack = find_correction_stack(name);
  if (stack == nullptr || !stochastic) return name;
  CorrectionStack wanted = *stack;
  wanted.stochastic = true;
  for (CorrectionStack candidate : correction_stacks()) {
    wanted.name = candidate.name;
    wanted.summary = candidate.summary;
    if (candidate == wanted) return candidate.name;
  }
  return {};
}

fp4proof_status quantize_by_plugin(const fp4proof_quantize_call* c) {
  const std::string stack_name(with_stochastic(c->stack, c->stochastic != 0));
  const CorrectionStack* const stack = find_correction_stack(stack_name);
  if (stack == nullptr || stack->hadamard.signs == HadamardSigns::fresh) {
    return FP4PROOF_UNSUPPORTED;  // the interface of plug-ins has no such question
  }
  suite::GroupSpec spec;
  spec.rows = c->rows;
  spec.columns = c->columns;
  spec.axis = c->axis;
  spec.tail = portable::Tail::pad;
  const bool plain = stack_name == "none" && c->values == nullptr;
  if (!plain) spec.correction = stack_name;

  const auto count = static_cast<std::size_t>(c->rows * c->columns);
  std::vector<float> values;
  if (!plain && c->values == nullptr) values.resize(count);
  std::vector<std::uint32_t> words(stack->stochastic ? count : 0);  // a plan names no profile that rounds so by itself
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = random_word(c->random.seed, static_cast<Stream>(c->random.stream), c->random.step, c->random.first + i);
  }
  Places places = {{"input", mutable_place(c->x)},
                   {"random", words.data()},
                   {"values", c->values != nullptr ? c->values : values.data()}};
  add_part(places, "", c->first);
  add_part(places, "residual_", c->residual);
  return ask(plain ? suite::Operation::quantize : suite::Operation::correct, c->profile, spec, places);
}

fp4proof_status multiply_by_plugin(const fp4proof_multiply_call* c) {
  const CorrectionStack* const a = find_correction_stack(c->a.stack);
  const CorrectionStack* const b = find_correction_stack(c->b.stack);
  const Result<SharedProfile> profile = find_profile_or_file(c->a.profile);
  if (a == nullptr || b == nullptr || !profile) return refuse("unknown profile or stack", FP4PROOF_INVALID);
  if (std::string_view(c->a.profile) != c->b.profile) return FP4PROOF_UNSUPPORTED;  // one profile a question
  // Transforms and rounding do not show in a product: their codes are multiplied like any others.
  const bool plain = !a->macro.is_on() && !a->residual.is_on() && !a->three_quarters && !b->macro.is_on() &&
                     !b->residual.is_on() && !b->three_quarters;
  const CorrectionStack rest = a->without_residual();
  if (!plain && (rest.macro != b->macro || rest.three_quarters != b->three_quarters || b->residual.is_on())) {
    return FP4PROOF_UNSUPPORTED;
  }
  const std::int64_t block = a->effective(**profile).block.cols;
  if (plain && block != (*profile)->block.cols) return FP4PROOF_UNSUPPORTED;  // tiles of another length than blocks
  suite::GroupSpec spec;
  spec.rows = c->a.lines;
  spec.columns = (c->k + block - 1) / block * block;
  spec.other_rows = c->b.lines;
  spec.accumulator = "seq512";
  if (!plain) spec.correction = c->a.stack;
  Places places = {{"c", c->c}};
  add_part(places, "a_", c->a.first);
  add_part(places, "a_residual_", c->a.residual);
  add_part(places, "b_", c->b.first);
  return ask(plain ? suite::Operation::gemm : suite::Operation::correct_gemm, c->a.profile, spec, places);
}

template <class Call>
fp4proof_status or_reference(fp4proof_status status, fp4proof_status (*reference)(const Call*), const Call* call) {
  if (status != FP4PROOF_UNSUPPORTED) return status;
  ++mixed().by_reference;
  mixed().error.clear();
  return reference(call);
}

fp4proof_status quantize(const fp4proof_quantize_call* call) {
  return or_reference(quantize_by_plugin(call), reference_training()->quantize, call);
}

fp4proof_status multiply(const fp4proof_multiply_call* call) {
  return or_reference(multiply_by_plugin(call), reference_training()->multiply, call);
}

const char* error() {
  const char* const own = mixed().error.c_str();
  return *own != '\0' ? own : reference_training()->error();
}

void close() {
  if (mixed().plugin->close != nullptr) mixed().plugin->close();
}

}  // namespace

Result<const fp4proof_training*> mixed_training(const fp4proof_backend& plugin) {
  if ((plugin.flags & FP4PROOF_TAKES_HOST_MEMORY) == 0) {
    return Error{ErrorKind::usage,
                 fmt::format("plug-in {} takes no host memory, in which the reference keeps its tensors", plugin.name)};
  }
  Mixed& m = mixed();
  m = {*reference_training(),
       &plugin,
       fmt::format("{} and the reference", plugin.name),
       fmt::format("{}; all but quantization and products of codes by the CPU reference", plugin.description),
       {},
       0,
       0};
  m.table.name = m.name.c_str();
  m.table.description = m.description.c_str();
  m.table.quantize = quantize;
  m.table.multiply = multiply;
  m.table.error = error;
  m.table.close = close;
  return &m.table;
}

bool mixed_answered_nothing() {
  const Mixed& m = mixed();
  return m.plugin != nullptr && m.by_plugin == 0 && m.by_reference > 0;
}

std::string mixed_account() {
  const Mixed& m = mixed();
  if (m.plugin == nullptr) return {};
  return fmt::format("{} calls by the plug-in, {} that it does not offer by the reference", m.by_plugin,
                     m.by_reference);
}

}  // namespace fp4proof::training
