// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/color_properties.h"

#include <cmath>
#include <string>

namespace gst_stripe {

namespace {

constexpr auto while_playing = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                        GST_PARAM_MUTABLE_PLAYING);
constexpr auto controllable = static_cast<GParamFlags>(while_playing | GST_PARAM_CONTROLLABLE);

constexpr guint matrix_rows = 3;
constexpr guint matrix_columns = 4;

GType effect_type() {
  static const GEnumValue values[] = {
      {static_cast<gint>(stripe::Effect::none), "Copy the picture", "none"},
      {static_cast<gint>(stripe::Effect::invert), "Invert colours: 1 - R'G'B'", "invert"},
      {static_cast<gint>(stripe::Effect::gray), "Luma in gray, colour taken out", "gray"},
      {static_cast<gint>(stripe::Effect::sepia), "The brown of old photographs", "sepia"},
      {static_cast<gint>(stripe::Effect::swap_rb), "Exchange red and blue", "swap-rb"},
      {0, nullptr, nullptr},
  };
  static const GType type = [] {
    const GType registered = g_enum_register_static("GstCudaStripeEffect", values);
    gst_type_mark_as_plugin_api(registered, static_cast<GstPluginAPIFlags>(0));
    return registered;
  }();
  return type;
}

double stripe::ColorSettings::*number_of(Property property) {
  using Color = stripe::ColorSettings;
  switch (property) {
    case Property::brightness:
      return &Color::brightness;
    case Property::contrast:
      return &Color::contrast;
    case Property::hue:
      return &Color::hue;
    case Property::saturation:
      return &Color::saturation;
    case Property::gamma:
      return &Color::gamma;
    case Property::threshold:
      return &Color::threshold;
    default:
      return nullptr;
  }
}

void install(GObjectClass* klass, Property property, GParamSpec* spec) {
  g_object_class_install_property(klass, static_cast<guint>(property), spec);
}

void install_balance(GObjectClass* klass) {
  install(klass, Property::brightness,
          g_param_spec_double("brightness", "Brightness", "Brightness, as in videobalance", -1, 1,
                              0, controllable));
  install(klass, Property::contrast,
          g_param_spec_double("contrast", "Contrast", "Contrast, as in videobalance", 0, 2, 1,
                              controllable));
  install(klass, Property::hue,
          g_param_spec_double("hue", "Hue",
                              "Turns colours round, by half a circle at -1 and 1, as in "
                              "videobalance",
                              -1, 1, 0, controllable));
  install(klass, Property::saturation,
          g_param_spec_double("saturation", "Saturation",
                              "Strength of colours, none at 0, as in videobalance", 0, 2, 1,
                              controllable));
}

bool is_number(const GValue* value) {
  switch (G_VALUE_TYPE(value)) {
    case G_TYPE_INT:
    case G_TYPE_UINT:
    case G_TYPE_LONG:
    case G_TYPE_ULONG:
    case G_TYPE_INT64:
    case G_TYPE_UINT64:
    case G_TYPE_FLOAT:
    case G_TYPE_DOUBLE:
      return true;
    default:
      return false;
  }
}

// NaN for what is no number.
double to_double(const GValue* value) {
  GValue number = G_VALUE_INIT;
  g_value_init(&number, G_TYPE_DOUBLE);
  const bool transformed = is_number(value) && g_value_transform(value, &number);
  return transformed ? g_value_get_double(&number) : std::nan("");
}

double read_entry(const GValue* array, guint index) {
  const double value = to_double(gst_value_array_get_value(array, index));
  if (!std::isfinite(value))
    throw SettingsError("entry " + std::to_string(index + 1) + " is no finite number");
  return value;
}

void check_row(const GValue* row, guint columns) {
  if (!GST_VALUE_HOLDS_ARRAY(row)) throw SettingsError("only some rows of the matrix are arrays");
  if (gst_value_array_get_size(row) != columns ||
      (columns != matrix_rows && columns != matrix_columns))
    throw SettingsError("each row of a matrix has 4 numbers, r g b offset, or each has 3, r g b");
}

// Rows that are arrays of their own, as audioconvert's mix-matrix has them.
stripe::ColorMatrix read_nested_matrix(const GValue* rows) {
  const guint columns = gst_value_array_get_size(gst_value_array_get_value(rows, 0));
  stripe::ColorMatrix matrix{};
  for (guint i = 0; i < matrix_rows; ++i) {
    const GValue* row = gst_value_array_get_value(rows, i);
    check_row(row, columns);
    for (guint k = 0; k < columns; ++k) matrix[i][k] = read_entry(row, k);
  }
  return matrix;
}

stripe::ColorMatrix read_matrix(const GValue* array) {
  const guint size = gst_value_array_get_size(array);
  if (size == matrix_rows && GST_VALUE_HOLDS_ARRAY(gst_value_array_get_value(array, 0)))
    return read_nested_matrix(array);
  if (size != matrix_rows * matrix_columns && size != matrix_rows * matrix_rows)
    throw SettingsError(
        "a matrix has 12 numbers, three rows of r g b offset, or 9, without the offsets, or three "
        "arrays that are its rows, not " +
        std::to_string(size) + " entries");
  const guint columns = size / matrix_rows;
  stripe::ColorMatrix matrix{};
  for (guint i = 0; i < size; ++i) matrix[i / columns][i % columns] = read_entry(array, i);
  return matrix;
}

void write_matrix(const stripe::ColorMatrix& matrix, GValue* array) {
  g_value_reset(array);
  for (const auto& row : matrix) {
    for (const double number : row) {
      GValue entry = G_VALUE_INIT;
      g_value_init(&entry, G_TYPE_DOUBLE);
      g_value_set_double(&entry, number);
      gst_value_array_append_and_take_value(array, &entry);
    }
  }
}

// GObject's check of a range lets NaN pass.
double read_number(const GValue* value) {
  const double number = g_value_get_double(value);
  if (std::isnan(number)) throw SettingsError("the value is not a number");
  return number;
}

}  // namespace

