// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/choice.h"
#include "cuda/copy_pool.h"
#include "cuda/device.h"
#include "cuda/forecast.h"
#include "cuda/frame_layout.h"
#include "cuda/frame_times.h"
#include "cuda/image.h"
#include "cuda/operation.h"
#include "cuda/plan.h"

namespace stripe {

/// What all frames of an engine have in common.
///
/// Units:   luma samples, at least 1 x 1.
struct FrameShape {
  PixelLayout layout;
  int width;
  int height;
  bool interlaced = false;
};

/// What is fixed for an engine's life.
struct EngineOptions {
  int stream_count = 3;  ///< queues, at least 1
  int depth = 1;         ///< most frames in flight, at least 1
  Transfer transfer = Transfer::copy;
  /// Mapped also where an operation goes block by block, or sample by sample, which is slow over a
  /// link; false: such frames are copied.
  bool map_blocks = true;
};

/// What may change from one frame to the next; taken as it is at submit.
struct FrameParameters {
  StripeLayout stripe_layout = StripeLayout::rows;
  int stripe_count = 1;  ///< clamped to what the frame can be cut into
  Operation operation;
  bool timed = false;  ///< when what was done can be read after wait; costs some microseconds
};

/// Whether the device works on a frame's host memory itself.
enum class HostAccess {
  direct,  ///< where it lies: page-locked memory, or copies are not asynchronous
  staged,  ///< by way of a page-locked block of the engine's, copied on the CPU by several threads
};

/// A frame to read and one to write.
///
/// Owner:   the caller keeps both until Engine::wait of the ticket has returned. They must not
///          overlap.
/// Units:   pitches of directly accessed planes are positive and at least a row; where the device
///          shares the CPU's memory and the engine maps it, any will do.
struct FrameJob {
  ConstImage input;
  HostAccess input_access;
  Image output;
  HostAccess output_access;
  bool input_is_one_memory = false;  ///< one allocation or registration holds all its planes
  bool output_is_one_memory = false;
};

/// Names a submitted frame. Tickets count up from 0.
using Ticket = std::uint64_t;

/// What an engine has done so far.
struct EngineCounters {
  std::uint64_t frames_submitted = 0;
  std::uint64_t frames_finished = 0;
  std::uint64_t bytes_uploaded = 0;
  std::uint64_t bytes_downloaded = 0;
  std::uint64_t staged_bytes = 0;       ///< copied on the CPU, both ways
  std::size_t staging_block_bytes = 0;  ///< page-locked, held now
  int stripes_per_frame = 0;            ///< of the last frame
  std::uint64_t allocations = 0;        ///< memory, streams, events and stamps that were made
  std::uint64_t waits = 0;              ///< calls that came back only when the device was done
};

/// Frames in, tickets out: cuts each frame into stripes and runs upload, kernel and download of
/// stripe k of frame f with n stripes on queue (f * n + k) mod stream_count. A side of a frame that
/// is to be mapped and that the device's kernels can't reach is copied.
///
/// Thread:  submit from one thread at a time, wait from one thread at a time; both may run at
///          once, and counters() beside them.
/// Errors:  DeviceError. Once submit and wait have returned after the first one, nothing of the
///          engine's uses any frame any more; both throw that error again. Other exceptions are
///          the caller's mistakes, and change nothing.
class Engine {
 public:
  /// Allocates everything that frames in the steady state need; only staging blocks, what timing
  /// takes, and in an engine that maps device memory, are taken when a frame first needs them.
  Engine(std::shared_ptr<Device> device, const FrameShape& shape, const EngineOptions& options);
  Engine(const Engine&) = delete;

  /// Waits until the device is done with every frame.
  ~Engine();

  /// Starts a frame. Input that is staged is read before this returns.
  /// Errors:  throws std::logic_error when `depth` frames were not waited for yet.
  Ticket submit(const FrameJob& job, const FrameParameters& parameters);

  /// Returns when the frame's output is complete. Every ticket is waited for once, in order.
  /// Errors:  throws std::logic_error for a ticket that is not in flight.
  void wait(Ticket ticket);

