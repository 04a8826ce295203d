#pragma once
// The process that holds a plug-in: the program itself, freshly executed under a guardian.

#include <string>

#include "conformance/runners/guardian.h"

namespace fp4proof::runners {

/// The verb under which the program must call host_plugin(); it takes the path of the library.
inline constexpr const char* host_verb = "plugin-host";

/// The socket to the verifier.
inline constexpr int channel_descriptor = first_descriptor;

/// Answers questions on channel_descriptor until it is told to close. Never returns; an exception of the plug-in ends
/// the process, and the verifier sees the signal.
// NOLINTNEXTLINE(bugprone-exception-escape): meant
[[noreturn]] void host_plugin(const std::string& library) noexcept;

}  // namespace fp4proof::runners
