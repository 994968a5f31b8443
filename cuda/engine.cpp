// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/engine.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "cuda/copy_job.h"
#include "cuda/engine_slot.h"

namespace stripe {

namespace {

FrameLayout checked_layout(const FrameShape& shape, const EngineOptions& options) {
  if (shape.width < 1 || shape.height < 1 || options.stream_count < 1 || options.depth < 1)
    throw std::invalid_argument("an engine needs a size, a stream and a frame in flight");
  return make_frame_layout(shape.layout, shape.width, shape.height);
}

void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

CopyJob copy_area(const Plane& to, const ConstPlane& from, const PlaneArea& area,
                  CopyDirection direction) {
  const Plane t = sub_plane(to, area);
  const ConstPlane f = sub_plane(from, area);
  return {t.data, t.pitch_bytes, f.data, f.pitch_bytes, area.row_bytes, area.rows, direction};
}

// The device only reads what was const.
Image as_mutable(const ConstImage& image) {
  Image view;
  for (std::size_t i = 0; i < image.planes.size(); ++i)
    view.planes[i] = {const_cast<std::byte*>(image.planes[i].data), image.planes[i].pitch_bytes};
  return view;
}

std::uint64_t size_of(const CopyJob& job) { return std::uint64_t{job.row_bytes} * job.rows; }

}  // namespace

Engine::Engine(std::shared_ptr<Device> device, const FrameShape& shape,
               const EngineOptions& options)
    : device_(std::move(device)),
      shape_(shape),
      layout_(checked_layout(shape, options)),
      transfer_(options.transfer),
      map_blocks_(options.map_blocks),
      stream_times_(static_cast<std::size_t>(options.stream_count)) {
  for (int i = 0; i < options.depth; ++i) {
    Slot& slot = *slots_.emplace_back(std::make_unique<Slot>());
    if (transfer_ == Transfer::copy) {
      slot.input.memory = device_->allocate(layout_.size_bytes);
      slot.output.memory = device_->allocate(layout_.size_bytes);
      add(allocations_, 2);
    }
    for (int k = 0; k < options.stream_count; ++k)
      slot.streams.push_back({device_->create_event(), false});
  }
  for (int i = 0; i < options.stream_count; ++i) queues_.push_back(device_->create_queue());
  add(allocations_, (slots_.size() + 1) * queues_.size());
}

Engine::~Engine() { drain_queues(); }

void Engine::prepare(Operation& operation) { device_->prepare(operation); }

Ticket Engine::submit(const FrameJob& job, const FrameParameters& parameters) {
  throw_if_failed();
  Slot& slot = *slots_[next_ticket_ % slots_.size()];
  if (slot.busy.load(std::memory_order_acquire))
    throw std::logic_error("more frames submitted than may be in flight");
  update_plan(parameters);
  try {
    start_frame(slot, job, parameters);
    // If the waiting thread failed meanwhile, this frame must not run on either.
    throw_if_failed();
  } catch (const std::exception& cause) {
    fail(cause);
  }
  slot.ticket = next_ticket_;
  slot.busy.store(true, std::memory_order_release);
  add(frames_submitted_, 1);
  return next_ticket_++;
}

void Engine::start_frame(Slot& slot, const FrameJob& job, const FrameParameters& parameters) {
  hold_sides(slot, job, parameters.operation);
  slot.job = job;
  slot.operation = parameters.operation;
  slot.stripes = stripes_;
  slot.record = parameters.timed ? begin_record() : nullptr;
  for (Slot::Stream& stream : slot.streams) stream.used = false;

  const std::uint64_t n = stripes_.size();
  slot.first_stream = next_ticket_ * n % queues_.size();
  for (std::uint64_t k = 0; k < n; ++k) {
    const std::size_t stream = (slot.first_stream + k) % queues_.size();
    start_stripe(slot, k, *queues_[stream]);
    slot.streams[stream].used = true;
    if (slot.record)
      slot.record->times.stripes.push_back(
          {static_cast<int>(k), static_cast<int>(stream), {}, {}, {}});
  }
  for (std::size_t i = 0; i < queues_.size(); ++i)
    if (slot.streams[i].used) queues_[i]->record(*slot.streams[i].done);
  slot.submitted = now();
  if (slot.record) slot.record->times.submit.end = slot.submitted;
}

// Where both sides lie for this frame.
void Engine::hold_sides(Slot& slot, const FrameJob& job, const Operation& operation) {
  const bool map = may_map(operation);
  Slot::Side& in = slot.input;
  Slot::Side& out = slot.output;
  in.host = job.input_access == HostAccess::staged ? hold_staging(in.staging, input_pool_)
                                                   : as_mutable(job.input);
  out.host = job.output_access == HostAccess::staged ? hold_staging(out.staging, output_pool_)
                                                     : job.output;
  in.kernel = find_kernel_side(in.host, map, in.memory, in.copied);
  out.kernel = find_kernel_side(out.host, map, out.memory, out.copied);
}

bool Engine::may_map(const Operation& operation) const noexcept {
  const bool by_rows =
      operation.kernel == Operation::Kernel::copy || operation.kernel == Operation::Kernel::affine;
  return transfer_ == Transfer::mapped && (map_blocks_ || by_rows);
}

Image Engine::find_kernel_side(const Image& host, bool map, std::unique_ptr<DeviceMemory>& memory,
                               bool& copied) {
  Image mapped = host;
  copied = !map;
  for (int p = 0; p < shape_.layout.plane_count && !copied; ++p) {
    mapped.planes[p].data = device_->mapped_address(host.planes[p].data);
    copied = mapped.planes[p].data == nullptr;
  }
  if (!copied) return mapped;
  if (!memory) {
    memory = device_->allocate(layout_.size_bytes);
    add(allocations_, 1);
  }
  return view_of(layout_, memory->data());
}

void Engine::start_stripe(Slot& slot, std::size_t number, Queue& queue) {
  const Slot::Side& in = slot.input;
  const Slot::Side& out = slot.output;
  const Rect& stripe = slot.stripes[number];
  const auto stamp = [&](std::size_t place) {
    if (slot.record) queue.stamp(*slot.record->stamps[number].at[place]);
  };
  // Stripe by stripe: the transfer of the one before runs meanwhile.
  if (slot.job.input_access == HostAccess::staged) stage_input(slot, stripe);
  stamp(0);
  if (in.copied) upload(queue, slot, stripe);
  stamp(1);
  queue.launch(slot.operation,
               {shape_.layout, as_const(in.kernel), out.kernel, stripe, !in.copied || !out.copied});
  stamp(2);
  if (out.copied) download(queue, slot, stripe);
  stamp(3);
}

// A copy on the CPU.
void Engine::stage(CopyPool& pool, const CopyJob& job, Slot& slot) {
  const Time begin = slot.record ? now() : 0;
  pool.copy(job);
  if (slot.record) {
    FrameTimes& times = slot.record->times;
    const bool in = job.direction == CopyDirection::upload;
    (in ? times.staging_in : times.staging_out).push_back({begin, now()});
  }
  add(staged_bytes_, size_of(job));
}

void Engine::stage_input(Slot& slot, const Rect& stripe) {
  for (int p = 0; p < shape_.layout.plane_count; ++p)
    stage(*input_pool_,
          copy_area(slot.input.host.planes[p], slot.job.input.planes[p],
                    plane_area(shape_.layout, p, stripe), CopyDirection::upload),
          slot);
}

void Engine::upload(Queue& queue, const Slot& slot, const Rect& stripe) {
  const bool one_memory =
      slot.job.input_is_one_memory || slot.job.input_access == HostAccess::staged;
  add(bytes_uploaded_, copy_stripe(queue, slot.input.kernel, slot.input.host, stripe,
                                   CopyDirection::upload, one_memory));
}

void Engine::download(Queue& queue, const Slot& slot, const Rect& stripe) {
  const bool one_memory =
      slot.job.output_is_one_memory || slot.job.output_access == HostAccess::staged;
  add(bytes_downloaded_, copy_stripe(queue, slot.output.host, slot.output.kernel, stripe,
                                     CopyDirection::download, one_memory));
}

// Copies all planes, those that lie behind each other at once. Returns how many bytes.
std::uint64_t Engine::copy_stripe(Queue& queue, const Image& to, const Image& from,
                                  const Rect& stripe, CopyDirection direction, bool one_memory) {
  const ConstImage source = as_const(from);
  std::uint64_t bytes = 0;
  std::optional<CopyJob> copy;
  for (int p = 0; p < shape_.layout.plane_count; ++p) {
    const CopyJob plane =
        copy_area(to.planes[p], source.planes[p], plane_area(shape_.layout, p, stripe), direction);
    bytes += size_of(plane);
    if (copy && one_memory && join(*copy, plane)) continue;
    if (copy) queue.copy(*copy);
    copy = plane;
  }
  queue.copy(*copy);
  return bytes;
}

void Engine::wait(Ticket ticket) {
  throw_if_failed();
  Slot& slot = *slots_[ticket % slots_.size()];
  if (!slot.busy.load(std::memory_order_acquire) || slot.ticket != ticket)
    throw std::logic_error("waiting for a frame that is not in flight");
  try {
    const Time begin = slot.record ? now() : 0;
    const std::uint64_t submitted = frames_submitted_.load(std::memory_order_relaxed);
    finish_frame(slot, std::max(static_cast<int>(submitted - ticket) - 1, 0));
    if (slot.record) end_record(slot, ticket, begin);
  } catch (const std::exception& cause) {
    fail(cause);
  }
  slot.busy.store(false, std::memory_order_release);
  add(frames_finished_, 1);
}

void Engine::finish_frame(Slot& slot, int behind) {
  if (slot.job.output_access == HostAccess::staged) {
    // Stream by stream: the transfers on the others run meanwhile.
    for (std::size_t k = 0; k < slot.stripes.size(); ++k) {
      slot.streams[(slot.first_stream + k) % slot.streams.size()].done->wait();
      add(waits_, 1);
      copy_staged_output(slot, slot.stripes[k]);
    }
    return;
  }
  wait_for_streams(slot, behind);
}

// Stream by stripe: that of the last stripe is likely to be the last, and is slept for.
void Engine::wait_for_streams(Slot& slot, int behind) {
  if (forecast_stripes_ != slot.stripes.size()) {
    forecast_ = {};
    forecast_stripes_ = slot.stripes.size();
  }
  WaitPlan plan = forecast_.plan(slot.submitted, behind);
  const std::size_t used = std::min(slot.stripes.size(), slot.streams.size());
  Waited waited;
  for (std::size_t i = 0; i < used; ++i) {
    const std::size_t last = slot.first_stream + slot.stripes.size() - 1;
    const std::size_t stream = (last + slot.streams.size() - i) % slot.streams.size();
    const Waited one = slot.streams[stream].done->wait(plan);
    add(waits_, 1);
    if (i == 0) waited = one;
    if (one.dozed) waited.last_nap = one.last_nap;
    waited.was_late &= one.was_late;
    // The others are done by now, or soon: all waits together spin no longer than one may.
    plan = {};
  }
  forecast_.note(slot.submitted, now(), waited);
}

void Engine::copy_staged_output(Slot& slot, const Rect& stripe) {
  const ConstImage from = as_const(slot.output.host);
  for (int p = 0; p < shape_.layout.plane_count; ++p)
    stage(*output_pool_,
          copy_area(slot.job.output.planes[p], from.planes[p], plane_area(shape_.layout, p, stripe),
                    CopyDirection::download),
          slot);
}

// Staging is taken when it is first needed and kept: frames that are page-locked never pay for it.
Image Engine::hold_staging(PinnedBlock& block, std::unique_ptr<CopyPool>& pool) {
  if (!pool) pool = std::make_unique<CopyPool>(CopyPool::useful_helpers());
  if (!block) {
    block = device_->allocate_pinned(layout_.size_bytes);
    add(allocations_, 1);
    staging_block_bytes_.fetch_add(block.size_bytes(), std::memory_order_relaxed);
  }
  return view_of(layout_, block.data());
}

void Engine::update_plan(const FrameParameters& parameters) {
  if (!stripes_.empty() && plan_count_ == parameters.stripe_count &&
      plan_layout_ == parameters.stripe_layout)
    return;
  stripes_ = make_plan({shape_.width, shape_.height, parameters.stripe_layout,
                        parameters.stripe_count, stripe_unit(shape_.layout, shape_.interlaced)});
  plan_count_ = parameters.stripe_count;
  plan_layout_ = parameters.stripe_layout;
  stripes_per_frame_.store(static_cast<int>(stripes_.size()), std::memory_order_relaxed);
}

// The first cause stays. It is set before the queues are drained: a frame that another thread
// submits meanwhile is either drained here, or that thread sees the failure and drains it.
void Engine::fail(const std::exception& cause) {
  const auto* device_error = dynamic_cast<const DeviceError*>(&cause);
  DeviceError first =
      device_error ? *device_error : DeviceError(DeviceErrorKind::failed, cause.what());
  {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = first;
    first = *failure_;
  }
  drain_queues();
  throw first;
}

void Engine::throw_if_failed() {
  std::optional<DeviceError> failure;
  {
    const std::lock_guard lock(failure_mutex_);
    failure = failure_;
  }
  if (failure) fail(*failure);
}

void Engine::drain_queues() noexcept {
  for (const auto& queue : queues_) {
    try {
      add(waits_, 1);
      queue->synchronize();
    } catch (const std::exception&) {
      // A device that can't even finish runs nothing any more; the first cause is what users need.
    }
  }
}

EngineCounters Engine::counters() const noexcept {
  return {frames_submitted_.load(std::memory_order_relaxed),
          frames_finished_.load(std::memory_order_relaxed),
          bytes_uploaded_.load(std::memory_order_relaxed),
          bytes_downloaded_.load(std::memory_order_relaxed),
          staged_bytes_.load(std::memory_order_relaxed),
          staging_block_bytes_.load(std::memory_order_relaxed),
          stripes_per_frame_.load(std::memory_order_relaxed),
          allocations_.load(std::memory_order_relaxed),
          waits_.load(std::memory_order_relaxed)};
}

}  // namespace stripe
