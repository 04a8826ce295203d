#pragma once
// The process that holds a plug-in, and the one that watches over it. Both are the program itself, freshly executed.

#include <string>

namespace fp4proof::runners {

/// The verbs under which the program must call the functions below; each takes the path of the library.
inline constexpr const char* host_verb = "plugin-host";
inline constexpr const char* guardian_verb = "plugin-guardian";

/// The exit code of a host that lost its channel.
inline constexpr int channel_lost = 71;

/// Answers questions on channel_descriptor until it is told to close. Never returns; an exception of the plug-in ends
/// the process, and the verifier sees the signal.
// NOLINTNEXTLINE(bugprone-exception-escape): meant
[[noreturn]] void host_plugin(const std::string& library) noexcept;

/// Starts the host in a session of its own, tells the wait status of its end on status_descriptor, and stays until it
/// is killed, so that the host has a parent that may be lost. Ends with its parent, and everything below it with it.
[[noreturn]] void guard_plugin(const std::string& library) noexcept;

}  // namespace fp4proof::runners
