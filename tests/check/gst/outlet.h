// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "gst/support.h"

// Downstream in the test's hands: it notes in which order everything comes, waits when it is told
// to, and answers what it is told to. And a stream of small numbered frames for it.

namespace test {

/// Waits until `condition` holds; fails the case with `what` after ten seconds.
void wait_until(const char* what, const std::function<bool()>& condition);

/// Long enough for what must not happen to happen.
void settle();

/// What came out: a frame or an event.
struct Arrival {
  GstEventType event = GST_EVENT_UNKNOWN;  ///< GST_EVENT_UNKNOWN: it is a frame
  unsigned number = 0;                     ///< of a frame (Stream::frame) or an event (numbered)
  int value = -1;      ///< of all samples of a frame; -1: they are not all the same
  unsigned flags = 0;  ///< of the frame
  int width = 0;       ///< of the caps that were in force

  bool is_frame() const { return event == GST_EVENT_UNKNOWN; }
};

/// The pad after the element.
///
/// Owner: must outlive the rig that it is installed in.
/// Thread: any.
class Outlet {
 public:
  Outlet() = default;
  Outlet(const Outlet&) = delete;

  /// From now on the rig's last pad is this one.
  void install(Rig& rig);

  /// Frames are not taken until they are let go, or a flush comes, as in a sink that waits.
  void hold();
  void let_go();

  /// What is answered to the frame that comes as the `first`-th (from 1 on, over all) and all after
  /// it, until told otherwise.
  void answer(GstFlowReturn flow, unsigned first = 1);

  /// Called for each frame in the thread that brings it, with its number.
  void on_frame(std::function<void(unsigned number)> call);

  /// Fails unless `count` frames, or an event of this type, come soon.
  void wait_for_frames(unsigned count);
  void wait_for_event(GstEventType type);

  /// Whether a frame is there and held.
  void wait_for_a_held_frame();

  std::vector<Arrival> arrivals();
  std::vector<unsigned> frame_numbers();
  unsigned frame_count();
  unsigned event_count(GstEventType type);

  /// Fails unless the frames that came are `begin`, `begin` + 1, ..., `count` of them.
  void expect_frames(unsigned begin, unsigned count);

  void forget();

 private:
  static GstFlowReturn chain(GstPad* pad, GstObject* parent, GstBuffer* buffer);
  static GstPadProbeReturn watch_event(GstPad* pad, GstPadProbeInfo* info, gpointer self);
  GstFlowReturn take(GstPad* pad, GstBuffer* buffer);
  void note(GstEvent* event);

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<Arrival> arrivals_;
  std::function<void(unsigned)> on_frame_;
  GstFlowReturn flow_ = GST_FLOW_OK;
  unsigned first_ = 1;
  unsigned frames_ever_ = 0;
  bool held_ = false;
  bool waiting_ = false;
  bool flushing_ = false;
};

/// An element at a depth, before an outlet, with small gray frames.
struct Stream {
  explicit Stream(unsigned depth, const char* framerate = "25/1");
  Stream(const Stream&) = delete;
  ~Stream();

  /// Frame `number`: at number / 25 s, OFFSET is the number, all samples are number % 251.
  Ref<GstBuffer> frame(unsigned number) const;

  GstFlowReturn push(unsigned number) { return rig.push(frame(number)); }

  /// Fails unless the flow is OK.
  void push_all(unsigned first, unsigned count);

  bool push_event(GstEvent* event) { return gst_harness_push_event(rig.harness(), event); }

  /// A segment from 0 on.
  bool push_segment();

  void flush();

  std::uint64_t counter(const char* field) { return stat_uint64(rig.element(), field); }

  /// Pushes a numbered event and waits until it is out, and all before it.
  void wait_for_all();

  /// Fails unless all frames that reached the element are accounted for: came out, or dropped.
  void expect_accounts();

  Ref<GstCaps> caps;
  Outlet outlet;
  std::atomic<std::uint64_t> entered = 0;  ///< frames that reached the element
  Rig rig;

 private:
  Ref<GstPad> sink_;
  gulong probe_ = 0;
};

/// Caps of `width`x16 GRAY8.
Ref<GstCaps> small_caps(int width, const char* framerate);

/// A serialized event that says its number.
GstEvent* numbered(GstEventType type, unsigned number);

}  // namespace test
