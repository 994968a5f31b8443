// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/timeline.h"

#include <algorithm>

namespace stripe {

namespace {

void extend(Span& extent, const Span& span) {
  if (span.length() <= 0) return;
  if (extent == Span{}) {
    extent = span;
    return;
  }
  extent.begin = std::min(extent.begin, span.begin);
  extent.end = std::max(extent.end, span.end);
}

}  // namespace

TimelineRecorder::TimelineRecorder(int frames, int warm_up)
    : warm_up_(static_cast<std::uint64_t>(warm_up)),
      end_(warm_up_ + static_cast<std::uint64_t>(frames)) {}

void TimelineRecorder::add(FrameTimes times) { frames_.push_back(std::move(times)); }

bool TimelineRecorder::is_complete() const noexcept {
  return !frames_.empty() && frames_.back().frame + 1 >= end_;
}

void TimelineRecorder::move_into(Timeline& timeline) {
  timeline.frames = std::move(frames_);
  frames_.clear();
  timeline.warming_up = timeline.frames.empty() || timeline.frames.back().frame < warm_up_;
  timeline.left_out = timeline.warming_up ? 0 : static_cast<int>(warm_up_);
  if (!timeline.warming_up)
    std::erase_if(timeline.frames, [&](const FrameTimes& f) { return f.frame < warm_up_; });
}

Span extent_of(const Timeline& timeline) {
  Span extent;
  for (const FrameTimes& frame : timeline.frames) {
    extend(extent, frame.submit);
    extend(extent, frame.wait);
    extend(extent, frame.push);
    for (const StripeTimes& stripe : frame.stripes) {
      extend(extent, stripe.upload);
      extend(extent, stripe.kernel);
      extend(extent, stripe.download);
    }
  }
  return extent;
}

}  // namespace stripe
