#include "conformance/cli/decompose_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "conformance/cli/error_report.h"
#include "conformance/cli/table.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

using portable::ErrorSplit;

double floor_of(const ErrorSplit& split) { return split.deadzone + split.grid; }

double sort_key(const ErrorSplit& split, std::string_view order) {
  if (order == "scale") return split.scale;
  if (order == "deadzone") return split.deadzone;
  if (order == "grid") return split.grid;
  return order == "name" ? 0.0 : split.error;
}

std::string small_number(double value, bool exists) { return short_number(exists ? value : std::nan("")); }

std::vector<std::string> cells(const std::string& name, const ErrorSplit& split, double all_error) {
  const bool has_value = split.value != 0;
  const bool has_cosine = split.scale != 0 && split.grid != 0;
  return {name,
          small_number(split.relative_error(), has_value),
          share_text(split.error, all_error),
          share_text(split.scale, split.error),
          share_text(split.deadzone, split.error),
          share_text(split.grid, split.error),
          has_cosine ? fmt::format("{:+.3f}", split.scale_grid_cosine()) : "-",
          percent(split.in_deadzone, split.compared()),
          percent(split.zeroed, split.compared()),
          share_text(floor_of(split), split.error),
          small_number(ratio(floor_of(split), split.value), has_value),
          has_value ? fmt::format("{:.4f}", split.gain()) : "-"};
}

std::string exactness(const ErrorSplit& all) {
  if (all.inexact == 0 && all.identity_failures == 0) {
    return "All terms are exact, and add up to the error of every element.\n";
  }
  return fmt::format(
      "Inexact: a term of {} of {} elements was rounded to binary64 (their scales lie far from the ideal ones); for {} "
      "the\n"
      "terms add up to the error but for that rounding, for all others exactly.\n",
      all.inexact, all.compared(), all.identity_failures);
}

}  // namespace

ErrorSplit sum_of(const std::vector<NamedSplit>& tensors) {
  ErrorSplit all;
  for (const NamedSplit& tensor : tensors) all.add(tensor.split);
  return all;
}

void rank(std::vector<NamedSplit>& tensors, std::string_view order) {
  std::sort(tensors.begin(), tensors.end(), [&](const NamedSplit& a, const NamedSplit& b) {
    const double key_a = sort_key(a.split, order);
    const double key_b = sort_key(b.split, order);
    return key_a != key_b ? key_a > key_b : a.name < b.name;
  });
}

std::string share_text(double part, double whole) {
  return whole == 0 ? "-" : fmt::format("{:.2f} %", 100.0 * part / whole);
}

std::string decomposition_table(const std::vector<NamedSplit>& tensors, const ErrorSplit& all, std::size_t top) {
  Table table("lr");
  table.add({"tensor", "|e|^2/|x|^2", "of all |e|^2", "scale", "deadzone", "grid", "cosine", "in deadzone", "zeroed",
             "floor", "floor/|x|^2", "gain"});
  const std::size_t shown = top == 0 ? tensors.size() : std::min(top, tensors.size());
  for (std::size_t i = 0; i < shown; ++i) {
    table.add(cells(quote(tensors[i].name), tensors[i].split, all.error));
  }
  if (shown < tensors.size()) {
    std::vector<NamedSplit> rest(tensors.begin() + static_cast<std::ptrdiff_t>(shown), tensors.end());
    table.add(cells(fmt::format("{} more", rest.size()), sum_of(rest), all.error));
  }
  if (tensors.size() > 1) table.add(cells("all", all, all.error));
  return table.text();
}

std::string decomposition_remarks(const ErrorSplit& all, bool is_corrected) {
  std::string text =
      "\nscale, deadzone, grid and floor (deadzone + grid) are shares of |e|^2. They need not add up to 100 %:\n"
      "|e|^2 = |scale|^2 + |deadzone|^2 + |grid|^2 + 2 <scale, grid> + 2 <scale, deadzone>; cosine is that of scale "
      "and "
      "grid.\n";
  if (is_corrected) {
    text +=
        "deadzone, grid and floor are those of plain quantization with real scales; scale is all that the coded scales "
        "and "
        "the\ncorrection change about it. A correction may get below the floor.\n";
  }
  text += exactness(all);
  if (all.excluded != 0) {
    text += fmt::format("Left out: {} of {} elements, NaN or infinite before or after.\n", all.excluded, all.elements);
  }
  return text;
}

}  // namespace fp4proof::cli
