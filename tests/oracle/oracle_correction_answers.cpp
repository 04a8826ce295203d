#include <gtest/gtest.h>

#include <algorithm>

#include "reference/exact/correction.h"
#include "reference/exact/decomposition.h"
#include "tests/oracle/oracle_answers.h"

namespace fp4proof::oracle_answers {

namespace {

using suite::CaseGroup;

Profile row_profile(Profile profile) {
  profile.block.rows = 1;
  return profile;
}

/// A tensor of a case with the block axis last, without padding; empty where the group has no such tensor.
struct RowMatrix {
  std::size_t rows;
  std::size_t cols;
  Words words;
};

RowMatrix row_matrix(const CaseGroup& group, std::string_view tensor, std::size_t index) {
  const Words words = words_of(group, tensor, index);
  const auto rows = static_cast<std::size_t>(group.spec.rows);
  const auto cols = static_cast<std::size_t>(group.spec.columns);
  if (group.spec.axis == 1 || words.empty()) return {rows, cols, words};
  RowMatrix turned{cols, rows, {}};
  for (std::size_t c = 0; c < cols; ++c) {
    for (std::size_t r = 0; r < rows; ++r) turned.words.push_back(words[r * cols + c]);
  }
  return turned;
}

void append_part(const exact::CodedPart& part, std::vector<ByteVector>& answer) {
  const Profile& profile = part.operand.profile;
  ByteVector codes;
  ByteVector scales;
  for (const auto& row : part.operand.rows) {
    for (const exact::EncodedBlock& block : row) {
      codes.insert(codes.end(), block.codes.begin(), block.codes.end());
      const ByteVector bytes = scale_bytes_of(row_profile(profile), block, 0);
      scales.insert(scales.end(), bytes.begin(), bytes.end());
    }
  }
  answer.push_back(packed(profile, codes));
  answer.push_back(scales);
  if (profile.tensor_scale) answer.push_back(bytes_of_words({part.operand.tensor_scale}));
  if (!part.macro.empty()) answer.push_back(part.macro);
}

exact::CodedPart part_of_case(const Profile& profile, const CaseGroup& group, std::size_t index,
                              const std::string& prefix, std::int64_t rows) {
  exact::CodedPart part;
  part.operand = operand_of(profile, group, index, prefix, rows);
  if (const suite::CaseTensor* macro = group.find(prefix + "macro")) {
    const Bytes bytes = macro->of_case(index);
    part.macro.assign(bytes.begin(), bytes.end());
  }
  return part;
}

exact::CorrectedMatrix matrix_of_case(const Profile& profile, const CorrectionStack& stack, const CaseGroup& group,
                                      std::size_t index, const std::string& prefix, std::int64_t rows) {
  exact::CorrectedMatrix matrix;
  matrix.profile = row_profile(stack.effective(profile));
  matrix.stack = stack;
  matrix.product = suite::case_product;
  matrix.shape = {static_cast<std::size_t>(rows), static_cast<std::size_t>(group.spec.columns),
                  static_cast<std::size_t>(rows)};
  matrix.first = part_of_case(matrix.profile, group, index, prefix, rows);
  if (stack.residual.is_on()) matrix.residual = part_of_case(matrix.profile, group, index, prefix + "residual_", rows);
  return matrix;
}

void append_word(std::uint64_t bits, Words& words) {
  words.push_back(static_cast<std::uint32_t>(bits));
  words.push_back(static_cast<std::uint32_t>(bits >> 32));
}

/// The elements of one padded row of blocks, cut to the columns that exist.
std::vector<exact::SplitElement> split_row(const Profile& profile, const RowMatrix& input, const RowMatrix& random,
                                           std::size_t row, std::uint32_t tensor_scale) {
  std::vector<exact::SplitElement> elements;
  const std::size_t length = profile.block.cols;
  for (std::size_t begin = 0; begin < input.cols; begin += length) {
    const auto piece = [&](const Words& words) {
      Words block;
      for (std::size_t c = begin; c < begin + length && !words.empty(); ++c) {
        block.push_back(c < input.cols ? words[row * input.cols + c] : 0);
      }
      return block;
    };
    const auto split = exact::split_block(profile, piece(input.words), piece(random.words), tensor_scale);
    elements.insert(elements.end(), split.elements.begin(), split.elements.end());
  }
  elements.resize(input.cols);
  return elements;
}

}  // namespace

std::vector<ByteVector> corrected_by_oracle(const Profile& profile, const CaseGroup& group, std::size_t index) {
  const CorrectionStack stack = suite::stack_of(group.spec).value();
  const RowMatrix input = row_matrix(group, "input", index);
  const RowMatrix random = row_matrix(group, "random", index);
  const auto corrected = exact::correct(
      profile, stack, {{input.rows, input.cols, input.rows}, input.words, random.words}, suite::case_product);
  if (!corrected) {
    ADD_FAILURE() << corrected.error().message;
    return {};
  }
  std::vector<ByteVector> answer;
  append_part(corrected->first, answer);
  if (corrected->residual) append_part(*corrected->residual, answer);
  answer.push_back(bytes_of_words(exact::decode(*corrected)));
  return answer;
}

std::vector<ByteVector> corrected_product_by_oracle(const Profile& profile, const CaseGroup& group, std::size_t index) {
  const auto accumulator = accumulator_named(group.spec.accumulator);
  if (!accumulator) {
    ADD_FAILURE() << "unknown accumulator " << group.spec.accumulator;
    return {};
  }
  const CorrectionStack stack = suite::stack_of(group.spec).value();
  const auto c = exact::gemm(
      matrix_of_case(profile, stack, group, index, "a_", group.spec.rows),
      matrix_of_case(profile, stack.without_residual(), group, index, "b_", group.spec.other_rows), *accumulator);
  if (!c) {
    ADD_FAILURE() << c.error().message;
    return {};
  }
  return {bytes_of_words(*c)};
}

std::vector<ByteVector> decomposed_by_oracle(const Profile& profile, const CaseGroup& group, std::size_t index) {
  const RowMatrix input = row_matrix(group, "input", index);
  const RowMatrix random = row_matrix(group, "random", index);
  const std::uint32_t tensor_scale = exact::tensor_scale_word(profile, input.words);
  Words terms;
  Words sums;
  Words counts;
  for (std::size_t row = 0; row < input.rows; ++row) {
    const auto elements = split_row(profile, input, random, row, tensor_scale);
    for (const exact::SplitElement& element : elements) {
      const exact::TermWords words = exact::term_words(element);
      for (const std::uint64_t term : {words.scale, words.deadzone, words.grid}) append_word(term, terms);
    }
    const exact::SplitSums sum = exact::sum_row(profile, elements);
    for (const std::uint64_t word : sum.words) append_word(word, sums);
    for (const std::int64_t count : {sum.excluded, sum.in_deadzone, sum.zeroed, sum.inexact}) {
      counts.push_back(static_cast<std::uint32_t>(count));
    }
  }
  return {bytes_of_words(terms), bytes_of_words(sums), bytes_of_words(counts)};
}

}  // namespace fp4proof::oracle_answers
