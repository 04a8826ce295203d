#include <fmt/format.h>

#include <algorithm>

#include "conformance/diagnose/hypothesis_rows.h"
#include "formats/spec_profiles.h"

namespace fp4proof::diagnose {

namespace {

/// A row for every choice of a field, or for the first ones.
template <class Enum, Enum Profile::*Field>
void append_field(std::vector<Hypothesis>& rows, std::string_view dimension, std::string_view label, FamilySet families,
                  std::size_t most = EnumNames<Enum>::names.size()) {
  for (std::size_t i = 0; i < std::min(most, EnumNames<Enum>::names.size()); ++i) {
    const std::string name(EnumNames<Enum>::names[i]);
    if (name == "error") continue;         // a refusal is no answer
    if (name == "flush-inputs") continue;  // stands among the changes of inputs
    rows.push_back({std::string(dimension), name, fmt::format("{} {}", label, name), encodes, families, cost_of_change,
                    [](KernelModel& model, int choice) { model.profile.*Field = static_cast<Enum>(choice); },
                    static_cast<int>(i),
                    [](const Profile& profile) -> std::string_view { return name_of(profile.*Field); }});
  }
}

template <std::uint8_t Profile::*Field>
void append_code(std::vector<Hypothesis>& rows, std::string_view dimension, std::string_view label, FamilySet families,
                 std::initializer_list<int> codes) {
  for (const int code : codes) {
    rows.push_back({std::string(dimension), fmt::format("{}", code), fmt::format("{} {}", label, code), encodes,
                    families, cost_of_change,
                    [](KernelModel& model, int value) { model.profile.*Field = static_cast<std::uint8_t>(value); },
                    code});
  }
}

/// Elements of the same width; the shape of the outputs stays.
void append_elements(std::vector<Hypothesis>& rows) {
  for (std::size_t i = 0; i < element_count; ++i) {
    const std::string name = element_spec(static_cast<Element>(i)).name;
    rows.push_back({"element", name, fmt::format("elements {}", name), encodes, every_family, cost_of_change,
                    [](KernelModel& model, int element) { model.profile.element = static_cast<Element>(element); },
                    static_cast<int>(i),
                    [](const Profile& profile) -> std::string_view { return element_spec(profile.element).name; }});
  }
}

void append_profiles(std::vector<Hypothesis>& rows) {
  for (std::size_t i = 0; i < profile_table.size(); ++i) {
    const Profile& profile = profile_table[i];
    rows.push_back(
        {"profile", std::string(profile.name), fmt::format("profile {}", profile.name), encodes, set_of(profile.family),
         cost_of_profile,
         [](KernelModel& model, int index) { model.profile = profile_table[static_cast<std::size_t>(index)]; },
         static_cast<int>(i)});
  }
}

}  // namespace

void append_rule_rows(std::vector<Hypothesis>& rows) {
  append_field<ScaleRule, &Profile::scale_rule>(rows, "scale-rule", "scale rule", of_mx);
  append_field<ScaleArithmetic, &Profile::scale_arithmetic>(rows, "scale-arithmetic", "scale arithmetic", of_mx);
  append_field<Rounding, &Profile::rounding>(rows, "rounding", "element rounding", every_family);
  append_field<ElementArithmetic, &Profile::element_arithmetic>(rows, "element-arithmetic", "element arithmetic",
                                                                every_family);
  append_field<InputRounding, &Profile::input_rounding>(rows, "input", "input rounding", every_family);
  append_field<NanPolicy, &Profile::nan>(rows, "nan", "NaN policy", every_family);
  append_field<InfPolicy, &Profile::inf>(rows, "infinity", "infinity policy", every_family);
  append_field<TinyPolicy, &Profile::tiny>(rows, "tiny", "tiny blocks:", every_family);
  append_field<ZeroSign, &Profile::zero_sign>(rows, "zero-sign", "sign of zero", every_family);
  append_field<SeventhRule, &Profile::seventh>(rows, "seventh", "amax / 7 by", of_hif4);
  append_field<Rounding, &Profile::scale_rounding>(rows, "scale-rounding", "E6M2 rounding", of_hif4, 2);
  append_field<Reciprocal, &Profile::reciprocal>(rows, "reciprocal", "reciprocal", of_hif4);
  append_field<ThresholdArithmetic, &Profile::threshold_arithmetic>(rows, "threshold-arithmetic",
                                                                    "threshold arithmetic", of_hif4);
  append_code<&Profile::zero_scale_code>(rows, "zero-scale-code", "all-zero blocks with scale code", of_mx,
                                         {0, 1, 126, 127, 254});
  append_code<&Profile::inf_scale_code>(rows, "infinity-scale-code", "blocks with infinity under scale code", of_mx,
                                        {252, 253, 254});
  append_code<&Profile::random_bits>(rows, "random-bits", "random bits:", every_family, {8, 16, 32});
  append_elements(rows);
  append_profiles(rows);
}

}  // namespace fp4proof::diagnose
