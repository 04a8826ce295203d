#pragma once
// The text formats: memory files of Verilog, CSV, C headers.

#include <span>
#include <string>
#include <vector>

#include "conformance/export/words.h"

namespace fp4proof::exports {

/// A column and its words.
struct ColumnWords {
  const Column* column = nullptr;
  Words words;
};

/// One memory of `$readmemh`: a comment that says what it holds, then one word a line, lower-case hexadecimal digits
/// without prefix, as many as the width needs. The first word stands at address 0; word w of case k at
/// k * words.per_case() + w.
std::string hex_text(const GroupColumns& group, const ColumnWords& column);

/// A row a case, lines ended by LF. The first line names the columns: case_id (16 hexadecimal digits), class (its
/// name), then the tensors, whose words stand in one field, separated by spaces, in hexadecimal digits as in
/// hex_text(). No field holds a comma or a quote. `class_names` has the name of every class index.
std::string csv_text(const GroupColumns& group, std::span<const std::string> class_names,
                     std::span<const ColumnWords> columns);

/// A C99 header: include guard, <stdint.h>, the numbers of cases and of words of each case as an enumeration, one
/// `static const` array NAME_COLUMN[cases][words] a column, and NAME_class_name[cases]. Words hold one number each.
std::string c_header_text(const GroupColumns& group, std::span<const std::string> class_names,
                          std::span<const ColumnWords> columns);

}  // namespace fp4proof::exports
