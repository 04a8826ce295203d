#pragma once
// Names of files and of C identifiers, made from the names of operations, profiles and groups.

#include <string>

#include "conformance/export/column.h"

namespace fp4proof::exports {

/// "quantize mxfp4/ocp 1x32", for people.
std::string title_of(const GroupColumns& group);

/// The folder of a table, "quantize.mxfp4.ocp".
std::string folder_name(const suite::CaseTable& table);

/// How the files of a group start: its name with '.' for what a file name or a make rule cannot hold.
std::string file_stem(const suite::CaseGroup& group);

/// "fp4proof_quantize_mxfp4_ocp_1x32": letters, digits and underscores. Names that differ in punctuation alone would
/// become one; a '+' is written out as "plus".
std::string identifier_of(const GroupColumns& group);

}  // namespace fp4proof::exports
