// SPDX-License-Identifier: LGPL-2.1-or-later

// What cuda-stripe-doctor finds out without CUDA, in folders that look like those of the kernel.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/library_main.h"
#include "tests/doctor/machine.h"
#include "tests/doctor/verdict.h"

namespace {

// A folder with files, as sysfs shows devices.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = std::filesystem::temp_directory_path() / "doctor-XXXXXX";
    fail_unless(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  FakeRoot(const FakeRoot&) = delete;
  ~FakeRoot() { std::filesystem::remove_all(path_); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text << "\n";
  }
  void write_device(const std::string& address, const std::string& vendor,
                    const std::string& device_class) const {
    write("sys/bus/pci/devices/" + address + "/vendor", vendor);
    write("sys/bus/pci/devices/" + address + "/class", device_class);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

GST_START_TEST(pci_is_read_from_sysfs) {
  const FakeRoot root;
  const std::string device = "sys/bus/pci/devices/0000:1b:00.0/";
  root.write(device + "current_link_speed", "2.5 GT/s PCIe");
  root.write(device + "current_link_width", "8");
  root.write(device + "max_link_speed", "16.0 GT/s PCIe");
  root.write(device + "max_link_width", "16");
  root.write(device + "numa_node", "1");
  const doctor::PciFacts facts = doctor::look_at_pci("0000:1b:00.0", root.path());
  fail_unless_equals_int(doctor::link_generation(facts.now), 1);
  fail_unless_equals_int(facts.now.lanes, 8);
  fail_unless_equals_int(doctor::link_generation(facts.most), 4);
  fail_unless_equals_int(facts.most.lanes, 16);
  fail_unless_equals_int(facts.numa_node, 1);
}
GST_END_TEST;

GST_START_TEST(what_sysfs_does_not_tell_is_unknown) {
  const FakeRoot root;
  const std::string device = "sys/bus/pci/devices/0000:1b:00.0/";
  root.write(device + "current_link_speed", "Unknown");
  root.write(device + "current_link_width", "255");
  for (const char* address : {"0000:1b:00.0", "0000:1c:00.0", ""}) {
    const doctor::PciFacts facts = doctor::look_at_pci(address, root.path());
    fail_unless_equals_int(doctor::link_generation(facts.now), 0);
    fail_unless_equals_int(facts.now.lanes, 0);
    fail_unless_equals_int(facts.most.lanes, 0);
    fail_unless_equals_int(facts.numa_node, -1);
  }
}
GST_END_TEST;

GST_START_TEST(machine_is_read_from_its_files) {
  const FakeRoot root;
  root.write_device("0000:00:02.0", "0x8086", "0x030000");  // a GPU of Intel's
  root.write_device("0000:3b:00.0", "0x10de", "0x030200");
  root.write_device("0000:1b:00.0", "0x10de", "0x030000");
  root.write_device("0000:1b:00.1", "0x10de", "0x040300");  // its audio function
  root.write("sys/module/nvidia/version", "580.65.06");
  root.write("sys/devices/system/node/node0/cpulist", "0-7");
  root.write("sys/devices/system/node/node1/cpulist", "8-15");
  root.write("sys/devices/system/node/online", "0-1");
  root.write("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"");
  root.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t: fpu");
  root.write("dev/nvidiactl", "");
  const doctor::Machine machine = doctor::look_at_machine(root.path());
  fail_unless_equals_int(static_cast<int>(machine.nvidia_gpus.size()), 2);
  fail_unless_equals_string(machine.nvidia_gpus[0].c_str(), "0000:1b:00.0");
  fail_unless_equals_string(machine.nvidia_gpus[1].c_str(), "0000:3b:00.0");
  fail_unless_equals_string(machine.driver_release.c_str(), "580.65.06");
  fail_unless_equals_string(machine.cpu.c_str(), "Some CPU @ 2 GHz");
  fail_unless_equals_int(machine.numa_nodes, 2);
  fail_unless(machine.has_device_files);
  fail_unless(machine.system.rfind("Debian GNU/Linux 12, Linux ", 0) == 0);
}
GST_END_TEST;

GST_START_TEST(links_carry_what_the_standard_says) {
  // Generation, lanes and GB/s: PCI-SIG's own figures, rounded.
  const struct {
    double speed;
    int lanes;
    double gb;
  } cases[] = {{2.5, 1, 0.25}, {5, 16, 8.0}, {8, 16, 15.75}, {16, 4, 7.88}, {32, 16, 63.02}};
  for (const auto& c : cases)
    fail_unless_equals_float(
        c.gb,
        0.01 * static_cast<int>(1e-7 * doctor::link_bytes_per_second({c.speed, c.lanes}) + 0.5));
  fail_unless(doctor::link_bytes_per_second({}) == 0);
  fail_unless(doctor::link_bytes_per_second({7, 16}) == 0);
}
GST_END_TEST;

static Suite* doctor_machine_suite() {
  Suite* suite = suite_create("doctor-machine");
  TCase* cases = tcase_create("doctor-machine");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, pci_is_read_from_sysfs);
  tcase_add_test(cases, what_sysfs_does_not_tell_is_unknown);
  tcase_add_test(cases, machine_is_read_from_its_files);
  tcase_add_test(cases, links_carry_what_the_standard_says);
  return suite;
}

LIBRARY_CHECK_MAIN(doctor_machine)
