// SPDX-License-Identifier: LGPL-2.1-or-later
#include "together.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace benchmark {

namespace {

constexpr std::chrono::minutes longest_run{2};

// An endless pipeline that counts its frames.
class Runner {
 public:
  explicit Runner(const std::string& text)
      : pipeline_(make_pipeline(text)), probe_(pipeline_.get(), [this] { ++seen_; }) {}
  ~Runner() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }

  void start() { gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING); }
  int seen() const { return seen_; }
  void check() const { throw_if_failed(pipeline_.get()); }

 private:
  const ElementRef pipeline_;
  std::atomic<int> seen_{0};
  const SinkProbe probe_;
};

using Runners = std::vector<std::unique_ptr<Runner>>;

int seen_by_all(const Runners& runners) {
  int sum = 0;
  for (const auto& runner : runners) sum += runner->seen();
  return sum;
}

int seen_by_slowest(const Runners& runners) {
  int least = runners[0]->seen();
  for (const auto& runner : runners) least = std::min(least, runner->seen());
  return least;
}

template <typename Done>
void wait_until(const Runners& runners, Done done) {
  const auto deadline = std::chrono::steady_clock::now() + longest_run;
  while (!done()) {
    for (const auto& runner : runners) runner->check();
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("several pipelines came to no end within two minutes");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

Sample run_together(const Chain& chain, int pipelines, int frames) {
  Runners runners;
  for (int i = 0; i < pipelines; ++i)
    runners.push_back(std::make_unique<Runner>(pipeline_text(chain, {})));
  for (const auto& runner : runners) runner->start();
  // Until each has all the buffers that it will ever have: page-locking one holds up all others.
  const int warm_up = std::max(16, frames / (5 * pipelines));
  wait_until(runners, [&] { return seen_by_slowest(runners) >= warm_up; });
  const int begin = seen_by_all(runners);
  const Stopwatch watch;
  wait_until(runners, [&] { return seen_by_all(runners) - begin >= frames; });
  return watch.a_frame(seen_by_all(runners) - begin);
}

}  // namespace benchmark
