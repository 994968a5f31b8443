// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What an engine keeps of each frame. For the engine's own sources.

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "cuda/engine.h"

namespace stripe {

// What one frame in flight needs. `busy` hands the slot over between the submitting and the waiting
// thread; all else is the submitting thread's until then.
struct Engine::Slot {
  struct Stream {
    std::unique_ptr<Event> done;
    bool used;
  };

  // One side of the frame: where it lies for the CPU's copies and the copy engines, and where for
  // kernels. They are the same memory where it is mapped.
  struct Side {
    PinnedBlock staging;
    std::unique_ptr<DeviceMemory> memory;
    Image host;
    Image kernel;
    bool copied = false;
  };

  Side input;
  Side output;
  std::vector<Stream> streams;
  std::vector<Rect> stripes;
  std::unique_ptr<Record> record;  // where the frame is timed
  Ticket ticket = 0;               // whose frame it is, while busy
  std::size_t first_stream = 0;
  Time submitted = 0;
  FrameJob job{};
  Operation operation;  // its tables live until the slot's next frame
  std::atomic<bool> busy{false};
};

// What a timed frame leaves behind. It outlives the frame's place in the engine, so that the next
// frame need not wait until the device was asked.
struct Engine::Record {
  // Taken on the stripe's stream before the upload, the kernel and the download, and at the end.
  struct Stamps {
    std::array<std::unique_ptr<Stamp>, 4> at;
  };

  Ticket ticket = 0;
  FrameTimes times;  // without what only the stamps know
  bool input_copied = false;
  bool output_copied = false;
  std::vector<Stamps> stamps;  // at least as many as stripes
};

}  // namespace stripe
