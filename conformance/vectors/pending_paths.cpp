#include "conformance/vectors/pending_paths.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace fp4proof {
namespace {

constexpr std::size_t most_paths = 64;
constexpr std::size_t longest_path = 4096;
constexpr int deepest_folder = 8;

enum SlotState : int { is_free, is_changing, is_pending };

struct Slot {
  std::atomic<int> state = is_free;
  std::array<char, longest_path> path = {};
};

static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may read nothing else");

std::array<Slot, most_paths>& slots() {
  static std::array<Slot, most_paths> all;
  return all;
}

// Made before any handler can run: initialisation of a local static is no business of a signal handler.
std::array<Slot, most_paths>* const all_slots = &slots();

// ---------------------------------------------------------------------------------------------------------------------
// In the signal handler: system calls alone, no memory, no locks
// ---------------------------------------------------------------------------------------------------------------------

/// The head of what getdents64 writes.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
};
constexpr std::size_t name_offset = 19;

bool is_dots(const char* name) { return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0')); }

void remove_entry(int folder, const char* name, int depth);

void empty_folder(int folder, int depth) {
  alignas(DirectoryEntry) std::array<char, 2048> buffer;
  for (long size = 0; (size = ::syscall(SYS_getdents64, folder, buffer.data(), buffer.size())) > 0;) {
    for (long at = 0; at < size;) {
      DirectoryEntry entry;
      std::memcpy(&entry, buffer.data() + at, sizeof entry);
      const char* name = buffer.data() + at + name_offset;
      if (!is_dots(name)) remove_entry(folder, name, depth);
      at += entry.length;
    }
  }
}

void remove_entry(int folder, const char* name, int depth) {
  if (::unlinkat(folder, name, 0) == 0 || depth == 0) return;
  const int inner = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0) return;
  empty_folder(inner, depth - 1);
  ::close(inner);
  ::unlinkat(folder, name, AT_REMOVEDIR);
}

void remove_and_die(int signal) {
  remove_pending_paths();
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(signal, &by_default, nullptr);
  ::raise(signal);  // it is blocked here, and ends the process when this function returns
}

}  // namespace

PendingPath::PendingPath(const std::filesystem::path& path) {
  std::error_code failure;
  const std::string text = std::filesystem::absolute(path, failure).string();
  if (failure || text.size() + 1 > longest_path) return;
  for (std::size_t i = 0; i < most_paths; ++i) {
    Slot& slot = (*all_slots)[i];
    int expected = is_free;
    if (!slot.state.compare_exchange_strong(expected, is_changing)) continue;
    std::memcpy(slot.path.data(), text.c_str(), text.size() + 1);
    slot.state.store(is_pending);
    slot_ = static_cast<int>(i);
    return;
  }
}

PendingPath::PendingPath(PendingPath&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

PendingPath& PendingPath::operator=(PendingPath&& other) noexcept {
  if (this != &other) {
    release();
    slot_ = std::exchange(other.slot_, -1);
  }
  return *this;
}

void PendingPath::release() noexcept {
  if (slot_ >= 0) (*all_slots)[static_cast<std::size_t>(slot_)].state.store(is_free);
  slot_ = -1;
}

void remove_pending_paths() {
  for (Slot& slot : *all_slots) {
    if (slot.state.load() == is_pending) remove_entry(AT_FDCWD, slot.path.data(), deepest_folder);
  }
}

void remove_pending_paths_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction current {};
    if (::sigaction(signal, nullptr, &current) != 0 || current.sa_handler == SIG_IGN) continue;
    struct sigaction removing {};
    removing.sa_handler = remove_and_die;
    ::sigfillset(&removing.sa_mask);
    ::sigaction(signal, &removing, nullptr);
  }
}

}  // namespace fp4proof
