// Zeros, NaN, infinity, and blocks of an unusual shape.

#include <array>
#include <cmath>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"

namespace fp4proof::suite {

namespace {

constexpr std::uint32_t minus_zero = 0x80000000U;
constexpr std::uint32_t plus_infinity = 0x7F800000U;
constexpr std::uint32_t quiet_nan = 0x7FC00000U;
constexpr std::array<std::uint32_t, 5> nans = {quiet_nan, 0xFFC00000U, 0x7F800001U, 0x7FFFFFFFU, 0xFFA12345U};

/// Values of both signs over four binades.
Words row_of_four_binades(const Profile& profile, std::size_t variant) {
  Words row;
  for (std::size_t i = 0; i < row_length(profile); ++i) {
    const double value = std::ldexp(1.0 + static_cast<double>((5 * i + 3 * variant) % 16) / 16.0,
                                    -static_cast<int>((3 * i + variant) % 4));
    row.push_back(word_of((i + variant) % 3 == 0 ? -value : value));
  }
  return row;
}

/// Positions along a row: all of them, or the ends and the seams between halves, eighths and sixteenths.
std::vector<std::size_t> positions(const CaseContext& context) {
  const std::size_t length = row_length(context.profile);
  std::vector<std::size_t> places;
  if (context.level == Level::smoke) return {0, length - 1};
  if (context.level == Level::quick) {
    for (const std::size_t place : {std::size_t{0}, length - 1, length / 2, length / 2 - 1, std::size_t{1}, length / 4,
                                    length / 4 * 3 - 1, std::size_t{5}, length - 6}) {
      places.push_back(place);
    }
    return places;
  }
  for (std::size_t place = 0; place < length; ++place) places.push_back(place);
  return places;
}

Blocks zero_block(const CaseContext& context) {
  const std::size_t length = row_length(context.profile);
  Blocks rows = {Words(length, 0), Words(length, minus_zero), Words(length, 0)};
  for (std::size_t i = 0; i < length; i += 3) rows[2][i] = minus_zero;
  return rows;
}

Blocks one_nonzero(const CaseContext& context) {
  Blocks rows;
  for (const std::size_t place : positions(context)) {
    rows.push_back(
        row_with(context.profile, place % 2 == 0 ? 0 : minus_zero, place, place % 3 == 0 ? 0xC0A00000U : 0x3F400000U));
  }
  return rows;
}

/// Negative values that are no zeros before they are scaled: around 2^-150, the largest that binary32 rounds to zero.
Words scaled_to_zero(const Profile& profile) {
  const std::uint32_t amax = profile.family == Family::hif4 ? word_of(7.0 * 0x1p15) : 0x7F000000U;
  const std::uint32_t edge = word_of(std::ldexp(grid_unit(profile, amax), -150));
  Words row(row_length(profile), 0);
  row[0] = amax;
  const std::size_t last = row.size() - 1;  // where no micro-exponent of the maximum reaches
  row[last] = negative(edge);
  row[last - 1] = negative(ulps_away(edge, 1));
  row[last - 3] = negative(ulps_away(edge, -1));
  row[last - 4] = 0x80000001U;
  row[last - 5] = minus_zero;
  return row;
}

Blocks signed_zeros(const CaseContext& context) {
  const Profile& profile = context.profile;
  Blocks rows;
  Words row = row_of_four_binades(profile, 0);
  for (std::size_t i = 0; i < row.size(); i += 2) row[i] = i % 4 == 0 ? minus_zero : 0;
  rows.push_back(row);
  // Negative values that round to zero, from just inside the deadzone down to the smallest number.
  for (std::size_t i = 1; i < row.size(); i += 2) {
    row[i] = word_of((i % 4 == 1 ? -1.0 : 1.0) * std::ldexp(1.0, -3 - static_cast<int>(4 * i)));
  }
  row[0] = 0x40C00000U;
  rows.push_back(row);
  rows.push_back(row_with(profile, 0x80000001U, 4, 0x3F800000U));
  rows.push_back(row_with(profile, minus_zero, 0, 0xBF800000U));
  rows.push_back(scaled_to_zero(profile));
  return rows;
}

Blocks specials_at_positions(const CaseContext& context, std::span<const std::uint32_t> specials) {
  Blocks rows;
  std::size_t turn = 0;
  for (const std::size_t place : positions(context)) {
    Words row = row_of_four_binades(context.profile, turn);
    row[place] = specials[turn % specials.size()];
    rows.push_back(std::move(row));
    ++turn;
  }
  rows.push_back(Words(row_length(context.profile), specials[0]));
  rows.push_back(row_with(context.profile, minus_zero, 2, specials[1]));
  rows.push_back(row_with(context.profile, 0x00000001U, 3, specials[0]));
  return rows;
}

Blocks nan_positions(const CaseContext& context) { return specials_at_positions(context, nans); }

Blocks infinity_positions(const CaseContext& context) {
  return specials_at_positions(context, std::array{plus_infinity, negative(plus_infinity)});
}

Blocks nan_and_infinity(const CaseContext& context) {
  const std::size_t length = row_length(context.profile);
  Blocks rows;
  for (const auto& [nan_place, infinity_place] :
       {std::pair{std::size_t{0}, length - 1}, std::pair{length - 1, std::size_t{0}},
        std::pair{length / 2, length / 2 + 1}}) {
    Words row = row_of_four_binades(context.profile, rows.size());
    row[nan_place] = nans[rows.size()];
    row[infinity_place] = rows.size() % 2 == 0 ? plus_infinity : negative(plus_infinity);
    rows.push_back(std::move(row));
  }
  return rows;
}

Blocks outlier(const CaseContext& context) {
  Blocks rows;
  const std::vector<std::size_t> places = positions(context);
  for (const int binades : {12, 2, 3, 5, 8, 20, 40, 100}) {
    Words row = row_of_four_binades(context.profile, rows.size());
    row[places[rows.size() % places.size()]] = word_of(std::ldexp(rows.size() % 2 == 0 ? 1.25 : -1.5, binades));
    rows.push_back(std::move(row));
  }
  return rows;
}

constexpr std::array constant_values = {1.0,  -1.0,  6.0,   0.1,   -7.0,    3.5,       1e-5,
                                        1e20, 448.0, 1e-30, 1e-39, 57344.0, 0.3333333, -1.7999999};

Blocks constant(const CaseContext& context) {
  Blocks rows;
  for (const double value : constant_values) rows.push_back(Words(row_length(context.profile), word_of(value)));
  return rows;
}

Blocks alternating_signs(const CaseContext& context) {
  Blocks rows;
  for (const double value : constant_values) {
    Words row(row_length(context.profile), word_of(value));
    for (std::size_t i = rows.size() % 2; i < row.size(); i += 2) row[i] ^= minus_zero;
    rows.push_back(std::move(row));
  }
  return rows;
}

constexpr std::array special_table = {
    CaseClass{"zero-block", "An all-zero block gets another scale, NaN from a division by zero, or lost signs.",
              Operation::quantize, any_profile, rows_of<zero_block>},
    CaseClass{"one-nonzero", "A position of the block is left out of the maximum or written to another place.",
              Operation::quantize, any_profile, rows_of<one_nonzero>},
    CaseClass{"signed-zeros", "The sign of -0, or of a negative value that rounds to zero, is not the profile's.",
              Operation::quantize, any_profile, rows_of<signed_zeros>},
    CaseClass{"nan-positions", "A NaN is lost in a maximum, or counts only at some positions or with some payloads.",
              Operation::quantize, any_profile, rows_of<nan_positions>},
    CaseClass{"infinity-positions", "An infinity is treated as finite, or another way than the profile says.",
              Operation::quantize, any_profile, rows_of<infinity_positions>},
    CaseClass{"nan-and-infinity", "Where a block holds NaN and infinity, the wrong one decides.", Operation::quantize,
              any_profile, rows_of<nan_and_infinity>},
    CaseClass{"outlier", "Values far below one outlier do not vanish as they should, or vanish too early.",
              Operation::quantize, any_profile, rows_of<outlier>},
    CaseClass{"constant", "A block of equal values does not get equal codes.", Operation::quantize, any_profile,
              rows_of<constant>},
    CaseClass{"alternating-signs", "The maximum is taken over signed values, or signs move to neighbours.",
              Operation::quantize, any_profile, rows_of<alternating_signs>},
};

}  // namespace

std::span<const CaseClass> special_classes() { return special_table; }

}  // namespace fp4proof::suite
