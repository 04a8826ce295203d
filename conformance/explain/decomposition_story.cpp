#include "conformance/explain/decomposition_story.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "formats/float_bits.h"
#include "reference/exact/element.h"
#include "reference/exact/float_word.h"
#include "reference/portable/decompose_ideal.h"
#include "reference/portable/quantize.h"

namespace fp4proof::explain {

namespace {

using portable::Geometry;

Rational full_scale_of(const Profile& profile) {
  return profile.family == Family::hif4 ? Rational(7) : exact::magnitudes(profile.element).back();
}

Rational exact_double(double value) { return *exact::value_of(exact::binary64, bits_as<std::uint64_t>(value)); }

/// Rows of whole tiles of the profile that hold the block.
struct RowSpan {
  std::int64_t begin;
  std::int64_t end;
};

RowSpan rows_of(const DecompositionQuestion& question, const Geometry& geometry) {
  const std::int64_t height = question.profile.block.rows;
  const std::int64_t matrix = question.row / geometry.matrix_rows * geometry.matrix_rows;
  const std::int64_t matrix_end = matrix + geometry.matrix_rows;
  const std::int64_t begin = matrix + (question.row - matrix) / height * height;
  const std::int64_t last = std::min<std::int64_t>(question.row + question.block.rows, matrix_end);
  return {begin, std::min(matrix + (last - matrix + height - 1) / height * height, matrix_end)};
}

/// One block of the profile with its ideal codes; places that the tensor does not have are +0.
class IdealBlock {
 public:
  IdealBlock(const DecompositionQuestion& question, const Geometry& geometry, std::int64_t row, std::int64_t column)
      : columns_(question.profile.block.cols) {
    const BlockShape shape = question.profile.block;
    const std::int64_t matrix_end = (row / geometry.matrix_rows + 1) * geometry.matrix_rows;
    std::vector<std::uint32_t> words(static_cast<std::size_t>(shape.size()), 0);
    std::vector<std::uint32_t> random(words.size(), 0);
    for (int r = 0; r < shape.rows && row + r < matrix_end; ++r) {
      const auto count = static_cast<int>(std::min<std::int64_t>(shape.cols, geometry.columns - column));
      const std::int64_t first = (row + r) * geometry.columns + column;
      portable::load_words(question.tensor, first, 1, count, words.data() + r * shape.cols);
      if (question.random.empty()) continue;
      const auto from = question.random.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
      std::copy(from.begin(), from.end(), random.begin() + r * shape.cols);
    }
    for (const std::uint32_t word : words) {
      const std::uint32_t magnitude = word & float_magnitude_mask;
      if (magnitude < float_infinity_bits) largest_ = std::max(largest_, magnitude);
    }
    ideal_.resize(words.size());
    const bool stochastic = question.profile.rounding == Rounding::stochastic;
    portable::IdealQuantizer(question.profile)
        .encode_block(words.data(), stochastic ? random.data() : nullptr, ideal_.data());
  }

  std::uint32_t largest() const { return largest_; }
  double ideal(std::int64_t row, std::int64_t column) const {
    return ideal_[static_cast<std::size_t>(row * columns_ + column)];
  }

