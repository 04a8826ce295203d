#include "conformance/runners/process_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

#include "conformance/runners/process_host.h"
#include "conformance/runners/process_tree.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::runners {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t chunk_bytes = 64 * 1024;

/// Keeps SIGPIPE from this thread: writing to a program that is gone is no reason to end.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() {
    const timespec now{0, 0};
    if (::sigismember(&before_, SIGPIPE) == 0) ::sigtimedwait(&pipe_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

struct Pipe {
  FileDescriptor reading;
  FileDescriptor writing;
};

Pipe new_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {moved_up(FileDescriptor(ends[0])), moved_up(FileDescriptor(ends[1]))};
}

void never_wait(const FileDescriptor& file) { ::fcntl(file.number(), F_SETFL, O_NONBLOCK); }

std::string exceeded(std::chrono::milliseconds limit) {
  return fmt::format("did not answer within {} s", static_cast<double>(limit.count()) / 1000.0);
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

}  // namespace

ProcessSession::ProcessSession(std::vector<std::string> arguments, std::chrono::milliseconds limit)
    : arguments_(std::move(arguments)), limit_(limit) {}

bool ProcessSession::start() {
  Pipe input = new_pipe();
  Pipe output = new_pipe();
  if (!input.writing.is_open() || !output.reading.is_open()) return false;
  if (!process_.start(process_verb, one_word(arguments_),
                      std::array{input.reading.number(), output.writing.number()})) {
    return false;
  }
  input_ = std::move(input.writing);
  output_ = std::move(output.reading);
  never_wait(input_);
  never_wait(output_);
  input_is_gone_ = false;
  has_answered_ = false;
  return true;
}

/// What the program wrote though nothing was asked.
std::string ProcessSession::stray_output() {
  const std::string when = has_answered_ ? "between two questions" : "before the first question";
  std::array<char, 256> bytes{};
  const ssize_t count = ::read(output_.number(), bytes.data(), bytes.size());
  if (count == 0) return how_it_ended(when);
  if (count < 0) return {};
  return fmt::format("wrote {} {}", quote(std::string_view(bytes.data(), static_cast<std::size_t>(count))), when);
}

std::string ProcessSession::exchange(std::string_view question, ReplyReader& reader) {
  const Clock::time_point deadline = Clock::now() + limit_;
  std::string lost = stray_output();
  std::string_view rest = question;
  while (lost.empty() && !reader.is_done()) {
    const bool has_rest = !rest.empty() && !input_is_gone_;
    std::array<pollfd, 2> events = {pollfd{output_.number(), POLLIN, 0},
                                    pollfd{has_rest ? input_.number() : -1, POLLOUT, 0}};
    const int left = milliseconds_until(deadline);
    if (left == 0) {
      lost = exceeded(limit_) + fmt::format(", {}", reader.progress());
      break;
    }
    if (::poll(events.data(), events.size(), left) <= 0) continue;
    if (events[1].revents != 0) write_some(rest);
    if (events[0].revents != 0) lost = read_some(reader);
  }
  if (lost.empty() && !rest.empty() && reader.reply().kind == ProcessReply::Kind::ok) {
    lost = "answered before it had read the question to its end";
  }
  if (lost.empty() && reader.reply().kind == ProcessReply::Kind::broken) lost = reader.reply().text;
  if (lost.empty() && !rest.empty()) lost = "did not read the question to its end";
  if (!lost.empty()) end();
  has_answered_ = true;
  return lost;
}

void ProcessSession::write_some(std::string_view& rest) {
  const NoPipeSignal quiet;
  const ssize_t count = ::write(input_.number(), rest.data(), std::min(rest.size(), chunk_bytes));
  if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
  input_is_gone_ = count < 0 && errno != EAGAIN && errno != EINTR;
}

std::string ProcessSession::read_some(ReplyReader& reader) {
  std::vector<char> bytes(chunk_bytes);
  const ssize_t count = ::read(output_.number(), bytes.data(), bytes.size());
  if (count > 0) reader.take({bytes.data(), static_cast<std::size_t>(count)});
  const bool is_end = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
  return is_end ? how_it_ended(reader.progress()) : std::string();
}

std::string ProcessSession::how_it_ended(const std::string& progress) {
  const Ending ending = process_.await_end(std::min(limit_, std::chrono::milliseconds(2000)));
  switch (ending.kind) {
    case Ending::Kind::none: return fmt::format("closed its output {}", progress);
    case Ending::Kind::orphaned: return fmt::format("killed its parent process {}", progress);
    case Ending::Kind::ended: return fmt::format("{} {}", ending_text(ending.status), progress);
  }
  return {};
}

SessionEnd ProcessSession::close() {
  if (!is_started()) return {};
  const Clock::time_point deadline = Clock::now() + limit_;
  SessionEnd session;
  input_ = FileDescriptor();
  std::array<char, 256> bytes{};
  ssize_t count = -1;
  while (count < 0 && milliseconds_until(deadline) > 0) {
    pollfd event{output_.number(), POLLIN, 0};
    if (::poll(&event, 1, milliseconds_until(deadline)) > 0) {
      count = ::read(output_.number(), bytes.data(), bytes.size());
    }
  }
  if (count < 0)
    session.problem =
        fmt::format("did not end within {} s after its input was closed", static_cast<double>(limit_.count()) / 1000.0);
  if (count > 0)
    session.problem = fmt::format("wrote {} after the last question",
                                  quote(std::string_view(bytes.data(), static_cast<std::size_t>(count))));
  if (count == 0) {
    const std::string ending = how_it_ended("after the last question");
    if (ending != ending_text(0) + " after the last question") session.problem = ending;
  }
  session.survivors = process_.survivors();
  end();
  return session;
}

void ProcessSession::end() {
  process_.end();
  input_ = FileDescriptor();
  output_ = FileDescriptor();
}

}  // namespace fp4proof::runners
