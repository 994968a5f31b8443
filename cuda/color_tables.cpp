// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/color_tables.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stripe {

namespace {

template <typename Entry>
SharedTable<Entry> share(std::vector<Entry> entries) {
  return {std::make_shared<const std::vector<Entry>>(std::move(entries)), nullptr};
}

unsigned short rounded(double value) {
  return static_cast<unsigned short>(std::lround(std::clamp(value, 0.0, 1.0) * rgb16_one));
}

// Behind the last entry is what makes white of white: its step has one input less than others.
std::vector<unsigned int> gamma_table(double gamma) {
  std::vector<unsigned int> values;
  values.reserve(gamma_entries + 1);
  for (int octave = 0; octave < gamma_octaves; ++octave)
    for (int i = octave == 0 ? 0 : gamma_octave_entries; i < 2 * gamma_octave_entries; ++i)
      values.push_back(rounded(std::pow(static_cast<double>(i << octave) / rgb16_one, 1 / gamma)));
  constexpr unsigned int last_step = 1 << (gamma_octaves - 1);
  const unsigned int rest = rgb16_one - values.back();
  values.push_back(values.back() + (rest * last_step + last_step / 2 - 1) / (last_step - 1));
  for (std::size_t i = 0; i < gamma_entries; ++i) values[i] |= (values[i + 1] - values[i]) << 16;
  values.pop_back();
  return values;
}

// How far `value` is from `min` to `max`, at most all the way.
double portion(double value, double min, double max) {
  return std::clamp((value - min) / (max - min), 0.0, 1.0);
}

double curve_at(const Lut& lut, std::size_t component, double input) {
  const double position = portion(input, lut.curve_min[component], lut.curve_max[component]) *
                          static_cast<double>(lut.curve.size() - 1);
  const std::size_t at = std::min(static_cast<std::size_t>(position), lut.curve.size() - 2);
  const double low = std::clamp<double>(lut.curve[at][component], 0, 1);
  const double high = std::clamp<double>(lut.curve[at + 1][component], 0, 1);
  return low + (high - low) * (position - static_cast<double>(at));
}

bool has_cube_of_its_own_domain(const Lut& lut) {
  return lut.cube_size != 0 &&
         (lut.cube_min != LutColor{0, 0, 0} || lut.cube_max != LutColor{1, 1, 1});
}

// The curves, and behind them how far that is across the cube: kernels know cubes over 0..1 only.
std::vector<unsigned short> curve_tables(const Lut& lut) {
  std::vector<unsigned short> tables;
  tables.reserve(std::size_t{3} * curve_entries);
  for (std::size_t component = 0; component < 3; ++component)
    for (int i = 0; i < curve_entries; ++i) {
      double value = static_cast<double>(i) / rgb16_one;
      if (!lut.curve.empty()) value = curve_at(lut, component, value);
      if (lut.cube_size != 0)
        value = portion(value, lut.cube_min[component], lut.cube_max[component]);
      tables.push_back(rounded(value));
    }
  return tables;
}

std::vector<unsigned long long> cube_table(const Lut& lut) {
  std::vector<unsigned long long> table;
  table.reserve(lut.cube.size());
  for (const LutColor& color : lut.cube) {
    unsigned long long entry = 0;
    for (std::size_t i = 0; i < 3; ++i)
      entry |= static_cast<unsigned long long>(rounded(color[i])) << (16 * i);
    table.push_back(entry);
  }
  return table;
}

void check_domain(const LutColor& min, const LutColor& max) {
  for (std::size_t i = 0; i < 3; ++i)
    if (!(min[i] < max[i]) || !std::isfinite(min[i]) || !std::isfinite(max[i]))
      throw std::invalid_argument("a LUT whose domain is empty");
}

void check_lut(const Lut& lut) {
  const auto size = static_cast<std::size_t>(lut.cube_size);
  const bool has_cube = lut.cube_size >= 2 && lut.cube_size <= 129;
  if ((lut.cube_size != 0 && !has_cube) || lut.cube.size() != size * size * size)
    throw std::invalid_argument("a LUT whose cube is not of 2 to 129 entries along each axis");
  if (lut.curve.size() == 1 || lut.curve.size() > 65536)
    throw std::invalid_argument("a LUT whose curve is not of 2 to 65536 entries");
  if (!lut.curve.empty()) check_domain(lut.curve_min, lut.curve_max);
  if (has_cube) check_domain(lut.cube_min, lut.cube_max);
}

}  // namespace

ColorTables make_color_tables(double gamma, const std::shared_ptr<const Lut>& lut,
                              const ColorTables* previous) {
  ColorTables tables;
  tables.gamma_value = gamma;
  if (previous && previous->gamma_value == gamma)
    tables.gamma = previous->gamma;
  else if (gamma != 1)
    tables.gamma = share(gamma_table(gamma));

  tables.lut = lut;
  if (!lut) return tables;
  if (previous && previous->lut == lut) {
    tables.curves = previous->curves;
    tables.cube = previous->cube;
    return tables;
  }
  check_lut(*lut);
  if (!lut->curve.empty() || has_cube_of_its_own_domain(*lut))
    tables.curves = share(curve_tables(*lut));
  if (lut->cube_size != 0) tables.cube = share(cube_table(*lut));
  return tables;
}

}  // namespace stripe
