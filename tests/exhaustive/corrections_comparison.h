#pragma once
// The two roads of the corrections side by side: one random tensor, one profile, one stack, and every bit that comes
// out. Trials are addressed by a seed, so any of them can be run alone.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/philox.h"
#include "formats/spec_corrections.h"
#include "reference/exact/correction.h"
#include "reference/portable/correct.h"

namespace fp4proof::exhaustive {

/// Numbers one after the other from the words of one trial.
class TrialDraw {
 public:
  explicit TrialDraw(std::uint64_t trial) : trial_(trial) {}
  std::uint32_t word() { return random_word(20261130, Stream::cases, next_++, trial_); }
  std::uint32_t below(std::uint32_t count) { return word() % count; }
  bool one_in(std::uint32_t count) { return below(count) == 0; }
  std::uint64_t seed() { return std::uint64_t{word()} << 32 | word(); }
  template <class Enum>
  Enum any() {
    return static_cast<Enum>(below(static_cast<std::uint32_t>(EnumNames<Enum>::names.size())));
  }

 private:
  std::uint64_t trial_;
  std::uint32_t next_ = 0;
};

/// What the random numbers of a tensor look like.
enum class Numbers : std::uint8_t {
  narrow,    ///< a few binades, all bits
  outliers,  ///< the same with some columns far larger
  grid,      ///< few fraction bits: grid points, ties, equal magnitudes
  wide,      ///< blocks of every kind and binade, finite
  special,   ///< the same with NaN and infinities in some blocks
  bottom,    ///< subnormal numbers and zeros
  top,       ///< up to the largest finite number
  limits,    ///< one number every 32 columns, beside those whose quotient with the largest element needs few bits
};
inline constexpr std::uint32_t numbers_count = 8;

/// One tensor [batch, rows, cols] under one profile and stack; with `strided` the block axis is the middle one of
/// [batch, cols, rows].
struct CorrectionTrial {
  Profile profile;
  CorrectionStack stack;
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t cols = 32;
  bool strided = false;
  bool bf16 = false;
  Numbers numbers = Numbers::narrow;
  std::uint64_t seed = 0;
  std::uint32_t product = 0;
};

/// The words of the trial, row-major [batch * rows, cols], block axis last.
std::vector<std::uint32_t> random_matrix(const CorrectionTrial& trial);

/// The same tensor by both roads.
struct CorrectedPair {
  portable::Corrected portable;
  exact::CorrectedMatrix exact;
};

/// Either the pair, or nothing where both roads refuse. `difference` names the first bit that differs, empty: none.
struct CorrectionOutcome {
  std::optional<CorrectedPair> pair;
  std::string difference;
};

/// Corrects by both roads and compares codes, scales, macro bytes, tensor scales, values and packed residuals.
CorrectionOutcome compare_correction(const CorrectionTrial& trial);

/// Compares the products in one order under some of the accumulators, as drawn. `products` counts those that both roads
/// gave.
std::string compare_products(const CorrectedPair& a, const CorrectedPair& b, TrialDraw& draw, int& products);

/// A partner for the product: a tensor of `rows` rows whose stack mostly goes with that of the trial.
CorrectionTrial random_partner(const CorrectionTrial& trial, std::int64_t rows, TrialDraw& draw);

/// What became of one trial; `difference` carries the parameters, empty: none.
struct TrialOutcome {
  bool refused = false;
  int products = 0;
  std::string difference;
};

/// Compares a tensor and, where it is one matrix, its products with a random partner of two rows.
TrialOutcome compare_trial(const CorrectionTrial& trial, TrialDraw& draw);

/// A tensor for a profile and stack: shape, tail, axis and numbers are drawn.
CorrectionTrial random_trial(const Profile& profile, const CorrectionStack& stack, TrialDraw& draw);

/// Any stack and any profile; about half of them go together.
CorrectionStack random_stack(TrialDraw& draw);
Profile random_profile_for(const CorrectionStack& stack, TrialDraw& draw);

/// All parameters in one line.
std::string describe(const CorrectionTrial& trial);

}  // namespace fp4proof::exhaustive
