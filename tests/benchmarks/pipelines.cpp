// SPDX-License-Identifier: LGPL-2.1-or-later

// How close the element comes to the limit of the link in a whole pipeline. A source pushes one picture
// again and again, so that it costs nothing, and a sink drops the results:
//
//   imagefreeze ! cudastripetransform ! fakesink

#include <gst/gst.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "cuda/backend.h"
#include "measure.h"

namespace {

using benchmark::Figure;
using benchmark::Size;

struct Unref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
using ElementRef = std::unique_ptr<GstElement, Unref>;

// From the frame after the warm-up to the last one.
struct Stretch {
  int warm_up = 0;
  int frames = 0;
  std::chrono::steady_clock::time_point begin, end;
  double cpu_begin = 0, cpu_end = 0;
};

GstPadProbeReturn count_frame(GstPad*, GstPadProbeInfo*, gpointer data) {
  auto& stretch = *static_cast<Stretch*>(data);
  if (++stretch.frames == stretch.warm_up) {
    stretch.begin = std::chrono::steady_clock::now();
    stretch.cpu_begin = benchmark::cpu_seconds();
  }
  stretch.end = std::chrono::steady_clock::now();
  return GST_PAD_PROBE_OK;
}

std::string description(const Size& size, const std::string& properties, int frames) {
  return "videotestsrc num-buffers=1 ! video/x-raw,framerate=0/1,format=" +
         std::string(size.format) + ",width=" + std::to_string(size.width) +
         ",height=" + std::to_string(size.height) +
         " ! imagefreeze num-buffers=" + std::to_string(frames) +
         " ! video/x-raw,framerate=30/1 ! cudastripetransform name=t " + properties +
         " ! fakesink name=sink sync=false";
}

void run_to_end(GstElement* pipeline) {
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    std::fprintf(stderr, "%s\n", error->message);
    std::exit(1);
  }
  gst_message_unref(message);
  gst_object_unref(bus);
}

double time_a_frame_us(const Size& size, const std::string& properties, int frames,
                       double& cpu_us) {
  ElementRef pipeline(gst_parse_launch(description(size, properties, frames).c_str(), nullptr));
  ElementRef sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  Stretch stretch{frames / 5, 0, {}, {}, 0, 0};
  GstPad* pad = gst_element_get_static_pad(sink.get(), "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, &stretch, nullptr);
  gst_object_unref(pad);
  run_to_end(pipeline.get());
  stretch.cpu_end = benchmark::cpu_seconds();
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  const int measured = stretch.frames - stretch.warm_up;
  cpu_us = 1e6 * (stretch.cpu_end - stretch.cpu_begin) / measured;
  return std::chrono::duration<double, std::micro>(stretch.end - stretch.begin).count() / measured;
}

Figure measure_pipeline(const Size& size, const std::string& properties, int frames) {
  std::vector<double> times_us;
  Figure figure{};
  for (int i = 0; i < 5; ++i)
    times_us.push_back(time_a_frame_us(size, properties, frames, figure.cpu_us));
  std::sort(times_us.begin(), times_us.end());
  figure.median_us = times_us[times_us.size() / 2];
  figure.low_us = times_us.front();
  figure.high_us = times_us.back();
  return figure;
}

void print_row(const std::string& name, const Figure& figure, double limit_us) {
  std::printf("  %-44s %8.1f  %5.2f  %5.2f..%-5.2f  %8.1f\n", name.c_str(), figure.median_us,
              limit_us / figure.median_us, limit_us / figure.high_us, limit_us / figure.low_us,
              figure.cpu_us);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const int frames = argc > 1 ? std::atoi(argv[1]) : 500;
  if (frames < 10) {
    std::fprintf(stderr, "usage: pipelines [FRAMES, at least 10]\n");
    return 2;
  }
  try {
    const stripe::OpenedBackend opened = stripe::open_backend(stripe::Backend::automatic, -1);
    std::printf("%s: %s. Share of the limit; medians of 5 runs of %d frames.\n",
                opened.device->info().backend.c_str(), opened.device->info().name.c_str(), frames);
    for (const Size& size : benchmark::sizes) {
      const double limit_us = benchmark::measure_limit(*opened.device, size, 100).median_us;
      std::printf("%s\n  %-44s %8s  %5s  %5s..%-5s  %8s\n  %-44s %8.1f\n", size.name, "",
                  "us/frame", "share", "low", "high", "CPU us", "limit: both ways at once",
                  limit_us);
      for (const char* properties :
           {"async-depth=3", "async-depth=2", "async-depth=1", "async-depth=3 page-lock=stage",
            "async-depth=1 page-lock=off stripe-count=3 stream-count=3"})
        print_row(properties,
                  measure_pipeline(size, std::string(properties) + " effect=invert", frames),
                  limit_us);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pipelines: %s\n", error.what());
    return 1;
  }
}
