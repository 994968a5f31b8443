// SPDX-License-Identifier: LGPL-2.1-or-later
#include "staged_run.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <future>
#include <stdexcept>
#include <utility>

namespace benchmark {

namespace {

constexpr int buffers = 32;
constexpr std::byte wiped_value{0};

// Each its own, so that another frame's is not taken for it.
std::byte input_value(std::size_t buffer) { return static_cast<std::byte>(buffer + 1); }

}  // namespace

StagedMemory::StagedMemory(const Size& size)
    : layout_(stripe::make_frame_layout(size.layout, size.width, size.height)) {
  for (int i = 0; i < buffers; ++i) {
    inputs_.emplace_back(layout_.size_bytes, input_value(static_cast<std::size_t>(i)));
    outputs_.emplace_back(layout_.size_bytes, wiped_value);
  }
}

stripe::FrameJob StagedMemory::job(stripe::Ticket frame) {
  return {stripe::as_const(view_of(layout_, input(frame))),
          stripe::HostAccess::staged,
          view_of(layout_, output(frame)),
          stripe::HostAccess::staged,
          true,
          true};
}

Sample StagedMemory::copy(int frames) {
  const Stopwatch watch;
  for (stripe::Ticket i = 0; i < static_cast<stripe::Ticket>(frames); ++i)
    std::memcpy(output(i), input(i), layout_.size_bytes);
  return watch.a_frame(frames);
}

void StagedMemory::wipe_output(stripe::Ticket frame) {
  std::fill_n(output(frame), layout_.size_bytes, wiped_value);
}

void StagedMemory::check_output(stripe::Ticket frame) const {
  const std::size_t buffer = frame % buffers;
  const std::vector<std::byte>& output = outputs_[buffer];
  if (std::any_of(output.begin(), output.end(),
                  [&](std::byte b) { return b != input_value(buffer); }))
    throw std::runtime_error("the output of a staged frame is wrong");
}

std::string config_of(const StagedWay& way) {
  return "page-lock=stage async-depth=" + std::to_string(way.depth) +
         " stripe-count=" + std::to_string(way.stripes);
}

StagedRun::StagedRun(const std::shared_ptr<stripe::Device>& device, const Size& size,
                     const StagedWay& way, StagedMemory& memory)
    : depth_(way.depth),
      engine_(device, {size.layout, size.width, size.height},
              {3, way.depth, stripe::Transfer::copy}),
      parameters_{stripe::StripeLayout::rows, way.stripes, {}},
      memory_(memory),
      for_submit_(way.depth) {}

Sample StagedRun::run(int frames) {
  const Sample sample = depth_ == 1 ? take_turns(frames) : run_at_once(frames);
  check_some();
  return sample;
}

std::vector<stripe::FrameTimes> StagedRun::run_timed(int frames) {
  parameters_.timed = true;
  run(frames);
  parameters_.timed = false;
  return std::exchange(times_, {});
}

// Frames of their own, right behind those that are measured: these write each buffer many times.
void StagedRun::check_some() {
  const stripe::Ticket first = submitted_;
  const auto count = static_cast<stripe::Ticket>(depth_);
  for (stripe::Ticket i = 0; i < count; ++i) memory_.wipe_output(first + i);
  for (stripe::Ticket i = 0; i < count; ++i) submit();
  for (stripe::Ticket i = 0; i < count; ++i) engine_.wait(waited_++);
  for (stripe::Ticket i = 0; i < count; ++i) memory_.check_output(first + i);
}

Sample StagedRun::take_turns(int frames) {
  const Stopwatch watch;
  for (int i = 0; i < frames; ++i) {
    submit();
    wait();
  }
  return watch.a_frame(frames);
}

// Measured while as many frames as may be are in flight: some come before, and some after. A thread that fails lets
// the other go on, which then fails, too.
Sample StagedRun::run_at_once(int frames) {
  const int all = frames + 2 * depth_;
  std::future<Sample> waiting = std::async(std::launch::async, [this, frames, all] {
    try {
      return wait_for_frames(frames);
    } catch (...) {
      for_submit_.release(all);
      throw;
    }
  });
  std::exception_ptr failure;
  try {
    submit_frames(all);
  } catch (...) {
    failure = std::current_exception();
    for_wait_.release(all);
  }
  // What the waiting thread failed of comes first: the submitting one may have failed of that.
  const Sample sample = waiting.get();
  if (failure) std::rethrow_exception(failure);
  return sample;
}

void StagedRun::submit_frames(int frames) {
  for (int i = 0; i < frames; ++i) {
    for_submit_.acquire();
    submit();
    for_wait_.release();
  }
}

Sample StagedRun::wait_for_frames(int frames) {
  const auto wait_for = [this](int count) {
    for (int i = 0; i < count; ++i) {
      for_wait_.acquire();
      wait();
      for_submit_.release();
    }
  };
  wait_for(depth_);
  const Stopwatch watch;
  wait_for(frames);
  const Sample sample = watch.a_frame(frames);
  wait_for(depth_);
  return sample;
}

void StagedRun::submit() { engine_.submit(memory_.job(submitted_++), parameters_); }

void StagedRun::wait() {
  engine_.wait(waited_);
  if (parameters_.timed) times_.push_back(engine_.read_times(waited_).value());
  ++waited_;
}

}  // namespace benchmark
