// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/device.h"

namespace stripe {

/// Opens a CUDA device. Its queues are non-blocking streams; the legacy default stream is never
/// used. Every call leaves the calling thread's current device and context as they were.
///
/// Thread:  any.
/// Errors:  throws DeviceError; not_found in builds without CUDA. After a sticky error (a
///          faulting kernel, a lost device) every call in the process throws, naming the first
///          cause.
/// Source:  CUDA Runtime API; static runtime, so that programs load where no driver is.
std::shared_ptr<Device> open_cuda_device(int id);

/// Page-locked memory of the CUDA driver where a device is usable, else plain aligned memory.
std::unique_ptr<PinnedSource> make_process_pinned_source();

}  // namespace stripe
