#pragma once
// Corrections as docs/rules-corrections.md words them, in the plainest code, with one fault built in on demand: what a
// kernel with that fault answers to a case of `correct`. Plain quantization comes from the reference, which other tests
// check; everything around it is written here a second time.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/suite/case_group.h"
#include "conformance/suite/correction_answers.h"
#include "formats/element.h"
#include "formats/philox.h"
#include "formats/scale_codes.h"
#include "reference/portable/correct.h"
#include "reference/portable/dequantize.h"

namespace fp4proof::suite::naive {

enum class Fault : std::uint8_t {
  none,
  macro_nearest,            ///< the byte is rounded to nearest, not truncated, and never lowered
  macro_not_lowered,        ///< f M may pass max 2^k
  macro_half_maximum,       ///< M over the first half of the macro block
  macro_tail_lost,          ///< a partial macro block gets the byte 0
  macro_tail_neighbour,     ///< a partial macro block gets the byte of the one before it
  macro_no_exponent,        ///< f is q itself where q is zero, subnormal or infinite
  macro_special_maximum,    ///< NaN and infinity take part in M
  mask_higher_column,       ///< between equal residuals the higher column
  mask_three,               ///< three of four
  residual_unclipped,       ///< r is taken from the value that a clipped element would have on an endless grid
  alpha_in_scale,           ///< alpha 1/2 lowers the scale of the residual, as far as it goes
  residual_nan_spreads,     ///< NaN or infinity in a row of residuals makes the row NaN
  residual_negative_zero,   ///< codes outside the mask become -0
  channels_by_maximum,      ///< channels ranked by the largest |r|
  tiles_by_other_measure,   ///< input-max and residual-l2 exchanged
  edge_tiles_lost,          ///< tiles that are not whole are never kept
  tile_takes_beyond,        ///< what follows a row in memory counts in the scale of a tile that sticks out
  words_by_layout,          ///< random words are read in the order of the codes
  second_draw,              ///< axis 0 draws other random words
  scale_of_three_quarters,  ///< the scale of 3/4 x
  signs_dropped,
  signs_of_the_group,  ///< the signs of the first group stand in every group
  not_normalised,
  butterflies_reversed,  ///< h = g/2, ..., 1
  butterflies_binary64,
};

struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> values;

  float& at(std::int64_t row, std::int64_t column) { return values[static_cast<std::size_t>(row * columns + column)]; }
  float at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

template <class T>
std::vector<T> transposed(const std::vector<T>& values, std::int64_t rows, std::int64_t columns) {
  std::vector<T> result;
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t r = 0; r < rows; ++r) result.push_back(values[static_cast<std::size_t>(r * columns + c)]);
  }
  return result;
}

inline float largest_element(const Profile& profile) {
  return decode_element(profile.element, element_spec(profile.element).max_code);
}

/// A rectangle of a matrix.
struct Region {
  std::int64_t row;
  std::int64_t column;
  std::int64_t row_end;
  std::int64_t column_end;

  template <class Visit>
  void each(Visit visit) const {
    for (std::int64_t r = row; r < row_end; ++r) {
      for (std::int64_t c = column; c < column_end; ++c) visit(r, c);
    }
  }
};

struct Part {
  portable::Quantized quantized;
  std::vector<std::uint8_t> macro;
};

/// One correction of one matrix, block axis last.
class Kernel {
 public:
  Kernel(const Profile& profile, const CorrectionStack& stack, portable::Tail tail, Fault fault)
      : profile_(stack.effective(profile)), stack_(stack), tail_(tail), fault_(fault) {}

