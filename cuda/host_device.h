// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/device.h"

namespace stripe {

/// The CPU as a device: each queue is a worker thread, so queues, events and frames in flight are
/// real concurrency; "device memory" is ordinary memory.
///
/// Thread:  any.
/// Errors:  a queue whose thread cannot be started throws DeviceError, failed.
std::shared_ptr<Device> open_host_device();

}  // namespace stripe
