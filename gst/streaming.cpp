// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/streaming.h"

#include <optional>
#include <utility>

#include "gst/color.h"
#include "gst/debug.h"
#include "gst/messages.h"
#include "gst/queries.h"

namespace gst_stripe {

namespace {

using State = GstCudaStripeTransform::State;

void set_pool_flushing(GstBaseTransform* trans, gboolean flushing) {
  GstBufferPool* pool = gst_base_transform_get_buffer_pool(trans);
  if (pool) gst_buffer_pool_set_flushing(pool, flushing);
  gst_clear_object(&pool);
}

// --- chain thread: frames

BufferRef allocate_output(GstBaseTransform* trans, GstBuffer* input, GstFlowReturn& flow) {
  GstBuffer* output = nullptr;
  flow = GST_BASE_TRANSFORM_GET_CLASS(trans)->prepare_output_buffer(trans, input, &output);
  BufferRef owned(output);
  if (flow == GST_FLOW_OK && !owned) flow = GST_FLOW_ERROR;
  return owned;
}

std::unique_ptr<Frame> prepare_frame(GstBaseTransform* trans, BufferRef input, BufferRef output) {
  State& state = state_of(trans);
  try {
    return state.current_session()->prepare(std::move(input), std::move(output),
                                            state.current_settings());
  } catch (const std::exception& error) {
    post_error(GST_ELEMENT(trans), error);
    return nullptr;
  }
}

void post_session_notices(GstBaseTransform* trans) {
  post_notices(GST_ELEMENT(trans), state_of(trans).current_session()->take_notices());
}

// Of the chain thread, or of the task for it.
bool start_frame(GstBaseTransform* trans, Frame& frame) {
  try {
    state_of(trans).current_session()->start(frame);
    return true;
  } catch (const std::exception& error) {
    post_error(GST_ELEMENT(trans), error);
    return false;
  }
}

GstFlowReturn drop_input(State& state, GstFlowReturn flow) {
  state.current_session()->count_dropped();
  return flow;
}

// A failure of ours, which was posted. Frames in flight still come out.
GstFlowReturn fail_input(State& state) {
  if (state.is_async()) state.queue.refuse(GST_FLOW_ERROR);
  return drop_input(state, GST_FLOW_ERROR);
}

// Puts a frame in flight. A staged one is copied by this thread, which the task has no time for.
GstFlowReturn queue_frame(GstBaseTransform* trans, std::unique_ptr<Frame> frame) {
  State& state = state_of(trans);
  const GstFlowReturn flow =
      frame->is_staged() ? state.queue.wait_for_space() : state.queue.hand_over(frame);
  if (!frame) return flow;  // the task's by now
  if (flow != GST_FLOW_OK) return drop_input(state, flow);
  if (!start_frame(trans, *frame)) return fail_input(state);
  const GstFlowReturn pushed = state.queue.push(std::move(frame));
  post_session_notices(trans);
  return pushed;
}

GstFlowReturn submit_frame(GstBaseTransform* trans, BufferRef input) {
  State& state = state_of(trans);
  GstFlowReturn flow = state.is_async() ? state.queue.fatal_flow() : GST_FLOW_OK;
  if (flow != GST_FLOW_OK) return drop_input(state, flow);
  BufferRef output = allocate_output(trans, input.get(), flow);
  if (flow == GST_FLOW_ERROR) return fail_input(state);
  if (flow != GST_FLOW_OK) return drop_input(state, flow);
  if (std::exchange(state.discont_pending, false))
    GST_BUFFER_FLAG_SET(output.get(), GST_BUFFER_FLAG_DISCONT);
  sync_properties(trans, input.get());
  std::unique_ptr<Frame> frame = prepare_frame(trans, std::move(input), std::move(output));
  if (!frame) return fail_input(state);
  if (state.is_async()) return queue_frame(trans, std::move(frame));
  if (!start_frame(trans, *frame)) return fail_input(state);
  post_session_notices(trans);
  state.single = std::move(frame);
  return GST_FLOW_OK;
}

GstFlowReturn submit_input_buffer(GstBaseTransform* trans, gboolean is_discont,
                                  GstBuffer* input) noexcept {
  State& state = state_of(trans);
  state.current_session()->count_in();
  state.pushing.reset();  // of a push that failed: the base did not come back
  // The base is going to negotiate, and may give us another pool.
  if (state.is_async() && GST_PAD_NEEDS_RECONFIGURE(trans->srcpad) && !state.queue.drain()) {
    gst_buffer_unref(input);
    return drop_input(state, GST_FLOW_FLUSHING);
  }
  const GstFlowReturn flow = parent_class()->submit_input_buffer(trans, is_discont, input);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) state.discont_pending = true;
  if (flow != GST_FLOW_OK) return drop_input(state, flow);
  BufferRef queued(std::exchange(trans->queued_buf, nullptr));
  return queued ? submit_frame(trans, std::move(queued)) : GST_FLOW_OK;
}

// No frame is lost where only its times can't be had: the next one meets the same error.
void add_times(State& state, const TimedFrame& frame, stripe::Time push_begin) {
  try {
    state.current_session()->add_times(frame, {push_begin, stripe::now()});
  } catch (const std::exception& error) {
    GST_WARNING("no times of frame %" G_GUINT64_FORMAT ": %s", guint64{frame.number}, error.what());
  }
}

// The base pushes what generate_output gives, and then calls it again.
void add_times_of_single(State& state) {
  if (!state.pushing) return;
  add_times(state, state.pushing->frame, state.pushing->begin);
  state.pushing.reset();
}

GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** output) noexcept {
  State& state = state_of(trans);
  *output = nullptr;
  if (state.is_async()) return state.queue.last_flow();
  add_times_of_single(state);
  const std::unique_ptr<Frame> frame = std::move(state.single);
  if (!frame) return GST_FLOW_OK;
  try {
    frame->finish();
  } catch (const std::exception& error) {
    post_error(GST_ELEMENT(trans), error);
    return drop_input(state, GST_FLOW_ERROR);
  }
  *output = frame->take_output().release();
  state.current_session()->count_out();
  if (frame->timed().is_timed()) state.pushing = {frame->timed(), stripe::now()};
  return GST_FLOW_OK;
}

