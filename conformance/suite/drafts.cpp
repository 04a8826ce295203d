#include "conformance/suite/drafts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "formats/block_codec.h"
#include "formats/float_bits.h"

namespace fp4proof::suite {

namespace {

constexpr std::uint32_t largest_finite = 0x7F7FFFFFU;

double double_of(const Magnitude& m) { return std::ldexp(static_cast<double>(m.significand), m.exponent); }

std::vector<int> exponents(Level level, Family family) {
  if (level == Level::smoke) return {0};
  if (level == Level::quick) {
    return family == Family::mx ? std::vector<int>{0, -13, 96} : std::vector<int>{0, -13, 11};
  }
  std::vector<int> all;
  const int lowest = family == Family::mx ? -120 : -44;
  const int highest = family == Family::mx ? 110 : 14;
  for (int e = lowest; e <= highest; e += family == Family::mx ? 10 : 4) all.push_back(e);
  all.push_back(0);
  return all;
}

/// MX: the element's largest value, its largest power of two, and the step above that.
void add_mx_anchors(const CaseContext& context, std::vector<std::uint32_t>& words) {
  const ElementSpec spec = element_spec(context.profile.element);
  const double largest = double_of(element_magnitude(spec, spec.max_code));
  const double power = std::ldexp(1.0, spec.emax);
  for (const int e : exponents(context.level, Family::mx)) {
    words.push_back(word_of(std::ldexp(largest, e)));
    if (context.level != Level::smoke) words.push_back(word_of(std::ldexp(power, e)));
    if (context.level == Level::full) words.push_back(word_of(std::ldexp(power * 1.25, e)));
  }
}

/// HiF4: seven times each mantissa of E6M2.
void add_hif4_anchors(const CaseContext& context, std::vector<std::uint32_t>& words) {
  for (const int e : exponents(context.level, Family::hif4)) {
    for (int mantissa = 0; mantissa < 4; ++mantissa) words.push_back(word_of(std::ldexp(7.0 * (4 + mantissa), e - 2)));
  }
}

/// NVFP4: six times a spread of E4M3 scales, the ends included.
void add_nvfp4_anchors(const CaseContext& context, std::vector<std::uint32_t>& words) {
  std::vector<std::uint8_t> codes = {0x38, 0x01, 0x7E};
  if (context.level != Level::smoke) codes = {0x38, 0x01, 0x7E, 0x39, 0x3F, 0x07, 0x08, 0x50};
  if (context.level == Level::full) {
    codes.clear();
    for (std::uint8_t code = 1; code <= e4m3_scale_max; ++code) codes.push_back(code);
  }
  for (const std::uint8_t code : codes) words.push_back(word_of(6.0 * double{decode_e4m3_scale(code)}));
}

std::uint32_t word_at(const Scaled& scaled, double unit) {
  return ulps_away(word_of(scaled.value * unit), scaled.ulps);
}

bool fits(std::uint32_t word, std::uint32_t amax) { return (word & float_magnitude_mask) <= amax; }

void append_flat_rows(const Profile& profile, std::uint32_t amax, std::span<const Scaled> values, Blocks& rows) {
  const double unit = grid_unit(profile, amax);
  const std::size_t length = row_length(profile);
  Words row;
  const auto flush = [&] {
    row.resize(length - 1, 0);
    // The maximum moves from row to row, so that it is not only found at the front.
    row.insert(row.begin() + static_cast<std::ptrdiff_t>((7 * rows.size()) % length), amax);
    rows.push_back(std::exchange(row, {}));
  };
  for (const Scaled& scaled : values) {
    const std::uint32_t word = word_at(scaled, unit);
    if (!fits(word, amax)) continue;
    row.push_back(word);
    if (row.size() == length - 1) flush();
  }
  if (!row.empty()) flush();
}

/// One combination of micro-exponents: which sixteenths of a group carry it and what raises them there.
struct MicroSlots {
  std::array<int, 4> sixteenths;
  double raiser;  ///< a scaled magnitude that sets the bits, 0 where none is needed
  int levels;     ///< sum of the two bits
};

/// Eighths 0 2 4 6 have their level-2 bit set by the raiser in their first sixteenth, eighths 1 3 5 7 have not.
constexpr std::array<MicroSlots, 4> micro_slots = {{
    {{0, 4, 8, 12}, 4.5, 2},
    {{1, 5, 9, 13}, 0.0, 1},
    {{2, 6, 10, 14}, 2.5, 1},
    {{3, 7, 11, 15}, 0.0, 0},
}};

void append_hif4_rows(const Profile& profile, std::uint32_t amax, std::span<const Scaled> values, Blocks& rows) {
  const double unit = grid_unit(profile, amax);
  constexpr std::size_t slots = 12;  // three of each sixteenth, beside its raiser
  for (std::size_t begin = 0; begin < values.size(); begin += slots) {
    Words row(row_length(profile), 0);
    for (const MicroSlots& micro : micro_slots) {
      for (const int sixteenth : micro.sixteenths) {
        row[static_cast<std::size_t>(4 * sixteenth)] = word_of(micro.raiser * unit);
      }
      for (std::size_t k = begin; k < std::min(begin + slots, values.size()); ++k) {
        const auto sixteenth = static_cast<std::size_t>(micro.sixteenths[(k - begin) / 3]);
        const Scaled raised = {std::ldexp(values[k].value, micro.levels), values[k].ulps};
        const std::uint32_t word = word_at(raised, unit);
        if (fits(word, amax)) row[4 * sixteenth + 1 + (k - begin) % 3] = word;
      }
    }
    row[0] = amax;
    rows.push_back(std::move(row));
  }
}

std::uint32_t row_maximum(const Words& row) {
  std::uint32_t maximum = 0;
  for (const std::uint32_t word : row) maximum = std::max(maximum, word & float_magnitude_mask);
  return maximum;
}

std::vector<CaseInput> blocks_of_rows(const Profile& profile, const Blocks& rows, const Blocks& random) {
  std::vector<CaseInput> cases;
  cases.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cases.push_back(matrix_case(block_spec(profile), rows[i], random.empty() ? Words{} : random[i]));
  }
  return cases;
}

/// Rows begin .. end - 1 over and over until the tile is full.
Words tile_of_rows(const Profile& profile, const Blocks& rows, std::size_t begin, std::size_t end) {
  Words tile;
  if (rows.empty()) return tile;
  for (std::size_t r = 0; r < profile.block.rows; ++r) {
    const Words& row = rows[begin + r % (end - begin)];
    tile.insert(tile.end(), row.begin(), row.end());
  }
  return tile;
}

std::vector<CaseInput> tiles_of_rows(const Profile& profile, const Blocks& rows, const Blocks& random) {
  const std::size_t most = profile.block.rows;
  std::vector<CaseInput> cases;
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin + 1;
    while (end < rows.size() && end - begin < most && row_maximum(rows[end]) == row_maximum(rows[begin])) ++end;
    cases.push_back(matrix_case(block_spec(profile), tile_of_rows(profile, rows, begin, end),
                                tile_of_rows(profile, random, begin, end)));
    begin = end;
  }
  return cases;
}

