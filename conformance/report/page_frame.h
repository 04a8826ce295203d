#pragma once
// The frame of a page: the document around it, and the card at its top: one word, a mark that tells it without colours,
// and why.

#include <string>

namespace fp4proof::report {

struct Banner {
  std::string style;  ///< class of the colours: pass, fail, info, warn or none
  std::string mark;   ///< SVG paths inside a circle of 80 x 80
  std::string word;   ///< HTML
  std::string below;  ///< HTML, a line under the word
  std::string why;    ///< HTML
};

namespace marks {
inline constexpr const char* tick = "<path d=\"M24 41l11 11 22-24\"/>";
inline constexpr const char* cross = "<path d=\"M27 27l26 26M53 27l-26 26\"/>";
inline constexpr const char* wave = "<path d=\"M24 46c8-18 12 8 20-6s10-10 13-6\"/>";
inline constexpr const char* dots = "<path d=\"M26 40h28\" stroke-dasharray=\"1 13\"/>";
inline constexpr const char* exclamation = "<path d=\"M40 23v20M40 57v.5\"/>";
}  // namespace marks

std::string to_html(const Banner& banner);

/// A whole page: `title` is plain text, `body` HTML.
std::string html_document(const std::string& title, const std::string& style, const std::string& body);

}  // namespace fp4proof::report
