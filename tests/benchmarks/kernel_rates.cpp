// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel_rates.h"

#include "pictures.h"

namespace benchmark {

namespace {

// So large that a device's cache plays no part, nor the time of a launch: two of them are 200 to 265 MB.
constexpr Size large_sizes[] = {
    {"4320p RGB", "RGB", rgb, 7680, 4320},
    {"4320p RGBA", "RGBA", rgba, 7680, 4320},
};

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

  // Uploads and downloads are not measured. The output that another effect left behind is found out.
  Sample run(stripe::Effect effect, Pictures& pictures, int launches, const std::string& config) {
    const auto pitch = static_cast<std::ptrdiff_t>(layout_.size_bytes);
    pictures.wipe_outputs(1);
    queue_->copy({input_->data(), pitch, pictures.input(0).planes[0].data, pitch,
                  layout_.size_bytes, 1, stripe::CopyDirection::upload});
    const Sample sample = launch(effect, launches);
    queue_->copy({pictures.output(0).planes[0].data, pitch, output_->data(), pitch,
                  layout_.size_bytes, 1, stripe::CopyDirection::download});
    queue_->synchronize();
    pictures.check_outputs(1, config);
    return sample;
  }

 private:
  Sample launch(stripe::Effect effect, int launches) {
    stripe::Operation operation = stripe::prepare_operation({.effect = effect}, size_.layout, {});
    const stripe::KernelJob job{size_.layout,
                                stripe::as_const(view_of(layout_, input_->data())),
                                view_of(layout_, output_->data()),
                                {0, 0, size_.width, size_.height}};
    queue_->launch(operation, job);  // whatever is loaded or clocked up only then
    queue_->synchronize();
    const Stopwatch watch;
    for (int i = 0; i < launches; ++i) queue_->launch(operation, job);
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
        {"effect=none",
         [&] { return frames.run(stripe::Effect::none, copied, launches, "effect=none"); }},
        {"effect=invert",
         [&] { return frames.run(stripe::Effect::invert, inverted, launches, "effect=invert"); }}};
    const std::vector<Figure> figures = measure_in_turn(contestants, rounds);
    for (std::size_t i = 0; i < figures.size(); ++i)
      rows.push_back({size.name, contestants[i].config, figures[i], 2 * frames.bytes()});
  }
  return rows;
}

}  // namespace benchmark