constexpr std::size_t rows_per_tensor = 8;

/// 2688 * 2^e, not below any finite magnitude: it makes the tensor scale 2^e.
std::uint32_t tensor_anchor(std::span<const Words> rows) {
  std::uint32_t maximum = word_of(2688.0);
  for (const Words& row : rows) {
    for (const std::uint32_t word : row)
      if (is_finite_bits(word)) maximum = std::max(maximum, word & float_magnitude_mask);
  }
  double anchor = 2688.0;
  while (word_of(anchor) < maximum && anchor < 0x1p127) anchor *= 2.0;
  return std::min(word_of(anchor), largest_finite);
}

std::vector<CaseInput> tensors_of_rows(const Profile& profile, const Blocks& rows) {
  GroupSpec spec = block_spec(profile);
  spec.columns *= static_cast<std::int64_t>(rows_per_tensor);
  std::vector<CaseInput> cases;
  for (std::size_t begin = 0; begin < rows.size(); begin += rows_per_tensor - 1) {
    const std::size_t count = std::min(rows_per_tensor - 1, rows.size() - begin);
    const std::span<const Words> taken(&rows[begin], count);
    Words words;
    for (const Words& row : taken) words.insert(words.end(), row.begin(), row.end());
    words.resize((rows_per_tensor - 1) * row_length(profile), 0);
    words.push_back(tensor_anchor(taken));
    words.resize(rows_per_tensor * row_length(profile), 0);
    cases.push_back(matrix_case(spec, words));
  }
  return cases;
}

}  // namespace

std::uint32_t word_of(double value) { return float_bits(static_cast<float>(value)); }