  Answer answer(Matrix x, std::vector<std::uint32_t> random) {
    random_ = std::move(random);
    if (stack_.hadamard.is_on()) {
      apply_signs(x);
      butterflies(x);
    }
    Part first = coded(x);
    Matrix values = decoded(first);
    Answer result;
    append(first, result);
    if (stack_.residual.is_on()) add_residual(x, first, values, result);
    if (stack_.hadamard.is_on()) {
      butterflies(values);
      apply_signs(values);
    }
    const Bytes bytes = bytes_of(values.values);
    result.emplace_back(bytes.begin(), bytes.end());
    return result;
  }

 private:
  // --- Hadamard, C10 to C12 ------------------------------------------------------------------------------------------

  void apply_signs(Matrix& x) const {
    if (stack_.hadamard.signs == HadamardSigns::none || fault_ == Fault::signs_dropped) return;
    const std::uint32_t step = stack_.hadamard.signs == HadamardSigns::fresh ? case_product : 0;
    Region{0, 0, x.rows, x.columns}.each([&](std::int64_t r, std::int64_t c) {
      const std::int64_t k = fault_ == Fault::signs_of_the_group ? c % stack_.hadamard.size : c;
      const std::uint32_t word =
          random_word(stack_.hadamard.seed, Stream::hadamard, step, static_cast<std::uint64_t>(k));
      if (word >> 31 != 0) x.at(r, c) = -x.at(r, c);
    });
  }

  void butterflies(Matrix& x) const {
    for (std::size_t first = 0; first < x.values.size(); first += stack_.hadamard.size) {
      std::vector<double> group(x.values.begin() + static_cast<std::ptrdiff_t>(first),
                                x.values.begin() + static_cast<std::ptrdiff_t>(first + stack_.hadamard.size));
      transform(group);
      for (std::size_t i = 0; i < group.size(); ++i) {
        const double factor = fault_ == Fault::not_normalised ? 1.0 : 1.0 / std::sqrt(stack_.hadamard.size);
        x.values[first + i] = static_cast<float>(group[i] * factor);
      }
    }
  }

  void transform(std::vector<double>& group) const {
    const auto rounded = [&](double sum) {
      return fault_ == Fault::butterflies_binary64 ? sum : double{static_cast<float>(sum)};
    };
    const bool reversed = fault_ == Fault::butterflies_reversed;
    for (std::size_t step = 1; step < group.size(); step *= 2) {
      const std::size_t h = reversed ? group.size() / 2 / step : step;
      for (std::size_t i = 0; i < group.size(); ++i) {
        if ((i & h) != 0) continue;
        const double a = group[i];
        const double b = group[i + h];
        group[i] = rounded(a + b);
        group[i + h] = rounded(a - b);
      }
    }
  }

  // --- Macro blocks, C14 to C19 --------------------------------------------------------------------------------------

  std::uint8_t factor_byte(float maximum) const {
    const float max = largest_element(profile_);
    const bool multiply = stack_.macro.form == MacroForm::multiply;
    const float q = multiply ? max / maximum : maximum / max;
    const std::uint32_t word = float_bits(q);
    if (std::isinf(q) || maximum == 0.0F || (!multiply && std::fpclassify(q) == FP_SUBNORMAL)) return 0;
    const std::uint32_t half = fault_ == Fault::macro_nearest ? 1U << 14 : 0;
    const auto b = static_cast<int>(std::min(((word & 0x7FFFFFU) + half) >> 15, 255U));
    const bool lowers = multiply && fault_ != Fault::macro_not_lowered && fault_ != Fault::macro_nearest;
    if (!lowers || !std::isfinite(maximum)) return static_cast<std::uint8_t>(b);
    const bool passes = (1.0 + b / 256.0) * maximum > std::ldexp(double{max}, -std::ilogb(q));
    return static_cast<std::uint8_t>(passes ? (b + 255) % 256 : b);
  }

  /// The factor, or with the fault a q that has no exponent.
  float factor(std::uint8_t byte, float maximum) const {
    const float max = largest_element(profile_);
    const float q = stack_.macro.form == MacroForm::multiply ? max / maximum : maximum / max;
    if (fault_ == Fault::macro_no_exponent && !std::isnormal(q)) return q;
    return 1.0F + static_cast<float>(byte) / 256.0F;
  }