// Never called. Without one the base goes in-place for good, and never asks downstream for a pool.
GstFlowReturn transform(GstBaseTransform*, GstBuffer*, GstBuffer*) { return GST_FLOW_ERROR; }

// --- source pad's task

// The device has space: the next frame is started before this one is pushed.
void start_next(GstBaseTransform* trans) {
  State& state = state_of(trans);
  std::unique_ptr<Frame> next = state.queue.finished_on_device();
  if (!next) return;
  if (!start_frame(trans, *next)) {
    fail_input(state);
    next.reset();
  }
  state.queue.started(std::move(next));
  // Not before: who hears of it may flush, and the chain thread has to get away for that.
  post_session_notices(trans);
}

// Waits for the frame. False where it failed, which is posted unless the frame is unwanted anyway.
bool finish_frame(GstBaseTransform* trans, FrameQueue::Item& item, bool& posted) {
  State& state = state_of(trans);
  bool finished = true;
  try {
    item.frame->finish();
  } catch (const std::exception& error) {
    finished = false;
    posted = !state.queue.is_unwanted(item);
    if (posted) {
      post_error(GST_ELEMENT(trans), error);
      state.queue.refuse(GST_FLOW_ERROR);  // the next one would fail the same way
    }
  }
  start_next(trans);
  return finished;
}

// What downstream returned, or ERROR; nothing where the frame is dropped, as what made it unwanted
// stands.
std::optional<GstFlowReturn> push_frame(GstBaseTransform* trans, FrameQueue::Item& item,
                                        bool& posted) {
  State& state = state_of(trans);
  const std::shared_ptr<Session> session = state.current_session();
  const bool finished = finish_frame(trans, item, posted);
  if (!finished || state.queue.is_unwanted(item)) {
    session->count_dropped();
    if (posted) return GST_FLOW_ERROR;
    return std::nullopt;
  }
  BufferRef output = item.frame->take_output();
  const TimedFrame timed = item.frame->timed();
  item.frame.reset();
  remember_position(state, output.get());
  session->count_out();
  const stripe::Time begin = timed.is_timed() ? stripe::now() : 0;
  const GstFlowReturn flow = gst_pad_push(trans->srcpad, output.release());
  if (timed.is_timed()) add_times(state, timed, begin);
  return flow;
}

void post_unheard(GstBaseTransform* trans) {
  const GstFlowReturn flow = state_of(trans).queue.take_unheard();
  if (flow != GST_FLOW_OK) GST_ELEMENT_FLOW_ERROR(trans, flow);
}

// A stream has ended: who waits for EOS finds the timeline written.
void finish_timeline(GstBaseTransform* trans) {
  const std::shared_ptr<Session> session = state_of(trans).current_session();
  if (!session) return;
  session->finish_timeline();
  post_notices(GST_ELEMENT(trans), session->take_notices());
}

void push_event(GstBaseTransform* trans, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) remember_segment(state_of(trans), event);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) finish_timeline(trans);
  gst_pad_push_event(trans->srcpad, event);
}

void push_next(gpointer instance) noexcept {
  auto* trans = GST_BASE_TRANSFORM(instance);
  FrameQueue& queue = state_of(trans).queue;
  FrameQueue::Item item;
  if (!queue.pop(item)) {
    gst_pad_pause_task(trans->srcpad);
    return;
  }
  if (item.event) {
    push_event(trans, item.event.release());
    queue.done();
    return;
  }
  bool posted = false;
  const std::optional<GstFlowReturn> flow = push_frame(trans, item, posted);
  item.frame.reset();
  if (flow)
    queue.done(item, *flow);
  else
    queue.done();
  if (posted) queue.set_told();
  post_unheard(trans);
}

