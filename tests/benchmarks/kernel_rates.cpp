// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel_rates.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "pictures.h"

namespace benchmark {

namespace {

// So large that a device's cache plays no part, nor the time of a launch: two of them are 200 to 265 MB.
constexpr Size large_sizes[] = {
    {"4320p RGB", "RGB", rgb, 7680, 4320},
    {"4320p RGBA", "RGBA", rgba, 7680, 4320},
};

constexpr const char* device_copy = "copy by the device";

// A frame in device memory and one to be made of it.
class DeviceFrames {
 public:
  DeviceFrames(stripe::Device& device, const Size& size)
      : size_(size),
        layout_(stripe::make_frame_layout(size.layout, size.width, size.height)),
        input_(device.allocate(layout_.size_bytes)),
        output_(device.allocate(layout_.size_bytes)),
        queue_(device.create_queue()) {}

  double bytes() const { return static_cast<double>(layout_.size_bytes); }

  Sample run_kernel(stripe::Effect effect, Pictures& pictures, int launches,
                    const std::string& config) {
    stripe::Operation operation = stripe::prepare_operation({.effect = effect}, size_.layout, {});
    const stripe::KernelJob job{size_.layout,
                                stripe::as_const(view_of(layout_, input_->data())),
                                view_of(layout_, output_->data()),
                                {0, 0, size_.width, size_.height}};
    return run(pictures, launches, config, [&] { queue_->launch(operation, job); });
  }

  // What the device's own copy takes.
  Sample run_copy(Pictures& pictures, int launches, const std::string& config) {
    return run(pictures, launches, config,
               [&] { copy(output_->data(), input_->data(), stripe::CopyDirection::on_device); });
  }

 private:
  void copy(std::byte* to, const std::byte* from, stripe::CopyDirection direction) {
    const auto pitch = static_cast<std::ptrdiff_t>(layout_.size_bytes);
    queue_->copy({to, pitch, from, pitch, layout_.size_bytes, 1, direction});
  }

  // Uploads and downloads are not measured. Who writes nothing is found out.
  Sample run(Pictures& pictures, int launches, const std::string& config,
             const std::function<void()>& launch) {
    pictures.wipe_outputs(1);
    copy(input_->data(), pictures.input(0).planes[0].data, stripe::CopyDirection::upload);
    copy(output_->data(), pictures.output(0).planes[0].data, stripe::CopyDirection::upload);
    const Sample sample = measure(launch, launches);
    copy(pictures.output(0).planes[0].data, output_->data(), stripe::CopyDirection::download);
    queue_->synchronize();
    pictures.check_outputs(1, config);
    return sample;
  }

  Sample measure(const std::function<void()>& launch, int launches) {
    launch();  // whatever is loaded or clocked up only then
    queue_->synchronize();
    const Stopwatch watch;
    for (int i = 0; i < launches; ++i) launch();
    queue_->synchronize();
    return watch.a_frame(launches);
  }

  const Size size_;
  const stripe::FrameLayout layout_;
  const std::unique_ptr<stripe::DeviceMemory> input_, output_;
  const std::unique_ptr<stripe::Queue> queue_;
};

}  // namespace

std::vector<KernelRow> measure_kernels(stripe::Device& device, int launches, int rounds) {
  std::vector<KernelRow> rows;
  for (const Size& size : large_sizes) {
    DeviceFrames frames(device, size);
    Pictures copied(device, size, stripe::Effect::none, 1, false);
    Pictures inverted(device, size, stripe::Effect::invert, 1, false);
    const std::vector<Contestant> contestants = {
        {device_copy, [&] { return frames.run_copy(copied, launches, device_copy); }},
        {"effect=none",
         [&] { return frames.run_kernel(stripe::Effect::none, copied, launches, "effect=none"); }},
        {"effect=invert", [&] {
           return frames.run_kernel(stripe::Effect::invert, inverted, launches, "effect=invert");
         }}};
    const std::vector<Figure> figures = measure_in_turn(contestants, rounds);
    for (std::size_t i = 0; i < figures.size(); ++i)
      rows.push_back({size.name, contestants[i].config, figures[i], 2 * frames.bytes()});
  }
  return rows;
}

std::vector<Verdict> judge_kernels(const std::vector<KernelRow>& rows) {
  constexpr double least_share = 0.75;
  std::vector<Verdict> out;
  for (const Size& size : large_sizes) {
    const auto find = [&](const std::string& config) {
      return std::find_if(rows.begin(), rows.end(), [&](const KernelRow& row) {
        return row.size == size.name && row.config == config;
      });
    };
    for (const char* effect : {"effect=none", "effect=invert"}) {
      const double share = find(device_copy)->figure.median_us / find(effect)->figure.median_us;
      out.push_back({size.name, "kernel: at least 0.75 of the device's own copy",
                     std::numeric_limits<double>::quiet_NaN(), effect, share,
                     judge(share, Bound::at_least, least_share)});
    }
  }
  return out;
}

}  // namespace benchmark