  float maximum_of(const Matrix& x, Region region) const {
    if (fault_ == Fault::macro_half_maximum) {
      region.column_end = std::min(region.column_end, region.column + stack_.macro.size / 2);
    }
    float maximum = 0.0F;
    region.each([&](std::int64_t r, std::int64_t c) {
      const float magnitude = std::fabs(x.at(r, c));
      const bool takes_part = std::isfinite(magnitude) || fault_ == Fault::macro_special_maximum;
      if (takes_part && !std::isnan(maximum) && !(magnitude <= maximum)) maximum = magnitude;
    });
    return maximum;
  }

  /// Scales x and returns the bytes of every row.
  std::vector<std::uint8_t> apply_macro(Matrix& x) const {
    const std::int64_t size = stack_.macro.size;
    if (size == 0) return {};
    const std::int64_t band = profile_.block.is_2d() ? size : 1;
    std::vector<std::uint8_t> bytes;
    for (std::int64_t row = 0; row < x.rows; row += band) {
      std::vector<std::uint8_t> of_band;
      for (std::int64_t column = 0; column < x.columns; column += size) {
        const Region region = {row, column, std::min(row + band, x.rows), std::min(column + size, x.columns)};
        const float maximum = maximum_of(x, region);
        std::uint8_t byte = factor_byte(maximum);
        const bool partial = column + size > x.columns;
        if (partial && fault_ == Fault::macro_tail_lost) byte = 0;
        if (partial && fault_ == Fault::macro_tail_neighbour && !of_band.empty()) byte = of_band.back();
        of_band.push_back(byte);
        const float f = factor(byte, maximum);
        const bool multiply = stack_.macro.form == MacroForm::multiply;
        region.each([&](std::int64_t r, std::int64_t c) { x.at(r, c) = multiply ? f * x.at(r, c) : x.at(r, c) / f; });
      }
      for (std::int64_t r = row; r < std::min(row + band, x.rows); ++r) {
        bytes.insert(bytes.end(), of_band.begin(), of_band.end());
      }
    }
    return bytes;
  }

  // --- Coding and decoding -------------------------------------------------------------------------------------------

  Part coded(Matrix x) const {
    Part part;
    part.macro = apply_macro(x);
    portable::QuantizeOptions options;
    options.tail = tail_;
    options.random_words = random_;
    options.three_quarters = stack_.three_quarters && fault_ != Fault::scale_of_three_quarters;
    if (stack_.three_quarters && !options.three_quarters) {
      for (float& value : x.values) value *= 0.75F;
    }
    if (fault_ == Fault::tile_takes_beyond && stack_.tile != 0 && random_.empty()) return coded_with_what_follows(x);
    part.quantized = quantized(x, options);
    return part;
  }

  portable::Quantized quantized(const Matrix& x, const portable::QuantizeOptions& options) const {
    const std::int64_t shape[] = {x.rows, x.columns};
    const auto result = portable::quantize(
        profile_, {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(x.values.data())}, options);
    EXPECT_TRUE(result.ok()) << profile_.name << ": " << result.error().message;
    return *result;
  }

  /// Rows are read on to the end of their last tile: there stands the next row.
  Part coded_with_what_follows(const Matrix& x) const {
    const std::int64_t length = profile_.block.cols;
    Matrix wide = {x.rows, (x.columns + length - 1) / length * length, {}};
    for (std::int64_t r = 0; r < wide.rows; ++r) {
      for (std::int64_t c = 0; c < wide.columns; ++c) {
        wide.values.push_back(x.values[static_cast<std::size_t>(std::min(r * x.columns + c, x.rows * x.columns - 1))]);
      }
    }
    portable::QuantizeOptions options;
    options.tail = portable::Tail::pad;
    Part part;
    part.quantized = quantized(wide, options);
    const std::int64_t cut[] = {x.rows, x.columns};
    part.quantized.geometry = *portable::cut_into_blocks(profile_, cut, -1, portable::Tail::pad);
    for (std::int64_t r = 0; r < x.rows; ++r) {
      for (std::int64_t c = x.columns; c < wide.columns; ++c) set_code(part, r, c, 0);
    }
    return part;
  }

