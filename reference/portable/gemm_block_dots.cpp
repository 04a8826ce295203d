#include "reference/portable/gemm_block_dots.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/element.h"
#include "reference/portable/lanes.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable {

namespace {

/// One row of a tile in 16-bit lanes, and eight binary64 lanes.
using ShortLanes = std::int16_t __attribute__((vector_size(2 * tile_columns)));
using DoubleLanes = double __attribute__((vector_size(64)));
constexpr int double_lane_count = 8;

/// Adds dots of integers: `a` holds tile_rows values for each k, `b` tile_columns. 16-bit sums are emptied into `dots`
/// every `products_per_sum` products.
FP4PROOF_CLONES void add_step_dots(const std::int16_t* a, const std::int16_t* b, int length, int products_per_sum,
                                   double* dots) {
  for (int first = 0; first < length; first += products_per_sum) {
    ShortLanes sums[tile_rows] = {};
    for (int k = first; k < first + products_per_sum; ++k) {
      ShortLanes row;
      std::memcpy(&row, b + k * tile_columns, sizeof row);
      for (int i = 0; i < tile_rows; ++i) sums[i] += row * a[k * tile_rows + i];
    }
    for (int i = 0; i < tile_rows; ++i) {
      std::int16_t flat[tile_columns];
      std::memcpy(flat, &sums[i], sizeof flat);
      for (int j = 0; j < tile_columns; ++j) dots[i * tile_columns + j] += flat[j];
    }
  }
}

/// Adds dots of binary64 numbers whose products and sums are exact.
FP4PROOF_CLONES void add_value_dots(const double* a, const double* b, int length, double* dots) {
  for (int column = 0; column < tile_columns; column += double_lane_count) {
    DoubleLanes sums[tile_rows];
    for (int i = 0; i < tile_rows; ++i) std::memcpy(&sums[i], dots + i * tile_columns + column, sizeof sums[i]);
    for (int k = 0; k < length; ++k) {
      DoubleLanes row;
      std::memcpy(&row, b + k * tile_columns + column, sizeof row);
      for (int i = 0; i < tile_rows; ++i) sums[i] += row * a[k * tile_rows + i];
    }
    for (int i = 0; i < tile_rows; ++i) std::memcpy(dots + i * tile_columns + column, &sums[i], sizeof sums[i]);
  }
}

/// The exponent of the smallest element above zero; every other element is a multiple of it.
int step_exponent(const ElementSpec& spec) { return 1 - spec.bias - spec.mantissa_bits; }

/// The largest value of an element under its level bits, in steps.
std::int64_t largest_in_steps(const Profile& profile) {
  const ElementSpec spec = element_spec(profile.element);
  const Magnitude largest = element_magnitude(spec, spec.max_code);
  const auto steps = static_cast<std::int64_t>(largest.significand) << (largest.exponent - step_exponent(spec));
  return profile.family == Family::hif4 ? 4 * steps : steps;
}

/// How many products of two largest elements a 16-bit sum holds: a power of two, so that it divides the block; 0 for
/// wide elements.
int products_per_short_sum(const Profile& a, const Profile& b) {
  constexpr std::int64_t largest_short = 32767;
  const std::int64_t largest_a = largest_in_steps(a);
  const std::int64_t largest_b = largest_in_steps(b);
  if (largest_a > largest_short || largest_b > largest_short) return 0;
  int count = a.block.cols;
  while (count > 0 && count * largest_a * largest_b > largest_short) count /= 2;
  return count;
}

bool is_special(double value) { return !std::isfinite(value); }

/// E5M2 alone: products of large values are multiples of 2^-6 below 2^38, all others multiples of 2^-32 whose sums stay
/// below 2^21.
bool is_large(double value) { return is_special(value) || value >= 0.5 || value <= -0.5; }

}  // namespace

ExactDots::Kind ExactDots::choose(const Profile& a, const Profile& b) {
  if (a.element == Element::e5m2 || b.element == Element::e5m2) return Kind::split_values;
  constexpr int worthwhile = 8;
  return products_per_short_sum(a, b) >= worthwhile ? Kind::steps : Kind::values;
}

ExactDots::ExactDots(const OperandReader& a, const OperandReader& b)
    : length_(a.length()),
      kind_(choose(a.profile(), b.profile())),
      products_per_sum_(products_per_short_sum(a.profile(), b.profile())),
      a_(unpack(a, tile_rows)),
      b_(unpack(b, tile_columns)) {}

