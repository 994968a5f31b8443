// SPDX-License-Identifier: LGPL-2.1-or-later

// What cuda-stripe-doctor says of machines that it never saw: facts and times are made up.

#include <sstream>
#include <string>
#include <vector>

#include "support/cuda_facts.h"
#include "support/library_main.h"
#include "tests/doctor/report.h"
#include "tests/doctor/text.h"
#include "tests/doctor/verdict.h"

using doctor::Examination;
using namespace test;

namespace {

constexpr doctor::Link gen5_x16{32, 16};

doctor::Machine server() {
  doctor::Machine machine;
  machine.system = "Debian, Linux 6.1 x86_64";
  machine.cpu = "Some CPU";
  machine.cpu_count = 16;
  machine.memory_bytes = std::uint64_t{1} << 37;
  machine.memlock_bytes = 8 << 20;
  machine.nvidia_gpus = {"0000:1b:00.0"};
  machine.driver_release = "580.65.06";
  machine.has_device_files = true;
  return machine;
}

// As auto goes without CUDA: the host's device, and the reason.
Examination without_cuda(const stripe::CudaFacts& facts) {
  Examination examination;
  examination.version = "1.2.3";
  examination.gstreamer_version = "1.22.0";
  examination.machine = server();
  examination.facts = facts;
  examination.device = stripe::DeviceInfo{"host", "CPU", true, 0};
  examination.reason = stripe::why_not_cuda(facts);
  return examination;
}

Examination with_h200() {
  stripe::CudaDeviceEntry entry = h200;
  entry.pci_bus_id = "0000:1b:00.0";
  entry.memory_bytes = std::uint64_t{150} << 30;
  Examination examination = without_cuda(with_devices({entry}));
  examination.pci = {{gen5_x16, gen5_x16, 0}};
  examination.device = stripe::DeviceInfo{"cuda", "NVIDIA H200", false, 3};
  examination.cuda_device_id = 0;
  return examination;
}

doctor::Timing took(double us) { return {us, {}}; }

// Multiples of what 8 and 33 MB take at 50 GB/s.
Examination with_times(double both_over_one, double slowness = 1) {
  Examination examination = with_h200();
  for (const doctor::FrameSize& size : doctor::frame_sizes) {
    const double us = slowness * static_cast<double>(size.size_bytes()) / 50e3;
    examination.times.push_back({{took(us), took(us), took(us * both_over_one)},
                                 {took(4 * us), took(4 * us), took(8 * us)},
                                 took(2 * us),
                                 took(us)});
  }
  return examination;
}

std::string verdict_of(const Examination& examination) {
  const std::string report = doctor::make_report(examination);
  const std::string heading = "\nVerdict\n";
  const auto begin = report.find(heading);
  fail_if(begin == std::string::npos, "%s", report.c_str());
  std::istringstream words(report.substr(begin + heading.size()));
  std::string text;  // in one line: words are broken anywhere
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  return text;
}

void expect_not_usable(const Examination& examination, const char* words) {
  fail_if(doctor::judge(examination).usable);
  const std::string verdict = verdict_of(examination);
  expect_in(verdict, "CUDA CANNOT BE USED: ");
  expect_in(verdict, words);
  expect_in(doctor::make_report(examination), "CPU (backend host)");
}

void expect_ok(const Examination& examination) {
  const std::string verdict = verdict_of(examination);
  fail_unless(verdict.rfind("OK: ", 0) == 0, "%s", verdict.c_str());
  fail_unless(doctor::judge(examination).usable);
  fail_unless_equals_int(static_cast<int>(doctor::judge(examination).advice.size()), 0);
}

// Exactly one thing is wrong, and it is this.
void expect_warning(const Examination& examination, const std::vector<const char*>& words) {
  const doctor::Verdict verdict = doctor::judge(examination);
  fail_unless(verdict.usable);
  fail_unless_equals_int(static_cast<int>(verdict.advice.size()), 1);
  expect_in(verdict_of(examination), "CUDA WORKS, but");
  for (const char* word : words) expect_in(verdict.advice.front(), word);
}

}  // namespace

GST_START_TEST(each_reason_against_cuda_is_given) {
  expect_not_usable(without_cuda(not_built()), "built without CUDA");
  expect_not_usable(without_cuda(not_built()), "nvcc 13.0");
  expect_not_usable(without_cuda(no_driver()), "libcuda.so.1");
  expect_not_usable(without_cuda(old_driver()), "12.4");
  expect_not_usable(without_cuda(old_driver()), "580 or newer");
  expect_not_usable(without_cuda(with_devices({})), "no CUDA device");
  expect_not_usable(without_cuda(nothing_visible()), "CUDA_VISIBLE_DEVICES");
  expect_not_usable(without_cuda(with_devices({titan})), "no code for this architecture");
  expect_not_usable(without_cuda(with_devices({titan})), "sm_75");
  expect_not_usable(without_cuda(enumeration_failed()), "the words of the driver");
}
GST_END_TEST;