  void set_code(Part& part, std::int64_t row, std::int64_t column, std::uint8_t code) const {
    const std::int64_t begin = row * part.quantized.geometry.code_bytes_per_row;
    std::vector<std::uint8_t>& codes = part.quantized.codes;
    if (!element_spec(profile_.element).is_nibble()) {
      codes[static_cast<std::size_t>(begin + column)] = code;
      return;
    }
    const int shift = column % 2 == 0 ? 0 : 4;
    std::uint8_t& byte = codes[static_cast<std::size_t>(begin + column / 2)];
    byte = static_cast<std::uint8_t>((byte & (0xF0 >> shift)) | code << shift);
  }

  Matrix decoded(const Part& part) const {
    const portable::Geometry& geometry = part.quantized.geometry;
    Matrix v = {geometry.rows, geometry.columns, portable::dequantize(profile_, part.quantized)};
    if (stack_.three_quarters) {
      for (float& value : v.values) value /= 0.75F;
    }
    if (stack_.macro.is_on()) {
      const std::int64_t per_row = portable::macro_blocks_per_row(stack_.macro, v.columns);
      Region{0, 0, v.rows, v.columns}.each([&](std::int64_t r, std::int64_t c) {
        const float f =
            1.0F + static_cast<float>(part.macro[static_cast<std::size_t>(r * per_row + c / stack_.macro.size)]) / 256;
        v.at(r, c) = stack_.macro.form == MacroForm::multiply ? v.at(r, c) / f : v.at(r, c) * f;
      });
    }
    return v;
  }

  void append(const Part& part, Answer& result) const {
    result.push_back(part.quantized.codes);
    result.push_back(part.quantized.scales);
    if (stack_.macro.is_on()) result.push_back(part.macro);
  }

  // --- Residual, C20 to C24 ------------------------------------------------------------------------------------------

  void add_residual(const Matrix& x, const Part& first, Matrix& values, Answer& result) const {
    Matrix r = x;
    Region{0, 0, x.rows, x.columns}.each([&](std::int64_t row, std::int64_t c) {
      const float first_value =
          fault_ == Fault::residual_unclipped ? unclipped(x, values, first, row, c) : values.at(row, c);
      r.at(row, c) = x.at(row, c) - first_value;
    });
    if (fault_ == Fault::residual_nan_spreads) spread_nan(r);
    Part part = coded(r);
    const std::vector<bool> kept = mask(x, r);
    const auto outside = static_cast<std::uint8_t>(
        fault_ == Fault::residual_negative_zero ? element_spec(profile_.element).sign_mask() : 0);
    Region{0, 0, x.rows, x.columns}.each([&](std::int64_t row, std::int64_t c) {
      if (!kept[static_cast<std::size_t>(row * x.columns + c)]) set_code(part, row, c, outside);
    });
    append(part, result);
    add_decoded(part, values);
  }

  /// The value that x would decode to if the element had no largest value. Only E2M1 to E4M3: steps of the top binade.
  float unclipped(const Matrix& x, const Matrix& values, const Part& first, std::int64_t row, std::int64_t c) const {
    const ElementSpec spec = element_spec(profile_.element);
    const bool is_largest = (code_at(first, row, c) & (spec.sign_mask() - 1U)) == spec.max_code;
    if (!is_largest || !std::isfinite(x.at(row, c)) || values.at(row, c) == 0.0F) return values.at(row, c);
    const float below = decode_element(profile_.element, static_cast<std::uint8_t>(spec.max_code - 1));
    const float unit = std::fabs(values.at(row, c)) / largest_element(profile_);
    const float step = unit * (largest_element(profile_) - below);
    return std::round(x.at(row, c) / step) * step;
  }

