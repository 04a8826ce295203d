#pragma once
// Refusals of the operating system, turned into errors that say what, where and how to mend it.

#include <filesystem>
#include <string>
#include <string_view>

#include "formats/result.h"

namespace fp4proof {

/// An `io` error "cannot ACTION 'PATH': REASON", with a hint for the common reasons.
/// @param action  a verb phrase, for example "open" or "write to"
/// @param number  the value of errno right after the failed call
Error os_error(std::string_view action, const std::filesystem::path& path, int number);

/// Text from a file or a user, fit for an error message: quoted, control characters and invalid UTF-8 escaped,
/// cut after 80 bytes.
std::string quote(std::string_view text);

/// quote(path) for messages.
std::string quote_path(const std::filesystem::path& path);

}  // namespace fp4proof
