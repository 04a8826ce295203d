#include "conformance/export/text_files.h"

namespace fp4proof::exports {

std::string csv_text(const GroupColumns& group, std::span<const std::string> class_names,
                     std::span<const ColumnWords> columns) {
  std::string text = "case_id,class";
  for (const ColumnWords& column : columns) {
    if (column.column->role != Role::identity) text += "," + column.column->name;
  }
  text += '\n';
  const suite::CaseGroup& cases = *group.group;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    text += suite::id_text(cases.ids[i]) + "," + class_names[cases.classes[i]];
    for (const ColumnWords& column : columns) {
      if (column.column->role == Role::identity) continue;
      const std::uint64_t per_case = column.words.per_case();
      for (std::uint64_t word = 0; word < per_case; ++word) {
        text += word == 0 ? ',' : ' ';
        text += column.words.hex(i * per_case + word);
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace fp4proof::exports
