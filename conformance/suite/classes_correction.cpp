// Corrected tensors and products of them.

#include <algorithm>
#include <array>
#include <cmath>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"
#include "reference/portable/correct.h"

namespace fp4proof::suite {

namespace {

using Names = std::vector<std::string_view>;

/// The profiles that corrections are published for, or that a user would combine with them.
bool takes_corrections(const Profile& profile) {
  constexpr auto names =
      std::to_array<std::string_view>({"mxfp4/ocp", "mxfp4/rceil", "mxfp4/even", "mxfp4-2d/rceil", "mxfp8-e4m3/rceil",
                                       "hif4/gcc", "hif4/exact", "nvfp4/direct"});
  return std::ranges::find(names, profile.name) != names.end();
}

bool takes(const Profile& profile, std::string_view stack) {
  return portable::check_stack(profile, *find_correction_stack(stack)).ok();
}

bool takes_macro(const Profile& profile) {
  return takes_corrections(profile) && (takes(profile, "mbs") || takes(profile, "mbs-divide"));
}
bool takes_residual(const Profile& profile) { return takes_corrections(profile) && !profile.block.is_2d(); }
bool takes_tiles(const Profile& profile) { return takes_corrections(profile) && takes(profile, "tile-8"); }
bool takes_hadamard(const Profile& profile) { return takes_corrections(profile) && takes(profile, "hadamard-16"); }
bool takes_three_quarters(const Profile& profile) {
  return takes_corrections(profile) && takes(profile, "three-quarters");
}

const Names macro_stacks = {"mbs", "mbs-64", "mbs-32", "mbs-divide"};
const Names row_masks = {"resq", "rfq", "fallback"};
const Names batch_masks = {"resq-channels", "resq-tiles", "rfq-max", "rfq-l2", "rfq-theta"};

/// Words of a matrix and the shape that goes with them.
struct Draft {
  std::int64_t rows;
  std::int64_t columns;
  Words words;
};

CaseInput corrected_case(const Draft& draft, std::string_view stack, portable::Tail tail = portable::Tail::error,
                         int axis = 1) {
  GroupSpec spec;
  spec.rows = draft.rows;
  spec.columns = draft.columns;
  spec.axis = axis;
  spec.tail = tail;
  spec.correction = stack;
  return matrix_case(spec, draft.words);
}

/// One case of the draft for each stack that the profile takes.
void add_stacks(const Profile& profile, const Draft& draft, const Names& stacks, std::vector<CaseInput>& cases,
                portable::Tail tail = portable::Tail::error) {
  for (const std::string_view stack : stacks)
    if (takes(profile, stack)) cases.push_back(corrected_case(draft, stack, tail));
}

/// A row of `columns` words of one value.
Draft constant_row(std::int64_t columns, std::uint32_t word) {
  return {1, columns, Words(static_cast<std::size_t>(columns), word)};
}

/// Normal numbers; every eighth element is `gain` times larger.
Draft normal_draft(CaseRandom& random, std::int64_t rows, std::int64_t columns, double gain = 1.0) {
  Draft draft{rows, columns, {}};
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    draft.words.push_back(word_of(random.normal() * (i % 8 == 3 ? gain : 1.0)));
  }
  return draft;
}

/// How many rows a 2D profile needs, and one row otherwise.
std::int64_t rows_of_macro(const Profile& profile) { return profile.block.is_2d() ? 32 : 1; }

// --- Macro-block scaling ---------------------------------------------------------------------------------------------

/// Largest magnitudes M whose factor is hard: exact factors, the words around them, and quotients that round up.
std::vector<CaseInput> macro_edges(const CaseContext& context) {
  const double largest = grid_values(context.profile.element).back();
  std::vector<std::uint32_t> maxima;
  for (const double factor : {1.9921875, 1.00390625, 1.0, 1.5, 1.99609375}) {
    const std::uint32_t word = word_of(largest / factor);
    for (const int ulps : {0, -1, 1}) maxima.push_back(ulps_away(word, ulps));
  }
  for (const double value : {1.0, 6.0, 448.0, 7.0, 0x1.FFFFFEp+0, 0x1.800002p+2, 0x1p-120, 0x1.8p+127}) {
    maxima.push_back(word_of(value));
  }
  std::vector<CaseInput> cases;
  const std::int64_t rows = rows_of_macro(context.profile);
  for (const std::uint32_t maximum : maxima) {
    Draft draft{rows, 128, Words(static_cast<std::size_t>(rows * 128), 0)};
    for (std::size_t k = 0; k < draft.words.size(); ++k) {
      const double part = static_cast<double>(1 + k * 7 % 29) / 30.0;
      draft.words[k] = word_of(double{float_from_bits(maximum)} * part * (k % 3 == 0 ? -1.0 : 1.0));
    }
    draft.words[119] = maximum;  // in the last part of its macro block, whatever the size
    add_stacks(context.profile, draft, macro_stacks, cases);
  }
  return cases;
}

std::vector<CaseInput> macro_tails(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  const std::int64_t rows = context.profile.block.is_2d() ? 32 : 2;
  for (const std::int64_t columns : {std::int64_t{160}, std::int64_t{32}, std::int64_t{96}}) {
    add_stacks(context.profile, normal_draft(random, rows, columns, 9.0), macro_stacks, cases);
  }
  add_stacks(context.profile, normal_draft(random, rows, 133, 9.0), macro_stacks, cases, portable::Tail::pad);
  return cases;
}

/// An all-zero macro block, a zero block in one, and maxima so small that 6 / M is infinite.
std::vector<CaseInput> macro_zeros(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  const std::int64_t rows = rows_of_macro(context.profile);
  Draft draft = normal_draft(random, rows, 256);
  for (std::size_t k = 0; k < draft.words.size(); ++k) {
    if (k % 256 >= 96) draft.words[k] &= 0x80000000U;
  }
  add_stacks(context.profile, draft, macro_stacks, cases);
  draft = normal_draft(random, rows, 128);
  for (std::uint32_t& word : draft.words) word = (word & 0x80000000U) | (word >> 9 & 0x3FFFFFU);
  add_stacks(context.profile, draft, macro_stacks, cases);
  return cases;
}

std::vector<CaseInput> macro_specials(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  const std::int64_t rows = rows_of_macro(context.profile);
  for (const std::uint32_t special : {0x7FC00000U, 0xFF800000U}) {
    for (const std::size_t place : {std::size_t{40}, std::size_t{127}}) {
      Draft draft = normal_draft(random, rows, 128, 5.0);
      draft.words[place] = special;
      add_stacks(context.profile, draft, {"mbs", "mbs-divide"}, cases);
    }
  }
  return cases;
}

// --- Residual --------------------------------------------------------------------------------------------------------

std::int64_t residual_columns(const Profile& profile) { return profile.block.cols == 16 ? 32 : 64; }

/// Elements of a group of four at equal distances from their code: which two are kept?
std::vector<CaseInput> mask_ties(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  const std::vector<double> parts = {0.0, 0.21, 0.29, -0.21, 0.54, 0.46, -0.54};
  for (int variant = 0; variant < 6; ++variant) {
    Draft draft = constant_row(residual_columns(context.profile), 0);
    for (std::size_t k = 0; k < draft.words.size(); ++k) {
      const double part = variant == 0 ? 0.21 : parts[random.below(static_cast<std::uint32_t>(parts.size()))];
      draft.words[k] = word_of(part * 4.0) & 0xFFFF0000U;
    }
    draft.words[static_cast<std::size_t>(variant) * 5] = word_of(6.0);
    add_stacks(context.profile, draft, {"resq", "hadamard-16+resq"}, cases);
  }
  return cases;
}

/// Values beyond the largest element under their scale leave a residual as large as they clip.
std::vector<CaseInput> saturated_residuals(const CaseContext& context) {
  std::vector<CaseInput> cases;
  const double gain = context.profile.family == Family::nvfp4 ? 512.0 : 1.0;  // its scales clip beyond 448
  for (const double largest : {7.9375, 7.75, 7.0, 6.5}) {
    Draft draft = constant_row(residual_columns(context.profile), word_of(0.3 * gain));
    for (std::size_t k = 0; k < draft.words.size(); k += 3) draft.words[k] = word_of(-largest * gain);
    draft.words[5] = word_of(largest * gain);
    add_stacks(context.profile, draft, row_masks, cases);
  }
  return cases;
}

/// Residuals whose scale is the lowest there is: half of it cannot be folded into the scale.
std::vector<CaseInput> lowest_residuals(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  const int lowest = context.profile.family == Family::mx ? -127 : context.profile.family == Family::hif4 ? -48 : -7;
  for (int binade = lowest; binade < lowest + 6; ++binade) {
    Draft draft = normal_draft(random, 1, residual_columns(context.profile));
    for (std::uint32_t& word : draft.words) {
      word = word_of(std::ldexp(double{float_from_bits(word)}, binade));
    }
    add_stacks(context.profile, draft, {"fallback", "resq"}, cases);
  }
  return cases;
}

std::vector<CaseInput> special_residuals(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  for (const std::uint32_t special : {0x7FC00000U, 0x7F800000U, 0x80000000U}) {
    Draft draft = normal_draft(random, 1, 2 * residual_columns(context.profile), 6.0);
    draft.words[9] = special;
    add_stacks(context.profile, draft, row_masks, cases);
  }
  return cases;
}

/// Masks that look at more than one row, at matrix edges: equal channels, and a second tile with the largest element
/// but small residuals.
std::vector<CaseInput> batch_mask_cases(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  Draft draft = normal_draft(random, 5, 128, 12.0);
  for (std::size_t row = 0; row < 5; ++row) {
    const auto begin = draft.words.begin() + static_cast<std::ptrdiff_t>(row * 128);
    std::copy_n(begin, 32, begin + 32);
    for (auto word = begin + 64; word != begin + 128; ++word) {
      *word = word_of(double{float_from_bits(*word)} * (word == begin + 70 ? 2.0 : 0.25));
    }
  }
  draft.words[100] = word_of(96.0);
  add_stacks(context.profile, draft, batch_masks, cases);
  // Three tiles, of which two are kept; the last one reaches the threshold of rfq-theta and does not exceed it.
  Draft three = normal_draft(random, 1, 192, 12.0);
  for (auto word = three.words.begin() + 128; word != three.words.end(); ++word) *word = word_of(0.875);
  three.words[130] = word_of(8.0);
  add_stacks(context.profile, three, {"rfq-theta", "rfq-l2", "rfq-max"}, cases);
  if (context.level == Level::full) {
    add_stacks(context.profile, normal_draft(random, 70, 192, 12.0), batch_masks, cases);
  }
  return cases;
}

// --- Tiles, stochastic rounding, three-quarters ----------------------------------------------------------------------

/// Matrices that do not fill their last tiles.
std::vector<CaseInput> tile_edges(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  const auto with_large_ends = [&](Draft draft) {
    for (std::int64_t row = 0; row < draft.rows; ++row) {
      std::uint32_t& word = draft.words[static_cast<std::size_t>(row * draft.columns)];
      word = word_of(double{float_from_bits(word)} * 64.0);  // what follows the row above
    }
    return draft;
  };
  const Draft small = with_large_ends(normal_draft(random, 11, 13, 7.0));
  add_stacks(context.profile, small, {"tile-8", "tile-16"}, cases, portable::Tail::pad);
  if (context.level == Level::smoke) return cases;
  const Draft wide = with_large_ends(normal_draft(random, 5, 40, 7.0));
  add_stacks(context.profile, wide, {"tile-8", "tile-32", "tile-64"}, cases, portable::Tail::pad);
  return cases;
}

/// A tile along one axis and along the other with the same random words: the same codes, transposed.
std::vector<CaseInput> one_draw(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  const Draft draft = normal_draft(random, 32, 32, 4.0);
  Words words;
  for (std::size_t i = 0; i < draft.words.size(); ++i) words.push_back(random.word());
  for (const int axis : {0, 1}) {
    CaseInput input = corrected_case(draft, "tile-32-sr", portable::Tail::error, axis);
    input.tensors.emplace("random", bytes_of_words(words));
    cases.push_back(std::move(input));
  }
  CaseInput flipped = corrected_case({32, 32, transposed(draft.words, 32, 32)}, "tile-32-sr");
  flipped.tensors.emplace("random", bytes_of_words(transposed(words, 32, 32)));
  cases.push_back(std::move(flipped));
  return cases;
}

/// Significands of the maximum over the whole binade: 3/4 belongs under the scale of x, not of 3/4 x.
std::vector<CaseInput> three_quarter_ranges(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  for (const double significand : {1.0, 1.25, 1.3125, 1.34375, 1.5, 1.75, 1.9921875}) {
    Draft draft = constant_row(32, 0);
    for (std::size_t k = 0; k < draft.words.size(); ++k) {
      draft.words[k] = word_of(4.0 * significand * static_cast<double>(k) / 31.0 * (random.coin() ? 1.0 : -1.0));
    }
    add_stacks(context.profile, draft, {"three-quarters", "three-quarters-rn"}, cases);
  }
  return cases;
}

// --- Hadamard --------------------------------------------------------------------------------------------------------

const Names hadamard_stacks = {"hadamard-16", "hadamard-64", "hadamard-16-plain", "hadamard-16-fresh"};

/// One nonzero element each: the transform of it is a row of the matrix, signs and all.
std::vector<CaseInput> hadamard_units(const CaseContext& context) {
  std::vector<CaseInput> cases;
  for (const std::size_t place : {std::size_t{0}, std::size_t{5}, std::size_t{63}}) {
    Draft draft = constant_row(64, 0);
    draft.words[place] = word_of(4.0);
    add_stacks(context.profile, draft, hadamard_stacks, cases);
  }
  return cases;
}

/// Small integers, a unit in the last place off here and there: their transform lies at ties of the element or next to
/// them, and how the sums are rounded decides.
std::vector<CaseInput> hadamard_orders(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  for (std::size_t i = 0; i < std::max<std::size_t>(context.wanted / 4, 1); ++i) {
    Draft draft = constant_row(64, 0);
    for (std::uint32_t& word : draft.words) {
      word = ulps_away(word_of(static_cast<double>(1 + random.below(8))), static_cast<int>(random.below(3)) - 1);
      if (random.coin()) word = negative(word);
    }
    add_stacks(context.profile, draft, hadamard_stacks, cases);
  }
  return cases;
}

// --- Everything ------------------------------------------------------------------------------------------------------

/// Every stack on ordinary data with a few outliers.
std::vector<CaseInput> every_stack(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  for (const CorrectionStack& stack : correction_stacks()) {
    const bool small = stack.tile == 0 && !context.profile.block.is_2d();
    const Draft draft = normal_draft(random, small ? 1 : stack.tile == 8 ? 8 : 32, small ? 128 : 32, 10.0);
    const bool large_tile = stack.tile == 64;
    if (!large_tile) add_stacks(context.profile, draft, {stack.name}, cases);
  }
  return cases;
}

// --- Products --------------------------------------------------------------------------------------------------------

/// The tensors of one coded part of an operand.
struct PartNames {
  std::string_view codes;
  std::string_view scales;
  std::string_view macro;
};
constexpr PartNames a_names = {"a_codes", "a_scales", "a_macro"};
constexpr PartNames a_residual_names = {"a_residual_codes", "a_residual_scales", "a_residual_macro"};
constexpr PartNames b_names = {"b_codes", "b_scales", "b_macro"};

void add_operand(const portable::CodedPart& part, const PartNames& names, CaseInput& input) {
  input.tensors.emplace(names.codes, part.quantized.codes);
  input.tensors.emplace(names.scales, part.quantized.scales);
  if (!part.macro.empty()) input.tensors.emplace(names.macro, part.macro);
}

/// A case of a product for each accumulator: both matrices are corrected here, the kernel multiplies.
void add_products(const Profile& profile, const Draft& a, const Draft& b, const Names& stacks,
                  std::vector<CaseInput>& cases) {
  for (const std::string_view name : stacks) {
    if (!takes(profile, name)) continue;
    const CorrectionStack& stack = *find_correction_stack(name);
    const auto coded = [&](const Draft& draft, const CorrectionStack& of_operand) {
      const std::array<std::int64_t, 2> shape = {draft.rows, draft.columns};
      portable::CorrectOptions options;
      options.product = case_product;
      return portable::correct(profile, of_operand,
                               {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(draft.words.data())},
                               options);
    };
    const auto left = coded(a, stack);
    const auto right = coded(b, stack.without_residual());
    if (!left || !right) continue;
    for (const std::string_view accumulator : {"seq512", "seq", "exact"}) {
      CaseInput input;
      input.spec.rows = a.rows;
      input.spec.other_rows = b.rows;
      input.spec.columns = a.columns;
      input.spec.accumulator = accumulator;
      input.spec.correction = name;
      add_operand(left->first, a_names, input);
      if (left->residual) add_operand(*left->residual, a_residual_names, input);
      add_operand(right->first, b_names, input);
      cases.push_back(std::move(input));
    }
  }
}

const Names product_stacks = {"mbs",         "mbs-32",         "mbs-64",       "mbs-divide",
                              "resq",        "fallback",       "mbs+fallback", "three-quarters-rn",
                              "hadamard-16", "hadamard-16+mbs"};

std::vector<CaseInput> corrected_products(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  for (int i = 0; i < (context.level == Level::full ? 8 : 1); ++i) {
    const Draft a = normal_draft(random, 2, 256, 11.0);
    add_products(context.profile, a, normal_draft(random, 3, 256, 3.0), product_stacks, cases);
  }
  return cases;
}

/// K beyond 512, a slice that is not whole at the end, and sums that cancel: where is it rounded?
std::vector<CaseInput> corrected_chunks(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  Draft a = normal_draft(random, 1, 704, 20.0);
  for (std::size_t k = 0; k < 64; ++k) {
    a.words[k + 128] = word_of(0x1p20 * static_cast<double>(1 + k));
    a.words[k + 576] = negative(a.words[k + 128]);
  }
  add_products(context.profile, a, normal_draft(random, 2, 704), {"fallback", "mbs-divide", "mbs", "resq"}, cases);
  return cases;
}

/// NaN blocks and zeros in either operand, and a block that decodes to infinity under scales that round up.
std::vector<CaseInput> corrected_product_specials(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  Draft a = normal_draft(random, 4, 128);
  a.words[40] = 0x7FC00000U;
  for (std::size_t k = 256; k < 384; ++k) a.words[k] = 0;
  a.words[400] = 0x7F7FFFFFU;
  Draft b = normal_draft(random, 2, 128);
  b.words[130] = 0x7F800000U;
  add_products(context.profile, a, b, {"mbs", "mbs-divide", "resq", "fallback", "three-quarters-rn"}, cases);
  return cases;
}

constexpr Operation correct = Operation::correct;
constexpr Operation product = Operation::correct_gemm;

constexpr std::array correction_table = {
    CaseClass{"macro-edge", "A macro factor is rounded and not truncated, or f M passes the largest value.", correct,
              takes_macro, macro_edges},
    CaseClass{"macro-tail", "The last, partial macro block is lost, or takes the factor of its neighbour.", correct,
              takes_macro, macro_tails},
    CaseClass{"macro-zero", "A macro block of zeros, or with tiny maxima, gets a factor of NaN or infinity.", correct,
              takes_macro, macro_zeros},
    CaseClass{"macro-special", "NaN or infinity in one block spoils the factor of its macro block.", correct,
              takes_macro, macro_specials},
    CaseClass{"mask-ties", "Between equal residuals the mask keeps the higher column, or three of four.", correct,
              takes_residual, mask_ties},
    CaseClass{"residual-saturated", "The residual of a clipped element is taken from its unclipped value.", correct,
              takes_residual, saturated_residuals},
    CaseClass{"residual-lowest-scale", "Half of a residual is folded into a scale that cannot go lower.", correct,
              takes_residual, lowest_residuals},
    CaseClass{"residual-special", "NaN or infinity reaches the residual of other elements.", correct, takes_residual,
              special_residuals},
    CaseClass{"batch-masks", "Channels or tiles are ranked by another measure, or edge tiles are lost.", correct,
              takes_residual, batch_mask_cases},
    CaseClass{"tile-edges", "Tiles that stick out over the edge of a matrix take in what lies beyond.", correct,
              takes_tiles, tile_edges},
    CaseClass{"one-draw", "The transposed product draws new random words, or reads them by its own layout.", correct,
              takes_tiles, one_draw},
    CaseClass{"three-quarters-range", "The scale is that of 3/4 x and not of x.", correct, takes_three_quarters,
              three_quarter_ranges},
    CaseClass{"hadamard-units", "Signs or rows of the Hadamard matrix are exchanged, or not normalised.", correct,
              takes_hadamard, hadamard_units},
    CaseClass{"hadamard-order", "The butterflies run in another order, or in another precision.", correct,
              takes_hadamard, hadamard_orders},
    CaseClass{"stacks", "Something goes wrong on ordinary data that no other class thought of.", correct,
              takes_corrections, every_stack},
    CaseClass{"correct-gemm-random", "Macro weights, the residual product or its factor are applied elsewhere.",
              product, takes_residual, corrected_products},
    CaseClass{"correct-gemm-chunks", "Slices of macro blocks and chunks of 512 are added in another order.", product,
              takes_residual, corrected_chunks},
    CaseClass{"correct-gemm-special", "NaN scales are skipped in one of the products, or spread too far.", product,
              takes_residual, corrected_product_specials},
};

}  // namespace

std::span<const CaseClass> correction_classes() { return correction_table; }

}  // namespace fp4proof::suite
