#include "conformance/verify/classify_quantize.h"

#include <algorithm>
#include <bit>

#include "conformance/verify/element_kind.h"
#include "conformance/verify/packing_kind.h"
#include "conformance/verify/quantized_view.h"
#include "conformance/verify/strided_groups.h"
#include "formats/block.h"
#include "formats/hif4.h"

namespace fp4proof::verify {

namespace {

using suite::CaseGroup;

/// The input of a case at the places of its codes.
class InputView {
 public:
  InputView(const CaseGroup& group, std::size_t index, const portable::Geometry& geometry)
      : words_(copy_elements<std::uint32_t>(group.find("input")->of_case(index))), geometry_(&geometry) {
    if (const suite::CaseTensor* random = group.find("random")) {
      random_ = copy_elements<std::uint32_t>(random->of_case(index));
    }
  }

  /// The word at a code's place; padding is zero.
  std::uint32_t word(std::int64_t row, std::int64_t column) const {
    return column < geometry_->columns ? words_[place(row, column)] : 0;
  }

  std::uint32_t random(std::int64_t row, std::int64_t column) const {
    return random_.empty() || column >= geometry_->columns ? 0 : random_[place(row, column)];
  }

 private:
  std::size_t place(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(geometry_->first_element(row) + column * geometry_->inner);
  }

