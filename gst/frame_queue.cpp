// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/frame_queue.h"

#include <utility>

namespace gst_stripe {

namespace {

// What no next frame heals. NOT_LINKED is none: a relink does.
bool is_fatal(GstFlowReturn flow) { return flow < GST_FLOW_NOT_LINKED; }

bool is_failure(GstFlowReturn flow) { return flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS; }

}  // namespace

void FrameQueue::open(int depth) {
  const std::lock_guard lock(mutex_);
  depth_ = depth;
  ++epoch_;
  flow_ = refusal_ = GST_FLOW_OK;
  eos_generation_ = 0;
  active_ = true;
  flushing_ = busy_ = eos_accepted_ = told_ = false;
}

void FrameQueue::wake_both() {
  for_chain_.notify_all();
  for_task_.notify_all();
}

void FrameQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    active_ = false;
    flushing_ = true;
  }
  wake_both();
}

void FrameQueue::start_flush() {
  {
    const std::lock_guard lock(mutex_);
    flushing_ = true;
  }
  wake_both();
}

bool FrameQueue::is_flushing() {
  const std::lock_guard lock(mutex_);
  return flushing_;
}

void FrameQueue::stop_flush(GstPad* task_pad, GstTaskFunction task, gpointer data) {
  const std::lock_guard lock(mutex_);
  ++epoch_;
  flow_ = refusal_ = GST_FLOW_OK;
  eos_generation_ = 0;
  eos_accepted_ = told_ = false;
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

// What the chain function has to return, for the stream or segment that it is in.
GstFlowReturn FrameQueue::standing_flow() const {
  if (flushing_) return GST_FLOW_FLUSHING;
  if (refusal_ != GST_FLOW_OK) return refusal_;
  if (is_fatal(flow_)) return flow_;
  return eos_generation_ == generation_ ? GST_FLOW_EOS : flow_;
}

GstFlowReturn FrameQueue::told_flow() {
  const GstFlowReturn flow = standing_flow();
  told_ |= flow == flow_;
  return flow;
}

GstFlowReturn FrameQueue::fatal_flow() {
  const std::lock_guard lock(mutex_);
  return is_fatal(standing_flow()) ? told_flow() : GST_FLOW_OK;
}

GstFlowReturn FrameQueue::wait_for_space() {
  std::unique_lock lock(mutex_);
  for_chain_.wait(lock, [this] { return is_fatal(standing_flow()) || unfinished_ < depth_; });
  return is_fatal(standing_flow()) ? told_flow() : GST_FLOW_OK;
}

GstFlowReturn FrameQueue::hand_over(std::unique_ptr<Frame>& frame) {
  std::unique_lock lock(mutex_);
  if (is_fatal(standing_flow())) return told_flow();
  if (unfinished_ < depth_) return GST_FLOW_OK;
  next_ = std::move(frame);
  handover_ = Handover::waiting;
  for_chain_.wait(lock, [this] {
    return handover_ == Handover::none || handover_ == Handover::failed ||
           (handover_ == Handover::waiting && is_fatal(standing_flow()));
  });
  frame = std::move(next_);
  const bool failed = std::exchange(handover_, Handover::none) == Handover::failed;
  return failed ? GST_FLOW_ERROR : told_flow();
}

void FrameQueue::add_frame(std::unique_ptr<Frame> frame) {
  items_.push_back({std::move(frame), nullptr, generation_, epoch_});
  ++unfinished_;
}

GstFlowReturn FrameQueue::push(std::unique_ptr<Frame> frame) {
  GstFlowReturn flow = GST_FLOW_OK;
  {
    const std::lock_guard lock(mutex_);
    add_frame(std::move(frame));
    flow = told_flow();
  }
  for_task_.notify_all();
  return flow;
}

bool FrameQueue::push(EventRef event) {
  {
    const std::lock_guard lock(mutex_);
    if (flushing_) return false;
    const GstEventType type = GST_EVENT_TYPE(event.get());
    // What downstream said of one stream or segment does not hold for the next.
    if (type == GST_EVENT_SEGMENT || type == GST_EVENT_STREAM_START) ++generation_;
    eos_accepted_ = type == GST_EVENT_EOS ||
                    (eos_accepted_ && type != GST_EVENT_STREAM_START && type != GST_EVENT_SEGMENT);
    items_.push_back({nullptr, std::move(event), generation_, epoch_});
  }
  for_task_.notify_all();
  return true;
}

void FrameQueue::refuse(GstFlowReturn flow) {
  {
    const std::lock_guard lock(mutex_);
    refusal_ = flow;
  }
  for_chain_.notify_all();  // no space comes any more that it could wait for
}

bool FrameQueue::drain() {
  std::unique_lock lock(mutex_);
  draining_ = true;
  for_chain_.wait(lock, [this] { return flushing_ || (items_.empty() && !busy_); });
  draining_ = false;
  return !flushing_;
}

GstFlowReturn FrameQueue::last_flow() {
  const std::lock_guard lock(mutex_);
  return told_flow();
}

bool FrameQueue::pop(Item& item) {
  std::unique_lock lock(mutex_);
  for_task_.wait(lock, [this] { return flushing_ || !items_.empty(); });
  if (flushing_) return false;
  item = std::move(items_.front());
  items_.pop_front();
  busy_ = true;
  return true;
}

std::unique_ptr<Frame> FrameQueue::finished_on_device() {
  {
    const std::lock_guard lock(mutex_);
    --unfinished_;
    if (handover_ == Handover::waiting && !is_fatal(standing_flow())) {
      handover_ = Handover::starting;
      return std::move(next_);
    }
  }
  for_chain_.notify_all();
  return nullptr;
}

void FrameQueue::started(std::unique_ptr<Frame> frame) {
  {
    const std::lock_guard lock(mutex_);
    handover_ = frame ? Handover::none : Handover::failed;
    if (frame) add_frame(std::move(frame));
  }
  for_chain_.notify_all();
}

bool FrameQueue::is_unwanted(const Item& item) {
  const std::lock_guard lock(mutex_);
  return flushing_ || is_fatal(flow_) || item.epoch != epoch_ || item.generation == eos_generation_;
}

// A chain thread that waits for space is not woken where nothing has changed for it.
void FrameQueue::done(const Item& item, GstFlowReturn flow) {
  {
    const std::lock_guard lock(mutex_);
    busy_ = false;
    if (!draining_ && flow == flow_) return;
    if (item.epoch == epoch_ && !is_fatal(flow_)) {
      if (flow == GST_FLOW_EOS) {
        eos_generation_ = item.generation;
      } else if (flow != flow_) {
        flow_ = flow;
        told_ = false;
      }
    }
  }
  for_chain_.notify_all();
}

void FrameQueue::done() {
  {
    const std::lock_guard lock(mutex_);
    busy_ = false;
  }
  for_chain_.notify_all();
}

GstFlowReturn FrameQueue::take_unheard() {
  const std::lock_guard lock(mutex_);
  if (!eos_accepted_ || told_ || flushing_ || !is_failure(flow_)) return GST_FLOW_OK;
  told_ = true;
  return flow_;
}

void FrameQueue::set_told() {
  const std::lock_guard lock(mutex_);
  told_ = true;
}

}  // namespace gst_stripe
