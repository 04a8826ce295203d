#pragma once
// Suggestions for mistyped names.

#include <span>
#include <string>
#include <string_view>

namespace fp4proof {

/// The candidate that a typist most likely meant: the fewest insertions, deletions, replacements and swaps of
/// neighbours away, at most a third of the longer name's length; the first of equals; empty when none is near.
std::string_view nearest_name(std::string_view word, std::span<const std::string> candidates);

/// " (did you mean 'NAME'?)" for messages, or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace fp4proof