gboolean activate_source(GstPad* pad, GstObject* parent, GstPadMode mode,
                         gboolean active) noexcept {
  State& state = state_of(parent);
  auto* trans = GST_BASE_TRANSFORM(parent);
  if (mode != GST_PAD_MODE_PUSH) return FALSE;
  if (active) {
    state.depth = static_cast<int>(state.current_settings().async_depth);
    forget_position(state);
    set_pool_flushing(trans, FALSE);
    if (!state.is_async()) return TRUE;
    state.queue.open(state.depth);
    return gst_pad_start_task(pad, push_next, trans, nullptr);
  }
  state.queue.close();
  set_pool_flushing(trans, TRUE);
  return gst_pad_stop_task(pad);
}

// --- chain thread: events

// What a pad makes of an event function that says FALSE; but who is told NOT_NEGOTIATED because the
// element is being shut down posts an error.
GstFlowReturn to_flow(GstBaseTransform* trans, bool handled, GstEventType type) {
  if (handled) return GST_FLOW_OK;
  if (GST_PAD_IS_FLUSHING(trans->sinkpad) || GST_PAD_IS_FLUSHING(trans->srcpad))
    return GST_FLOW_FLUSHING;
  return type == GST_EVENT_CAPS ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_ERROR;
}

GstFlowReturn handle_in_base(GstPad* pad, GstObject* parent, GstEvent* event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  const bool handled = state_of(parent).base_sink_event(pad, parent, event);
  return to_flow(GST_BASE_TRANSFORM(parent), handled, type);
}

GstFlowReturn start_flush(GstPad* pad, GstObject* parent, GstEvent* event) {
  auto* trans = GST_BASE_TRANSFORM(parent);
  State& state = state_of(parent);
  if (state.is_async()) state.queue.start_flush();
  set_pool_flushing(trans, TRUE);  // the chain thread may wait for a buffer that downstream holds
  const GstFlowReturn flow = handle_in_base(pad, parent, event);
  // GStreamer's own pause: a wait of ours would hang where the task itself seeks.
  if (state.is_async()) gst_pad_pause_task(trans->srcpad);
  return flow;
}

GstFlowReturn stop_flush(GstPad* pad, GstObject* parent, GstEvent* event) {
  auto* trans = GST_BASE_TRANSFORM(parent);
  State& state = state_of(parent);
  // One that no FLUSH_START came before finds the task at work: all goes out first.
  if (state.is_async() && !state.queue.is_flushing()) state.queue.drain();
  drop_frames(trans);
  set_pool_flushing(trans, FALSE);
  const GstFlowReturn flow = handle_in_base(pad, parent, event);
  forget_position(state);
  if (state.is_async()) state.queue.stop_flush(trans->srcpad, push_next, trans);
  return flow;
}

GstFlowReturn queue_event(GstObject* parent, GstEvent* event) {
  if (!state_of(parent).queue.push(EventRef(event))) return GST_FLOW_FLUSHING;
  post_unheard(GST_BASE_TRANSFORM(parent));  // where EOS follows a failed push
  return GST_FLOW_OK;
}

// The base would push the segment at once, past the frames that come before it.
GstFlowReturn take_segment(GstObject* parent, GstEvent* event) {
  auto* trans = GST_BASE_TRANSFORM(parent);
  gst_event_copy_segment(event, &trans->segment);
  trans->have_segment = TRUE;
  return queue_event(parent, event);
}

GstFlowReturn change_caps(GstPad* pad, GstObject* parent, GstEvent* event) {
  if (state_of(parent).queue.drain()) return handle_in_base(pad, parent, event);
  gst_event_unref(event);
  return GST_FLOW_FLUSHING;
}

GstFlowReturn handle_serialized(GstPad* pad, GstObject* parent, GstEvent* event) {
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS:
      return change_caps(pad, parent, event);
    case GST_EVENT_SEGMENT:
      return take_segment(parent, event);
    default:
      return queue_event(parent, event);
  }
}

GstFlowReturn handle_sink_event(GstPad* pad, GstObject* parent, GstEvent* event) noexcept {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START) return start_flush(pad, parent, event);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) return stop_flush(pad, parent, event);
  if (state_of(parent).is_async() && GST_EVENT_IS_SERIALIZED(event))
    return handle_serialized(pad, parent, event);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) finish_timeline(GST_BASE_TRANSFORM(parent));
  return handle_in_base(pad, parent, event);
}

}  // namespace

void drop_frames(GstBaseTransform* trans) {
  State& state = state_of(trans);
  const std::shared_ptr<Session> session = state.current_session();
  std::deque<FrameQueue::Item> items = state.queue.clear();
  for (; !items.empty(); items.pop_front())  // in order: so the engine wants to be waited for
    if (items.front().frame && session) session->count_dropped();
  state.single.reset();
  state.pushing.reset();
}

void install_streaming(GstBaseTransformClass* klass) {
  klass->submit_input_buffer = submit_input_buffer;
  klass->generate_output = generate_output;
  klass->transform = transform;
  klass->query = answer_query;
}

void init_streaming(GstBaseTransform* trans) {
  state_of(trans).base_sink_event = GST_PAD_EVENTFUNC(trans->sinkpad);
  gst_pad_set_event_full_function(trans->sinkpad, handle_sink_event);
  gst_pad_set_activatemode_function(trans->srcpad, activate_source);
}

}  // namespace gst_stripe
