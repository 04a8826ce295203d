#pragma once
// The fields of a profile under the names that users write, in the order of formats/spec.h.

#include <cstdint>
#include <string_view>

#include "formats/spec.h"

namespace fp4proof {

/// The families to which a field means something.
enum class FieldScope : std::uint8_t { any, mx, hif4, nvfp4 };

constexpr bool in_scope(FieldScope scope, Family family) {
  switch (scope) {
    case FieldScope::any: return true;
    case FieldScope::mx: return family == Family::mx;
    case FieldScope::hif4: return family == Family::hif4;
    case FieldScope::nvfp4: return family == Family::nvfp4;
  }
  return false;
}

/// Calls visit(name, scope, field) for every field but the name and the summary. `P` is Profile or const Profile.
template <class P, class Visit>
void for_each_field(P& profile, Visit visit) {
  using enum FieldScope;
  visit("family", any, profile.family);
  visit("element", any, profile.element);
  visit("block", any, profile.block);
  visit("rounding", any, profile.rounding);
  visit("random_bits", any, profile.random_bits);
  visit("element_arithmetic", any, profile.element_arithmetic);
  visit("input_rounding", any, profile.input_rounding);
  visit("nan", any, profile.nan);
  visit("inf", any, profile.inf);
  visit("inf_scale_code", mx, profile.inf_scale_code);
  visit("zero_scale_code", mx, profile.zero_scale_code);
  visit("tiny", any, profile.tiny);
  visit("zero_sign", any, profile.zero_sign);
  visit("nibble_order", any, profile.nibble_order);
  visit("scale_layout", any, profile.scale_layout);
  visit("scale_rule", mx, profile.scale_rule);
  visit("scale_arithmetic", mx, profile.scale_arithmetic);
  visit("seventh", hif4, profile.seventh);
  visit("scale_rounding", hif4, profile.scale_rounding);
  visit("reciprocal", hif4, profile.reciprocal);
  visit("threshold_arithmetic", hif4, profile.threshold_arithmetic);
  visit("micro_order", hif4, profile.micro_order);
  visit("tensor_scale", nvfp4, profile.tensor_scale);
}

}  // namespace fp4proof
