// SPDX-License-Identifier: LGPL-2.1-or-later

// Staging on the CPU: what several threads copy, told against memcpy of one thread; outputs into the caches and
// past them, alone with a reader behind each: those are to be told against each other. Frames lie in 32 touched
// buffers, so that none of them is in a cache; the blocks that they are staged through come again after three.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cuda/copy_pool.h"
#include "measure.h"

namespace {

using benchmark::Contestant;
using benchmark::Figure;
using benchmark::Sample;
using benchmark::Stopwatch;
using stripe::CopyDirection;
using stripe::CopyPool;

constexpr std::size_t never_past_caches = ~std::size_t{0}, always_past_caches = 0;

class Memory {
 public:
  explicit Memory(std::size_t frame_bytes)
      : frame_bytes_(frame_bytes), frames_(32, block(1)), blocks_(3, block(2)) {}

  stripe::CopyJob job(int frame, CopyDirection direction) {
    std::byte* const theirs = frames_[static_cast<std::size_t>(frame) % frames_.size()].data();
    std::byte* const ours = blocks_[static_cast<std::size_t>(frame) % blocks_.size()].data();
    const bool up = direction == CopyDirection::upload;
    const auto pitch = static_cast<std::ptrdiff_t>(frame_bytes_);
    return {up ? ours : theirs, pitch, up ? theirs : ours, pitch, frame_bytes_, 1, direction};
  }

 private:
  std::vector<std::byte> block(int value) const {
    return std::vector<std::byte>(frame_bytes_, static_cast<std::byte>(value));
  }

  const std::size_t frame_bytes_;
  std::vector<std::vector<std::byte>> frames_, blocks_;
};

Sample copy_alone(Memory& memory, int frames) {
  const Stopwatch watch;
  for (int i = 0; i < frames; ++i) {
    const stripe::CopyJob job = memory.job(i, CopyDirection::upload);
    std::memcpy(job.to, job.from, job.row_bytes);
  }
  return watch.a_frame(frames);
}

Sample copy_in(Memory& memory, CopyPool& pool, int frames) {
  const Stopwatch watch;
  for (int i = 0; i < frames; ++i) pool.copy(memory.job(i, CopyDirection::upload));
  return watch.a_frame(frames);
}

// What a reader in the same thread would do next.
void read_all(const std::byte* data, std::size_t size_bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at + sizeof sum <= size_bytes; at += sizeof sum) {
    std::uint64_t word;
    std::memcpy(&word, data + at, sizeof word);
    sum += word;
  }
  [[maybe_unused]] static volatile std::uint64_t seen;
  seen = sum;
}

Sample copy_out(Memory& memory, CopyPool& pool, int frames) {
  const Stopwatch watch;
  for (int i = 0; i < frames; ++i) {
    const stripe::CopyJob job = memory.job(i, CopyDirection::download);
    pool.copy(job);
    read_all(job.to, job.row_bytes);
  }
  return watch.a_frame(frames);
}

// As an engine does with several frames in flight.
Sample copy_both_ways(Memory& in, Memory& out, CopyPool& up, CopyPool& down, int frames) {
  const Stopwatch watch;
  std::thread other([&] {
    for (int i = 0; i < frames; ++i) down.copy(out.job(i, CopyDirection::download));
  });
  for (int i = 0; i < frames; ++i) up.copy(in.job(i, CopyDirection::upload));
  other.join();
  return watch.a_frame(frames);
}

std::vector<int> helper_counts() {
  std::vector<int> counts = {0, 1, 3, 5, CopyPool::useful_helpers()};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  counts.erase(std::remove_if(counts.begin(), counts.end(),
                              [](int count) { return count > CopyPool::useful_helpers(); }),
               counts.end());
  return counts;
}

void compare(const char* name, std::size_t frame_bytes, int frames, int rounds) {
  Memory in(frame_bytes), out(frame_bytes);
  std::vector<Contestant> contestants = {
      {"memcpy, one thread", [&] { return copy_alone(in, frames); }}};
  for (const int helpers : helper_counts()) {
    const std::string count = std::to_string(helpers) + (helpers == 1 ? " helper, " : " helpers, ");
    const auto up = std::make_shared<CopyPool>(helpers);
    contestants.push_back({count + "in", [=, &in] { return copy_in(in, *up, frames); }});
    for (const std::size_t cache_bytes : {never_past_caches, always_past_caches}) {
      const auto down = std::make_shared<CopyPool>(helpers, cache_bytes);
      const std::string out_text = cache_bytes ? "out cached" : "out streaming";
      contestants.push_back(
          {count + out_text + ", and read", [=, &out] { return copy_out(out, *down, frames); }});
      contestants.push_back({count + "in and " + out_text, [=, &in, &out] {
                               return copy_both_ways(in, out, *up, *down, frames);
                             }});
    }
  }
  const std::vector<Figure> figures = benchmark::measure_in_turn(contestants, rounds);
  std::printf("\n%s\n%-42s %9s %9s %7s %9s\n", name, "", "us", "GB/s", "ratio", "CPU us");
  for (std::size_t i = 0; i < figures.size(); ++i)
    std::printf("%-42s %9.1f %9.2f %7.2f %9.1f\n", contestants[i].config.c_str(),
                figures[i].median_us,
                1e-3 * static_cast<double>(frame_bytes) / figures[i].median_us,
                figures[0].median_us / figures[i].median_us, figures[i].cpu_us);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 7;
  std::printf("a core's own cache: %zu bytes; useful helpers: %d; medians of %d rounds\n",
              CopyPool::core_cache_bytes(), CopyPool::useful_helpers(), rounds);
  compare("720p NV12", 1280 * 720 * 3 / 2, 256, rounds);
  compare("1080p NV12", 1920 * 1080 * 3 / 2, 128, rounds);
  compare("1080p RGBA", 1920 * 1080 * 4, 64, rounds);
  compare("2160p RGBA", 3840 * 2160 * 4, 32, rounds);
}
