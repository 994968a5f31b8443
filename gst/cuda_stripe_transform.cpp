// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudastripetransform
 * @title: cudastripetransform
 *
 * Processes raw video on a CUDA device: frames go through page-locked memory and are cut into
 * stripes, and upload, kernel and download of the stripes overlap on several CUDA streams. Without
 * a device the same runs on the CPU.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc ! cudastripetransform effect=invert ! videoconvert ! autovideosink
 * ]|
 */

#include "gst/cuda_stripe_transform.h"

#include <gst/video/video.h>

#include <memory>
#include <mutex>

#include "gst/color.h"
#include "gst/color_balance.h"
#include "gst/debug.h"
#include "gst/element_state.h"
#include "gst/frame_view.h"
#include "gst/lut_location.h"
#include "gst/messages.h"
#include "gst/properties.h"
#include "gst/session.h"
#include "gst/streaming.h"
#include "gst/video_pool.h"

#define FORMATS "{ GRAY8, RGB, BGR, RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, NV12, I420 }"

using gst_stripe::parent_class;
using gst_stripe::Property;
using gst_stripe::Session;
using gst_stripe::Settings;
using gst_stripe::state_of;
using gst_stripe::Stats;

static void init_color_balance(gpointer interface, gpointer) {
  gst_stripe::implement_color_balance(static_cast<GstColorBalanceInterface*>(interface));
}

G_DEFINE_TYPE_WITH_CODE(GstCudaStripeTransform, gst_cuda_stripe_transform, GST_TYPE_BASE_TRANSFORM,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_COLOR_BALANCE, init_color_balance))
GST_ELEMENT_REGISTER_DEFINE(cudastripetransform, "cudastripetransform", GST_RANK_NONE,
                            GST_TYPE_CUDA_STRIPE_TRANSFORM)

GstBaseTransformClass* gst_stripe::parent_class() {
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_stripe_transform_parent_class);
}

