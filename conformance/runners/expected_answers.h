#pragma once
// Expected answers, computed while a subject is asked.

#include <atomic>
#include <cstddef>
#include <future>
#include <optional>
#include <vector>

#include "conformance/runners/calls.h"
#include "conformance/runners/case_source.h"
#include "formats/result.h"

namespace fp4proof::runners {

/// Fills the expected outputs of calls in the background, in order, by threads that wait without spinning: they would
/// take the processors from the subject. The calls must outlive it and are touched by nobody before wait() has returned
/// for them.
class ExpectedAnswers {
 public:
  /// Starts nothing yet. `threads`: at least 1.
  ExpectedAnswers(const CaseSource& cases, suite::Operation operation, SharedProfile profile, std::vector<Call*> calls,
                  int threads);
  ~ExpectedAnswers();
  ExpectedAnswers(const ExpectedAnswers&) = delete;
  ExpectedAnswers& operator=(const ExpectedAnswers&) = delete;

  /// Returns when calls[index] has its expected outputs. The first call starts the threads.
  Result<void> wait(std::size_t index);

 private:
  void start();
  void work();
  Result<void> answer(Call& call) const;

  const CaseSource& cases_;
  suite::Operation operation_;
  SharedProfile profile_;
  std::vector<Call*> calls_;
  std::vector<std::promise<Result<void>>> promises_;
  std::vector<std::shared_future<Result<void>>> done_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  int threads_;
  std::vector<std::future<void>> workers_;
};

}  // namespace fp4proof::runners