std::uint32_t ulps_away(std::uint32_t word, int ulps) {
  const std::int64_t magnitude = std::int64_t{word & float_magnitude_mask} + ulps;
  const std::int64_t held = std::clamp(magnitude, std::int64_t{0}, std::int64_t{largest_finite});
  return static_cast<std::uint32_t>(held) | (word & float_sign_mask);
}

double grid_unit(const Profile& profile, std::uint32_t amax) {
  BlockScan scan;
  scan.amax_bits = amax;
  switch (profile.family) {
    case Family::mx: {
      const std::uint8_t code = mx_block_scale(profile, scan);
      return code == e8m0_nan ? 0.0 : std::ldexp(1.0, int{code} - e8m0_bias);
    }
    case Family::hif4: {
      const std::uint8_t code = hif4_scale_code(profile, amax);
      return profile.reciprocal == Reciprocal::exact ? double_of(e6m2_magnitude(code))
                                                     : 1.0 / double_of(e6m2_reciprocal_bf16(code));
    }
    case Family::nvfp4: return double{decode_e4m3_scale(nvfp4_scale_code(amax, 1.0F))};
  }
  return 0.0;
}

std::vector<std::uint32_t> anchors(const CaseContext& context) {
  std::vector<std::uint32_t> words;
  switch (context.profile.family) {
    case Family::mx: add_mx_anchors(context, words); break;
    case Family::hif4: add_hif4_anchors(context, words); break;
    case Family::nvfp4: add_nvfp4_anchors(context, words); break;
  }
  return words;
}

void append_scaled_rows(const Profile& profile, std::uint32_t amax, std::span<const Scaled> values, Blocks& rows) {
  if (profile.family == Family::hif4) {
    append_hif4_rows(profile, amax, values, rows);
  } else {
    append_flat_rows(profile, amax, values, rows);
  }
}

void append_word_rows(const Profile& profile, std::span<const std::uint32_t> words, std::uint32_t filler,
                      Blocks& rows) {
  const std::size_t length = row_length(profile);
  for (std::size_t begin = 0; begin < words.size(); begin += length) {
    const auto part = words.subspan(begin, std::min(length, words.size() - begin));
    Words row(part.begin(), part.end());
    row.resize(length, filler);
    rows.push_back(std::move(row));
  }
}

Words row_with(const Profile& profile, std::uint32_t fill, std::size_t position, std::uint32_t word) {
  Words row(row_length(profile), fill);
  row[position] = word;
  return row;
}

std::vector<double> grid_values(Element element) {
  const ElementSpec spec = element_spec(element);
  std::vector<double> values;
  for (int code = 0; code <= spec.max_code; ++code) {
    values.push_back(double_of(element_magnitude(spec, static_cast<std::uint8_t>(code))));
  }
  return values;
}

std::vector<double> grid_ties(Element element) {
  const std::vector<double> values = grid_values(element);
  std::vector<double> ties;
  for (std::size_t i = 1; i < values.size(); ++i) ties.push_back((values[i - 1] + values[i]) / 2);
  // Where the next value would stand if the grid went on: rounding there must saturate.
  ties.push_back(values.back() + (values.back() - values[values.size() - 2]) / 2);
  return ties;
}

std::vector<CaseInput> cases_of_rows(const Profile& profile, const Blocks& rows, const Blocks& random) {
  if (profile.block.is_2d()) return tiles_of_rows(profile, rows, random);
  if (profile.tensor_scale) return tensors_of_rows(profile, rows);
  return blocks_of_rows(profile, rows, random);
}

GroupSpec block_spec(const Profile& profile) {
  GroupSpec spec;
  spec.rows = profile.block.rows;
  spec.columns = profile.block.cols;
  return spec;
}

CaseInput matrix_case(const GroupSpec& spec, const Words& words, const Words& random) {
  CaseInput input;
  input.spec = spec;
  input.tensors.emplace("input", bytes_of_words(words));
  if (!random.empty()) input.tensors.emplace("random", bytes_of_words(random));
  return input;
}

Words transposed(std::span<const std::uint32_t> words, std::size_t rows, std::size_t columns) {
  Words result(words.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) result[c * rows + r] = words[r * columns + c];
  }
  return result;
}

std::vector<std::uint8_t> bytes_of_words(std::span<const std::uint32_t> words) {
  const Bytes bytes = fp4proof::bytes_of(words);
  return {bytes.begin(), bytes.end()};
}

}  // namespace fp4proof::suite
