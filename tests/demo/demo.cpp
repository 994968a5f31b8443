// SPDX-License-Identifier: LGPL-2.1-or-later
//
// demo FRAME BEFORE.png AFTER.png PIPELINE
//
// Runs a pipeline that has an element named "stripes" to its end. Keeps frame number FRAME as it
// went into that element and as it came out, writes both as PNG, and says what the element did.

#include <gst/gst.h>
#include <gst/video/video.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

namespace {

template <typename T, void (*release)(T*)>
struct Release {
  void operator()(T* object) const { release(object); }
};

void unref_object(GstElement* element) { gst_object_unref(element); }

using ElementPtr = std::unique_ptr<GstElement, Release<GstElement, unref_object>>;
using SamplePtr = std::unique_ptr<GstSample, Release<GstSample, gst_sample_unref>>;
using MessagePtr = std::unique_ptr<GstMessage, Release<GstMessage, gst_message_unref>>;
using StructurePtr = std::unique_ptr<GstStructure, Release<GstStructure, gst_structure_free>>;

std::string take_string(gchar* text) {
  std::string copy = text != nullptr ? text : "";
  g_free(text);
  return copy;
}

/// Takes one frame before and after an element: by number at its sink pad, then by that frame's
/// timestamp at its source pad, so that the two belong together whatever is dropped on the way.
///
/// Thread: the probes run in streaming threads; read the samples when the pipeline has stopped.
class FramePair {
 public:
  FramePair(GstElement* element, int number) : number_(number) {
    add_probe(element, "sink", [](GstPad* pad, GstPadProbeInfo* info, gpointer self) {
      static_cast<FramePair*>(self)->on_input(pad, GST_PAD_PROBE_INFO_BUFFER(info));
      return GST_PAD_PROBE_OK;
    });
    add_probe(element, "src", [](GstPad* pad, GstPadProbeInfo* info, gpointer self) {
      static_cast<FramePair*>(self)->on_output(pad, GST_PAD_PROBE_INFO_BUFFER(info));
      return GST_PAD_PROBE_OK;
    });
  }

  GstSample* before() const { return before_.get(); }
  GstSample* after() const { return after_.get(); }

 private:
  void add_probe(GstElement* element, const char* name, GstPadProbeCallback callback) {
    GstPad* pad = gst_element_get_static_pad(element, name);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, callback, this, nullptr);
    gst_object_unref(pad);
  }

  // A deep copy: holding the pool's own buffer would change what is being shown.
  static SamplePtr copy_frame(GstPad* pad, GstBuffer* buffer) {
    GstBuffer* copy = gst_buffer_copy_deep(buffer);
    GstCaps* caps = gst_pad_get_current_caps(pad);
    SamplePtr sample(gst_sample_new(copy, caps, nullptr, nullptr));
    gst_caps_unref(caps);
    gst_buffer_unref(copy);
    return sample;
  }

  void on_input(GstPad* pad, GstBuffer* buffer) {
    const std::lock_guard lock(mutex_);
    if (++seen_ != number_) return;
    time_ = GST_BUFFER_PTS(buffer);
    before_ = copy_frame(pad, buffer);
  }

  void on_output(GstPad* pad, GstBuffer* buffer) {
    const std::lock_guard lock(mutex_);
    if (before_ && !after_ && GST_BUFFER_PTS(buffer) == time_) after_ = copy_frame(pad, buffer);
  }

  const int number_;
  std::mutex mutex_;
  int seen_ = 0;
  GstClockTime time_ = GST_CLOCK_TIME_NONE;
  SamplePtr before_;
  SamplePtr after_;
};

