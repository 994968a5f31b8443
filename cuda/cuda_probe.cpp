// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#include "cuda/backend.h"
#include "cuda/cuda_error.h"
#include "cuda/cuda_kernels.h"

namespace stripe {

namespace {

// Found out without making a context, which would take memory on every device of the machine.
std::string find_problem(const CudaDeviceEntry& entry, int compute_mode) {
  if (compute_mode == cudaComputeModeProhibited) return "its compute mode is Prohibited";
  const int architecture = 10 * entry.compute_major + entry.compute_minor;
  if (architecture < oldest_cuda_architecture())
    return "this plugin holds no code for its architecture (sm_" +
           std::to_string(oldest_cuda_architecture()) + " or newer is needed)";
  return {};
}

// cudaDeviceGetPCIBusId would write capitals, which sysfs does not.
std::string pci_bus_id(const cudaDeviceProp& properties) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0",
                static_cast<unsigned int>(properties.pciDomainID),
                static_cast<unsigned int>(properties.pciBusID),
                static_cast<unsigned int>(properties.pciDeviceID));
  return text;
}

// A device that can't even be asked is left out; it must not end CUDA on the others.
CudaDeviceEntry describe_device(int id) {
  CudaDeviceEntry entry{id, "unknown device", 0, 0, {}};
  cudaDeviceProp properties;
  int compute_mode = cudaComputeModeDefault;
  cudaError_t status = cudaGetDeviceProperties(&properties, id);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&compute_mode, cudaDevAttrComputeMode, id);
  if (status != cudaSuccess) {
    entry.problem = cudaGetErrorString(status);
    cudaGetLastError();
    return entry;
  }
  entry.name = properties.name;
  entry.compute_major = properties.major;
  entry.compute_minor = properties.minor;
  entry.pci_bus_id = pci_bus_id(properties);
  entry.memory_bytes = properties.totalGlobalMem;
  entry.problem = find_problem(entry, compute_mode);
  return entry;
}

CudaEnumeration enumeration_of(cudaError_t status) {
  switch (status) {
    case cudaSuccess:
      return CudaEnumeration::ok;
    case cudaErrorInsufficientDriver:
      return CudaEnumeration::driver_too_old;
    case cudaErrorNoDevice:
      return CudaEnumeration::no_device;
    default:
      return CudaEnumeration::failed;
  }
}

CudaFacts gather_facts() {
  CudaFacts facts;
  facts.built = true;
  facts.toolkit_version = CUDART_VERSION;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"))
    facts.visible_devices.append("\"").append(visible).append("\"");
  // 0 and success where there is no driver library
  if (cudaDriverGetVersion(&facts.driver_version) != cudaSuccess) facts.driver_version = 0;
  if (facts.driver_version == 0) return facts;
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  facts.enumeration = enumeration_of(status);
  if (status != cudaSuccess) {
    facts.error = cudaGetErrorString(status);
    cudaGetLastError();
    return facts;
  }
  for (int id = 0; id < count; ++id) facts.devices.push_back(describe_device(id));
  return facts;
}

}  // namespace

CudaFacts cuda_facts() {
  static const auto* const gathered = new CudaFacts(gather_facts());
  CudaFacts facts = *gathered;
  facts.failure = cuda_failure();
  return facts;
}

}  // namespace stripe
