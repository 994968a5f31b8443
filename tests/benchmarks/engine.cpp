// SPDX-License-Identifier: LGPL-2.1-or-later

// How close the engine comes to the limit of the link, over frames in flight and stripes, and how far the
// question's way is from it. Prints ratios; times hold for one machine only.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cuda/backend.h"
#include "cuda/engine.h"
#include "measure.h"

namespace {

using benchmark::Figure;
using benchmark::HostFrame;
using benchmark::Size;
using stripe::HostAccess;

struct Way {
  std::string name;
  int depth;
  int stripes;
  bool page_locked;
};

Figure measure_engine(const std::shared_ptr<stripe::Device>& device, const Size& size,
                      const Way& way, int frames) {
  stripe::Engine engine(device, {size.layout, size.width, size.height}, {3, way.depth});
  const stripe::FrameParameters parameters{
      stripe::StripeLayout::rows, way.stripes,
      stripe::prepare_operation(stripe::Effect::invert, size.layout, {})};
  std::vector<HostFrame> inputs, outputs;
  for (int i = 0; i < way.depth; ++i) {
    inputs.emplace_back(*device, size, way.page_locked);
    outputs.emplace_back(*device, size, way.page_locked);
  }
  // Direct although pageable, where the question's way is measured.
  return benchmark::measure(frames, [&](int n) {
    std::vector<stripe::Ticket> in_flight;
    for (int i = 0; i < n; ++i) {
      if (i >= way.depth) engine.wait(in_flight[static_cast<std::size_t>(i - way.depth)]);
      const auto slot = static_cast<std::size_t>(i % way.depth);
      in_flight.push_back(engine.submit({as_const(inputs[slot].image()), HostAccess::direct,
                                         outputs[slot].image(), HostAccess::direct},
                                        parameters));
    }
    for (int i = std::max(0, n - way.depth); i < n; ++i)
      engine.wait(in_flight[static_cast<std::size_t>(i)]);
  });
}

std::vector<Way> ways() {
  std::vector<Way> all = {{"pageable, 3 stripes on 3 streams (the question)", 1, 3, false}};
  for (const int depth : {1, 3})
    for (const int stripes : {1, 3, 6})
      all.push_back({"page-locked, " + std::to_string(depth) + " in flight, " +
                         std::to_string(stripes) + " stripe(s)",
                     depth, stripes, true});
  return all;
}

void print_row(const char* name, const Figure& figure, double limit_us) {
  std::printf("  %-48s %8.1f  %5.2f  %5.2f..%-5.2f  %8.1f\n", name, figure.median_us,
              figure.median_us / limit_us, figure.low_us / limit_us, figure.high_us / limit_us,
              figure.cpu_us);
}

void compare(const std::shared_ptr<stripe::Device>& device, const Size& size, int frames) {
  const Figure limit = benchmark::measure_limit(*device, size, frames);
  std::printf("%s\n  %-48s %8s  %5s  %5s..%-5s  %8s\n", size.name, "", "us/frame", "ratio", "low",
              "high", "CPU us");
  print_row("limit: both ways at once", limit, limit.median_us);
  for (const Way& way : ways())
    print_row(way.name.c_str(), measure_engine(device, size, way, frames), limit.median_us);
}

}  // namespace

int main(int argc, char** argv) {
  const int frames = argc > 1 ? std::atoi(argv[1]) : 60;
  if (frames < 1) {
    std::fprintf(stderr, "usage: engine [FRAMES_A_ROUND]\n");
    return 2;
  }
  try {
    const auto choice =
        stripe::choose_backend(stripe::Backend::automatic, -1, stripe::cuda_facts());
    const auto device = stripe::open_device(choice);
    std::printf("%s: %s. Ratio: time a frame / the limit's; medians of 7 rounds of %d frames.\n",
                device->info().backend.c_str(), device->info().name.c_str(), frames);
    if (!choice.fallback_reason.empty())
      std::printf("No CUDA: %s. The ratios below are those of CPU threads.\n",
                  choice.fallback_reason.c_str());
    for (const Size& size : benchmark::sizes) compare(device, size, frames);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "engine: %s\n", error.what());
    return 1;
  }
}
