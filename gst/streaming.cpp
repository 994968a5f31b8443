// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/streaming.h"

#include <utility>

#include "gst/debug.h"
#include "gst/messages.h"

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

std::unique_ptr<Frame> start_frame(GstBaseTransform* trans, BufferRef input, BufferRef output) {
  State& state = state_of(trans);
  const std::shared_ptr<Session> session = state.current_session();
  try {
    auto frame = session->start(std::move(input), std::move(output), state.current_settings());
    post_warning(GST_ELEMENT(trans), session->take_warning());
    return frame;
  } catch (const std::exception& error) {
    post_error(GST_ELEMENT(trans), error);
    return nullptr;
  }
}

GstFlowReturn submit_frame(GstBaseTransform* trans, BufferRef input) {
  State& state = state_of(trans);
  GstFlowReturn flow = state.is_async() ? state.queue.wait_for_space() : GST_FLOW_OK;
  if (flow != GST_FLOW_OK) {
    state.current_session()->count_dropped();
    return flow;
  }
  BufferRef output = allocate_output(trans, input.get(), flow);
  if (flow != GST_FLOW_OK) return flow;
  if (std::exchange(state.discont_pending, false))
    GST_BUFFER_FLAG_SET(output.get(), GST_BUFFER_FLAG_DISCONT);
  std::unique_ptr<Frame> frame = start_frame(trans, std::move(input), std::move(output));
  if (!state.is_async()) {
    state.single = std::move(frame);
    return state.single ? GST_FLOW_OK : GST_FLOW_ERROR;
  }
  if (!frame) {
    state.queue.set_flow(GST_FLOW_ERROR);
    return GST_FLOW_ERROR;
  }
  if (!state.queue.push(std::move(frame))) {
    state.current_session()->count_dropped();
    return GST_FLOW_FLUSHING;
  }
  return state.queue.last_flow();
}

GstFlowReturn submit_input_buffer(GstBaseTransform* trans, gboolean is_discont, GstBuffer* input) {
  State& state = state_of(trans);
  // The base is going to negotiate, and may give us another pool and engine.
  if (state.is_async() && GST_PAD_NEEDS_RECONFIGURE(trans->srcpad) && !state.queue.drain()) {
    gst_buffer_unref(input);
    return GST_FLOW_FLUSHING;
  }
  const GstFlowReturn flow = parent_class()->submit_input_buffer(trans, is_discont, input);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) {
    state.discont_pending = true;
    state.current_session()->count_dropped();
  }
  if (flow != GST_FLOW_OK) return flow;
  BufferRef queued(std::exchange(trans->queued_buf, nullptr));
  return queued ? submit_frame(trans, std::move(queued)) : GST_FLOW_OK;
}

GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** output) {
  State& state = state_of(trans);
  *output = nullptr;
  if (state.is_async()) return state.queue.last_flow();
  const std::unique_ptr<Frame> frame = std::move(state.single);
  if (!frame) return GST_FLOW_OK;
  try {
    frame->finish();
  } catch (const std::exception& error) {
    post_error(GST_ELEMENT(trans), error);
    return GST_FLOW_ERROR;
  }
  *output = frame->take_output().release();
  state.current_session()->count_out();
  return GST_FLOW_OK;
}

// Never called. Without one the base goes in-place for good, and never asks downstream for a pool.
GstFlowReturn transform(GstBaseTransform*, GstBuffer*, GstBuffer*) { return GST_FLOW_ERROR; }

// --- source pad's task

void remember_position(State& state, GstBuffer* buffer) {
  if (!GST_BUFFER_PTS_IS_VALID(buffer)) return;
  const GstClockTime duration =
      GST_BUFFER_DURATION_IS_VALID(buffer) ? GST_BUFFER_DURATION(buffer) : 0;
  const std::lock_guard lock(state.mutex);
  state.out_position = GST_BUFFER_PTS(buffer) + duration;
}

void remember_segment(State& state, GstEvent* event) {
  const std::lock_guard lock(state.mutex);
  gst_event_copy_segment(event, &state.out_segment);
  state.out_position = GST_CLOCK_TIME_NONE;
}

