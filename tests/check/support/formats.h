// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The raw video formats of the tests, written down from GStreamer's documentation ("Raw Video Media
// Types", Formats) and from nothing of ours, so that the code under test is measured against it.

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace test {

enum class Model { gray, rgb, yuv };

/// Where the 8-bit samples of one component lie.
///
/// Units: bytes within a row of the plane; `sub_*` is how many luma samples share one sample.
struct Place {
  int plane;
  int offset;
  int step;
  int sub_x = 1;
  int sub_y = 1;
};

/// A format by GStreamer's name. Colours come first: Y, or R G B, or Y U V; then the extra byte.
struct Format {
  const char* name;
  Model model;
  int planes;
  int colors;
  bool has_extra;  ///< alpha or padding: keeps its value whatever is done to the picture
  Place places[4];

  constexpr int components() const { return colors + (has_extra ? 1 : 0); }
};

inline constexpr Format formats[] = {
    {"GRAY8", Model::gray, 1, 1, false, {{0, 0, 1}}},
    {"RGB", Model::rgb, 1, 3, false, {{0, 0, 3}, {0, 1, 3}, {0, 2, 3}}},
    {"BGR", Model::rgb, 1, 3, false, {{0, 2, 3}, {0, 1, 3}, {0, 0, 3}}},
    {"RGBx", Model::rgb, 1, 3, true, {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}, {0, 3, 4}}},
    {"BGRx", Model::rgb, 1, 3, true, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}, {0, 3, 4}}},
    {"xRGB", Model::rgb, 1, 3, true, {{0, 1, 4}, {0, 2, 4}, {0, 3, 4}, {0, 0, 4}}},
    {"xBGR", Model::rgb, 1, 3, true, {{0, 3, 4}, {0, 2, 4}, {0, 1, 4}, {0, 0, 4}}},
    {"RGBA", Model::rgb, 1, 3, true, {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}, {0, 3, 4}}},
    {"BGRA", Model::rgb, 1, 3, true, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}, {0, 3, 4}}},
    {"ARGB", Model::rgb, 1, 3, true, {{0, 1, 4}, {0, 2, 4}, {0, 3, 4}, {0, 0, 4}}},
    {"ABGR", Model::rgb, 1, 3, true, {{0, 3, 4}, {0, 2, 4}, {0, 1, 4}, {0, 0, 4}}},
    {"NV12", Model::yuv, 2, 3, false, {{0, 0, 1}, {1, 0, 2, 2, 2}, {1, 1, 2, 2, 2}}},
    {"I420", Model::yuv, 3, 3, false, {{0, 0, 1}, {1, 0, 1, 2, 2}, {2, 0, 1, 2, 2}}},
};

inline constexpr int format_count = static_cast<int>(sizeof formats / sizeof formats[0]);

inline const Format& format_named(std::string_view name) {
  for (const Format& format : formats)
    if (name == format.name) return format;
  std::fprintf(stderr, "no test format %.*s\n", static_cast<int>(name.size()), name.data());
  std::abort();
}

/// The first component of `plane`: its step and subsampling are those of the whole plane.
constexpr const Place& first_place(const Format& format, int plane) {
  int i = 0;
  while (format.places[i].plane != plane) ++i;
  return format.places[i];
}

/// Samples of `plane` that `luma` samples across or down need: rounded up.
constexpr int rounded_up(int luma, int sub) { return (luma + sub - 1) / sub; }

constexpr int row_bytes(const Format& format, int plane, int width) {
  const Place& place = first_place(format, plane);
  return rounded_up(width, place.sub_x) * place.step;
}

constexpr int row_count(const Format& format, int plane, int height) {
  return rounded_up(height, first_place(format, plane).sub_y);
}

}  // namespace test
