#include "conformance/minimize/term_story.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "conformance/explain/number_text.h"
#include "conformance/verify/quantized_view.h"
#include "formats/block_codec.h"

namespace fp4proof::minimize {

namespace {

using suite::CaseGroup;

/// One coded matrix of the case.
class Operand {
 public:
  static Result<Operand> of(const Profile& profile, const CaseGroup& group, const std::string& prefix,
                            std::int64_t rows) {
    const std::array<std::int64_t, 2> shape = {rows, group.spec.columns};
    auto geometry = portable::cut_into_blocks(profile, shape, -1, portable::Tail::error);
    if (!geometry) return geometry.error();
    return Operand(profile, *std::move(geometry), group, prefix);
  }

  std::uint8_t code(std::int64_t row, std::int64_t column) const { return view().code(row, column); }

  std::string text(std::int64_t row, std::int64_t column) const {
    const std::int64_t block = profile_.block.cols;
    const std::uint32_t scale = view().scale(row, column / block);
    const std::uint8_t element = code(row, column);
    const float value = decode_block_element(profile_, scale, tensor_scale_, static_cast<int>(column % block), element);
    const std::string of_tensor = tensor_scale_ == 1.0F ? "" : fmt::format(", tensor scale {}", tensor_scale_);
    return fmt::format("code {} = {} under scale {}{}: {}", element, decode_element(profile_.element, element),
                       verify::scale_text(profile_, scale), of_tensor, explain::float_text(float_bits(value)));
  }

 private:
  Operand(const Profile& profile, portable::Geometry geometry, const CaseGroup& group, const std::string& prefix)
      : profile_(profile),
        geometry_(std::move(geometry)),
        codes_(group.find(prefix + "codes")->bytes),
        scales_(group.find(prefix + "scales")->bytes) {
    if (const suite::CaseTensor* tensor = group.find(prefix + "tensor_scale")) {
      tensor_scale_ = copy_elements<float>(Bytes(tensor->bytes)).front();
    }
  }

  verify::QuantizedView view() const { return {profile_, geometry_, codes_, scales_}; }

  Profile profile_;
  portable::Geometry geometry_;
  Bytes codes_;
  Bytes scales_;
  float tensor_scale_ = 1.0F;
};

std::string expected_text(const verify::Finding& finding) {
  return finding.expected ? explain::float_text(*finding.expected) : std::string("the expected value");
}

Result<AnswerStory> value_story(const Profile& profile, const CaseGroup& group, const verify::Finding& finding) {
  const Result<Operand> codes = Operand::of(profile, group, "", group.spec.rows);
  if (!codes) return codes.error();
  const std::int64_t column = std::max<std::int64_t>(finding.element, 0);
  AnswerStory story;
  story.wrong_step = fmt::format("row {} column {}: {}", finding.row, column, codes->text(finding.row, column));
  for (std::int64_t k = 0; k < group.spec.columns; ++k) {
    if (codes->code(finding.row, k) == 0 && k != column) continue;
    story.steps += fmt::format("row {} column {}: {}\n", finding.row, k, codes->text(finding.row, k));
  }
  return story;
}

Result<AnswerStory> product_story(const Profile& profile, const CaseGroup& group, const verify::Finding& finding) {
  const Result<Operand> a = Operand::of(profile, group, "a_", group.spec.rows);
  if (!a) return a.error();
  const Result<Operand> b = Operand::of(profile, group, "b_", group.spec.other_rows);
  if (!b) return b.error();
  const std::int64_t column = std::max<std::int64_t>(finding.element, 0);
  AnswerStory story;
  for (std::int64_t k = 0; k < group.spec.columns; ++k) {
    if (a->code(finding.row, k) == 0 && b->code(column, k) == 0) continue;
    story.steps += fmt::format("k = {}\n  a: {}\n  b: {}\n", k, a->text(finding.row, k), b->text(column, k));
  }
  const std::string sum = fmt::format("C[{}][{}] = {}, the products added as {} does (docs/rules-gemm.md)", finding.row,
                                      column, expected_text(finding), group.spec.accumulator);
  story.steps += sum + "\n";
  story.wrong_step = sum;
  return story;
}

}  // namespace

Result<AnswerStory> term_story(const Topic& topic, const Minimal& minimal) {
  const CaseGroup& group = minimal.judged.table.groups.front();
  const Result<CorrectionStack> stack = suite::stack_of(group.spec);
  if (!stack) return stack.error();
  const Profile profile = stack->effective(*topic.profile);
  const verify::Finding& finding = minimal.failure.finding;
  Result<AnswerStory> story = suite::is_product(topic.operation) ? product_story(profile, group, finding)
                                                                 : value_story(profile, group, finding);
  if (story && !minimal.failure.fault.empty()) story->wrong_step.clear();
  if (story && (stack->macro.is_on() || stack->residual.is_on() || stack->three_quarters)) {
    story->steps += fmt::format(
        "Codes are those of the first part alone; {} adds to them (docs/rules-corrections.md)\n", stack->name);
  }
  return story;
}

}  // namespace fp4proof::minimize
