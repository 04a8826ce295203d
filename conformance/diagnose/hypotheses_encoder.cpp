#include <fmt/format.h>

#include "conformance/diagnose/hypothesis_rows.h"
#include "conformance/diagnose/steps.h"

namespace fp4proof::diagnose {

namespace {

void set_scale_fault(KernelModel& model, int fault) { model.encode.scale = static_cast<ScaleFault>(fault); }
void set_element_fault(KernelModel& model, int fault) { model.encode.element = static_cast<ElementFault>(fault); }

struct FaultRow {
  std::string_view value;
  std::string_view text;
  FamilySet families;
  int parameter;
};

void append_scale_faults(std::vector<Hypothesis>& rows) {
  using enum ScaleFault;
  constexpr auto faults = std::to_array<FaultRow>({
      {"round-up-mask-4fffff", "scale rounded up with the mask 0x4FFFFF, which misses two mantissa bits", of_mx,
       number(mask)},
      {"quotient-half-up", "scale to the power of two nearest to amax / max, ties up", of_mx, number(quotient_half_up)},
      {"quotient-down", "scale amax / max rounded down to a power of two", of_mx, number(quotient_down)},
      {"quotient-log2", "scale to the power of two with the logarithm nearest to that of amax / max", of_mx,
       number(quotient_log2)},
      {"amax-half-up", "scale of amax rounded to the nearest power of two, ties up", of_mx, number(amax_half_up)},
      {"e8m0-cast", "scale amax / max cast to E8M0: ties up, everything between 2^-127 and 2^-126 up", of_mx,
       number(e8m0_cast)},
      {"e8m0-cast-zero-nan",
       "scale amax / max cast to E8M0: ties up, everything between 2^-127 and 2^-126 up, 0 to NaN", of_mx,
       number(e8m0_cast_zero)},
      {"wraps", "block scales out of range wrap around", of_mx | of_hif4, number(wraps)},
      {"truncated", "block scale rounded toward zero", of_hif4 | of_nvfp4, number(truncated)},
      {"away", "ties of the block scale away from zero", of_nvfp4, number(away)},
      {"fp32-divide", "block scale from quotients rounded to binary32", of_nvfp4, number(fp32_divide)},
      {"fp32-reciprocal", "block scale by binary32 reciprocals of 6 and of the tensor scale", of_nvfp4,
       number(fp32_reciprocal)},
      {"subnormal-flushed", "subnormal block scales flushed to zero", of_nvfp4, number(subnormal_flushed)},
      {"never-zero", "block scales not below the smallest code above zero", of_nvfp4, number(never_zero)},
      {"half-block", "scale of the first half of the block", every_family, number(half_block)},
      {"signed-maximum", "scale of the largest signed value, negative ones left out", every_family,
       number(signed_maximum)},
      {"two-blocks", "one scale for two blocks", every_family, number(two_blocks)},
  });
  for (const FaultRow& row : faults) {
    rows.push_back({"scale-rule", std::string(row.value), std::string(row.text), quantizes, row.families,
                    cost_of_change, set_scale_fault, row.parameter});
  }
}

void append_element_faults(std::vector<Hypothesis>& rows) {
  using enum ElementFault;
  constexpr auto faults = std::to_array<FaultRow>({
      {"fp32-reciprocal", "elements multiplied by the binary32 reciprocal of the scale", every_family,
       number(reciprocal)},
      {"bf16-reciprocal", "elements multiplied by the bfloat16 reciprocal of the scale", every_family,
       number(bf16_reciprocal)},
      {"fp32-divide", "elements divided by the scale in binary32", every_family, number(divide)},
      {"binary16", "scaled elements rounded to binary16 first", every_family, number(binary16)},
      {"scale-flushed", "a subnormal scale flushed to zero where elements are divided by it", of_mx,
       number(scale_flushed)},
      {"reciprocal-flushed", "a subnormal reciprocal of the scale (code 254) flushed to zero", of_mx,
       number(inverse_flushed)},
  });
  for (const FaultRow& row : faults) {
    rows.push_back({"element-arithmetic", std::string(row.value), std::string(row.text), quantizes, row.families,
                    cost_of_change, set_element_fault, row.parameter});
  }
  rows.push_back({"rounding", "up", "elements rounded away from zero", quantizes, every_family, cost_of_change,
                  set_element_fault, number(up)});
  rows.push_back({"rounding", "no-sticky", "elements rounded on two more bits, all others dropped", quantizes,
                  every_family, cost_of_change, set_element_fault, number(no_sticky)});
  rows.push_back({"rounding", "subnormals-halved", "subnormal elements a binade low", quantizes, every_family,
                  cost_of_change, set_element_fault, number(subnormal_halved)});
  rows.push_back({"rounding", "odd-codes-cut", "odd element codes without their last bit", quantizes, every_family,
                  cost_of_change, set_element_fault, number(even_code)});
  rows.push_back({"saturation", "nan", "elements beyond the largest code NaN or infinity", quantizes, of_mx,
                  cost_of_change, set_element_fault, number(beyond_nan), nullptr, true,
                  [](const Profile& profile) { return element_spec(profile.element).nan_code != 0; }});
  rows.push_back({"saturation", "wrapped", "codes beyond the largest wrap around", quantizes, every_family,
                  cost_of_change, set_element_fault, number(wrapped)});
}

void append_shifts(std::vector<Hypothesis>& rows) {
  for (const int shift : {-2, -1, 1, 2}) {
    const std::string by = fmt::format("{:+}", shift);
    rows.push_back({"scale-offset", by, fmt::format("scale codes off by {}, elements quantized under them", by),
                    quantizes, every_family, cost_of_change,
                    [](KernelModel& model, int value) { model.encode.scale_shift = value; }, shift});
    rows.push_back({"scale-offset", "exponent" + by,
                    fmt::format("scale exponents off by {} before the code is clamped", by), quantizes, of_mx,
                    cost_of_variant, [](KernelModel& model, int value) { model.encode.exponent_shift = value; },
                    shift});
    rows.push_back({"scale-offset", "stored" + by, fmt::format("scale codes stored off by {}, elements right", by),
                    quantizes, every_family, cost_of_change,
                    [](KernelModel& model, int value) { model.encode.stored_shift = value; }, shift});
    rows.push_back({"scale-offset", "bytes" + by, fmt::format("{} added to every scale byte, special ones too", by),
                    writes_codes, every_family, cost_of_variant,
                    [](KernelModel& model, int value) {
                      model.outputs.push_back({add_to_scales, value});
                    },
                    shift});
    rows.push_back({"scale-offset", "elements" + by,
                    fmt::format("elements quantized under a scale code off by {}, scale codes right", by), quantizes,
                    every_family, cost_of_change,
                    [](KernelModel& model, int value) { model.encode.element_shift = value; }, shift});
  }
}

void append_encoder_grids(std::vector<Hypothesis>& rows) {
  for (const Element element :
       {Element::e2m1, Element::s1p2, Element::e4m3, Element::e5m2, Element::e2m3, Element::e3m2}) {
    const std::string name = element_spec(element).name;
    rows.push_back({"element", "grid-" + name,
                    fmt::format("elements coded on the grid of {} under the right scale", name), quantizes,
                    every_family, cost_of_change,
                    [](KernelModel& model, int grid) { model.encode.grid = static_cast<Element>(grid); },
                    static_cast<int>(element)});
  }
}

/// Without a NaN code the hardware conversions saturate.
NanCode nan_code_of(const Profile& profile, NanCode wanted) {
  const bool has_code = element_spec(profile.element).nan_code != 0;
  return wanted == NanCode::nan && !has_code ? NanCode::largest_signed : wanted;
}

void append_nan_codes(std::vector<Hypothesis>& rows) {
  struct Row {
    NanCode code;
    std::string_view value;
    std::string_view text;
  };
  constexpr auto codes = std::to_array<Row>({
      {NanCode::largest, "lost-largest", "NaN lost in the maximum, its element the largest code"},
      {NanCode::largest_signed, "lost-largest-signed", "NaN lost in the maximum, its element the largest code, signed"},
      {NanCode::nan, "lost-nan-code", "NaN lost in the maximum, its element the NaN code"},
  });
  for (const Row& row : codes) {
    rows.push_back({"nan", std::string(row.value), std::string(row.text), quantizes, every_family, cost_of_change,
                    [](KernelModel& model, int code) {
                      model.profile.nan = NanPolicy::ignore;
                      model.encode.nan_code = nan_code_of(model.profile, static_cast<NanCode>(code));
                    },
                    number(row.code)});
  }
  rows.push_back({"nan", "lost-in-pairs", "NaN lost where a > b ? a : b finds the maximum, which starts anew behind it",
                  quantizes, every_family, cost_of_change, [](KernelModel& model, int) {
                    model.profile.nan = NanPolicy::scale_nan;
                    model.encode.scale = ScaleFault::after_nan;
                  }});
}

void append_codes_of_special_blocks(std::vector<Hypothesis>& rows) {
  struct Row {
    NanCode code;
    std::string_view value;
    std::string_view text;
  };
  constexpr auto codes = std::to_array<Row>({
      {NanCode::zero, "under-nan-scale", "elements coded under the NaN scale"},
      {NanCode::zero_signed, "under-nan-scale-signed", "elements coded under the NaN scale, NaN a zero of its sign"},
      {NanCode::largest_signed, "under-nan-scale-largest", "elements coded under the NaN scale, NaN the largest code"},
      {NanCode::nan, "under-nan-scale-nan", "elements coded under the NaN scale, NaN the NaN code"},
  });
  for (const Row& row : codes) {
    rows.push_back({"codes", std::string(row.value), std::string(row.text), quantizes, of_mx, cost_of_change,
                    [](KernelModel& model, int code) {
                      model.encode.codes_under_nan = true;
                      model.encode.nan_code = nan_code_of(model.profile, static_cast<NanCode>(code));
                    },
                    number(row.code)});
  }
  constexpr auto overflows = std::to_array<Row>({
      {NanCode::zero, "overflow-nan", "block scales beyond the largest NaN, with zero codes"},
      {NanCode::zero_signed, "overflow-nan-signed", "block scales beyond the largest NaN, with zeros of their signs"},
      {NanCode::largest, "overflow-nan-largest", "block scales beyond the largest NaN, with the largest codes"},
  });
  for (const Row& row : overflows) {
    rows.push_back({"scale-rule", std::string(row.value), std::string(row.text), quantizes, of_nvfp4, cost_of_change,
                    [](KernelModel& model, int code) {
                      model.encode.scale = ScaleFault::overflow_nan;
                      model.encode.nan_code = static_cast<NanCode>(code);
                    },
                    number(row.code)});
  }
  rows.push_back({"infinity", "saturate-zero-codes", "the largest scale and zero codes for a block with an infinity",
                  quantizes, every_family, cost_of_change, [](KernelModel& model, int) {
                    model.profile.inf = InfPolicy::saturate;
                    model.encode.zeros_with_infinity = true;
                  }});
}

void append_paddings(std::vector<Hypothesis>& rows) {
  struct Row {
    Padding padding;
    std::string_view value;
    std::string_view text;
  };
  constexpr auto paddings = std::to_array<Row>({
      {Padding::ones, "ones", "an incomplete last block filled with ones"},
      {Padding::last, "last", "an incomplete last block filled with its last element"},
  });
  for (const Row& row : paddings) {
    rows.push_back({"padding", std::string(row.value), std::string(row.text), quantizes, every_family, cost_of_change,
                    [](KernelModel& model, int padding) { model.encode.padding = static_cast<Padding>(padding); },
                    number(row.padding)});
  }
}

void append_word_changes(std::vector<Hypothesis>& rows) {
  struct Row {
    WordChange change;
    std::string_view dimension;
    std::string_view value;
    std::string_view text;
  };
  constexpr auto changes = std::to_array<Row>({
      {WordChange::flushed, "input", "flushed", "subnormal inputs flushed to zero"},
      {WordChange::binary16, "input", "binary16", "inputs rounded to binary16"},
      {WordChange::bf16_truncated, "input", "bf16-truncated", "inputs truncated to bfloat16"},
      {WordChange::infinity_largest, "infinity", "largest", "infinity taken for the largest finite number"},
      {WordChange::nan_infinity, "nan", "infinity", "NaN taken for infinity"},
  });
  for (const Row& row : changes) {
    rows.push_back({std::string(row.dimension), std::string(row.value), std::string(row.text), encodes, every_family,
                    cost_of_change,
                    [](KernelModel& model, int change) {
                      model.inputs.push_back({change_words, change});
                    },
                    number(row.change)});
  }
}

void append_code_changes(std::vector<Hypothesis>& rows) {
  struct Row {
    CodeChange change;
    std::string_view dimension;
    std::string_view value;
    std::string_view text;
  };
  constexpr auto changes = std::to_array<Row>({
      {CodeChange::next, "code-offset", "+1", "every element code one too large"},
      {CodeChange::previous, "code-offset", "-1", "every element code one too small"},
      {CodeChange::larger, "code-offset", "magnitude+1", "every magnitude code one too large"},
      {CodeChange::smaller, "code-offset", "magnitude-1", "every magnitude code one too small"},
      {CodeChange::zero, "codes", "zero", "every element a zero of its sign"},
      {CodeChange::unsigned_all, "code-sign", "lost", "signs of the element codes lost"},
  });
  for (const Row& row : changes) {
    const std::string dimension(row.dimension);
    const std::string value(row.value);
    const std::string text(row.text);
    rows.push_back({dimension, value, text, writes_codes, every_family, cost_of_change,
                    [](KernelModel& model, int change) {
                      model.outputs.push_back({change_codes, change});
                    },
                    number(row.change)});
    rows.push_back({dimension, value + "-of-numbers", text + ", but in NaN blocks", quantizes, every_family,
                    cost_of_variant,
                    [](KernelModel& model, int change) {
                      model.outputs.push_back({change_codes_of_numbers, change});
                    },
                    number(row.change)});
  }
}

}  // namespace

void append_encoder_rows(std::vector<Hypothesis>& rows) {
  append_word_changes(rows);
  append_nan_codes(rows);
  append_codes_of_special_blocks(rows);
  append_scale_faults(rows);
  append_shifts(rows);
  append_paddings(rows);
  append_element_faults(rows);
  append_encoder_grids(rows);
  rows.push_back({"levels", "strided", "micro-exponents over strided elements, i mod 8 in place of i div 8", quantizes,
                  of_hif4, cost_of_change, [](KernelModel& model, int) { model.encode.strided_levels = true; }});
  rows.push_back({"levels", "above-thresholds", "micro-exponents set above their thresholds, not at them", quantizes,
                  of_hif4, cost_of_change, [](KernelModel& model, int) { model.encode.levels_above = true; }});
  rows.push_back({"levels", "none", "micro-exponents never set", quantizes, of_hif4, cost_of_change,
                  [](KernelModel& model, int) { model.encode.without_levels = true; }});
  rows.push_back({"tensor-scale", "elements-ignored", "elements not divided by the tensor scale", quantizes, of_nvfp4,
                  cost_of_change, [](KernelModel& model, int) { model.encode.elements_without_tensor_scale = true; }});
  rows.push_back({"tensor-scale", "ignored", "tensor scale ignored", quantizes, of_nvfp4, cost_of_change,
                  [](KernelModel& model, int) { model.encode.without_tensor_scale = true; }});
  rows.push_back({"random-bits", "low", "the low bits of the random words", quantizes, every_family, cost_of_change,
                  [](KernelModel& model, int) { model.encode.random = RandomUse::low_bits; }});
  rows.push_back({"random-bits", "inverted", "inverted random words", quantizes, every_family, cost_of_change,
                  [](KernelModel& model, int) { model.encode.random = RandomUse::inverted; }});
  append_code_changes(rows);
  rows.push_back({"rounding", "either-neighbour",
                  "elements at one of their two neighbours by a rule of its own, as under other random bits", quantizes,
                  every_family, cost_of_loose_fit, [](KernelModel& model, int) { model.either_neighbour = true; }, 0,
                  nullptr, false});
}

}  // namespace fp4proof::diagnose
