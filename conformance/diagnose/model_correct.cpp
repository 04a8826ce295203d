#include "conformance/diagnose/model_correct.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "formats/element.h"
#include "reference/portable/correct.h"
#include "reference/portable/corrected_parts.h"
#include "reference/portable/macro_block.h"
#include "reference/portable/residual_mask.h"

namespace fp4proof::diagnose {

namespace {

using portable::CodedPart;
using portable::Corrected;

/// One case: the tensor and how it is cut.
struct CorrectCase {
  std::array<std::int64_t, 2> shape;
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> random;
  portable::QuantizeOptions options;

  CorrectCase(const suite::CaseGroup& cases, std::size_t index)
      : shape{cases.spec.rows, cases.spec.columns},
        words(copy_elements<std::uint32_t>(cases.find("input")->of_case(index))) {
    if (const suite::CaseTensor* tensor = cases.find("random")) {
      random = copy_elements<std::uint32_t>(tensor->of_case(index));
    }
    options.axis = cases.spec.axis;
    options.tail = cases.spec.tail;
    options.random_words = random;
  }
  CorrectCase(const CorrectCase&) = delete;
  CorrectCase& operator=(const CorrectCase&) = delete;

  portable::TensorView view() const {
    return {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(words.data())};
  }
};

/// The factor byte of the quotient rounded to eight bits.
std::uint8_t rounded_macro_byte(MacroForm form, Element element, std::uint32_t largest_bits) {
  const float largest = float_from_bits(largest_bits);
  const ElementSpec spec = element_spec(element);
  const float max = decode_element(element, spec.max_code);
  if (largest == 0.0F) return 0;
  const float quotient = form == MacroForm::multiply ? max / largest : largest / max;
  return static_cast<std::uint8_t>((float_bits(quotient) + 0x4000U) >> 15);
}

/// The macro bytes of every row as the model makes them.
std::vector<std::uint8_t> macro_bytes_of(const KernelModel& model, const Corrected& corrected,
                                         std::span<const float> rows) {
  const MacroSpec& macro = corrected.stack.macro;
  const portable::Geometry& geometry = corrected.geometry();
  std::vector<std::uint8_t> bytes = portable::macro_bytes(corrected.profile, macro, geometry, rows);
  if (model.correct.macro != MacroFault::rounded || corrected.profile.block.is_2d()) return bytes;
  const std::int64_t per_row = portable::macro_blocks_per_row(macro, geometry.columns);
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    for (std::int64_t block = 0; block < per_row; ++block) {
      std::uint32_t largest = 0;
      for (std::int64_t k = block * macro.size; k < std::min(geometry.columns, (block + 1) * macro.size); ++k) {
        const std::uint32_t word =
            float_bits(rows[static_cast<std::size_t>(row * geometry.columns + k)]) & float_magnitude_mask;
        if (word < float_infinity_bits) largest = std::max(largest, word);
      }
      bytes[static_cast<std::size_t>(row * per_row + block)] =
          rounded_macro_byte(macro.form, corrected.profile.element, largest);
    }
  }
  return bytes;
}

/// One part coded from rows; the geometry of `corrected` is set.
Result<CodedPart> coded_part(const KernelModel& model, const Corrected& corrected, std::vector<float> rows) {
  CodedPart part;
  if (corrected.stack.macro.is_on()) {
    part.macro = macro_bytes_of(model, corrected, rows);
    if (model.correct.macro != MacroFault::unused) {
      portable::scale_macro_blocks(corrected.stack.macro, corrected.geometry(), part.macro, rows);
    }
  }
  portable::QuantizeOptions options;
  options.tail = portable::Tail::pad;
  options.three_quarters = corrected.stack.three_quarters;
  const auto* data = reinterpret_cast<const std::byte*>(rows.data());
  Result<portable::Quantized> quantized =
      portable::quantize(corrected.profile, {portable::DType::f32, corrected.geometry().shape, data}, options);
  if (!quantized) return quantized.error();
  part.quantized = std::move(*quantized);
  return part;
}

/// Two of each four columns, the largest measure first, between equals the higher column.
std::vector<std::uint8_t> two_of_four(const portable::Geometry& geometry, std::span<const float> measures,
                                      bool ties_last) {
  std::vector<std::uint8_t> mask(measures.size(), 0);
  const auto magnitude = [&](std::int64_t at) {
    const std::uint32_t word = float_bits(measures[static_cast<std::size_t>(at)]) & float_magnitude_mask;
    return word > float_infinity_bits ? 0U : word;
  };
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    const std::int64_t end = (row + 1) * geometry.columns;
    for (std::int64_t first = row * geometry.columns; first < end; first += 4) {
      std::vector<std::int64_t> places;
      for (std::int64_t k = first; k < std::min(first + 4, end); ++k) places.push_back(k);
      if (ties_last) std::ranges::reverse(places);
      std::ranges::stable_sort(places, std::greater<>(), magnitude);
      for (std::size_t i = 0; i < std::min<std::size_t>(2, places.size()); ++i)
        mask[static_cast<std::size_t>(places[i])] = 1;
    }
  }
  return mask;
}