 private:
  std::int64_t columns_;
  std::uint32_t largest_ = 0;
  std::vector<double> ideal_;
};

void tell_level(const Profile& profile, const Rational& full_scale, int factor, ElementDecomposition& element) {
  if (element.largest == 0 || !is_finite_bits(element.input)) return;
  const Rational largest = exact::float_value(element.largest);
  element.level = exact_double(element.ideal).abs() * full_scale / (Rational(factor) * largest);
  if (profile.family == Family::hif4) return;
  const std::vector<Rational>& magnitudes = exact::magnitudes(profile.element);
  const auto at = std::find(magnitudes.begin(), magnitudes.end(), *element.level);
  if (at != magnitudes.end()) element.code = static_cast<int>(at - magnitudes.begin());
}

/// What portable::decompose_rows() says about the rows of the block.
struct Answer {
  RowSpan span{};
  std::vector<portable::ErrorSplit> rows;
  std::vector<portable::ErrorSplit> blocks;
  std::vector<portable::ErrorTerms> elements;
  std::vector<float> values;  ///< Q(x) of the rows
};

Result<Answer> ask(const DecompositionQuestion& question, const Geometry& geometry) {
  Answer answer;
  answer.span = rows_of(question, geometry);
  const auto rows = static_cast<std::size_t>(answer.span.end - answer.span.begin);
  const auto columns = static_cast<std::size_t>(geometry.columns);
  answer.rows.resize(rows);
  answer.blocks.resize(rows * static_cast<std::size_t>(geometry.blocks));
  answer.elements.resize(rows * columns);
  const auto first = question.values.begin() + static_cast<std::ptrdiff_t>(answer.span.begin * geometry.columns);
  answer.values.assign(first, first + static_cast<std::ptrdiff_t>(rows * columns));
  portable::QuantizeOptions options;
  options.tail = portable::Tail::pad;
  options.random_words = question.random;
  const Result<void> done = portable::decompose_rows(question.profile, question.tensor, geometry, options,
                                                     question.tensor_scale, answer.span.begin, answer.span.end,
                                                     answer.values, {answer.rows, answer.blocks, answer.elements});
  if (!done) return done.error();
  return answer;
}

/// The blocks of the profile that the asked block touches, by their corners: more than one under a tile of the stack.
using IdealBlocks = std::map<std::pair<std::int64_t, std::int64_t>, IdealBlock>;

ElementDecomposition element_of(const DecompositionQuestion& question, const Geometry& geometry, const Answer& answer,
                                const BlockDecomposition& block, IdealBlocks& ideals, std::int64_t row,
                                std::int64_t column) {
  const std::int64_t height = question.profile.block.rows;
  const std::int64_t width = question.profile.block.cols;
  const std::int64_t matrix = row / geometry.matrix_rows * geometry.matrix_rows;
  const std::int64_t tile_row = matrix + (row - matrix) / height * height;
  const std::int64_t tile_column = column / width * width;
  auto known = ideals.find({tile_row, tile_column});
  if (known == ideals.end()) {
    known = ideals.try_emplace({tile_row, tile_column}, question, geometry, tile_row, tile_column).first;
  }
  const IdealBlock& ideal = known->second;
  const auto at = static_cast<std::size_t>((row - answer.span.begin) * geometry.columns + column);
  ElementDecomposition element;
  element.index = static_cast<int>((row - question.row) * question.block.cols + column - question.column);
  portable::load_words(question.tensor, row * geometry.columns + column, 1, 1, &element.input);
  element.value = float_bits(answer.values[at]);
  element.largest = ideal.largest();
  element.ideal = ideal.ideal(row - tile_row, column - tile_column);
  element.excluded = !is_finite_bits(element.input) || !is_finite_bits(element.value);
  element.in_deadzone = !element.excluded && (element.input & float_magnitude_mask) != 0 && element.ideal == 0.0;
  element.terms = answer.elements[at];
  const portable::ErrorTerms& terms = element.terms;
  element.identity_holds = terms.error == (terms.scale + terms.deadzone) + terms.grid;
  tell_level(question.profile, block.full_scale, block.factor, element);
  return element;
}

/// The sums of the block, its row pieces in order.
portable::ErrorSplit sums_of(const DecompositionQuestion& question, const Geometry& geometry, const Answer& answer,
                             std::int64_t row_end) {
  portable::ErrorSplit sums;
  for (std::int64_t row = question.row; row < row_end; ++row) {
    const std::int64_t at = (row - answer.span.begin) * geometry.blocks + question.column / question.profile.block.cols;
    sums.add(answer.blocks[static_cast<std::size_t>(at)]);
  }
  return sums;
}

}  // namespace

Result<BlockDecomposition> decompose_block(const DecompositionQuestion& question) {
  const auto cut = portable::cut_into_blocks(question.profile, question.tensor.shape, -1, portable::Tail::pad);
  if (!cut) return cut.error();
  const Geometry& geometry = *cut;
  const Result<Answer> answer = ask(question, geometry);
  if (!answer) return answer.error();
  BlockDecomposition block;
  block.profile = &question.profile;
  block.factor = portable::decomposition_factor(question.profile);
  block.full_scale = full_scale_of(question.profile);
  const std::int64_t matrix_end = (question.row / geometry.matrix_rows + 1) * geometry.matrix_rows;
  const std::int64_t row_end = std::min<std::int64_t>(question.row + question.block.rows, matrix_end);
  const std::int64_t column_end = std::min<std::int64_t>(question.column + question.block.cols, geometry.columns);
  IdealBlocks ideals;
  for (std::int64_t row = question.row; row < row_end; ++row) {
    for (std::int64_t column = question.column; column < column_end; ++column) {
      block.elements.push_back(element_of(question, geometry, *answer, block, ideals, row, column));
    }
  }
  if (question.block == question.profile.block) block.sums = sums_of(question, geometry, *answer, row_end);
  return block;
}

PlainBlock::PlainBlock(const Explanation& explanation)
    : explanation_(explanation), shape_{explanation.profile->block.rows, explanation.profile->block.cols} {
  for (const ElementStory& story : explanation.elements) values_.push_back(float_from_bits(story.value));
}

DecompositionQuestion PlainBlock::question() const {
  const BlockQuestion& block = explanation_.question;
  const auto* data = reinterpret_cast<const std::byte*>(block.words.data());
  return {
      *explanation_.profile,      {portable::DType::f32, shape_, data}, block.random, block.tensor_scale, values_, 0, 0,
      explanation_.profile->block};
}

}  // namespace fp4proof::explain
