// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/frame_queue.h"

#include <utility>

namespace gst_stripe {

void FrameQueue::open(int depth) {
  const std::lock_guard lock(mutex_);
  depth_ = depth;
  ++epoch_;
  flow_ = GST_FLOW_OK;
  active_ = true;
  flushing_ = false;
  busy_ = false;
  eos_accepted_ = false;
}

void FrameQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    active_ = false;
    flushing_ = true;
  }
  changed_.notify_all();
}

void FrameQueue::start_flush() {
  {
    const std::lock_guard lock(mutex_);
    flushing_ = true;
  }
  changed_.notify_all();
}

void FrameQueue::stop_flush(GstPad* task_pad, GstTaskFunction task, gpointer data) {
  const std::lock_guard lock(mutex_);
  ++epoch_;
  flow_ = GST_FLOW_OK;
  eos_accepted_ = false;
  if (!active_) return;
  flushing_ = false;
  // Under the mutex, or a deactivation in between would find a task that it has stopped running.
  gst_pad_start_task(task_pad, task, data, nullptr);
}

std::deque<FrameQueue::Item> FrameQueue::clear() {
  const std::lock_guard lock(mutex_);
  unfinished_ = 0;
  return std::exchange(items_, {});
}

GstFlowReturn FrameQueue::wait_for_space() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return flushing_ || is_fatal(flow_) || unfinished_ < depth_; });
  if (flushing_) return GST_FLOW_FLUSHING;
  return is_fatal(flow_) ? flow_ : GST_FLOW_OK;
}

bool FrameQueue::push(std::unique_ptr<Frame> frame) {
  {
    const std::lock_guard lock(mutex_);
    if (flushing_) return false;
    items_.push_back({std::move(frame), nullptr, epoch_});
    ++unfinished_;
  }
  changed_.notify_all();
  return true;
}

bool FrameQueue::push(EventRef event) {
  {
    const std::lock_guard lock(mutex_);
    if (flushing_) return false;
    begin_stream(GST_EVENT_TYPE(event.get()));
    items_.push_back({nullptr, std::move(event), epoch_});
  }
  changed_.notify_all();
  return true;
}

// A new stream or segment ends the EOS that downstream returned for the old one; frames that are still
// queued from before it must not bring it back.
void FrameQueue::begin_stream(GstEventType type) {
  if (type == GST_EVENT_EOS) eos_accepted_ = true;
  if (type != GST_EVENT_SEGMENT && type != GST_EVENT_STREAM_START) return;
  eos_accepted_ = false;
  if (flow_ != GST_FLOW_EOS) return;
  flow_ = GST_FLOW_OK;
  ++epoch_;
}

bool FrameQueue::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return flushing_ || (items_.empty() && !busy_); });
  return !flushing_;
}

GstFlowReturn FrameQueue::last_flow() {
  const std::lock_guard lock(mutex_);
  return flushing_ ? GST_FLOW_FLUSHING : flow_;
}

void FrameQueue::set_flow(GstFlowReturn flow) {
  {
    const std::lock_guard lock(mutex_);
    flow_ = flow;
  }
  changed_.notify_all();
}

bool FrameQueue::pop(Item& item) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return flushing_ || !items_.empty(); });
  if (flushing_) return false;
  item = std::move(items_.front());
  items_.pop_front();
  busy_ = true;
  return true;
}

void FrameQueue::finished_on_device() {
  {
    const std::lock_guard lock(mutex_);
    --unfinished_;
  }
  changed_.notify_all();
}

bool FrameQueue::is_unwanted(const Item& item) {
  const std::lock_guard lock(mutex_);
  return flushing_ || is_fatal(flow_) || item.epoch != epoch_;
}

void FrameQueue::done() {
  {
    const std::lock_guard lock(mutex_);
    busy_ = false;
  }
  changed_.notify_all();
}

bool FrameQueue::done(const Item& item, GstFlowReturn flow) {
  bool unheard = false;
  {
    const std::lock_guard lock(mutex_);
    busy_ = false;
    if (item.epoch == epoch_ && !is_fatal(flow_)) {
      flow_ = flow;
      unheard =
          eos_accepted_ && flow != GST_FLOW_OK && flow != GST_FLOW_FLUSHING && flow != GST_FLOW_EOS;
    }
  }
  changed_.notify_all();
  return unheard;
}

}  // namespace gst_stripe
