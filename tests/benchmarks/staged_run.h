// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <semaphore>
#include <string>
#include <vector>

#include "cuda/engine.h"
#include "measure.h"
#include "sizes.h"

namespace benchmark {

// Frames to stage, in 32 touched buffers each way: none of them is in a cache when its turn comes.
class StagedMemory {
 public:
  explicit StagedMemory(const Size& size);

  stripe::FrameJob job(stripe::Ticket frame);

  // One thread's memcpy of the frames, input to output.
  Sample copy(int frames);

  // The output of a frame, before it and after; the latter throws where it isn't that frame's input.
  void wipe_output(stripe::Ticket frame);
  void check_output(stripe::Ticket frame) const;

 private:
  std::byte* input(stripe::Ticket frame) { return inputs_[frame % inputs_.size()].data(); }
  std::byte* output(stripe::Ticket frame) { return outputs_[frame % outputs_.size()].data(); }

  const stripe::FrameLayout layout_;
  std::vector<std::vector<std::byte>> inputs_, outputs_;
};

// How frames are staged, in the element's properties.
struct StagedWay {
  int depth;
  int stripes;
};

std::string config_of(const StagedWay& way);

// The engine over staged frames, with the threads that the element has: one submits and another waits, each of which
// copies; of a frame at a time, one does both.
class StagedRun {
 public:
  StagedRun(const std::shared_ptr<stripe::Device>& device, const Size& size, const StagedWay& way,
            StagedMemory& memory);

  Sample run(int frames);

  // When what was done with each frame of a run. Asking takes time, and so the run is none to be told of.
  std::vector<stripe::FrameTimes> run_timed(int frames);

 private:
  Sample take_turns(int frames);
  Sample run_at_once(int frames);
  void submit_frames(int frames);
  Sample wait_for_frames(int frames);
  void check_some();
  void submit();
  void wait();

  const int depth_;
  stripe::Engine engine_;
  stripe::FrameParameters parameters_;
  StagedMemory& memory_;
  std::vector<stripe::FrameTimes> times_;  // the waiting thread's
  stripe::Ticket submitted_ = 0;           // the submitting thread's
  stripe::Ticket waited_ = 0;              // the waiting thread's
  std::counting_semaphore<> for_submit_;   // frames that may be submitted
  std::counting_semaphore<> for_wait_{0};  // frames that may be waited for
};

}  // namespace benchmark