void install_color_properties(GObjectClass* klass) {
  install(klass, Property::effect,
          g_param_spec_enum("effect", "Effect",
                            "What is done to the picture first; none copies it through the device "
                            "all the same",
                            effect_type(), static_cast<gint>(stripe::Effect::none), while_playing));
  // Entries of no type of their own: GStreamer would make zeros of a user's integers.
  install(klass, Property::matrix,
          gst_param_spec_array("matrix", "Matrix",
                               "12 numbers, rows of r g b offset on R'G'B' in 0..1: "
                               "\"<1,0,0,0, 0,1,0,0, 0,0,1,0>\" changes nothing; or 9, without "
                               "offsets; or three arrays, one a row",
                               nullptr, while_playing));
  install_balance(klass);
  install(klass, Property::gamma,
          g_param_spec_double("gamma", "Gamma",
                              "R', G' and B' to the power of 1 / gamma; above 1 is brighter", 0.01,
                              10, 1, controllable));
  install(klass, Property::threshold,
          g_param_spec_double("threshold", "Threshold",
                              "Luma of at least so much becomes white, all else black (-1: off)",
                              -1, 1, -1, controllable));
  install(klass, Property::lut_location,
          g_param_spec_string("lut-location", "LUT location",
                              "Look-up table to put colours through: a .cube file, 1D or 3D, by "
                              "its name or file URI",
                              nullptr, while_playing));
}

bool set_color_setting(stripe::ColorSettings& settings, Property property, const GValue* value) {
  if (double stripe::ColorSettings::*const number = number_of(property)) {
    settings.*number = read_number(value);
    return true;
  }
  switch (property) {
    case Property::effect:
      settings.effect = static_cast<stripe::Effect>(g_value_get_enum(value));
      return true;
    case Property::matrix:
      settings.matrix = read_matrix(value);
      return true;
    default:
      return false;
  }
}

bool get_color_setting(const stripe::ColorSettings& settings, Property property, GValue* value) {
  if (const double stripe::ColorSettings::*const number = number_of(property)) {
    g_value_set_double(value, settings.*number);
    return true;
  }
  switch (property) {
    case Property::effect:
      g_value_set_enum(value, static_cast<gint>(settings.effect));
      return true;
    case Property::matrix:
      write_matrix(settings.matrix, value);
      return true;
    default:
      return false;
  }
}

}  // namespace gst_stripe
