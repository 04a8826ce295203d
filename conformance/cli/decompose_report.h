#pragma once
// The table of `fp4proof decompose`.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reference/portable/decompose.h"

namespace fp4proof::cli {

/// A tensor's name and its sums.
struct NamedSplit {
  std::string name;
  portable::ErrorSplit split;
};

/// The sum over tensors, in the order given.
portable::ErrorSplit sum_of(const std::vector<NamedSplit>& tensors);

/// Ranks tensors, the largest first: by |e|^2 ("error"), by the sum of squares of one term ("scale", "deadzone",
/// "grid"), equals and "name" in order of their names.
void rank(std::vector<NamedSplit>& tensors, std::string_view order);

/// One line a tensor, the first `top` of them (0: all), and a last line over all where there are several.
std::string decomposition_table(const std::vector<NamedSplit>& tensors, const portable::ErrorSplit& all,
                                std::size_t top);

/// How to read the table, what the terms are worth (exact or rounded), and what was left out.
std::string decomposition_remarks(const portable::ErrorSplit& all, bool is_corrected);

/// Part of the whole in percent, "-" where there is no whole.
std::string share_text(double part, double whole);

}  // namespace fp4proof::cli
