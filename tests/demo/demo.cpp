// SPDX-License-Identifier: LGPL-2.1-or-later
//
// demo FRAMES SHOWN PIPELINE
//
// Runs a pipeline of FRAMES frames that has a cudastripetransform named "stripes", says what that
// element did, and keeps frame number SHOWN as it went in and as it came out: before.png, after.png
// and side-by-side.png in the current folder. Then compares pageable memory, page-locked memory and
// frames in flight. tests/demo.sh calls it.

#include <gst/gst.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "comparison.h"
#include "pictures.h"
#include "pipeline.h"
#include "stats_table.h"
#include "terminal.h"

namespace {

void write_pictures(const demo::FramePair& pair) {
  demo::write_png(pair.before(), "before.png");
  demo::write_png(pair.after(), "after.png");
  demo::write_png(demo::side_by_side(pair.before(), pair.after()).get(), "side-by-side.png");
}

void play_with_progress(demo::Pipeline& pipeline, const demo::FramePair& pair, int frames) {
  demo::Progress progress;
  pipeline.play([&] {
    progress.show("Frame " + std::to_string(pair.seen()) + " of " + std::to_string(frames));
    return true;
  });
}

// Returns whether the CPU did it.
bool run_video(int frames, int shown, const char* description) {
  demo::Pipeline pipeline(description);
  const demo::Ref<GstElement> stripes = pipeline.element("stripes");
  demo::FramePair pair(stripes.get(), shown);
  play_with_progress(pipeline, pair, frames);
  for (const std::string& warning : pipeline.warnings()) std::printf("Note: %s\n", warning.c_str());
  std::printf("\nWhat the element did (its property \"stats\", docs/memory.md):\n");
  demo::print_stats(stripes.get());
  const bool on_cpu = demo::ran_on_cpu(stripes.get());
  pipeline.stop();
  write_pictures(pair);
  return on_cpu;
}

void run_comparison(bool on_cpu) {
  std::printf("\nThe same 1080p RGBA picture again and again, inverted:\n");
  std::vector<demo::Timing> timings;
  {
    demo::Progress progress;
    timings = demo::compare([&](const std::string& what) { progress.show(what); });
  }
  demo::print_comparison(timings, on_cpu);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc != 4) {
    std::fprintf(stderr, "usage: demo FRAMES SHOWN PIPELINE\n");
    return 2;
  }
  // In a log what failed comes after what was said before it.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  demo::watch_for_interrupt();
  try {
    run_comparison(run_video(std::atoi(argv[1]), std::atoi(argv[2]), argv[3]));
  } catch (const demo::Interrupted&) {
    std::fprintf(stderr, "Stopped.\n");
    return 130;  // as a shell says it of SIGINT
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Failed: %s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
