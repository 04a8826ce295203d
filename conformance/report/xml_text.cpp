#include "conformance/report/xml_text.h"

#include <cstddef>

namespace fp4proof::report {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

std::string_view escaped(char c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return {};
  }
}

bool is_forbidden(std::string_view three) { return three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF"; }

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

std::string_view blank(char c, bool in_attribute) {
  if (c == '\n') return in_attribute ? "&#10;" : "\n";
  if (c == '\t') return in_attribute ? "&#9;" : "\t";
  return replacement;
}

std::string converted(std::string_view text, bool in_attribute) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_forbidden(text.substr(i, 3))) {
      result += replacement;
      i += 2;
    } else if (is_control(c)) {
      result += blank(c, in_attribute);
    } else if (const std::string_view name = escaped(c); !name.empty()) {
      result += name;
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string xml_text(std::string_view text) { return converted(text, false); }

std::string xml_attribute(std::string_view text) { return converted(text, true); }

}  // namespace fp4proof::report
