#include "conformance/cli/error_report.h"

#include <fmt/format.h>

#include <cmath>

#include "conformance/cli/table.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

std::vector<std::string> cells(const std::string& name, const ErrorSums& sums) {
  return {name,
          fmt::format("{}", sums.elements),
          short_number(sums.relative_error()),
          short_number(std::sqrt(sums.relative_error())),
          short_number(sums.max_error),
          percent(sums.zeroed, sums.elements),
          sums.saturation_known ? percent(sums.saturated, sums.elements) : "-",
          fmt::format("{}", sums.nan_blocks),
          fmt::format("{:.3f}", sums.bits_per_element())};
}

}  // namespace

std::string short_number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.3e}", value); }

std::string percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string error_table(const std::vector<NamedErrors>& tensors) {
  Table table("lr");
  table.add(
      {"tensor", "elements", "|e|^2/|x|^2", "|e|/|x|", "max |e|", "zeroed", "saturated", "NaN blocks", "bits/element"});
  ErrorSums all;
  for (const auto& [name, sums] : tensors) {
    table.add(cells(quote(name), sums));
    all.add(sums);
  }
  if (tensors.size() > 1) table.add(cells("all", all));
  return table.text();
}

}  // namespace fp4proof::cli
