#include "conformance/diagnose/hypotheses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "conformance/diagnose/hypothesis_rows.h"
#include "conformance/profiles/profile_fields.h"
#include "conformance/suite/shared_rules.h"

namespace fp4proof::diagnose {

namespace {

/// Every field that means something to the family, packing and order of bytes apart, as numbers.
std::vector<int> field_values(const Profile& profile) {
  constexpr std::array<std::string_view, 3> packing = {"nibble_order", "scale_layout", "micro_order"};
  std::vector<int> values;
  for_each_field(profile, [&](std::string_view name, FieldScope scope, const auto& field) {
    if (!in_scope(scope, profile.family) || std::ranges::find(packing, name) != packing.end()) return;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, BlockShape>) {
      values.push_back(field.rows * 256 + field.cols);
    } else {
      values.push_back(static_cast<int>(field));
    }
  });
  return values;
}

int differing_fields(const Profile& a, const Profile& b) {
  const std::vector<int> of_a = field_values(a);
  const std::vector<int> of_b = field_values(b);
  int count = 0;
  for (std::size_t i = 0; i < of_a.size(); ++i) count += of_a[i] != of_b[i] ? 1 : 0;
  return count;
}

bool same_width(Element a, Element b) { return element_spec(a).is_nibble() == element_spec(b).is_nibble(); }

/// Whether the model's outputs have the shape of the question's.
bool keeps_shape(const Profile& profile, const KernelModel& model) {
  const Profile& changed = model.profile;
  const Element coded = model.encode.grid.value_or(profile.element);
  const Element read = model.decode.grid.value_or(profile.element);
  return changed.family == profile.family && changed.block == profile.block &&
         changed.tensor_scale == profile.tensor_scale && same_width(changed.element, profile.element) &&
         same_width(coded, profile.element) && same_width(read, profile.element);
}

Change change_of(const Hypothesis& hypothesis, const Profile& profile) {
  Change change;
  change.hypothesis = &hypothesis;
  change.model = faithful_model(profile);
  hypothesis.apply(change.model, hypothesis.parameter);
  change.cost = hypothesis.cost;
  if (hypothesis.dimension == "profile") change.cost += differing_fields(profile, change.model.profile) - 1;
  change.text = hypothesis.text;
  if (hypothesis.current != nullptr) change.text += fmt::format(" in place of {}", hypothesis.current(profile));
  return change;
}

/// A named stack without what does not show: its name, and for a product everything that coded operands have behind
/// them already.
CorrectionStack meaning_of(suite::Operation operation, std::string_view name) {
  CorrectionStack stack = *find_correction_stack(name);
  stack.name = stack.summary = {};
  if (operation != suite::Operation::correct_gemm) return stack;
  CorrectionStack product;
  product.tile = stack.tile;
  product.three_quarters = stack.three_quarters;
  product.macro = stack.macro;
  product.residual.on = stack.residual.on;
  product.residual.alpha = stack.residual.alpha;
  return product;
}

bool same_corrections(suite::Operation operation, const CorrectModel& a, const CorrectModel& b) {
  if (a == b) return true;
  return !a.stack.empty() && !b.stack.empty() && meaning_of(operation, a.stack) == meaning_of(operation, b.stack);
}

/// A grid equal to the question's own is no change.
bool is_same_grid(const Profile& profile, const KernelModel& model) {
  return model.encode.grid == profile.element || model.decode.grid == profile.element;
}

}  // namespace

std::span<const Hypothesis> hypotheses() {
  static const std::vector<Hypothesis> rows = [] {
    std::vector<Hypothesis> all;
    append_rule_rows(all);
    append_encoder_rows(all);
    append_decoder_rows(all);
    append_correction_rows(all);
    append_layout_rows(all);
    return all;
  }();
  return rows;
}

KernelModel faithful_model(const Profile& profile) {
  KernelModel model;
  model.profile = profile;
  return model;
}

bool same_kernel(suite::Operation operation, const KernelModel& a, const KernelModel& b) {
  return suite::same_rule(operation, a.profile, b.profile) && a.inputs == b.inputs && a.other_axis == b.other_axis &&
         a.encode == b.encode && a.decode == b.decode && a.sum == b.sum &&
         same_corrections(operation, a.correct, b.correct) && a.either_neighbour == b.either_neighbour &&
         a.outputs == b.outputs && a.packing == b.packing;
}

std::vector<Change> changes_of(suite::Operation operation, const Profile& profile) {
  const KernelModel faithful = faithful_model(profile);
  std::vector<Change> changes;
  for (const Hypothesis& hypothesis : hypotheses()) {
    const bool applies =
        (hypothesis.operations & set_of(operation)) != 0 && (hypothesis.families & set_of(profile.family)) != 0;
    if (!applies || (hypothesis.applies != nullptr && !hypothesis.applies(profile))) continue;
    Change change = change_of(hypothesis, profile);
    if (!keeps_shape(profile, change.model) || is_same_grid(profile, change.model)) continue;
    if (same_kernel(operation, faithful, change.model)) continue;
    const auto same = std::ranges::find_if(
        changes, [&](const Change& known) { return same_kernel(operation, known.model, change.model); });
    if (same == changes.end()) {
      changes.push_back(std::move(change));
    } else if (hypothesis.dimension == "profile" && same->also_called.empty()) {
      same->also_called = hypothesis.value;
    }
  }
  std::ranges::stable_sort(changes, {}, &Change::cost);
  return changes;
}

}  // namespace fp4proof::diagnose
