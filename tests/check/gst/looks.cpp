// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/looks.h"

namespace test {
namespace {

const char* nick_of_effect(stripe::Effect effect) {
  switch (effect) {
    case stripe::Effect::none:
      return "none";
    case stripe::Effect::invert:
      return "invert";
    case stripe::Effect::gray:
      return "gray";
    case stripe::Effect::sepia:
      return "sepia";
    case stripe::Effect::swap_rb:
      return "swap-rb";
  }
  return "unknown";
}

void append_double(GValue* array, double number) {
  GValue entry = G_VALUE_INIT;
  g_value_init(&entry, G_TYPE_DOUBLE);
  g_value_set_double(&entry, number);
  gst_value_array_append_and_take_value(array, &entry);
}

GuardedImage canvas_like(const ConstPicture& picture) {
  Random random;
  return GuardedImage(*picture.format, picture.width, picture.height, {}, random);
}

std::string sample_mistake(const ConstPicture& least, const ConstPicture& greatest,
                           const ConstPicture& got) {
  for (int y = 0; y < got.height; ++y) {
    for (int x = 0; x < got.width; ++x) {
      for (int i = 0; i < got.format->components(); ++i) {
        const int low = least.sample(i, x, y), high = greatest.sample(i, x, y);
        const int sample = got.sample(i, x, y);
        if (sample >= low && sample <= high) continue;
        return ": component " + std::to_string(i) + " of pixel " + std::to_string(x) + "," +
               std::to_string(y) + " is " + std::to_string(sample) + ", not " +
               std::to_string(low) + " to " + std::to_string(high);
      }
    }
  }
  return "";
}

}  // namespace

void set_look(GstElement* element, const Look& look) {
  set_nick(element, "effect", nick_of_effect(look.effect));
  set_matrix(element, look.matrix);
  g_object_set(element, "brightness", look.brightness, "contrast", look.contrast, "hue", look.hue,
               "saturation", look.saturation, "gamma", look.gamma, "threshold", look.threshold,
               nullptr);
}

void set_matrix(GstElement* element, const stripe::ColorMatrix& matrix) {
  GValue array = G_VALUE_INIT;
  gst_value_array_init(&array, 12);
  for (const auto& row : matrix)
    for (const double number : row) append_double(&array, number);
  g_object_set_property(G_OBJECT(element), "matrix", &array);
  g_value_unset(&array);
}

stripe::ColorMatrix get_matrix(GstElement* element) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  g_object_get_property(G_OBJECT(element), "matrix", &array);
  fail_unless_equals_int(gst_value_array_get_size(&array), 12);
  stripe::ColorMatrix matrix{};
  for (guint i = 0; i < 12; ++i)
    matrix[i / 4][i % 4] = g_value_get_double(gst_value_array_get_value(&array, i));
  g_value_unset(&array);
  return matrix;
}

Look random_look(Random& random) {
  Look look = random_settings(random, random.one_in(3));
  look.lut.reset();
  return look;
}

std::string look_mistake(GstBuffer* output, const GstCaps* caps, const ConstPicture& input,
                         const Look& look) {
  const GstVideoInfo info = info_of(caps);
  const Colors colors = colors_of(info);
  const MappedPicture got(output, info);
  const GuardedImage least = canvas_like(input), greatest = canvas_like(input);
  in_double(look, colors, input, least.picture(), greatest.picture());
  const std::string text = sample_mistake(least.view(), greatest.view(), got.view());
  if (!text.empty()) return input.format->name + (", " + describe(look)) + text;
  if (!is_affine(look)) return "";
  exact(look, colors, input, least.picture());
  const std::string other = difference(least.view(), got.view());
  return other.empty() ? "" : describe(look) + ", exactly: " + other;
}

}  // namespace test
