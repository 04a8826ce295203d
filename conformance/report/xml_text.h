#pragma once
// Text of any origin inside XML and HTML.

#include <string>
#include <string_view>

namespace fp4proof::report {

/// Valid UTF-8 as content of an element: markup escaped. Line ends and tabs stay; every other control character, and
/// U+FFFE and U+FFFF, which XML forbids in any form, become U+FFFD.
std::string xml_text(std::string_view text);

/// The same between double quotes; line ends and tabs are character references, which parsers keep.
std::string xml_attribute(std::string_view text);

}  // namespace fp4proof::report
