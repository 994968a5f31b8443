// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Timed frames through an engine, and what must be true of the times of all of them.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/engine.h"
#include "support/engine_rig.h"
#include "support/library_main.h"

namespace test {

/// Frames through an engine, some of them timed; pixels checked.
class TimedRun {
 public:
  TimedRun(std::shared_ptr<stripe::Device> device, const Setting& setting, Random& random)
      : setting_(setting),
        random_(random),
        frame_device_(open_test_device()),
        engine_(std::make_unique<stripe::Engine>(std::move(device), setting.shape(),
                                                 setting.options)) {}

  void feed(const Access& access, const Treatment& treatment, bool timed) {
    if (static_cast<int>(flying_.size()) == setting_.options.depth) finish_oldest();
    flying_.push_back({std::make_unique<TestFrame>(*frame_device_, setting_.shape(),
                                                   *setting_.format, access, random_),
                       timed});
    flying_.back().frame->expect(treatment);
    stripe::FrameParameters parameters = treatment.parameters(*setting_.format);
    parameters.timed = timed;
    engine_->submit(flying_.back().frame->job(), parameters);
  }

  void finish() {
    while (!flying_.empty()) finish_oldest();
  }

  /// Gives the engine up; then nobody may use the frames any more.
  void abandon() {
    for (const Flying& flying : flying_) flying.frame->take_back(random_);
    engine_.reset();
    for (const Flying& flying : flying_) fail_unless_empty(flying.frame->touched());
  }

  stripe::Engine& engine() { return *engine_; }

  std::vector<stripe::FrameTimes> times;  ///< of the timed frames, in order, numbered

 private:
  struct Flying {
    std::unique_ptr<TestFrame> frame;
    bool timed;
  };

  void finish_oldest() {
    engine_->wait(next_);
    const Flying oldest = std::move(flying_.front());
    flying_.pop_front();
    fail_unless_empty(oldest.frame->verdict());
    std::optional<stripe::FrameTimes> frame_times = engine_->read_times(next_);
    fail_unless(frame_times.has_value() == oldest.timed);
    if (frame_times) {
      frame_times->frame = next_;
      times.push_back(*frame_times);
    }
    ++next_;
  }

  const Setting setting_;
  Random& random_;
  const std::shared_ptr<stripe::Device> frame_device_;
  std::deque<Flying> flying_;
  std::unique_ptr<stripe::Engine> engine_;
  stripe::Ticket next_ = 0;
};

inline void expect_in_order(const stripe::Span& earlier, const stripe::Span& later,
                            const char* what) {
  fail_unless(earlier.length() >= 0 && later.length() >= 0, "%s: a span of less than nothing",
              what);
  fail_unless(earlier.end <= later.begin, "%s begins %lld ns too early", what,
              static_cast<long long>(earlier.end - later.begin));
}

/// What was done with a stripe, in the order in which it must have been; a mapped side has nothing.
inline std::vector<stripe::Span> work_of(const stripe::StripeTimes& stripe) {
  std::vector<stripe::Span> work;
  for (const stripe::Span& span : {stripe.upload, stripe.kernel, stripe.download})
    if (span.length() != 0) work.push_back(span);
  return work;
}

/// From the begin of the first to the end of the last.
inline stripe::Span whole_of(const stripe::StripeTimes& stripe) {
  const std::vector<stripe::Span> work = work_of(stripe);
  fail_unless(!work.empty());
  return {work.front().begin, work.back().end};
}

/// A stream does one thing after another, also from one frame to the next.
inline void expect_streams_in_order(const std::vector<stripe::FrameTimes>& frames) {
  std::map<int, stripe::Span> last;
  for (const stripe::FrameTimes& frame : frames)
    for (const stripe::StripeTimes& stripe : frame.stripes) {
      const stripe::Span whole = whole_of(stripe);
      if (last.contains(stripe.stream))
        expect_in_order(last[stripe.stream], whole, "work of a stream");
      last[stripe.stream] = whole;
    }
}

}  // namespace test
