#include "conformance/runners/plugin_session.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "conformance/backend.h"
#include "conformance/runners/guardian.h"
#include "conformance/runners/message.h"
#include "conformance/runners/plugin_call.h"
#include "conformance/runners/plugin_host.h"
#include "conformance/runners/process_tree.h"
#include "conformance/vectors/os_error.h"

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

std::string status_name(const json& status) {
  if (status == FP4PROOF_INVALID) return "INVALID";
  if (status == FP4PROOF_FAILED) return "FAILED";
  return fmt::format("the unknown status {}", status.dump());
}

std::uint32_t number_field(const json& body, const char* key) {
  const auto field = body.find(key);
  return field != body.end() && field->is_number_unsigned() ? field->get<std::uint32_t>() : 0;
}

/// Whether the host tells, before it dies, which tensor was touched outside.
bool is_touch(const Received& received, const std::string& token) {
  const json& body = received.message.body;
  return received.kind == Received::Kind::message && body.contains("token") && body["token"] == token &&
         body.contains("touched") && body["touched"].is_string();
}

}  // namespace

PluginSession::PluginSession(std::filesystem::path library, std::chrono::milliseconds limit)
    : library_(std::move(library)), limit_(limit) {}

bool PluginSession::start() {
  std::array<int, 2> channel{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel.data()) != 0) return false;
  channel_ = moved_up(FileDescriptor(channel[0]));
  const FileDescriptor far_channel = moved_up(FileDescriptor(channel[1]));
  return process_.start(host_verb, library_.string(), std::array{far_channel.number()});
}

PluginAnswer PluginSession::open() {
  if (process_.is_started()) return {{PluginAnswer::Kind::ok, {}}, {}};
  if (!start()) return lose("could not be given a process");
  PluginAnswer answer = exchange({{"ask", ask::open}}, {});
  if (answer.kind == PluginAnswer::Kind::lost) return lose("could not be loaded: it " + answer.why);
  if (answer.kind != PluginAnswer::Kind::ok) {
    return lose("could not be loaded: " + quote_path(answer.body["error"].get<std::string>()));
  }
  const json backend = answer.body.value("backend", json::object());
  description_ = {text_field(backend, "name"), text_field(backend, "version"), text_field(backend, "description"),
                  number_field(backend, "abi_version")};
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
  std::array<pollfd, 2> events = {pollfd{channel_.number(), POLLIN, 0}, pollfd{process_.end_descriptor(), POLLIN, 0}};
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
  if (body["status"] == FP4PROOF_UNSUPPORTED) return {{PluginAnswer::Kind::unsupported, {}}, std::move(body)};
  const std::string text = body["error"];
  std::string why =
      fmt::format("returned {}{}", status_name(body["status"]), text.empty() ? "" : ": " + quote_path(text));
  return {{PluginAnswer::Kind::refused, std::move(why)}, std::move(body)};
}

std::string PluginSession::how_host_ended() {
  const Ending ending = process_.await_end(std::chrono::seconds(5));
  if (ending.kind == Ending::Kind::none) return "closed its channel to the verifier";
  if (ending.kind == Ending::Kind::orphaned) return "killed its parent process";
  const bool lost_channel = ending.status == channel_lost << 8;
  return lost_channel ? "lost its channel to the verifier: it closed descriptors that are not its own"
                      : ending_text(ending.status);
}

PluginAnswer PluginSession::lose(std::string why) {
  end_processes();
  return {{PluginAnswer::Kind::lost, std::move(why)}, {}};
}

void PluginSession::end_processes() {
  process_.end();
  channel_ = FileDescriptor();
}

SessionEnd PluginSession::close() {
  if (!process_.is_started()) return {};
  const PluginAnswer answer = exchange({{"ask", ask::close}}, {});
  if (answer.kind != PluginAnswer::Kind::ok) return {answer.why, 0};
  SessionEnd end;
  const std::string ending = how_host_ended();
  if (ending != ending_text(0)) end.problem = ending;
  end.survivors = process_.survivors();
  end_processes();
  return end;
}

}  // namespace fp4proof::runners
