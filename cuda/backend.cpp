// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/backend.h"

#include <algorithm>

#include "cuda/cuda_device.h"
#include "cuda/host_device.h"

namespace stripe {

namespace {

// CUDA counts versions as 1000 * major + 10 * minor.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

const CudaDeviceEntry* find_usable(const CudaFacts& facts, int id) {
  const auto found =
      std::find_if(facts.devices.begin(), facts.devices.end(), [id](const CudaDeviceEntry& entry) {
        return entry.problem.empty() && (id < 0 || entry.id == id);
      });
  return found == facts.devices.end() ? nullptr : &*found;
}

std::string no_device_reason(const CudaFacts& facts) {
  std::string reason = "the driver shows no CUDA device to this process";
  if (!facts.visible_devices.empty())
    reason += " (CUDA_VISIBLE_DEVICES=" + facts.visible_devices + "; unset it or name another)";
  return reason;
}

std::string too_old_reason(const CudaFacts& facts) {
  return "the CUDA driver is too old: it supports CUDA " + version_text(facts.driver_version) +
         ", this plugin was built with " + version_text(facts.toolkit_version) +
         "; update the NVIDIA driver";
}

bool has_no_device_at_all(const CudaFacts& facts) { return facts.devices.empty(); }

}  // namespace

std::string why_not_cuda(const CudaFacts& facts) {
  if (!facts.built) return "this plugin was built without CUDA";
  if (!facts.failure.empty())
    return "CUDA failed earlier in this process and cannot be used again: " + facts.failure;
  if (facts.driver_version == 0)
    return "no CUDA driver library (libcuda.so.1) was found; install the NVIDIA driver";
  switch (facts.enumeration) {
    case CudaEnumeration::driver_too_old:
      return too_old_reason(facts);
    case CudaEnumeration::no_device:
      return no_device_reason(facts);
    case CudaEnumeration::failed:
      return "the CUDA driver could not list its devices: " + facts.error;
    case CudaEnumeration::ok:
      break;
  }
  if (facts.devices.empty()) return no_device_reason(facts);
  if (find_usable(facts, -1)) return {};
  return "no CUDA device can be used: " + describe_devices(facts);
}

std::string describe_devices(const CudaFacts& facts) {
  if (facts.devices.empty()) return "none";
  std::string list;
  for (const CudaDeviceEntry& entry : facts.devices) {
    if (!list.empty()) list += "; ";
    list += std::to_string(entry.id) + ": " + entry.name + " (sm_" +
            std::to_string(entry.compute_major) + std::to_string(entry.compute_minor) + ")";
    if (!entry.problem.empty()) list += ", " + entry.problem;
  }
  return list;
}

BackendChoice choose_backend(Backend wanted, int cuda_device_id, const CudaFacts& facts) {
  if (wanted == Backend::host) return {};
  const std::string reason = why_not_cuda(facts);
  if (!facts.failure.empty()) throw DeviceError(DeviceErrorKind::failed, reason);
  const bool wants_id = cuda_device_id >= 0;
  if (!reason.empty()) {
    const bool may_fall_back = !wants_id || has_no_device_at_all(facts);
    if (wanted == Backend::automatic && may_fall_back) return {Backend::host, -1, reason};
    throw DeviceError(DeviceErrorKind::not_found, reason);
  }
  const CudaDeviceEntry* entry = find_usable(facts, wants_id ? cuda_device_id : -1);
  if (!entry)
    throw DeviceError(DeviceErrorKind::not_found,
                      "CUDA device " + std::to_string(cuda_device_id) +
                          " cannot be used; the devices are: " + describe_devices(facts));
  return {Backend::cuda, entry->id, {}};
}

OpenedBackend open_backend(
    Backend wanted, int cuda_device_id, CudaFacts facts,
    const std::function<std::shared_ptr<Device>(const BackendChoice&)>& open) {
  for (;;) {
    const BackendChoice choice = choose_backend(wanted, cuda_device_id, facts);
    try {
      return {open(choice), choice.fallback_reason};
    } catch (const DeviceError& error) {
      facts.failure = cuda_facts().failure;
      if (choice.backend == Backend::host || cuda_device_id >= 0 || !facts.failure.empty()) throw;
      // With this one struck off, the next choice is the next device, or says why there is none.
      for (CudaDeviceEntry& entry : facts.devices)
        if (entry.id == choice.cuda_device_id) entry.problem = error.what();
    }
  }
}

OpenedBackend open_backend(Backend wanted, int cuda_device_id) {
  return open_backend(wanted, cuda_device_id, cuda_facts(), open_device);
}

std::shared_ptr<Device> open_device(const BackendChoice& choice) {
  if (choice.backend == Backend::host) return open_host_device();
  return open_cuda_device(choice.cuda_device_id);
}

}  // namespace stripe
