// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "cuda/device.h"
#include "cuda/engine.h"
#include "gst/pinned_allocator.h"
#include "gst/properties.h"
#include "gst/stats.h"

namespace gst_stripe {

/// What the element has from READY to PAUSED until PAUSED to READY: a device, an engine for the
/// caps, an allocator, counters.
///
/// Thread:  set_format and process from the streaming thread; stats from any, beside them.
/// Errors:  throws stripe::DeviceError, FrameError.
class Session {
 public:
  Session(std::shared_ptr<stripe::Device> device, int stream_count);
  Session(const Session&) = delete;
  ~Session();

  /// Makes the engine for new caps; no frame is in flight.
  void set_format(const GstVideoInfo& info);

  /// Runs one frame from `input` to `output`, to its end.
  void process(GstBuffer* input, GstBuffer* output, const Settings& settings);

  Stats stats() const;

  /// Whose memory the element's pools hold; upstream is offered it. The session owns it.
  GstAllocator* allocator() const noexcept { return allocator_; }

 private:
  void run(const stripe::FrameJob& job, const Settings& settings);
  void count_input(bool pinned, bool ours) noexcept;

  const std::shared_ptr<stripe::Device> device_;
  const int stream_count_;
  const PinnedAccount account_;
  GstAllocator* const allocator_;
  GstVideoInfo info_{};
  std::array<stripe::Operation, 3> operations_{};  // by effect

  mutable std::mutex engine_mutex_;  // a leaf; guards engine_ and finished_ for stats()
  std::unique_ptr<stripe::Engine> engine_;
  stripe::EngineCounters finished_{};  // of the engines of earlier caps

  std::atomic<std::uint64_t> frames_in_{0};
  std::atomic<std::uint64_t> frames_out_{0};
  std::atomic<std::uint64_t> input_pinned_frames_{0};
  std::atomic<std::uint64_t> output_pinned_frames_{0};
  std::atomic<std::uint64_t> staged_frames_{0};
  std::atomic<bool> upstream_uses_pool_{false};
};

}  // namespace gst_stripe