// Waits for the frame. False where it is not to be pushed.
bool finish_frame(GstBaseTransform* trans, FrameQueue::Item& item) {
  State& state = state_of(trans);
  bool finished = true;
  try {
    item.frame->finish();
  } catch (const std::exception& error) {
    finished = false;
    if (!state.queue.is_unwanted(item)) post_error(GST_ELEMENT(trans), error);
  }
  state.queue.finished_on_device();
  return finished;
}

GstFlowReturn push_frame(GstBaseTransform* trans, FrameQueue::Item& item) {
  State& state = state_of(trans);
  const std::shared_ptr<Session> session = state.current_session();
  if (!finish_frame(trans, item)) {
    session->count_dropped();
    return GST_FLOW_ERROR;
  }
  if (state.queue.is_unwanted(item)) {
    session->count_dropped();
    return GST_FLOW_FLUSHING;
  }
  BufferRef output = item.frame->take_output();
  item.frame.reset();
  remember_position(state, output.get());
  session->count_out();
  return gst_pad_push(trans->srcpad, output.release());
}

void push_event(GstBaseTransform* trans, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) remember_segment(state_of(trans), event);
  gst_pad_push_event(trans->srcpad, event);
}

void push_next(gpointer instance) {
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
  const GstFlowReturn flow = push_frame(trans, item);
  item.frame.reset();
  if (queue.done(item, flow)) GST_ELEMENT_FLOW_ERROR(trans, flow);
}

gboolean activate_source(GstPad* pad, GstObject* parent, GstPadMode mode, gboolean active) {
  State& state = state_of(parent);
  auto* trans = GST_BASE_TRANSFORM(parent);
  if (mode != GST_PAD_MODE_PUSH) return FALSE;
  if (active) {
    state.depth = static_cast<int>(state.current_settings().async_depth);
    if (!state.is_async()) return TRUE;
    state.queue.open(state.depth);
    return gst_pad_start_task(pad, push_next, trans, nullptr);
  }
  state.queue.close();
  set_pool_flushing(trans, TRUE);
  return gst_pad_stop_task(pad);
}

// --- chain thread: events

// What a pad makes of an event function that says FALSE.
GstFlowReturn to_flow(GstPad* pad, bool handled, GstEventType type) {
  if (handled) return GST_FLOW_OK;
  if (GST_PAD_IS_FLUSHING(pad)) return GST_FLOW_FLUSHING;
  return type == GST_EVENT_CAPS ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_ERROR;
}

GstFlowReturn handle_in_base(GstPad* pad, GstObject* parent, GstEvent* event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  return to_flow(pad, state_of(parent).base_sink_event(pad, parent, event), type);
}

GstFlowReturn start_flush(GstPad* pad, GstObject* parent, GstEvent* event) {
  auto* trans = GST_BASE_TRANSFORM(parent);
  state_of(parent).queue.start_flush();
  set_pool_flushing(trans, TRUE);
  const GstFlowReturn flow = handle_in_base(pad, parent, event);
  // GStreamer's own pause: a wait of ours would hang where the task itself seeks.
  gst_pad_pause_task(trans->srcpad);
  return flow;
}

GstFlowReturn stop_flush(GstPad* pad, GstObject* parent, GstEvent* event) {
  auto* trans = GST_BASE_TRANSFORM(parent);
  State& state = state_of(parent);
  drop_frames(trans);
  set_pool_flushing(trans, FALSE);
  const GstFlowReturn flow = handle_in_base(pad, parent, event);
  {
    const std::lock_guard lock(state.mutex);
    gst_segment_init(&state.out_segment, GST_FORMAT_UNDEFINED);
    state.out_position = GST_CLOCK_TIME_NONE;
  }
  state.queue.stop_flush(trans->srcpad, push_next, trans);
  return flow;
}

GstFlowReturn queue_event(GstObject* parent, GstEvent* event) {
  return state_of(parent).queue.push(EventRef(event)) ? GST_FLOW_OK : GST_FLOW_FLUSHING;
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

GstFlowReturn handle_sink_event(GstPad* pad, GstObject* parent, GstEvent* event) {
  if (!state_of(parent).is_async()) return handle_in_base(pad, parent, event);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_FLUSH_START:
      return start_flush(pad, parent, event);
    case GST_EVENT_FLUSH_STOP:
      return stop_flush(pad, parent, event);
    case GST_EVENT_CAPS:
      return change_caps(pad, parent, event);
    case GST_EVENT_SEGMENT:
      return take_segment(parent, event);
    default:
      return GST_EVENT_IS_SERIALIZED(event) ? queue_event(parent, event)
                                            : handle_in_base(pad, parent, event);
  }
}

