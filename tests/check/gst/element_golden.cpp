// SPDX-License-Identifier: LGPL-2.1-or-later
// The golden tables of docs/semantics.md: every pixel of them through the element comes out as written.

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "gst/frames.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr int least_pixels_per_effect = 50;
constexpr int mistakes_to_print = 10;

struct Size {
  int width;
  int height;
};

constexpr Size sizes[] = {{1, 1}, {5, 3}};

using Cells = std::vector<std::string>;
using Codes = std::vector<std::uint8_t>;

/// One pixel, and what it becomes.
struct Golden {
  std::string place;  ///< file:line
  Codes in;
  Codes out;
};

/// What the pixels of a group have in common: format, colorimetry, and the heading of the column
/// that says what they become, such as effect=gray or hue=0.2 saturation=1.5.
using GroupKey = std::tuple<std::string, std::string, std::string>;
using Groups = std::map<GroupKey, std::vector<Golden>>;

/// Meson gives the path; tests/gpu/run starts programs elsewhere, in the repository's root.
std::string document_path() {
  const char* given = std::getenv("STRIPE_TEST_SEMANTICS");
  return given ? given : "docs/semantics.md";
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// The cells of a line of a table; none where the line belongs to no table.
Cells cells_of(const std::string& line) {
  Cells cells;
  std::istringstream rest(line);
  std::string cell;
  if (!std::getline(rest, cell, '|') || !trimmed(cell).empty()) return {};
  while (std::getline(rest, cell, '|')) cells.push_back(trimmed(cell));
  return cells;
}

bool is_heading(const Cells& cells) {
  return cells.size() > 3 && cells[0] == "format" && cells[1] == "colorimetry" && cells[2] == "in";
}

bool is_rule(const Cells& cells) {
  for (const std::string& cell : cells)
    if (cell.empty() || cell.find_first_not_of("-:") != std::string::npos) return false;
  return true;
}

const Format* find_format(const std::string& name) {
  for (const Format& format : formats)
    if (name == format.name) return &format;
  return nullptr;
}

/// Fails the test where the text is not `count` codes.
Codes parse_codes(const std::string& text, int count, const std::string& place) {
  Codes codes;
  std::istringstream rest(text);
  int code = 0;
  while (rest >> code) {
    fail_unless(code >= 0 && code <= 255, "%s: %d is no code", place.c_str(), code);
    codes.push_back(static_cast<std::uint8_t>(code));
  }
  fail_unless(rest.eof() && static_cast<int>(codes.size()) == count, "%s: '%s' is not %d codes",
              place.c_str(), text.c_str(), count);
  return codes;
}

/// Adds the pixels of one row, one for each column; fails the test where they can't be read.
void add_row(const Cells& heading, const Cells& cells, const std::string& place, Groups& groups) {
  fail_unless(cells.size() == heading.size(), "%s: %zu cells below %zu headings", place.c_str(),
              cells.size(), heading.size());
  const Format* format = find_format(cells[0]);
  fail_unless(format != nullptr, "%s: no format '%s'", place.c_str(), cells[0].c_str());
  const Codes in = parse_codes(cells[2], format->components(), place);
  for (std::size_t i = 3; i < cells.size(); ++i)
    groups[{cells[0], cells[1], heading[i]}].push_back(
        {place, in, parse_codes(cells[i], format->components(), place)});
}

/// All golden tables of the document; fails the test where there is none. Other tables have other
/// headings.
Groups read_groups() {
  const std::string path = document_path();
  std::ifstream file(path);
  fail_unless(file.is_open(), "cannot read %s", path.c_str());
  Groups groups;
  Cells heading;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const Cells cells = cells_of(line);
    if (is_heading(cells)) {
      heading = cells;
    } else if (cells.empty()) {
      heading.clear();
    } else if (!heading.empty() && !is_rule(cells)) {
      add_row(heading, cells, path + ":" + std::to_string(number), groups);
    }
  }
  fail_if(groups.empty(), "no golden table in %s", path.c_str());
  return groups;
}

