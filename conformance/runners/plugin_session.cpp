#include "conformance/runners/plugin_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "conformance/backend.h"
#include "conformance/runners/message.h"
#include "conformance/runners/plugin_call.h"
#include "conformance/runners/plugin_host.h"
#include "conformance/runners/process_tree.h"
#include "conformance/vectors/os_error.h"

extern char** environ;

namespace fp4proof::runners {

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

/// A word that the plug-in cannot guess, so that nothing but the host can answer.
std::string new_token() {
  std::array<std::uint64_t, 2> words{};
  if (::getrandom(words.data(), sizeof words, 0) != sizeof words) return {};
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

/// Away from the numbers that the child uses.
FileDescriptor moved_up(FileDescriptor file) { return FileDescriptor(::fcntl(file.number(), F_DUPFD_CLOEXEC, 16)); }

pid_t spawn_guardian(std::string library, int channel, int status) {
  std::string program = "fp4proof";
  std::string verb = guardian_verb;
  const std::array<char*, 4> arguments = {program.data(), verb.data(), library.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, channel, channel_descriptor);
  ::posix_spawn_file_actions_adddup2(&actions, status, status_descriptor);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, status_descriptor + 1);
  pid_t guardian = -1;
  const int failure = ::posix_spawn(&guardian, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return failure == 0 ? guardian : -1;
}

std::string status_name(const json& status) {
  if (status == FP4PROOF_UNSUPPORTED) return "UNSUPPORTED";
  if (status == FP4PROOF_INVALID) return "INVALID";
  if (status == FP4PROOF_FAILED) return "FAILED";
  return fmt::format("the unknown status {}", status.dump());
}

/// Whether the host tells, before it dies, which tensor was touched outside.
bool is_touch(const Received& received, const std::string& token) {
  const json& body = received.message.body;
  return received.kind == Received::Kind::message && body.contains("token") && body["token"] == token &&
         body.contains("touched") && body["touched"].is_string();
}

}  // namespace

PluginSession::PluginSession(std::filesystem::path library, std::chrono::milliseconds limit)
    : library_(std::move(library)), limit_(limit), spared_(descendants_of(::getpid())) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

PluginSession::~PluginSession() {
  if (guardian_ > 0) end_processes();
}

bool PluginSession::start() {
  std::array<int, 2> channel{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel.data()) != 0) return false;
  channel_ = moved_up(FileDescriptor(channel[0]));
  const FileDescriptor far_channel = moved_up(FileDescriptor(channel[1]));
  std::array<int, 2> status{};
  if (::pipe2(status.data(), O_CLOEXEC) != 0) return false;
  status_ = moved_up(FileDescriptor(status[0]));
  const FileDescriptor far_status = moved_up(FileDescriptor(status[1]));
  guardian_ = spawn_guardian(library_.string(), far_channel.number(), far_status.number());
  return guardian_ > 0;
}

PluginAnswer PluginSession::open() {
  if (guardian_ > 0) return {{PluginAnswer::Kind::ok, {}}, {}};
  if (!start()) return lose("could not be given a process");
  PluginAnswer answer = exchange({{"ask", ask::open}}, {});
  if (answer.kind == PluginAnswer::Kind::lost) return lose("could not be loaded: it " + answer.why);
  if (answer.kind != PluginAnswer::Kind::ok) {
    return lose("could not be loaded: " + quote_path(answer.body["error"].get<std::string>()));
  }
  const json& backend = answer.body["backend"];
  description_ = {backend["name"], backend["version"], backend["description"], backend["abi_version"]};
  return answer;
}

PluginAnswer PluginSession::ask(std::string_view what, const json& call, std::span<const int> files) {
  PluginAnswer opened = open();
  if (opened.kind != PluginAnswer::Kind::ok) return opened;
  return exchange({{"ask", what}, {"call", call}}, files);
}

PluginAnswer PluginSession::exchange(json request, std::span<const int> files) {
  const std::string token = new_token();
  request["token"] = token;
  if (!send_message(channel_.number(), request, files)) return lose(how_host_ended());
  return await_reply(token);
}

PluginAnswer PluginSession::await_reply(const std::string& token) {
  const Clock::time_point deadline = Clock::now() + limit_;
  std::array<pollfd, 2> events = {pollfd{channel_.number(), POLLIN, 0}, pollfd{status_.number(), POLLIN, 0}};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      return lose(fmt::format("did not answer within {} s", static_cast<double>(limit_.count()) / 1000.0));
    }
    if (::poll(events.data(), events.size(), static_cast<int>(std::min<std::int64_t>(left, 1'000'000))) <= 0) continue;
    if ((events[0].revents & POLLIN) != 0) return read_reply(token);
    if (events[1].revents != 0) return lose(how_host_ended());
    if (events[0].revents != 0) return lose("closed its channel to the verifier");
  }
}

PluginAnswer PluginSession::read_reply(const std::string& token) {
  Received received = receive_message(channel_.number());
  if (received.kind == Received::Kind::end) return lose(how_host_ended());
  json& body = received.message.body;
  if (is_touch(received, token)) return lose(how_host_ended() + " at an access " + body["touched"].get<std::string>());
  const bool is_answer = received.kind == Received::Kind::message && body.contains("token") && body["token"] == token &&
                         body.contains("status") && body["status"].is_number_integer() && body.contains("error") &&
                         body["error"].is_string();
  if (!is_answer) return lose("wrote to the channel of the verifier, which is none of its business");
  if (body["status"] == FP4PROOF_OK) return {{PluginAnswer::Kind::ok, {}}, std::move(body)};
  const auto kind =
      body["status"] == FP4PROOF_UNSUPPORTED ? PluginAnswer::Kind::unsupported : PluginAnswer::Kind::refused;
  const std::string text = body["error"];
  std::string why =
      fmt::format("returned {}{}", status_name(body["status"]), text.empty() ? "" : ": " + quote_path(text));
  return {{kind, std::move(why)}, std::move(body)};
}

std::string PluginSession::how_host_ended() {
  pollfd event{status_.number(), POLLIN, 0};
  if (::poll(&event, 1, 5000) <= 0) return "closed its channel to the verifier";
  int status = 0;
  if (::read(status_.number(), &status, sizeof status) != sizeof status) return "killed its parent process";
  const bool lost_channel = status == channel_lost << 8;
  return lost_channel ? "lost its channel to the verifier: it closed descriptors that are not its own"
                      : ending_text(status);
}

PluginAnswer PluginSession::lose(std::string why) {
  end_processes();
  return {{PluginAnswer::Kind::lost, std::move(why)}, {}};
}

void PluginSession::end_processes() {
  end_descendants(spared_);
  guardian_ = -1;
  channel_ = FileDescriptor();
  status_ = FileDescriptor();
}

SessionEnd PluginSession::close() {
  if (guardian_ < 0) return {};
  const PluginAnswer answer = exchange({{"ask", ask::close}}, {});
  if (answer.kind != PluginAnswer::Kind::ok) return {answer.why, 0};
  SessionEnd end;
  const std::string ending = how_host_ended();
  if (ending != ending_text(0)) end.problem = ending;
  end.survivors = descendants_of(guardian_).size();
  end_processes();
  return end;
}

}  // namespace fp4proof::runners
