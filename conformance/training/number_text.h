#pragma once
// Numbers as the records of a run hold them, those of a run that diverged too.

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

namespace fp4proof::training {

/// The shortest decimal that reads back to the same bits; `inf`, `-inf`; `nan` whatever its sign, which depends on the
/// machine.
template <class Float>
std::string number_text(Float number) {
  return std::isnan(number) ? "nan" : fmt::format("{}", number);
}

/// What number_text() makes of a number that is not finite.
inline bool is_not_finite(std::string_view text) { return text == "nan" || text == "inf" || text == "-inf"; }

}  // namespace fp4proof::training
