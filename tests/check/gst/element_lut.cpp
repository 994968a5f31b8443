// SPDX-License-Identifier: LGPL-2.1-or-later
// lut-location: files that are read at the start, and while frames go through.

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "gst/cube_files.h"
#include "gst/looks.h"
#include "gst/outlet.h"
#include "gst/support.h"
#include "gst/timelines.h"

namespace {

using namespace test;

void set_lut(GstElement* element, const std::string& location) {
  g_object_set(element, "lut-location", location.c_str(), nullptr);
}

std::string get_lut(GstElement* element) {
  gchar* location = nullptr;
  g_object_get(element, "lut-location", &location, nullptr);
  const std::string text = location ? location : "none";
  g_free(location);
  return text;
}

void expect_location(GstElement* element, const std::string& wanted) {
  const std::string location = get_lut(element);
  fail_unless_equals_string(location.c_str(), wanted.c_str());
}

/// An element that gets frames, and files for it.
struct Fixture {
  explicit Fixture(const char* format = "RGB", unsigned depth = 3)
      : caps(make_caps(format, 34, 22)), element(make_element(depth)), random(800) {}

  std::string make_file(const std::string& name, const std::string& text) const {
    write_file(folder.file(name), text);
    return folder.file(name);
  }

  void start() {
    rig.emplace(std::move(element));
    rig->set_caps(caps.get());
  }

  /// A frame through; what is wrong with it if this is what was to be done.
  std::string mistake(const Look& look) {
    const Frame input = make_plain_frame(caps.get(), random);
    const Ref<GstBuffer> output = rig->process(input.share());
    return look_mistake(output.get(), caps.get(), input.image->view(), look);
  }

  /// Frames until one has the other look; fails where one has neither.
  void wait_for_change(const Look& from, const Look& to) {
    wait_until("a change of the LUT", [&] {
      const Frame input = make_plain_frame(caps.get(), random);
      const Ref<GstBuffer> output = rig->process(input.share());
      if (look_mistake(output.get(), caps.get(), input.image->view(), to).empty()) return true;
      fail_unless_empty(look_mistake(output.get(), caps.get(), input.image->view(), from));
      return false;
    });
  }

  void expect_look(const Look& look) {
    for (int i = 0; i < 3; ++i) fail_unless_empty(mistake(look));
  }

  TempFolder folder;
  Ref<GstCaps> caps;
  Ref<GstElement> element;
  std::optional<Rig> rig;
  Random random;
};

/// The one warning on the bus, which there must be within ten seconds.
Report wait_for_warning(GstBus* bus) {
  std::vector<Report> warnings;
  wait_until("a warning", [&] {
    warnings = take_reports(bus, GST_MESSAGE_WARNING);
    return !warnings.empty();
  });
  fail_unless_equals_int(warnings.size(), 1);
  fail_unless(warnings[0].domain == GST_RESOURCE_ERROR);
  fail_unless_equals_int(warnings[0].code, GST_RESOURCE_ERROR_OPEN_READ);
  return warnings[0];
}

void expect_part(const std::string& text, const std::string& part) {
  fail_unless(text.find(part) != std::string::npos, "no '%s' in: %s", part.c_str(), text.c_str());
}

GST_START_TEST(none_by_default) {
  const Ref<GstElement> element = make_element();
  GParamSpec* spec =
      g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), "lut-location");
  fail_unless(spec != nullptr && G_IS_PARAM_SPEC_STRING(spec));
  fail_unless(G_PARAM_SPEC_STRING(spec)->default_value == nullptr);
  fail_unless(spec->flags & GST_PARAM_MUTABLE_PLAYING);
  expect_location(element.get(), "none");
  set_lut(element.get(), "not read yet");
  expect_location(element.get(), "not read yet");
  set_lut(element.get(), "");
  expect_location(element.get(), "none");
}
GST_END_TEST;

GST_START_TEST(from_the_start) {
  for (const Cube& cube : {turning_cube(2), turning_cube(5), bent_curve()}) {
    Fixture fixture(formats[__i__].name);
    set_lut(fixture.element.get(), fixture.make_file("a.cube", cube.text));
    fixture.start();
    fixture.expect_look({.lut = cube.lut});
    g_object_set(fixture.rig->element(), "saturation", 0.5, "gamma", 1.2, nullptr);
    fixture.expect_look({.saturation = 0.5, .gamma = 1.2, .lut = cube.lut});
    g_object_set(fixture.rig->element(), "lut-location", nullptr, nullptr);
    fixture.expect_look({.saturation = 0.5, .gamma = 1.2});
    fixture.rig->expect_quiet();
  }
}
GST_END_TEST;

/// Files that are no LUT, with what an error must say beside the name.
struct Bad {
  const char* name;
  const char* text;
  const char* part;
};

constexpr Bad bad_files[] = {{"empty.cube", "", ""},
                             {"short.cube", "LUT_1D_SIZE 2\n0 0 0\n", ""},
                             {"word.cube", "LUT_1D_SIZE 2\n0 0 0\n1 one 1\n", ":3"},
                             {"nan.cube", "LUT_1D_SIZE 2\n0 0 nan\n1 1 1\n", ":2"},
                             {"size.cube", "TITLE \"x\"\nLUT_3D_SIZE 1000\n", ":2"}};

