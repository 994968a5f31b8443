// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/pixel_layout.h"

namespace benchmark {

inline constexpr stripe::PixelLayout rgb = {
    stripe::ColorModel::rgb, 1, 3, false, {{0, 0, 3, 0, 0}, {0, 1, 3, 0, 0}, {0, 2, 3, 0, 0}}};
inline constexpr stripe::PixelLayout rgba = {
    stripe::ColorModel::rgb,
    1,
    3,
    true,
    {{0, 0, 4, 0, 0}, {0, 1, 4, 0, 0}, {0, 2, 4, 0, 0}, {0, 3, 4, 0, 0}}};
inline constexpr stripe::PixelLayout nv12 = {
    stripe::ColorModel::yuv, 2, 3, false, {{0, 0, 1, 0, 0}, {1, 0, 2, 1, 1}, {1, 1, 2, 1, 1}}};

struct Size {
  const char* name;
  const char* format;  // GStreamer's name
  stripe::PixelLayout layout;
  int width;
  int height;
};

// What the benchmarks go through.
inline constexpr Size sizes[] = {
    {"1080p RGB", "RGB", rgb, 1920, 1080},
    {"1080p RGBA", "RGBA", rgba, 1920, 1080},
    {"1080p NV12", "NV12", nv12, 1920, 1080},
    {"2160p RGBA", "RGBA", rgba, 3840, 2160},
};

// What the sweep goes through.
inline constexpr Size swept_sizes[] = {
    {"720p RGBA", "RGBA", rgba, 1280, 720},
    {"1080p RGBA", "RGBA", rgba, 1920, 1080},
    {"2160p RGBA", "RGBA", rgba, 3840, 2160},
};

}  // namespace benchmark
