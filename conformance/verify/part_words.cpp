#include "conformance/verify/part_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "formats/float_bits.h"
#include "formats/three_quarters.h"
#include "reference/portable/correct.h"
#include "reference/portable/corrected_parts.h"
#include "reference/portable/macro_block.h"

namespace fp4proof::verify {

namespace {

/// Words in the order of the input, by row and column.
std::vector<std::uint32_t> in_rows(const portable::Geometry& geometry, const std::vector<std::uint32_t>& words) {
  std::vector<std::uint32_t> rows;
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    for (std::int64_t k = 0; k < geometry.columns; ++k) {
      rows.push_back(words[static_cast<std::size_t>(geometry.first_element(row) + k * geometry.inner)]);
    }
  }
  return rows;
}

}  // namespace

std::optional<PartWords> part_words(const Profile& profile, const suite::CaseGroup& group, std::size_t index,
                                    bool residual) {
  const Result<CorrectionStack> stack = suite::stack_of(group.spec);
  if (!stack) return std::nullopt;
  const auto input = copy_elements<std::uint32_t>(group.find("input")->of_case(index));
  std::vector<std::uint32_t> random;
  if (const suite::CaseTensor* tensor = group.find("random")) {
    random = copy_elements<std::uint32_t>(tensor->of_case(index));
  }
  const std::array<std::int64_t, 2> shape = {group.spec.rows, group.spec.columns};
  const portable::TensorView view = {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(input.data())};
  portable::QuantizeOptions options;
  options.axis = group.spec.axis;
  options.tail = group.spec.tail;
  options.random_words = random;
  const auto corrected = portable::correct(profile, *stack, view, {options, suite::case_product});
  if (!corrected || (residual && !corrected->residual)) return std::nullopt;
  const portable::Geometry& geometry = corrected->geometry();
  const portable::CodedPart& part = residual ? *corrected->residual : corrected->first;
  std::vector<float> rows = portable::inner_input(*stack, suite::case_product, view, geometry);
  if (residual) rows = portable::difference(rows, portable::decode_part(*corrected, corrected->first));
  if (stack->macro.is_on()) portable::scale_macro_blocks(stack->macro, geometry, part.macro, rows);
  PartWords words{
      {}, random.empty() ? random : in_rows(geometry, random), part.quantized.tensor_scale, geometry.columns};
  for (const float value : rows) {
    const std::uint32_t word = float_bits(value);
    words.words.push_back(stack->three_quarters ? three_quarters_of(word) : word);
  }
  return words;
}

}  // namespace fp4proof::verify
