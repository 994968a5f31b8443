// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine.h"

#include <sys/utsname.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <thread>

#include "cuda/backend.h"

namespace benchmark {

namespace {

std::string trim(const std::string& text) {
  constexpr const char* around = " \t\n\"";
  const std::size_t begin = text.find_first_not_of(around);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(around) - begin + 1);
}

// The value behind `key` and `separator` in a file of such lines.
std::string find_value(const char* file, const std::string& key, char separator) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(separator);
    if (at != std::string::npos && trim(line.substr(0, at)) == key)
      return trim(line.substr(at + 1));
  }
  return {};
}

// The CUDA runtime doesn't tell it, and containers hide /proc/driver/nvidia.
std::string driver_release() {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      popen("nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null", "r"),
      pclose);
  char line[64];
  return pipe && std::fgets(line, sizeof line, pipe.get()) ? trim(line) : std::string();
}

// CUDA counts versions as 1000 * major + 10 * minor.
std::string cuda_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

Machine describe_machine(const stripe::DeviceInfo& device) {
  Machine machine{};
  machine.backend = device.backend;
  machine.device = device.name;
  if (device.backend == "cuda") {
    const stripe::CudaFacts facts = stripe::cuda_facts();
    machine.driver = driver_release();
    machine.cuda_driver = cuda_version(facts.driver_version);
    machine.cuda_runtime = cuda_version(facts.toolkit_version);
  }
  machine.cpu = find_value("/proc/cpuinfo", "model name", ':');
  machine.cpus = static_cast<int>(std::thread::hardware_concurrency());
  machine.os = find_value("/etc/os-release", "PRETTY_NAME", '=');
  utsname kernel{};
  if (uname(&kernel) == 0)
    machine.kernel = std::string(kernel.sysname) + " " + kernel.release + " " + kernel.machine;
  return machine;
}

}  // namespace benchmark
