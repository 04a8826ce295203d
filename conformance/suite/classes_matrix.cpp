// Matrices: widths that do not divide, other axes, layouts of codes and scales.

#include <array>
#include <cmath>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"
#include "conformance/suite/shared_rules.h"
#include "formats/scale_codes.h"

namespace fp4proof::suite {

namespace {

/// One profile of each format: layouts do not depend on the rounding rules.
bool is_first_of_format(const Profile& profile) {
  return representative(Operation::dequantize, profile).name == profile.name;
}

/// Stated random words go with single blocks, so stochastic profiles are left out.
bool is_first_of_format_or_2d(const Profile& profile) {
  return is_deterministic(profile) && (is_first_of_format(profile) || profile.block.is_2d());
}

GroupSpec matrix_spec(std::int64_t rows, std::int64_t columns, int axis, portable::Tail tail) {
  GroupSpec spec;
  spec.rows = rows;
  spec.columns = columns;
  spec.axis = axis;
  spec.tail = tail;
  return spec;
}

/// Normal numbers, every row at another magnitude.
CaseInput normal_matrix(const GroupSpec& spec, CaseRandom& random) {
  Words words;
  for (std::int64_t r = 0; r < spec.rows; ++r) {
    const int binade = static_cast<int>(random.below(9)) - 4;
    for (std::int64_t c = 0; c < spec.columns; ++c) words.push_back(word_of(std::ldexp(random.normal(), binade)));
  }
  return matrix_case(spec, words);
}

std::vector<CaseInput> odd_widths(const CaseContext& context) {
  const std::int64_t length = context.profile.block.cols;
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  std::vector<std::array<std::int64_t, 2>> shapes = {{1, 1}, {2, length + 1}};
  if (context.level != Level::smoke) shapes.insert(shapes.end(), {{3, length - 1}, {2, 2 * length + 5}, {5, 7}});
  if (context.profile.block.is_2d()) {
    shapes = {{length + 3, 5}};
    if (context.level == Level::full) shapes.insert(shapes.end(), {{5, length + 7}, {1, 1}, {length - 1, length - 1}});
  }
  for (const auto& [rows, columns] : shapes) {
    cases.push_back(normal_matrix(matrix_spec(rows, columns, 1, portable::Tail::pad), random));
    if (context.level == Level::smoke || context.profile.block.is_2d()) continue;
    cases.push_back(normal_matrix(matrix_spec(columns, rows, 0, portable::Tail::pad), random));
  }
  return cases;
}

std::vector<CaseInput> first_axis(const CaseContext& context) {
  const std::int64_t length = context.profile.block.cols;
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  const std::int64_t columns = context.profile.block.is_2d() ? length : 3;
  cases.push_back(normal_matrix(matrix_spec(length, columns, 0, portable::Tail::error), random));
  if (context.level == Level::smoke || context.profile.block.is_2d()) return cases;
  cases.push_back(normal_matrix(matrix_spec(2 * length, 5, 0, portable::Tail::error), random));
  return cases;
}

/// A tile and its transpose: their results must be transposes of each other.
std::vector<CaseInput> transposed_pairs(const CaseContext& context) {
  const std::size_t length = row_length(context.profile);
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  for (std::size_t turn = 0; turn < context.wanted; turn += 2) {
    Words words;
    for (std::size_t i = 0; i < length * length; ++i) {
      const int binade = static_cast<int>(i / length % 5) - static_cast<int>(i % 7);
      words.push_back(word_of(std::ldexp(random.normal(), binade)));
    }
    cases.push_back(matrix_case(block_spec(context.profile), words));
    cases.push_back(matrix_case(block_spec(context.profile), transposed(words, length, length)));
  }
  return cases;
}

/// A block maximum that gives each block of a matrix its own scale: powers of two, or the codes of E4M3 in turn.
double distinct_scale(const Profile& profile, std::int64_t index) {
  if (profile.family == Family::nvfp4)
    return 6.0 * double{decode_e4m3_scale(static_cast<std::uint8_t>(1 + index % 126))};
  const int range = profile.family == Family::hif4 ? 60 : 230;
  return std::ldexp(1.0, static_cast<int>(index * 7 % range) - range / 2);
}

/// Ones as data: every output then names the scale that it was given. 34 rows and 5 blocks cross the seams of the
/// tiled layouts.
std::vector<CaseInput> scale_layout(const CaseContext& context) {
  std::vector<CaseInput> cases;
  if (context.level == Level::smoke) return cases;
  const std::int64_t length = context.profile.block.cols;
  const std::int64_t rows = context.level == Level::full ? 131 : 34;
  const std::int64_t blocks = 5;
  Words words;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      words.insert(words.end(), static_cast<std::size_t>(length),
                   word_of(distinct_scale(context.profile, r * blocks + b)));
    }
  }
  cases.push_back(matrix_case(matrix_spec(rows, blocks * length, 1, portable::Tail::error), words));
  return cases;
}

/// Every code next to every other, so that swapped or split nibbles and moved bytes show.
Blocks distinct_codes(const CaseContext& context) {
  const std::vector<double> grid = grid_values(context.profile.element);
  const std::size_t length = row_length(context.profile);
  const std::uint32_t amax = anchors(context).front();
  const double unit = grid_unit(context.profile, amax);
  Blocks rows;
  for (std::size_t turn = 0; turn < 4; ++turn) {
    Words row;
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t index = (i * (2 * turn + 1) + i / grid.size() * 3 + turn) % grid.size();
      const std::uint32_t word = word_of(grid[index] * unit);
      row.push_back((i / 3 + turn) % 2 == 0 ? word : negative(word));
    }
    row[turn * 5 % length] = amax;
    rows.push_back(std::move(row));
  }
  return rows;
}

constexpr bool is_2d(const Profile& profile) { return profile.block.is_2d(); }

constexpr std::array matrix_table = {
    CaseClass{"odd-widths", "An incomplete last block is dropped, read past its end, or padded with something else.",
              Operation::quantize, is_first_of_format_or_2d, odd_widths},
    CaseClass{"first-axis", "Blocks run along the last axis although another was asked for.", Operation::quantize,
              is_first_of_format_or_2d, first_axis},
    CaseClass{"transposed-pairs", "Quantizing the transpose does not give the transpose.", Operation::quantize, is_2d,
              transposed_pairs},
    CaseClass{"scale-layout", "A scale is stored at, or read from, the place of another block.", Operation::quantize,
              is_first_of_format, scale_layout},
    CaseClass{"distinct-codes", "Nibbles are swapped or split, or bytes stand at the place of others.",
              Operation::quantize, any_profile, rows_of<distinct_codes>},
};

}  // namespace

std::span<const CaseClass> matrix_classes() { return matrix_table; }

}  // namespace fp4proof::suite
