// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "gst/session.h"

namespace gst_stripe {

struct EventUnref {
  void operator()(GstEvent* event) const noexcept { gst_event_unref(event); }
};
using EventRef = std::unique_ptr<GstEvent, EventUnref>;

/// Frames in flight and the serialized events between them, in the order in which they came: the
/// chain thread puts them in, the source pad's task takes them out and pushes them.
///
/// Where as many frames are in flight as may be, the chain thread leaves its next one here, ready to
/// be started, and the task starts it as soon as the device is done with one: to wake the chain
/// thread for that takes some 50 us, in which the link would run dry.
///
/// Lock order: the sink pad's stream lock, then the mutex here; for the task the source pad's
/// stream lock, then the mutex. The mutex is a leaf: under it nothing is mapped, unreffed, pushed
/// or posted, and of GStreamer only gst_pad_start_task on the existing task is called.
///
/// Thread:  any; what the chain thread and the task call is said at each.
class FrameQueue {
 public:
  /// A frame or an event, the stream or segment that it belongs to, and since which flush it is
  /// here.
  struct Item {
    std::unique_ptr<Frame> frame;
    EventRef event;
    std::uint64_t generation = 0;
    std::uint64_t epoch = 0;
  };

  /// The source pad is activated: open for `depth` frames.
  void open(int depth);

  /// The source pad is deactivated: both threads stop waiting. What is inside stays for clear().
  void close();

  void start_flush();
  bool is_flushing();

  /// Starts anew, and the task with it if the pad is active.
  void stop_flush(GstPad* task_pad, GstTaskFunction task, gpointer data);

  /// Takes everything out. Neither thread is at work.
  std::deque<Item> clear();

  /// Chain thread: the flow that says that no frame will be taken any more: flushing, or what
  /// downstream returned that a next frame can't heal; else OK.
  GstFlowReturn fatal_flow();

  /// Chain thread: returns when another frame may be started, or with the fatal flow.
  GstFlowReturn wait_for_space();

  /// Chain thread: where there is space, OK at once, and the caller starts and pushes the frame.
  /// Else it is left to the task; `frame` is NULL then, and the flow is that of push(), or of the
  /// failure to start it. With a fatal flow the caller has its frame back.
  GstFlowReturn hand_over(std::unique_ptr<Frame>& frame);

  /// Chain thread: puts a started frame in, while flushing too: the engine wants its frames waited for in
  /// order and by one thread, so it is the next clear() that waits for it then.
  ///
  /// Errors:  what downstream returned last, or flushing.
  GstFlowReturn push(std::unique_ptr<Frame> frame);

  /// Chain thread: false while flushing; then the event is dropped.
  bool push(EventRef event);

  /// No more frames are taken before a flush; those inside still come out.
  void refuse(GstFlowReturn flow);

  /// Chain thread: returns when all is pushed. False when interrupted by a flush.
  bool drain();

  /// Chain thread: what downstream returned last.
  GstFlowReturn last_flow();

  /// Task: waits for the next item. False while flushing.
  bool pop(Item& item);

  /// Task: the device is done with the popped frame: there is space for another one. Returns the
  /// one that was left here, to be started and then given to started().
  std::unique_ptr<Frame> finished_on_device();

  /// Task: that frame is on its way; NULL: it could not be started.
  void started(std::unique_ptr<Frame> frame);

  /// Task: whether the popped frame is of no use any more.
  bool is_unwanted(const Item& item);

  /// Task: the popped frame is dealt with.
  void done(const Item& item, GstFlowReturn flow);

  /// Task: the popped event is dealt with.
  void done();

  /// A failure that nobody upstream will hear of, since EOS was accepted; GST_FLOW_OK: none. Said
  /// once.
  GstFlowReturn take_unheard();

  /// The failure that stands was told to the application.
  void set_told();

 private:
  // Of the frame that the chain thread leaves to the task.
  enum class Handover { none, waiting, starting, failed };

  GstFlowReturn standing_flow() const;
  GstFlowReturn told_flow();
  void add_frame(std::unique_ptr<Frame> frame);
  void wake_both();

  std::mutex mutex_;  // guards all below
  std::condition_variable for_chain_;
  std::condition_variable for_task_;
  std::deque<Item> items_;
  int depth_ = 1;
  int unfinished_ = 0;                // frames that the device may still be at work on
  std::uint64_t epoch_ = 0;           // flushes so far
  std::uint64_t generation_ = 1;      // streams and segments that were put in so far
  std::uint64_t eos_generation_ = 0;  // for which downstream returned EOS
  GstFlowReturn flow_ = GST_FLOW_OK;  // of the last push; EOS apart
  GstFlowReturn refusal_ = GST_FLOW_OK;
  bool active_ = false;
  bool flushing_ = true;
  bool busy_ = false;
  bool draining_ = false;
  std::unique_ptr<Frame> next_;
  Handover handover_ = Handover::none;
  bool eos_accepted_ = false;
  bool told_ = false;  // upstream or the application knows of flow_
};

}  // namespace gst_stripe
