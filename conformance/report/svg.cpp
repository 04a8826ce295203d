#include "conformance/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fp4proof {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

/// Byte offset of the character with that index.
std::size_t offset_of(std::string_view text, std::size_t index) {
  std::size_t offset = 0;
  for (; offset < text.size(); ++offset) {
    if (is_continuation(text[offset])) continue;
    if (index == 0) return offset;
    --index;
  }
  return offset;
}

std::string placed(const SvgDrawing& drawing, double x, double y) {
  return fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n{}</g>\n", x, y, drawing.body);
}

}  // namespace

std::string svg_escaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const std::string_view three = text.substr(i, 3);
    if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
      result += replacement;
      i += 2;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += replacement;
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else {
      result += c;
    }
  }
  return result;
}

std::string svg_text(double x, double y, std::string_view text, std::string_view style) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, svg_escaped(text));
}

std::string svg_upward_text(double x, double y, std::string_view text, std::string_view style) {
  return fmt::format("<text transform=\"translate({:g} {:.1f}) rotate(-90)\" text-anchor=\"middle\" {}>{}</text>\n", x,
                     y, style, svg_escaped(text));
}

std::string svg_rect(double x, double y, double width, double height, std::string_view fill, std::string_view title) {
  const std::string shape = fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"", x, y, width, height, fill);
  if (title.empty()) return shape + "/>\n";
  return fmt::format("{}><title>{}</title></rect>\n", shape, svg_escaped(title));
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, x2, y1, y2, style);
}

std::string svg_document(const SvgDrawing& drawing) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" "
             "font-family=\"system-ui, "
             "sans-serif\">\n<style>.tick{{font-size:12px;fill:#555}}.label{{font-size:13px}}</style>\n"
             "<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"white\"/>\n",
             drawing.width, drawing.height) +
         drawing.body + "</svg>\n";
}

SvgDrawing stacked(const std::vector<SvgDrawing>& drawings, double gap) {
  SvgDrawing all;
  for (const SvgDrawing& drawing : drawings) {
    if (all.height > 0) all.height += gap;
    all.body += placed(drawing, 0, all.height);
    all.height += drawing.height;
    all.width = std::max(all.width, drawing.width);
  }
  return all;
}

SvgDrawing side_by_side(const std::vector<SvgDrawing>& drawings, double gap) {
  SvgDrawing all;
  for (const SvgDrawing& drawing : drawings) {
    if (all.width > 0) all.width += gap;
    all.body += placed(drawing, all.width, 0);
    all.width += drawing.width;
    all.height = std::max(all.height, drawing.height);
  }
  return all;
}

std::string elided(std::string_view text, std::size_t most) {
  const std::size_t count = characters(text);
  if (count <= most) return std::string(text);
  const std::size_t front = (most - 1) / 2;
  const std::size_t back = most - 1 - front;
  return std::string(text.substr(0, offset_of(text, front))) + "\u2026" +
         std::string(text.substr(offset_of(text, count - back)));
}

double tick_step(double range, int most) {
  const double rough = range / most;
  const double decade = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range <= factor * decade * most * (1 + 1e-9)) return factor * decade;
  }
  return 10 * decade;
}

}  // namespace fp4proof
