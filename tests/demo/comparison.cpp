// SPDX-License-Identifier: LGPL-2.1-or-later
#include "comparison.h"

#include <gst/gst.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "pipeline.h"

namespace demo {

namespace {

using Clock = std::chrono::steady_clock;

// Long enough for memory to be page-locked and a GPU's clocks to rise.
constexpr auto warm_up = std::chrono::milliseconds(400);
constexpr auto measured = std::chrono::milliseconds(1500);

struct Way {
  const char* name;
  const char* properties;
  double ratio_on_h200;
};

// The ratios are those of the times for 1080p RGBA, 6.87, 1.29 and 1.01 times the limit's, that
// docs/benchmarks.md ("The element in a pipeline") tells for the same pipelines.
constexpr Way ways[] = {
    {"pageable (what the question did)",
     "page-lock=off async-depth=1 stripe-count=3 stream-count=3", 1.0},
    {"page-locked, one frame at a time", "page-lock=auto async-depth=1", 6.87 / 1.29},
    {"page-locked, 3 frames in flight", "page-lock=auto async-depth=3", 6.87 / 1.01},
};

/// Takes the time of the frames that come to a pad, after the warm-up.
///
/// Thread:  frames come in a streaming thread; done() from any, frame_ms() once that is true.
class Stopwatch {
 public:
  explicit Stopwatch(GstPad* pad) {
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, this, nullptr);
  }
  Stopwatch(const Stopwatch&) = delete;

  bool done() const { return done_; }
  double frame_ms() const {
    return std::chrono::duration<double, std::milli>(end_ - begin_).count() / frames_;
  }

 private:
  static GstPadProbeReturn on_frame(GstPad*, GstPadProbeInfo*, gpointer self) {
    static_cast<Stopwatch*>(self)->count();
    return GST_PAD_PROBE_OK;
  }

  void count() {
    if (done_) return;
    end_ = Clock::now();
    if (first_ == Clock::time_point()) first_ = end_;
    if (frames_ == 0 && end_ - first_ < warm_up) {
      begin_ = end_;
      return;
    }
    ++frames_;
    done_ = end_ - begin_ >= measured;
  }

  Clock::time_point first_, begin_, end_;
  int frames_ = 0;  // since begin_
  std::atomic<bool> done_{false};
};

// imagefreeze sends one picture again and again, so that the source costs nothing.
std::string description(const char* properties) {
  return std::string(
             "videotestsrc num-buffers=1 "
             "! video/x-raw,format=RGBA,width=1920,height=1080,framerate=0/1 "
             "! imagefreeze ! video/x-raw,framerate=30/1 "
             "! cudastripetransform name=stripes effect=invert ") +
         properties + " ! fakesink name=sink sync=false";
}

// The CPU could work on the frames where they lie, and the table would show that instead of what
// its lines are named after.
void copy_to_device(GstElement* element) {
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "transfer-mode") != nullptr)
    gst_util_set_object_arg(G_OBJECT(element), "transfer-mode", "copy");
}

double measure_frame_ms(const Way& way) {
  Pipeline pipeline(description(way.properties));
  copy_to_device(pipeline.element("stripes").get());
  const Ref<GstPad> pad(gst_element_get_static_pad(pipeline.element("sink").get(), "sink"));
  Stopwatch stopwatch(pad.get());
  pipeline.play([&] { return !stopwatch.done(); });
  pipeline.stop();
  if (!stopwatch.done()) throw std::runtime_error("the stream ended before it could be measured");
  return stopwatch.frame_ms();
}

}  // namespace

std::vector<Timing> compare(const std::function<void(const std::string&)>& say) {
  std::vector<Timing> timings;
  for (const Way& way : ways) {
    say(std::string("Measuring: ") + way.name);
    timings.push_back({way.name, measure_frame_ms(way), way.ratio_on_h200});
  }
  return timings;
}

void print_comparison(const std::vector<Timing>& timings, bool on_cpu) {
  std::printf("  %-33s %10s %9s %6s%s\n", "", "a frame", "frames/s", "ratio",
              on_cpu ? "   on an NVIDIA H200" : "");
  for (const Timing& timing : timings) {
    std::printf("  %-33s %7.2f ms %9.0f %6.1f", timing.name.c_str(), timing.frame_ms,
                1000 / timing.frame_ms, timings.front().frame_ms / timing.frame_ms);
    if (on_cpu) std::printf("   %17.1f", timing.ratio_on_h200);
    std::printf("\n");
  }
  if (on_cpu)
    std::printf(
        "  No GPU was used, and the CPU needs no page-locked memory: the lines can't differ as on "
        "a\n"
        "  GPU. The last column is the ratio that was measured on an NVIDIA H200.\n");
}

}  // namespace demo
