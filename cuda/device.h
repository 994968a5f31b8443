// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cuda/error.h"
#include "cuda/host_clock.h"
#include "cuda/image.h"
#include "cuda/operation.h"
#include "cuda/pinned.h"

namespace stripe {

/// Memory of a device; freed when destroyed, by which time nothing may use it any more.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// An address for kernels and copies of that device; not for the CPU. Aligned to 256 bytes.
  virtual std::byte* data() const noexcept = 0;
};

/// How to wait for something that is expected at about a certain time: sleep until shortly before,
/// look again and again for a while, and only then doze, looking now and then.
///
/// Units:   nanoseconds, on the host's clock; zeros where nothing is known.
struct WaitPlan {
  Time sleep_until = 0;
  Time spin = 0;  ///< how long at most, after waking
  Time nap = 0;   ///< how long to doze at least between two looks
};

/// What became of a plan.
struct Waited {
  bool was_late = false;  ///< it had passed before anybody looked
  bool slept = false;
  Time overslept = 0;  ///< how long after the planned time the thread woke
  bool dozed = false;  ///< it had not passed when the planned spinning was over
  Time last_nap = 0;   ///< of dozing: so much earlier it may have passed
};

/// A point in a queue's work that the CPU can wait for.
///
/// Owner:   the caller; an event may go while a queue still has to pass its mark.
/// Thread:  record from one thread at a time; wait from any.
class Event {
 public:
  virtual ~Event() = default;

  /// Returns once everything before the last Queue::record of this event is done; at once if it
  /// was never recorded. Spins for no longer than `plan` says; a device whose own wait wakes in
  /// time has no use for it.
  /// Errors:  throws DeviceError; it may name a failure of any work queued earlier.
  virtual Waited wait(const WaitPlan& plan = {}) = 0;
};

/// A point in a queue's work whose time is taken when the queue passes it.
///
/// Owner:   the caller; alive until the queue has passed it.
class Stamp {
 public:
  virtual ~Stamp() = default;
};

/// Tells when stamps were passed, on the host's clock.
///
/// Thread:  one at a time.
/// Errors:  throws DeviceError.
class DeviceClock {
 public:
  virtual ~DeviceClock() = default;

  /// Sets the device's clock by the host's: what is told until the next call is right to some
  /// microseconds. Waits for the device for about as long.
  virtual void anchor() = 0;

  /// When a stamp was passed; it is known to have been.
  virtual Time time_of(const Stamp& stamp) = 0;

  /// Moves what it tells from now on by so much: the caller knows better.
  virtual void adjust(Time by) noexcept = 0;
};

/// Which way a copy goes; `on_device`: from the device's memory to the device's memory.
enum class CopyDirection { upload, download, on_device };

/// Rows of bytes to copy between host and device memory, or within the device's.
///
/// Units:   bytes; `row_bytes` and `rows` at least 1, pitches positive and at least `row_bytes`
///          where there is more than one row. A single row's pitches mean nothing.
/// Owner:   the caller keeps both sides alive until the queue has passed the copy.
struct CopyJob {
  std::byte* to;
  std::ptrdiff_t to_pitch_bytes;
  const std::byte* from;
  std::ptrdiff_t from_pitch_bytes;
  std::size_t row_bytes;
  std::size_t rows;
  CopyDirection direction;
};

/// A stripe for a kernel: the same layout and rectangle in both images, each of which lies in
/// device memory or is reached by Device::mapped_address.
///
/// Units:   `area` in luma samples of the whole picture that `input` and `output` view. Pitches may
///          be negative.
/// Owner:   the caller keeps both images' memory alive until the queue has passed the kernel. The
///          images do not overlap.
struct KernelJob {
  PixelLayout layout;
  ConstImage input;
  Image output;
  Rect area;
  bool over_link = false;  ///< an image lies behind a link, as slow as which the kernel is
};

/// Work in order: each piece begins when the one before is done. Several queues of a device run
/// beside each other.
///
/// Thread:  one at a time; synchronize from any, beside the others.
/// Errors:  each call throws DeviceError, and has then queued nothing.
class Queue {
 public:
  /// Waits for the work that is still queued; never throws.
  virtual ~Queue() = default;

