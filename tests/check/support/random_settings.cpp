// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "support/color_oracle.h"

namespace test {
namespace {

double real_between(Random& random, double low, double high) {
  return low + (high - low) * random.between(0, 1000000) / 1e6;
}

stripe::ColorMatrix random_color_matrix(Random& random) {
  stripe::ColorMatrix matrix = stripe::identity_color_matrix;
  for (auto& row : matrix) {
    for (int i = 0; i < 3; ++i) row[i] += real_between(random, -1.5, 1.5);
    row[3] = real_between(random, -1, 1);
  }
  return matrix;
}

/// Below or above 1 with equal chance; now and then as far as it goes.
double random_gamma(Random& random) {
  if (random.one_in(8)) return random.one_in(2) ? 0.01 : 10.0;
  const double gamma = real_between(random, 1, 3);
  return random.one_in(2) ? gamma : 1 / gamma;
}

stripe::LutColor random_color(Random& random, double low, double high) {
  stripe::LutColor color;
  for (float& value : color) value = static_cast<float>(real_between(random, low, high));
  return color;
}

/// An entry not too far from that of the identity, or steps between entries, which files don't have,
/// would make much of inputs' last bits: the more entries, the smaller.
stripe::LutColor random_color_near(Random& random, const std::array<int, 3>& at, int entries) {
  const double noise = std::min(0.3, 2.0 / entries);
  stripe::LutColor color = random_color(random, -noise, noise);
  for (int i = 0; i < 3; ++i) color[i] += static_cast<float>(at[i]) / (entries - 1);
  return color;
}

void set_random_domain(Random& random, stripe::LutColor& min, stripe::LutColor& max) {
  if (random.one_in(2)) return;
  min = random_color(random, -0.5, 0.4);
  max = random_color(random, 0.6, 2);
}

}  // namespace

std::shared_ptr<const stripe::Lut> random_lut(Random& random) {
  auto lut = std::make_shared<stripe::Lut>();
  const int kind = random.between(1, 3);
  if (kind & 1) {
    const int entries = random.one_in(4) ? 2 : random.between(2, 2000);
    lut->curve.resize(entries);
    for (int i = 0; i < entries; ++i) lut->curve[i] = random_color_near(random, {i, i, i}, entries);
    set_random_domain(random, lut->curve_min, lut->curve_max);
  }
  if (kind & 2) {
    const int sizes[] = {2, 3, 17, 33};
    const int n = random.pick(sizes);
    lut->cube_size = n;
    lut->cube.resize(std::size_t(n) * n * n);
    for (int i = 0; i < n * n * n; ++i)
      lut->cube[i] = random_color_near(random, {i % n, i / n % n, i / n / n}, n);
    set_random_domain(random, lut->cube_min, lut->cube_max);
  }
  return lut;
}

stripe::ColorSettings random_settings(Random& random, bool affine) {
  using stripe::Effect;
  constexpr Effect effects[] = {Effect::none, Effect::invert, Effect::gray, Effect::sepia,
                                Effect::swap_rb};
  stripe::ColorSettings s;
  s.effect = random.pick(effects);
  if (random.one_in(2)) s.matrix = random_color_matrix(random);
  if (random.one_in(2)) s.brightness = real_between(random, -1, 1) / random.between(1, 4);
  if (random.one_in(2)) s.contrast = real_between(random, 0, 2);
  if (random.one_in(2)) s.hue = real_between(random, -1, 1);
  if (random.one_in(2)) s.saturation = real_between(random, 0, 2);
  while (!affine && is_affine(s)) {
    if (random.one_in(2)) s.gamma = random_gamma(random);
    if (random.one_in(3)) s.threshold = real_between(random, 0, 1);
    if (random.one_in(2)) s.lut = random_lut(random);
    // Hardly a picture; and beyond what bounds on 16 bits can foretell.
    if (s.lut && (s.gamma < 0.3 || s.gamma > 3)) s.gamma = 1;
  }
  return s;
}

std::string describe(const stripe::ColorSettings& s) {
  char text[400];
  std::snprintf(text, sizeof text,
                "effect %d, matrix %s, brightness %.6f, contrast %.6f, hue %.6f, saturation %.6f, "
                "gamma %.6f, threshold %.6f, curve of %zu, cube of %d",
                static_cast<int>(s.effect),
                s.matrix == stripe::identity_color_matrix ? "none" : "random", s.brightness,
                s.contrast, s.hue, s.saturation, s.gamma, s.threshold,
                s.lut ? s.lut->curve.size() : 0, s.lut ? s.lut->cube_size : 0);
  return text;
}

}  // namespace test