void write_png(GstSample* frame, const char* path) {
  if (frame == nullptr) throw std::runtime_error(std::string("no such frame for ") + path);
  GstCaps* caps = gst_caps_new_empty_simple("image/png");
  GError* error = nullptr;
  const SamplePtr png(gst_video_convert_sample(frame, caps, 10 * GST_SECOND, &error));
  gst_caps_unref(caps);
  GstMapInfo map;
  if (!png) throw std::runtime_error(error->message);
  if (!gst_buffer_map(gst_sample_get_buffer(png.get()), &map, GST_MAP_READ))
    throw std::runtime_error("the PNG can't be read");
  const bool written = g_file_set_contents(path, reinterpret_cast<const gchar*>(map.data),
                                           static_cast<gssize>(map.size), &error) != FALSE;
  gst_buffer_unmap(gst_sample_get_buffer(png.get()), &map);
  if (!written) throw std::runtime_error(error->message);
}

/// What a warning, an info or an error says, without the place in the source.
std::string message_text(GstMessage* message) {
  GError* error = nullptr;
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR:
      gst_message_parse_error(message, &error, nullptr);
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning(message, &error, nullptr);
      break;
    default:
      gst_message_parse_info(message, &error, nullptr);
      break;
  }
  const std::string text = error->message;
  g_error_free(error);
  return std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + text;
}

void set_state(GstElement* pipeline, GstState state) { gst_element_set_state(pipeline, state); }

/// Plays to the end of the stream. Throws what the pipeline reports as an error; prints its
/// warnings.
void play(GstElement* pipeline) {
  GstBus* bus = gst_element_get_bus(pipeline);
  set_state(pipeline, GST_STATE_PLAYING);
  const auto wanted = static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR |
                                                  GST_MESSAGE_WARNING | GST_MESSAGE_INFO);
  bool ended = false;
  std::string failure;
  while (!ended && failure.empty()) {
    const MessagePtr message(gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, wanted));
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS) {
      ended = true;
    } else if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) {
      failure = message_text(message.get());
    } else {
      std::cout << "Note:     " << message_text(message.get()) << '\n';
    }
  }
  gst_object_unref(bus);
  if (!failure.empty()) throw std::runtime_error(failure);
}

void print_stats(GstElement* element) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  const StructurePtr owner(stats);
  const char* backend = gst_structure_get_string(stats, "backend");
  const char* device = gst_structure_get_string(stats, "device-name");
  std::cout << "Backend:  " << (backend != nullptr ? backend : "?") << " ("
            << (device != nullptr ? device : "?") << ")\nStats:\n";
  for (gint i = 0; i < gst_structure_n_fields(stats); ++i) {
    const char* name = gst_structure_nth_field_name(stats, static_cast<guint>(i));
    const std::string value =
        take_string(gst_value_serialize(gst_structure_get_value(stats, name)));
    std::cout << "  " << name
              << std::string(24 - std::min<std::size_t>(23, std::string(name).size()), ' ') << value
              << '\n';
  }
}

ElementPtr parse_pipeline(const char* description) {
  GError* error = nullptr;
  ElementPtr pipeline(gst_parse_launch(description, &error));
  if (error != nullptr) throw std::runtime_error(error->message);
  return pipeline;
}

void run(int frame, const char* before, const char* after, const char* description) {
  const ElementPtr pipeline = parse_pipeline(description);
  const ElementPtr stripes(gst_bin_get_by_name(GST_BIN(pipeline.get()), "stripes"));
  if (!stripes) throw std::runtime_error("no element named stripes in the pipeline");
  FramePair pair(stripes.get(), frame);
  try {
    play(pipeline.get());
  } catch (...) {
    set_state(pipeline.get(), GST_STATE_NULL);
    throw;
  }
  print_stats(stripes.get());
  set_state(pipeline.get(), GST_STATE_NULL);
  write_png(pair.before(), before);
  write_png(pair.after(), after);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc != 5) {
    std::cerr << "usage: demo FRAME BEFORE.png AFTER.png PIPELINE\n";
    return EXIT_FAILURE;
  }
  try {
    run(std::atoi(argv[1]), argv[2], argv[3], argv[4]);
  } catch (const std::exception& error) {
    std::cerr << "Failed: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
