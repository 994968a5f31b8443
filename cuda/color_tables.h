// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <vector>

#include "cuda/color_steps.h"
#include "cuda/lut.h"

namespace stripe {

class DeviceMemory;

/// Numbers that kernels look up, made once on the CPU and never changed.
///
/// Owner:   shared by copies. `on_device` is a device's copy, made by Device::prepare; the host
///          device needs none.
template <typename Entry>
struct SharedTable {
  std::shared_ptr<const std::vector<Entry>> entries;  ///< nullptr: there is no such table
  std::shared_ptr<const DeviceMemory> on_device;

  const Entry* data() const noexcept { return entries ? entries->data() : nullptr; }
};

/// The tables of an operation, with what they were made from. Layouts as LookUpTables has them.
struct ColorTables {
  double gamma_value = 1;
  SharedTable<unsigned int> gamma;

  std::shared_ptr<const Lut> lut;
  SharedTable<unsigned short> curves;
  SharedTable<unsigned long long> cube;

  /// Where they lie in the CPU's memory.
  LookUpTables on_host() const noexcept { return {gamma.data(), curves.data(), cube.data()}; }
};

/// Tables for a gamma and a LUT, which may be nullptr; those that `previous` has are shared. Of the
/// LUT's entries what is beyond 0..1 counts as 0 or 1.
///
/// Thread:  any, pure arithmetic. Gamma takes some hundred microseconds, a LUT some milliseconds.
/// Errors:  throws std::invalid_argument where the LUT is none that its header describes.
ColorTables make_color_tables(double gamma, const std::shared_ptr<const Lut>& lut,
                              const ColorTables* previous);

}  // namespace stripe
