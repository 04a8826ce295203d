#include "conformance/suite/correction_answers.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "conformance/suite/drafts.h"
#include "conformance/vectors/os_error.h"
#include "reference/portable/correct.h"
#include "reference/portable/decompose.h"

namespace fp4proof::suite {

namespace {

using portable::CodedPart;
using portable::Corrected;

template <class T>
std::vector<T> elements_of(const CaseGroup& group, std::string_view tensor, std::size_t index) {
  const CaseTensor* found = group.find(tensor);
  return found == nullptr ? std::vector<T>{} : copy_elements<T>(found->of_case(index));
}

/// The input of a case and how it is cut. Keeps what the views point to.
struct WordInput {
  std::array<std::int64_t, 2> shape;
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> random;
  portable::QuantizeOptions options;

  WordInput(const CaseGroup& group, std::size_t index)
      : shape{group.spec.rows, group.spec.columns},
        words(elements_of<std::uint32_t>(group, "input", index)),
        random(elements_of<std::uint32_t>(group, "random", index)) {
    options.axis = group.spec.axis;
    options.tail = group.spec.tail;
    options.random_words = random;
  }
  WordInput(const WordInput&) = delete;
  WordInput& operator=(const WordInput&) = delete;

  portable::TensorView view() const {
    return {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(words.data())};
  }
};

template <class T>
std::vector<std::uint8_t> bytes_of_elements(const std::vector<T>& elements) {
  const Bytes bytes = fp4proof::bytes_of(elements);
  return {bytes.begin(), bytes.end()};
}

void append_part(const Profile& profile, const CodedPart& part, Answer& answer) {
  answer.push_back(part.quantized.codes);
  answer.push_back(part.quantized.scales);
  if (profile.tensor_scale) answer.push_back(bytes_of_elements(std::vector{part.quantized.tensor_scale}));
  if (!part.macro.empty()) answer.push_back(part.macro);
}

CodedPart part_of_case(const CaseGroup& group, std::size_t index, const std::string& prefix,
                       const portable::Geometry& geometry) {
  CodedPart part;
  part.quantized.geometry = geometry;
  part.quantized.codes = elements_of<std::uint8_t>(group, prefix + "codes", index);
  part.quantized.scales = elements_of<std::uint8_t>(group, prefix + "scales", index);
  if (group.find(prefix + "tensor_scale") != nullptr) {
    part.quantized.tensor_scale = elements_of<float>(group, prefix + "tensor_scale", index).front();
  }
  part.macro = elements_of<std::uint8_t>(group, prefix + "macro", index);
  return part;
}

Result<Corrected> operand_of_case(const Profile& profile, const CorrectionStack& stack, const CaseGroup& group,
                                  std::size_t index, const std::string& prefix, std::int64_t rows) {
  const std::array<std::int64_t, 2> shape = {rows, group.spec.columns};
  const Profile effective = stack.effective(profile);
  const auto geometry = portable::cut_into_blocks(effective, shape, -1, portable::Tail::error);
  if (!geometry) return geometry.error();
  Corrected operand{effective, stack, case_product, part_of_case(group, index, prefix, *geometry), std::nullopt};
  if (stack.residual.is_on()) operand.residual = part_of_case(group, index, prefix + "residual_", *geometry);
  return operand;
}

void append_words(double value, std::vector<std::uint32_t>& words) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  words.push_back(static_cast<std::uint32_t>(bits));
  words.push_back(static_cast<std::uint32_t>(bits >> 32));
}

std::vector<std::uint32_t> term_words(const std::vector<portable::ErrorTerms>& elements) {
  std::vector<std::uint32_t> words;
  for (const portable::ErrorTerms& terms : elements) {
    for (const double term : {terms.scale, terms.deadzone, terms.grid}) append_words(term, words);
  }
  return words;
}

std::vector<std::uint32_t> sum_words(const std::vector<portable::ErrorSplit>& rows) {
  std::vector<std::uint32_t> words;
  for (const portable::ErrorSplit& row : rows) {
    for (const double sum : {row.value, row.quantized_value, row.error, row.scale, row.deadzone, row.grid,
                             row.scale_grid, row.scale_deadzone}) {
      append_words(sum, words);
    }
  }
  return words;
}

std::vector<std::uint32_t> count_words(const std::vector<portable::ErrorSplit>& rows) {
  std::vector<std::uint32_t> words;
  for (const portable::ErrorSplit& row : rows) {
    for (const std::int64_t count : {row.excluded, row.in_deadzone, row.zeroed, row.inexact}) {
      words.push_back(static_cast<std::uint32_t>(count));
    }
  }
  return words;
}

}  // namespace

Result<Answer> corrected_answer(const Profile& profile, const CaseGroup& group, std::size_t index) {
  const Result<CorrectionStack> stack = stack_of(group.spec);
  if (!stack) return stack.error();
  const WordInput input(group, index);
  const auto corrected = portable::correct(profile, *stack, input.view(), {input.options, case_product});
  if (!corrected) return corrected.error();
  Answer answer;
  append_part(corrected->profile, corrected->first, answer);
  if (corrected->residual) append_part(corrected->profile, *corrected->residual, answer);
  answer.push_back(bytes_of_elements(portable::dequantize(*corrected)));
  return answer;
}

Result<Answer> decomposed_answer(const Profile& profile, const CaseGroup& group, std::size_t index) {
  const WordInput input(group, index);
  const Result<portable::Geometry> geometry = case_geometry(profile, group.spec);
  if (!geometry) return geometry.error();
  std::vector<portable::ErrorSplit> rows(static_cast<std::size_t>(geometry->rows));
  std::vector<portable::ErrorTerms> elements(static_cast<std::size_t>(geometry->rows * geometry->columns));
  const auto done = portable::decompose_rows(profile, input.view(), *geometry, input.options,
                                             portable::tensor_scale_of(profile, input.view()), 0, geometry->rows, {},
                                             {rows, {}, elements});
  if (!done) return done.error();
  return Answer{bytes_of_elements(term_words(elements)), bytes_of_elements(sum_words(rows)),
                bytes_of_elements(count_words(rows))};
}

Result<std::vector<std::uint32_t>> corrected_product(const Profile& profile, const CaseGroup& group, std::size_t index,
                                                     std::string_view accumulator) {
  const auto known = portable::find_accumulator(accumulator);
  if (!known) return Error{ErrorKind::corrupt, fmt::format("unknown accumulator {}", quote(accumulator))};
  const Result<CorrectionStack> stack = stack_of(group.spec);
  if (!stack) return stack.error();
  const auto a = operand_of_case(profile, *stack, group, index, "a_", group.spec.rows);
  if (!a) return a.error();
  const auto b = operand_of_case(profile, stack->without_residual(), group, index, "b_", group.spec.other_rows);
  if (!b) return b.error();
  const auto c = portable::gemm(*a, *b, *known);
  if (!c) return c.error();
  return copy_elements<std::uint32_t>(fp4proof::bytes_of(*c));
}

}  // namespace fp4proof::suite
