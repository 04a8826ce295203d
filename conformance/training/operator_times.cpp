#include "conformance/training/operator_times.h"

#include <algorithm>

namespace fp4proof::training {

void OperatorTimes::before(const ObservedCall& /*call*/) {
  operators_->synchronize();
  start_ = std::chrono::steady_clock::now();
}

void OperatorTimes::after(const ObservedCall& call) {
  operators_->synchronize();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  add({std::string(call.name), 1, passed.count()});
}

void OperatorTimes::add(const OperatorTime& time) {
  const auto same = std::find_if(times_.begin(), times_.end(), [&](const auto& t) { return t.name == time.name; });
  if (same == times_.end()) {
    times_.push_back(time);
  } else {
    same->calls += time.calls;
    same->seconds += time.seconds;
  }
}

}  // namespace fp4proof::training
