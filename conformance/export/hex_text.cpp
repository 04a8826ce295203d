#include <fmt/format.h>

#include "conformance/export/names.h"
#include "conformance/export/text_files.h"

namespace fp4proof::exports {

std::string hex_text(const GroupColumns& group, const ColumnWords& column) {
  const Words& words = column.words;
  std::string text = fmt::format("// {} of {}: {}\n// {} words of {} bits, {} a case; address = case * {} + word\n",
                                 column.column->name, title_of(group), column.column->content, words.count(),
                                 words.width(), words.per_case(), words.per_case());
  for (std::uint64_t word = 0; word < words.count(); ++word) {
    text += words.hex(word);
    text += '\n';
  }
  return text;
}

}  // namespace fp4proof::exports
