#pragma once
// Which numbered rule of docs/rules-*.md decides what, by family.

#include <string_view>

#include "formats/spec.h"

namespace fp4proof::explain {

/// The rules that every family has, under its own numbers.
struct FamilyRules {
  std::string_view input;
  std::string_view nan;
  std::string_view infinity;
  std::string_view amax;
  std::string_view scaled;
  std::string_view element_arithmetic;
  std::string_view rounding;
  std::string_view saturation;
  std::string_view sign;
  std::string_view decode;
  std::string_view packing;
};

constexpr FamilyRules rules_of(Family family) {
  switch (family) {
    case Family::mx: return {"MX2", "MX9", "MX10", "MX12", "MX17", "MX18", "MX19", "MX20", "MX22", "MX23", "MX25"};
    case Family::hif4: return {"HF2", "HF6", "HF7", "HF9", "HF16", "HF16", "HF17", "HF17", "HF18", "HF19", "HF21"};
    case Family::nvfp4: return {"NV2", "NV5", "NV6", "NV8", "NV11", "NV11", "NV12", "NV13", "NV14", "NV15", "NV16"};
  }
  return {};
}

namespace rule {
inline constexpr std::string_view flushed_inputs = "MX3";
inline constexpr std::string_view e8m0 = "MX8";
inline constexpr std::string_view mx_zero_block = "MX11";
inline constexpr std::string_view scale_rule = "MX13";
inline constexpr std::string_view scale_arithmetic = "MX14";
inline constexpr std::string_view scale_clamp = "MX15";
inline constexpr std::string_view tiny = "MX16";
inline constexpr std::string_view stochastic = "MX21";
inline constexpr std::string_view e6m2 = "HF4";
inline constexpr std::string_view hif4_zero_group = "HF8";
inline constexpr std::string_view wanted_scale = "HF10";
inline constexpr std::string_view wanted_clamp = "HF11";
inline constexpr std::string_view e6m2_rounding = "HF12";
inline constexpr std::string_view reciprocal = "HF13";
inline constexpr std::string_view level2 = "HF14";
inline constexpr std::string_view level3 = "HF15";
inline constexpr std::string_view tensor_scale = "NV7";
inline constexpr std::string_view nvfp4_scale = "NV9";
inline constexpr std::string_view nvfp4_zero_scale = "NV10";
inline constexpr std::string_view hadamard = "C10";
inline constexpr std::string_view hadamard_signs = "C11";
inline constexpr std::string_view hadamard_inverse = "C12";
inline constexpr std::string_view macro_largest = "C14";
inline constexpr std::string_view macro_multiply = "C15";
inline constexpr std::string_view macro_divide = "C16";
inline constexpr std::string_view macro_coding = "C17";
inline constexpr std::string_view macro_decoding = "C19";
inline constexpr std::string_view residual = "C20";
inline constexpr std::string_view corrected_value = "C21";
inline constexpr std::string_view mask_two_four = "C22";
inline constexpr std::string_view mask_channels = "C23";
inline constexpr std::string_view mask_tiles = "C24";
inline constexpr std::string_view three_quarters = "C28";
inline constexpr std::string_view ideal_quantizer = "D1";
inline constexpr std::string_view deadzone = "D2";
inline constexpr std::string_view error_terms = "D3";
inline constexpr std::string_view left_out = "D4";
inline constexpr std::string_view error_sums = "D5";
inline constexpr std::string_view error_floor = "D7";
}  // namespace rule

}  // namespace fp4proof::explain
