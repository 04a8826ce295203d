// The same question at every place of a block, in one case: kernels work in lanes, and one of them may be wrong.

#include <array>
#include <cmath>
#include <functional>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"

namespace fp4proof::suite {

namespace {

/// A matrix of rows of one block.
std::vector<CaseInput> case_of(const Profile& profile, const Blocks& rows) {
  GroupSpec spec = block_spec(profile);
  spec.rows = static_cast<std::int64_t>(rows.size());
  Words words;
  for (const Words& row : rows) words.insert(words.end(), row.begin(), row.end());
  return {matrix_case(spec, words)};
}

/// One row for each place.
std::vector<CaseInput> at_each_place(const CaseContext& context, const std::function<Words(std::size_t)>& row_at) {
  if (context.level == Level::smoke) return {};
  Blocks rows;
  for (std::size_t place = 0; place < row_length(context.profile); ++place) rows.push_back(row_at(place));
  return case_of(context.profile, rows);
}

/// Values of both signs that change from place to place, far from the ends.
Words ordinary_row(const Profile& profile, std::size_t turn) {
  Words row;
  for (std::size_t i = 0; i < row_length(profile); ++i) {
    const double value = 1.0 + static_cast<double>((7 * i + 3 * turn) % 16) / 16.0;
    row.push_back(word_of((i + turn) % 2 == 0 ? value : -value));
  }
  return row;
}

/// Ties that go down to even and ties that go up, everywhere but at the largest element, which stands at either end.
std::vector<CaseInput> ties(const CaseContext& context) {
  if (context.level == Level::smoke) return {};
  const Profile& profile = context.profile;
  const std::uint32_t amax = anchors(context).front();
  const double unit = grid_unit(profile, amax);
  const std::vector<double> grid_tie = grid_ties(profile.element);
  Blocks rows;
  for (const double tie : {grid_tie[1], grid_tie[2]}) {
    for (const bool at_start : {true, false}) {
      Words row;
      for (std::size_t i = 0; i < row_length(profile); ++i) row.push_back(word_of((i % 2 == 0 ? tie : -tie) * unit));
      (at_start ? row.front() : row.back()) = amax;
      rows.push_back(std::move(row));
    }
  }
  return case_of(profile, rows);
}

std::vector<CaseInput> maxima(const CaseContext& context) {
  return at_each_place(context, [&](std::size_t place) {
    Words row = ordinary_row(context.profile, place);
    row[place] = word_of(place % 2 == 0 ? 20.0 : -20.0);
    return row;
  });
}

std::vector<CaseInput> not_numbers(const CaseContext& context) {
  return at_each_place(context, [&](std::size_t place) {
    Words row = ordinary_row(context.profile, place);
    row[place] = place % 2 == 0 ? 0x7FC00000U : 0xFF800001U;
    return row;
  });
}

std::vector<CaseInput> infinities(const CaseContext& context) {
  return at_each_place(context, [&](std::size_t place) {
    Words row = ordinary_row(context.profile, place);
    row[place] = place % 2 == 0 ? 0x7F800000U : 0xFF800000U;
    return row;
  });
}

/// Stated random words go with single blocks, so stochastic profiles are left out.
constexpr bool has_plain_rows(const Profile& profile) { return has_row_blocks(profile) && is_deterministic(profile); }

constexpr std::array lane_table = {
    CaseClass{"lane-ties", "At some places of a block ties go another way.", Operation::quantize, has_plain_rows, ties},
    CaseClass{"lane-maxima", "A place of the block does not count for the scale.", Operation::quantize, has_plain_rows,
              maxima},
    CaseClass{"lane-nan", "A NaN is lost at some places of a block.", Operation::quantize, has_plain_rows, not_numbers},
    CaseClass{"lane-infinity", "An infinity is lost at some places of a block.", Operation::quantize, has_plain_rows,
              infinities},
};

}  // namespace

std::span<const CaseClass> lane_classes() { return lane_table; }

}  // namespace fp4proof::suite
