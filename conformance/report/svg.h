#pragma once
// What every chart is drawn with: SVG text, shapes, and the document around them. No script, no font file.
// Lengths are pixels at the document's natural size; y grows downwards.

#include <string>
#include <string_view>
#include <vector>

namespace fp4proof {

/// A part of a picture with its own origin at its upper left corner.
struct SvgDrawing {
  double width = 0;
  double height = 0;
  std::string body;
};

/// Colours that stay apart for colour-blind readers (after Okabe and Ito).
namespace palette {
inline constexpr const char* ink = "#222222";
inline constexpr const char* faint = "#555555";
inline constexpr const char* rule = "#dddddd";
inline constexpr const char* orange = "#e69f00";
inline constexpr const char* blue = "#0072b2";
inline constexpr const char* sky = "#8cc8ee";
}  // namespace palette

/// Text as XML content: markup escaped; what XML forbids (control characters, U+FFFE, U+FFFF) becomes U+FFFD.
std::string svg_escaped(std::string_view text);

/// `text` with its baseline at (x, y); `style` holds attributes.
std::string svg_text(double x, double y, std::string_view text, std::string_view style);

/// The same, turned to read upwards, centred on (x, y).
std::string svg_upward_text(double x, double y, std::string_view text, std::string_view style);

/// A filled rectangle; `title`, where there is one, is what a browser shows under the pointer.
std::string svg_rect(double x, double y, double width, double height, std::string_view fill,
                     std::string_view title = {});

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view style);

/// A drawing as a whole document on white ground.
std::string svg_document(const SvgDrawing& drawing);

/// Drawings one below the other, or side by side, `gap` apart.
SvgDrawing stacked(const std::vector<SvgDrawing>& drawings, double gap);
SvgDrawing side_by_side(const std::vector<SvgDrawing>& drawings, double gap);

/// At most `most` (>= 3) characters of UTF-8 text: the middle of a longer one becomes an ellipsis.
std::string elided(std::string_view text, std::size_t most);

/// A round distance of axis ticks (1, 2 or 5 times a power of ten) that cuts `range` > 0 into at most `most` parts.
double tick_step(double range, int most);

}  // namespace fp4proof
