// The random side of the comparison: numbers, shapes, stacks and profiles.

#include <algorithm>
#include <array>

#include "formats/float_bits.h"
#include "formats/spec_profiles.h"
#include "tests/exhaustive/corrections_comparison.h"
#include "tests/exhaustive/random_blocks.h"

namespace fp4proof::exhaustive {
namespace {

/// A word whose exponent field lies within `width` below `top`; the low `cleared` fraction bits are zero.
std::uint32_t word_around(std::uint32_t random, std::uint32_t top, std::uint32_t width, int cleared) {
  const std::uint32_t field = top - (random >> 23) % width % 256;
  return ((random & 0x807FFFFFU) & ~((1U << cleared) - 1U)) | (field << 23);
}

/// A binary32 number beside max / (1 + b/256), up to a power of two: where the bytes of macro blocks change.
std::uint32_t word_at_limit(std::uint32_t random, std::uint32_t other) {
  const float largest = std::array{1.5F, 1.75F, 1.875F}[other % 3];
  const float quotient = largest / (1.0F + static_cast<float>(random & 255U) / 256.0F);
  return (float_bits(quotient) + (random >> 8) % 3 - 1U) | (random & 0x80000000U);
}

std::uint32_t one_word(const CorrectionTrial& trial, std::uint32_t random, std::uint32_t other, std::int64_t col) {
  switch (trial.numbers) {
    case Numbers::narrow: return word_around(random, 130, 7, 0);
    case Numbers::outliers: return word_around(random, col % 29 == 3 ? 139 : 128, 5, 0);
    case Numbers::grid: return other % 5 == 0 ? random & 0x80000000U : word_around(random, 129, 4, 20);
    case Numbers::bottom: return (random & 0x80000000U) | (random & 0x7FFFFFU) >> (other % 24);
    case Numbers::top: return word_around(random, 254, 6, 0);
    case Numbers::limits: return col % 32 == 0 ? word_at_limit(random, other) : random & 0x80000000U;
    case Numbers::wide:
    case Numbers::special: break;
  }
  return 0;
}

constexpr std::array<std::uint8_t, 4> tile_edges = {1, 3, 32, 64};
constexpr Element mx_elements[] = {Element::e2m1, Element::e2m3, Element::e3m2, Element::e4m3, Element::e5m2};

ResidualSpec random_residual(TrialDraw& draw) {
  ResidualSpec r;
  r.on = true;
  r.alpha = std::array{1.0F, 1.0F, 0.5F, 0.975F, -1.0F, 0x1p-140F, 3e38F}[draw.below(7)];
  r.mask = draw.any<ResidualMask>();
  r.measure = draw.any<TileMeasure>();
  r.fraction = std::array{0.5F, 0.1F, 1.0F, 1e-20F, 0.7F}[draw.below(5)];
  r.threshold = std::array{0.0F, 1.0F, 7.0F, 8.0F, 0x1p-130F, float_from_bits(float_infinity_bits)}[draw.below(6)];
  r.tile_rows = tile_edges[draw.below(4)];
  r.tile_cols = tile_edges[draw.below(4)];
  return r;
}

}  // namespace

/// Row-major [batch * rows, cols], the block axis last.
std::vector<std::uint32_t> random_matrix(const CorrectionTrial& trial) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(trial.batch * trial.rows * trial.cols));
  if (trial.numbers == Numbers::wide || trial.numbers == Numbers::special) {
    const std::size_t length = std::array<std::size_t, 3>{16, 32, 64}[trial.seed % 3];
    for (std::size_t first = 0; first < words.size(); first += length) {
      const std::size_t count = std::min(length, words.size() - first);
      fill_random_block(trial.seed, first, std::span(words).subspan(first, count));
    }
    for (std::uint32_t& word : words)
      if (trial.numbers == Numbers::wide && !is_finite_bits(word)) word &= 0xBFFFFFFFU;
  } else {
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = one_word(trial, random_word(trial.seed, Stream::cases, 3, i),
                          random_word(trial.seed, Stream::cases, 4, i), static_cast<std::int64_t>(i) % trial.cols);
  }
  if (trial.bf16)
    for (std::uint32_t& word : words) word = (is_nan_bits(word) ? word | 0x00400000U : word) & 0xFFFF0000U;
  return words;
}

CorrectionTrial random_trial(const Profile& profile, const CorrectionStack& stack, TrialDraw& draw) {
  CorrectionTrial trial;
  trial.profile = profile;
  trial.stack = stack;
  const BlockShape block = stack.effective(profile).block;
  const bool tiled = block.is_2d();
  trial.batch = draw.one_in(tiled ? 8 : 3) ? 2 : 1;
  trial.rows = 1 + draw.below(tiled ? block.rows : 3);
  trial.cols = 1 + draw.below(tiled ? block.cols : 150);
  if (tiled && draw.one_in(8)) trial.rows += block.rows;
  if (tiled && draw.one_in(8)) trial.cols += block.cols;
  if (!tiled && draw.one_in(12)) trial.cols += 500;
  if (stack.hadamard.is_on() && !draw.one_in(20))
    trial.cols = std::max<std::int64_t>(trial.cols / stack.hadamard.size, 1) * stack.hadamard.size;
  trial.strided = draw.one_in(3);
  trial.bf16 = draw.one_in(3);
  trial.numbers = static_cast<Numbers>(draw.below(numbers_count));
  trial.seed = draw.seed();
  trial.product = draw.one_in(2) ? 0 : draw.word();
  return trial;
}

