// SPDX-License-Identifier: LGPL-2.1-or-later

// What people paste into a report: this machine, its driver and devices, how fast frames are copied,
// and what the element would make of it.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "cuda/backend.h"
#include "gst/config.h"
#include "tests/doctor/copies.h"
#include "tests/doctor/examination.h"
#include "tests/doctor/machine.h"
#include "tests/doctor/report.h"
#include "tests/doctor/verdict.h"

namespace {

constexpr int exit_usable = 0;
constexpr int exit_not_usable = 1;
constexpr int exit_usage = 2;

constexpr const char* usage =
    "usage: cuda-stripe-doctor [--quick] [--device N]\n"
    "\n"
    "Tells what cudastripetransform finds on this machine, and what keeps it from being fast.\n"
    "\n"
    "  --quick      measures nothing\n"
    "  --device N   examines CUDA device N, as cuda-device-id=N; default: the first usable one\n"
    "\n"
    "Exit status: 0 CUDA is usable, 1 it is not, 2 wrong usage.\n";

struct Options {
  bool quick = false;
  bool help = false;
  int cuda_device_id = -1;
};

bool parse_device_id(const char* text, int& id) {
  char* end = nullptr;
  const long value = text ? std::strtol(text, &end, 10) : -1;
  if (!text || end == text || *end != '\0' || value < 0 || value > 1'000'000) return false;
  id = static_cast<int>(value);
  return true;
}

bool parse(char** arguments, Options& options) {
  for (char** argument = arguments + 1; *argument; ++argument) {
    const std::string_view name = *argument;
    if (name == "--quick") {
      options.quick = true;
    } else if (name == "--help") {
      options.help = true;
    } else if (name == "--device") {
      if (!parse_device_id(*++argument, options.cuda_device_id)) return false;
    } else {
      return false;
    }
  }
  return true;
}

// Opens what backend=auto would, and measures a CUDA device.
void examine_device(const Options& options, doctor::Examination& examination) {
  const auto open = [&](const stripe::BackendChoice& choice) {
    examination.cuda_device_id = choice.cuda_device_id;
    return stripe::open_device(choice);
  };
  const stripe::OpenedBackend opened = stripe::open_backend(
      stripe::Backend::automatic, options.cuda_device_id, examination.facts, open);
  examination.device = opened.device->info();
  examination.reason = opened.fallback_reason;
  if (options.quick || examination.cuda_device_id < 0) return;
  // An idle device wakes slowly, clocks and link: what is measured first counts for nothing.
  doctor::time_frame(*opened.device, doctor::frame_sizes[0].size_bytes());
  for (const doctor::FrameSize& size : doctor::frame_sizes)
    examination.times.push_back(doctor::time_frame(*opened.device, size.size_bytes()));
  constexpr stripe::PixelLayout rgba = {
      stripe::ColorModel::rgb,
      1,
      3,
      true,
      {{0, 0, 4, 0, 0}, {0, 1, 4, 0, 0}, {0, 2, 4, 0, 0}, {0, 3, 4, 0, 0}}};
  for (const doctor::FrameSize& size : doctor::frame_sizes)
    for (const int depth : doctor::depths)
      examination.calibrations.push_back(stripe::calibrate(
          opened.device, {rgba, size.width, size.height, false}, {.depth = depth}));
}

doctor::Examination examine(const Options& options) {
  doctor::Examination examination;
  examination.version = PACKAGE_VERSION;
  examination.gstreamer_version = DOCTOR_GSTREAMER_VERSION;
  examination.machine = doctor::look_at_machine();
  examination.facts = stripe::cuda_facts();
  try {
    examine_device(options, examination);
  } catch (const std::exception& error) {
    examination.reason = error.what();
  }
  examination.facts.failure = stripe::cuda_facts().failure;
  // After the copies: a link wakes up for them, and its speed now is the one that counts.
  for (const stripe::CudaDeviceEntry& entry : examination.facts.devices)
    examination.pci.push_back(doctor::look_at_pci(entry.pci_bus_id));
  return examination;
}

}  // namespace

int main(int, char** arguments) {
  Options options;
  if (!parse(arguments, options)) {
    std::fputs(usage, stderr);
    return exit_usage;
  }
  if (options.help) {
    std::fputs(usage, stdout);
    return exit_usable;
  }
  const doctor::Examination examination = examine(options);
  std::fputs(doctor::make_report(examination).c_str(), stdout);
  return doctor::is_usable(examination) ? exit_usable : exit_not_usable;
}
