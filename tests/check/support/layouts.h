// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The tests' formats and pictures in the words of cuda/. Apart from formats.h, which the tests of
// the element use without seeing cuda/.

#include "cuda/image.h"
#include "cuda/operation.h"
#include "cuda/pixel_layout.h"
#include "cuda/plan.h"
#include "support/formats.h"
#include "support/reference.h"

namespace test {

inline constexpr stripe::StripeLayout stripe_layouts[] = {
    stripe::StripeLayout::rows, stripe::StripeLayout::columns, stripe::StripeLayout::tiles};

inline stripe::ColorModel color_model(Model model) {
  switch (model) {
    case Model::gray:
      return stripe::ColorModel::gray;
    case Model::rgb:
      return stripe::ColorModel::rgb;
    case Model::yuv:
      break;
  }
  return stripe::ColorModel::yuv;
}

inline stripe::PixelLayout layout_of(const Format& format) {
  stripe::PixelLayout layout{};
  layout.model = color_model(format.model);
  layout.plane_count = static_cast<unsigned char>(format.planes);
  layout.color_count = static_cast<unsigned char>(format.colors);
  layout.has_extra = format.has_extra;
  for (int i = 0; i < format.components(); ++i) {
    const Place& place = format.places[i];
    layout.components[i] = {
        static_cast<unsigned char>(place.plane), static_cast<unsigned char>(place.offset),
        static_cast<unsigned char>(place.step), static_cast<unsigned char>(place.sub_x - 1),
        static_cast<unsigned char>(place.sub_y - 1)};
  }
  return layout;
}

inline stripe::Effect effect_of(Effect effect) {
  switch (effect) {
    case Effect::none:
      return stripe::Effect::none;
    case Effect::invert:
      return stripe::Effect::invert;
    case Effect::gray:
      break;
  }
  return stripe::Effect::gray;
}

inline stripe::Colorimetry colorimetry_of(const Colors& colors) {
  return {colors.kr, colors.kb, colors.full_range};
}

inline stripe::Operation operation_of(Effect effect, const Format& format, const Colors& colors) {
  return stripe::prepare_operation({.effect = effect_of(effect)}, layout_of(format),
                                   colorimetry_of(colors));
}

inline stripe::Operation operation_of(const stripe::ColorSettings& settings, const Format& format,
                                      const Colors& colors) {
  return stripe::prepare_operation(settings, layout_of(format), colorimetry_of(colors));
}

inline stripe::ConstImage image_of(const ConstPicture& picture) {
  stripe::ConstImage image;
  for (int i = 0; i < picture.format->planes; ++i)
    image.planes[i] = {reinterpret_cast<const std::byte*>(picture.planes[i].data),
                       picture.planes[i].stride};
  return image;
}

inline stripe::Image image_of(const Picture& picture) {
  stripe::Image image;
  for (int i = 0; i < picture.format->planes; ++i)
    image.planes[i] = {reinterpret_cast<std::byte*>(picture.planes[i].data),
                       picture.planes[i].stride};
  return image;
}

}  // namespace test
