#include "conformance/runners/expected_answers.h"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace fp4proof::runners {

ExpectedAnswers::ExpectedAnswers(const CaseSource& cases, suite::Operation operation, SharedProfile profile,
                                 std::vector<Call*> calls, int threads)
    : cases_(cases),
      operation_(operation),
      profile_(std::move(profile)),
      calls_(std::move(calls)),
      promises_(calls_.size()),
      threads_(threads) {
  for (std::promise<Result<void>>& promise : promises_) done_.push_back(promise.get_future().share());
}

ExpectedAnswers::~ExpectedAnswers() {
  stopped_ = true;
  for (std::future<void>& worker : workers_) worker.wait();
}

void ExpectedAnswers::start() {
  if (!workers_.empty()) return;
  const std::size_t wanted = std::clamp<std::size_t>(static_cast<std::size_t>(threads_), 1, calls_.size());
  for (std::size_t i = 0; i < wanted; ++i) workers_.push_back(std::async(std::launch::async, [this] { work(); }));
}

Result<void> ExpectedAnswers::wait(std::size_t index) {
  start();
  return done_[index].get();
}

void ExpectedAnswers::work() {
  omp_set_num_threads(1);
  while (!stopped_) {
    const std::size_t index = next_++;
    if (index >= calls_.size()) return;
    try {
      promises_[index].set_value(answer(*calls_[index]));
    } catch (...) {
      promises_[index].set_exception(std::current_exception());
    }
  }
}

Result<void> ExpectedAnswers::answer(Call& call) const {
  suite::CaseTable table;
  table.operation = operation_;
  table.profile = profile_;
  table.groups.push_back(std::move(call.group));
  Result<void> answered = cases_.answer(table);
  call.group = std::move(table.groups.front());
  return answered;
}

}  // namespace fp4proof::runners