namespace {

// Beside the frames in flight: what upstream fills meanwhile.
constexpr guint spare_buffers = 2;

// From start on the settings of READY are in use, though the element's state may still be READY.
bool may_change(GstElement* element, const GParamSpec* spec) {
  if (!(spec->flags & GST_PARAM_MUTABLE_READY)) return true;
  if (!state_of(element).current_session()) return true;
  g_warning("%s: property '%s' can be changed in NULL and READY only; it keeps its value",
            GST_OBJECT_NAME(element), spec->name);
  return false;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) noexcept {
  if (!may_change(GST_ELEMENT(object), spec)) return;
  const auto property = static_cast<Property>(id);
  if (property == Property::lut_location) {
    gst_stripe::set_lut_location(GST_ELEMENT(object), g_value_get_string(value));
    return;
  }
  if (gst_stripe::change_color(GST_ELEMENT(object), spec, value)) return;
  GstCudaStripeTransform::State& state = state_of(object);
  const std::lock_guard lock(state.mutex);
  if (!set_setting(state.settings, property, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) noexcept {
  GstCudaStripeTransform::State& state = state_of(object);
  const auto property = static_cast<Property>(id);
  if (property == Property::stats) {
    g_value_take_boxed(value, to_structure(state.stats()));
    return;
  }
  if (!get_setting(state.current_settings(), property, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

void finalize(GObject* object) {
  delete reinterpret_cast<GstCudaStripeTransform*>(object)->state;
  G_OBJECT_CLASS(gst_cuda_stripe_transform_parent_class)->finalize(object);
}

std::shared_ptr<Session> open_session(GstElement* element, const Settings& settings) {
  stripe::OpenedBackend opened = stripe::open_backend(settings.backend, settings.cuda_device_id);
  auto session = std::make_shared<Session>(std::move(opened.device), settings);
  if (!opened.fallback_reason.empty()) gst_stripe::post_fallback(element, opened.fallback_reason);
  if (settings.transfer_mode == stripe::TransferMode::mapped &&
      settings.page_lock == gst_stripe::PageLockMode::off)
    gst_stripe::post_copied_instead(element);
  return session;
}

// A path where nothing can be written is found before anything runs.
bool check_timeline(GstElement* element) {
  const std::string location = state_of(element).current_settings().timeline_location;
  if (location.empty()) return true;
  try {
    gst_stripe::check_timeline_path(location);
    return true;
  } catch (const gst_stripe::TimelineError& error) {
    gst_stripe::post_timeline_error(element, error);
    return false;
  }
}

gboolean start(GstBaseTransform* trans) noexcept {
  GstCudaStripeTransform::State& state = state_of(trans);
  if (!check_timeline(GST_ELEMENT(trans))) return FALSE;  // it may have been set since
  if (!gst_stripe::load_lut_at_start(GST_ELEMENT(trans))) return FALSE;
  gst_clear_caps(&state.refused_caps);
  state.discont_pending = false;
  state.pushing.reset();
  state.started_pool = nullptr;
  {
    const std::lock_guard lock(state.mutex);
    state.frame_duration = GST_CLOCK_TIME_NONE;
  }
  try {
    Settings settings = state.current_settings();
    settings.async_depth = static_cast<guint>(state.depth);  // that the source pad was opened for
    auto session = open_session(GST_ELEMENT(trans), settings);
    {
      const std::lock_guard lock(state.mutex);
      state.session = std::move(session);
    }
    gst_stripe::load_changed_lut(GST_ELEMENT(trans));
    return TRUE;
  } catch (const std::exception& error) {
    gst_stripe::post_error(GST_ELEMENT(trans), error);
    return FALSE;
  }
}

gboolean stop(GstBaseTransform* trans) noexcept {
  GstCudaStripeTransform::State& state = state_of(trans);
  gst_stripe::drop_frames(trans);
  std::shared_ptr<Session> session = state.current_session();
  if (!session) return TRUE;
  gst_stripe::settle_lut(GST_ELEMENT(trans));
  session->finish_timeline();
  gst_stripe::post_notices(GST_ELEMENT(trans), session->take_notices());
  Stats stats = session->stats();
  {
    const std::lock_guard lock(state.mutex);
    state.last_stats = std::move(stats);
    state.session.reset();  // `session` keeps it: nothing is destroyed under the lock
  }
  gst_stripe::release_lut(GST_ELEMENT(trans));
  return TRUE;
}

// The pad offers refused caps again with every buffer: they are an error once.
gboolean refuse_caps(GstBaseTransform* trans, GstCaps* caps, const std::exception& error) {
  GstCaps*& refused = state_of(trans).refused_caps;
  if (refused && gst_caps_is_equal(refused, caps)) return FALSE;
  gst_caps_replace(&refused, caps);
  gst_stripe::post_error(GST_ELEMENT(trans), error);
  return FALSE;
}

// Frames in flight are latency, which is as long as they last.
void set_frame_duration(GstBaseTransform* trans, const GstVideoInfo& info) {
  GstCudaStripeTransform::State& state = state_of(trans);
  GstClockTime duration = GST_CLOCK_TIME_NONE;
  if (info.fps_n > 0 && info.fps_d > 0)
    duration = gst_util_uint64_scale_int(GST_SECOND, info.fps_d, info.fps_n);
  {
    const std::lock_guard lock(state.mutex);
    if (state.frame_duration == duration) return;
    state.frame_duration = duration;
  }
  if (state.is_async())
    gst_element_post_message(GST_ELEMENT(trans), gst_message_new_latency(GST_OBJECT(trans)));
}

// No setter may change meanwhile what frames of these caps are to become.
void set_format(GstCudaStripeTransform::State& state, Session& session, const GstVideoInfo& info) {
  const std::lock_guard changing(state.color_mutex);
  session.set_format(info, state.current_settings());
}

gboolean set_caps(GstBaseTransform* trans, GstCaps* in_caps, GstCaps*) noexcept {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, in_caps)) {
    const gst_stripe::FrameError error(
        "the caps describe no picture that can be addressed; use a smaller width or height");
    return refuse_caps(trans, in_caps, error);
  }
  GstCudaStripeTransform::State& state = state_of(trans);
  // Most callers have drained already; a RECONFIGURE that comes between is seen by the base alone.
  if (state.is_async() && !state.queue.drain()) return FALSE;
  try {
    const std::shared_ptr<Session> session = state.current_session();
    gst_stripe::post_notices(GST_ELEMENT(trans), session->take_notices());
    set_format(state, *session, info);
    gst_stripe::post_notices(GST_ELEMENT(trans), session->take_notices());
    gst_clear_caps(&state.refused_caps);
    set_frame_duration(trans, info);
    return TRUE;
  } catch (const std::exception& error) {
    return refuse_caps(trans, in_caps, error);
  }
}

gboolean get_unit_size(GstBaseTransform*, GstCaps* caps, gsize* size) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return FALSE;
  *size = GST_VIDEO_INFO_SIZE(&info);
  return TRUE;
}

gboolean propose_allocation(GstBaseTransform* trans, GstQuery* decide_query, GstQuery* query) {
  if (!parent_class()->propose_allocation(trans, decide_query, query)) return FALSE;
  const std::shared_ptr<Session> session = state_of(trans).current_session();
  if (!session) return FALSE;
  const guint buffers = static_cast<guint>(session->depth()) + spare_buffers;
  return gst_stripe::offer_allocation(query, session->offered_allocator(), buffers);
}

gboolean decide_allocation(GstBaseTransform* trans, GstQuery* query) {
  GstCudaStripeTransform::State& state = state_of(trans);
  const std::shared_ptr<Session> session = state.current_session();
  state.started_pool = nullptr;
  return session && gst_stripe::decide_output_allocation(query, session->offered_allocator()) &&
         parent_class()->decide_allocation(trans, query);
}

// The base posts an error of its own for a pool that does not start, and none for one that gives no
// buffer. Started here first, both get exactly one. Once: a special pool that its owner has stopped
// since, as at shutdown, is not to be started again.
bool start_pool(GstBaseTransform* trans) {
  GstCudaStripeTransform::State& state = state_of(trans);
  GstBufferPool* pool = gst_base_transform_get_buffer_pool(trans);
  const bool started =
      !pool || pool == state.started_pool || gst_buffer_pool_set_active(pool, TRUE);
  if (started) state.started_pool = pool;
  gst_clear_object(&pool);
  return started;
}

GstFlowReturn prepare_output_buffer(GstBaseTransform* trans, GstBuffer* input, GstBuffer** output) {
  const GstFlowReturn flow = start_pool(trans)
                                 ? parent_class()->prepare_output_buffer(trans, input, output)
                                 : GST_FLOW_ERROR;
  if (flow == GST_FLOW_ERROR) gst_stripe::post_no_output_buffer(GST_ELEMENT(trans));
  return flow;
}

// Size, place and format stay as they are. What changes is the memory, and with it what is told of
// that.
gboolean transform_meta(GstBaseTransform* trans, GstBuffer* output, GstMeta* meta,
                        GstBuffer* input) {
  static const gchar* const lost_tags[] = {GST_META_TAG_MEMORY_STR, "memory-reference", nullptr};
  const gchar* const* tags = gst_meta_api_type_get_tags(meta->info->api);
  if (!tags) return parent_class()->transform_meta(trans, output, meta, input);
  for (; *tags; ++tags)
    if (g_strv_contains(lost_tags, *tags)) return FALSE;
  return TRUE;
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange change) noexcept {
  if (change == GST_STATE_CHANGE_NULL_TO_READY && !check_timeline(element))
    return GST_STATE_CHANGE_FAILURE;
  return GST_ELEMENT_CLASS(gst_cuda_stripe_transform_parent_class)->change_state(element, change);
}

void install_pad_templates(GstElementClass* klass) {
  static const char caps_text[] = GST_VIDEO_CAPS_MAKE(FORMATS);
  GstCaps* caps = gst_caps_from_string(caps_text);
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
}

}  // namespace

static void gst_cuda_stripe_transform_class_init(GstCudaStripeTransformClass* klass) {
  GObjectClass* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  gst_stripe::install_properties(object);

  GstElementClass* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element, "CUDA stripe transform", "Filter/Effect/Video/Hardware",
      "Page-locks frames, cuts them into stripes and overlaps upload, kernel and download of the "
      "stripes and frames on several CUDA streams",
      "cudastripetransform authors");
  install_pad_templates(element);
  element->change_state = change_state;

  GstBaseTransformClass* base = GST_BASE_TRANSFORM_CLASS(klass);
  base->start = start;
  base->stop = stop;
  base->set_caps = set_caps;
  base->get_unit_size = get_unit_size;
  base->propose_allocation = propose_allocation;
  base->decide_allocation = decide_allocation;
  base->prepare_output_buffer = prepare_output_buffer;
  base->transform_meta = transform_meta;
  gst_stripe::install_streaming(base);
}

static void gst_cuda_stripe_transform_init(GstCudaStripeTransform* self) {
  self->state = new GstCudaStripeTransform::State;
  gst_stripe::init_streaming(GST_BASE_TRANSFORM(self));
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
}
