#pragma once
// What kind of window, if any, reads our output.

#include <cstdio>
#include <string>
#include <string_view>

namespace fp4proof::cli {

/// Whether `stream` is a terminal.
bool is_terminal(std::FILE* stream);

/// Whether colour belongs on `stream`: it is a terminal other than `TERM=dumb`, and NO_COLOR is unset or empty
/// (https://no-color.org).
bool wants_colour(std::FILE* stream);

namespace ansi {
inline constexpr std::string_view red = "\033[31m";
inline constexpr std::string_view green = "\033[32m";
inline constexpr std::string_view cyan = "\033[36m";
inline constexpr std::string_view reset = "\033[0m";
}  // namespace ansi

/// `text` in a colour of `ansi` when `on`, else as it is.
std::string coloured(std::string_view text, std::string_view colour, bool on);

}  // namespace fp4proof::cli
