#include "conformance/verdict/places.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "conformance/verify/quantized_view.h"
#include "formats/float_bits.h"

namespace fp4proof::verdict {

namespace {

using nlohmann::json;
using suite::CaseTensor;

/// Which elements of one case differ.
class Marks {
 public:
  Marks(std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), marked_(static_cast<std::size_t>(rows * columns), false) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  bool any() const { return std::ranges::find(marked_, true) != marked_.end(); }
  bool at(std::int64_t row, std::int64_t column) const { return marked_[place(row, column)]; }

  void mark(std::int64_t row, std::int64_t begin, std::int64_t end) {
    if (row >= rows_) return;
    for (std::int64_t column = begin; column < std::min(end, columns_); ++column) marked_[place(row, column)] = true;
  }
  void mark_row(std::int64_t row) { mark(row, 0, columns_); }
  void mark_all() { marked_.assign(marked_.size(), true); }

 private:
  std::size_t place(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * columns_ + column);
  }

  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<bool> marked_;
};

bool same_word(Bytes a, Bytes b) {
  const std::uint32_t first = load_le32(a.data());
  const std::uint32_t second = load_le32(b.data());
  return first == second || (is_nan_bits(first) && is_nan_bits(second));
}

/// Marks what lies under differing units of `unit` bytes, of which each row has as many.
template <class Same, class Mark>
void each_difference(Bytes expected, Bytes actual, std::size_t unit, std::int64_t rows, Same same, Mark mark) {
  const auto a_row = static_cast<std::int64_t>(expected.size() / unit) / std::max<std::int64_t>(rows, 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < a_row; ++i) {
      const auto offset = static_cast<std::size_t>(row * a_row + i) * unit;
      if (!same(expected.subspan(offset, unit), actual.subspan(offset, unit))) mark(row, i, a_row);
    }
  }
}

bool same_bytes(Bytes a, Bytes b) { return std::ranges::equal(a, b); }

void mark_codes(bool nibbles, Bytes expected, Bytes actual, Marks& marks) {
  each_difference(expected, actual, 1, marks.rows(), same_bytes,
                  [&](std::int64_t row, std::int64_t i, std::int64_t a_row) {
                    if (!nibbles) return marks.mark(row, i, i + 1);
                    const auto at = static_cast<std::size_t>(row * a_row + i);
                    const int difference = expected[at] ^ actual[at];
                    if ((difference & 0x0F) != 0) marks.mark(row, 2 * i, 2 * i + 1);
                    if ((difference & 0xF0) != 0) marks.mark(row, 2 * i + 1, 2 * i + 2);
                  });
}

/// One unit stands for columns / units elements.
void mark_spans(std::size_t unit, std::int64_t columns, Bytes expected, Bytes actual, Marks& marks) {
  each_difference(expected, actual, unit, marks.rows(), same_bytes,
                  [&](std::int64_t row, std::int64_t i, std::int64_t a_row) {
                    const std::int64_t length = (columns + a_row - 1) / a_row;
                    marks.mark(row, i * length, (i + 1) * length);
                  });
}

void mark_tensor(const Profile& profile, const CaseTensor& tensor, std::int64_t padded, Bytes expected, Bytes actual,
                 Marks& marks) {
  const std::string_view name = tensor.name;
  if (name.ends_with("codes")) return mark_codes(element_spec(profile.element).is_nibble(), expected, actual, marks);
  if (name.ends_with("tensor_scale")) return;
  if (name.ends_with("scales")) {
    return mark_spans(static_cast<std::size_t>(scale_bytes(profile.family)), padded, expected, actual, marks);
  }
  if (name.ends_with("macro")) return mark_spans(1, padded, expected, actual, marks);
  if (name == "terms") return mark_spans(24, marks.columns(), expected, actual, marks);
  if (name == "values" || name == "c") {
    each_difference(expected, actual, 4, marks.rows(), same_word,
                    [&](std::int64_t row, std::int64_t i, std::int64_t) { marks.mark(row, i, i + 1); });
  }
}

