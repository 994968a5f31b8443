// SPDX-License-Identifier: LGPL-2.1-or-later

// How close the engine comes to the limit of the link: a frame up and a frame down at the same time
// from page-locked memory, sustained, measured in the same run. Prints ratios; times hold for one
// machine only.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/backend.h"
#include "cuda/engine.h"
#include "cuda/frame_layout.h"

namespace {

using stripe::HostAccess;

constexpr stripe::PixelLayout rgb = {
    stripe::ColorModel::rgb, 1, 3, false, {{0, 0, 3, 0, 0}, {0, 1, 3, 0, 0}, {0, 2, 3, 0, 0}}};
constexpr stripe::PixelLayout rgba = {
    stripe::ColorModel::rgb,
    1,
    3,
    true,
    {{0, 0, 4, 0, 0}, {0, 1, 4, 0, 0}, {0, 2, 4, 0, 0}, {0, 3, 4, 0, 0}}};
constexpr stripe::PixelLayout nv12 = {
    stripe::ColorModel::yuv, 2, 3, false, {{0, 0, 1, 0, 0}, {1, 0, 2, 1, 1}, {1, 1, 2, 1, 1}}};

struct Size {
  const char* name;
  stripe::PixelLayout layout;
  int width;
  int height;
};

constexpr Size sizes[] = {
    {"1080p RGB", rgb, 1920, 1080},
    {"1080p RGBA", rgba, 1920, 1080},
    {"1080p NV12", nv12, 1920, 1080},
    {"2160p RGBA", rgba, 3840, 2160},
};

struct Figure {
  double median_us;
  double low_us;
  double high_us;
  double cpu_us;
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Time and CPU time a frame, over several rounds after one that warms up.
template <typename Frames>
Figure measure(int frames_a_round, Frames run_frames) {
  constexpr int rounds = 7;
  run_frames(frames_a_round);
  std::vector<double> times_us;
  const double cpu_before = cpu_seconds();
  for (int i = 0; i < rounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run_frames(frames_a_round);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    times_us.push_back(time.count() / frames_a_round);
  }
  const double cpu_us = 1e6 * (cpu_seconds() - cpu_before) / (rounds * frames_a_round);
  std::sort(times_us.begin(), times_us.end());
  return {times_us[rounds / 2], times_us.front(), times_us.back(), cpu_us};
}

// Host memory of a frame, page-locked or plain.
class HostFrame {
 public:
  HostFrame(stripe::Device& device, const Size& size, bool page_locked)
      : layout_(stripe::make_frame_layout(size.layout, size.width, size.height)) {
    if (page_locked)
      block_ = device.allocate_pinned(layout_.size_bytes);
    else
      plain_.resize(layout_.size_bytes);
    std::memset(data(), 0x5a, layout_.size_bytes);
  }
  std::byte* data() { return block_ ? block_.data() : plain_.data(); }
  std::size_t size_bytes() const { return layout_.size_bytes; }
  stripe::Image image() { return view_of(layout_, data()); }

 private:
  const stripe::FrameLayout layout_;
  stripe::PinnedBlock block_;
  std::vector<std::byte> plain_;
};

// A frame up and a frame down at the same time.
Figure measure_limit(stripe::Device& device, const Size& size, int frames) {
  HostFrame up(device, size, true), down(device, size, true);
  const auto up_memory = device.allocate(up.size_bytes());
  const auto down_memory = device.allocate(up.size_bytes());
  const auto up_queue = device.create_queue();
  const auto down_queue = device.create_queue();
  const auto bytes = static_cast<std::ptrdiff_t>(up.size_bytes());
  return measure(frames, [&](int n) {
    for (int i = 0; i < n; ++i) {
      up_queue->copy({up_memory->data(), bytes, up.data(), bytes, up.size_bytes(), 1,
                      stripe::CopyDirection::upload});
      down_queue->copy({down.data(), bytes, down_memory->data(), bytes, up.size_bytes(), 1,
                        stripe::CopyDirection::download});
    }
    up_queue->synchronize();
    down_queue->synchronize();
  });
}

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
  return measure(frames, [&](int n) {
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

void benchmark(const std::shared_ptr<stripe::Device>& device, const Size& size, int frames) {
  const Figure limit = measure_limit(*device, size, frames);
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
    for (const Size& size : sizes) benchmark(device, size, frames);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "engine: %s\n", error.what());
    return 1;
  }
}
