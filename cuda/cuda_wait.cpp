// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/cuda_wait.h"

#include <sched.h>
#include <sys/prctl.h>

#include <chrono>
#include <thread>

#include "cuda/cuda_error.h"
#include "cuda/forecast.h"
#include "cuda/host_clock.h"

namespace stripe {

namespace {

// Threads may sleep 50 us longer than they ask for, a third of a frame. The thread belongs to
// others too: it gets its own slack back.
class ShortSlack {
 public:
  ShortSlack() : slack_(prctl(PR_GET_TIMERSLACK)) {
    if (slack_ > short_ns) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(short_ns));
  }
  ShortSlack(const ShortSlack&) = delete;
  ~ShortSlack() {
    if (slack_ > short_ns) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack_));
  }

 private:
  static constexpr int short_ns = 1000;
  const int slack_;
};

// Returns how much too late.
Time sleep_until(Time time) {
  std::this_thread::sleep_until(
      std::chrono::steady_clock::time_point(std::chrono::nanoseconds(time)));
  return now() - time;
}

bool has_passed(cudaEvent_t event) {
  const cudaError_t status = cudaEventQuery(event);
  if (status == cudaErrorNotReady) {
    cudaGetLastError();  // sticks until it is asked for
    return false;
  }
  check_cuda(status, "cudaEventQuery");
  return true;
}

// Whether it passes before the time is up.
bool spin(cudaEvent_t event, Time time) {
  const Time end = now() + time;
  while (now() < end) {
    sched_yield();
    if (has_passed(event)) return true;
  }
  return false;
}

// Returns how long the last nap was.
Time doze(cudaEvent_t event, Time shortest_nap) {
  const Time begin = now();
  Time at = begin, overslept = 0;
  do {
    at = now();
    overslept = sleep_until(at + nap_length(at - begin, overslept, shortest_nap));
  } while (!has_passed(event));
  return now() - at;
}

}  // namespace

Waited wait_for_event(cudaEvent_t event, const WaitPlan& plan) {
  Waited waited;
  waited.was_late = true;
  if (has_passed(event)) return waited;
  const ShortSlack slack;  // for all sleeps of this wait
  if (plan.sleep_until > now()) {
    waited.slept = true;
    waited.overslept = sleep_until(plan.sleep_until);
    if (has_passed(event)) return waited;
  }
  waited.was_late = false;
  if (spin(event, plan.spin)) return waited;
  waited.dozed = true;
  waited.last_nap = doze(event, plan.nap);
  return waited;
}

}  // namespace stripe
