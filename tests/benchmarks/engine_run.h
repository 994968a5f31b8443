// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <string>

#include "cuda/engine.h"
#include "measure.h"
#include "pictures.h"

namespace benchmark {

// How an engine is to work.
struct Way {
  int depth;  // frames in flight
  int stripes;
  stripe::Transfer transfer;
  int streams = 3;
};

// In the element's properties.
std::string config_of(const Way& way);

// An engine that goes the same way again and again, with effect=invert, over pictures that others use, too.
class EngineRun {
 public:
  EngineRun(const std::shared_ptr<stripe::Device>& device, const Size& size, const Way& way,
            const std::string& config, Pictures& pictures);

  // As many frames are in flight when the clock starts as when it stops: filling and emptying are no part of it.
  // Throws std::runtime_error where an output is wrong.
  Sample run(int frames);

 private:
  void take_turns(int frames);
  void submit();
  void wait();

  const std::string config_;
  const int depth_;
  stripe::Engine engine_;
  const stripe::FrameParameters parameters_;
  Pictures& pictures_;
  stripe::Ticket submitted_ = 0;
  stripe::Ticket waited_ = 0;
};

}  // namespace benchmark
