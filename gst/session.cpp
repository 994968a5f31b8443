// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/session.h"

#include "gst/frame_view.h"

namespace gst_stripe {

namespace {

constexpr int frames_in_flight = 1;
constexpr std::array all_effects = {stripe::Effect::none, stripe::Effect::invert,
                                    stripe::Effect::gray};

}  // namespace

Session::Session(std::shared_ptr<stripe::Device> device, int stream_count)
    : device_(std::move(device)),
      stream_count_(stream_count),
      account_(std::make_shared<std::atomic<std::uint64_t>>(0)),
      allocator_(pinned_allocator_new(account_, device_->pinned())) {}

Session::~Session() { gst_object_unref(allocator_); }

void Session::set_format(const GstVideoInfo& info) {
  const stripe::FrameShape shape = frame_shape_of(info);
  // The old engine goes first: two would need twice the device memory.
  std::unique_ptr<stripe::Engine> old;
  {
    const std::lock_guard lock(engine_mutex_);
    if (engine_) {
      const stripe::EngineCounters counters = engine_->counters();
      finished_.bytes_uploaded += counters.bytes_uploaded;
      finished_.bytes_downloaded += counters.bytes_downloaded;
    }
    old = std::move(engine_);
  }
  old.reset();

  auto engine = std::make_unique<stripe::Engine>(
      device_, shape, stripe::EngineOptions{stream_count_, frames_in_flight});
  for (const stripe::Effect effect : all_effects) {
    stripe::Operation& operation = operations_[static_cast<std::size_t>(effect)];
    operation = stripe::prepare_operation(effect, shape.layout, colorimetry_of(info));
    // All of them now, so that a change of the effect while playing loads nothing between frames.
    engine->prepare(operation);
  }
  info_ = info;
  const std::lock_guard lock(engine_mutex_);
  engine_ = std::move(engine);
}

void Session::process(GstBuffer* input, GstBuffer* output, const Settings& settings) {
  frames_in_.fetch_add(1, std::memory_order_relaxed);
  const FrameView from(input, info_, GST_MAP_READ, *device_);
  const FrameView to(output, info_, GST_MAP_WRITE, *device_);
  count_input(from.access() == stripe::HostAccess::direct, from.is_all_from(allocator_));
  if (to.access() == stripe::HostAccess::direct)
    output_pinned_frames_.fetch_add(1, std::memory_order_relaxed);
  run({as_const(from.image()), from.access(), to.image(), to.access()}, settings);
  frames_out_.fetch_add(1, std::memory_order_relaxed);
}

void Session::run(const stripe::FrameJob& job, const Settings& settings) {
  const stripe::FrameParameters parameters{settings.stripe_layout, settings.chosen_stripe_count(),
                                           operations_[static_cast<std::size_t>(settings.effect)]};
  engine_->wait(engine_->submit(job, parameters));
}

void Session::count_input(bool pinned, bool ours) noexcept {
  std::atomic<std::uint64_t>& counter = pinned ? input_pinned_frames_ : staged_frames_;
  counter.fetch_add(1, std::memory_order_relaxed);
  upstream_uses_pool_.store(ours, std::memory_order_relaxed);
}

Stats Session::stats() const {
  Stats stats;
  stats.backend = device_->info().backend;
  stats.device_name = device_->info().name;
  stats.frames_in = frames_in_;
  stats.frames_out = frames_out_;
  stats.input_pinned_frames = input_pinned_frames_;
  stats.output_pinned_frames = output_pinned_frames_;
  stats.staged_frames = staged_frames_;
  stats.pinned_bytes = *account_;
  stats.streams = static_cast<guint>(stream_count_);
  stats.upstream_uses_pool = upstream_uses_pool_;
  const std::lock_guard lock(engine_mutex_);
  stats.bytes_uploaded = finished_.bytes_uploaded;
  stats.bytes_downloaded = finished_.bytes_downloaded;
  if (engine_) {
    const stripe::EngineCounters counters = engine_->counters();
    stats.bytes_uploaded += counters.bytes_uploaded;
    stats.bytes_downloaded += counters.bytes_downloaded;
    stats.pinned_bytes += counters.staging_block_bytes;
    stats.stripes_per_frame = static_cast<guint>(counters.stripes_per_frame);
  }
  return stats;
}

}  // namespace gst_stripe
