#include "conformance/report/page_frame.h"

#include <fmt/format.h>

#include "conformance/report/xml_text.h"

namespace fp4proof::report {

std::string to_html(const Banner& banner) {
  return fmt::format(
      "<section class=\"card verdict {}\"><svg class=\"mark\" viewBox=\"0 0 80 80\" aria-hidden=\"true\">"
      "<circle cx=\"40\" cy=\"40\" r=\"35\"/>{}</svg><div class=\"word\"><b>{}</b><span>{}</span></div>"
      "<div class=\"why\">{}</div></section>\n",
      banner.style, banner.mark, banner.word, banner.below, banner.why);
}

std::string html_document(const std::string& title, const std::string& style, const std::string& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
         xml_text(title) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n<main>\n" + body +
         "</main>\n</body>\n</html>\n";
}

}  // namespace fp4proof::report
