#include "conformance/runners/containment.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conformance/runners/process_tree.h"

namespace fp4proof::runners {

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Seccomp: a forbidden call ends the caller, so that it shows in the verdict.
// ---------------------------------------------------------------------------------------------------------------------

#if defined(__x86_64__)
constexpr std::uint32_t this_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t this_architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t this_architecture = 0;
#endif

constexpr std::uint32_t first_x32_call = 0x4000'0000;  // the second set of calls on x86-64
constexpr std::size_t most_targets = 200;              // jumps reach 255 instructions

/// A system call and which of its arguments is the process that it acts on.
struct TargetedCall {
  long number;
  unsigned argument;
};

constexpr auto targeted_calls = std::to_array<TargetedCall>({
    {SYS_kill, 0},
    {SYS_tkill, 0},
    {SYS_tgkill, 0},
    {SYS_rt_sigqueueinfo, 0},
    {SYS_rt_tgsigqueueinfo, 0},
    {SYS_pidfd_open, 0},
    {SYS_ptrace, 1},
    {SYS_process_vm_readv, 0},
    {SYS_process_vm_writev, 0},
    {SYS_prlimit64, 0},
});

constexpr std::uint32_t everybody = 0xFFFF'FFFF;  // kill(-1, ...)

sock_filter load(std::size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }

sock_filter jump_if_equal(std::uint32_t value, std::size_t then, std::size_t otherwise) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, static_cast<std::uint8_t>(then),
                  static_cast<std::uint8_t>(otherwise));
}

sock_filter result(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }

/// Process numbers are ints: the lower half of an argument.
std::size_t offset_of_argument(unsigned index) { return offsetof(seccomp_data, args) + index * sizeof(std::uint64_t); }

void forbid(TargetedCall call, std::span<const std::uint32_t> targets, std::vector<sock_filter>& program) {
  const std::size_t count = targets.size();
  program.push_back(jump_if_equal(static_cast<std::uint32_t>(call.number), 0, count + 3));
  program.push_back(load(offset_of_argument(call.argument)));
  for (std::size_t i = 0; i < count; ++i) program.push_back(jump_if_equal(targets[i], count - i, 0));
  program.push_back(result(SECCOMP_RET_ALLOW));
  program.push_back(result(SECCOMP_RET_KILL_PROCESS));
}

std::vector<sock_filter> filter_against(std::span<const std::uint32_t> targets) {
  std::vector<sock_filter> program = {
      load(offsetof(seccomp_data, arch)),
      jump_if_equal(this_architecture, 1, 0),
      result(SECCOMP_RET_KILL_PROCESS),
      load(offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first_x32_call, 0, 1),
      result(SECCOMP_RET_KILL_PROCESS),
  };
  for (const TargetedCall& call : targeted_calls) forbid(call, targets, program);
  program.push_back(result(SECCOMP_RET_ALLOW));
  return program;
}

/// The processes above this one with their threads and groups, and everybody.
std::vector<std::uint32_t> forbidden_targets() {
  std::vector<std::uint32_t> targets = {everybody};
  const auto add = [&](pid_t target) {
    if (target != 0 && targets.size() < most_targets) targets.push_back(static_cast<std::uint32_t>(target));
  };
  for (const pid_t process : ancestors_of(::getpid())) {
    add(process);
    const pid_t group = ::getpgid(process);
    if (group > 1) add(-group);
  }
  for (const pid_t thread : threads_of(::getppid())) add(thread);
  return targets;
}

bool forbid_calls_against_ancestors() {
  if (this_architecture == 0) return false;
  std::vector<sock_filter> program = filter_against(forbidden_targets());
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Landlock: a domain, out of which nothing can be signalled or traced. The headers of older systems know less.
// ---------------------------------------------------------------------------------------------------------------------

struct LandlockRules {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scopes = 0;
};

constexpr std::uint64_t making_block_devices = 1U << 11U;  // a domain must forbid something, and nobody needs this
constexpr std::uint64_t signals = 1U << 1U;
constexpr std::uint32_t ask_version = 1;

void enter_domain() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, ask_version);
  if (version < 1) return;
  const bool has_scopes = version >= 6;
  const LandlockRules rules = has_scopes ? LandlockRules{0, 0, signals} : LandlockRules{making_block_devices, 0, 0};
  const std::size_t size = has_scopes ? sizeof rules : sizeof rules.files;
  const auto ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, size, 0));
  if (ruleset < 0) return;
  ::syscall(SYS_landlock_restrict_self, ruleset, 0);
  ::close(ruleset);
}

void be_first_when_memory_runs_out() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t ignored = ::write(file, "1000", 4);
  static_cast<void>(ignored);
  ::close(file);
}

}  // namespace

bool contain_from_here_on() noexcept {
  be_first_when_memory_runs_out();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  enter_domain();
  return forbid_calls_against_ancestors();
}

}  // namespace fp4proof::runners
