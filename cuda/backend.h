// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/device.h"

namespace stripe {

/// What the user asks for.
enum class Backend {
  automatic,  ///< CUDA where a device is usable, else the host
  cuda,
  host,
};

/// What asking the CUDA driver for its devices gave.
enum class CudaEnumeration { ok, driver_too_old, no_device, failed };

/// One CUDA device that the process can see.
struct CudaDeviceEntry {
  int id;
  std::string name;
  int compute_major;
  int compute_minor;
  std::string problem;             ///< why it can't be used; empty: usable
  std::string pci_bus_id = {};     ///< as sysfs writes it, such as 0000:1b:00.0
  std::uint64_t memory_bytes = 0;  ///< all of its memory
};

/// What is known about CUDA in this process, gathered once.
struct CudaFacts {
  bool built = false;      ///< this build holds CUDA code
  int driver_version = 0;  ///< as CUDA counts: 13000 is 13.0; 0: no driver library
  int toolkit_version = 0;
  CudaEnumeration enumeration = CudaEnumeration::no_device;
  std::string error;            ///< the driver's words where the enumeration failed
  std::string visible_devices;  ///< CUDA_VISIBLE_DEVICES in quotes, empty where unset
  std::vector<CudaDeviceEntry> devices;
  std::string failure;  ///< first sticky error of this process; empty: none
};

/// Gathers the facts; the driver is asked once a process, `failure` is up to date at each call.
///
/// Thread:  any.
/// Errors:  none are thrown; a failure is a fact.
CudaFacts cuda_facts();

/// Why CUDA can't be used, as a sentence for the user; empty where some device is usable.
///
/// Thread:  any, a pure function of `facts`.
std::string why_not_cuda(const CudaFacts& facts);

/// The devices as a list for messages, one clause a device: `0: NVIDIA H200 (sm_90)`.
std::string describe_devices(const CudaFacts& facts);

/// Which device is to be opened: the decision apart from the opening.
struct BackendChoice {
  Backend backend = Backend::host;  ///< cuda or host, never automatic
  int cuda_device_id = -1;          ///< valid for cuda
  std::string fallback_reason;      ///< automatic fell back to the host: why; else empty
};

/// Decides. -1 is the first usable device; the host takes no notice of the id. An id that is not
/// usable is an error, under `automatic` too, except where there is no device at all.
///
/// Errors:  throws DeviceError, not_found, with the reason or the list of devices; failed where
///          CUDA has failed earlier in this process.
BackendChoice choose_backend(Backend wanted, int cuda_device_id, const CudaFacts& facts);

/// Opens what was chosen.
std::shared_ptr<Device> open_device(const BackendChoice& choice);

/// A device, and why it is the host's where `automatic` would rather have had CUDA.
struct OpenedBackend {
  std::shared_ptr<Device> device;
  std::string fallback_reason;
};

/// Chooses and opens. A device that is listed and can't be opened (another process has it for
/// itself, no memory for a context) is passed over where none was asked for by its id.
///
/// Thread:  any.
/// Errors:  as choose_backend and `open`.
OpenedBackend open_backend(
    Backend wanted, int cuda_device_id, CudaFacts facts,
    const std::function<std::shared_ptr<Device>(const BackendChoice&)>& open);
OpenedBackend open_backend(Backend wanted, int cuda_device_id);

}  // namespace stripe
