// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/properties.h"

#include "gst/color_properties.h"

namespace gst_stripe {

namespace {

constexpr auto in_ready =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
constexpr auto while_playing = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                        GST_PARAM_MUTABLE_PLAYING);
constexpr auto read_only = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

GType register_enum(const char* name, const GEnumValue* values) {
  const GType type = g_enum_register_static(name, values);
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}

GType backend_type() {
  static const GEnumValue values[] = {
      {static_cast<gint>(stripe::Backend::automatic), "CUDA if usable, else the host", "auto"},
      {static_cast<gint>(stripe::Backend::cuda), "A CUDA device", "cuda"},
      {static_cast<gint>(stripe::Backend::host), "Threads of the CPU", "host"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaStripeBackend", values);
  return type;
}

GType stripe_layout_type() {
  static const GEnumValue values[] = {
      {static_cast<gint>(stripe::StripeLayout::rows), "Bands of the full width", "rows"},
      {static_cast<gint>(stripe::StripeLayout::columns), "Bands of the full height", "columns"},
      {static_cast<gint>(stripe::StripeLayout::tiles), "A near-square grid", "tiles"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaStripeLayout", values);
  return type;
}

GType page_lock_type() {
  static const GEnumValue values[] = {
      {static_cast<gint>(PageLockMode::automatic),
       "Page-locked pools; memory of others is registered when it comes again", "auto"},
      {static_cast<gint>(PageLockMode::on_register), "Register all memory when it first comes",
       "register"},
      {static_cast<gint>(PageLockMode::stage), "Copy all frames through page-locked blocks",
       "stage"},
      {static_cast<gint>(PageLockMode::off), "Page-lock nothing (slow, for comparison)", "off"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaStripePageLock", values);
  return type;
}

GType transfer_mode_type() {
  static const GEnumValue values[] = {
      {static_cast<gint>(stripe::TransferMode::automatic),
       "Mapped where the device works in the CPU's memory, else what is faster", "auto"},
      {static_cast<gint>(stripe::TransferMode::copy), "Copied to the device and back", "copy"},
      {static_cast<gint>(stripe::TransferMode::mapped),
       "Kernels read and write the page-locked frames themselves", "mapped"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaStripeTransferMode", values);
  return type;
}

void install(GObjectClass* klass, Property property, GParamSpec* spec) {
  g_object_class_install_property(klass, static_cast<guint>(property), spec);
}

void install_ready_properties(GObjectClass* klass) {
  install(
      klass, Property::backend,
      g_param_spec_enum("backend", "Backend",
                        "What processes the frames; auto takes CUDA where a device is usable",
                        backend_type(), static_cast<gint>(stripe::Backend::automatic), in_ready));
  install(klass, Property::cuda_device_id,
          g_param_spec_int("cuda-device-id", "CUDA device ID",
                           "CUDA device to use (-1: the first usable one)", -1, G_MAXINT, -1,
                           in_ready));
  install(klass, Property::stream_count,
          g_param_spec_uint("stream-count", "Stream count",
                            "CUDA streams that stripes are spread over (0: chosen)", 0, 32, 0,
                            in_ready));
  install(
      klass, Property::page_lock,
      g_param_spec_enum("page-lock", "Page-lock", "How frames come to lie in page-locked memory",
                        page_lock_type(), static_cast<gint>(PageLockMode::automatic), in_ready));
  install(klass, Property::max_pinned_bytes,
          g_param_spec_uint64("max-pinned-bytes", "Maximum of pinned bytes",
                              "Most bytes that this element registers and that its pools "
                              "page-lock; beyond it frames are copied (0: no bound)",
                              0, G_MAXUINT64, 0, in_ready));
  install(klass, Property::async_depth,
          g_param_spec_uint("async-depth", "Asynchronous depth",
                            "Most frames in flight (1: each is finished before the next is taken)",
                            1, 16, 3, in_ready));
  install(klass, Property::transfer_mode,
          g_param_spec_enum("transfer-mode", "Transfer mode", "How frames reach the device",
                            transfer_mode_type(),
                            static_cast<gint>(stripe::TransferMode::automatic), in_ready));
}

void install_timing_properties(GObjectClass* klass) {
  install(klass, Property::timeline_location,
          g_param_spec_string("timeline-location", "Timeline location",
                              "File to write a timeline of some frames to: .json opens in "
                              "Perfetto and chrome://tracing, .svg is a picture",
                              nullptr, in_ready));
  install(klass, Property::timeline_frames,
          g_param_spec_uint("timeline-frames", "Timeline frames",
                            "Frames in the timeline, after those in which memory is made ready", 1,
                            1000, 12, in_ready));
  install(klass, Property::stats_interval,
          g_param_spec_uint("stats-interval", "Stats interval",
                            "Frames from one timed sample of async-depth + 2 frames to the next "
                            "(0: no times in stats)",
                            0, G_MAXUINT, 64, in_ready));
}

void install_playing_properties(GObjectClass* klass) {
  install(
      klass, Property::stripe_count,
      g_param_spec_uint("stripe-count", "Stripe count",
                        "Stripes that each frame is cut into (0: as is fastest); fewer where the "
                        "frame is too small for so many",
                        0, 256, 0, while_playing));
  install(klass, Property::stripe_layout,
          g_param_spec_enum("stripe-layout", "Stripe layout", "How each frame is cut",
                            stripe_layout_type(), static_cast<gint>(stripe::StripeLayout::rows),
                            while_playing));
}

void set_path(GValue* value, const std::string& path) {
  g_value_set_string(value, path.empty() ? nullptr : path.c_str());
}

}  // namespace

stripe::ChoiceRequest Settings::choice_request() const {
  return {static_cast<int>(stream_count), static_cast<int>(stripe_count),
          static_cast<int>(async_depth), transfer_mode, page_lock != PageLockMode::off};
}

void install_properties(GObjectClass* klass) {
  install_ready_properties(klass);
  install_timing_properties(klass);
  install_playing_properties(klass);
  install_color_properties(klass);
  install(
      klass, Property::stats,
      g_param_spec_boxed("stats", "Statistics",
                         "What was done since READY to PAUSED, as a cuda-stripe-stats structure",
                         GST_TYPE_STRUCTURE, read_only));
}

bool set_setting(Settings& settings, Property property, const GValue* value) {
  switch (property) {
    case Property::backend:
      settings.backend = static_cast<stripe::Backend>(g_value_get_enum(value));
      return true;
    case Property::cuda_device_id:
      settings.cuda_device_id = g_value_get_int(value);
      return true;
    case Property::stream_count:
      settings.stream_count = g_value_get_uint(value);
      return true;
    case Property::stripe_count:
      settings.stripe_count = g_value_get_uint(value);
      return true;
    case Property::stripe_layout:
      settings.stripe_layout = static_cast<stripe::StripeLayout>(g_value_get_enum(value));
      return true;
    case Property::page_lock:
      settings.page_lock = static_cast<PageLockMode>(g_value_get_enum(value));
      return true;
    case Property::max_pinned_bytes:
      settings.max_pinned_bytes = g_value_get_uint64(value);
      return true;
    case Property::async_depth:
      settings.async_depth = g_value_get_uint(value);
      return true;
    case Property::transfer_mode:
      settings.transfer_mode = static_cast<stripe::TransferMode>(g_value_get_enum(value));
      return true;
    case Property::timeline_location: {
      const gchar* location = g_value_get_string(value);
      settings.timeline_location = location ? location : "";
      return true;
    }
    case Property::timeline_frames:
      settings.timeline_frames = g_value_get_uint(value);
      return true;
    case Property::stats_interval:
      settings.stats_interval = g_value_get_uint(value);
      return true;
    default:
      return false;
  }
}

bool get_setting(const Settings& settings, Property property, GValue* value) {
  switch (property) {
    case Property::backend:
      g_value_set_enum(value, static_cast<gint>(settings.backend));
      return true;
    case Property::cuda_device_id:
      g_value_set_int(value, settings.cuda_device_id);
      return true;
    case Property::stream_count:
      g_value_set_uint(value, settings.stream_count);
      return true;
    case Property::stripe_count:
      g_value_set_uint(value, settings.stripe_count);
      return true;
    case Property::stripe_layout:
      g_value_set_enum(value, static_cast<gint>(settings.stripe_layout));
      return true;
    case Property::page_lock:
      g_value_set_enum(value, static_cast<gint>(settings.page_lock));
      return true;
    case Property::max_pinned_bytes:
      g_value_set_uint64(value, settings.max_pinned_bytes);
      return true;
    case Property::async_depth:
      g_value_set_uint(value, settings.async_depth);
      return true;
    case Property::transfer_mode:
      g_value_set_enum(value, static_cast<gint>(settings.transfer_mode));
      return true;
    case Property::timeline_location:
      set_path(value, settings.timeline_location);
      return true;
    case Property::lut_location:
      set_path(value, settings.lut_location);
      return true;
    case Property::timeline_frames:
      g_value_set_uint(value, settings.timeline_frames);
      return true;
    case Property::stats_interval:
      g_value_set_uint(value, settings.stats_interval);
      return true;
    default:
      return get_color_setting(settings.color, property, value);
  }
}

}  // namespace gst_stripe
