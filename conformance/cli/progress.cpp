#include "conformance/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "conformance/cli/terminal.h"

namespace fp4proof::cli {

namespace {

constexpr std::chrono::milliseconds patience{2000};
constexpr std::chrono::milliseconds between_frames{100};
constexpr int bar_width = 30;
constexpr const char* wipe_line = "\r\033[K";

}  // namespace

Progress::Progress(std::string_view label, std::uint64_t total)
    : label_(label), total_(total), enabled_(is_terminal(stderr)), start_(Clock::now()), next_(start_ + patience) {}

Progress::~Progress() {
  if (drawn_) std::fputs(wipe_line, stderr);
}

void Progress::advance(std::uint64_t units, std::string_view remark) {
  done_ += units;
  remark_ = remark;
  if (!enabled_) return;
  if (const Clock::time_point now = Clock::now(); now >= next_) draw(now);
}

void Progress::draw(Clock::time_point now) {
  next_ = now + between_frames;
  drawn_ = true;
  const double share = total_ == 0 ? 1.0 : std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const int filled = static_cast<int>(share * bar_width);
  const std::string left = share > 0 ? fmt::format("{:.0f} s left", seconds / share - seconds) : "";
  fmt::print(stderr, "{}{} [{:<{}}] {:3.0f} %  {}{}{}", wipe_line, label_,
             std::string(static_cast<std::size_t>(filled), '#'), bar_width, 100 * share, left,
             remark_.empty() ? "" : "  ", remark_);
  std::fflush(stderr);
}

}  // namespace fp4proof::cli
