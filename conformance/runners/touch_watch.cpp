#include "conformance/runners/touch_watch.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

namespace fp4proof::runners {

namespace {

constexpr std::array bad_access_signals = {SIGSEGV, SIGBUS};
constexpr std::size_t stack_bytes = 64 * 1024;

const TouchWatch* current = nullptr;
std::array<struct sigaction, bad_access_signals.size()> before{};

}  // namespace

// In the signal handler: the packets are ready, and send() is all that it calls.
void tell_touch(const void* address) {
  const auto* byte = static_cast<const std::uint8_t*>(address);
  for (const TouchWatch::Range& range : current->ranges_) {
    if (byte < range.begin || byte >= range.end) continue;
    const ssize_t ignored = ::send(current->socket_, range.packet.data(), range.packet.size(), MSG_NOSIGNAL);
    static_cast<void>(ignored);
    return;
  }
}

namespace {

// Returning repeats the access under the action that was there before. A signal that a process sent repeats nothing.
void on_bad_access(int signal, siginfo_t* info, void*) {
  const bool is_sent = info->si_code <= 0;
  if (!is_sent) tell_touch(info->si_addr);
  for (std::size_t i = 0; i < bad_access_signals.size(); ++i) ::sigaction(bad_access_signals[i], &before[i], nullptr);
  if (is_sent) ::raise(signal);
}

}  // namespace

void TouchWatch::add(const MappedTensor& tensor, const std::string& label, const std::string& token) {
  const auto range = [&](const std::uint8_t* begin, const std::uint8_t* end, std::string_view where) {
    ranges_.push_back(
        {begin, end, nlohmann::json({{"token", token}, {"touched", fmt::format("{}{}", where, label)}}).dump()});
  };
  const auto* data = static_cast<const std::uint8_t*>(tensor.data());
  range(tensor.base(), data, "in front of ");
  range(data, data + tensor.bytes(), "in ");
  range(data + tensor.bytes(), tensor.base() + tensor.length(), "behind ");
}

void TouchWatch::begin() {
  current = this;
  watching_ = true;
  stack_.resize(stack_bytes);
  stack_t stack{};
  stack.ss_sp = stack_.data();
  stack.ss_size = stack_.size();
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_bad_access;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < bad_access_signals.size(); ++i) ::sigaction(bad_access_signals[i], &action, &before[i]);
}

TouchWatch::~TouchWatch() {
  if (!watching_) return;
  for (std::size_t i = 0; i < bad_access_signals.size(); ++i) {
    struct sigaction now {};
    ::sigaction(bad_access_signals[i], nullptr, &now);
    const bool is_ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_bad_access;
    if (is_ours) ::sigaction(bad_access_signals[i], &before[i], nullptr);
  }
  stack_t off{};
  off.ss_flags = SS_DISABLE;
  ::sigaltstack(&off, nullptr);
  current = nullptr;
}

}  // namespace fp4proof::runners
