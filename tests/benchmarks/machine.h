// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/device.h"

namespace benchmark {

// Where figures were measured. Empty: not known, or there is no such thing.
struct Machine {
  std::string backend;
  std::string device;
  std::string driver;        // NVIDIA's release, such as 580.95.05
  std::string cuda_driver;   // the newest CUDA that the driver supports
  std::string cuda_runtime;  // the CUDA that this was built with
  std::string cpu;
  int cpus;  // that this process may use
  std::string os;
  std::string kernel;
  std::string gstreamer;  // where it plays a part
};

Machine describe_machine(const stripe::DeviceInfo& device);

}  // namespace benchmark