std::vector<std::uint8_t> mask_of(const KernelModel& model, const Corrected& corrected, std::span<const float> input,
                                  std::span<const float> residual) {
  const ResidualSpec& spec = corrected.stack.residual;
  const bool two_four = spec.mask == ResidualMask::two_four;
  const portable::Geometry& geometry = corrected.geometry();
  if (two_four && model.correct.mask == MaskFault::ties_last) return two_of_four(geometry, residual, true);
  if (two_four && model.correct.mask == MaskFault::by_input) return two_of_four(geometry, input, false);
  return portable::residual_mask(spec, geometry, input, residual);
}

/// The parts one after the other, with the model's faults.
Result<Corrected> correct_with_faults(const KernelModel& model, const CorrectionStack& stack, const CorrectCase& one) {
  Corrected corrected{stack.effective(model.profile), stack, suite::case_product, {}, {}};
  const auto geometry = portable::cut_into_blocks(corrected.profile, one.shape, one.options.axis, one.options.tail);
  if (!geometry) return geometry.error();
  corrected.first.quantized.geometry = *geometry;
  const std::vector<float> input = portable::inner_input(stack, suite::case_product, one.view(), *geometry);
  Result<CodedPart> first = coded_part(model, corrected, input);
  if (!first) return first.error();
  corrected.first = std::move(*first);
  if (!stack.residual.is_on()) return corrected;
  const std::vector<float> residual = portable::difference(input, portable::decode_part(corrected, corrected.first));
  Result<CodedPart> second = coded_part(model, corrected, residual);
  if (!second) return second.error();
  portable::apply_mask(corrected.profile, corrected.geometry(), mask_of(model, corrected, input, residual),
                       second->quantized.codes);
  corrected.residual = std::move(*second);
  return corrected;
}

void put(const suite::CaseGroup& cases, suite::CaseTensor* tensor, std::size_t index, Bytes bytes) {
  if (tensor == nullptr || index >= cases.size() || bytes.size() != tensor->case_bytes()) return;
  std::copy(bytes.begin(), bytes.end(), tensor->bytes.begin() + static_cast<std::ptrdiff_t>(index * bytes.size()));
}

void put_part(const CodedPart& part, const std::string& prefix, suite::CaseGroup& cases, std::size_t index) {
  put(cases, cases.find(prefix + "codes"), index, part.quantized.codes);
  put(cases, cases.find(prefix + "scales"), index, part.quantized.scales);
  put(cases, cases.find(prefix + "tensor_scale"), index, bytes_of(std::array{part.quantized.tensor_scale}));
  put(cases, cases.find(prefix + "macro"), index, part.macro);
}

}  // namespace

bool correct_cases(const KernelModel& model, suite::CaseGroup& cases) {
  Result<CorrectionStack> stack = suite::stack_of(cases.spec);
  if (!stack) return false;
  if (model.correct.change != nullptr) model.correct.change(*stack, model.correct.parameter);
  const bool stochastic = stack->effective(model.profile).rounding == Rounding::stochastic;
  const bool plain = model.correct.macro == MacroFault::none && model.correct.mask == MaskFault::none;
  if (stochastic && (!plain || cases.find("random") == nullptr)) return false;
  if (!portable::check_stack(model.profile, *stack)) return false;
  for (suite::CaseTensor& tensor : cases.tensors)
    if (tensor.expected) std::ranges::fill(tensor.bytes, std::uint8_t{0});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const CorrectCase one(cases, i);
    const Result<Corrected> corrected =
        plain ? portable::correct(model.profile, *stack, one.view(), {one.options, suite::case_product})
              : correct_with_faults(model, *stack, one);
    if (!corrected) return false;
    put_part(corrected->first, "", cases, i);
    if (corrected->residual) put_part(*corrected->residual, "residual_", cases, i);
    put(cases, cases.find("values"), i, bytes_of(portable::dequantize(*corrected)));
  }
  return true;
}

}  // namespace fp4proof::diagnose
