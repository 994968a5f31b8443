// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Made-up facts about CUDA, so that every machine's situation is tested on every machine.

#include <string>
#include <utility>
#include <vector>

#include "cuda/backend.h"
#include "support/check.h"

namespace test {

inline const stripe::CudaDeviceEntry h200{0, "NVIDIA H200", 9, 0, ""};
inline const stripe::CudaDeviceEntry titan{1, "TITAN X", 5, 2, "no code for this architecture"};
inline const stripe::CudaDeviceEntry t4{2, "Tesla T4", 7, 5, ""};

inline stripe::CudaFacts with_devices(std::vector<stripe::CudaDeviceEntry> devices) {
  stripe::CudaFacts facts;
  facts.built = true;
  facts.driver_version = 13000;
  facts.toolkit_version = 13000;
  facts.enumeration =
      devices.empty() ? stripe::CudaEnumeration::no_device : stripe::CudaEnumeration::ok;
  facts.devices = std::move(devices);
  return facts;
}

inline stripe::CudaFacts not_built() { return {}; }

inline stripe::CudaFacts no_driver() {
  stripe::CudaFacts facts = with_devices({});
  facts.driver_version = 0;
  // What the runtime says without a driver.
  facts.enumeration = stripe::CudaEnumeration::driver_too_old;
  return facts;
}

inline stripe::CudaFacts old_driver() {
  stripe::CudaFacts facts = with_devices({});
  facts.driver_version = 12040;
  facts.enumeration = stripe::CudaEnumeration::driver_too_old;
  return facts;
}

inline stripe::CudaFacts nothing_visible() {
  stripe::CudaFacts facts = with_devices({});
  facts.visible_devices = "\"7,8\"";
  return facts;
}

inline stripe::CudaFacts enumeration_failed() {
  stripe::CudaFacts facts = with_devices({});
  facts.enumeration = stripe::CudaEnumeration::failed;
  facts.error = "the words of the driver";
  return facts;
}

inline stripe::CudaFacts failed_process() {
  stripe::CudaFacts facts = with_devices({h200});
  facts.failure = "cudaMemcpy2DAsync: an illegal memory access was encountered";
  return facts;
}

inline void expect_in(const std::string& text, const char* word) {
  fail_unless(text.find(word) != std::string::npos, "'%s' is not in: %s", word, text.c_str());
}

}  // namespace test