ExactDots::Side ExactDots::unpack(const OperandReader& reader, int width) const {
  const std::int64_t depth = reader.blocks() * length_;
  Side side;
  side.scales = Panels<double>(reader.rows(), reader.blocks(), width);
  if (kind_ == Kind::steps) {
    side.steps = Panels<std::int16_t>(reader.rows(), depth, width);
  } else {
    side.values = Panels<double>(reader.rows(), depth, width);
  }
  if (kind_ == Kind::split_values) {
    side.has_small_values = reader.profile().element == Element::e5m2;
    side.has_special = Panels<std::uint8_t>(reader.rows(), reader.blocks(), width);
    if (side.has_small_values) side.small_values = Panels<double>(reader.rows(), depth, width);
  }
  const std::int64_t rows = reader.rows();
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row) unpack_row(reader, row, side);
  return side;
}

void ExactDots::unpack_row(const OperandReader& reader, std::int64_t row, Side& side) const {
  const double step = pow2d(step_exponent(element_spec(reader.profile().element)));
  const double steps_per_unit = 1.0 / step;
  std::array<double, max_block_length> values;
  for (std::int64_t block = 0; block < reader.blocks(); ++block) {
    reader.read_block(row, block, values.data());
    const std::int64_t first = block * length_;
    side.scales.at(row, block) = reader.scale(row, block) * (kind_ == Kind::steps ? step : 1.0);
    for (int i = 0; i < length_; ++i) {
      const double value = values[static_cast<std::size_t>(i)];
      if (kind_ == Kind::steps) {
        side.steps.at(row, first + i) = static_cast<std::int16_t>(value * steps_per_unit);
      } else if (side.has_small_values && !is_large(value)) {
        side.small_values.at(row, first + i) = value;
      } else {
        side.values.at(row, first + i) = value;
      }
      if (kind_ == Kind::split_values && is_special(value)) side.has_special.at(row, block) = 1;
    }
  }
}

void ExactDots::compute(std::int64_t panel_a, std::int64_t panel_b, std::int64_t block, TileDots& dots) const {
  const std::int64_t first = block * length_;
  dots.high.fill(0.0);
  dots.is_split = kind_ == Kind::split_values;
  if (kind_ == Kind::steps) {
    add_step_dots(a_.steps.panel(panel_a, first), b_.steps.panel(panel_b, first), length_, products_per_sum_,
                  dots.high.data());
  } else {
    add_value_dots(a_.values.panel(panel_a, first), b_.values.panel(panel_b, first), length_, dots.high.data());
  }
  if (dots.is_split) compute_split(panel_a, panel_b, block, dots);
}

double ExactDots::whole_value(const Side& side, std::int64_t panel, std::int64_t k, int lane) {
  const double value = side.values.panel(panel, k)[lane];
  return side.has_small_values ? value + side.small_values.panel(panel, k)[lane] : value;
}

void ExactDots::compute_split(std::int64_t panel_a, std::int64_t panel_b, std::int64_t block, TileDots& dots) const {
  const std::int64_t first = block * length_;
  const auto add = [&](const Panels<double>& a, const Panels<double>& b) {
    add_value_dots(a.panel(panel_a, first), b.panel(panel_b, first), length_, dots.low.data());
  };
  dots.low.fill(0.0);
  if (b_.has_small_values) add(a_.values, b_.small_values);
  if (a_.has_small_values) add(a_.small_values, b_.values);
  if (a_.has_small_values && b_.has_small_values) add(a_.small_values, b_.small_values);

  // An infinity stands among the large values with a zero in its place among the small ones: their product would be a
  // NaN that is none. Such dots are done again on whole values.
  const std::uint8_t* special_a = a_.has_special.panel(panel_a, block);
  const std::uint8_t* special_b = b_.has_special.panel(panel_b, block);
  for (int i = 0; i < tile_rows; ++i) {
    for (int j = 0; j < tile_columns; ++j) {
      if ((special_a[i] | special_b[j]) == 0) continue;
      double dot = 0.0;
      for (std::int64_t k = first; k < first + length_; ++k) {
        dot += whole_value(a_, panel_a, k, i) * whole_value(b_, panel_b, k, j);
      }
      dots.high[static_cast<std::size_t>(i * tile_columns + j)] = dot;
      dots.low[static_cast<std::size_t>(i * tile_columns + j)] = 0.0;
    }
  }
}

}  // namespace fp4proof::portable
