// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pipeline.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace benchmark {

namespace {

constexpr GstClockTime longest_run = 120 * GST_SECOND;

std::string text_of(GstMessage* message) {
  GError* error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  const std::string text = std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + error->message;
  g_error_free(error);
  return text;
}

void throw_error(GstMessage* message) {
  const std::string text = text_of(message);
  gst_message_unref(message);
  throw std::runtime_error(text);
}

// Stops the pipeline whatever happens.
struct Stopper {
  GstElement* pipeline;
  ~Stopper() { gst_element_set_state(pipeline, GST_STATE_NULL); }
};

void wait_for_end(GstElement* pipeline) {
  const std::unique_ptr<GstBus, Unref> bus(gst_element_get_bus(pipeline));
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus.get(), longest_run, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  if (!message) throw std::runtime_error("came to no end within two minutes");
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) throw_error(message);
  gst_message_unref(message);
}

// From the frame after the warm-up to the last one.
struct Stretch {
  int warm_up;
  int frames;
  int seen = 0;
  std::optional<Stopwatch> watch;
  std::optional<Sample> sample;

  void count() {
    ++seen;
    if (seen == warm_up) watch.emplace();
    if (seen == warm_up + frames) sample = watch->a_frame(frames);
  }
};

// Not the whole buffer at once: that would join several memories into a new one.
void map_memories(GstBuffer* buffer) {
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    GstMapInfo map;
    if (gst_memory_map(memory, &map, GST_MAP_READ)) gst_memory_unmap(memory, &map);
  }
}

}  // namespace

Picture picture_of(const Size& size) { return {size.format, size.width, size.height}; }

std::string pipeline_text(const Chain& chain, std::optional<int> frames) {
  const Picture& picture = chain.picture;
  const std::string caps = std::string(",format=") + picture.format +
                           ",width=" + std::to_string(picture.width) +
                           ",height=" + std::to_string(picture.height);
  const std::string count = frames ? " num-buffers=" + std::to_string(*frames) : std::string();
  const std::string source =
      chain.source == Source::pool
          ? "benchmarkpoolsource" + count + " ! video/x-raw,framerate=30/1" + caps
          : "videotestsrc num-buffers=1 ! video/x-raw,framerate=0/1" + caps + " ! imagefreeze" +
                count + " ! video/x-raw,framerate=30/1";
  return source + " ! " + chain.elements + " ! fakesink name=sink sync=false";
}

ElementRef make_pipeline(const std::string& text) {
  GError* error = nullptr;
  GstElement* const made = gst_parse_launch(text.c_str(), &error);
  ElementRef pipeline(made ? GST_ELEMENT(gst_object_ref_sink(made)) : nullptr);
  if (error) {
    const std::string message = error->message;
    g_error_free(error);
    throw std::runtime_error(message);
  }
  return pipeline;
}

void throw_if_failed(GstElement* pipeline) {
  const std::unique_ptr<GstBus, Unref> bus(gst_element_get_bus(pipeline));
  if (GstMessage* message = gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR))
    throw_error(message);
}

SinkProbe::SinkProbe(GstElement* pipeline, std::function<void()> seen) : seen_(std::move(seen)) {
  const ElementRef sink(gst_bin_get_by_name(GST_BIN(pipeline), "sink"));
  pad_ = gst_element_get_static_pad(sink.get(), "sink");
  id_ = gst_pad_add_probe(pad_, GST_PAD_PROBE_TYPE_BUFFER, handle, this, nullptr);
}

SinkProbe::~SinkProbe() {
  gst_pad_remove_probe(pad_, id_);
  gst_object_unref(pad_);
}

GstPadProbeReturn SinkProbe::handle(GstPad*, GstPadProbeInfo* info, gpointer data) {
  map_memories(GST_PAD_PROBE_INFO_BUFFER(info));
  static_cast<SinkProbe*>(data)->seen_();
  return GST_PAD_PROBE_OK;
}

void run_to_end(const std::string& text) {
  const ElementRef pipeline = make_pipeline(text);
  const SinkProbe probe(pipeline.get(), [] {});
  const Stopper stopper{pipeline.get()};
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  wait_for_end(pipeline.get());
}

Sample run_chain(const Chain& chain, int frames, const std::function<void(GstElement*)>& inspect) {
  Stretch stretch{std::max(2, frames / 5), frames, 0, {}, {}};
  const ElementRef pipeline = make_pipeline(pipeline_text(chain, stretch.warm_up + frames));
  {
    const SinkProbe probe(pipeline.get(), [&] { stretch.count(); });
    const Stopper stopper{pipeline.get()};
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    wait_for_end(pipeline.get());
  }
  if (inspect) inspect(pipeline.get());
  if (!stretch.sample) throw std::runtime_error(chain.elements + ": frames got lost");
  return *stretch.sample;
}

Sample run_at_pace(const Chain& chain, Pace& pace,
                   const std::function<void(GstElement*)>& inspect) {
  return pace.run([&](int frames) { return run_chain(chain, frames, inspect); });
}

std::string why_missing(const std::string& element, const std::string& plugin) {
  if (GstElementFactory* factory = gst_element_factory_find(element.c_str())) {
    gst_object_unref(factory);
    return {};
  }
  GstPlugin* const found = gst_registry_find_plugin(gst_registry_get(), plugin.c_str());
  if (!found)
    return "no element " + element + ": plugin " + plugin + " is not installed, or does not load";
  gst_object_unref(found);
  return "no element " + element + ": plugin " + plugin +
         " is installed, but offers none on this machine";
}

}  // namespace benchmark