/// Rows, columns, and columns with the padding of the last block.
struct OutputShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t padded = 0;
};

std::optional<OutputShape> shape_of(const verify::ComparedCase& compared) {
  const suite::GroupSpec& spec = compared.group.spec;
  if (suite::is_product(compared.table.operation)) return OutputShape{spec.rows, spec.other_rows, spec.other_rows};
  const Result<portable::Geometry> geometry = suite::case_geometry(*compared.table.profile, spec);
  if (!geometry) return std::nullopt;
  return OutputShape{geometry->rows, geometry->columns, geometry->padded_columns};
}

std::optional<Marks> marks_of(const verify::ComparedCase& compared) {
  const std::optional<OutputShape> shape = shape_of(compared);
  if (!shape) return std::nullopt;
  Marks marks(shape->rows, shape->columns);
  std::size_t output = 0;
  for (const CaseTensor& tensor : compared.group.tensors) {
    if (!tensor.expected) continue;
    mark_tensor(*compared.table.profile, tensor, shape->padded, tensor.of_case(compared.index),
                compared.actual[output++], marks);
  }
  if (!marks.any()) marks.mark_all();
  return marks;
}

/// Elements that share a row or column of cells.
std::int64_t step_of(std::int64_t extent, std::int64_t most) { return (extent + most - 1) / most; }

void add(const Marks& marks, GroupPlaces& places) {
  ++places.cases;
  const std::int64_t row_step = step_of(marks.rows(), most_place_rows);
  const std::int64_t column_step = step_of(marks.columns(), most_place_columns);
  for (std::int64_t row = 0; row < marks.rows(); ++row)
    for (std::int64_t column = 0; column < marks.columns(); ++column)
      if (marks.at(row, column)) ++places.failed[{row / row_step, column / column_step}];
}

json to_json(const GroupPlaces& places) {
  const std::int64_t row_step = step_of(places.rows, most_place_rows);
  const std::int64_t column_step = step_of(places.columns, most_place_columns);
  json failed = json::array();
  for (const auto& [cell, count] : places.failed) failed.push_back({cell.first, cell.second, count});
  return {{"group", places.group},
          {"rows", step_of(places.rows, row_step)},
          {"columns", step_of(places.columns, column_step)},
          {"row_step", row_step},
          {"column_step", column_step},
          {"cases", places.cases},
          {"failed", failed}};
}

}  // namespace

void PlaceCollector::saw(const verify::ComparedCase& compared) {
  if (!compared.finding) return;
  const std::optional<Marks> marks = marks_of(compared);
  if (!marks) return;
  auto& groups = tables_[{compared.table.operation, std::string(compared.report.profile->name)}];
  const std::string name = group_name(compared.group.spec);
  const auto [place, is_new] = groups.try_emplace(name, GroupPlaces{name, marks->rows(), marks->columns()});
  add(*marks, place->second);
}

json PlaceCollector::groups(suite::Operation operation, std::string_view profile) const {
  json list = json::array();
  const auto found = tables_.find({operation, std::string(profile)});
  if (found == tables_.end()) return list;
  for (const auto& [name, places] : found->second) list.push_back(to_json(places));
  return list;
}

json most_failed(const json& groups) {
  const json* most = nullptr;
  for (const json& group : groups)
    if (most == nullptr || group["cases"] > (*most)["cases"]) most = &group;
  return most == nullptr ? json() : *most;
}

json sum_of_places(const json& a, const json& b) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> cells;
  for (const json* places : {&a, &b})
    for (const json& cell : (*places)["failed"]) cells[{cell[0], cell[1]}] += cell[2].get<std::uint64_t>();
  json sum = a;
  sum["cases"] = a["cases"].get<std::uint64_t>() + b["cases"].get<std::uint64_t>();
  sum["failed"] = json::array();
  for (const auto& [cell, count] : cells) sum["failed"].push_back({cell.first, cell.second, count});
  return sum;
}

}  // namespace fp4proof::verdict
