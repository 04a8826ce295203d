#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "conformance/explain/block_source.h"
#include "conformance/explain/correction_text.h"
#include "conformance/explain/explain.h"
#include "conformance/explain/explanation_text.h"
#include "conformance/explain/number_text.h"
#include "conformance/minimize/minimal_case.h"
#include "conformance/minimize/term_story.h"

namespace fp4proof::minimize {

namespace {

using explain::Explanation;
using verify::Cause;
using verify::Finding;

/// The words of one block, in the order of the block.
struct BlockWords {
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> random;  ///< empty where there are none
};

BlockWords block_of(const Question& question, const Profile& profile, const portable::Geometry& geometry,
                    const Finding& finding) {
  const auto input = copy_elements<std::uint32_t>(Bytes(question.inputs.front()));
  std::vector<std::uint32_t> random;
  if (question.inputs.size() > 1) random = copy_elements<std::uint32_t>(Bytes(question.inputs[1]));
  const std::int64_t first = finding.row / profile.block.rows * profile.block.rows;
  const std::int64_t column = finding.block * profile.block.cols;
  BlockWords block;
  for (std::int64_t r = first; r < first + profile.block.rows; ++r) {
    for (std::int64_t k = column; k < column + profile.block.cols; ++k) {
      const bool is_there = r < geometry.rows && k < geometry.columns;
      const auto at = static_cast<std::size_t>(is_there ? geometry.first_element(r) + k * geometry.inner : 0);
      block.words.push_back(is_there ? input[at] : 0);
      if (!random.empty()) block.random.push_back(is_there ? random[at] : 0);
    }
  }
  return block;
}

std::string value_text(std::uint32_t word) {
  return is_nan_bits(word) ? explain::word_text(word) : explain::float_text(word);
}

/// Numbers with commas; trailing zeros are what is filled up with anyway.
std::string list_of(std::vector<std::uint32_t> words, std::string (*text)(std::uint32_t), std::size_t least = 1) {
  while (words.size() > least && words.back() == 0) words.pop_back();
  std::string list;
  for (const std::uint32_t word : words) list += (list.empty() ? "" : ",") + text(word);
  return list;
}

std::size_t last_nonzero(const std::vector<std::uint32_t>& words) {
  const auto last = std::find_if(words.rbegin(), words.rend(), [](std::uint32_t word) { return word != 0; });
  return static_cast<std::size_t>(words.rend() - last);
}

std::string command_of(const Profile& profile, const BlockWords& block, std::optional<float> tensor_scale) {
  const std::size_t given = std::max<std::size_t>({1, last_nonzero(block.words), last_nonzero(block.random)});
  std::string command = fmt::format("fp4proof explain --profile {} --values \"{}\"", profile.name,
                                    list_of(block.words, value_text, given));
  if (!block.random.empty()) {
    command += fmt::format(" --random \"{}\"", list_of(block.random, explain::word_text, given));
  }
  if (tensor_scale) command += fmt::format(" --tensor-scale {}", explain::float_text(float_bits(*tensor_scale)));
  return command;
}

std::string text_of(const explain::Step& step) {
  return fmt::format("{}: {} (rule {})", step.label, step.text, step.rule);
}

std::string scale_step(const Explanation& explanation, std::initializer_list<std::string_view> ids) {
  for (const std::string_view id : ids) {
    const auto found = std::ranges::find(explanation.steps, id, &explain::Step::id);
    if (found != explanation.steps.end()) return text_of(*found);
  }
  return explanation.steps.empty() ? std::string() : text_of(explanation.steps.back());
}

std::string micro_step(const Explanation& explanation, const Finding& finding) {
  const int level = finding.kind == "level3-bit" ? 3 : 2;
  const auto row = static_cast<int>(finding.row % explanation.profile->block.rows);
  for (const explain::LevelBit& bit : explanation.level_bits) {
    const bool covers_row = !explanation.profile->block.is_2d() || row / bit.extent == bit.cell_row;
    if (bit.level != level || !covers_row || finding.element / bit.extent != bit.cell_column) continue;
    return fmt::format("level-{} bit {}: largest of elements {} to {} times the reciprocal is {}, so {} (rule {})",
                       level, bit.cell_column, bit.cell_column * bit.extent, (bit.cell_column + 1) * bit.extent - 1,
                       explain::decimal_text(bit.compared), bit.bit ? "set" : "clear", level == 2 ? "HF14" : "HF15");
  }
  return {};
}

std::string element_step(const Explanation& explanation, const Finding& finding) {
  const explain::BlockQuestion& question = explanation.question;
  const std::int64_t cols = explanation.profile->block.cols;
  const auto index = static_cast<std::size_t>(finding.row % explanation.profile->block.rows * cols + finding.element);
  if (finding.element < 0 || index >= explanation.elements.size()) return {};
  const explain::ElementStory& story = explanation.elements[index];
  std::string text = fmt::format("element {}: x = {}", index, value_text(question.words[index]));
  if (story.scaled) text += fmt::format(", scaled {}", explain::decimal_text(*story.scaled));
  if (story.lower && story.upper && story.lower->code != story.upper->code) {
    text += fmt::format(", between {} and {}", explain::decimal_text(story.lower->value),
                        explain::decimal_text(story.upper->value));
  }
  return text + fmt::format(": {}, code {} (rule {})", name_of(story.cause), story.code, story.rule);
}

std::string wrong_step_of(const Explanation& explanation, const Finding& finding) {
  switch (finding.cause) {
    case Cause::special: return scale_step(explanation, {"nan", "infinity", "zero"});
    case Cause::scale:
      return finding.kind == "tensor-scale" ? scale_step(explanation, {"tensor-scale"})
                                            : scale_step(explanation, {"code", "scale"});
    case Cause::micro: return micro_step(explanation, finding);
    case Cause::element: return element_step(explanation, finding);
    default: return {};
  }
}

std::optional<float> tensor_scale_of(const JudgedCase& judged) {
  const suite::CaseTensor* tensor = judged.table.groups.front().find("tensor_scale");
  if (tensor == nullptr || !tensor->expected) return std::nullopt;
  return copy_elements<float>(Bytes(tensor->bytes)).front();
}

Result<AnswerStory> block_story(const Topic& topic, const Minimal& minimal) {
  const Profile& profile = *topic.profile;
  const auto geometry = suite::case_geometry(profile, minimal.question.spec);
  if (!geometry) return geometry.error();
  const Finding& finding = minimal.failure.finding;
  const BlockWords block = block_of(minimal.question, profile, *geometry, finding);
  const std::optional<float> tensor_scale = tensor_scale_of(minimal.judged);
  explain::Randomness randomness;
  if (!block.random.empty()) randomness.words = block.random;
  const auto question = explain::block_of_values(profile, block.words, randomness, tensor_scale);
  if (!question) return question.error();
  const Result<Explanation> explanation = explain::explain_block(profile, *question);
  if (!explanation) return explanation.error();
  AnswerStory story;
  story.steps = explain::explanation_text(*explanation);
  story.command = command_of(profile, block, tensor_scale);
  if (topic.operation == suite::Operation::decompose) {
    story.command += " --decompose";
  } else if (minimal.failure.fault.empty()) {
    story.wrong_step = wrong_step_of(*explanation, finding);
  }
  return story;
}

/// `--values` of a corrected block is the whole context, so a line holds the question only where they are equal.
std::string corrected_command(const Topic& topic, const CorrectionStack& stack, const Question& question,
                              const explain::BlockAddress& address) {
  const explain::ContextShape shape = explain::context_shape(*topic.profile, stack);
  const bool is_whole = question.spec.axis == 1 && question.spec.rows == shape.rows &&
                        question.spec.columns == shape.columns && question.inputs.size() == 1;
  if (!is_whole) return {};
  const auto words = copy_elements<std::uint32_t>(Bytes(question.inputs.front()));
  std::string command = fmt::format("fp4proof explain --profile {} --correct {} --values \"{}\"", topic.profile->name,
                                    stack.name, list_of(words, value_text, words.size()));
  if (address.block != 0) command += fmt::format(" --block {}", address.block);
  return command;
}

Result<AnswerStory> corrected_story(const Topic& topic, const Minimal& minimal) {
  const suite::GroupSpec& spec = minimal.question.spec;
  const Result<CorrectionStack> stack = suite::stack_of(spec);
  if (!stack) return stack.error();
  const auto geometry = suite::case_geometry(*topic.profile, spec);
  if (!geometry) return geometry.error();
  const Profile profile = stack->effective(*topic.profile);
  const Finding& finding = minimal.failure.finding;
  const bool in_values = finding.tensor == "values";
  const std::int64_t block = in_values ? finding.element / profile.block.cols : finding.block;
  explain::BlockAddress address;
  address.axis = spec.axis;
  address.tail = spec.tail;
  address.block = finding.row / profile.block.rows * geometry->blocks + (finding.tensor.ends_with("macro") ? 0 : block);
  const auto words = copy_elements<std::uint32_t>(Bytes(minimal.question.inputs.front()));
  const std::array<std::int64_t, 2> shape = {spec.rows, spec.columns};
  explain::Randomness randomness;
  if (minimal.question.inputs.size() > 1) return AnswerStory();  // explain draws its own random words
  auto context = explain::context_of_tensor(
      *topic.profile, *stack, {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(words.data())}, address,
      randomness);
  if (!context) return context.error();
  const auto story = explain::explain_correction(*topic.profile, *stack, *std::move(context), suite::case_product);
  if (!story) return story.error();
  AnswerStory answer;
  answer.steps = explain::correction_text(*story);
  answer.command = corrected_command(topic, *stack, minimal.question, address);
  if (minimal.failure.fault.empty()) {
    answer.wrong_step = fmt::format("output {}, row {}{}", finding.tensor, finding.row,
                                    finding.element < 0 ? "" : fmt::format(", element {}", finding.element));
    const bool residual = finding.tensor.starts_with("residual_");
    const Explanation& part = residual && story->residual ? story->residual->block : story->first.block;
    if (!in_values) {
      if (const std::string step = wrong_step_of(part, finding); !step.empty()) answer.wrong_step += ": " + step;
    }
  }
  return answer;
}

}  // namespace

Result<AnswerStory> answer_story(const Topic& topic, const Minimal& minimal) {
  switch (topic.operation) {
    case suite::Operation::quantize:
    case suite::Operation::decompose: return block_story(topic, minimal);
    case suite::Operation::correct: return corrected_story(topic, minimal);
    case suite::Operation::dequantize:
    case suite::Operation::gemm:
    case suite::Operation::correct_gemm: return term_story(topic, minimal);
  }
  return AnswerStory();
}

}  // namespace fp4proof::minimize
