// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/doctor/machine.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace doctor {

namespace {

namespace fs = std::filesystem;

// Those that change which device is seen, or whether its work overlaps.
constexpr const char* variables[] = {
    "CUDA_VISIBLE_DEVICES",    "CUDA_DEVICE_ORDER",     "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",     "CUDA_FORCE_PTX_JIT",    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_MPS_PIPE_DIRECTORY", "CUDA_INJECTION64_PATH", "NVIDIA_VISIBLE_DEVICES",
};

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// What stands behind `key` in the first line that begins with it, without quotes.
std::string find_value(const fs::path& file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const auto begin = line.find_first_not_of("\t :=\"", key.size());
    const auto end = line.find_last_not_of(" \"");
    return begin == std::string::npos ? "" : line.substr(begin, end - begin + 1);
  }
  return {};
}

double first_number(const fs::path& file, double otherwise) {
  double number = otherwise;
  return std::ifstream(file) >> number ? number : otherwise;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

fs::path pci_folder(const fs::path& root) { return root / "sys/bus/pci/devices"; }

// Class 3 is display controllers: the audio function of a card is none.
std::vector<std::string> find_nvidia_gpus(const fs::path& root) {
  std::vector<std::string> gpus;
  for (const std::string& name : names_in(pci_folder(root))) {
    const fs::path device = pci_folder(root) / name;
    if (first_line(device / "vendor") == "0x10de" &&
        first_line(device / "class").rfind("0x03", 0) == 0)
      gpus.push_back(name);
  }
  return gpus;
}

int count_numa_nodes(const fs::path& root) {
  const auto names = names_in(root / "sys/devices/system/node");
  const auto count = std::count_if(names.begin(), names.end(), [](const std::string& name) {
    return name.rfind("node", 0) == 0 &&
           name.find_first_not_of("0123456789", 4) == std::string::npos;
  });
  return std::max(1, static_cast<int>(count));
}

std::string describe_system(const fs::path& root) {
  utsname names{};
  uname(&names);
  const std::string distribution = find_value(root / "etc/os-release", "PRETTY_NAME");
  return (distribution.empty() ? "" : distribution + ", ") + names.sysname + " " + names.release +
         " " + names.machine;
}

std::uint64_t memlock_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  return limit.rlim_cur;
}

std::uint64_t memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages < 0 || page_bytes < 0) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

std::vector<Variable> read_environment() {
  std::vector<Variable> found;
  for (const char* name : variables)
    if (const char* value = std::getenv(name)) found.push_back({name, value});
  return found;
}

// A link that is switched off, and one behind a hypervisor, has "Unknown" there, or 0, or 255.
Link read_link(const fs::path& device, const std::string& which) {
  const double lanes = first_number(device / (which + "_link_width"), 0);
  return {first_number(device / (which + "_link_speed"), 0),
          lanes > 64 ? 0 : static_cast<int>(lanes)};
}

}  // namespace

Machine look_at_machine(const fs::path& root) {
  std::error_code error;
  Machine machine;
  machine.system = describe_system(root);
  machine.cpu = find_value(root / "proc/cpuinfo", "model name");
  machine.cpu_count = static_cast<int>(std::thread::hardware_concurrency());
  machine.numa_nodes = count_numa_nodes(root);
  machine.memory_bytes = memory_bytes();
  machine.memlock_bytes = memlock_limit();
  machine.nvidia_gpus = find_nvidia_gpus(root);
  machine.driver_release = first_line(root / "sys/module/nvidia/version");
  machine.has_device_files = fs::exists(root / "dev/nvidiactl", error);
  machine.environment = read_environment();
  return machine;
}

PciFacts look_at_pci(const std::string& pci_bus_id, const fs::path& root) {
  if (pci_bus_id.empty()) return {};
  const fs::path device = pci_folder(root) / pci_bus_id;
  return {read_link(device, "current"), read_link(device, "max"),
          static_cast<int>(first_number(device / "numa_node", -1))};
}

}  // namespace doctor
