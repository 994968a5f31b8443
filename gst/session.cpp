// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/session.h"

#include <utility>

#include "gst/color_properties.h"
#include "gst/pinned_allocator.h"

namespace gst_stripe {

namespace {

void count(std::atomic<std::uint64_t>& counter) noexcept {
  counter.fetch_add(1, std::memory_order_relaxed);
}

template <typename Count>
void raise_to(std::atomic<Count>& peak, Count value) noexcept {
  Count seen = peak.load(std::memory_order_relaxed);
  while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

// The stripe count may change while playing: what would be chosen is kept for when it is 0.
stripe::ChoiceRequest request_of(const Settings& settings) {
  stripe::ChoiceRequest request = settings.choice_request();
  request.stripe_count = 0;
  return request;
}

stripe::Operation prepare_operation(const stripe::ColorSettings& color,
                                    const stripe::PixelLayout& layout,
                                    const stripe::Colorimetry& colorimetry,
                                    const stripe::Operation& previous) {
  try {
    return stripe::prepare_operation(color, layout, colorimetry, &previous);
  } catch (const std::invalid_argument& error) {
    throw SettingsError(error.what());
  }
}

}  // namespace

Frame::Frame(std::shared_ptr<Session> session, BufferRef input, BufferRef output)
    : session_(std::move(session)), input_(std::move(input)), output_(std::move(output)) {}

Frame::~Frame() {
  try {
    finish();
  } catch (const std::exception&) {
    // Whoever drops a frame unfinished has its failure, or a flush, to tell already.
  }
}

void Frame::finish() {
  if (!ticket_) {
    release();
    return;
  }
  const stripe::Ticket ticket = *ticket_;
  ticket_.reset();
  try {
    session_->engine_->wait(ticket);
  } catch (...) {
    session_->count_finished();
    release();
    throw;
  }
  session_->count_finished();
  release();
}

void Frame::release() noexcept {
  from_.reset();
  to_.reset();
  input_.reset();
}

Session::Session(std::shared_ptr<stripe::Device> device, const Settings& settings)
    : device_(std::move(device)),
      depth_(static_cast<int>(settings.async_depth)),
      budget_(std::make_shared<stripe::LockBudget>(settings.max_pinned_bytes)),
      allocator_(pinned_allocator_new(budget_, device_->pinned())),
      locking_(settings.page_lock, stripe::choose(request_of(settings), device_->info()).transfer,
               device_, budget_, notices_),
      timing_(settings, device_->info(), notices_),
      calibration_{stripe::choose(request_of(settings), device_->info()), {}, false} {}

Session::~Session() {
  // What this session registered is charged to it alone: the next one could not let it go.
  budget_->let_go_idle();
  gst_object_unref(allocator_);
}

std::unique_ptr<stripe::Engine> Session::take_engine() {
  const std::lock_guard lock(engine_mutex_);
  if (engine_) {
    const stripe::EngineCounters counters = engine_->counters();
    finished_.bytes_uploaded += counters.bytes_uploaded;
    finished_.bytes_downloaded += counters.bytes_downloaded;
    finished_.staged_bytes += counters.staged_bytes;
    raise_to(staging_peak_bytes_, std::uint64_t{counters.staging_block_bytes});
  }
  return std::move(engine_);
}

// Frames that are all staged are at the CPU's mercy, and the calibration's page-locked ones would take
// more than a bound leaves.
stripe::Calibration Session::decide(const stripe::FrameShape& shape,
                                    const Settings& settings) const {
  stripe::ChoiceRequest request = request_of(settings);
  if (settings.page_lock == PageLockMode::stage || settings.max_pinned_bytes != 0)
    return {stripe::choose(request, device_->info()), {}, false};
  // What the user asks for is tried with as many stripes.
  request.stripe_count = static_cast<int>(settings.stripe_count);
  stripe::Calibration calibration = stripe::calibrate(device_, shape, request);
  if (settings.stripe_count != 0)
    calibration.choice.stripe_count =
        stripe::choose(request_of(settings), device_->info()).stripe_count;
  return calibration;
}

void Session::set_format(const GstVideoInfo& info, const Settings& settings) {
  const stripe::FrameShape shape = frame_shape_of(info);
  const stripe::Colorimetry colorimetry = colorimetry_of(info);
  stripe::Operation operation =
      prepare_operation(settings.color, shape.layout, colorimetry, operation_);
  // The old engine goes first: two would need twice the device memory.
  take_engine().reset();
  stripe::Calibration calibration = decide(shape, settings);
  const stripe::Choice& choice = calibration.choice;
  auto engine = std::make_unique<stripe::Engine>(
      device_, shape,
      stripe::EngineOptions{
          choice.stream_count, depth_, choice.transfer,
          settings.transfer_mode == stripe::TransferMode::mapped || device_->info().shares_memory});
  engine->prepare(operation);
  layout_ = shape.layout;
  colorimetry_ = colorimetry;
  info_ = info;
  notices_.forget();
  new_memories_ = 0;
  timing_.set_format(info, shape, settings, choice);
  set_operation(std::move(operation));
  const std::lock_guard lock(engine_mutex_);
  calibration_ = std::move(calibration);
  engine_ = std::move(engine);
}

void Session::set_color(const stripe::ColorSettings& color) {
  if (!engine_) return;  // set_format is told
  stripe::Operation operation = prepare_operation(color, layout_, colorimetry_, operation_);
  engine_->prepare(operation);
  set_operation(std::move(operation));
}

// What there was is destroyed after the lock: it may hold the last reference of large tables.
void Session::set_operation(stripe::Operation operation) {
  const std::lock_guard lock(operation_mutex_);
  std::swap(operation_, operation);
}

stripe::Operation Session::current_operation() const {
  const std::lock_guard lock(operation_mutex_);
  return operation_;
}

std::unique_ptr<Frame> Session::prepare(BufferRef input, BufferRef output,
                                        const Settings& settings) {
  auto frame = std::make_unique<Frame>(shared_from_this(), std::move(input), std::move(output));
  frame->from_.emplace(frame->input_.get(), info_, FrameSide::input, locking_);
  frame->to_.emplace(frame->output_.get(), info_, FrameSide::output, locking_);
  frame->parameters_ = {settings.stripe_layout, settings.stripes_or(calibration_.choice),
                        current_operation(), false};
  return frame;
}

void Session::start(Frame& frame) {
  const Frame::Side& from = *frame.from_;
  const Frame::Side& to = *frame.to_;
  frame.timed_ = timing_.next();
  frame.parameters_.timed = frame.timed_.is_timed();
  frame.timed_.ticket =
      engine_->submit({as_const(from.view.image()), from.claim.access, to.view.image(),
                       to.claim.access, from.view.is_one_memory(), to.view.is_one_memory()},
                      frame.parameters_);
  frame.ticket_ = frame.timed_.ticket;
  count_started(frame);
}

void Session::add_times(const TimedFrame& frame, const stripe::Span& push) {
  std::optional<stripe::FrameTimes> times = engine_->read_times(frame.ticket);
  if (!times) return;
  times->push = push;
  timing_.add(frame, std::move(*times));
}

void Session::count_started(const Frame& frame) {
  raise_to(frames_in_flight_peak_, frames_in_flight_.fetch_add(1, std::memory_order_relaxed) + 1);
  const MemoryClaim& from = frame.from_->claim;
  if (from.pinned) count(input_pinned_frames_);
  if (from.access == stripe::HostAccess::staged) count(staged_frames_);
  new_memories_ = from.unseen ? new_memories_ + 1 : 0;
  if (new_memories_ == stripe::many_new_memories) timing_.tell(stripe::advise_on_new_memory());
  if (frame.to_->claim.pinned) count(output_pinned_frames_);
  upstream_uses_pool_.store(frame.from_->view.is_all_from(allocator_), std::memory_order_relaxed);
}

Stats Session::stats() const {
  Stats stats;
  stats.backend = device_->info().backend;
  stats.device_name = device_->info().name;
  stats.frames_in = frames_in_;
  stats.frames_out = frames_out_;
  stats.frames_dropped = frames_dropped_;
  stats.frames_in_flight = frames_in_flight_;
  stats.frames_in_flight_peak = frames_in_flight_peak_;
  stats.input_pinned_frames = input_pinned_frames_;
  stats.output_pinned_frames = output_pinned_frames_;
  stats.staged_frames = staged_frames_;
  stats.pinned_bytes = budget_->used_bytes();
  stats.pinned_bytes_peak = budget_->peak_bytes();
  stats.registrations = budget_->registrations();
  stats.refusals = budget_->refusals();
  stats.evictions = budget_->evictions();
  stats.times = timing_.times();
  stats.upstream_uses_pool = upstream_uses_pool_;
  const std::lock_guard lock(engine_mutex_);
  stats.transfer_mode = name_of(calibration_.choice.transfer);
  stats.streams = static_cast<guint>(calibration_.choice.stream_count);
  stats.calibration = calibration_;
  stats.bytes_uploaded = finished_.bytes_uploaded;
  stats.bytes_downloaded = finished_.bytes_downloaded;
  stats.staged_bytes = finished_.staged_bytes;
  if (engine_) {
    const stripe::EngineCounters counters = engine_->counters();
    stats.bytes_uploaded += counters.bytes_uploaded;
    stats.bytes_downloaded += counters.bytes_downloaded;
    stats.staged_bytes += counters.staged_bytes;
    stats.pinned_bytes += counters.staging_block_bytes;
    raise_to(staging_peak_bytes_, std::uint64_t{counters.staging_block_bytes});
    stats.stripes_per_frame = static_cast<guint>(counters.stripes_per_frame);
  }
  stats.pinned_bytes_peak += staging_peak_bytes_;
  return stats;
}

}  // namespace gst_stripe
