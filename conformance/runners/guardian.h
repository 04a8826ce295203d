#pragma once
// The process between the verifier and a subject's process, so that the latter has a parent that may be lost. It is the
// program itself, freshly executed.

#include <string>

namespace fp4proof::runners {

/// The verb under which the program must call guard(); it takes the verb and the argument of the guarded process.
inline constexpr const char* guardian_verb = "plugin-guardian";

/// The descriptors of the guardian: where it tells the wait status of what it guards, and the first of those that it
/// hands on to it under the same numbers.
inline constexpr int status_descriptor = 3;
inline constexpr int first_descriptor = 4;

/// The exit code of a process that lost its channel.
inline constexpr int channel_lost = 71;

/// Starts the program with `verb` and `argument` in a session of its own, contained (containment.h), tells the wait
/// status of its end on status_descriptor, and stays until it is killed. Ends with its parent, and everything below it
/// with it.
[[noreturn]] void guard(const std::string& verb, const std::string& argument) noexcept;

}  // namespace fp4proof::runners
