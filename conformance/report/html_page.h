#pragma once
// One self-contained HTML page: text, tables and drawings inline, no script, nothing to load.

#include <string>
#include <vector>

#include "conformance/report/svg.h"

namespace fp4proof {

struct HtmlTable {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;
  std::size_t text_columns = 1;  ///< leading columns flush left; the others are numbers, flush right
};

/// A page under construction. Text is escaped.
class HtmlPage {
 public:
  HtmlPage(std::string title, std::string subtitle);

  void heading(const std::string& text);
  void paragraph(const std::string& text);
  void list(const std::vector<std::string>& items);
  void drawing(const SvgDrawing& drawing);
  void table(const HtmlTable& table);

  /// The document.
  std::string text() const;

 private:
  std::string title_;
  std::string subtitle_;
  std::string body_;
};

}  // namespace fp4proof
