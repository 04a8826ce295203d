#include "reference/portable/geometry.h"

#include <string>

namespace fp4proof::portable {

namespace {

std::string text_of(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i != 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Error tail_error(std::int64_t length, const std::string& what, int multiple, std::span<const std::int64_t> shape,
                 const Profile& profile) {
  return {ErrorKind::usage, "shape " + text_of(shape) + ": " + what + " of length " + std::to_string(length) +
                                " is no multiple of the block length " + std::to_string(multiple) + " of " +
                                std::string(profile.name) + "; choose another axis, or pad with zeros (--tail pad)"};
}

std::int64_t rounded_up(std::int64_t length, std::int64_t multiple) {
  return (length + multiple - 1) / multiple * multiple;
}

void finish(const Profile& profile, Geometry& g) {
  const bool nibbles = element_spec(profile.element).is_nibble();
  g.padded_columns = rounded_up(g.columns, profile.block.cols);
  g.blocks = g.padded_columns / profile.block.cols;
  g.code_bytes_per_row = nibbles ? g.padded_columns / 2 : g.padded_columns;
  g.scale_bytes_per_row = g.blocks * scale_bytes(profile.family);
  g.rows = 1;
  for (std::size_t i = 0; i + 1 < g.shape.size(); ++i) g.rows *= g.shape[i];
  g.matrix_rows = g.shape.size() >= 2 ? g.shape[g.shape.size() - 2] : 1;
}

}  // namespace

std::vector<std::int64_t> Geometry::codes_shape() const {
  std::vector<std::int64_t> result(shape.begin(), shape.end() - 1);
  result.push_back(code_bytes_per_row);
  return result;
}

std::vector<std::int64_t> Geometry::scales_shape() const {
  std::vector<std::int64_t> result(shape.begin(), shape.end() - 1);
  result.push_back(blocks);
  if (blocks != 0 && scale_bytes_per_row != blocks) result.push_back(scale_bytes_per_row / blocks);
  return result;
}

Result<Geometry> cut_into_blocks(const Profile& profile, std::span<const std::int64_t> shape, int axis, Tail tail) {
  static constexpr std::int64_t scalar_shape[1] = {1};
  const std::span<const std::int64_t> used = shape.empty() ? std::span<const std::int64_t>(scalar_shape) : shape;
  const int rank = static_cast<int>(used.size());
  if (axis < -rank || axis >= rank) {
    return Error{ErrorKind::usage, "axis " + std::to_string(axis) + " is out of range for shape " + text_of(shape)};
  }
  Geometry g;
  g.axis = axis < 0 ? axis + rank : axis;
  for (int i = 0; i < rank; ++i) {
    const auto extent = used[static_cast<std::size_t>(i)];
    if (i != g.axis) g.shape.push_back(extent);
    if (i > g.axis) g.inner *= extent;
  }
  g.columns = used[static_cast<std::size_t>(g.axis)];
  g.shape.push_back(g.columns);
  if (g.inner == 0) g.inner = 1;  // an empty tensor has no rows to address
  finish(profile, g);
  if (tail == Tail::error && g.columns % profile.block.cols != 0) {
    return tail_error(g.columns, "block axis " + std::to_string(g.axis), profile.block.cols, shape, profile);
  }
  if (tail == Tail::error && profile.block.is_2d() && g.matrix_rows % profile.block.rows != 0) {
    return tail_error(g.matrix_rows, "the row axis", profile.block.rows, shape, profile);
  }
  return g;
}

Result<Geometry> geometry_of_quantized(const Profile& profile, std::span<const std::int64_t> shape, int axis) {
  if (shape.empty() || axis < 0 || axis >= static_cast<int>(shape.size())) {
    return Error{ErrorKind::corrupt, "quantized shape " + text_of(shape) + " has no axis " + std::to_string(axis)};
  }
  Geometry g;
  g.shape.assign(shape.begin(), shape.end());
  g.axis = axis;
  g.columns = shape.back();
  for (std::size_t i = static_cast<std::size_t>(axis); i + 1 < shape.size(); ++i) g.inner *= shape[i];
  if (g.inner == 0) g.inner = 1;
  finish(profile, g);
  return g;
}

}  // namespace fp4proof::portable
