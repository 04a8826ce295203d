#include "conformance/divergence/replay.h"

#include <fmt/format.h>

#include <bit>

#include "conformance/divergence/element_text.h"
#include "conformance/verify/mismatch.h"
#include "formats/philox.h"
#include "formats/spec_corrections.h"
#include "formats/spec_profiles.h"
#include "reference/portable/geometry.h"

namespace fp4proof::training {

namespace {

/// Rows of inputs that are longer stay out of a table.
constexpr std::int64_t longest_row = 64;

std::string text_at(const CapturedTensor& tensor, std::int64_t index) {
  return element_text(tensor.type, tensor.word(tensor.before, index));
}

/// What stands at the place of the element: the same element of an input of the same shape, its row or its column of a
/// vector, its row of another matrix.
void add_input(const CapturedTensor& input, const OutputElement& element, Replay& replay) {
  const std::vector<std::int64_t>& shape = element.output.shape;
  const auto place = coordinates_of(shape, element.index);
  const auto add = [&](const std::vector<std::int64_t>& at, std::int64_t index) {
    replay.rows.push_back({fmt::format("{}{}", input.name, coordinates_text(at)), text_at(input, index)});
  };
  if (input.shape == shape) return add(place, element.index);
  if (input.shape.size() == 1 && input.shape[0] == shape.back()) return add({place.back()}, place.back());
  if (input.shape.size() == 1 && input.shape[0] == shape.front()) return add({place.front()}, place.front());
  if (input.shape.size() != 2 || input.shape[0] != shape.front() || input.shape[1] > longest_row) {
    replay.notes.push_back(
        fmt::format("{}{} is read as a whole or in other places", input.name, coordinates_text(input.shape)));
    return;
  }
  for (std::int64_t i = 0; i < input.shape[1]; ++i) add({place.front(), i}, place.front() * input.shape[1] + i);
}

/// Where x of a quantize call stands that line and column of the coded tensor come from.
std::int64_t place_in_x(const fp4proof_quantize_call& call, std::int64_t line, std::int64_t column) {
  return call.axis == 1 ? line * call.columns + column : column * call.columns + line;
}

/// One bit of a word, told by its field.
std::string bit_text(ElementType type, int bit) {
  const int fraction = type == ElementType::f32    ? 23
                       : type == ElementType::bf16 ? 7
                       : type == ElementType::f64  ? 52
                                                   : 64;
  if (fraction == 64) return fmt::format("bit {}", bit);
  const int top = static_cast<int>(bits_of(type)) - 1;
  const char* const field = bit == top ? "the sign" : bit < fraction ? "the fraction" : "the exponent";
  return fmt::format("bit {} ({})", bit, field);
}

void add_bit_causes(const OutputElement& element, Replay& replay) {
  const std::uint64_t right = element.output.word(element.output.after, element.index);
  const std::uint64_t changed = right ^ element.other;
  const ElementType type = element.output.type;
  if (type == ElementType::byte || type == ElementType::nibble) {
    if (element.other == right + 1) replay.causes.emplace_back("the code is one too large");
    if (element.other + 1 == right) replay.causes.emplace_back("the code is one too small");
  }
  if (std::has_single_bit(changed)) {
    replay.causes.push_back(fmt::format("{} is flipped", bit_text(type, std::countr_zero(changed))));
  }
}

}  // namespace

Replay replay_inputs(const OutputElement& element) {
  Replay replay;
  replay.title = fmt::format("{} (docs/rules-training.md)", element.answer.place.name);
  replay.columns = {"input", "value"};
  for (const CapturedTensor& tensor : element.answer.tensors) {
    if (tensor.access != Access::write) add_input(tensor, element, replay);
  }
  return replay;
}

Replay replay_quantize(const OutputElement& element) {
  const auto& call = std::get<fp4proof_quantize_call>(element.answer.call);
  const CapturedTensor& x = *element.answer.find("x");
  const CapturedTensor& codes = *element.answer.find("first.codes");
  const CapturedTensor& scales = *element.answer.find("first.scales");
  const CorrectionStack& stack = *find_correction_stack(call.stack);
  const Profile profile = stack.effective(*find_profile(call.profile));
  const bool draws = profile.rounding == Rounding::stochastic || call.stochastic != 0;
  const std::int64_t block = profile.block.cols;
  const std::int64_t length = call.axis == 1 ? call.columns : call.rows;
  const auto place = coordinates_of(element.output.shape, element.index);
  // Of whole tensors, such as a tensor scale, the first block stands for all.
  const std::int64_t per_line = element.output.shape.size() == 2 ? element.output.shape[1] : 1;
  const std::int64_t line = element.output.shape.size() == 2 ? place[0] : 0;
  const std::int64_t column = element.output.shape.size() == 2 ? place[1] * codes.shape[1] / per_line : 0;
  const std::int64_t first = column / block * block;

  Replay replay;
  replay.title = fmt::format("{} with stack {}: line {}, elements {} to {} (docs/rules-corrections.md)", call.profile,
                             call.stack, line, first, first + block - 1);
  replay.columns = {"element", "x", "code"};
  if (draws) replay.columns.emplace_back("random word");
  for (std::int64_t i = first; i < std::min(first + block, length); ++i) {
    const std::int64_t at = place_in_x(call, line, i);
    replay.rows.push_back({fmt::format("{}", i), text_at(x, at),
                           bits_text(codes.type, codes.word(codes.after, line * codes.shape[1] + i))});
    if (!draws) continue;
    const std::uint32_t word = random_word(call.random.seed, static_cast<Stream>(call.random.stream), call.random.step,
                                           call.random.first + static_cast<std::uint64_t>(at));
    replay.rows.back().push_back(fmt::format("0x{:08x}", word));
  }
  const std::uint64_t scale = scales.word(scales.after, line * scales.shape[1] + first / block);
  replay.notes.push_back("scale " + verify::scale_text(profile, static_cast<std::uint32_t>(scale)));
  if (profile.block.rows > 1) replay.notes.push_back(fmt::format("the tile has {} lines", profile.block.rows));
  if (stack.hadamard.is_on() || stack.macro.is_on()) {
    replay.notes.emplace_back("x is shown as it came, before transform and macro factor");
  }
  return replay;
}

Replay replay(const OutputElement& element) {
  const auto made = [&] {
    const CallCopy& call = element.answer.call;
    if (std::holds_alternative<fp4proof_multiply_call>(call)) return replay_product(element);
    if (std::holds_alternative<fp4proof_multiply_bf16_call>(call)) return replay_product(element);
    if (std::holds_alternative<fp4proof_quantize_call>(call)) return replay_quantize(element);
    if (std::holds_alternative<fp4proof_adam_call>(call)) return replay_adam(element);
    if (std::holds_alternative<fp4proof_rms_norm_call>(call)) return replay_rms_norm(element);
    return replay_inputs(element);
  };
  Replay replay = made();
  add_bit_causes(element, replay);
  return replay;
}

}  // namespace fp4proof::training
