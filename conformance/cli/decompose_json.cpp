#include "conformance/cli/decompose_json.h"

#include <fmt/format.h>

#include <array>

#include "reference/portable/error_split_sums.h"

namespace fp4proof::cli {

namespace {

using nlohmann::json;
using portable::ErrorSplit;

struct Count {
  const char* name;
  std::int64_t ErrorSplit::*member;
};

constexpr std::array<Count, 6> counts = {{{"elements", &ErrorSplit::elements},
                                          {"excluded", &ErrorSplit::excluded},
                                          {"in_deadzone", &ErrorSplit::in_deadzone},
                                          {"zeroed", &ErrorSplit::zeroed},
                                          {"inexact", &ErrorSplit::inexact},
                                          {"identity_failures", &ErrorSplit::identity_failures}}};

json field_names() {
  json names = json::array();
  for (const auto& [name, member] : counts) names.push_back(name);
  for (const auto& [name, member] : portable::error_split_sums) names.push_back(name);
  return names;
}

json field_values(const ErrorSplit& split) {
  json values = json::array();
  for (const auto& [name, member] : counts) values.push_back(split.*member);
  for (const auto& [name, member] : portable::error_split_sums) values.push_back(split.*member);
  return values;
}

}  // namespace

json to_json(const ErrorSplit& split, double all_error) {
  json object = {{"compared", split.compared()},
                 {"relative_error", split.relative_error()},
                 {"error_contribution", ratio(split.error, all_error)},
                 {"scale_share", split.scale_share()},
                 {"deadzone_share", split.deadzone_share()},
                 {"grid_share", split.grid_share()},
                 {"floor_share", split.floor_share()},
                 {"floor_relative_error", ratio(split.deadzone + split.grid, split.value)},
                 {"scale_grid_cosine", split.scale_grid_cosine()},
                 {"gain", split.gain()},
                 {"deadzone_fraction", split.deadzone_fraction()},
                 {"zeroed_fraction", split.zeroed_fraction()}};
  for (const auto& [name, member] : counts) object[name] = split.*member;
  for (const auto& [name, member] : portable::error_split_sums) {
    object["sums"][name] = split.*member;
    object["sums_hex"][name] = fmt::format("{:a}", split.*member);
  }
  return object;
}

Result<json> listed_blocks(const DecomposeTask& task, Progress& progress) {
  json values = json::array();
  const Result<void> done =
      decompose_in_chunks(task, DecomposeWish::rows_blocks, progress, [&](const DecomposedChunk& chunk) {
        for (const ErrorSplit& block : chunk.blocks) values.push_back(field_values(block));
      });
  if (!done) return done.error();
  return json{{"rows", task.plan.geometry.rows},
              {"blocks_per_row", task.plan.geometry.blocks},
              {"fields", field_names()},
              {"values", values}};
}

Result<json> listed_elements(const DecomposeTask& task, Progress& progress) {
  json error = json::array();
  json scale = json::array();
  json deadzone = json::array();
  json grid = json::array();
  const Result<void> done =
      decompose_in_chunks(task, DecomposeWish::rows_blocks_elements, progress, [&](const DecomposedChunk& chunk) {
        for (const portable::ErrorTerms& terms : chunk.elements) {
          error.push_back(terms.error);
          scale.push_back(terms.scale);
          deadzone.push_back(terms.deadzone);
          grid.push_back(terms.grid);
        }
      });
  if (!done) return done.error();
  return json{{"rows", task.plan.geometry.rows},
              {"columns", task.plan.geometry.columns},
              {"error", error},
              {"scale", scale},
              {"deadzone", deadzone},
              {"grid", grid}};
}

}  // namespace fp4proof::cli
