// The element at fault beside one plain larger element, which makes the scale.

#include <algorithm>
#include <array>
#include <cmath>

#include "conformance/minimize/shrinker.h"
#include "conformance/suite/reference_answers.h"
#include "formats/block_codec.h"
#include "formats/packing.h"

namespace fp4proof::minimize {

namespace {

using suite::CaseGroup;
using suite::CaseTable;

/// Where an element stands in a matrix whose blocks run along the columns.
struct Spot {
  std::int64_t row = 0;
  std::int64_t column = 0;
};

/// What an element of code value 1 would stand for at the spot; 0 where the reference has no answer.
double step_at(const Topic& topic, const Profile& profile, const Question& question, const Spot& spot) {
  Result<CaseTable> table = table_of(topic, std::span(&question, 1));
  if (!table || !suite::answer_by_reference(*table)) return 0;
  const CaseGroup& group = table->groups.front();
  const auto geometry = suite::case_geometry(*topic.profile, group.spec);
  const auto bytes = static_cast<std::size_t>(scale_bytes(profile.family));
  const auto at = static_cast<std::size_t>(spot.row * geometry->scale_bytes_per_row) +
                  static_cast<std::size_t>(spot.column / profile.block.cols) * bytes;
  const std::uint8_t* scale = group.find("scales")->bytes.data() + at;
  const suite::CaseTensor* tensor_scale = group.find("tensor_scale");
  const float of_tensor = tensor_scale == nullptr ? 1.0F : float_from_bits(load_le32(tensor_scale->bytes.data()));
  const std::uint8_t largest = element_spec(profile.element).max_code;
  const float decoded = decode_block_element(profile, bytes == 4 ? load_le32(scale) : *scale, of_tensor,
                                             static_cast<int>(spot.column % profile.block.cols), largest);
  return double{decoded} / double{decode_element(profile.element, largest)};
}

Question with_words(const Question& question, const std::vector<std::pair<std::int64_t, float>>& words) {
  Question made = question;
  std::ranges::fill(made.inputs.front(), std::uint8_t{0});
  for (const auto& [place, value] : words) store_le32(float_bits(value), &made.inputs.front()[4 * std::size_t(place)]);
  return made;
}

}  // namespace

Result<std::vector<Question>> two_element_forms(const Topic& topic, const Question& question,
                                                const verify::Finding& finding) {
  const bool is_code = topic.operation == suite::Operation::quantize ||
                       (topic.operation == suite::Operation::correct && finding.tensor == "codes");
  if (!is_code || finding.cause != verify::Cause::element || finding.element < 0) return std::vector<Question>();
  if (question.spec.axis != 1 || question.spec.tail != portable::Tail::error) return std::vector<Question>();
  const Result<CorrectionStack> stack = suite::stack_of(question.spec);
  if (!stack) return stack.error();
  const Profile profile = stack->effective(*topic.profile);
  const std::int64_t columns = question.spec.columns;
  const std::int64_t block = profile.block.cols;
  const Spot spot{finding.row, finding.block * block + finding.element};
  const auto place_of = [&](std::int64_t column) { return spot.row * columns + column; };
  const float value = float_from_bits(load_le32(&question.inputs.front()[4 * std::size_t(place_of(spot.column))]));
  const double step = step_at(topic, profile, question, spot);
  if (!std::isfinite(value) || !(step > 0)) return std::vector<Question>();
  const double scaled = double{value} / step;
  const auto largest = double{decode_element(profile.element, element_spec(profile.element).max_code)};
  std::vector<Question> forms;
  for (const double factor : {1.0, 4.0, 448.0}) {
    for (const std::int64_t distance : {1, 4, 8, 2}) {
      const std::int64_t beside = finding.block * block + (finding.element ^ distance) % block;
      const auto top = static_cast<float>(largest * factor);
      const Question alone = with_words(question, {{place_of(beside), top}});
      const double base = step_at(topic, profile, alone, spot);
      for (const double levels : {1.0, 2.0, 4.0}) {
        const auto element = static_cast<float>(scaled * base * levels);
        if (base > 0 && std::isfinite(element)) {
          forms.push_back(with_words(question, {{place_of(beside), top}, {place_of(spot.column), element}}));
        }
        if (profile.family != Family::hif4) break;
      }
    }
  }
  return forms;
}

}  // namespace fp4proof::minimize
