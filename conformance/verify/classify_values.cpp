#include "conformance/verify/classify_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "conformance/suite/drafts.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/verify/value_finding.h"

namespace fp4proof::verify {

namespace {

using suite::CaseGroup;
using Words = std::vector<std::uint32_t>;

bool same_values(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  return std::ranges::equal(a, b, same_value);
}

/// log2 |actual / expected| where that is a whole number and the signs agree.
std::optional<int> power_ratio(std::uint32_t expected, std::uint32_t actual) {
  const double quotient = double{float_from_bits(actual)} / double{float_from_bits(expected)};
  if (!(quotient > 0.0) || std::isinf(quotient)) return std::nullopt;
  int exponent = 0;
  return std::frexp(quotient, &exponent) == 0.5 ? std::optional(exponent - 1) : std::nullopt;
}

/// The one power of two between all non-zero values of a row; nothing where they do not share one.
std::optional<int> common_ratio(std::span<const std::uint32_t> expected, std::span<const std::uint32_t> actual) {
  std::optional<int> common;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (is_zero(expected[i]) && is_zero(actual[i])) continue;
    if (!is_finite_bits(expected[i]) || !is_finite_bits(actual[i])) return std::nullopt;
    const std::optional<int> ratio = power_ratio(expected[i], actual[i]);
    if (!ratio || (common && *common != *ratio)) return std::nullopt;
    common = ratio;
  }
  return common;
}

/// HiF4: every sixteenth is off by one power of two, at most two binades.
bool is_micro(const Profile& profile, std::span<const std::uint32_t> expected, std::span<const std::uint32_t> actual) {
  if (profile.family != Family::hif4) return false;
  const std::size_t length = profile.block.cols / std::size_t{hif4_level3_count};
  for (std::size_t begin = 0; begin + length <= expected.size(); begin += length) {
    const auto wanted = expected.subspan(begin, length);
    const auto given = actual.subspan(begin, length);
    if (same_values(wanted, given)) continue;
    const std::optional<int> ratio = common_ratio(wanted, given);
    if (!ratio || std::abs(*ratio) > 2) return false;
  }
  return true;
}

/// Pairs of neighbours exchanged: what swapped nibbles give.
Words swapped_pairs(std::span<const std::uint32_t> words) {
  Words swapped(words.begin(), words.end());
  for (std::size_t i = 0; i + 1 < swapped.size(); i += 2) std::swap(swapped[i], swapped[i + 1]);
  return swapped;
}

/// Element 2j at j, 2j + 1 at j + half: what split nibbles give, read as even-low ones.
Words joined_halves(std::span<const std::uint32_t> words, std::size_t length) {
  Words joined(words.size());
  for (std::size_t begin = 0; begin + length <= words.size(); begin += length) {
    for (std::size_t i = 0; i < length; ++i) joined[begin + i] = words[begin + i / 2 + (i % 2) * (length / 2)];
  }
  return joined;
}

std::optional<std::string_view> value_packing(const Profile& profile, std::span<const std::uint32_t> expected,
                                              std::span<const std::uint32_t> actual) {
  if (!element_spec(profile.element).is_nibble()) return std::nullopt;
  if (same_values(expected, swapped_pairs(actual))) return "swapped-nibbles";
  if (same_values(expected, joined_halves(actual, profile.block.cols))) return "split-nibbles";
  return std::nullopt;
}

/// The most fundamental finding of a row of blocks that differs.
Finding dequantize_finding(const Profile& profile, std::span<const std::uint32_t> expected,
                           std::span<const std::uint32_t> actual) {
  if (const auto kind = value_packing(profile, expected, actual)) return finding_of(Cause::packing, *kind, 0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (same_value(expected[i], actual[i])) continue;
    const Finding finding = value_finding(expected[i], actual[i]);
    if (finding.cause == Cause::special) return finding;
  }
  if (const auto ratio = common_ratio(expected, actual); ratio && *ratio != 0) {
    return finding_of(Cause::scale, "scale-value", *ratio);
  }
  if (is_micro(profile, expected, actual)) return finding_of(Cause::micro, "micro-value", 0);
  const auto differ = std::ranges::mismatch(expected, actual, same_value);
  return value_finding(*differ.in1, *differ.in2);
}

Finding gemm_finding(const suite::CaseTable& table, const CaseGroup& group, std::size_t index,
                     std::span<const std::uint32_t> expected, std::span<const std::uint32_t> actual) {
  const auto rows = static_cast<std::size_t>(group.spec.rows);
  const auto columns = static_cast<std::size_t>(group.spec.other_rows);
  if (rows * columns > 1 && same_values(expected, suite::transposed(actual, columns, rows))) {
    return finding_of(Cause::packing, "transposed", 0);
  }
  for (const std::string_view accumulator : suite::accumulators_for(*table.profile)) {
    const Result<Words> other = suite::gemm_of_case(*table.profile, group, index, accumulator);
    if (other && same_values(actual, *other)) return finding_of(Cause::order, "accumulation", 0);
  }
  const auto differ = std::ranges::mismatch(expected, actual, same_value);
  return value_finding(*differ.in1, *differ.in2);
}

}  // namespace

std::optional<Finding> classify_values(const suite::CaseTable& table, const CaseGroup& group, std::size_t index,
                                       std::span<const Bytes> expected, std::span<const Bytes> actual) {
  const auto wanted = copy_elements<std::uint32_t>(expected[0]);
  const auto given = copy_elements<std::uint32_t>(actual[0]);
  if (same_values(wanted, given)) return std::nullopt;
  const bool is_gemm = suite::is_product(table.operation);
  Finding finding =
      is_gemm ? gemm_finding(table, group, index, wanted, given) : dequantize_finding(*table.profile, wanted, given);
  const auto differ = std::ranges::mismatch(wanted, given, same_value);
  const auto place = differ.in1 - wanted.begin();
  const std::int64_t width = is_gemm ? group.spec.other_rows : group.spec.columns;
  finding.row = place / width;
  finding.element = place % width;
  finding.expected = *differ.in1;
  finding.actual = *differ.in2;
  return finding;
}

}  // namespace fp4proof::verify
