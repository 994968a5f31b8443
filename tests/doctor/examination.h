// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the doctor found out, as plain data: report and verdict are made of nothing else.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cuda/backend.h"
#include "cuda/calibration.h"
#include "cuda/device.h"

namespace doctor {

/// A frame that is copied up and down, 4 bytes a pixel.
struct FrameSize {
  const char* name;
  int width;
  int height;

  constexpr std::size_t size_bytes() const {
    return std::size_t{4} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

inline constexpr int depths[] = {1, 3};  ///< frames in flight
inline constexpr FrameSize frame_sizes[] = {{"1080p RGBA", 1920, 1080}, {"2160p RGBA", 3840, 2160}};

/// One state of a PCI Express link. 0: not known.
struct Link {
  double gigatransfers = 0;  ///< a second and lane, such as 32
  int lanes = 0;
};

/// What the kernel knows of a PCI device.
struct PciFacts {
  Link now;
  Link most;           ///< what the device could do
  int numa_node = -1;  ///< -1: not known, or there is only one
};

/// A variable of the environment.
struct Variable {
  std::string name;
  std::string value;
};

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// The machine, apart from what CUDA says.
struct Machine {
  std::string system;  ///< distribution, kernel, architecture
  std::string cpu;     ///< the product's name
  int cpu_count = 0;   ///< that this process may use
  int numa_nodes = 1;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memlock_bytes = unlimited;
  std::vector<std::string> nvidia_gpus;  ///< PCI addresses
  std::string driver_release;            ///< of the loaded kernel module; empty: none is loaded
  bool has_device_files = false;         ///< /dev/nvidiactl is there
  std::vector<Variable> environment;     ///< what is set and matters
};

/// How long something takes, or why it did not work.
struct Timing {
  double us = 0;
  std::string failure;
};

/// A frame up, a frame down, and one each way at once.
struct CopyTimes {
  Timing upload;
  Timing download;
  Timing both;
};

/// What was measured with one of `frame_sizes`.
struct FrameTimes {
  CopyTimes page_locked;
  CopyTimes pageable;
  Timing page_lock;
  Timing page_unlock;
};

/// All copies of a frame, for those who look for failures.
inline std::array<const Timing*, 6> copies_of(const FrameTimes& times) {
  return {&times.page_locked.upload, &times.page_locked.download, &times.page_locked.both,
          &times.pageable.upload,    &times.pageable.download,    &times.pageable.both};
}

/// Everything that the report is made of.
struct Examination {
  std::string version;            ///< of the plugin
  std::string gstreamer_version;  ///< that it was built against
  Machine machine;
  stripe::CudaFacts facts;
  std::vector<PciFacts> pci;                 ///< of the devices in `facts`, in their order
  std::optional<stripe::DeviceInfo> device;  ///< what backend=auto opens; nothing: it fails
  int cuda_device_id = -1;                   ///< of `device`; -1: not a CUDA device
  std::string reason;                        ///< why `device` is not a CUDA device
  std::vector<FrameTimes> times;             ///< of `frame_sizes`; empty: not measured
  /// What the element finds out by trying, of `frame_sizes` with each of `depths`; empty: not tried.
  std::vector<stripe::Calibration> calibrations;
};

}  // namespace doctor
