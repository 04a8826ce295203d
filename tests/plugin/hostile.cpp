// A plug-in that answers everything with zeros, which is wrong, and does what the environment variable FP4PROOF_HOSTILE
// names so that its run may look right. Nothing here can reach the processes of a machine that contains nothing: where
// everybody is the target, the signal is 0.

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <chrono>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "conformance/backend.h"

namespace {

constexpr std::string_view fake_verdict = "666 passed, 0 failed, 0 skipped\n";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

void write_all(int file, std::string_view text) {
  const ssize_t ignored = ::write(file, text.data(), text.size());
  static_cast<void>(ignored);
}

void write_to(const std::string& path, std::string_view text) { std::ofstream(path) << text; }

[[noreturn]] void sleep_for_ever() {
  while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
}

/// The parent of the guardian.
pid_t verifier() {
  std::ifstream file("/proc/" + std::to_string(::getppid()) + "/stat");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string stat = text.str();
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  char state = 0;
  pid_t parent = 0;
  fields >> state >> parent;
  return parent;
}

void leave_survivor(const std::function<void()>& later) {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  while (true) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    later();
  }
}

/// Zeros in place of every tensor of a vector file, the expected ones among them.
void zero_vectors() {
  const int file = ::open(variable("FP4PROOF_HOSTILE_PATH").c_str(), O_RDWR | O_CLOEXEC);
  std::uint64_t header = 0;
  if (file < 0 || ::pread(file, &header, sizeof header, 0) != sizeof header) return;
  struct stat status {};
  ::fstat(file, &status);
  const std::vector<char> zeros(static_cast<std::size_t>(status.st_size) - 8 - header);
  const ssize_t ignored = ::pwrite(file, zeros.data(), zeros.size(), static_cast<off_t>(8 + header));
  static_cast<void>(ignored);
  ::close(file);
}

