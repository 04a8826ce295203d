#pragma once
// Small pieces of the pages of verdicts. Results are HTML; texts given are plain.

#include <cstdint>
#include <string>
#include <string_view>

#include "conformance/report/svg.h"
#include "conformance/verify/report.h"

namespace fp4proof::report {

/// Text of any origin as content, at most `most` characters of it, kept apart from the direction of the text around it.
std::string shown(std::string_view text, std::size_t most = 300);

/// shown() in a fixed-width font.
std::string code(std::string_view text, std::size_t most = 300);

/// 40112 as "40 112", with narrow spaces that do not break.
std::string grouped(std::uint64_t number);

/// grouped() and what is counted.
std::string grouped(std::uint64_t count, std::string_view what);

/// A bar of passed, failed and skipped, as wide as its place.
std::string tally_bar(const verify::Tally& tally);

/// A drawing inside a page whose style colours it; `name` is what a screen reader says.
std::string inline_drawing(const SvgDrawing& drawing, std::string_view name);

}  // namespace fp4proof::report
