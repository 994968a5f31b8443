// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/queries.h"

#include <algorithm>

namespace gst_stripe {

namespace {

using State = GstCudaStripeTransform::State;

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
  // A last frame may end behind the segment.
  GstClockTime position = state.out_position;
  if (GST_CLOCK_TIME_IS_VALID(state.out_segment.stop))
    position = std::min(position, state.out_segment.stop);
  const guint64 time = gst_segment_to_stream_time(&state.out_segment, GST_FORMAT_TIME, position);
  if (!GST_CLOCK_TIME_IS_VALID(time)) return false;
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

}  // namespace

gboolean answer_query(GstBaseTransform* trans, GstPadDirection direction,
                      GstQuery* query) noexcept {
  if (direction == GST_PAD_SRC) return answer_source_query(trans, query);
  State& state = state_of(trans);
  if (state.is_async() && needs_drain(trans, query) && !state.queue.drain()) return FALSE;
  return parent_class()->query(trans, direction, query);
}

void remember_position(GstCudaStripeTransform::State& state, GstBuffer* buffer) {
  if (!GST_BUFFER_PTS_IS_VALID(buffer)) return;
  const GstClockTime duration =
      GST_BUFFER_DURATION_IS_VALID(buffer) ? GST_BUFFER_DURATION(buffer) : 0;
  const std::lock_guard lock(state.mutex);
  state.out_position = GST_BUFFER_PTS(buffer) + duration;
}

void remember_segment(GstCudaStripeTransform::State& state, GstEvent* event) {
  const std::lock_guard lock(state.mutex);
  gst_event_copy_segment(event, &state.out_segment);
  state.out_position = GST_CLOCK_TIME_NONE;
}

void forget_position(GstCudaStripeTransform::State& state) {
  const std::lock_guard lock(state.mutex);
  gst_segment_init(&state.out_segment, GST_FORMAT_UNDEFINED);
  state.out_position = GST_CLOCK_TIME_NONE;
}

}  // namespace gst_stripe