/// Fills the outputs from a thread after run() has returned.
void write_late() {
  std::vector<int> files;
  DIR* folder = ::opendir("/proc/self/fd");
  while (const dirent* entry = ::readdir(folder)) {
    std::vector<char> target(256);
    const std::string link = std::string("/proc/self/fd/") + entry->d_name;
    if (::readlink(link.c_str(), target.data(), target.size() - 1) <= 0) continue;
    if (std::string_view(target.data()).starts_with("/memfd:fp4proof"))
      files.push_back(::dup(std::atoi(entry->d_name)));
  }
  ::closedir(folder);
  std::thread([files] {
    const std::vector<char> ones(1U << 16U, '\1');
    for (int round = 0; round < 200; ++round) {
      for (const int file : files) {
        const ssize_t ignored = ::pwrite(file, ones.data(), 64, 0);
        static_cast<void>(ignored);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    for (const int file : files) ::close(file);
  }).detach();
}

void limit(int resource, pid_t process) {
  const rlimit least{0, 0};
  ::syscall(SYS_prlimit64, process, resource, &least, nullptr);
}

void read_verifier_by_call() {
  char byte = 0;
  const iovec here{&byte, 1};
  const iovec there{&byte, 1};
  ::process_vm_readv(verifier(), &here, 1, &there, 1, 0);
}

void open_verifier_memory() {
  const int file = ::open(("/proc/" + std::to_string(verifier()) + "/mem").c_str(), O_RDWR | O_CLOEXEC);
  if (file >= 0) write_all(STDERR_FILENO, "the memory of the verifier is open\n");
}

void fake_through_verifier() {
  const int file = ::open(("/proc/" + std::to_string(verifier()) + "/fd/1").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file >= 0) write_all(file, fake_verdict);
}

void flood() {
  const std::string text(1U << 16U, 'x');
  while (true) write_all(STDOUT_FILENO, text);
}

/// As under a `ulimit -d`, so that the machine of the test keeps its memory.
void allocate_without_end() {
  const rlimit half_a_gigabyte{std::size_t{1} << 29U, std::size_t{1} << 29U};
  ::setrlimit(RLIMIT_DATA, &half_a_gigabyte);
  std::vector<std::vector<char>> held;
  while (true) held.emplace_back(std::size_t{1} << 26U, 'x');
}

std::jmp_buf frame_that_is_gone;

const fp4proof_call* call_at_hand = nullptr;

/// Whether a block of the call has the scale code of NaN.
bool has_nan_scale() {
  const fp4proof_tensor* scales = fp4proof_tensor_at(call_at_hand, call_at_hand->inputs, 1);
  const std::size_t count = static_cast<std::size_t>(scales->shape[0] * scales->shape[1] * scales->shape[2]);
  return std::memchr(scales->data, 255, count) != nullptr;
}

void print_fake_verdict() {
  write_all(STDOUT_FILENO, fake_verdict);
  write_all(STDERR_FILENO, fake_verdict);
}

extern fp4proof_backend backend;

/// A text of bytes that a message must spell out, each with six.
const char* text_of_ones(std::size_t bytes) {
  static std::string text;
  text.assign(bytes, '\1');
  return text.c_str();
}

/// What happens when, by "when: what".
using Deeds = std::map<std::string, std::function<void()>, std::less<>>;

const Deeds& deeds() {
  static const Deeds table = {
      {"constructor: exit", [] { ::_exit(0); }},
      {"constructor: hang", sleep_for_ever},
      {"open: exit", [] { ::_exit(0); }},
      {"open: long name", [] { backend.name = text_of_ones(60'000); }},
      {"open: long version", [] { backend.version = text_of_ones(2049); }},
      {"open: long description", [] { backend.description = text_of_ones(1'000'000); }},
      {"open: texts of 2048 bytes", [] { backend.name = backend.version = backend.description = text_of_ones(2048); }},
      {"supports: exit", [] { ::_exit(0); }},
      {"supports: hang", sleep_for_ever},
      {"run: exit", [] { std::exit(0); }},
      {"run: exit in a thread", [] { std::thread([] { std::exit(0); }).join(); }},
      {"run: exit by a handler",
       [] {
         std::atexit([] { ::_exit(0); });
         std::exit(3);
       }},
      {"run: another program", [] { ::execl("/bin/true", "true", nullptr); }},
      {"close: exit", [] { std::exit(0); }},
      {"run: close descriptors",
       [] {
         for (int file = 0; file < 1024; ++file) ::close(file);
       }},
      {"run: kill the guardian", [] { ::kill(::getppid(), SIGKILL); }},
      {"run: stop the guardian", [] { ::kill(::getppid(), SIGSTOP); }},
      {"run: trace the guardian", [] { ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr); }},
      {"run: kill its group", [] { ::kill(0, SIGKILL); }},
      {"run: signal everybody", [] { ::kill(-1, 0); }},
      {"run: kill the verifier", [] { ::kill(verifier(), SIGKILL); }},
      {"run: kill the verifier's thread", [] { ::syscall(SYS_tgkill, verifier(), verifier(), SIGKILL); }},
      {"run: signal the verifier's group", [] { ::kill(-::getpgid(verifier()), 0); }},
      {"run: stop the verifier", [] { ::kill(verifier(), SIGSTOP); }},
      {"run: trace the verifier", [] { ::ptrace(PTRACE_ATTACH, verifier(), nullptr, nullptr); }},
      {"run: read the verifier", read_verifier_by_call},
      {"run: open the verifier's memory", open_verifier_memory},
      {"run: limit the verifier", [] { limit(RLIMIT_CPU, verifier()); }},
      {"run: limit itself", [] { limit(RLIMIT_NOFILE, 0); }},
      {"run: stop itself", [] { ::raise(SIGSTOP); }},
      {"run: survivors",
       [] {
         for (int i = 0; i < 8; ++i) leave_survivor([] {});
       }},
      {"close: survivor that writes the report",
       [] { leave_survivor([] { write_to(variable("FP4PROOF_HOSTILE_PATH"), R"({"exit_code": 0})"); }); }},
      {"run: write the report", [] { write_to(variable("FP4PROOF_HOSTILE_PATH"), R"({"exit_code": 0})"); }},
      {"constructor: write the vectors", zero_vectors},
      {"run: write the vectors", zero_vectors},
      {"constructor: cut the vectors",
       [] { static_cast<void>(::truncate(variable("FP4PROOF_HOSTILE_PATH").c_str(), 100)); }},
      {"run: print a verdict", print_fake_verdict},
      {"close: print a verdict", print_fake_verdict},
      {"run: print through the verifier", fake_through_verifier},
      {"run: write late", write_late},
      {"run: flood", flood},
      {"run: throw", [] { throw std::runtime_error("hostile"); }},
      {"run: throw in a thread", [] { std::thread([] { throw std::runtime_error("hostile"); }).join(); }},
      {"run: abort in a thread", [] { std::thread([] { std::abort(); }).join(); }},
      {"run: jump", [] { std::longjmp(frame_that_is_gone, 1); }},
      {"run: allocate", allocate_without_end},
      {"run: crash at a NaN",
       [] {
         if (has_nan_scale()) std::abort();
       }},
      {"run: crash in company",
       [] {
         if (call_at_hand->cases > 2) std::abort();
       }},
  };
  return table;
}

void do_at(const std::string& when) {
  const auto deed = deeds().find(variable("FP4PROOF_HOSTILE"));
  if (deed != deeds().end() && deed->first.starts_with(when + ": ")) deed->second();
}

fp4proof_status supports(const fp4proof_call* call) {
  do_at("supports");
  static_cast<void>(setjmp(frame_that_is_gone));
  const bool ours = std::string_view(call->operation) == "dequantize" && std::string_view(call->profile) == "mxfp4/ocp";
  return ours ? FP4PROOF_OK : FP4PROOF_UNSUPPORTED;
}

fp4proof_status run(const fp4proof_call* call) {
  for (std::int32_t i = 0; i < call->output_count; ++i) {
    const fp4proof_tensor* tensor = fp4proof_tensor_at(call, call->outputs, i);
    std::size_t bytes = tensor->dtype == FP4PROOF_U32 ? 4 : 1;
    for (std::int32_t d = 0; d < tensor->rank; ++d) bytes *= static_cast<std::size_t>(tensor->shape[d]);
    std::memset(tensor->data, 0, bytes);
  }
  call_at_hand = call;
  do_at("run");
  return FP4PROOF_OK;
}

fp4proof_backend backend = {
    .size = sizeof(fp4proof_backend),
    .abi_version = FP4PROOF_ABI_VERSION,
    .reserved = 0,
    .name = "hostile",
    .version = "1",
    .description = "answers with zeros and wants to pass",
    .flags = FP4PROOF_TAKES_HOST_MEMORY,
    .supports = supports,
    .run = run,
    .close = [] { do_at("close"); },
    .device_memory = nullptr,
};

__attribute__((constructor)) void on_load() { do_at("constructor"); }

}  // namespace

extern "C" const fp4proof_backend* fp4proof_open_backend(std::uint32_t) {
  do_at("open");
  return &backend;
}
