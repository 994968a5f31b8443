// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/doctor/report.h"

#include <algorithm>

#include "cuda/choice.h"
#include "tests/doctor/text.h"
#include "tests/doctor/verdict.h"

namespace doctor {

namespace {

constexpr std::size_t label_columns = 24;
constexpr std::size_t way_columns = 16;
constexpr std::size_t figure_columns = 12;

std::string row(const std::string& label, const std::string& value) {
  return field("  " + label, value, label_columns);
}

// Begins a part of the report; `columns` stand above those of its table.
std::string heading(const char* title, const std::string& columns = {}) {
  std::string text = "\n";
  text += columns.empty() ? title : left(title, label_columns + way_columns) + columns;
  return text + "\n";
}

std::string in_mb(std::size_t size_bytes) {
  return fixed(1e-6 * static_cast<double>(size_bytes), 1) + " MB";
}

std::string build_text(const Examination& examination) {
  const std::string cuda = examination.facts.built
                               ? "with CUDA " + version_text(examination.facts.toolkit_version)
                               : "without CUDA";
  return cuda + ", against GStreamer " + examination.gstreamer_version;
}

std::string cpu_text(const Machine& machine) {
  return std::to_string(machine.cpu_count) + " CPUs" +
         (machine.cpu.empty() ? "" : " (" + machine.cpu + ")") + ", " +
         bytes_text(machine.memory_bytes) + ", " + std::to_string(machine.numa_nodes) +
         (machine.numa_nodes == 1 ? " NUMA node" : " NUMA nodes");
}

std::string environment_text(const Machine& machine) {
  std::string text;
  for (const Variable& variable : machine.environment)
    text += (text.empty() ? "" : " ") + variable.name + "=\"" + variable.value + "\"";
  return text.empty() ? "nothing is set that concerns CUDA" : text;
}

std::string describe_machine(const Examination& examination) {
  const Machine& machine = examination.machine;
  return "cudastripetransform " + examination.version + "\n" +
         row("built", build_text(examination)) + row("system", machine.system) +
         row("machine", cpu_text(machine)) +
         row("locked memory limit", bytes_text(machine.memlock_bytes) + " (ulimit -l)") +
         row("environment", environment_text(machine));
}

std::string driver_text(const Examination& examination) {
  const stripe::CudaFacts& facts = examination.facts;
  const std::string& release = examination.machine.driver_release;
  std::string text = release.empty() ? "no kernel module is loaded" : "release " + release;
  if (!facts.built) return text;
  text += facts.driver_version == 0 ? ", no libcuda.so.1"
                                    : ", supports CUDA " + version_text(facts.driver_version);
  return text + "; this build needs " + major_version_text(facts.toolkit_version) + " or newer";
}

std::string gpus_text(const Machine& machine) {
  std::string text;
  for (const std::string& address : machine.nvidia_gpus)
    text += (text.empty() ? "" : " ") + address;
  return text.empty() ? "none of NVIDIA" : text;
}

std::string describe_driver(const Examination& examination) {
  return heading("Driver") + row("NVIDIA driver", driver_text(examination)) +
         row("GPUs on the PCI bus", gpus_text(examination.machine));
}

std::string link_text(const Link& link) {
  if (link.lanes == 0) return "unknown";
  const int generation = link_generation(link);
  return "PCIe " + (generation == 0 ? "?" : std::to_string(generation)) + " x" +
         std::to_string(link.lanes);
}

// An idle device slows its link down: before any work that is no fault.
std::string links_text(const PciFacts& pci, bool worked) {
  if (pci.now.lanes == 0 && pci.most.lanes == 0) return "unknown, /sys does not tell";
  const std::string most = ", " + link_text(pci.most) + " at most";
  if (!worked && link_generation(pci.now) < link_generation(pci.most))
    return link_text(pci.now) + " while idle" + most;
  const double carries = link_bytes_per_second(pci.now);
  return link_text(pci.now) + " now" + most +
         (carries == 0 ? "" : "; carries " + fixed(1e-9 * carries, 1) + " GB/s each way");
}

std::string architecture_text(const stripe::CudaDeviceEntry& entry) {
  return "sm_" + std::to_string(entry.compute_major) + std::to_string(entry.compute_minor);
}

std::string memory_text(const stripe::CudaDeviceEntry& entry) {
  return entry.memory_bytes == 0 ? "unknown memory" : bytes_text(entry.memory_bytes);
}

// The device that was opened, on lines of their own.
std::string describe_opened(const stripe::CudaDeviceEntry& entry, const stripe::DeviceInfo& info,
                            const PciFacts& pci, bool worked) {
  const std::string node = pci.numa_node < 0 ? "" : ", NUMA node " + std::to_string(pci.numa_node);
  return row("device " + std::to_string(entry.id),
             entry.name + ", " + architecture_text(entry) + ", examined") +
         row("  memory",
             memory_text(entry) + (info.shares_memory ? ", shared with the CPU" : " of its own")) +
         row("  copy engines", std::to_string(info.copy_engines)) +
         row("  PCI", (entry.pci_bus_id.empty() ? "unknown" : entry.pci_bus_id) + node) +
         row("  link", links_text(pci, worked));
}

std::string describe_other(const stripe::CudaDeviceEntry& entry, const PciFacts& pci) {
  std::string text = entry.name + ", " + architecture_text(entry);
  if (!entry.problem.empty())
    text += ": cannot be used, " + entry.problem;
  else
    text += ", " + memory_text(entry) + ", " + link_text(pci.now) + " of " + link_text(pci.most);
  return row("device " + std::to_string(entry.id), text);
}

std::string describe_devices(const Examination& examination) {
  const stripe::CudaDeviceEntry* opened = find_opened(examination);
  std::string text = heading("CUDA devices");
  for (const stripe::CudaDeviceEntry& entry : examination.facts.devices) {
    const PciFacts pci = find_pci(examination, entry.id);
    text += &entry == opened
                ? describe_opened(entry, *examination.device, pci, !examination.times.empty())
                : describe_other(entry, pci);
  }
  if (examination.facts.devices.empty()) text += "  none\n";
  return text;
}

// Both in GB/s are the same bytes: the ratio is that of the times.
std::string copy_row(const std::string& size, const char* way, std::size_t size_bytes,
                     const Timing& page_locked, const Timing& pageable) {
  const auto rate = [&](const Timing& timing) {
    return timing.failure.empty() ? fixed(1e-3 * static_cast<double>(size_bytes) / timing.us, 1)
                                  : std::string("failed");
  };
  const bool both = page_locked.failure.empty() && pageable.failure.empty();
  return left("  " + size, label_columns) + left(way, way_columns) +
         right(rate(page_locked), figure_columns) + right(rate(pageable), figure_columns) +
         right(both ? fixed(page_locked.us / pageable.us, 2) : "-", figure_columns) + "\n";
}

std::string page_lock_row(const FrameTimes& times) {
  if (!times.page_lock.failure.empty()) return row("", "page-locking a frame: failed");
  std::string text = "page-locking a frame: " + fixed(1e-3 * times.page_lock.us, 2) +
                     " ms, unlocking: " + fixed(1e-3 * times.page_unlock.us, 2) + " ms";
  if (times.page_locked.upload.failure.empty())
    text += ": as long as " +
            fixed((times.page_lock.us + times.page_unlock.us) / times.page_locked.upload.us, 1) +
            " uploads";
  return row("", text);
}

std::string describe_times(const FrameSize& size, const FrameTimes& times) {
  const std::size_t bytes = size.size_bytes();
  const CopyTimes& locked = times.page_locked;
  const CopyTimes& pageable = times.pageable;
  return copy_row(size.name, "upload", bytes, locked.upload, pageable.upload) +
         copy_row(in_mb(bytes), "download", bytes, locked.download, pageable.download) +
         copy_row("", "both at once", bytes, locked.both, pageable.both) + page_lock_row(times);
}

// Each once.
std::vector<std::string> find_failures(const std::vector<FrameTimes>& all) {
  std::vector<std::string> failures;
  const auto add = [&](const Timing& timing) {
    if (!timing.failure.empty() &&
        std::find(failures.begin(), failures.end(), timing.failure) == failures.end())
      failures.push_back(timing.failure);
  };
  for (const FrameTimes& times : all) {
    for (const Timing* timing : copies_of(times)) add(*timing);
    add(times.page_lock);
  }
  return failures;
}

std::string describe_copies(const Examination& examination) {
  if (examination.times.empty()) return {};
  std::string text = heading("Copies, GB/s each way", right("page-locked", figure_columns) +
                                                          right("pageable", figure_columns) +
                                                          right("ratio", figure_columns));
  for (std::size_t i = 0; i < examination.times.size(); ++i)
    text += describe_times(frame_sizes[i], examination.times[i]);
  for (const std::string& failure : find_failures(examination.times))
    text += row("failed", failure);
  return text;
}

std::string choice_row(const FrameSize& size, int depth, const stripe::Choice& choice) {
  return left(std::string("  ") + size.name, label_columns) +
         left("async-depth=" + std::to_string(depth), way_columns) +
         right(std::to_string(choice.stream_count), figure_columns) +
         right(std::to_string(choice.stripe_count), figure_columns) +
         right(stripe::name_of(choice.transfer), figure_columns) + "\n";
}

std::string describe_choice(const Examination& examination) {
  if (!examination.device) return heading("What auto picks") + row("nothing", "it fails");
  const stripe::DeviceInfo& device = *examination.device;
  std::string text = heading("What auto picks", right("streams", figure_columns) +
                                                    right("stripes", figure_columns) +
                                                    right("transfer", figure_columns)) +
                     row("device", device.name + " (backend " + device.backend + ")");
  std::size_t next = 0;
  bool tried = false;
  for (const FrameSize& size : frame_sizes)
    for (const int depth : depths) {
      const stripe::Calibration calibration = next < examination.calibrations.size()
                                                  ? examination.calibrations[next++]
                                                  : stripe::Calibration{};
      tried |= !calibration.tried.empty();
      text += choice_row(size, depth,
                         calibration.tried.empty() ? stripe::choose({.depth = depth}, device)
                                                   : calibration.choice);
    }
  if (tried) return text + row("why", "the fastest of what was tried on this device");
  for (const int depth : depths)
    text += row("why, async-depth=" + std::to_string(depth),
                stripe::explain_choice({.depth = depth}, device));
  return text;
}

std::string describe_verdict(const Verdict& verdict) {
  std::string text = heading("Verdict") + field({}, verdict.sentence, 2);
  for (const std::string& advice : verdict.advice) text += field("  *", advice, 4);
  return text;
}

}  // namespace

std::string make_report(const Examination& examination) {
  return describe_machine(examination) + describe_driver(examination) +
         describe_devices(examination) + describe_copies(examination) +
         describe_choice(examination) + describe_verdict(judge(examination));
}

}  // namespace doctor
