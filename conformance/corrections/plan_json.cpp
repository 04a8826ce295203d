#include "conformance/corrections/plan_json.h"

#include <fmt/format.h>

#include <deque>
#include <string>
#include <utility>

#include "conformance/corrections/part_reader.h"
#include "conformance/corrections/plan_lookup.h"
#include "conformance/corrections/plan_rules.h"
#include "conformance/profiles/json_fields.h"

namespace fp4proof {

namespace {

using nlohmann::json;

/// A plan with the texts that it views. A deque keeps its elements where they are.
struct OwnedPlan {
  std::deque<std::string> texts;
  PrecisionPlan plan;

  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
};

json noise_to_json(const NoisePlan& noise) {
  return {{"sigma_start", field_to_json(noise.sigma_start)},
          {"sigma_end", field_to_json(noise.sigma_end)},
          {"intervals", noise.intervals},
          {"first_silent", noise.first_silent},
          {"norms", field_to_json(noise.norms)},
          {"skip_router_norms", noise.skip_router_norms}};
}

// ---------------------------------------------------------------------------------------------------------------------
// From JSON: every part starts as the base has it
// ---------------------------------------------------------------------------------------------------------------------

/// The texts of one operand.
Result<void> read_operand(OwnedPlan& owned, OperandPlan& operand, const json& object, FieldNeed need,
                          std::string_view label, const std::string& prefix) {
  std::string profile(operand.profile);
  std::string stack(operand.stack);
  PartReader reader(object, label, prefix);
  reader.read("profile", need, profile);
  reader.check("profile", !profile.empty(), "must not be empty; name a profile, a profile file, or bf16");
  reader.read("stack", need, stack);
  if (Result<void> read = reader.finish(); !read) return read;
  operand = {owned.keep(std::move(profile)), owned.keep(std::move(stack))};
  return {};
}

Result<void> read_product(OwnedPlan& owned, Product product, const json& object, FieldNeed need,
                          std::string_view label) {
  const std::string prefix = fmt::format("{}.", plan_key_of(product));
  PartReader reader(object, label, prefix);
  for (const Operand operand : all_operands) {
    if (operand_plan(owned.plan, product, operand) != nullptr) {
      reader.expect(name_of(operand), need);
    }
  }
  if (Result<void> read = reader.finish(); !read) return read;
  for (const Operand operand : all_operands) {
    const std::string name(name_of(operand));
    if (!object.contains(name)) continue;
    Result<void> read = read_operand(owned, *operand_plan(owned.plan, product, operand), object.at(name), need, label,
                                     fmt::format("{}{}.", prefix, name));
    if (!read) return read;
  }
  return {};
}

Result<void> read_noise(NoisePlan& noise, const json& object, std::string_view label) {
  if (object.is_null()) {
    noise = NoisePlan{};
    return {};
  }
  const FieldNeed need = noise.on ? FieldNeed::optional : FieldNeed::required;
  noise.on = true;
  PartReader reader(object, label, "noise.");
  reader.read("sigma_start", need, noise.sigma_start);
  reader.read("sigma_end", need, noise.sigma_end);
  reader.read("intervals", need, noise.intervals);
  reader.read("first_silent", need, noise.first_silent);
  reader.read("norms", need, noise.norms);
  reader.read("skip_router_norms", need, noise.skip_router_norms);
  return reader.finish();
}

Result<void> read_fields(OwnedPlan& owned, const json& value, FieldNeed need, std::string_view label) {
  PrecisionPlan& plan = owned.plan;
  PartReader reader(value, label, "");
  for (const char* other : {"format", "name", "summary", "base", "noise"}) reader.expect(other, FieldNeed::optional);
  for (const Product product : all_products) reader.expect(plan_key_of(product), need);
  reader.read("requantize_corrected", need, plan.requantize_corrected);
  reader.read("stochastic_rounding", need, plan.stochastic);
  reader.read("query_key", need, plan.query_key);
  reader.read("allow_batch_masks", need, plan.allow_batch_masks);
  if (Result<void> read = reader.finish(); !read) return read;
  for (const Product product : all_products) {
    if (!value.contains(plan_key_of(product))) continue;
    if (Result<void> read = read_product(owned, product, value.at(plan_key_of(product)), need, label); !read)
      return read;
  }
  return value.contains("noise") ? read_noise(plan.noise, value.at("noise"), label) : Result<void>();
}

Result<void> read_names(OwnedPlan& owned, const json& value, std::string_view label) {
  Result<std::string> name = text_field(value, "name", true, label);
  if (!name) return name.error();
  if (Result<void> form = check_name_form(*name, label); !form) return form;
  if (find_precision_plan(*name) != nullptr) {
    return field_problem(label, fmt::format("name {} belongs to a named plan; choose another", quote(*name)));
  }
  Result<std::string> summary = text_field(value, "summary", false, label);
  if (!summary) return summary.error();
  owned.plan.name = owned.keep(*std::move(name));
  owned.plan.summary = owned.keep(*std::move(summary));
  return {};
}

Result<void> read_base(OwnedPlan& owned, const json& value, std::string_view label) {
  if (!value.contains("base")) return {};
  const Result<std::string> name = text_field(value, "base", true, label);
  if (!name) return name.error();
  const Result<SharedPlan> base = named_plan(*name);
  if (!base) return field_problem(label, fmt::format("field \"base\": {}", base.error().message));
  owned.plan = **base;
  return {};
}

}  // namespace

std::string_view plan_key_of(Product product) {
  switch (product) {
    case Product::rollout: return "rollout";
    case Product::forward: return "forward";
    case Product::input_gradient: return "input_gradient";
    case Product::weight_gradient: return "weight_gradient";
  }
  return "";
}

json plan_to_json(const PrecisionPlan& plan) {
  json value = {{"format", plan_format},
                {"name", plan.name},
                {"summary", plan.summary},
                {"requantize_corrected", plan.requantize_corrected},
                {"stochastic_rounding", field_to_json(plan.stochastic)},
                {"query_key", field_to_json(plan.query_key)},
                {"allow_batch_masks", plan.allow_batch_masks}};
  for (const Product product : all_products) {
    for (const Operand operand : all_operands) {
      const OperandPlan* const listed = operand_plan(plan, product, operand);
      if (listed == nullptr) continue;
      value[plan_key_of(product)][std::string(name_of(operand))] = {{"profile", listed->profile},
                                                                    {"stack", listed->stack}};
    }
  }
  if (plan.noise.on) value["noise"] = noise_to_json(plan.noise);
  return value;
}

Result<SharedPlan> plan_from_json(const json& value, std::string_view label) {
  if (!value.is_object()) return field_problem(label, "a precision plan must be a JSON object");
  if (const Result<void> format = check_format_field(value, plan_format, label); !format) return format.error();
  const auto owned = std::make_shared<OwnedPlan>();
  if (const Result<void> read = read_base(*owned, value, label); !read) return read.error();
  const FieldNeed need = value.contains("base") ? FieldNeed::optional : FieldNeed::required;
  if (const Result<void> read = read_fields(*owned, value, need, label); !read) return read.error();
  if (const Result<void> read = read_names(*owned, value, label); !read) return read.error();
  if (const Result<void> sound = check_plan(owned->plan); !sound) {
    return Error{sound.error().kind, fmt::format("{}: {}", label, sound.error().message)};
  }
  return SharedPlan(owned, &owned->plan);
}

}  // namespace fp4proof
