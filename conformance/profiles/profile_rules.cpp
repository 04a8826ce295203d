#include "conformance/profiles/profile_rules.h"

#include <fmt/format.h>

#include <array>

#include "formats/mx.h"
#include "formats/scale_layout.h"

namespace fp4proof {

namespace {

/// One combination that no profile may have.
struct Conflict {
  bool present;
  const char* text;
};

bool element_fits(const Profile& p) {
  const bool fixed_point = p.element == Element::s1p1 || p.element == Element::s1p2 || p.element == Element::s1p3;
  switch (p.family) {
    case Family::mx: return !fixed_point;
    case Family::hif4: return fixed_point;
    case Family::nvfp4: return p.element == Element::e2m1;
  }
  return false;
}

bool block_fits(const Profile& p) {
  switch (p.family) {
    case Family::mx: return p.block == BlockShape{1, 32} || p.block == BlockShape{32, 32};
    case Family::hif4: return p.block == BlockShape{1, 64} || p.block == BlockShape{64, 64};
    case Family::nvfp4: return p.block == BlockShape{1, 16};
  }
  return false;
}

bool rounding_fits(const Profile& p) {
  switch (p.element_arithmetic) {
    case ElementArithmetic::exact:
    case ElementArithmetic::bf16:
    case ElementArithmetic::fp32_bf16: return true;
    case ElementArithmetic::fp32_half_add: return p.rounding == Rounding::rne || p.rounding == Rounding::rna;
    case ElementArithmetic::fp32_distance: return p.rounding == Rounding::ties_down && p.element == Element::e2m1;
  }
  return false;
}

bool arithmetic_fits_family(const Profile& p) {
  return p.family == Family::mx || (p.element_arithmetic != ElementArithmetic::fp32_half_add &&
                                    p.element_arithmetic != ElementArithmetic::fp32_distance);
}

bool random_bits_fit(const Profile& p) { return p.random_bits == 8 || p.random_bits == 16 || p.random_bits == 32; }

auto conflicts_of(const Profile& p) {
  const bool mx = p.family == Family::mx;
  const bool hif4 = p.family == Family::hif4;
  const auto scale_size = static_cast<std::size_t>(scale_bytes(p.family));
  return std::to_array<Conflict>({
      {!element_fits(p),
       "element does not belong to the family: mx has e2m1 e2m3 e3m2 e4m3 e5m2, hif4 has s1p1 s1p2 "
       "s1p3, nvfp4 has e2m1"},
      {!block_fits(p),
       "block does not belong to the family: mx has 1x32 and 32x32, hif4 has 1x64 and 64x64, nvfp4 has "
       "1x16"},
      {!random_bits_fit(p), "random_bits must be 8, 16 or 32"},
      {!arithmetic_fits_family(p),
       "element_arithmetic fp32-half-add and fp32-distance are defined for the mx family "
       "alone"},
      {!rounding_fits(p),
       "element_arithmetic fp32-half-add goes with rounding rne or rna, fp32-distance with rounding "
       "ties-down and element e2m1"},
      {!mx && p.nan == NanPolicy::scale_zero, "nan scale-zero is defined for the mx family alone"},
      {!mx && p.tiny == TinyPolicy::flush_block, "tiny flush-block is defined for the mx family alone"},
      {mx && p.inf_scale_code > e8m0_max, "inf_scale_code must be in 0..254"},
      {mx && p.zero_scale_code > e8m0_max, "zero_scale_code must be in 0..254"},
      {mx && !rule_has_arithmetic(p.scale_rule, p.scale_arithmetic),
       "scale_arithmetic goes with these scale_rules: float-log2 with floor, "
       "fp32-divide and fp32-reciprocal with floor rceil nearest, fp32-word with "
       "floor rceil, word-add with even"},
      {!scale_layout_fits(p.scale_layout, scale_size),
       "scale_layout tiled-128x4 holds one-byte scales (mx, nvfp4), "
       "patches-16 four-byte scales (hif4)"},
      {!element_spec(p.element).is_nibble() && p.nibble_order != NibbleOrder::even_low,
       "nibble_order other than even-low needs 4-bit elements"},
      {hif4 && p.scale_rounding != Rounding::rne && p.scale_rounding != Rounding::rna,
       "scale_rounding must be rne or rna"},
  });
}

}  // namespace

Result<void> check_profile(const Profile& profile) {
  for (const Conflict& conflict : conflicts_of(profile)) {
    if (conflict.present) {
      return Error{ErrorKind::usage, fmt::format("profile {}: {}", profile.name, conflict.text)};
    }
  }
  return {};
}

}  // namespace fp4proof