GST_START_TEST(missing_driver_is_looked_for) {
  Examination examination = without_cuda(no_driver());
  expect_not_usable(examination, "kernel module is loaded: start the container with the driver's");
  examination.machine.has_device_files = false;
  expect_not_usable(examination, "/dev/nvidiactl is missing");
  examination.machine.driver_release.clear();
  expect_not_usable(examination, "at 0000:1b:00.0, but the kernel module nvidia is not loaded");
  examination.machine.nvidia_gpus.clear();
  expect_not_usable(examination, "No NVIDIA GPU is on the PCI bus");
}
GST_END_TEST;

GST_START_TEST(hidden_device_is_not_looked_for) {
  fail_unless_equals_int(
      static_cast<int>(doctor::judge(without_cuda(nothing_visible())).advice.size()), 0);
}
GST_END_TEST;

GST_START_TEST(failure_of_the_process_is_the_reason) {
  Examination examination = with_h200();
  examination.facts.failure = failed_process().failure;
  fail_if(doctor::judge(examination).usable);
  expect_in(verdict_of(examination), "an illegal memory access was encountered");
}
GST_END_TEST;

GST_START_TEST(device_that_is_not_there) {
  Examination examination = with_h200();
  examination.device.reset();
  examination.reason = "CUDA device 7 cannot be used";
  fail_if(doctor::judge(examination).usable);
  expect_in(verdict_of(examination), "CUDA CANNOT BE USED: CUDA device 7 cannot be used.");
  expect_in(doctor::make_report(examination), "nothing               it fails");
}
GST_END_TEST;

GST_START_TEST(good_machine_is_ok) {
  expect_ok(with_times(1.07));
  expect_ok(with_h200());
  expect_in(verdict_of(with_h200()), "--quick");
  expect_in(verdict_of(with_times(1.25)), "40.0 GB/s each way");  // 50 / 1.25
  fail_unless(verdict_of(with_times(1.07)).find("--quick") == std::string::npos);
}
GST_END_TEST;

GST_START_TEST(figures_are_in_the_report) {
  const std::string report = doctor::make_report(with_times(1.25));
  expect_in(report, "cudastripetransform 1.2.3\n");
  expect_in(report, "with CUDA 13.0, against GStreamer 1.22.0");
  expect_in(report, "16 CPUs (Some CPU), 128 GiB, 1 NUMA node");
  expect_in(report, "8 MiB (ulimit -l)");
  expect_in(report, "release 580.65.06, supports CUDA 13.0; this build needs 13.0 or newer");
  expect_in(report, "NVIDIA H200, sm_90, examined");
  expect_in(report, "150 GiB of its own");
  expect_in(report, "0000:1b:00.0, NUMA node 0");
  expect_in(report, "PCIe 5 x16 now, PCIe 5 x16 at most; carries 63.0 GB/s each way");
  expect_in(report, "upload                  50.0        12.5        0.25\n");
  expect_in(report, "both at once            40.0         6.2        0.16\n");  // 50 / 1.25, 50 / 8
  // 8.2944 MB at 50 GB/s are 165.9 us.
  expect_in(report, "page-locking a frame: 0.33 ms, unlocking: 0.17 ms: as long as 3.0 uploads");
  expect_in(report, "33.2 MB");
}
GST_END_TEST;

GST_START_TEST(one_copy_engine) {
  Examination examination = with_times(2);
  examination.device->copy_engines = 1;
  expect_warning(examination, {"one copy engine"});
  examination.device->copy_engines = 0;
  expect_warning(examination, {"no copy engine"});
}
GST_END_TEST;

GST_START_TEST(narrow_link) {
  Examination examination = with_h200();
  examination.pci[0].now.lanes = 4;
  expect_warning(examination, {"x4 instead of x16"});
  expect_in(doctor::make_report(examination),
            "PCIe 5 x4 now, PCIe 5 x16 at most; carries 15.8 GB/s");
}
GST_END_TEST;

// An idle device slows its link down to save power.
GST_START_TEST(slow_link_counts_after_work) {
  Examination examination = with_h200();
  examination.pci[0].now.gigatransfers = 2.5;
  expect_ok(examination);
  expect_in(doctor::make_report(examination), "PCIe 1 x16 while idle, PCIe 5 x16 at most\n");
  examination = with_times(1.07, 2);
  examination.pci[0].now.gigatransfers = 16;
  expect_warning(examination, {"PCIe 4 instead of PCIe 5"});
  expect_in(doctor::make_report(examination), "PCIe 4 x16 now, PCIe 5 x16 at most");
}
GST_END_TEST;

GST_START_TEST(unknown_link_is_not_blamed) {
  Examination examination = with_times(1.07, 10);
  examination.pci.clear();
  expect_ok(examination);
  examination.pci = {{}};
  expect_ok(examination);
  expect_in(doctor::make_report(examination), "unknown, /sys does not tell");
}
GST_END_TEST;

