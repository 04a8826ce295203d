#pragma once
// A bar for work that takes long enough to wonder about.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace fp4proof::cli {

/// One line on the standard error that is redrawn in place. It shows nothing unless the standard error is a terminal
/// and the work has lasted over two seconds, redraws at most ten times a second, and wipes its line when destroyed.
/// Not for concurrent use.
class Progress {
 public:
  /// @param label  what is being done
  /// @param total  units of work ahead
  Progress(std::string_view label, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts `units` as done. `remark` stands behind the bar, until the next one.
  void advance(std::uint64_t units, std::string_view remark = {});

 private:
  using Clock = std::chrono::steady_clock;

  void draw(Clock::time_point now);

  std::string label_;
  std::string remark_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point start_;
  Clock::time_point next_;
};

}  // namespace fp4proof::cli