/// Paths where there is no regular file to read.
std::vector<std::string> paths_of_no_file(const TempFolder& folder) {
  const std::string fifo = folder.file("fifo.cube");
  fail_unless(mkfifo(fifo.c_str(), 0600) == 0);
  return {fifo, folder.path(), "/dev/zero", folder.file("missing.cube")};
}

void expect_no_start(GstElement* element, const std::string& path, const std::string& part) {
  set_lut(element, path);
  const StartResult result = try_start(element);
  fail_unless(!result.started, "started with %s", path.c_str());
  fail_unless_equals_int(result.errors.size(), 1);
  const Report& error = result.errors[0];
  fail_unless(error.domain == GST_RESOURCE_ERROR);
  fail_unless_equals_int(error.code, GST_RESOURCE_ERROR_OPEN_READ);
  expect_part(error.text, path + part);
  expect_part(error.debug, "lut-location");
  expect_location(element, path);
}

GST_START_TEST(bad_at_the_start) {
  Fixture fixture;
  for (const Bad& bad : bad_files)
    expect_no_start(fixture.element.get(), fixture.make_file(bad.name, bad.text), bad.part);
  for (const std::string& path : paths_of_no_file(fixture.folder))
    expect_no_start(fixture.element.get(), path, "");
  set_lut(fixture.element.get(), fixture.make_file("good.cube", bent_curve().text));
  fixture.start();
  fixture.expect_look({.lut = bent_curve().lut});
}
GST_END_TEST;

// As file choosers name files; %20 is a blank there.
GST_START_TEST(by_uri) {
  Fixture fixture;
  const std::string path = fixture.make_file("a b.cube", bent_curve().text);
  const std::string uri = "file://" + path.substr(0, path.size() - 8) + "a%20b.cube";
  set_lut(fixture.element.get(), uri);
  fixture.start();
  fixture.expect_look({.lut = bent_curve().lut});
  expect_location(fixture.rig->element(), uri);
}
GST_END_TEST;

// No shell is there to replace it, as in lut-location=~/film.cube; the whole path is in the error.
GST_START_TEST(what_only_shells_know) {
  const Ref<GstElement> element = make_element();
  expect_no_start(element.get(), "~/no such.cube",
                  std::string(" begins with ~, which only a shell replaces: write ") +
                      g_get_home_dir() + "/no such.cube");
  expect_no_start(element.get(), "file://elsewhere/a.cube", "");
  expect_no_start(element.get(), "file:///missing%00.cube", "");
}
GST_END_TEST;

GST_START_TEST(while_playing) {
  Fixture fixture("NV12", __i__);
  const Cube turning = turning_cube(17), bent = bent_curve();
  fixture.start();
  fixture.expect_look({});
  set_lut(fixture.rig->element(), fixture.make_file("a.cube", turning.text));
  fixture.wait_for_change({}, {.lut = turning.lut});
  fixture.expect_look({.lut = turning.lut});
  set_lut(fixture.rig->element(), fixture.make_file("b.cube", bent.text));
  fixture.wait_for_change({.lut = turning.lut}, {.lut = bent.lut});
  fixture.expect_look({.lut = bent.lut});
  g_object_set(fixture.rig->element(), "lut-location", nullptr, nullptr);
  fixture.expect_look({});
  fixture.rig->expect_quiet();
}
GST_END_TEST;

// The same name again reads it again.
GST_START_TEST(a_file_that_changed) {
  Fixture fixture;
  const Cube turning = turning_cube(2), bent = bent_curve();
  const std::string path = fixture.make_file("a.cube", turning.text);
  set_lut(fixture.element.get(), path);
  fixture.start();
  fixture.expect_look({.lut = turning.lut});
  fixture.make_file("a.cube", bent.text);
  fixture.expect_look({.lut = turning.lut});
  set_lut(fixture.rig->element(), path);
  fixture.wait_for_change({.lut = turning.lut}, {.lut = bent.lut});
}
GST_END_TEST;

/// A bad one keeps what there was, frames and property, and says which line.
void expect_kept(Fixture& fixture, const std::string& path, const std::string& part,
                 const Look& look, const std::string& old_location) {
  set_lut(fixture.rig->element(), path);
  const Report warning = wait_for_warning(fixture.rig->bus());
  expect_part(warning.text, path + part);
  expect_part(warning.debug, "lut-location");
  expect_location(fixture.rig->element(), old_location);
  fixture.expect_look(look);
}

