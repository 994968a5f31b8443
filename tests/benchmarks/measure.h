// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the benchmarks have in common: pictures, how to measure, and the limit of the link: a frame up and a
// frame down at the same time from page-locked memory, sustained. Every figure is told as a ratio to the
// limit of the same run.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "cuda/device.h"
#include "cuda/frame_layout.h"

namespace benchmark {

inline constexpr stripe::PixelLayout rgb = {
    stripe::ColorModel::rgb, 1, 3, false, {{0, 0, 3, 0, 0}, {0, 1, 3, 0, 0}, {0, 2, 3, 0, 0}}};
inline constexpr stripe::PixelLayout rgba = {
    stripe::ColorModel::rgb,
    1,
    3,
    true,
    {{0, 0, 4, 0, 0}, {0, 1, 4, 0, 0}, {0, 2, 4, 0, 0}, {0, 3, 4, 0, 0}}};
inline constexpr stripe::PixelLayout nv12 = {
    stripe::ColorModel::yuv, 2, 3, false, {{0, 0, 1, 0, 0}, {1, 0, 2, 1, 1}, {1, 1, 2, 1, 1}}};

struct Size {
  const char* name;
  const char* format;  // GStreamer's name
  stripe::PixelLayout layout;
  int width;
  int height;
};

inline constexpr Size sizes[] = {
    {"1080p RGB", "RGB", rgb, 1920, 1080},
    {"1080p RGBA", "RGBA", rgba, 1920, 1080},
    {"1080p NV12", "NV12", nv12, 1920, 1080},
    {"2160p RGBA", "RGBA", rgba, 3840, 2160},
};

struct Figure {
  double median_us;
  double low_us;
  double high_us;
  double cpu_us;
};

inline double cpu_seconds() {
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
inline Figure measure_limit(stripe::Device& device, const Size& size, int frames) {
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

}  // namespace benchmark
