#include "conformance/suite/sets.h"

#include <algorithm>
#include <array>

#include "formats/spec_profiles.h"

namespace fp4proof::suite {

namespace {

constexpr std::array plans = {
    SetPlan{"smoke", "the sharpest few cases of every class, a second's work", Level::smoke},
    SetPlan{"quick", "a wide selection, committed", Level::quick},
    SetPlan{"full", "everything that is feasible, exhaustive over small domains", Level::full},
};

/// Profiles that many implementations follow get more cases than those of a single one. So does a profile of the user,
/// which no committed set holds.
constexpr std::array<std::string_view, 8> main_profiles = {"mxfp4/ocp",          "mxfp4/rceil", "mxfp8-e4m3/rceil",
                                                           "mxfp8-e4m3/ocp",     "hif4/gcc",    "nvfp4/direct",
                                                           "nvfp4/tensor-scale", "mxfp4/ceil"};

bool is_main(const Profile& profile) {
  return std::ranges::find(main_profiles, profile.name) != main_profiles.end() || find_profile(profile.name) == nullptr;
}

/// Classes that go to 2D profiles in the committed sets: a tile takes as much room as 32 or 64 rows.
constexpr std::array<std::string_view, 3> smoke_tiles = {"ties", "random-gaussian", "hif4-grouping"};
constexpr std::array<std::string_view, 15> quick_tiles = {
    "ties",          "tie-neighbours",   "random-gaussian",       "random-bits",           "random-bf16",
    "zero-block",    "nan-positions",    "infinity-positions",    "signed-zeros",          "odd-widths",
    "hif4-grouping", "transposed-pairs", "hif4-level2-threshold", "hif4-level3-threshold", "scale-edges"};

bool takes_tiles_of(Level level, std::string_view of_class) {
  if (level == Level::smoke) return std::ranges::find(smoke_tiles, of_class) != smoke_tiles.end();
  if (level == Level::quick) return std::ranges::find(quick_tiles, of_class) != quick_tiles.end();
  return true;
}

/// Bytes that a class may fill, as input words.
std::size_t budget(Level level, bool main) {
  switch (level) {
    case Level::smoke: return main ? 512 : 128;
    case Level::quick: return main ? 5120 : 1536;
    case Level::full: return std::size_t{1} << 20;
  }
  return 0;
}

/// Cases of corrections, products of corrected matrices and decompositions hold several blocks, and much is expected of
/// each.
std::size_t most_large_cases(Level level, const Profile& profile, std::string_view of_class) {
  if (level == Level::full) return 256;
  if (level == Level::smoke || profile.block.is_2d()) return 1;
  if (!is_main(profile)) return 3;
  return of_class == "stacks" ? 64 : 8;
}

}  // namespace

std::span<const SetPlan> sets() { return plans; }

const SetPlan* find_set(std::string_view name) {
  const auto found = std::ranges::find(plans, name, &SetPlan::name);
  return found == plans.end() ? nullptr : &*found;
}

std::size_t most_cases(const SetPlan& set, const Profile& profile, const CaseClass& of_class) {
  const bool plain = of_class.operation == Operation::quantize || of_class.operation == Operation::dequantize ||
                     of_class.operation == Operation::gemm;
  if (!plain) return most_large_cases(set.level, profile, of_class.name);
  if (profile.block.is_2d() && !takes_tiles_of(set.level, of_class.name)) return 0;
  const std::size_t case_bytes = 4 * static_cast<std::size_t>(profile.block.size()) * (profile.tensor_scale ? 8 : 1);
  const std::size_t cases = std::max<std::size_t>(budget(set.level, is_main(profile)) / case_bytes, 1);
  // A pair of transposes is one thing.
  return of_class.name == "transposed-pairs" ? std::max<std::size_t>(cases, 2) : cases;
}

}  // namespace fp4proof::suite
