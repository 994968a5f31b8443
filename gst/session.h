// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/calibration.h"
#include "cuda/device.h"
#include "cuda/engine.h"
#include "cuda/page_lock.h"
#include "gst/frame_view.h"
#include "gst/page_locking.h"
#include "gst/properties.h"
#include "gst/stats.h"
#include "gst/timing.h"

namespace gst_stripe {

class Session;

struct BufferUnref {
  void operator()(GstBuffer* buffer) const noexcept { gst_buffer_unref(buffer); }
};
using BufferRef = std::unique_ptr<GstBuffer, BufferUnref>;

/// A frame on its way through the device: its buffers, mapped and page-locked until it is
/// finished.
///
/// Owner:   holds its buffers and the session. Destroyed unfinished, it waits for the device
///          first.
/// Thread:  one at a time.
class Frame {
 public:
  Frame(std::shared_ptr<Session> session, BufferRef input, BufferRef output);
  Frame(const Frame&) = delete;
  ~Frame();

  /// Waits until the output is complete; both buffers are unmapped then, and the input is
  /// released, so that upstream's pool has it back while downstream works.
  /// Errors:  throws stripe::DeviceError; the buffers are released all the same.
  void finish();

  /// The finished output.
  BufferRef take_output() noexcept { return std::move(output_); }

  const TimedFrame& timed() const noexcept { return timed_; }

  /// Whether the CPU copies its input when it is started, which takes long.
  bool is_staged() const noexcept {
    return from_ && from_->claim.access == stripe::HostAccess::staged;
  }

 private:
  friend class Session;

  // A buffer while the device uses it. The claim goes before the view that it was made from.
  struct Side {
    Side(GstBuffer* buffer, const GstVideoInfo& info, FrameSide side, PageLocking& locking)
        : view(buffer, info, side == FrameSide::input ? GST_MAP_READ : GST_MAP_WRITE),
          claim(locking.claim(view, side)) {}
    FrameView view;
    MemoryClaim claim;
  };

  void release() noexcept;

  const std::shared_ptr<Session> session_;
  BufferRef input_;
  BufferRef output_;
  std::optional<Side> from_;
  std::optional<Side> to_;
  std::optional<stripe::Ticket> ticket_;
  stripe::FrameParameters parameters_;
  TimedFrame timed_;
};

/// What the element has from READY to PAUSED until PAUSED to READY: a device, an engine for the
/// caps, an allocator, counters.
///
/// Thread:  set_format and prepare from the streaming thread; set_color from any, but never beside
///          set_format or itself; frames are started by one thread at a time, and finished by one
///          thread at a time, in order; the rest from any.
/// Errors:  throws stripe::DeviceError, FrameError, SettingsError.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<stripe::Device> device, const Settings& settings);
  Session(const Session&) = delete;
  ~Session();

  /// Makes the engine for new caps; no frame is in flight.
  void set_format(const GstVideoInfo& info, const Settings& settings);

  /// What happens to pictures from the next prepare on. Nothing changes where it throws.
  void set_color(const stripe::ColorSettings& color);

  /// Makes a frame ready to be started, with the stripes of `settings`.
  std::unique_ptr<Frame> prepare(BufferRef input, BufferRef output, const Settings& settings);

  /// Starts it. At most `depth` may be unfinished.
  void start(Frame& frame);

  /// What the user should know by now; said once for these caps.
  std::vector<Notice> take_notices() { return notices_.take(); }

  /// Reads what a timed frame took, which was finished and then pushed: so that neither it nor the
  /// next one waits for that. From the thread that finishes frames, before caps change.
  /// Errors:  throws stripe::DeviceError.
  void add_times(const TimedFrame& frame, const stripe::Span& push);

  /// No frame comes any more, for now: writes the timeline.
  void finish_timeline() { timing_.finish(); }

  /// Every frame that comes in is once counted out or dropped.
  void count_in() noexcept { frames_in_.fetch_add(1, std::memory_order_relaxed); }
  void count_dropped() noexcept { frames_dropped_.fetch_add(1, std::memory_order_relaxed); }
  void count_out() noexcept { frames_out_.fetch_add(1, std::memory_order_relaxed); }

  Stats stats() const;

  bool is_on_cuda() const noexcept { return device_->info().backend == "cuda"; }

  /// Most frames in flight.
  int depth() const noexcept { return depth_; }

  /// Whose memory the element's pools hold, and upstream is offered; NULL where the mode is to do
  /// without. The session owns it.
  GstAllocator* offered_allocator() const noexcept {
    return locking_.uses_own_pools() ? allocator_ : nullptr;
  }

 private:
  friend class Frame;

  void set_operation(stripe::Operation operation);
  stripe::Operation current_operation() const;
  void count_started(const Frame& frame);
  void count_finished() noexcept { frames_in_flight_.fetch_sub(1, std::memory_order_relaxed); }
  std::unique_ptr<stripe::Engine> take_engine();
  stripe::Calibration decide(const stripe::FrameShape& shape, const Settings& settings) const;

  const std::shared_ptr<stripe::Device> device_;
  const int depth_;
  const std::shared_ptr<stripe::LockBudget> budget_;
  GstAllocator* const allocator_;
  Notices notices_;
  PageLocking locking_;
  Timing timing_;
  int new_memories_ = 0;  // in a row; the streaming thread's
  GstVideoInfo info_{};
  stripe::PixelLayout layout_{};
  stripe::Colorimetry colorimetry_;

  mutable std::mutex operation_mutex_;  // a leaf; who writes is alone, and reads without it
  stripe::Operation operation_;

  // What stats() shows of these caps; changed by set_format alone.
  mutable std::mutex engine_mutex_;  // a leaf; guards the block
  stripe::Calibration calibration_;
  std::unique_ptr<stripe::Engine> engine_;
  stripe::EngineCounters finished_{};  // of the engines of earlier caps

  std::atomic<std::uint64_t> frames_in_{0};
  std::atomic<std::uint64_t> frames_out_{0};
  std::atomic<std::uint64_t> frames_dropped_{0};
  std::atomic<std::uint64_t> input_pinned_frames_{0};
  std::atomic<std::uint64_t> output_pinned_frames_{0};
  std::atomic<std::uint64_t> staged_frames_{0};
  mutable std::atomic<std::uint64_t> staging_peak_bytes_{0};
  std::atomic<guint> frames_in_flight_{0};
  std::atomic<guint> frames_in_flight_peak_{0};
  std::atomic<bool> upstream_uses_pool_{false};
};

}  // namespace gst_stripe
