#include "conformance/report/page_text.h"

#include <fmt/format.h>

#include "conformance/report/xml_text.h"

namespace fp4proof::report {

std::string shown(std::string_view text, std::size_t most) {
  return fmt::format("<bdi>{}</bdi>", xml_text(elided(text, most)));
}

std::string code(std::string_view text, std::size_t most) { return fmt::format("<code>{}</code>", shown(text, most)); }

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, "\u202f");
  return text;
}

std::string grouped(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", grouped(count), what, count == 1 ? "" : "s");
}

std::string tally_bar(const verify::Tally& tally) {
  if (tally.total() == 0) return {};
  std::string html = fmt::format("<div class=\"bar\" role=\"img\" aria-label=\"{}\">", verify::to_text(tally));
  const auto part = [&](const char* name, std::uint64_t count) {
    const double percent = 100.0 * static_cast<double>(count) / static_cast<double>(tally.total());
    if (count != 0) html += fmt::format("<i class=\"{}\" style=\"width:{:.2f}%\"></i>", name, percent);
  };
  part("failed", tally.failed);
  part("passed", tally.passed);
  part("skipped", tally.skipped);
  return html + "</div>";
}

std::string inline_drawing(const SvgDrawing& drawing, std::string_view name) {
  return fmt::format(
      "<svg class=\"chart\" role=\"img\" aria-label=\"{2}\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} "
      "{1:g}\">\n"
      "{3}</svg>\n",
      drawing.width, drawing.height, xml_attribute(name), drawing.body);
}

}  // namespace fp4proof::report
