#include "conformance/cli/study_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "conformance/cli/error_report.h"
#include "conformance/cli/table.h"
#include "conformance/vectors/counted.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

std::string in_percent(double share) { return fmt::format("{:.3f} %", 100 * share); }

nlohmann::json measures(const StudyMeasure& measure) {
  const portable::ErrorSplit& split = measure.error.split;
  return {{"relative_error", split.relative_error()},
          {"deadzone", split.deadzone_fraction()},
          {"zeroed", split.zeroed_fraction()},
          {"saturated", measure.saturated_fraction()},
          {"dot_product_error", measure.product_error()},
          {"bits_per_element", measure.bits_per_element()},
          {"bits", measure.bits},
          {"scale_share", split.scale_share()},
          {"deadzone_share", split.deadzone_share()},
          {"grid_share", split.grid_share()},
          {"floor_share", split.floor_share()},
          {"scale_grid_cosine", split.scale_grid_cosine()},
          {"gain", split.gain()},
          {"elements", split.elements},
          {"excluded", split.excluded},
          {"inexact", split.inexact}};
}

/// The text, quoted where it holds more than one line of plain characters: names of tensors hold anything.
std::string plain_line(const std::string& text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  return std::any_of(text.begin(), text.end(), is_control) ? quote(text) : text;
}

}  // namespace

std::string pair_name(const StudyRow& row) {
  const std::string profile(row.profile->name);
  return row.stack->name == "none" ? profile : fmt::format("{} + {}", profile, row.stack->name);
}

std::vector<std::string> study_headings() {
  return {"|e|^2/|x|^2", "deadzone", "zeroed", "saturated", "dot product", "bits/element"};
}

std::vector<std::string> study_cells(const StudyRow& row) {
  const StudyMeasure& measure = *row.measure;
  return {short_number(measure.error.split.relative_error()),
          in_percent(measure.error.split.deadzone_fraction()),
          in_percent(measure.error.split.zeroed_fraction()),
          in_percent(measure.saturated_fraction()),
          in_percent(measure.product_error()),
          fmt::format("{:.5g}", measure.bits_per_element())};
}

std::string study_text(const StudyTable& table) {
  Table text("llr");
  std::vector<std::string> heading = {"profile", "corrections"};
  for (std::string& column : study_headings()) heading.push_back(std::move(column));
  text.add(std::move(heading));
  std::string reasons;
  for (const StudyRow& row : table.rows) {
    std::vector<std::string> cells = {std::string(row.profile->name), std::string(row.stack->name)};
    if (row.measure) {
      for (std::string& cell : study_cells(row)) cells.push_back(std::move(cell));
    } else {
      cells.push_back("refused");
      reasons += fmt::format("refused: {}: {}\n", pair_name(row), row.refused);
    }
    text.add(std::move(cells));
  }
  return fmt::format("{}, {}\n{}{}", plain_line(table.subject),
                     counted(static_cast<std::uint64_t>(table.elements), "element"), text.text(), reasons);
}

nlohmann::json to_json(const StudyTable& table) {
  nlohmann::json rows = nlohmann::json::array();
  for (const StudyRow& row : table.rows) {
    nlohmann::json object = row.measure ? measures(*row.measure) : nlohmann::json{{"refused", row.refused}};
    object["profile"] = row.profile->name;
    object["corrections"] = row.stack->name;
    rows.push_back(std::move(object));
  }
  return {{"subject", table.subject}, {"elements", table.elements}, {"rows", rows}};
}

}  // namespace fp4proof::cli
