#include "conformance/explain/correction_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "conformance/explain/explain.h"
#include "formats/packing.h"
#include "formats/strict_math.h"
#include "reference/exact/float_word.h"
#include "reference/portable/correct.h"
#include "reference/portable/corrected_parts.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/macro_block.h"
#include "reference/portable/residual_mask.h"

namespace fp4proof::explain {

namespace {

using portable::CodedPart;
using portable::Corrected;
using portable::Geometry;

/// What reference/portable makes of the context, step by step, [rows, columns] each.
struct Steps {
  std::vector<float> inner;         ///< after a Hadamard transform
  std::vector<float> coded;         ///< after macro blocks
  std::vector<float> first;         ///< x1
  std::vector<float> residual;      ///< r
  std::vector<std::uint8_t> mask;   ///< of the residual
  std::vector<float> coded_second;  ///< r after macro blocks
  std::vector<float> second;        ///< x2
  std::vector<float> inner_value;   ///< before the inverse transform
  std::vector<float> value;         ///< x^
  std::vector<float> plain;         ///< without corrections; empty where the profile refuses the tensor
};

/// The corner and the part of the block that the tensor has.
struct Place {
  const Geometry& geometry;
  const CorrectionContext& context;
  BlockShape block;

  bool holds(std::int64_t r, std::int64_t c) const {
    const std::int64_t matrix_end = (context.row / geometry.matrix_rows + 1) * geometry.matrix_rows;
    return context.row + r < matrix_end && context.column + c < geometry.columns;
  }
  std::size_t at(std::int64_t r, std::int64_t c) const {
    return static_cast<std::size_t>((context.row + r) * geometry.columns + context.column + c);
  }
};

std::vector<float> scaled(const CorrectionStack& stack, const Geometry& geometry, const CodedPart& part,
                          std::vector<float> rows) {
  if (stack.macro.is_on()) portable::scale_macro_blocks(stack.macro, geometry, part.macro, rows);
  return rows;
}

portable::QuantizeOptions options_of(const Profile& profile, const CorrectionContext& context) {
  portable::QuantizeOptions options;
  options.tail = portable::Tail::pad;
  if (profile.rounding == Rounding::stochastic) options.random_words = context.random;
  return options;
}

std::vector<float> plain_values(const Profile& profile, const CorrectionContext& context) {
  const auto quantized = portable::quantize(profile, context.view(), options_of(profile, context));
  return quantized ? portable::dequantize(profile, *quantized) : std::vector<float>();
}

Steps take_steps(const Profile& profile, const Corrected& corrected, const CorrectionContext& context) {
  const CorrectionStack& stack = corrected.stack;
  const Geometry& geometry = corrected.geometry();
  Steps steps;
  steps.inner = portable::inner_input(stack, corrected.product, context.view(), geometry);
  steps.coded = scaled(stack, geometry, corrected.first, steps.inner);
  steps.first = portable::decode_part(corrected, corrected.first);
  if (corrected.residual) {
    steps.residual = portable::difference(steps.inner, steps.first);
    steps.mask = portable::residual_mask(stack.residual, geometry, steps.inner, steps.residual);
    steps.coded_second = scaled(stack, geometry, *corrected.residual, steps.residual);
    steps.second = portable::decode_part(corrected, *corrected.residual);
  }
  Corrected before_inverse = corrected;
  before_inverse.stack.hadamard = {};
  steps.inner_value = portable::dequantize(before_inverse);
  steps.value = portable::dequantize(corrected);
  steps.plain = plain_values(profile, context);
  return steps;
}

BlockQuestion question_of(const Place& place, const Corrected& corrected, const CodedPart& part,
                          const std::vector<float>& coded) {
  const Profile& profile = corrected.profile;
  const bool stochastic = profile.rounding == Rounding::stochastic;
  const CorrectionContext& context = place.context;
  BlockQuestion question;
  question.words.resize(static_cast<std::size_t>(profile.block.size()));
  if (stochastic) question.random.resize(question.words.size());
  for (int r = 0; r < profile.block.rows; ++r) {
    for (int c = 0; c < profile.block.cols; ++c) {
      if (!place.holds(r, c)) continue;
      const auto i = static_cast<std::size_t>(r * profile.block.cols + c);
      question.words[i] = float_bits(coded[place.at(r, c)]);
      if (stochastic) question.random[i] = context.random[place.at(r, c)];
    }
  }
  const bool is_single_block = context.words.size() == question.words.size();
  question.given = is_single_block ? context.given : question.words.size();
  question.tensor_scale = part.quantized.tensor_scale;
  question.three_quarters = corrected.stack.three_quarters;
  question.random_source = context.random_source;
  if (profile.tensor_scale) question.tensor_scale_source = "amax / 2688 of what the inner quantizer sees";
  return question;
}

std::uint32_t stored_scale(const Profile& profile, const CodedPart& part, std::int64_t row, std::int64_t block) {
  const Geometry& g = part.quantized.geometry;
  const int bytes = scale_bytes(profile.family);
  const std::uint8_t* at = part.quantized.scales.data() + row * g.scale_bytes_per_row + block * bytes;
  std::uint32_t word = 0;
  for (int i = 0; i < bytes; ++i) word |= std::uint32_t{at[i]} << (8 * i);
  return word;
}

std::uint8_t stored_code(const Profile& profile, const CodedPart& part, std::int64_t row, std::int64_t column) {
  const Geometry& g = part.quantized.geometry;
  const bool nibbles = element_spec(profile.element).is_nibble();
  const std::uint8_t byte =
      part.quantized.codes[static_cast<std::size_t>(row * g.code_bytes_per_row + (nibbles ? column / 2 : column))];
  if (!nibbles) return byte;
  return static_cast<std::uint8_t>(byte >> (4 * (column % 2)) & 0xF);
}

Error told_otherwise(const Corrected& corrected, const std::string& what) {
  return {ErrorKind::internal,
          fmt::format("the explanation of {} under stack {} differs from the reference: {}; please "
                      "report the inputs",
                      corrected.profile.name, corrected.stack.name, what)};
}

/// The story of a part against what is stored. `mask` is empty for the first part.
Result<void> compare_with_stored(const Place& place, const Corrected& corrected, const CodedPart& part,
                                 const Explanation& block, const std::vector<std::uint8_t>& mask) {
  const Profile& profile = corrected.profile;
  const CorrectionContext& context = place.context;
  for (int r = 0; r < profile.block.rows && place.holds(r, 0); ++r) {
    const std::uint32_t scale = stored_scale(profile, part, context.row + r, context.column / profile.block.cols);
    if (block.row_scales[static_cast<std::size_t>(r)] != scale) {
      return told_otherwise(corrected, fmt::format("scale of row {}", r));
    }
    for (int c = 0; c < profile.block.cols && place.holds(r, c); ++c) {
      const bool kept = mask.empty() || mask[place.at(r, c)] != 0;
      const std::uint8_t told = kept ? block.elements[static_cast<std::size_t>(r * profile.block.cols + c)].code : 0;
      if (told != stored_code(profile, part, context.row + r, context.column + c)) {
        return told_otherwise(corrected, fmt::format("code of row {}, column {}", r, c));
      }
    }
  }
  return {};
}

Result<PartStory> tell_part(const Place& place, const Corrected& corrected, const Profile& effective,
                            const CodedPart& part, const std::vector<float>& before, const std::vector<float>& coded,
                            const std::vector<std::uint8_t>& mask) {
  PartStory story;
  const MacroSpec& macro = corrected.stack.macro;
  const CorrectionContext& context = place.context;
  if (macro.is_on()) {
    const std::int64_t per_row = portable::macro_blocks_per_row(macro, place.geometry.columns);
    const auto at = static_cast<std::size_t>(context.row * per_row + context.column / macro.size);
    story.macro = tell_macro(effective, macro, place.geometry, before, part.macro[at], context.row, context.column);
  }
  Result<Explanation> block = explain_block(effective, question_of(place, corrected, part, coded));
  if (!block) return block.error();
  story.block = *std::move(block);
  const Result<void> same = compare_with_stored(place, corrected, part, story.block, mask);
  if (!same) return same.error();
  return story;
}

std::optional<Rational> error_of(std::uint32_t value, std::uint32_t input) {
  if (!is_finite_bits(value) || !is_finite_bits(input)) return std::nullopt;
  return exact::float_value(value) - exact::float_value(input);
}

ElementResidual residual_of(const Corrected& corrected, const Steps& steps, const Place& place, std::int64_t r,
                            std::int64_t c) {
  const std::size_t at = place.at(r, c);
  const CorrectionContext& context = place.context;
  const MaskFacts facts{corrected.stack.residual, place.geometry, steps.inner, steps.residual, steps.mask};
  ElementResidual residual;
  residual.residual = float_bits(steps.residual[at]);
  residual.coded = float_bits(steps.coded_second[at]);
  residual.mask = tell_mask(facts, context.row + r, context.column + c);
  residual.code = stored_code(corrected.profile, *corrected.residual, context.row + r, context.column + c);
  residual.second = float_bits(steps.second[at]);
  residual.scaled = float_bits(strict::canonicalise_nan(corrected.stack.residual.alpha * steps.second[at]));
  return residual;
}

CorrectedElement element_of(const Corrected& corrected, const Steps& steps, const Place& place, std::int64_t r,
                            std::int64_t c) {
  const std::size_t at = place.at(r, c);
  CorrectedElement element;
  element.index = static_cast<int>(r * place.block.cols + c);
  element.input = place.context.words[at];
  element.inner = float_bits(steps.inner[at]);
  element.coded = float_bits(steps.coded[at]);
  element.code = stored_code(corrected.profile, corrected.first, place.context.row + r, place.context.column + c);
  element.first = float_bits(steps.first[at]);
  if (corrected.residual) element.residual = residual_of(corrected, steps, place, r, c);
  element.inner_value = float_bits(steps.inner_value[at]);
  element.value = float_bits(steps.value[at]);
  element.error = error_of(element.value, element.input);
  if (!steps.plain.empty()) {
    element.plain = float_bits(steps.plain[at]);
    element.plain_error = error_of(*element.plain, element.input);
  }
  return element;
}

/// x1 + RN(alpha x2) as the rule says it, against the decoded sum.
Result<void> compare_sums(const Corrected& corrected, const CorrectedElement& element) {
  std::uint32_t sum = element.first;
  if (element.residual) {
    sum = float_bits(
        strict::canonicalise_nan(float_from_bits(element.first) + float_from_bits(element.residual->scaled)));
  }
  if (sum == element.inner_value) return {};
  return told_otherwise(corrected, fmt::format("value of element {}", element.index));
}

Result<void> tell_elements(const Corrected& corrected, const Steps& steps, const Place& place, CorrectionStory& story) {
  for (int r = 0; r < place.block.rows && place.holds(r, 0); ++r) {
    std::vector<HadamardTrace> traces;
    if (story.stack.hadamard.is_on()) {
      const auto row = std::span(place.context.words)
                           .subspan(static_cast<std::size_t>((place.context.row + r) * place.geometry.columns),
                                    static_cast<std::size_t>(place.geometry.columns));
      const std::int64_t count =
          std::min<std::int64_t>(place.block.cols, place.geometry.columns - place.context.column);
      auto traced = trace_hadamard(story.stack.hadamard, story.product, row, place.context.column, count);
      if (!traced) return traced.error();
      traces = *std::move(traced);
    }
    for (int c = 0; c < place.block.cols && place.holds(r, c); ++c) {
      CorrectedElement element = element_of(corrected, steps, place, r, c);
      if (!traces.empty()) element.hadamard = traces[static_cast<std::size_t>(c)];
      if (const Result<void> same = compare_sums(corrected, element); !same) return same.error();
      story.elements.push_back(std::move(element));
    }
  }
  return {};
}

Result<void> tell_decomposition(const Steps& steps, const Place& place, CorrectionStory& story) {
  const Profile& asked = *story.asked;
  const portable::TensorView view = story.context.view();
  const std::span<const std::uint32_t> random = asked.rounding == Rounding::stochastic
                                                    ? std::span<const std::uint32_t>(story.context.random)
                                                    : std::span<const std::uint32_t>();
  auto decomposition = decompose_block({asked, view, random, portable::tensor_scale_of(asked, view), steps.value,
                                        story.context.row, story.context.column, place.block});
  if (!decomposition) return decomposition.error();
  story.decomposition = *std::move(decomposition);
  return {};
}

}  // namespace

Result<CorrectionStory> explain_correction(const Profile& profile, const CorrectionStack& stack,
                                           CorrectionContext context, std::uint32_t product) {
  const auto corrected = portable::correct(
      profile, stack, context.view(), {.quantize = options_of(stack.effective(profile), context), .product = product});
  if (!corrected) return corrected.error();
  CorrectionStory story;
  story.asked = std::make_shared<const Profile>(profile);
  story.effective = std::make_shared<const Profile>(corrected->profile);
  story.stack = stack;
  story.product = corrected->product;
  story.context = std::move(context);
  story.columns = corrected->geometry().columns;
  const Steps steps = take_steps(profile, *corrected, story.context);
  const Place place{corrected->geometry(), story.context, story.effective->block};
  auto first = tell_part(place, *corrected, *story.effective, corrected->first, steps.inner, steps.coded, {});
  if (!first) return first.error();
  story.first = *std::move(first);
  if (corrected->residual) {
    auto second = tell_part(place, *corrected, *story.effective, *corrected->residual, steps.residual,
                            steps.coded_second, steps.mask);
    if (!second) return second.error();
    story.residual = *std::move(second);
  }
  if (const Result<void> told = tell_elements(*corrected, steps, place, story); !told) return told.error();
  if (const Result<void> told = tell_decomposition(steps, place, story); !told) return told.error();
  return story;
}

}  // namespace fp4proof::explain
