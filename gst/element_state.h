// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "gst/color_balance.h"
#include "gst/cuda_stripe_transform.h"
#include "gst/frame_queue.h"
#include "gst/lut_location.h"
#include "gst/properties.h"
#include "gst/session.h"
#include "gst/stats.h"

/// What the element is, apart from being a GObject.
struct GstCudaStripeTransform::State {
  /// Comes before `mutex` and those of the session. Held while it is changed what happens to
  /// pictures: who has it may make ready what a device needs for that. No frame takes it, unless a
  /// controller changes a property with it; nothing is posted or emitted under it.
  std::mutex color_mutex;

  /// A leaf: nothing is called under it. Guards the first block.
  std::mutex mutex;
  gst_stripe::Settings settings;  ///< `color` is written by who holds color_mutex too
  gst_stripe::LutProgress lut;
  std::shared_ptr<gst_stripe::Session> session;  ///< from start to stop
  gst_stripe::Stats last_stats;  ///< of the session before, for who asks after the stop
  GstSegment out_segment;        ///< that was pushed last
  GstClockTime out_position = GST_CLOCK_TIME_NONE;  ///< where the last pushed frame ends
  GstClockTime frame_duration = GST_CLOCK_TIME_NONE;

  std::atomic<int> depth{1};  ///< that the source pad was activated for

  gst_stripe::FrameQueue queue;  ///< has a mutex of its own

  // The chain thread's; start's and stop's when there is none.
  GstCaps* refused_caps = nullptr;            ///< owned
  std::unique_ptr<gst_stripe::Frame> single;  ///< at depth 1, between submit and generate
  struct Pushing {
    gst_stripe::TimedFrame frame;
    stripe::Time begin;
  };
  std::optional<Pushing> pushing;               ///< at depth 1, by the base; where it is timed
  bool discont_pending = false;                 ///< a frame was dropped before the next one
  const GstBufferPool* started_pool = nullptr;  ///< that frames may be taken from; never followed

  gst_stripe::ColorBalanceChannels channels;  ///< never change

  /// The base class's, which ours falls back on. Never changes.
  GstPadEventFunction base_sink_event = nullptr;

  State() { gst_segment_init(&out_segment, GST_FORMAT_UNDEFINED); }
  State(const State&) = delete;
  ~State() { gst_clear_caps(&refused_caps); }

  /// Whether frames are pushed by the source pad's task.
  bool is_async() const noexcept { return depth > 1; }

  gst_stripe::Settings current_settings() {
    const std::lock_guard lock(mutex);
    return settings;
  }

  std::shared_ptr<gst_stripe::Session> current_session() {
    const std::lock_guard lock(mutex);
    return session;
  }

  gst_stripe::Stats stats() {
    const std::shared_ptr<gst_stripe::Session> current = current_session();
    if (current) return current->stats();
    const std::lock_guard lock(mutex);
    return last_stats;
  }
};

namespace gst_stripe {

inline GstCudaStripeTransform::State& state_of(gpointer instance) {
  return *reinterpret_cast<GstCudaStripeTransform*>(instance)->state;
}

/// The base class's functions, to chain up to.
GstBaseTransformClass* parent_class();

}  // namespace gst_stripe
