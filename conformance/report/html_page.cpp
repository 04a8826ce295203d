#include "conformance/report/html_page.h"

#include <fmt/format.h>

namespace fp4proof {

namespace {

constexpr const char* page_style =
    "body{font-family:system-ui,sans-serif;color:#222;max-width:1120px;margin:28px auto;padding:0 20px;"
    "line-height:1.45}\n"
    "h1{font-size:22px;margin-bottom:4px}\nh2{font-size:17px;margin:34px 0 10px}\n"
    ".subtitle{color:#555;margin-top:0}\nsvg{max-width:100%;height:auto;display:block;margin:14px 0}\n"
    "table{border-collapse:collapse;font-size:13px}\n"
    "th,td{padding:3px 10px;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}\n"
    ".text{text-align:left}\n.scroll{overflow-x:auto}\nli{font-size:13px;color:#444}\n";

std::string row_text(const std::vector<std::string>& cells, std::size_t text_columns, const char* tag) {
  std::string text = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += fmt::format("<{0}{1}>{2}</{0}>", tag, i < text_columns ? " class=\"text\"" : "", svg_escaped(cells[i]));
  }
  return text + "</tr>\n";
}

}  // namespace

HtmlPage::HtmlPage(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void HtmlPage::heading(const std::string& text) { body_ += fmt::format("<h2>{}</h2>\n", svg_escaped(text)); }

void HtmlPage::paragraph(const std::string& text) { body_ += fmt::format("<p>{}</p>\n", svg_escaped(text)); }

void HtmlPage::list(const std::vector<std::string>& items) {
  body_ += "<ul>\n";
  for (const std::string& item : items) body_ += fmt::format("<li>{}</li>\n", svg_escaped(item));
  body_ += "</ul>\n";
}

void HtmlPage::drawing(const SvgDrawing& drawing) { body_ += svg_document(drawing); }

void HtmlPage::table(const HtmlTable& table) {
  body_ += "<div class=\"scroll\"><table>\n" + row_text(table.headings, table.text_columns, "th");
  for (const auto& row : table.rows) body_ += row_text(row, table.text_columns, "td");
  body_ += "</table></div>\n";
}

std::string HtmlPage::text() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n"
      "<style>\n{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p class=\"subtitle\">{2}</p>\n{3}</body>\n</html>\n",
      svg_escaped(title_), page_style, svg_escaped(subtitle_), body_);
}

}  // namespace fp4proof