  std::uint8_t code_at(const Part& part, std::int64_t row, std::int64_t column) const {
    const std::size_t begin = static_cast<std::size_t>(row * part.quantized.geometry.code_bytes_per_row);
    const auto place = static_cast<std::size_t>(column);
    const std::vector<std::uint8_t>& codes = part.quantized.codes;
    if (!element_spec(profile_.element).is_nibble()) return codes[begin + place];
    return static_cast<std::uint8_t>(codes[begin + place / 2] >> (4 * (place % 2)) & 0xF);
  }

  static void spread_nan(Matrix& r) {
    for (std::int64_t row = 0; row < r.rows; ++row) {
      const auto begin = r.values.begin() + row * r.columns;
      if (std::all_of(begin, begin + r.columns, [](float v) { return std::isfinite(v); })) continue;
      std::fill(begin, begin + r.columns, canonical_nan());
    }
  }

  void add_decoded(Part& part, Matrix& values) const {
    float alpha = stack_.residual.alpha;
    if (fault_ == Fault::alpha_in_scale && alpha == 0.5F) {
      const bool hif4 = profile_.family == Family::hif4;
      for (std::size_t i = 0; i < part.quantized.scales.size(); i += hif4 ? 4 : 1) {
        std::uint8_t& scale = part.quantized.scales[i];
        const int step = profile_.family == Family::mx ? 1 : hif4 ? 4 : 8;
        if (scale != (profile_.family == Family::nvfp4 ? 0x7F : 0xFF)) {
          scale = static_cast<std::uint8_t>(std::max(int{scale} - step, 0));
        }
      }
      alpha = 1.0F;
    }
    const Matrix second = decoded(part);
    for (std::size_t i = 0; i < values.values.size(); ++i) values.values[i] += alpha * second.values[i];
  }

  std::vector<bool> mask(const Matrix& x, const Matrix& r) const {
    std::vector<bool> kept(x.values.size(), stack_.residual.mask == ResidualMask::dense);
    if (stack_.residual.mask == ResidualMask::two_four) mask_two_four(r, kept);
    if (stack_.residual.mask == ResidualMask::top_channels) mask_channels(r, kept);
    if (stack_.residual.mask == ResidualMask::top_tiles || stack_.residual.mask == ResidualMask::tiles_above) {
      mask_tiles(x, r, kept);
    }
    return kept;
  }

  static double counted(float value) { return std::isnan(value) ? 0.0 : std::fabs(double{value}); }

  void mask_two_four(const Matrix& r, std::vector<bool>& kept) const {
    for (std::int64_t row = 0; row < r.rows; ++row) {
      for (std::int64_t first = 0; first < r.columns; first += 4) {
        std::vector<double> size;
        for (std::int64_t c = first; c < first + 4; ++c) size.push_back(c < r.columns ? counted(r.at(row, c)) : 0.0);
        for (const std::size_t i : largest(size, fault_ == Fault::mask_three ? 3 : 2)) {
          const std::int64_t column = first + static_cast<std::int64_t>(i);
          if (column < r.columns) kept[static_cast<std::size_t>(row * r.columns + column)] = true;
        }
      }
    }
  }