GST_START_TEST(bad_while_playing) {
  Fixture fixture("I420");
  const Cube cube = turning_cube(3);
  fixture.start();
  for (const Bad& bad : bad_files)
    expect_kept(fixture, fixture.make_file(bad.name, bad.text), bad.part, {}, "none");
  const std::string good = fixture.make_file("good.cube", cube.text);
  set_lut(fixture.rig->element(), good);
  fixture.wait_for_change({}, {.lut = cube.lut});
  for (const Bad& bad : bad_files)
    expect_kept(fixture, fixture.folder.file(bad.name), bad.part, {.lut = cube.lut}, good);
  for (const std::string& path : paths_of_no_file(fixture.folder))
    expect_kept(fixture, path, "", {.lut = cube.lut}, good);
}
GST_END_TEST;

// What is in use after a bad file is what the next start takes.
GST_START_TEST(kept_over_states) {
  Fixture fixture;
  const Cube cube = bent_curve();
  const std::string good = fixture.make_file("good.cube", cube.text);
  set_lut(fixture.element.get(), good);
  fixture.start();
  set_lut(fixture.rig->element(), fixture.folder.file("missing.cube"));
  wait_for_warning(fixture.rig->bus());
  for (int i = 0; i < 3; ++i) {
    fixture.element = fixture.rig->release();
    fixture.rig.reset();
    expect_location(fixture.element.get(), good);
    fixture.start();
    fixture.expect_look({.lut = cube.lut});
  }
}
GST_END_TEST;

GST_START_TEST(the_last_one_wins) {
  Fixture fixture;
  const Cube turning = turning_cube(33), bent = bent_curve();
  const std::string one = fixture.make_file("one.cube", turning.text);
  const std::string other = fixture.make_file("other.cube", bent.text);
  const std::string bad = fixture.folder.file("missing.cube");
  fixture.start();
  for (int round = 0; round < 5; ++round) {
    for (const std::string& path : {one, other, bad, one, bad})
      set_lut(fixture.rig->element(), path);
    set_lut(fixture.rig->element(), round % 2 ? one : other);
    const Look last{.lut = round % 2 ? turning.lut : bent.lut};
    wait_until("the last LUT", [&] { return fixture.mistake(last).empty(); });
    settle();
    fixture.expect_look(last);
    expect_location(fixture.rig->element(), (round % 2 ? one : other));
    set_lut(fixture.rig->element(), one);
    set_lut(fixture.rig->element(), "");
    fixture.expect_look({});
    settle();
    fixture.expect_look({});
  }
}
GST_END_TEST;

GST_START_TEST(to_null_while_loading) {
  Fixture fixture;
  const Cube turning = turning_cube(65), bent = bent_curve();
  const std::string large = fixture.make_file("large.cube", turning.text);
  const std::string small = fixture.make_file("small.cube", bent.text);
  for (int round = 0; round < 4; ++round) {
    set_lut(fixture.element.get(), small);
    fixture.start();
    set_lut(fixture.rig->element(), large);
    if (round % 2) settle();
    fixture.element = fixture.rig->release();
    fixture.rig.reset();
    expect_location(fixture.element.get(), large);
    fixture.start();
    fixture.expect_look({.lut = turning.lut});
    fixture.element = fixture.rig->release();
    fixture.rig.reset();
  }
}
GST_END_TEST;

// Whether or not the stop comes before the file is read.
GST_START_TEST(bad_right_before_the_stop) {
  Fixture fixture;
  const Cube cube = bent_curve();
  const std::string good = fixture.make_file("good.cube", cube.text);
  const std::string bad = fixture.make_file("bad.cube", turning_cube(33).text + "1 2 3\n");
  set_lut(fixture.element.get(), good);
  for (int round = 0; round < 20; ++round) {
    fixture.start();
    fixture.expect_look({.lut = cube.lut});
    set_lut(fixture.rig->element(), bad);
    fixture.element = fixture.rig->release();
    fixture.rig.reset();
    expect_location(fixture.element.get(), good);
  }
}
GST_END_TEST;

// Nobody keeps it but who loads.
GST_START_TEST(gone_while_loading) {
  Fixture fixture;
  const std::string large = fixture.make_file("large.cube", turning_cube(65).text);
  fixture.start();
  GstElement* element = fixture.rig->element();
  gpointer watched = element;
  g_object_add_weak_pointer(G_OBJECT(element), &watched);
  set_lut(element, large);
  fixture.rig.reset();
  wait_until("the end of the element", [&] { return g_atomic_pointer_get(&watched) == nullptr; });
}
GST_END_TEST;

Suite* element_lut_suite() {
  Suite* suite = suite_create("element-lut");
  TCase* cases = tcase_create("lut");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, none_by_default);
  tcase_add_loop_test(cases, from_the_start, 0, format_count);
  tcase_add_test(cases, bad_at_the_start);
  tcase_add_test(cases, by_uri);
  tcase_add_test(cases, what_only_shells_know);
  tcase_add_loop_test(cases, while_playing, 1, 4);
  tcase_add_test(cases, a_file_that_changed);
  tcase_add_test(cases, bad_while_playing);
  tcase_add_test(cases, kept_over_states);
  tcase_add_test(cases, the_last_one_wins);
  tcase_add_test(cases, to_null_while_loading);
  tcase_add_test(cases, bad_right_before_the_stop);
  tcase_add_test(cases, gone_while_loading);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_lut)
