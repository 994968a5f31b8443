// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <stdexcept>
#include <string>

namespace stripe {

/// What went wrong with a device, in the terms that decide what the caller can do about it.
enum class DeviceErrorKind {
  not_found,             ///< no such device, or none usable: choose another one
  out_of_device_memory,  ///< free device memory, or use smaller frames
  out_of_pinned_memory,  ///< free page-locked memory, or raise the limit
  refused,               ///< this memory can't be page-locked; copy it to memory that can
  failed,                ///< any other failure of the device or its driver
};

/// The one exception that devices, queues, events and the engine throw.
///
/// `what()` is a sentence for the user: it names the call that failed and the driver's own words.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(DeviceErrorKind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}

  DeviceErrorKind kind() const noexcept { return kind_; }

 private:
  DeviceErrorKind kind_;
};

}  // namespace stripe
