#include "conformance/verify/classify_correction.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "conformance/verify/element_kind.h"
#include "conformance/verify/part_words.h"
#include "conformance/verify/quantized_view.h"
#include "conformance/verify/value_finding.h"
#include "formats/hif4.h"
#include "reference/portable/correct.h"

namespace fp4proof::verify {

namespace {

using suite::CaseGroup;
using suite::CaseTensor;

/// The expected and the actual bytes of one tensor.
struct Pair {
  std::string_view name;
  Bytes expected;
  Bytes actual;

  bool differ() const { return !std::ranges::equal(expected, actual); }
};

class Outputs {
 public:
  Outputs(const CaseGroup& group, std::span<const Bytes> expected, std::span<const Bytes> actual) {
    for (const CaseTensor& tensor : group.tensors) {
      if (!tensor.expected) continue;
      pairs_.push_back({tensor.name, expected[pairs_.size()], actual[pairs_.size()]});
    }
  }

  /// The tensor of that name, without bytes where the group has none.
  Pair at(std::string_view name) const {
    const auto found = std::ranges::find(pairs_, name, &Pair::name);
    return found == pairs_.end() ? Pair{} : *found;
  }

 private:
  std::vector<Pair> pairs_;
};

Finding finding_in(const Pair& pair, Cause cause, std::string_view kind) {
  Finding finding;
  finding.cause = cause;
  finding.kind = kind;
  finding.tensor = pair.name;
  return finding;
}

/// One coded part of the answer.
struct PartCase {
  const Profile& profile;
  const portable::Geometry& geometry;
  Pair codes;
  Pair scales;
  Pair macro;
  Pair tensor_scale;
  bool masked;                     ///< a residual of which some elements are left out
  std::optional<PartWords> words;  ///< what was coded; there where codes differ, if the reference has it
};

std::optional<Finding> macro_finding(const PartCase& part) {
  if (!part.macro.differ()) return std::nullopt;
  const auto at = std::ranges::mismatch(part.macro.expected, part.macro.actual);
  const auto place = at.in1 - part.macro.expected.begin();
  const auto per_row = static_cast<std::int64_t>(part.macro.expected.size()) / part.geometry.rows;
  Finding finding = finding_in(part.macro, Cause::scale, "macro-factor");
  finding.row = place / per_row;
  finding.block = place % per_row;
  finding.distance = int{*at.in2} - int{*at.in1};
  return finding;
}

/// Calls find(row, block) for every block of the part until it finds something.
template <class Find>
std::optional<Finding> first_of_blocks(const PartCase& part, Find find) {
  for (std::int64_t row = 0; row < part.geometry.rows; ++row) {
    for (std::int64_t block = 0; block < part.geometry.blocks; ++block) {
      if (const std::optional<Finding> finding = find(row, block)) return finding;
    }
  }
  return std::nullopt;
}

Finding finding_at(const PartCase& part, const Pair& pair, Cause cause, std::string_view kind, std::int64_t row,
                   std::int64_t block) {
  const QuantizedView expected(part.profile, part.geometry, part.codes.expected, part.scales.expected);
  const QuantizedView actual(part.profile, part.geometry, part.codes.actual, part.scales.actual);
  Finding finding = finding_in(pair, cause, kind);
  finding.row = row;
  finding.block = block;
  finding.expected_scale = expected.scale(row, block);
  finding.actual_scale = actual.scale(row, block);
  return finding;
}

std::optional<Finding> scale_finding(const PartCase& part) {
  if (part.tensor_scale.differ()) return finding_in(part.tensor_scale, Cause::scale, "tensor-scale");
  const bool hif4 = part.profile.family == Family::hif4;
  return first_of_blocks(part, [&](std::int64_t row, std::int64_t block) -> std::optional<Finding> {
    Finding finding = finding_at(part, part.scales, Cause::scale, "scale-code", row, block);
    const std::uint32_t wanted = *finding.expected_scale;
    const std::uint32_t given = *finding.actual_scale;
    if (wanted == given) return std::nullopt;
    const auto code = [&](std::uint32_t scale) { return std::int64_t{hif4 ? hif4_e6m2(scale) : scale}; };
    finding.distance = code(given) - code(wanted);
    if (finding.distance == 0) {
      finding.cause = Cause::micro;
      finding.kind = std::countr_zero(wanted ^ given) < 16 ? "level2-bit" : "level3-bit";
    }
    return finding;
  });
}

/// Names why element `finding.element` of its block has another code.
void name_kind(const PartCase& part, Finding& finding) {
  const auto wanted = static_cast<std::uint8_t>(*finding.expected);
  const auto given = static_cast<std::uint8_t>(*finding.actual);
  if (is_nan_scale(part.profile, *finding.expected_scale)) {
    finding.cause = Cause::special;
    finding.kind = "nan-scale-codes";
  } else if (part.masked && (wanted == 0) != (given == 0)) {
    finding.kind = "residual-mask";
  }
  if (!part.words) return;
  const std::int64_t column = finding.block * part.profile.block.cols + finding.element;
  finding.input = part.words->word(finding.row, column);
  if (finding.kind != "code") return;
  finding.kind =
      element_kind({part.profile, *finding.expected_scale, part.words->tensor_scale, static_cast<int>(finding.element),
                    *finding.input, part.words->random_word(finding.row, column)},
                   wanted, given);
}

std::optional<Finding> code_finding(const PartCase& part) {
  const QuantizedView expected(part.profile, part.geometry, part.codes.expected, part.scales.expected);
  const QuantizedView actual(part.profile, part.geometry, part.codes.actual, part.scales.actual);
  const std::int64_t length = part.profile.block.cols;
  return first_of_blocks(part, [&](std::int64_t row, std::int64_t block) -> std::optional<Finding> {
    for (std::int64_t k = 0; k < length; ++k) {
      const std::uint8_t wanted = expected.code(row, block * length + k);
      const std::uint8_t given = actual.code(row, block * length + k);
      if (wanted == given) continue;
      Finding finding = finding_at(part, part.codes, Cause::element, "code", row, block);
      finding.element = k;
      finding.expected = wanted;
      finding.actual = given;
      finding.distance = code_order(part.profile.element, given) - code_order(part.profile.element, wanted);
      name_kind(part, finding);
      return finding;
    }
    return std::nullopt;
  });
}

std::optional<Finding> part_finding(const PartCase& part) {
  if (const auto finding = macro_finding(part)) return finding;
  if (const auto finding = scale_finding(part)) return finding;
  return code_finding(part);
}

std::optional<Finding> values_finding(const Pair& values, std::int64_t columns) {
  const auto wanted = copy_elements<std::uint32_t>(values.expected);
  const auto given = copy_elements<std::uint32_t>(values.actual);
  const auto differ = std::ranges::mismatch(wanted, given, same_value);
  if (differ.in1 == wanted.end()) return std::nullopt;
  Finding finding = value_finding(*differ.in1, *differ.in2);
  const auto place = differ.in1 - wanted.begin();
  finding.tensor = values.name;
  finding.row = place / columns;
  finding.element = place % columns;
  finding.expected = *differ.in1;
  finding.actual = *differ.in2;
  return finding;
}

}  // namespace

std::optional<Finding> classify_correction(const suite::CaseTable& table, const CaseGroup& group, std::size_t index,
                                           std::span<const Bytes> expected, std::span<const Bytes> actual) {
  const Outputs outputs(group, expected, actual);
  const Result<CorrectionStack> stack = suite::stack_of(group.spec);
  const Profile profile = stack->effective(*table.profile);
  const Result<portable::Geometry> geometry = suite::case_geometry(*table.profile, group.spec);
  for (const std::string prefix : {"", "residual_"}) {
    if (const Pair codes = outputs.at(prefix + "codes"); !codes.name.empty()) {
      const PartCase part = {profile,
                             *geometry,
                             codes,
                             outputs.at(prefix + "scales"),
                             outputs.at(prefix + "macro"),
                             outputs.at(prefix + "tensor_scale"),
                             !prefix.empty() && stack->residual.mask != ResidualMask::dense,
                             codes.differ() ? part_words(*table.profile, group, index, !prefix.empty()) : std::nullopt};
      if (const auto finding = part_finding(part)) return finding;
    }
  }
  return values_finding(outputs.at("values"), geometry->columns);
}

std::optional<Finding> classify_decomposition(const CaseGroup& group, std::span<const Bytes> expected,
                                              std::span<const Bytes> actual) {
  constexpr auto term_kinds = std::to_array<std::string_view>({"scale-term", "deadzone-term", "grid-term"});
  const Outputs outputs(group, expected, actual);
  for (const std::string_view name : {"terms", "sums", "counts"}) {
    const Pair pair = outputs.at(name);
    if (!pair.differ()) continue;
    const auto at = std::ranges::mismatch(pair.expected, pair.actual);
    const auto word = (at.in1 - pair.expected.begin()) / 4;
    const auto words_per_row = static_cast<std::int64_t>(group.find(name)->case_bytes() / 4) /
                               static_cast<std::int64_t>(group.find(name)->case_shape[0]);
    Finding finding = finding_in(pair, Cause::order, "accumulation");
    finding.row = word / words_per_row;
    if (name == "terms") {
      finding.cause = Cause::element;
      finding.kind = term_kinds[static_cast<std::size_t>(word % 6 / 2)];
      finding.element = word % words_per_row / 6;
    } else if (name == "counts") {
      finding.cause = Cause::element;
      finding.kind = "count";
    }
    return finding;
  }
  return std::nullopt;
}

}  // namespace fp4proof::verify