GST_START_TEST(directions_that_do_not_overlap) { expect_warning(with_times(1.9), {"0.95"}); }
GST_END_TEST;

GST_START_TEST(copies_far_below_the_link) {
  Examination examination = with_times(1.07, 2.5);
  expect_warning(examination, {"20.0 of the 63.0 GB/s"});
  fail_unless(verdict_of(examination).find("numactl") == std::string::npos);
  examination.machine.numa_nodes = 2;
  examination.pci[0].numa_node = 1;
  expect_warning(examination, {"numactl --cpunodebind=1"});
}
GST_END_TEST;

GST_START_TEST(environment_that_spoils_overlap) {
  Examination examination = with_h200();
  examination.machine.environment = {{"CUDA_LAUNCH_BLOCKING", "1"}};
  expect_warning(examination, {"CUDA_LAUNCH_BLOCKING=1", "unset"});
  expect_in(doctor::make_report(examination), "CUDA_LAUNCH_BLOCKING=\"1\"");
  examination.machine.environment = {{"CUDA_DEVICE_MAX_CONNECTIONS", "1"}};
  expect_warning(examination, {"CUDA_DEVICE_MAX_CONNECTIONS=1"});
  examination.machine.environment = {{"CUDA_LAUNCH_BLOCKING", "0"},
                                     {"CUDA_DEVICE_MAX_CONNECTIONS", "32"},
                                     {"CUDA_VISIBLE_DEVICES", "0"}};
  expect_ok(examination);
}
GST_END_TEST;

GST_START_TEST(failed_measurements_are_told) {
  Examination examination = with_times(1.07);
  examination.times[1].page_lock = {0, "cudaHostRegister: operation not permitted"};
  expect_warning(examination, {"operation not permitted", "8 MiB"});
  examination = with_times(1.07);
  examination.times[1].page_locked.both = {0, "cudaMalloc: out of memory"};
  expect_warning(examination, {"cudaMalloc: out of memory"});
  expect_in(doctor::make_report(examination),
            "  failed                cudaMalloc: out of memory\n");
  const std::string report = doctor::make_report(examination);
  expect_in(report, "both at once          failed         6.2           -\n");
  expect_in(report, "upload                  50.0        12.5        0.25\n");
}
GST_END_TEST;

GST_START_TEST(integrated_device_copies_nothing) {
  Examination examination = with_times(2, 10);
  *examination.device = {"cuda", "Orin", true, 1};
  expect_ok(examination);
  expect_in(verdict_of(examination), "nothing is copied");
  expect_in(doctor::make_report(examination), "mapped");
}
GST_END_TEST;

GST_START_TEST(other_devices_are_listed) {
  Examination examination = with_h200();
  examination.facts.devices.push_back(titan);
  examination.facts.devices.push_back(t4);
  examination.pci.push_back({});
  examination.pci.push_back({{8, 8}, {8, 16}, -1});
  const std::string report = doctor::make_report(examination);
  expect_in(report, "TITAN X, sm_52: cannot be used, no code for this architecture");
  expect_in(report, "Tesla T4, sm_75, unknown memory, PCIe 3 x8 of PCIe 3 x16");
  expect_ok(examination);  // its link is not theirs
}
GST_END_TEST;

GST_START_TEST(lines_fit) {
  for (const Examination& examination :
       {with_times(1.9, 3), without_cuda(not_built()), without_cuda(with_devices({titan})),
        without_cuda(no_driver()), without_cuda(old_driver())}) {
    std::istringstream lines(doctor::make_report(examination));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count)
      fail_if(line.size() > doctor::line_columns, "%s", line.c_str());
    fail_unless(count <= 45, "%d lines", count);
  }
}
GST_END_TEST;

static Suite* doctor_suite() {
  Suite* suite = suite_create("doctor");
  TCase* cases = tcase_create("doctor");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, each_reason_against_cuda_is_given);
  tcase_add_test(cases, missing_driver_is_looked_for);
  tcase_add_test(cases, hidden_device_is_not_looked_for);
  tcase_add_test(cases, failure_of_the_process_is_the_reason);
  tcase_add_test(cases, device_that_is_not_there);
  tcase_add_test(cases, good_machine_is_ok);
  tcase_add_test(cases, figures_are_in_the_report);
  tcase_add_test(cases, one_copy_engine);
  tcase_add_test(cases, narrow_link);
  tcase_add_test(cases, slow_link_counts_after_work);
  tcase_add_test(cases, unknown_link_is_not_blamed);
  tcase_add_test(cases, directions_that_do_not_overlap);
  tcase_add_test(cases, copies_far_below_the_link);
  tcase_add_test(cases, environment_that_spoils_overlap);
  tcase_add_test(cases, failed_measurements_are_told);
  tcase_add_test(cases, integrated_device_copies_nothing);
  tcase_add_test(cases, other_devices_are_listed);
  tcase_add_test(cases, lines_fit);
  return suite;
}

LIBRARY_CHECK_MAIN(doctor)