  std::vector<std::uint32_t> words_;
  std::vector<std::uint32_t> random_;
  const portable::Geometry* geometry_;
};

/// Everything about one case.
struct QuantizeCase {
  const Profile& profile;
  const portable::Geometry& geometry;
  QuantizedView expected;
  QuantizedView actual;
  InputView input;
  float tensor_scale;
  CompareRules rules;
};

/// What the block (or tile) at a row of blocks holds.
BlockScan scan_of(const QuantizeCase& c, std::int64_t row, std::int64_t block) {
  const std::int64_t rows = c.profile.block.rows;
  const std::int64_t cols = c.profile.block.cols;
  const std::int64_t first = row / rows * rows;
  std::vector<std::uint32_t> words;
  for (std::int64_t r = first; r < std::min(first + rows, c.geometry.rows); ++r) {
    for (std::int64_t k = block * cols; k < (block + 1) * cols; ++k) words.push_back(c.input.word(r, k));
  }
  return scan_block(c.profile, words.data(), static_cast<int>(words.size()));
}

Finding finding_at(const QuantizeCase& c, Cause cause, std::string_view kind, std::int64_t row, std::int64_t block) {
  Finding finding;
  finding.cause = cause;
  finding.kind = kind;
  finding.row = row;
  finding.block = block;
  finding.expected_scale = c.expected.scale(row, block);
  finding.actual_scale = c.actual.scale(row, block);
  return finding;
}

/// Points a finding at the largest magnitude of its block row: what the scale is made of.
void blame_largest(const QuantizeCase& c, Finding& finding) {
  const std::int64_t cols = c.profile.block.cols;
  std::uint32_t largest = 0;
  for (std::int64_t k = 0; k < cols; ++k) {
    const std::uint32_t word = c.input.word(finding.row, finding.block * cols + k);
    const std::uint32_t magnitude = word & float_magnitude_mask;
    if (finding.element >= 0 && magnitude <= largest) continue;
    largest = magnitude;
    finding.element = k;
    finding.input = word;
  }
}

std::uint32_t scale_code(const Profile& profile, std::uint32_t scale) {
  return profile.family == Family::hif4 ? hif4_e6m2(scale) : scale;
}

/// NaN, infinity and all-zero blocks, where the scales differ or one is NaN.
std::optional<Finding> special_finding(const QuantizeCase& c, std::int64_t row, std::int64_t block) {
  const std::uint32_t expected = c.expected.scale(row, block);
  const std::uint32_t actual = c.actual.scale(row, block);
  const BlockScan scan = scan_of(c, row, block);
  if (scan.has_nan) return finding_at(c, Cause::special, "nan-block", row, block);
  if (scan.has_inf) return finding_at(c, Cause::special, "infinity-block", row, block);
  if (expected == actual) return std::nullopt;
  if (is_nan_scale(c.profile, expected) || is_nan_scale(c.profile, actual)) {
    return finding_at(c, Cause::special, "nan-scale", row, block);
  }
  if (scan.amax_bits == 0) return finding_at(c, Cause::special, "zero-block", row, block);
  return std::nullopt;
}

std::optional<Finding> scale_finding(const QuantizeCase& c, std::int64_t row, std::int64_t block) {
  const std::uint32_t expected = scale_code(c.profile, c.expected.scale(row, block));
  const std::uint32_t actual = scale_code(c.profile, c.actual.scale(row, block));
  if (expected == actual) return std::nullopt;
  Finding finding = finding_at(c, Cause::scale, "scale-code", row, block);
  finding.distance = std::int64_t{actual} - std::int64_t{expected};
  blame_largest(c, finding);
  return finding;
}

/// Whether the actual level bits are those of sub-groups over strided elements.
bool is_strided(const QuantizeCase& c, std::int64_t row, std::int64_t block) {
  if (c.profile.block.is_2d()) return false;
  std::vector<std::uint32_t> words;
  const std::int64_t cols = c.profile.block.cols;
  for (std::int64_t k = block * cols; k < (block + 1) * cols; ++k) words.push_back(c.input.word(row, k));
  return strided_word(c.profile, words) == c.actual.scale(row, block);
}

std::optional<Finding> micro_finding(const QuantizeCase& c, std::int64_t row, std::int64_t block) {
  const std::uint32_t differing = c.expected.scale(row, block) ^ c.actual.scale(row, block);
  if (differing == 0) return std::nullopt;
  const int bit = std::countr_zero(differing);
  Finding finding = finding_at(c, Cause::micro, bit < 16 ? "level2-bit" : "level3-bit", row, block);
  const int part = bit < 16 ? bit - 8 : bit - 16;
  finding.element = part * (c.profile.block.cols / (bit < 16 ? hif4_level2_count : hif4_level3_count));
  finding.distance = (c.actual.scale(row, block) >> bit & 1U) != 0 ? 1 : -1;
  if (is_strided(c, row, block)) finding.kind = "strided-groups";
  return finding;
}

std::optional<Finding> element_finding(const QuantizeCase& c, std::int64_t row, std::int64_t block) {
  const std::int64_t cols = c.profile.block.cols;
  const std::uint32_t scale = c.expected.scale(row, block);
  for (std::int64_t k = 0; k < cols; ++k) {
    const std::int64_t column = block * cols + k;
    const std::uint8_t expected = c.expected.code(row, column);
    const std::uint8_t actual = c.actual.code(row, column);
    if (expected == actual) continue;
    Finding finding = finding_at(c, Cause::element, "", row, block);
    finding.element = k;
    finding.input = c.input.word(row, column);
    finding.expected = expected;
    finding.actual = actual;
    finding.distance = code_order(c.profile.element, actual) - code_order(c.profile.element, expected);
    if (is_nan_scale(c.profile, scale)) {
      finding.cause = Cause::special;
      finding.kind = "nan-scale-codes";
      return finding;
    }
    finding.kind = element_kind(
        {c.profile, scale, c.tensor_scale, static_cast<int>(k), *finding.input, c.input.random(row, column)}, expected,
        actual);
    return finding;
  }
  return std::nullopt;
}

bool block_codes_equal(const QuantizeCase& c, std::int64_t row, std::int64_t block) {
  const std::int64_t cols = c.profile.block.cols;
  for (std::int64_t k = block * cols; k < (block + 1) * cols; ++k)
    if (c.expected.code(row, k) != c.actual.code(row, k)) return false;
  return true;
}

/// Whether the block is right, as the rules have it.
bool block_is_right(const QuantizeCase& c, std::int64_t row, std::int64_t block) {
  const std::uint32_t scale = c.expected.scale(row, block);
  if (scale != c.actual.scale(row, block)) return false;
  return (c.rules.ignore_codes_under_nan && is_nan_scale(c.profile, scale)) || block_codes_equal(c, row, block);
}

std::optional<Finding> block_finding(const QuantizeCase& c, std::int64_t row, std::int64_t block) {
  if (block_is_right(c, row, block)) return std::nullopt;
  const bool codes_only_under_nan = c.expected.scale(row, block) == c.actual.scale(row, block) &&
                                    is_nan_scale(c.profile, c.expected.scale(row, block));
  if (!codes_only_under_nan) {
    if (const auto special = special_finding(c, row, block)) return special;
    if (const auto scale = scale_finding(c, row, block)) return scale;
    if (const auto micro = micro_finding(c, row, block)) return micro;
  }
  return element_finding(c, row, block);
}

/// The first of the most fundamental findings.
std::optional<Finding> first_finding(const QuantizeCase& c) {
  std::optional<Finding> first;
  for (std::int64_t row = 0; row < c.geometry.rows; ++row) {
    for (std::int64_t block = 0; block < c.geometry.blocks; ++block) {
      const std::optional<Finding> finding = block_finding(c, row, block);
      if (finding && (!first || finding->cause < first->cause)) first = finding;
    }
  }
  return first;
}

std::optional<Finding> tensor_scale_finding(const QuantizeCase& c, Bytes expected, Bytes actual) {
  const std::uint32_t wanted = load_le32(expected.data());
  const std::uint32_t given = load_le32(actual.data());
  if (wanted == given) return std::nullopt;
  Finding finding = finding_at(c, Cause::scale, "tensor-scale", 0, 0);
  finding.distance = std::int64_t{given} - std::int64_t{wanted};
  return finding;
}

}  // namespace

std::optional<Finding> classify_quantize(const suite::CaseTable& table, const CaseGroup& group, std::size_t index,
                                         std::span<const Bytes> expected, std::span<const Bytes> actual,
                                         const CompareRules& rules) {
  const auto equal = [&](std::size_t t) { return std::ranges::equal(expected[t], actual[t]); };
  if (equal(0) && equal(1) && (expected.size() < 3 || equal(2))) return std::nullopt;
  const Profile& profile = *table.profile;
  const Result<portable::Geometry> geometry = suite::case_geometry(profile, group.spec);
  const float tensor_scale = expected.size() < 3 ? 1.0F : float_from_bits(load_le32(expected[2].data()));
  const QuantizeCase c = {profile,
                          *geometry,
                          {profile, *geometry, expected[0], expected[1]},
                          {profile, *geometry, actual[0], actual[1]},
                          {group, index, *geometry},
                          tensor_scale,
                          rules};
  if (expected.size() == 3) {
    if (const auto finding = tensor_scale_finding(c, expected[2], actual[2])) return finding;
  }
  std::optional<Finding> finding = first_finding(c);
  if (!finding) return std::nullopt;
  if (const std::optional<std::string_view> kind = packing_kind(c.expected, c.actual)) {
    finding->cause = Cause::packing;
    finding->kind = *kind;
    finding->distance = 0;
  }
  return finding;
}

}  // namespace fp4proof::verify
