// Where an element falls on its grid.

#include <array>
#include <cmath>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"

namespace fp4proof::suite {

namespace {

using ScaledList = std::vector<Scaled>;

void add_both_signs(ScaledList& list, double value, int ulps = 0) {
  list.push_back({value, ulps});
  list.push_back({-value, ulps});
}

Blocks rows_at_anchors(const CaseContext& context, const ScaledList& values) {
  Blocks rows;
  for (const std::uint32_t amax : anchors(context)) append_scaled_rows(context.profile, amax, values, rows);
  return rows;
}

Blocks ties(const CaseContext& context) {
  ScaledList list;
  for (const double tie : grid_ties(context.profile.element)) add_both_signs(list, tie);
  return rows_at_anchors(context, list);
}

Blocks tie_neighbours(const CaseContext& context) {
  ScaledList list;
  for (const double tie : grid_ties(context.profile.element)) {
    add_both_signs(list, tie, -1);
    add_both_signs(list, tie, 1);
  }
  return rows_at_anchors(context, list);
}

Blocks grid(const CaseContext& context) {
  ScaledList list;
  for (const double value : grid_values(context.profile.element)) add_both_signs(list, value);
  return rows_at_anchors(context, list);
}

Blocks grid_neighbours(const CaseContext& context) {
  ScaledList list;
  for (const double value : grid_values(context.profile.element)) {
    if (value == 0.0) continue;
    add_both_signs(list, value, -1);
    add_both_signs(list, value, 1);
  }
  return rows_at_anchors(context, list);
}

Blocks deadzone_edge(const CaseContext& context) {
  const double edge = grid_values(context.profile.element)[1] / 2;
  ScaledList list;
  for (const int ulps : {-2, -1, 0, 1, 2}) add_both_signs(list, edge, ulps);
  for (const double part : {0.999, 0.75, 0.5, 0.25, 1e-3, 1e-9, 1e-30}) add_both_signs(list, edge * part);
  for (const double multiple : {1.001, 1.5, 1.999, 2.0}) add_both_signs(list, edge * multiple);
  return rows_at_anchors(context, list);
}

/// Beside a tie, so near that rounding to `precision` bits first lands on it.
void add_double_rounding_traps(ScaledList& list, double tie, int precision) {
  const double half_step = std::ldexp(1.0, std::ilogb(tie) - precision);
  add_both_signs(list, tie + half_step * 0.5);
  add_both_signs(list, tie - half_step * 0.25);
}

Blocks double_rounding_bf16(const CaseContext& context) {
  ScaledList list;
  for (const double tie : grid_ties(context.profile.element)) {
    add_double_rounding_traps(list, tie, 8);
    const double half_step = std::ldexp(1.0, std::ilogb(tie) - 8);
    // On the far edge of what bfloat16 rounds to the tie, and just beyond.
    for (const int ulps : {-1, 0, 1}) add_both_signs(list, tie + half_step, ulps);
    for (const int ulps : {-1, 0}) add_both_signs(list, tie - half_step, ulps);
  }
  return rows_at_anchors(context, list);
}

Blocks double_rounding_fp16(const CaseContext& context) {
  ScaledList list;
  for (const double tie : grid_ties(context.profile.element)) add_double_rounding_traps(list, tie, 11);
  return rows_at_anchors(context, list);
}

constexpr std::array grid_table = {
    CaseClass{"ties", "A value halfway between two elements goes to the wrong one of them.", Operation::quantize,
              any_profile, rows_of<ties>},
    CaseClass{"tie-neighbours",
              "A value one unit in the last place off a tie is taken for the tie: >= in place of >, sticky bits "
              "dropped, or half a step added in too few bits.",
              Operation::quantize, any_profile, rows_of<tie_neighbours>},
    CaseClass{"grid", "An exact element value does not survive: odd mantissas cut, subnormals a binade off.",
              Operation::quantize, any_profile, rows_of<grid>},
    CaseClass{"grid-neighbours", "A value next to an exact element value is pushed away from it.", Operation::quantize,
              any_profile, rows_of<grid_neighbours>},
    CaseClass{"deadzone-edge",
              "The edge below which values round to zero is misplaced, or a value deep inside gets a code.",
              Operation::quantize, any_profile, rows_of<deadzone_edge>},
    CaseClass{"double-rounding-bf16", "The scaled value is rounded to bfloat16 before it is rounded to the element.",
              Operation::quantize, any_profile, rows_of<double_rounding_bf16>},
    CaseClass{"double-rounding-fp16", "The scaled value is rounded to binary16 before it is rounded to the element.",
              Operation::quantize, any_profile, rows_of<double_rounding_fp16>},
};

}  // namespace

std::span<const CaseClass> grid_classes() { return grid_table; }

}  // namespace fp4proof::suite