/// The values of the property `effect`, as the element itself lists them.
std::vector<std::string> effects_of_the_element() {
  const Ref<GstElement> element = make_element();
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), "effect");
  fail_unless(spec != nullptr && G_IS_PARAM_SPEC_ENUM(spec), "effect is no enum property");
  const GEnumClass* values = G_PARAM_SPEC_ENUM(spec)->enum_class;
  std::vector<std::string> nicks;
  for (guint i = 0; i < values->n_values; ++i) nicks.push_back(values->values[i].value_nick);
  return nicks;
}

/// Sets each `property=value`; fails the test where the element does not take one. No heading names
/// a default but that of `effect`.
void apply_heading(GstElement* element, const std::string& heading) {
  std::istringstream words(heading);
  std::string word;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    fail_unless(equals != std::string::npos, "'%s' is not property=value", word.c_str());
    const std::string property = word.substr(0, equals), value = word.substr(equals + 1);
    GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), property.c_str());
    fail_unless(spec != nullptr, "there is no property '%s'", property.c_str());
    gst_util_set_object_arg(G_OBJECT(element), property.c_str(), value.c_str());
    GValue now = G_VALUE_INIT;
    g_value_init(&now, spec->value_type);
    g_object_get_property(G_OBJECT(element), property.c_str(), &now);
    fail_if(word != "effect=none" && g_param_value_defaults(spec, &now), "%s was not taken",
            word.c_str());
    g_value_unset(&now);
  }
}

/// Gives every pixel the same codes.
void paint(const Picture& picture, const Codes& codes) {
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      for (int i = 0; i < picture.format->components(); ++i) picture.sample(i, x, y) = codes[i];
}

/// How a picture of the golden pixel comes out wrong, in words; empty if it does not.
std::string mistake_with(const Golden& golden, Rig& rig, const GstCaps* caps, Random& random) {
  const Frame input = make_frame(caps, random_geometry(random, false), random);
  const Picture& picture = input.image->picture();
  paint(picture, golden.in);
  const Ref<GstBuffer> output = rig.process(input.share());
  const GuardedImage expected(*picture.format, picture.width, picture.height, {}, random);
  paint(expected.picture(), golden.out);
  return difference(expected.view(), MappedPicture(output.get(), info_of(caps)).view());
}

/// The mistakes in one group of pixels, a line each.
std::vector<std::string> check_group(const GroupKey& key, const std::vector<Golden>& pixels,
                                     Size size) {
  const auto& [format, colorimetry, heading] = key;
  Ref<GstElement> element = make_element();
  apply_heading(element.get(), heading);
  Rig rig(std::move(element));
  const Ref<GstCaps> caps = make_caps(format, size.width, size.height, colorimetry);
  rig.set_caps(caps.get());
  Random random;
  std::vector<std::string> mistakes;
  for (const Golden& golden : pixels) {
    const std::string text = mistake_with(golden, rig, caps.get(), random);
    if (!text.empty())
      mistakes.push_back(golden.place + ": " + colorimetry + " " + heading + ": " + text);
  }
  rig.expect_quiet();
  return mistakes;
}

/// The first few, for a message of reasonable length.
std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < mistakes_to_print; ++i) text += lines[i] + "\n";
  if (!lines.empty()) text += "mistakes: " + std::to_string(lines.size());
  return text;
}

GST_START_TEST(golden_pixels) {
  std::vector<std::string> mistakes;
  for (const auto& [key, pixels] : read_groups())
    for (const std::string& text : check_group(key, pixels, sizes[__i__])) mistakes.push_back(text);
  fail_unless_empty(joined(mistakes));
}
GST_END_TEST;

// So that nobody adds an effect and forgets to say what it does.
GST_START_TEST(every_effect_has_its_pixels) {
  std::map<std::string, int> pixel_counts;
  for (const auto& [key, pixels] : read_groups())
    pixel_counts[std::get<2>(key)] += static_cast<int>(pixels.size());
  for (const std::string& effect : effects_of_the_element()) {
    const int count = pixel_counts["effect=" + effect];
    fail_unless(count >= least_pixels_per_effect, "%s has %d pixels for effect=%s, not %d",
                document_path().c_str(), count, effect.c_str(), least_pixels_per_effect);
  }
}
GST_END_TEST;

Suite* element_golden_suite() {
  Suite* suite = suite_create("element-golden");
  TCase* cases = tcase_create("pixels");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, golden_pixels, 0, G_N_ELEMENTS(sizes));
  tcase_add_test(cases, every_effect_has_its_pixels);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_golden)