  /// Queues a copy. From page-locked memory it runs beside the caller and other queues.
  virtual void copy(const CopyJob& job) = 0;

  /// Queues `operation` on the stripe. The caller keeps it, or a copy, until the queue has passed
  /// the kernel: tables go with the last one.
  virtual void launch(const Operation& operation, const KernelJob& job) = 0;

  /// Marks this point of the queue; an earlier mark of the same event is forgotten.
  virtual void record(Event& event) = 0;

  /// Takes the time at this point of the queue.
  virtual void stamp(Stamp& stamp) = 0;

  /// Returns when the queue is empty.
  virtual void synchronize() = 0;
};

/// Memory of somebody else's that is page-locked while this lives.
///
/// Owner:   whoever asked; destroyed before the memory is freed, and when no copy uses it any
///          more.
/// Thread:  any.
class PageLock {
 public:
  virtual ~PageLock() = default;

  /// Unlocks it before its time to be destroyed. False where the driver refuses: then its address
  /// stays registered, and copies from other memory that comes to lie there deliver these bytes.
  virtual bool unlock() noexcept { return true; }
};

/// What a device is, for people.
struct DeviceInfo {
  std::string backend;         ///< "cuda" or "host"
  std::string name;            ///< for CUDA the product's name
  bool shares_memory = false;  ///< the CPU's memory is its own: copying there gains nothing
  int copy_engines = 0;        ///< copies that run beside each other and beside kernels
  int id = 0;                  ///< which of the backend's devices
};

/// A device and what it offers: memory, in-order queues, events, kernels.
///
/// Thread:  any. What it makes keeps whatever of the device it needs alive.
/// Errors:  throws DeviceError.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const noexcept = 0;
  virtual std::unique_ptr<DeviceMemory> allocate(std::size_t size_bytes) = 0;
  virtual std::unique_ptr<Queue> create_queue() = 0;
  virtual std::unique_ptr<Event> create_event() = 0;
  virtual std::unique_ptr<Stamp> create_stamp() = 0;
  virtual std::unique_ptr<DeviceClock> create_clock() = 0;

  /// Where blocks come from that this device copies from and to without waiting.
  ///
  /// Owner:   the process; it outlives every device.
  virtual PinnedCache& pinned() noexcept = 0;

  /// A block of pinned().
  virtual PinnedBlock allocate_pinned(std::size_t size_bytes) {
    return pinned().acquire(size_bytes);
  }

  /// Whether copies depend on page-locked memory; the CPU's own don't.
  virtual bool needs_page_lock() const noexcept = 0;

  /// Whether memory that somebody else allocated is page-locked for this device, from end to end.
  /// The host device knows of none.
  virtual bool is_page_locked(const std::byte* data, std::size_t size_bytes) const noexcept = 0;

  /// Page-locks memory that somebody else allocated, from end to end. On the host device this is
  /// bookkeeping.
  ///
  /// Units:   bytes; `data` need not be on a page. `read_only`: its pages can't be written.
  /// Errors:  throws DeviceError, refused, where this memory can't be, or no more may be.
  /// Source:  CUDA Runtime API, cudaHostRegister.
  virtual std::unique_ptr<PageLock> page_lock(const std::byte* data, std::size_t size_bytes,
                                              bool read_only) = 0;

  /// Where kernels of this device find host memory that is page-locked for it; nullptr where they
  /// can't reach it. The host device reaches all memory.
  ///
  /// Source:  CUDA Runtime API, cudaHostGetDevicePointer.
  virtual std::byte* mapped_address(const std::byte* host) const noexcept = 0;

  /// Loads the kernels that `operation` needs, so that the first frame does not pay for it, and
  /// gives it this device's copies of its tables. Those live as long as the operation or a copy of
  /// it, and were waited for. An operation with tables runs only where it was prepared.
  virtual void prepare(Operation& operation) = 0;
};

}  // namespace stripe
