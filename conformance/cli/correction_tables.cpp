#include "conformance/cli/correction_tables.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "conformance/cli/table.h"
#include "conformance/corrections/plan_json.h"
#include "conformance/corrections/stack_json.h"

namespace fp4proof::cli {

namespace {

using nlohmann::json;

/// One line for each value; a value inside an object is called "object.value".
void add_fields(Table& table, const json& fields, const std::string& prefix) {
  for (const auto& [key, value] : fields.items()) {
    if (value.is_object()) {
      add_fields(table, value, prefix + key + ".");
    } else {
      table.add({prefix + key, value.is_string() ? value.get<std::string>() : value.dump()});
    }
  }
}

Table titled(json& fields) {
  Table table("l");
  table.add({fields.at("name").get<std::string>(), fields.at("summary").get<std::string>()});
  for (const char* shown : {"format", "name", "summary"}) fields.erase(shown);
  return table;
}

}  // namespace

std::string stack_text(const CorrectionStack& stack) {
  json fields = stack_to_json(stack);
  Table table = titled(fields);
  add_fields(table, fields, "  ");
  return table.text();
}

std::string plan_text(const PrecisionPlan& plan) {
  json fields = plan_to_json(plan);
  Table table = titled(fields);
  for (const Product product : all_products) {
    const std::string key(plan_key_of(product));
    for (const Operand operand : all_operands) {
      const OperandPlan* const listed = operand_plan(plan, product, operand);
      if (listed == nullptr) continue;
      const std::string stack = listed->stack == "none" ? "" : fmt::format(", {}", listed->stack);
      table.add({fmt::format("  {}.{}", key, name_of(operand)), fmt::format("{}{}", listed->profile, stack)});
    }
    fields.erase(key);
  }
  add_fields(table, fields, "  ");
  return table.text();
}

}  // namespace fp4proof::cli
