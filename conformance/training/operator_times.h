#pragma once
// Where the time of a step goes: calls and seconds of every operator. The lines of operators.csv.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/training/operators.h"

namespace fp4proof::training {

struct OperatorTime {
  std::string name;
  std::int64_t calls = 0;
  double seconds = 0;
};

/// Times every call, waiting for the backend before and after it: for shares, not for speed.
class OperatorTimes : public CallObserver {
 public:
  explicit OperatorTimes(Operators& operators) : operators_(&operators) {}

  void before(const ObservedCall& call) override;
  void after(const ObservedCall& call) override;

  /// In the order of first sight.
  const std::vector<OperatorTime>& times() const { return times_; }
  void add(const OperatorTime& time);

 private:
  Operators* operators_;
  std::vector<OperatorTime> times_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace fp4proof::training
