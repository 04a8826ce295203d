// HiF4: the two levels of micro-exponents, and the E6M2 scale.

#include <array>
#include <cmath>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"

namespace fp4proof::suite {

namespace {

constexpr double bf16_seventh = 146.0 / 1024.0;
constexpr std::size_t eighth = 8;
constexpr std::size_t sixteenth = 4;

/// Block maxima with each of the four E6M2 mantissas, at some exponents.
std::vector<std::uint32_t> mantissa_anchors(const CaseContext& context) {
  std::vector<int> exponents = {0};
  if (context.level == Level::quick) exponents = {0, -31};
  if (context.level == Level::full) exponents = {0, -48, -47, -31, -7, 1, 8, 14};
  std::vector<std::uint32_t> words;
  for (const int e : exponents) {
    for (int mantissa = 0; mantissa < 4; ++mantissa) words.push_back(word_of(std::ldexp(7.0 * (4 + mantissa), e - 2)));
  }
  return words;
}

/// Values around a scaled threshold: next to it, and where bfloat16 products round onto it.
std::vector<std::uint32_t> around(double threshold, double unit) {
  std::vector<std::uint32_t> words;
  for (const int ulps : {0, -1, 1, -2, 2}) words.push_back(ulps_away(word_of(threshold * unit), ulps));
  const double bf16_edge = threshold * (1.0 - 0x1p-9);
  for (const int ulps : {0, -1, 1}) words.push_back(ulps_away(word_of(bf16_edge * unit), ulps));
  words.push_back(word_of(threshold * (1.0 - 0x1p-8) * unit));
  return words;
}

/// Eighths 1 to 7 have their maximum at the level-2 threshold, each at another place of the eighth.
Blocks level2_threshold(const CaseContext& context) {
  Blocks rows;
  for (const std::uint32_t amax : mantissa_anchors(context)) {
    const std::vector<std::uint32_t> values = around(4.0, grid_unit(context.profile, amax));
    for (std::size_t turn = 0; turn < values.size(); turn += 7) {
      Words row(row_length(context.profile), 0);
      row[0] = amax;
      for (std::size_t k = 1; k < 8; ++k) {
        const std::uint32_t word = values[(turn + k - 1) % values.size()];
        row[eighth * k + (3 * k) % eighth] = k % 2 == 0 ? word : negative(word);
        row[eighth * k + (3 * k + 4) % eighth] = word_of(std::ldexp(1.0, -2) * grid_unit(context.profile, amax));
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// Sixteenths at the level-3 threshold: of eighths whose level-2 bit is clear (threshold 2) and set (threshold 4).
Blocks level3_threshold(const CaseContext& context) {
  Blocks rows;
  for (const std::uint32_t amax : mantissa_anchors(context)) {
    const double unit = grid_unit(context.profile, amax);
    const std::vector<std::uint32_t> low = around(2.0, unit);
    const std::vector<std::uint32_t> high = around(4.0, unit);
    for (std::size_t turn = 0; turn < low.size(); turn += 4) {
      Words row(row_length(context.profile), 0);
      row[0] = amax;
      for (std::size_t k = 2; k < 16; ++k) {
        const bool raised = k / 2 % 2 == 0;
        const std::size_t first = sixteenth * k;
        const std::uint32_t word = (raised ? high : low)[(turn + k / 2) % low.size()];
        row[first + (5 * k) % sixteenth] = raised && k % 2 == 0 ? word_of(5.0 * unit) : word;
        row[first + (5 * k + 1) % sixteenth] = word_of(-0.75 * unit);
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// Wanted scales with a significand on an E6M2 tie, reached through each way to compute amax / 7.
Blocks e6m2_ties(const CaseContext& context) {
  std::vector<int> exponents = {0};
  if (context.level == Level::full) exponents = {-48, -47, -20, -1, 0, 1, 7, 14, 15};
  Blocks rows;
  for (const int e : exponents) {
    for (const double tie : {1.125, 1.375, 1.625, 1.875}) {
      const double wanted = std::ldexp(tie, e);
      const double half_bf16_step = std::ldexp(1.0, e - 8);
      const auto add = [&](double amax, const std::vector<int>& sharpest) {
        for (const int ulps : context.level == Level::full ? std::vector<int>{0, 1, -1} : sharpest) {
          Words row = row_with(context.profile, word_of(amax * 0.25), 9, ulps_away(word_of(amax), ulps));
          row[33] = word_of(amax * -0.4375);
          rows.push_back(std::move(row));
        }
      };
      add((wanted - half_bf16_step) / bf16_seventh, {0, -1});
      add(7.0 * wanted, {0});
      add(wanted / bf16_seventh, {0});
      add((wanted + half_bf16_step) / bf16_seventh, {0, 1});
    }
  }
  return rows;
}

/// Scales at both ends. 1.75 * 2^15 would have the code of NaN, 1.875 * 2^15 one beyond it.
Blocks e6m2_clamps(const CaseContext& context) {
  Blocks rows;
  const auto add = [&](double amax) {
    const bool few = context.level != Level::full;
    for (const int ulps : few ? std::vector<int>{0} : std::vector<int>{0, 1, -1}) {
      Words row = row_with(context.profile, word_of(amax * 0.3125), rows.size() % 64, ulps_away(word_of(amax), ulps));
      row[(rows.size() + 20) % 64] = word_of(amax * -0.125);
      rows.push_back(std::move(row));
    }
  };
  for (const double wanted : {0x1.cp15, 0x1p-48, 0x1.8p15, 0x1.bp15, 0x1.ep15, 0x1.cp-49, 0x1.2p-48, 0x1p-49, 0x1p-47,
                              0x1.ep-49, 0x1p16, 0x1p-52, 0x1.2p16}) {
    add(7.0 * wanted);
    if (context.level != Level::smoke) add(wanted / bf16_seventh);
  }
  for (const double extreme : {0x1p-149, 0x1p-126, 0x1p-60, 0x1.8p-51, 0x1p30, 0x1.8p127}) add(extreme);
  return rows;
}

/// Each sixteenth has its own magnitude: bits that are taken from other elements, or stored in another order, show.
Blocks grouping(const CaseContext& context) {
  constexpr std::array<double, 6> magnitudes = {6.0, 0.625, 2.5, 1.5, 4.5, 3.0};
  CaseRandom random(context);
  Blocks rows;
  const std::vector<std::uint32_t> maxima = mantissa_anchors(context);
  for (std::size_t turn = 0; turn < context.wanted; ++turn) {
    const std::uint32_t amax = maxima[turn % maxima.size()];
    const double unit = grid_unit(context.profile, amax);
    Words row;
    for (std::size_t k = 0; k < 16; ++k) {
      const double magnitude = magnitudes[random.below(6)];
      const std::size_t place = random.below(4);
      for (std::size_t i = 0; i < sixteenth; ++i) {
        const double value = i == place ? magnitude : magnitude * (0.125 + 0.125 * random.below(4));
        row.push_back(word_of((random.coin() ? -value : value) * unit));
      }
    }
    row[(turn * 13) % row.size()] = amax;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// One sixteenth, or one eighth, is large and all others are small: one bit of each level is set.
Blocks single_micro_bits(const CaseContext& context) {
  Blocks rows;
  const std::size_t stride = context.level == Level::full ? 1 : context.level == Level::quick ? 3 : 11;
  for (std::size_t k = 0; k < 16; k += stride) {
    const double unit = grid_unit(context.profile, word_of(7.0));
    Words row(row_length(context.profile), word_of(0.5 * unit));
    row[sixteenth * k + k % sixteenth] = word_of(7.0);
    rows.push_back(row);
    row[(sixteenth * (k + 5) + 1) % row.size()] = word_of(-2.5 * unit);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Inputs whose product with the reciprocal misses a tie by less than half a unit in the last place of binary32: a
/// product rounded to binary32 is the tie.
Blocks double_rounding_fp32(const CaseContext& context) {
  Blocks rows;
  std::vector<Scaled> values;
  for (const double tie : grid_ties(context.profile.element)) {
    for (const int ulps : {0, -1, 1}) values.push_back({ulps == 0 ? tie : -tie, ulps});
  }
  for (const std::uint32_t amax : mantissa_anchors(context)) append_scaled_rows(context.profile, amax, values, rows);
  return rows;
}

constexpr std::array hif4_table = {
    CaseClass{"hif4-level2-threshold",
              "A level-2 bit is set below its threshold or not at it, or the product was rounded another way.",
              Operation::quantize, is_hif4, rows_of<level2_threshold>},
    CaseClass{"hif4-level3-threshold",
              "A level-3 bit is set below its threshold or not at it, or forgets the level-2 bit above it.",
              Operation::quantize, is_hif4, rows_of<level3_threshold>},
    CaseClass{"double-rounding-fp32", "The product with the reciprocal is rounded to binary32 before the element.",
              Operation::quantize, is_hif4, rows_of<double_rounding_fp32>},
    CaseClass{"e6m2-ties", "Ties of the E6M2 scale go the wrong way, or amax / 7 was computed another way.",
              Operation::quantize, is_hif4, rows_of<e6m2_ties>},
    CaseClass{"e6m2-clamps", "Scales below 2^-48 or above 49152 wrap, or give the NaN code.", Operation::quantize,
              is_hif4, rows_of<e6m2_clamps>},
    CaseClass{"hif4-grouping", "Micro-exponents belong to strided elements (i mod 8) in place of adjacent ones.",
              Operation::quantize, is_hif4, rows_of<grouping>},
    CaseClass{"hif4-single-bits", "A micro-exponent bit is stored at another place of its byte.", Operation::quantize,
              is_hif4, rows_of<single_micro_bits>},
};

}  // namespace

std::span<const CaseClass> hif4_classes() { return hif4_table; }

}  // namespace fp4proof::suite