  /// When what was done with a frame that was submitted to be timed, and was waited for; nothing of
  /// others, and of one that as many as may be in flight were waited for after. For the waiting
  /// thread, when it has nothing more urgent to do: asking the device takes some ten microseconds.
  /// The frame's number and push are left to the caller.
  /// Errors:  throws DeviceError, which is no failure of the engine.
  std::optional<FrameTimes> read_times(Ticket ticket);

  /// Makes `operation` ready for this engine's device, as Device::prepare does; submit does not. An
  /// error leaves the engine as it was.
  /// Thread:  any, beside submit and wait.
  void prepare(Operation& operation);

  EngineCounters counters() const noexcept;

 private:
  struct Slot;
  struct Record;

  void start_frame(Slot& slot, const FrameJob& job, const FrameParameters& parameters);
  void hold_sides(Slot& slot, const FrameJob& job, const Operation& operation);
  bool may_map(const Operation& operation) const noexcept;
  Image find_kernel_side(const Image& host, bool map, std::unique_ptr<DeviceMemory>& memory,
                         bool& copied);
  void start_stripe(Slot& slot, std::size_t number, Queue& queue);
  std::unique_ptr<Record> begin_record();
  void end_record(Slot& slot, Ticket ticket, Time wait_begin);
  void read_stamps(Record& record);
  void set_stripe(Record& record, std::size_t number, std::array<Time, 4> at);
  void keep_unused(std::unique_ptr<Record> record);
  void stage(CopyPool& pool, const CopyJob& job, Slot& slot);
  void stage_input(Slot& slot, const Rect& stripe);
  void upload(Queue& queue, const Slot& slot, const Rect& stripe);
  void download(Queue& queue, const Slot& slot, const Rect& stripe);
  std::uint64_t copy_stripe(Queue& queue, const Image& to, const Image& from, const Rect& stripe,
                            CopyDirection direction, bool one_memory);
  void finish_frame(Slot& slot, int behind);
  void wait_for_streams(Slot& slot, int behind);
  void copy_staged_output(Slot& slot, const Rect& stripe);
  Image hold_staging(PinnedBlock& block, std::unique_ptr<CopyPool>& pool);
  void update_plan(const FrameParameters& parameters);
  [[noreturn]] void fail(const std::exception& cause);
  void throw_if_failed();
  void drain_queues() noexcept;

  const std::shared_ptr<Device> device_;
  const FrameShape shape_;
  const FrameLayout layout_;  // of blocks in device memory, and of those that frames are staged in
  const Transfer transfer_;
  const bool map_blocks_;

  // Used by the submitting thread alone.
  std::vector<Rect> stripes_;
  StripeLayout plan_layout_ = StripeLayout::rows;
  int plan_count_ = 0;
  Ticket next_ticket_ = 0;

  std::mutex failure_mutex_;  // a leaf; guards failure_
  std::optional<DeviceError> failure_;

  std::atomic<std::uint64_t> frames_submitted_{0};
  std::atomic<std::uint64_t> frames_finished_{0};
  std::atomic<std::uint64_t> bytes_uploaded_{0};
  std::atomic<std::uint64_t> bytes_downloaded_{0};
  std::atomic<std::uint64_t> staged_bytes_{0};
  std::atomic<std::size_t> staging_block_bytes_{0};
  std::atomic<int> stripes_per_frame_{0};
  std::atomic<std::uint64_t> allocations_{0};
  std::atomic<std::uint64_t> waits_{0};

  // Made when a frame is first staged: one for the submitting thread, one for the waiting one.
  std::unique_ptr<CopyPool> input_pool_;
  std::unique_ptr<CopyPool> output_pool_;

  Forecast forecast_;                 // the waiting thread's
  std::size_t forecast_stripes_ = 0;  // of a frame: how many the forecast is for

  // Made when a frame is first timed, and kept for the next ones.
  std::unique_ptr<DeviceClock> clock_;
  std::deque<std::unique_ptr<Record>> finished_;  // the waiting thread's: of frames not yet read
  std::vector<Time> stream_times_;  // the waiting thread's: the last one of each stream
  std::mutex records_mutex_;        // a leaf; guards unused_
  std::vector<std::unique_ptr<Record>> unused_;

  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<Queue>> queues_;  // destroyed first: their work uses the slots
};

}  // namespace stripe
