// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/doctor/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cuda/choice.h"
#include "tests/doctor/text.h"

namespace doctor {

namespace {

using stripe::CudaEnumeration;

// Both ways at once take 0.53 of the time of one after the other on an H200 and 1 where nothing
// overlaps; in between lies a link, or a memory, that can't feed both.
constexpr double overlap_is_missing_above = 0.85;

// Packets and their headers take a tenth to a fifth of what the encoding leaves.
constexpr double poor_share_of_link = 0.6;

constexpr std::size_t largest_frame = std::size(frame_sizes) - 1;

const char* value_of(const Machine& machine, const std::string& name) {
  for (const Variable& variable : machine.environment)
    if (variable.name == name) return variable.value.c_str();
  return nullptr;
}

// What the machine shows where CUDA shows nothing.
std::string look_for_cause(const Machine& machine, bool has_library) {
  if (machine.nvidia_gpus.empty())
    return "No NVIDIA GPU is on the PCI bus of this machine, as far as /sys tells.";
  const std::string gpu = "An NVIDIA GPU is at " + machine.nvidia_gpus.front() + ", ";
  if (machine.driver_release.empty())
    return gpu + "but the kernel module nvidia is not loaded: install the driver, or load it.";
  if (!machine.has_device_files)
    return gpu +
           "and its kernel module is loaded, but /dev/nvidiactl is missing: start the container "
           "with "
           "the GPU (such as docker run --gpus all).";
  if (!has_library)
    return gpu +
           "and its kernel module is loaded: start the container with the driver's libraries (such "
           "as docker run --gpus all), or install them.";
  return gpu +
         "and its kernel module is loaded: /dev/nvidia0 may be missing or forbidden, or a driver "
         "that "
         "was updated needs a restart.";
}

std::vector<std::string> advise_on_missing(const Examination& examination) {
  const stripe::CudaFacts& facts = examination.facts;
  if (!facts.built)
    return {
        "Install nvcc 13.0 or newer and set the build up anew; the summary of `meson setup` says "
        "what it misses."};
  if (facts.driver_version == 0) return {look_for_cause(examination.machine, false)};
  if (facts.enumeration == CudaEnumeration::failed)
    return {look_for_cause(examination.machine, true)};
  if (facts.enumeration == CudaEnumeration::driver_too_old)
    return {"A plugin built with CUDA " + version_text(facts.toolkit_version) +
            " needs a driver for " + major_version_text(facts.toolkit_version) + " or newer" +
            (facts.toolkit_version / 1000 == 13 ? ", which is release 580 or newer." : ".")};
  if (facts.devices.empty()) {
    if (!facts.visible_devices.empty()) return {};  // told of already
    return {look_for_cause(examination.machine, true)};
  }
  const bool some_usable = std::any_of(facts.devices.begin(), facts.devices.end(),
                                       [](const auto& entry) { return entry.problem.empty(); });
  if (some_usable || !facts.failure.empty()) return {};
  return {
      "CUDA 13 begins at compute capability 7.5 (sm_75); without -Dcuda-arch the plugin holds "
      "code for all that its toolkit knows. `nvidia-smi -c 0` ends a compute mode."};
}

void advise_on_environment(const Machine& machine, int stream_count,
                           std::vector<std::string>& advice) {
  const char* blocking = value_of(machine, "CUDA_LAUNCH_BLOCKING");
  if (blocking && std::atoi(blocking) != 0)
    advice.push_back("CUDA_LAUNCH_BLOCKING=" + std::string(blocking) +
                     " makes every kernel block its caller, so that little overlaps: unset it.");
  const char* connections = value_of(machine, "CUDA_DEVICE_MAX_CONNECTIONS");
  if (connections && std::atoi(connections) > 0 && std::atoi(connections) < stream_count)
    advice.push_back("CUDA_DEVICE_MAX_CONNECTIONS=" + std::string(connections) + " makes " +
                     std::to_string(stream_count) +
                     " streams share fewer hardware queues, in which they wait for each other: "
                     "unset it, or say 8 or more.");
}

void advise_on_engines(const stripe::DeviceInfo& device, std::vector<std::string>& advice) {
  if (device.shares_memory || device.copy_engines >= 2) return;
  if (device.copy_engines == 1)
    advice.push_back(
        "The device has one copy engine: uploads and downloads take turns, though both "
        "overlap with kernels. A device with two or more would be faster.");
  else
    advice.push_back("The device has no copy engine: its copies overlap with nothing.");
}

// Idle devices slow their link down, but don't make it narrower: its speed counts only after work.
void advise_on_link(const PciFacts& pci, bool worked, std::vector<std::string>& advice) {
  if (pci.now.lanes != 0 && pci.now.lanes < pci.most.lanes)
    advice.push_back("The link runs at x" + std::to_string(pci.now.lanes) + " instead of x" +
                     std::to_string(pci.most.lanes) +
                     ": put the card into a slot that is wired for x" +
                     std::to_string(pci.most.lanes) + ", or look for a riser or a BIOS setting.");
  const int now = link_generation(pci.now);
  const int most = link_generation(pci.most);
  if (worked && now != 0 && now < most)
    advice.push_back("The link runs at PCIe " + std::to_string(now) + " instead of PCIe " +
                     std::to_string(most) + ": the slot, a riser or a BIOS setting holds it back.");
}

double largest_frame_rate(double us) {
  return 1e6 * static_cast<double>(frame_sizes[largest_frame].size_bytes()) / us;
}

bool worked(const Timing& timing) { return timing.failure.empty() && timing.us > 0; }

void advise_on_overlap(const CopyTimes& times, int copy_engines, std::vector<std::string>& advice) {
  if (copy_engines < 2 || !worked(times.upload) || !worked(times.download) || !worked(times.both))
    return;  // one engine was told of already
  const double share = times.both.us / (times.upload.us + times.download.us);
  if (share > overlap_is_missing_above)
    advice.push_back("An upload and a download at once take " + fixed(share, 2) +
                     " of the time of one after the other (0.5 to 0.6 is good): the link or the "
                     "memory does not carry both.");
}

void advise_on_rate(const CopyTimes& times, const PciFacts& pci, int numa_nodes,
                    std::vector<std::string>& advice) {
  const double link = link_bytes_per_second(pci.now);
  if (link == 0 || !worked(times.upload) || !worked(times.download)) return;
  const double slower_us = std::max(times.upload.us, times.download.us);
  const double rate =
      1e6 * static_cast<double>(frame_sizes[largest_frame].size_bytes()) / slower_us;
  if (rate >= poor_share_of_link * link) return;
  std::string text = "Page-locked copies reach " + fixed(1e-9 * rate, 1) + " of the " +
                     fixed(1e-9 * link, 1) + " GB/s of the link: something else may be using it";
  if (numa_nodes > 1 && pci.numa_node >= 0)
    text += ", or the frames lie far from the device (numactl --cpunodebind=" +
            std::to_string(pci.numa_node) + " --membind=" + std::to_string(pci.numa_node) + ")";
  advice.push_back(text + ".");
}

void advise_on_failures(const FrameTimes& times, const Machine& machine,
                        std::vector<std::string>& advice) {
  if (!times.page_lock.failure.empty())
    advice.push_back("Memory of others can't be page-locked (" + times.page_lock.failure +
                     "): frames in it are copied on the CPU first. The limit of locked memory is " +
                     bytes_text(machine.memlock_bytes) + " (ulimit -l).");
  for (const Timing* timing : copies_of(times))
    if (!timing->failure.empty()) {
      advice.push_back("Not all copies worked: " + timing->failure + ".");
      return;
    }
}

std::vector<std::string> advise_on_usable(const Examination& examination) {
  const stripe::DeviceInfo& device = *examination.device;
  const PciFacts pci = find_pci(examination, examination.cuda_device_id);
  std::vector<std::string> advice;
  advise_on_environment(examination.machine, stripe::choose({}, device).stream_count, advice);
  advise_on_engines(device, advice);
  advise_on_link(pci, !examination.times.empty(), advice);
  if (examination.times.size() > largest_frame) {
    const FrameTimes& times = examination.times[largest_frame];
    advise_on_failures(times, examination.machine, advice);
    if (!device.shares_memory) {
      advise_on_overlap(times.page_locked, device.copy_engines, advice);
      advise_on_rate(times.page_locked, pci, examination.machine.numa_nodes, advice);
    }
  }
  return advice;
}

// What an OK rests on.
std::string describe_basis(const std::vector<FrameTimes>& times) {
  if (times.empty()) return " Nothing was measured, as --quick asks.";
  const Timing& both = times.back().page_locked.both;
  if (times.size() <= largest_frame || !worked(both)) return {};
  return " Both ways at once carry " + fixed(1e-9 * largest_frame_rate(both.us), 1) +
         " GB/s each way.";
}

Verdict judge_usable(const Examination& examination) {
  const std::vector<std::string> advice = advise_on_usable(examination);
  const std::string basis = describe_basis(examination.times);
  if (!advice.empty()) return {true, "CUDA WORKS, but not as well as it could." + basis, advice};
  if (examination.device->shares_memory)
    return {true, "OK: the device works in the CPU's memory, and nothing is copied." + basis, {}};
  return {true, "OK: frames can overlap: uploads, kernels and downloads run at once." + basis, {}};
}

}  // namespace

bool is_usable(const Examination& examination) {
  return examination.device && examination.cuda_device_id >= 0 && examination.facts.failure.empty();
}

const stripe::CudaDeviceEntry* find_opened(const Examination& examination) {
  for (const stripe::CudaDeviceEntry& entry : examination.facts.devices)
    if (examination.device && entry.id == examination.cuda_device_id) return &entry;
  return nullptr;
}

PciFacts find_pci(const Examination& examination, int cuda_device_id) {
  const auto& devices = examination.facts.devices;
  for (std::size_t i = 0; i < devices.size() && i < examination.pci.size(); ++i)
    if (devices[i].id == cuda_device_id) return examination.pci[i];
  return {};
}

int link_generation(const Link& link) {
  constexpr double speeds[] = {2.5, 5, 8, 16, 32, 64, 128};
  for (std::size_t i = 0; i < std::size(speeds); ++i)
    if (std::abs(link.gigatransfers - speeds[i]) < 0.1) return static_cast<int>(i) + 1;
  return 0;
}

double link_bytes_per_second(const Link& link) {
  const int generation = link_generation(link);
  // 8 of 10 bits, then 128 of 130, then blocks of 256 bytes of which 242 are packets.
  const double useful = generation <= 2 ? 0.8 : generation <= 5 ? 128.0 / 130 : 242.0 / 256;
  return generation == 0 ? 0 : 1e9 * link.gigatransfers / 8 * link.lanes * useful;
}

Verdict judge(const Examination& examination) {
  if (is_usable(examination)) return judge_usable(examination);
  const std::string found = examination.facts.failure.empty()
                                ? examination.reason
                                : stripe::why_not_cuda(examination.facts);
  std::string sentence = "CUDA CANNOT BE USED: " + found + ".";
  if (examination.device && examination.cuda_device_id < 0)
    sentence += " With backend=auto the element works on the CPU.";
  return {false, sentence, advise_on_missing(examination)};
}

}  // namespace doctor
