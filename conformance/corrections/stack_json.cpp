#include "conformance/corrections/stack_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "conformance/corrections/part_reader.h"
#include "conformance/corrections/stack_lookup.h"
#include "conformance/profiles/json_fields.h"

namespace fp4proof {

namespace {

using nlohmann::json;

bool is_one_of(int value, std::initializer_list<int> values) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool uses_fraction(const ResidualSpec& r) {
  return r.mask == ResidualMask::top_channels || r.mask == ResidualMask::top_tiles;
}
bool uses_measure(const ResidualSpec& r) { return r.mask == ResidualMask::top_tiles; }
bool uses_threshold(const ResidualSpec& r) { return r.mask == ResidualMask::tiles_above; }
bool uses_tile(const ResidualSpec& r) { return uses_measure(r) || uses_threshold(r); }

BlockShape tile_of(const ResidualSpec& r) { return {r.tile_rows, r.tile_cols}; }

// ---------------------------------------------------------------------------------------------------------------------
// To JSON
// ---------------------------------------------------------------------------------------------------------------------

json part_to_json(const HadamardSpec& hadamard) {
  json part = {{"size", hadamard.size}, {"signs", field_to_json(hadamard.signs)}};
  if (hadamard.signs != HadamardSigns::none) part["seed"] = hadamard.seed;
  return part;
}

json part_to_json(const MacroSpec& macro) { return {{"size", macro.size}, {"form", field_to_json(macro.form)}}; }

json part_to_json(const ResidualSpec& residual) {
  json part = {{"alpha", field_to_json(residual.alpha)}, {"mask", field_to_json(residual.mask)}};
  if (uses_measure(residual)) part["measure"] = field_to_json(residual.measure);
  if (uses_fraction(residual)) part["fraction"] = field_to_json(residual.fraction);
  if (uses_threshold(residual)) part["threshold"] = field_to_json(residual.threshold);
  if (uses_tile(residual)) part["tile"] = field_to_json(tile_of(residual));
  return part;
}

// ---------------------------------------------------------------------------------------------------------------------
// From JSON: each part starts as the base has it
// ---------------------------------------------------------------------------------------------------------------------

/// What a field needs that has an effect now, where the base did or did not have it.
FieldNeed need(bool used, bool in_base) {
  if (!used) return FieldNeed::unused;
  return in_base ? FieldNeed::optional : FieldNeed::required;
}

Result<void> read_part(HadamardSpec& hadamard, const json& object, std::string_view label) {
  const HadamardSpec base = hadamard;
  const bool was_on = base.is_on();
  PartReader reader(object, label, "hadamard.");
  reader.read("size", need(true, was_on), hadamard.size);
  reader.check("size", is_one_of(hadamard.size, {16, 64}), "must be 16 or 64");
  reader.read("signs", need(true, was_on), hadamard.signs);
  const bool signed_now = hadamard.signs != HadamardSigns::none;
  if (!signed_now) hadamard.seed = 0;
  reader.read("seed", need(signed_now, was_on && base.signs != HadamardSigns::none), hadamard.seed, "with signs none");
  return reader.finish();
}

Result<void> read_part(MacroSpec& macro, const json& object, std::string_view label) {
  const bool was_on = macro.is_on();
  PartReader reader(object, label, "macro.");
  reader.read("size", need(true, was_on), macro.size);
  reader.check("size", is_one_of(macro.size, {32, 64, 128}), "must be 32, 64 or 128");
  reader.read("form", need(true, was_on), macro.form);
  return reader.finish();
}

Result<void> read_part(ResidualSpec& residual, const json& object, std::string_view label) {
  const ResidualSpec base = residual;
  const bool was_on = base.is_on();
  PartReader reader(object, label, "residual.");
  residual.on = true;
  reader.read("alpha", need(true, was_on), residual.alpha);
  reader.check("alpha", residual.alpha != 0, "must not be 0: the residual would be lost");
  reader.read("mask", need(true, was_on), residual.mask);

  // What the mask does not use goes back to its default, so that equal stacks compare equal.
  const ResidualSpec plain;
  if (!uses_measure(residual)) residual.measure = plain.measure;
  if (!uses_fraction(residual)) residual.fraction = plain.fraction;
  if (!uses_threshold(residual)) residual.threshold = plain.threshold;
  BlockShape tile = tile_of(uses_tile(residual) ? residual : plain);

  const std::string unused = fmt::format("under the mask {}", name_of(residual.mask));
  reader.read("measure", need(uses_measure(residual), was_on && uses_measure(base)), residual.measure, unused);
  reader.read("fraction", need(uses_fraction(residual), was_on && uses_fraction(base)), residual.fraction, unused);
  reader.check("fraction", residual.fraction > 0 && residual.fraction <= 1, "must be above 0 and at most 1");
  reader.read("threshold", need(uses_threshold(residual), was_on && uses_threshold(base)), residual.threshold, unused);
  reader.check("threshold", residual.threshold >= 0, "must not be negative");
  reader.read("tile", need(uses_tile(residual), was_on && uses_tile(base)), tile, unused);
  reader.check("tile", tile.rows != 0 && tile.cols != 0, "must have 1 to 255 rows and columns");
  residual.tile_rows = tile.rows;
  residual.tile_cols = tile.cols;
  return reader.finish();
}

/// Reads the part called `name` where `object` has it; null switches it off.
template <class Part>
Result<void> read_part_of(const json& object, const char* name, Part& part, std::string_view label) {
  if (!object.contains(name)) return {};
  if (object.at(name).is_null()) {
    part = Part{};
    return {};
  }
  return read_part(part, object.at(name), label);
}

Result<void> read_parts(CorrectionStack& stack, const json& value, std::string_view label) {
  PartReader reader(value, label, "");
  for (const char* other : {"format", "name", "summary", "base", "hadamard", "macro", "residual"})
    reader.expect(other, FieldNeed::optional);
  reader.read("tile", FieldNeed::optional, stack.tile);
  reader.check("tile", is_one_of(stack.tile, {0, 8, 16, 32, 64}), "must be 8, 16, 32 or 64, or 0 for no tiles");
  reader.read("stochastic", FieldNeed::optional, stack.stochastic);
  reader.read("three_quarters", FieldNeed::optional, stack.three_quarters);
  if (const Result<void> flat = reader.finish(); !flat) return flat;
  if (Result<void> part = read_part_of(value, "hadamard", stack.hadamard, label); !part) return part;
  if (Result<void> part = read_part_of(value, "macro", stack.macro, label); !part) return part;
  return read_part_of(value, "residual", stack.residual, label);
}

Result<std::string> read_name(const json& value, std::string_view label) {
  Result<std::string> name = text_field(value, "name", true, label);
  if (!name) return name;
  if (const Result<void> form = check_name_form(*name, label); !form) return form.error();
  if (find_correction_stack(*name) != nullptr) {
    return field_problem(label, fmt::format("name {} belongs to a named stack; choose another", quote(*name)));
  }
  return name;
}

Result<CorrectionStack> starting_point(const json& value, std::string_view label) {
  if (!value.contains("base")) return CorrectionStack{};
  const Result<std::string> name = text_field(value, "base", true, label);
  if (!name) return name.error();
  const Result<SharedStack> base = named_stack(*name);
  if (!base) return field_problem(label, fmt::format("field \"base\": {}", base.error().message));
  return **base;
}

}  // namespace

json stack_to_json(const CorrectionStack& stack) {
  json value = {{"format", corrections_format}, {"name", stack.name}, {"summary", stack.summary}};
  if (stack.hadamard.is_on()) value["hadamard"] = part_to_json(stack.hadamard);
  if (stack.tile != 0) value["tile"] = stack.tile;
  if (stack.stochastic) value["stochastic"] = true;
  if (stack.three_quarters) value["three_quarters"] = true;
  if (stack.macro.is_on()) value["macro"] = part_to_json(stack.macro);
  if (stack.residual.is_on()) value["residual"] = part_to_json(stack.residual);
  return value;
}

Result<SharedStack> stack_from_json(const json& value, std::string_view label) {
  if (!value.is_object()) return field_problem(label, "a correction stack must be a JSON object");
  if (const Result<void> format = check_format_field(value, corrections_format, label); !format) return format.error();
  Result<CorrectionStack> stack = starting_point(value, label);
  if (!stack) return stack.error();
  if (const Result<void> parts = read_parts(*stack, value, label); !parts) return parts.error();
  Result<std::string> name = read_name(value, label);
  if (!name) return name.error();
  Result<std::string> summary = text_field(value, "summary", false, label);
  if (!summary) return summary.error();
  return share_named(*std::move(name), *std::move(summary), *stack);
}

}  // namespace fp4proof