  /// The places of the `count` largest numbers.
  std::vector<std::size_t> largest(const std::vector<double>& numbers, std::size_t count) const {
    std::vector<std::size_t> places(numbers.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    if (fault_ == Fault::mask_higher_column) std::ranges::reverse(places);
    std::ranges::stable_sort(places, [&](std::size_t a, std::size_t b) { return numbers[a] > numbers[b]; });
    places.resize(std::min(count, places.size()));
    return places;
  }

  std::size_t share(std::size_t count) const {
    return static_cast<std::size_t>(std::ceil(double{stack_.residual.fraction} * static_cast<double>(count)));
  }

  void mask_channels(const Matrix& r, std::vector<bool>& kept) const {
    std::vector<double> measure;
    for (std::int64_t c = 0; c < r.columns; ++c) {
      measure.push_back(fault_ == Fault::channels_by_maximum ? maximum_in(r, {0, c, r.rows, c + 1})
                                                             : squares_in(r, {0, c, r.rows, c + 1}));
    }
    for (const std::size_t c : largest(measure, share(measure.size()))) {
      for (std::int64_t row = 0; row < r.rows; ++row) {
        kept[static_cast<std::size_t>(row * r.columns) + c] = true;
      }
    }
  }

  static double maximum_in(const Matrix& m, const Region& region) {
    double maximum = 0.0;
    region.each([&](std::int64_t r, std::int64_t c) { maximum = std::max(maximum, counted(m.at(r, c))); });
    return maximum;
  }

  static double squares_in(const Matrix& m, const Region& region) {
    double sum = 0.0;
    region.each([&](std::int64_t r, std::int64_t c) { sum += counted(m.at(r, c)) * counted(m.at(r, c)); });
    return sum;
  }

  void mask_tiles(const Matrix& x, const Matrix& r, std::vector<bool>& kept) const {
    const ResidualSpec& spec = stack_.residual;
    std::vector<Region> tiles;
    std::vector<double> measure;
    for (std::int64_t row = 0; row < x.rows; row += spec.tile_rows) {
      for (std::int64_t column = 0; column < x.columns; column += spec.tile_cols) {
        const Region tile = {row, column, std::min(row + spec.tile_rows, x.rows),
                             std::min(column + spec.tile_cols, x.columns)};
        if (fault_ == Fault::edge_tiles_lost &&
            (row + spec.tile_rows > x.rows || column + spec.tile_cols > x.columns)) {
          continue;
        }
        tiles.push_back(tile);
        const bool by_input = spec.mask == ResidualMask::tiles_above || spec.measure == TileMeasure::input_max;
        const bool swapped = fault_ == Fault::tiles_by_other_measure;
        measure.push_back(by_input != swapped ? maximum_in(x, tile) : squares_in(r, tile));
      }
    }
    const std::size_t count = spec.mask == ResidualMask::tiles_above ? tiles.size() : share(tiles.size());
    for (const std::size_t i : largest(measure, count)) {
      if (spec.mask == ResidualMask::tiles_above && !(measure[i] > spec.threshold)) continue;
      tiles[i].each(
          [&](std::int64_t row, std::int64_t c) { kept[static_cast<std::size_t>(row * x.columns + c)] = true; });
    }
  }

  Profile profile_;
  CorrectionStack stack_;
  portable::Tail tail_;
  Fault fault_;
  std::vector<std::uint32_t> random_;
};

/// What a kernel with that fault answers: the expected tensors of the case in order.
inline Answer answer(const Profile& profile, const CaseGroup& group, std::size_t index, Fault fault) {
  const GroupSpec& spec = group.spec;
  Matrix x = {spec.rows, spec.columns, copy_elements<float>(group.find("input")->of_case(index))};
  std::vector<std::uint32_t> random;
  if (const CaseTensor* words = group.find("random")) random = copy_elements<std::uint32_t>(words->of_case(index));
  if (spec.axis == 0) {
    x = {spec.columns, spec.rows, transposed(x.values, spec.rows, spec.columns)};
    if (fault != Fault::words_by_layout) random = transposed(random, random.empty() ? 0 : spec.rows, spec.columns);
    if (fault == Fault::second_draw) std::ranges::reverse(random);
  }
  return Kernel(profile, *stack_of(spec), spec.tail, fault).answer(std::move(x), std::move(random));
}

}  // namespace fp4proof::suite::naive
