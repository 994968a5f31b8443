// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>
#include <string>

#include "tests/doctor/examination.h"

namespace doctor {

/// Looks at the machine and at the environment of this process. What can't be found out stays as
/// it is by default.
///
/// `root`: where sys, proc, dev and etc lie.
Machine look_at_machine(const std::filesystem::path& root = "/");

/// What sysfs says of a PCI device.
PciFacts look_at_pci(const std::string& pci_bus_id, const std::filesystem::path& root = "/");

}  // namespace doctor