// --- queries

// Upstream may be asked to be pulled from, we can't be.
gboolean answer_scheduling(GstBaseTransform* trans, GstQuery* query) {
  GstSchedulingFlags flags = GST_SCHEDULING_FLAG_SEEKABLE;
  if (!gst_pad_peer_query(trans->sinkpad, query)) return FALSE;
  gst_query_parse_scheduling(query, &flags, nullptr, nullptr, nullptr);
  GstQuery* own = gst_query_new_scheduling();
  gst_query_set_scheduling(own, flags, 1, -1, 0);
  gst_query_add_scheduling_mode(own, GST_PAD_MODE_PUSH);
  gst_structure_remove_all_fields(gst_query_writable_structure(query));
  gst_structure_foreach(
      gst_query_get_structure(own),
      [](GQuark field, const GValue* value, gpointer structure) -> gboolean {
        gst_structure_id_set_value(static_cast<GstStructure*>(structure), field, value);
        return TRUE;
      },
      gst_query_writable_structure(query));
  gst_query_unref(own);
  return TRUE;
}

// The base never sees the frames that the task pushes.
bool answer_position(State& state, GstQuery* query) {
  GstFormat format = GST_FORMAT_UNDEFINED;
  gst_query_parse_position(query, &format, nullptr);
  const std::lock_guard lock(state.mutex);
  if (format != GST_FORMAT_TIME || state.out_segment.format != GST_FORMAT_TIME ||
      !GST_CLOCK_TIME_IS_VALID(state.out_position))
    return false;
  const guint64 time =
      gst_segment_to_stream_time(&state.out_segment, GST_FORMAT_TIME, state.out_position);
  gst_query_set_position(query, GST_FORMAT_TIME, static_cast<gint64>(time));
  return true;
}

// As a queue: frames can be held, they need not be.
void add_latency(State& state, GstQuery* query) {
  gboolean live = FALSE;
  GstClockTime shortest = 0, longest = 0;
  gst_query_parse_latency(query, &live, &shortest, &longest);
  const std::lock_guard lock(state.mutex);
  if (!GST_CLOCK_TIME_IS_VALID(state.frame_duration) || !GST_CLOCK_TIME_IS_VALID(longest)) return;
  longest += static_cast<GstClockTime>(state.depth) * state.frame_duration;
  gst_query_set_latency(query, live, shortest, longest);
}

gboolean answer_source_query(GstBaseTransform* trans, GstQuery* query) {
  State& state = state_of(trans);
  if (GST_QUERY_TYPE(query) == GST_QUERY_SCHEDULING) return answer_scheduling(trans, query);
  if (!state.is_async()) return parent_class()->query(trans, GST_PAD_SRC, query);
  if (GST_QUERY_TYPE(query) == GST_QUERY_POSITION && answer_position(state, query)) return TRUE;
  const gboolean answered = parent_class()->query(trans, GST_PAD_SRC, query);
  if (answered && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY) add_latency(state, query);
  return answered;
}

// A decoder asks for an allocation with each frame: only what renegotiates waits for the frames.
bool needs_drain(GstBaseTransform* trans, GstQuery* query) {
  if (!GST_QUERY_IS_SERIALIZED(query)) return false;
  return GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION || GST_PAD_NEEDS_RECONFIGURE(trans->srcpad);
}

gboolean answer_query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) {
  if (direction == GST_PAD_SRC) return answer_source_query(trans, query);
  State& state = state_of(trans);
  if (state.is_async() && needs_drain(trans, query) && !state.queue.drain()) return FALSE;
  return parent_class()->query(trans, direction, query);
}

}  // namespace

void drop_frames(GstBaseTransform* trans) {
  State& state = state_of(trans);
  const std::shared_ptr<Session> session = state.current_session();
  std::deque<FrameQueue::Item> items = state.queue.clear();
  for (; !items.empty(); items.pop_front())  // in order: so the engine wants to be waited for
    if (items.front().frame && session) session->count_dropped();
  state.single.reset();
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