CorrectionTrial random_partner(const CorrectionTrial& trial, std::int64_t rows, TrialDraw& draw) {
  CorrectionTrial partner = trial;
  partner.batch = 1;
  partner.rows = rows;
  partner.seed = draw.seed();
  partner.numbers = static_cast<Numbers>(draw.below(numbers_count));
  partner.stack.residual.on = draw.one_in(trial.stack.residual.is_on() ? 8 : 2);
  if (partner.stack.effective(partner.profile).rounding == Rounding::stochastic) partner.stack.residual.on = false;
  if (draw.one_in(3)) partner.stack.macro.size = 0;
  if (draw.one_in(12)) partner.stack.hadamard.size = 0;
  if (draw.one_in(2)) partner.stack.three_quarters = false;
  if (draw.one_in(2)) partner.stack.stochastic = false;
  if (draw.one_in(12)) partner.product += 1;
  return partner;
}

CorrectionStack random_stack(TrialDraw& draw) {
  CorrectionStack s;
  s.name = "custom";
  if (draw.one_in(4)) {
    s.hadamard.size = draw.one_in(2) ? 16 : 64;
    s.hadamard.signs = draw.any<HadamardSigns>();
    s.hadamard.seed = draw.seed();
  }
  if (draw.one_in(4)) s.tile = static_cast<std::uint8_t>(8U << draw.below(4));
  s.stochastic = draw.one_in(4);
  if (draw.one_in(3)) {
    s.macro.size = static_cast<std::uint8_t>(32U << draw.below(3));
    s.macro.form = draw.any<MacroForm>();
  }
  s.three_quarters = draw.one_in(s.macro.is_on() ? 12 : 3);
  if (draw.one_in(s.stochastic ? 12 : 2)) s.residual = random_residual(draw);
  return s;
}

Profile random_profile_for(const CorrectionStack& stack, TrialDraw& draw) {
  constexpr std::array bases = {"mxfp4/ocp",   "mxfp4/ocp",  "mxfp4-2d/ocp",       "hif4/gcc",
                                "hif4-2d/gcc", "hif4/exact", "nvfp4/tensor-scale", "nvfp4/direct"};
  const bool wants_mx = stack.tile != 0 || stack.macro.is_on() || stack.three_quarters;
  Profile p = *find_profile(bases[draw.below(wants_mx && !draw.one_in(12) ? 3 : 8)]);
  p.name = "custom";
  if (draw.one_in(2)) p.rounding = draw.any<Rounding>();
  p.random_bits = static_cast<std::uint8_t>(8U << draw.below(3));
  if (draw.one_in(4)) p.element_arithmetic = draw.any<ElementArithmetic>();
  if (draw.one_in(4)) p.nan = draw.any<NanPolicy>();
  if (draw.one_in(2)) p.inf = draw.any<InfPolicy>();
  if (draw.one_in(8)) p.tiny = draw.any<TinyPolicy>();
  if (draw.one_in(8)) p.input_rounding = draw.any<InputRounding>();
  p.zero_sign = draw.any<ZeroSign>();
  p.inf_scale_code = static_cast<std::uint8_t>(draw.below(255));
  p.zero_scale_code = static_cast<std::uint8_t>(draw.below(255));
  if (p.family == Family::mx) {
    p.element = mx_elements[draw.below(5)];
    p.scale_rule = draw.any<ScaleRule>();
    if (!draw.one_in(12)) {
      if (stack.macro.is_on())
        p.scale_rule = stack.macro.form == MacroForm::multiply ? ScaleRule::rceil : ScaleRule::even;
      else if (stack.three_quarters)
        p.scale_rule = ScaleRule::floor;
    }
    if (draw.one_in(8)) p.scale_arithmetic = draw.any<ScaleArithmetic>();
    return p;
  }
  if (p.nan == NanPolicy::scale_zero) p.nan = NanPolicy::scale_nan;
  const bool mx_only = p.element_arithmetic == ElementArithmetic::fp32_half_add ||
                       p.element_arithmetic == ElementArithmetic::fp32_distance;
  if (mx_only) p.element_arithmetic = ElementArithmetic::exact;
  return p;
}

std::string describe(const CorrectionTrial& trial) {
  const Profile& p = trial.profile;
  const CorrectionStack& s = trial.stack;
  std::string text = std::string(p.name) + " | " + std::string(s.name) + " | ";
  for (const std::string_view part :
       {name_of(p.family), name_of(p.element), name_of(p.rounding), name_of(p.element_arithmetic), name_of(p.nan),
        name_of(p.inf), name_of(p.tiny), name_of(p.zero_sign), name_of(p.scale_rule), name_of(p.scale_arithmetic)})
    text += std::string(part) + " ";
  const ResidualSpec& r = s.residual;
  text += "| hadamard " + std::to_string(s.hadamard.size) + " tile " + std::to_string(s.tile) + " sr " +
          std::to_string(s.stochastic) + " 3/4 " + std::to_string(s.three_quarters) + " macro " +
          std::to_string(s.macro.size) + " " + std::string(name_of(s.macro.form));
  if (r.is_on())
    text += " residual " + std::string(name_of(r.mask)) + " " + std::string(name_of(r.measure)) + " alpha " +
            std::to_string(r.alpha) + " fraction " + std::to_string(r.fraction) + " above " +
            std::to_string(r.threshold) + " tiles " + std::to_string(r.tile_rows) + "x" + std::to_string(r.tile_cols);
  return text + " | [" + std::to_string(trial.batch) + ", " + std::to_string(trial.rows) + ", " +
         std::to_string(trial.cols) + "]" + (trial.strided ? " strided" : "") + (trial.bf16 ? " bf16" : "") +
         " numbers " + std::to_string(static_cast<int>(trial.numbers)) + " seed " + std::to_string(trial.seed);
}

}  // namespace fp4proof::exhaustive
