// SPDX-License-Identifier: LGPL-2.1-or-later

// How close the element comes to the limit of the link in a whole pipeline. A source pushes one picture
// again and again, so that it costs nothing, and a sink drops the results:
//
//   imagefreeze ! cudastripetransform effect=invert ! fakesink

#include <gst/gst.h>

#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "program.h"

namespace {

using benchmark::Contestant;
using benchmark::OverlapRow;
using benchmark::Report;
using benchmark::Row;
using benchmark::Sample;
using benchmark::Size;

constexpr const char* configs[] = {
    "async-depth=3",
    "async-depth=3 stats-interval=0",
    "async-depth=2",
    "async-depth=1",
    "async-depth=1 transfer-mode=mapped",
    "async-depth=3 page-lock=stage",
    "page-lock=off async-depth=1 stripe-count=3 stream-count=3",  // the question's way
};

struct Unref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
using ElementRef = std::unique_ptr<GstElement, Unref>;

// From the frame after the warm-up to the last one.
struct Stretch {
  int warm_up;
  int frames;
  int seen = 0;
  std::optional<benchmark::Stopwatch> watch;
  std::optional<Sample> sample;
};

GstPadProbeReturn count_frame(GstPad*, GstPadProbeInfo*, gpointer data) {
  auto& stretch = *static_cast<Stretch*>(data);
  ++stretch.seen;
  if (stretch.seen == stretch.warm_up) stretch.watch.emplace();
  if (stretch.seen == stretch.warm_up + stretch.frames)
    stretch.sample = stretch.watch->a_frame(stretch.frames);
  return GST_PAD_PROBE_OK;
}

std::string description(const Size& size, const std::string& config, int frames) {
  return "videotestsrc num-buffers=1 ! video/x-raw,framerate=0/1,format=" +
         std::string(size.format) + ",width=" + std::to_string(size.width) +
         ",height=" + std::to_string(size.height) +
         " ! imagefreeze num-buffers=" + std::to_string(frames) +
         " ! video/x-raw,framerate=30/1 ! cudastripetransform name=stripes effect=invert " +
         config + " ! fakesink name=sink sync=false";
}

ElementRef make_pipeline(const std::string& text) {
  GError* error = nullptr;
  ElementRef pipeline(gst_parse_launch(text.c_str(), &error));
  if (error) {
    const std::string message = error->message;
    g_error_free(error);
    throw std::runtime_error(message);
  }
  return pipeline;
}

void run_to_end(GstElement* pipeline) {
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  std::string failure;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    failure = error->message;
    g_error_free(error);
  }
  gst_message_unref(message);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  if (!failure.empty()) throw std::runtime_error(failure);
}

OverlapRow read_overlap(GstElement* pipeline, const Size& size, const std::string& config) {
  const ElementRef element(gst_bin_get_by_name(GST_BIN(pipeline), "stripes"));
  GstStructure* stats = nullptr;
  g_object_get(element.get(), "stats", &stats, nullptr);
  OverlapRow row{size.name, config, 0, 0, 0};
  gst_structure_get(stats, "overlap", G_TYPE_DOUBLE, &row.overlap, "overlap-ceiling", G_TYPE_DOUBLE,
                    &row.ceiling, "link-share", G_TYPE_DOUBLE, &row.link_share, nullptr);
  gst_structure_free(stats);
  return row;
}

Sample run_pipeline(const Size& size, const std::string& config, int frames, OverlapRow& overlap) {
  Stretch stretch{std::max(2, frames / 5), frames, 0, {}, {}};
  const ElementRef pipeline =
      make_pipeline(description(size, config, stretch.warm_up + stretch.frames));
  const ElementRef sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  GstPad* pad = gst_element_get_static_pad(sink.get(), "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, &stretch, nullptr);
  gst_object_unref(pad);
  run_to_end(pipeline.get());
  overlap = read_overlap(pipeline.get(), size, config);
  if (!stretch.sample) throw std::runtime_error(config + ": frames got lost");
  return *stretch.sample;
}

std::vector<Row> compare(stripe::Device& device, const Size& size, int frames, int rounds,
                         std::vector<OverlapRow>& overlaps) {
  benchmark::DuplexLimit limit(device, size);
  std::vector<Contestant> contestants = {
      {benchmark::limit_config, [&] { return limit.run(frames); }}};
  overlaps.resize(std::size(configs));
  for (std::size_t i = 0; i < overlaps.size(); ++i)
    contestants.push_back({configs[i], [&, i, frames] {
                             return run_pipeline(size, configs[i], frames, overlaps[i]);
                           }});
  return benchmark::make_rows(size.name, contestants,
                              benchmark::measure_in_turn(contestants, rounds));
}

// What the timeline of each should show, where a GPU's copy engines do the copies.
void judge(const OverlapRow& row, Report& report) {
  if (row.config == "async-depth=3") {
    const double measured = row.ceiling > 0 ? row.overlap / row.ceiling : 0;
    report.verdicts.push_back({row.size, "async-depth=3: overlap at least 0.85 of its ceiling", NAN,
                               row.config, measured, measured >= 0.85 ? "met" : "missed"});
  } else if (row.config.starts_with("page-lock=off")) {
    report.verdicts.push_back({row.size, "page-lock=off: overlap below 1.15", NAN, row.config,
                               row.overlap, row.overlap < 1.15 ? "met" : "missed"});
  }
}

void measure_element(benchmark::Context& context) {
  Report& report = context.report;
  for (const Size& size : benchmark::sizes) {
    if (!context.wants(size)) continue;
    std::vector<OverlapRow> overlaps;
    const std::vector<Row> rows =
        compare(*context.device, size, benchmark::scale_frames(size, report.frames), report.rounds,
                overlaps);
    benchmark::print_rows(rows);
    report.rows.insert(report.rows.end(), rows.begin(), rows.end());
    for (const OverlapRow& row : overlaps) judge(row, report);
    report.overlaps.insert(report.overlaps.end(), overlaps.begin(), overlaps.end());
  }
  benchmark::print_overlaps(report.overlaps);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  return benchmark::run_program({"pipelines",
                                 "Measures the element in pipelines against the limit of the link.",
                                 {500, 5},
                                 {20, 2},
                                 {{"element", true, measure_element}}},
                                argc, argv);
}
