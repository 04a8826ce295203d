#pragma once
// What stands between the guardian and a vendor's program: it connects the pipes and becomes the program.

#include <string>
#include <vector>

#include "conformance/runners/guardian.h"

namespace fp4proof::runners {

/// The verb under which the program must call host_process(); it takes one_word() of the command.
inline constexpr const char* process_verb = "process-host";

/// The program's standard input and output.
inline constexpr int program_input = first_descriptor;
inline constexpr int program_output = first_descriptor + 1;

/// The exit code of a command that could not be started, as shells have it.
inline constexpr int not_started = 127;

/// Arguments as one word of hexadecimal digits, so that nothing in them is taken for an option.
std::string one_word(const std::vector<std::string>& arguments);

/// Becomes the program. Ends with not_started where it cannot be started, and says why on the standard error.
[[noreturn]] void host_process(const std::string& command) noexcept;

}  // namespace fp4proof::runners
