// Where the largest magnitude of a block falls between two scales.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"
#include "formats/float_bits.h"

namespace fp4proof::suite {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// A row whose largest magnitude is `amax`, with companions below it that show which scale was taken.
Words row_of_maximum(const Profile& profile, std::uint32_t amax, std::size_t position) {
  Words row(row_length(profile), 0);
  const std::size_t length = row.size();
  const double value = double{float_from_bits(amax)};
  position %= length;
  row[position] = position % 2 == 0 ? amax : negative(amax);
  row[(position + 1) % length] = word_of(value * -0.5);
  row[(position + 3) % length] = word_of(value * 0.375);
  row[(position + 6) % length] = word_of(value * 0.21875);
  row[(position + 10) % length] = word_of(value * -0.109375);
  return row;
}

Blocks rows_of_maxima(const Profile& profile, const std::vector<std::uint32_t>& maxima) {
  Blocks rows;
  for (const std::uint32_t amax : maxima) {
    if (amax != 0 && is_finite_bits(amax)) rows.push_back(row_of_maximum(profile, amax, 5 * rows.size()));
  }
  return rows;
}

std::vector<int> binades(Level level, std::vector<int> smoke, int stride) {
  if (level == Level::smoke) return smoke;
  std::vector<int> all;
  for (int k = -149; k <= 127; k += level == Level::full ? 1 : stride) all.push_back(k);
  all.insert(all.end(), {-127, -126, -125, -124, 0, 1, 127});
  return all;
}

void add_with_neighbours(std::vector<std::uint32_t>& words, std::uint32_t word, int reach) {
  for (int ulps = -reach; ulps <= reach; ++ulps) words.push_back(ulps_away(word, ulps));
}

Blocks powers(const CaseContext& context) {
  std::vector<std::uint32_t> maxima;
  for (const int k : binades(context.level, {1, -126}, 23)) add_with_neighbours(maxima, word_of(std::ldexp(1.0, k)), 1);
  return rows_of_maxima(context.profile, maxima);
}

/// Significands at which a scale rule turns over: the element's largest value, half a mantissa step below two, one and
/// a half times the largest value, and those of 6, 7 and 448.
std::vector<double> edge_significands(Element element) {
  const ElementSpec spec = element_spec(element);
  const double largest = std::ldexp(grid_values(element).back(), -spec.emax);
  const double rounds_up = 2.0 - std::ldexp(1.0, -spec.mantissa_bits - 1);
  std::vector<double> edges = {largest, rounds_up, largest * 0.75, 1.5, 1.75};
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// Every edge and its neighbours in two binades, for an even and an odd scale code, and one edge in each of the others.
Blocks edges(const CaseContext& context) {
  const std::vector<double> significands = edge_significands(context.profile.element);
  const bool full = context.level == Level::full;
  std::vector<std::uint32_t> maxima;
  for (const int k : full ? binades(context.level, {}, 1) : std::vector<int>{2, 3}) {
    for (const double edge : significands) add_with_neighbours(maxima, word_of(std::ldexp(edge, k)), 1);
  }
  if (full || context.level == Level::smoke) return rows_of_maxima(context.profile, maxima);
  for (const int k : binades(context.level, {}, 37)) {
    maxima.push_back(word_of(std::ldexp(significands[maxima.size() % significands.size()], k)));
  }
  return rows_of_maxima(context.profile, maxima);
}

/// How many significands just under 2^k have a binary32 log2 that rounds to k.
int log2_traps_below(int k) {
  const float rounded = static_cast<float>(k);
  const double spacing = double{rounded} - double{std::nextafter(rounded, -infinity)};
  return static_cast<int>(std::floor(std::ldexp(spacing, 23) * std::log(2.0)));
}

/// Exponents with different counts of traps; just under a positive power of two the count is that of smaller exponents.
std::vector<int> log2_exponents(Level level) {
  if (level == Level::smoke) return {100};
  if (level == Level::full) return binades(level, {}, 1);
  return {-4, 12, 24, -32, 96, 64};
}

/// The last trap under a power of two, and the number under it, which is none.
Blocks log2_traps(const CaseContext& context) {
  std::vector<std::uint32_t> maxima;
  for (const int k : log2_exponents(context.level)) {
    const int last = log2_traps_below(k);
    for (const int ulps : {last, last + 1}) maxima.push_back(ulps_away(word_of(std::ldexp(1.0, k)), -ulps));
    if (context.level == Level::full) maxima.push_back(ulps_away(word_of(std::ldexp(1.0, k)), -1));
  }
  return rows_of_maxima(context.profile, maxima);
}

Blocks clamp_low(const CaseContext& context) {
  const int emax = element_spec(context.profile.element).emax;
  std::vector<std::uint32_t> maxima = {1, 2, 3, 0x003FFFFFU, 0x00400000U, 0x00400001U, 0x007FFFFFU, 0x00800000U};
  const int reach = context.level == Level::full ? 12 : 3;
  for (int code = -reach; code <= 2; ++code) {
    for (const double edge : edge_significands(context.profile.element)) {
      add_with_neighbours(maxima, word_of(std::ldexp(edge, code - e8m0_bias + emax)), 1);
    }
    maxima.push_back(word_of(std::ldexp(1.0, code - e8m0_bias + emax)));
  }
  return rows_of_maxima(context.profile, maxima);
}

Blocks clamp_high(const CaseContext& context) {
  std::vector<std::uint32_t> maxima = {0x7F7FFFFFU, 0x7F7FFFFEU, 0x7F7F0000U};
  for (const int k : {127, 126, 125}) {
    for (const double edge : edge_significands(context.profile.element)) {
      add_with_neighbours(maxima, word_of(std::ldexp(edge, k)), 1);
    }
    maxima.push_back(word_of(std::ldexp(1.0, k)));
  }
  return rows_of_maxima(context.profile, maxima);
}

Blocks reciprocal_multiply(const CaseContext& context) {
  const double largest = grid_values(context.profile.element).back();
  std::vector<std::uint32_t> maxima;
  const int step = context.level == Level::full ? 1 : context.level == Level::quick ? 4 : 8;
  for (int k = -149; k <= -118; k += step) {
    for (const double scale : {largest, largest * 1.5, largest * 0.6875}) {
      add_with_neighbours(maxima, word_of(std::ldexp(scale, k)), 1);
    }
  }
  for (const int k : {-20, 0, 60, 110}) add_with_neighbours(maxima, word_of(std::ldexp(largest, k)), 2);
  for (int k = -9; k <= 0; ++k) maxima.push_back(word_of(std::ldexp(largest * 1.5, k)));  // ties of the nearest scale
  return rows_of_maxima(context.profile, maxima);
}

Blocks subnormal_inputs(const CaseContext& context) {
  const Profile& profile = context.profile;
  Blocks rows;
  append_word_rows(profile,
                   Words{1, 0x80000001U, 2, 3, 0x000FFFFFU, 0x00100000U, 0x00100001U, 0x001FFFFFU, 0x00200000U,
                         0x00200001U, 0x80300000U, 0x80300001U, 0x003FFFFFU, 0x00400000U, 0x80400001U, 0x007FFFFFU},
                   0, rows);
  append_word_rows(profile, Words{1}, 0x80000000U, rows);
  append_word_rows(profile, Words{0x00800000U, 0x007FFFFFU, 0x807FFFFFU, 0x00400000U, 0x00200000U, 0x80100000U, 1}, 0,
                   rows);
  append_word_rows(profile, Words{0x3F800000U, 0x007FFFFFU, 0x807FFFFFU, 1, 0x80000001U}, 0x80000000U, rows);
  // The whole grid under the smallest scale, where the values themselves are subnormal.
  std::vector<Scaled> values;
  for (const double tie : grid_ties(profile.element)) {
    for (const int ulps : {-1, 0, 1}) values.push_back({ulps == 0 ? -tie : tie, ulps});
  }
  append_scaled_rows(profile, word_of(std::ldexp(grid_values(profile.element).back(), -e8m0_bias)), values, rows);
  return rows;
}

Blocks largest_finite(const CaseContext& context) {
  const Profile& profile = context.profile;
  const std::uint32_t largest = 0x7F7FFFFFU;
  Blocks rows;
  rows.push_back(Words(row_length(profile), largest));
  rows.push_back(Words(row_length(profile), negative(largest)));
  rows.push_back(row_of_maximum(profile, largest, 3));
  rows.push_back(row_with(profile, 0x3F800000U, 1, negative(largest)));
  rows.push_back(row_with(profile, 0x7F000000U, 2, largest));
  return rows;
}

/// Every finite bfloat16 magnitude as the largest of a block.
Blocks every_bf16_maximum(const CaseContext& context) {
  Blocks rows;
  if (context.level != Level::full) return rows;
  for (std::uint32_t high = 1; high < 0x7F80U; ++high) {
    rows.push_back(row_of_maximum(context.profile, high << 16, high));
  }
  return rows;
}

constexpr std::array scale_table = {
    CaseClass{"scale-powers", "The scale is wrong where the largest magnitude is a power of two or next to one.",
              Operation::quantize, any_profile, rows_of<powers>},
    CaseClass{"scale-edges",
              "The scale rule turns over at the wrong significand: another rule's threshold, or >= in place of >.",
              Operation::quantize, any_profile, rows_of<edges>},
    CaseClass{"log2-traps", "The scale comes from a binary32 log2, which is one too large just under powers of two.",
              Operation::quantize, is_mx, rows_of<log2_traps>},
    CaseClass{"scale-clamp-low",
              "Scales at the low end wrap, flush or take the reciprocal of scale code 0 for infinity.",
              Operation::quantize, any_profile, rows_of<clamp_low>},
    CaseClass{"scale-clamp-high",
              "A finite input gets the NaN scale, or the reciprocal of scale code 254 is flushed to zero.",
              Operation::quantize, any_profile, rows_of<clamp_high>},
    CaseClass{"reciprocal-multiply", "The rule divides and the kernel multiplies by a rounded reciprocal.",
              Operation::quantize, any_profile, rows_of<reciprocal_multiply>},
    CaseClass{"subnormal-inputs", "Subnormal inputs are flushed, or their low bits lost in a shift.",
              Operation::quantize, any_profile, rows_of<subnormal_inputs>},
    CaseClass{"largest-finite", "The largest finite inputs overflow on the way to their codes.", Operation::quantize,
              any_profile, rows_of<largest_finite>},
    CaseClass{"every-bf16-maximum", "The scale is wrong for some bfloat16 maximum that no other class thought of.",
              Operation::quantize, has_row_blocks, rows_of<every_bf16_maximum>},
};

}  // namespace

std::span<const CaseClass> scale_classes() { return scale_table; }

}  // namespace fp4proof::suite
