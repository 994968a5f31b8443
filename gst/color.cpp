// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/color.h"

#include <utility>

#include "gst/color_balance.h"
#include "gst/color_properties.h"

namespace gst_stripe {

namespace {

using State = GstCudaStripeTransform::State;

enum class Change { made, none, not_ours };

Change try_change(State& state, Property property, const GValue* value) {
  const std::lock_guard changing(state.color_mutex);
  const stripe::ColorSettings before = state.current_settings().color;
  stripe::ColorSettings color = before;
  if (!set_color_setting(color, property, value)) return Change::not_ours;
  if (color == before) return Change::none;
  use_color(state, std::move(color));
  return Change::made;
}

}  // namespace

bool change_color(GstElement* element, const GParamSpec* spec, const GValue* value) {
  const auto property = static_cast<Property>(spec->param_id);
  try {
    const Change change = try_change(state_of(element), property, value);
    if (change == Change::made) tell_color_balance(element, property);
    return change != Change::not_ours;
  } catch (const std::exception& error) {
    g_warning("%s: property '%s' keeps its value: %s", GST_OBJECT_NAME(element), spec->name,
              error.what());
    return true;
  }
}

void sync_properties(GstBaseTransform* trans, GstBuffer* frame) {
  if (trans->segment.format != GST_FORMAT_TIME) return;  // no time to ask controllers for
  const GstClockTime time =
      gst_segment_to_stream_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(frame));
  if (GST_CLOCK_TIME_IS_VALID(time)) gst_object_sync_values(GST_OBJECT(trans), time);
}

void use_color(State& state, stripe::ColorSettings color) {
  const std::shared_ptr<Session> session = state.current_session();
  if (session) session->set_color(color);
  // What there was is destroyed after the lock: it may hold the last reference of a large table.
  const std::lock_guard lock(state.mutex);
  std::swap(state.settings.color, color);
}

}  // namespace gst_stripe
