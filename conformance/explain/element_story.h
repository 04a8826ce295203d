#pragma once
// One element under a known scale, decided on exact numbers. Internal to the explanation.

#include "conformance/explain/explanation.h"

namespace fp4proof::explain {

/// One element before its story: its words and its random word.
ElementStory begin_story(const BlockQuestion& question, int index, std::uint32_t prepared);

/// Decides a finite element from its scaled value `y`; `decode_scale` is what its value is multiplied with later.
/// Sets everything up to the code.
void decide(const Profile& profile, const Rational& y, const Rational& decode_scale, std::uint32_t random,
            ElementStory& story);

/// An infinity that clamps to the largest code.
void clamp_infinity(const Profile& profile, ElementStory& story);

/// A code that the scaled value has no part in.
void settle(Cause cause, std::string_view rule, std::uint8_t code, ElementStory& story);

/// The zero code under the profile's sign rule. Nothing for `y` where the element was not scaled.
std::uint8_t zero_code_of(const Profile& profile, std::uint32_t word, const std::optional<Rational>& y);

/// Sets the decoded value and the errors of an element whose code stands. `decode_scale`: nothing under a NaN scale.
void tell_value(const Profile& profile, std::uint32_t value, const std::optional<Rational>& decode_scale,
                ElementStory& story);

}  // namespace fp4proof::explain
