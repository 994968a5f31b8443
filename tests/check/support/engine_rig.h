// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "cuda/engine.h"
#include "support/layouts.h"
#include "support/test_frame.h"

namespace test {

/// An engine and what it works on.
struct Setting {
  const Format* format;
  int width;
  int height;
  bool interlaced = false;
  stripe::EngineOptions options = {};

  stripe::FrameShape shape() const { return {layout_of(*format), width, height, interlaced}; }
  std::string describe() const;
};

/// Feeds an engine with frames, as many in flight as it takes, and checks each one when it is done.
class Feeder {
 public:
  /// `frame_device` gives the frames' page-locked memory: another one than the engine's where the
  /// engine's calls are counted or made to fail.
  Feeder(std::shared_ptr<stripe::Device> device, std::shared_ptr<stripe::Device> frame_device,
         const Setting& setting, Random& random)
      : frame_device_(std::move(frame_device)),
        setting_(setting),
        random_(random),
        engine_(std::make_unique<stripe::Engine>(std::move(device), setting.shape(),
                                                 setting.options)) {}
  Feeder(const std::shared_ptr<stripe::Device>& device, const Setting& setting, Random& random)
      : Feeder(device, device, setting, random) {}

  /// Submits a frame, after waiting for the oldest one where the engine is full. Overwrites staged
  /// input at once. Returns what is wrong, in words; empty if nothing.
  std::string feed(const Access& access, const Treatment& treatment);

  /// Waits for the oldest frame, or for all.
  std::string finish_oldest();
  std::string finish();

  stripe::Engine& engine() { return *engine_; }

  /// Frames that were submitted, or were to be, and not waited for with success.
  std::deque<std::unique_ptr<TestFrame>>& unfinished() { return flying_; }

  void destroy_engine() { engine_.reset(); }

 private:
  const std::shared_ptr<stripe::Device> frame_device_;
  const Setting setting_;
  Random& random_;
  std::deque<std::unique_ptr<TestFrame>> flying_;
  std::unique_ptr<stripe::Engine> engine_;  // last: done with the frames when they go
  stripe::Ticket next_ = 0;
  stripe::Ticket oldest_ = 0;
};

/// Feeds `frames` frames that are all treated alike, then finishes.
std::string feed_alike(std::shared_ptr<stripe::Device> device, const Setting& setting,
                       const Access& access, const Treatment& treatment, int frames,
                       Random& random);

/// Bytes of the samples of a picture.
std::size_t sample_bytes(const Setting& setting);

}  // namespace test
