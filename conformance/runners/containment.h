#pragma once
// Keeping what a subject does away from the processes above it.

namespace fp4proof::runners {

/// Contains this process and everything that it starts from now on. None of it needs privileges; what the system does
/// not offer is left out:
/// - A system call that would signal every process, or signal, stop, trace, read, write or limit a process above this
///   one, ends the caller with SIGSYS (seccomp). Setuid programs lose their privileges.
/// - Neither signals nor traces reach a process outside, whatever the call (Landlock, Linux 5.13 for traces and
///   /proc/PID/mem, 6.12 for signals).
/// - When memory runs out, the kernel ends these processes first.
/// False where the first of them is not there.
bool contain_from_here_on() noexcept;

}  // namespace fp4proof::runners
