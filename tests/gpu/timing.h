#pragma once
// Times of work on the device, for programs that measure.

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "gpu/status.h"
#include "tests/gpu/device_memory.h"

namespace fp4proof::gpu {

class Event {
 public:
  Event() { require(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

inline void require_ok(Status status) {
  if (status != Status::ok) throw std::runtime_error(status_text(status));
}

/// Median milliseconds of one call of `launch`, after `runs / 4` calls that do not count.
template <class Launch>
double median_milliseconds(int runs, Launch launch) {
  const Event before;
  const Event after;
  std::vector<float> times;
  for (int i = -runs / 4; i < runs; ++i) {
    require(cudaEventRecord(before.get()));
    launch();
    require(cudaEventRecord(after.get()));
    require(cudaEventSynchronize(after.get()));
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, before.get(), after.get()));
    if (i >= 0) times.push_back(milliseconds);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace fp4proof::gpu
