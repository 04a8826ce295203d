#pragma once
// How corrections are written down in files: the stack as text, the sizes of a packed residual.

#include <cstdint>
#include <string>
#include <string_view>

#include "conformance/corrections/stack_json.h"
#include "formats/result.h"
#include "formats/spec_corrections.h"
#include "reference/portable/geometry.h"

namespace fp4proof::cli {

/// Whether the stack does anything beside plain quantization, whatever its name is.
bool corrects(const CorrectionStack& stack);

/// The complete stack as JSON in one line, so that a stack of the user's own can be read back.
std::string text_of_stack(const CorrectionStack& stack);

/// The inverse. A `corrupt` error that starts with `what` for text that is no stack, and for a named stack whose parts
/// are not those of its name.
Result<SharedStack> stack_of_text(const std::string& text, std::string_view what);

/// The stack without its residual, under a name that says so: what the other operand of a product gets.
Result<SharedStack> without_residual(const SharedStack& stack);

/// Whether the residual can be stored packed (C26): 2:4 and 4-bit elements.
bool can_be_packed(const Profile& profile, const CorrectionStack& stack);

/// Bytes of one row of a packed residual: one a group of four, and one two groups.
std::int64_t packed_code_bytes_per_row(const portable::Geometry& geometry);
std::int64_t place_bytes_per_row(const portable::Geometry& geometry);

}  // namespace fp4proof::cli
