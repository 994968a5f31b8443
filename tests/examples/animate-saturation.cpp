// SPDX-License-Identifier: LGPL-2.1-or-later
//
// animate-saturation [BACKEND]
//
// A picture that gains its colours and loses them again, by GstController:
//
//   videotestsrc -> cudastripetransform, its saturation on a curve -> appsink -> compare
//
// The application sets no property while frames run. It draws a curve, value over time, and binds
// the property to it; the element then looks up, for each frame, what the curve is at the frame's
// own time. So the result is the same at any speed, and with any number of frames in flight.
// brightness, contrast, hue, gamma and threshold can be animated in the same way.
//
// BACKEND is auto (the default), cuda or host. Exit status: 0 if every frame had the colours of its
// time, 77 if there is no such backend here, 1 otherwise.

#include <gst/app/gstappsink.h>
#include <gst/controller/controller.h>
#include <gst/video/video.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

constexpr int frame_rate = 25;
constexpr int frame_count = 4 * frame_rate + 1;
constexpr GstClockTime middle = 2 * GST_SECOND;
constexpr GstClockTime end = 4 * GST_SECOND;

// videotestsrc's red in BT.601: the V of the picture as it comes.
constexpr double red = 240;

/// GStreamer counts references; these owners give theirs back.
struct Unref {
  void operator()(GstElement* element) const { gst_object_unref(element); }
  void operator()(GstBus* bus) const { gst_object_unref(bus); }
  void operator()(GstControlSource* source) const { gst_object_unref(source); }
  void operator()(GstSample* sample) const { gst_sample_unref(sample); }
  void operator()(GstMessage* message) const { gst_message_unref(message); }
};

template <typename T>
using Ref = std::unique_ptr<T, Unref>;

struct NoBackend : std::runtime_error {
  using runtime_error::runtime_error;
};

std::string take_text(GError* error) {
  const std::string text = error->message;
  g_error_free(error);
  return text;
}

/// Throws what an element has to say, if one failed.
void throw_error(GstBus* bus) {
  const Ref<GstMessage> message(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR));
  if (!message) return;
  GError* error = nullptr;
  gst_message_parse_error(message.get(), &error, nullptr);
  if (g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND))
    throw NoBackend(take_text(error));
  throw std::runtime_error(take_text(error));
}

/// In black and white at first, in full colour in the middle, in black and white at the end.
Ref<GstControlSource> draw_curve() {
  Ref<GstControlSource> curve(gst_interpolation_control_source_new());
  g_object_set(curve.get(), "mode", GST_INTERPOLATION_MODE_LINEAR, nullptr);
  auto* points = GST_TIMED_VALUE_CONTROL_SOURCE(curve.get());
  gst_timed_value_control_source_set(points, 0, 0.0);
  gst_timed_value_control_source_set(points, middle, 1.0);
  gst_timed_value_control_source_set(points, end, 0.0);
  return curve;
}

/// The same curve, for the check.
double saturation_at(GstClockTime time) {
  const double share = static_cast<double>(time) / static_cast<double>(middle);
  return share < 1 ? share : 2 - share;
}

class Pipeline {
 public:
  explicit Pipeline(const std::string& backend) {
    const std::string line =
        "videotestsrc pattern=red num-buffers=" + std::to_string(frame_count) +
        " ! video/x-raw,format=I420,width=320,height=240,colorimetry=bt601,framerate=" +
        std::to_string(frame_rate) + "/1 ! cudastripetransform name=stripes backend=" + backend +
        " ! appsink name=sink sync=false";
    GError* error = nullptr;
    pipeline_.reset(gst_parse_launch(line.c_str(), &error));
    if (error != nullptr) throw std::runtime_error(take_text(error));
    gst_object_ref_sink(pipeline_.get());
    stripes_ = find("stripes");
    sink_ = find("sink");
    bus_.reset(gst_element_get_bus(pipeline_.get()));
  }
  Pipeline(const Pipeline&) = delete;

  ~Pipeline() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }

  /// "absolute": the curve's values are the property's, and not 0 to 1 for its whole range.
  void animate(const char* property, GstControlSource* curve) {
    GstControlBinding* binding =
        gst_direct_control_binding_new_absolute(GST_OBJECT(stripes_.get()), property, curve);
    // Takes the binding.
    if (!gst_object_add_control_binding(GST_OBJECT(stripes_.get()), binding))
      throw std::runtime_error(std::string(property) + " can't be animated");
  }

  void play() {
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    throw_error(bus_.get());
  }

  /// The next result; nothing after the last one.
  Ref<GstSample> pull() {
    Ref<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(sink_.get()), 10 * GST_SECOND));
    if (!sample) throw_error(bus_.get());
    return sample;
  }

 private:
  Ref<GstElement> find(const char* name) const {
    return Ref<GstElement>(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
  }

  Ref<GstElement> pipeline_, stripes_, sink_;
  Ref<GstBus> bus_;
};

/// V in the middle of the picture.
int read_color(GstSample* sample) {
  GstVideoInfo info;
  GstVideoFrame picture;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&picture, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    throw std::runtime_error("a result that is no picture");
  const auto* plane = static_cast<const guint8*>(GST_VIDEO_FRAME_COMP_DATA(&picture, 2));
  const int row = GST_VIDEO_FRAME_COMP_HEIGHT(&picture, 2) / 2;
  const int column = GST_VIDEO_FRAME_COMP_WIDTH(&picture, 2) / 2;
  const int color = plane[row * GST_VIDEO_FRAME_COMP_STRIDE(&picture, 2) + column];
  gst_video_frame_unmap(&picture);
  return color;
}

void show(GstClockTime time, int color) {
  std::cout << time / GST_MSECOND << " ms\t"
            << std::string(static_cast<std::size_t>(color - 128) / 4, '#') << '\n';
}

void run(const std::string& backend) {
  const Ref<GstControlSource> curve = draw_curve();
  Pipeline pipeline(backend);
  pipeline.animate("saturation", curve.get());
  pipeline.play();
  int frame = 0;
  for (; const Ref<GstSample> sample = pipeline.pull(); ++frame) {
    const GstClockTime time = GST_BUFFER_PTS(gst_sample_get_buffer(sample.get()));
    const int color = read_color(sample.get());
    if (frame % 5 == 0) show(time, color);
    if (std::abs(color - (128 + (red - 128) * saturation_at(time))) > 1.5)
      throw std::runtime_error("frame " + std::to_string(frame) + " has the colours of another");
  }
  if (frame != frame_count)
    throw std::runtime_error("only " + std::to_string(frame) + " frames came");
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  try {
    run(argc > 1 ? argv[1] : "auto");
    return EXIT_SUCCESS;
  } catch (const NoBackend& error) {
    std::cerr << error.what() << '\n';
    return 77;
  } catch (const std::exception& error) {
    std::cerr << "failed: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
