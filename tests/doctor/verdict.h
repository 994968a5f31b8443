// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/doctor/examination.h"

namespace doctor {

/// What the examination comes to.
struct Verdict {
  bool usable;
  std::string sentence;
  std::vector<std::string> advice;  ///< what is wrong and what to do, one thing each
};

/// Judges, by the facts alone.
Verdict judge(const Examination& examination);

/// Whether the device that was opened is a CUDA device, and still works.
bool is_usable(const Examination& examination);

/// The entry of the CUDA device that was opened, and what the kernel knows of it; nullptr: none.
const stripe::CudaDeviceEntry* find_opened(const Examination& examination);
PciFacts find_pci(const Examination& examination, int cuda_device_id);

/// Bytes a second and direction that a link can carry, by its encoding, without the overhead of
/// packets; 0: not known.
double link_bytes_per_second(const Link& link);

/// The generation of PCI Express, by its speed; 0: not known.
int link_generation(const Link& link);

}  // namespace doctor
