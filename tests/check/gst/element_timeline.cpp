// SPDX-License-Identifier: LGPL-2.1-or-later
// `timeline-location` and `timeline-frames`: what is written when, and that no frame is lost for it.

#include <glib/gstdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "gst/outlet.h"
#include "gst/timelines.h"
#include "support/backend.h"
#include "support/svg.h"

namespace {

using namespace test;

constexpr unsigned depths[] = {1, 2, 3};
constexpr int depth_count = static_cast<int>(std::size(depths));

bool flag_of(const Trace& trace, const char* name) {
  const Json* flag = trace.other.find(name, Json::Type::boolean);
  fail_unless(flag != nullptr, "no %s", name);
  return flag->boolean;
}

int number_of(const Trace& trace, const char* name) {
  const Json* number = trace.other.find(name, Json::Type::number);
  fail_unless(number != nullptr, "no %s", name);
  return static_cast<int>(number->number);
}

// --- properties

/// `timeline-location`; empty for NULL, never for an empty string.
std::string location_of(GstElement* element) {
  gchar* location = nullptr;
  g_object_get(element, "timeline-location", &location, nullptr);
  const std::string out = location ? location : "";
  fail_unless(!location || *location);
  g_free(location);
  return out;
}

GST_START_TEST(set_and_get) {
  const Ref<GstElement> element = make_element();
  fail_unless(location_of(element.get()).empty());
  for (const char* name : {"/tmp/a.json", "b c.svg", "not checked here"}) {
    g_object_set(element.get(), "timeline-location", name, "timeline-frames", 1000,
                 "stats-interval", G_MAXUINT, nullptr);
    guint frames = 0, interval = 0;
    g_object_get(element.get(), "timeline-frames", &frames, "stats-interval", &interval, nullptr);
    const std::string location = location_of(element.get());
    fail_unless_equals_string(location.c_str(), name);
    fail_unless(frames == 1000 && interval == G_MAXUINT);
  }
  for (const char* nothing : {static_cast<const char*>(nullptr), ""}) {
    g_object_set(element.get(), "timeline-location", nothing, nullptr);
    fail_unless(location_of(element.get()).empty());
    fail_unless(try_start(element.get()).started);
  }
}
GST_END_TEST;

// --- when

GST_START_TEST(written_when_complete) {
  const unsigned depth = depths[__i__];
  const TempFolder folder;
  const std::string path = folder.file("t.json");
  TimelineFixture one({.location = path, .depth = depth});
  one.run(warm_up(depth) + 4);
  settle();
  fail_unless(!exists(path), "too early");
  one.run(1);
  wait_until("the timeline", [&] { return exists(path); });
  const Trace trace = expect_trace(path, numbers(warm_up(depth), 5), 4);
  fail_unless(!flag_of(trace, "warming-up"));
  fail_unless_equals_int(number_of(trace, "warm-up-frames-left-out"), warm_up(depth));
  // Once: what is done with the file afterwards is no concern of the element's.
  g_remove(path.c_str());
  one.run(40);
  one.end_stream();
  one.stop();
  fail_unless(!exists(path), "written again");
}
GST_END_TEST;

GST_START_TEST(fewer_frames_at_eos) {
  const unsigned depth = depths[__i__];
  const TempFolder folder;
  TimelineFixture one({.location = folder.file("t.json"), .frames = 1000, .depth = depth});
  one.run(warm_up(depth) + 2);
  fail_unless(!exists(folder.file("t.json")));
  one.end_stream();  // who sees EOS finds the file
  expect_trace(folder.file("t.json"), numbers(warm_up(depth), 2), 4);
}
GST_END_TEST;

GST_START_TEST(fewer_frames_at_the_stop) {
  const unsigned depth = depths[__i__];
  const TempFolder folder;
  TimelineFixture one({.location = folder.file("t.json"), .frames = 1000, .depth = depth});
  one.run(warm_up(depth) + 3);
  fail_unless(!exists(folder.file("t.json")));
  one.stop();
  expect_trace(folder.file("t.json"), numbers(warm_up(depth), 3), 4);
}
GST_END_TEST;

// A stream that is shorter than the warm-up is all there is, and the file says so.
GST_START_TEST(shorter_than_the_warm_up) {
  const unsigned depth = depths[__i__];
  for (const int frames : {1, 3, warm_up(depth)}) {
    const TempFolder folder;
    TimelineFixture one({.location = folder.file("t.json"), .depth = depth});
    one.run(frames);
    one.end_stream();
    const Trace trace = expect_trace(folder.file("t.json"), numbers(0, frames), 4);
    fail_unless(flag_of(trace, "warming-up"));
    fail_unless_equals_int(number_of(trace, "warm-up-frames-left-out"), 0);
  }
}
GST_END_TEST;

GST_START_TEST(each_session_writes_its_own) {
  const TempFolder folder;
  const TimelineSetup setup{.location = folder.file("t.json"), .frames = 3};
  Ref<GstElement> element = make_timeline_element(setup);
  for (int session = 0; session < 3; ++session) {
    TimelineFixture one(std::move(element), setup);
    one.run(warm_up(3) + 1 + session);
    element = one.stop();
    expect_trace(setup.location, numbers(warm_up(3), 1 + session), 4);
  }
}
GST_END_TEST;

// Frames are numbered since the start, whatever caps they have.
GST_START_TEST(across_a_change_of_caps) {
  const TempFolder folder;
  TimelineFixture one({.location = folder.file("t.json"), .frames = 6});
  one.run(warm_up(3) + 2);
  one.caps = make_caps("RGBA", 33, 31);
  one.rig.set_caps(one.caps.get());
  for (int i = 0; i < 4; ++i) one.process(one.make());
  wait_until("the timeline", [&] { return exists(folder.file("t.json")); });
  expect_trace(folder.file("t.json"), numbers(warm_up(3), 6), 4);
}
GST_END_TEST;

// --- what

GST_START_TEST(the_rows_of_all_streams) {
  const TempFolder folder;
  TimelineFixture one({.location = folder.file("t.json"), .stripes = 7, .streams = 5});
  one.run(warm_up(3) + 5);
  one.stop();
  const Trace trace = expect_trace(folder.file("t.json"), numbers(warm_up(3), 5), 7);
  for (const TraceSpan& span : trace.spans)
    if (span.stripe >= 0)
      fail_unless(span.row == "stream " + std::to_string((span.frame * 7 + span.stripe) % 5),
                  "frame %d, stripe %d in row %s", static_cast<int>(span.frame),
                  static_cast<int>(span.stripe), span.row.c_str());
}
GST_END_TEST;

GST_START_TEST(staging_has_its_rows) {
  for (const unsigned depth : depths) {
    const TempFolder folder;
    const TimelineSetup setup{.location = folder.file("t.json"), .depth = depth};
    Ref<GstElement> element = make_timeline_element(setup);
    set_nick(element.get(), "page-lock", "stage");
    TimelineFixture one(std::move(element), setup);
    for (int i = 0; i < 10; ++i) one.process_new(2);  // several in flight
    one.stop();
    const Trace trace = expect_trace(folder.file("t.json"), numbers(warm_up(depth), 5), 4);
    // Each plane of each stripe, in and out.
    std::size_t copies = 0;
    for (const TraceSpan& span : trace.spans)
      copies += span.name.find("staging") != std::string::npos;
    fail_unless_equals_uint64(copies, 5 * 4 * 3 * 2);
  }
}
GST_END_TEST;

GST_START_TEST(a_picture) {
  const TempFolder folder;
  TimelineFixture one({.location = folder.file("t.svg")});
  one.run(warm_up(3) + 5);
  one.stop();
  const Svg svg = read_svg(read_file(folder.file("t.svg")));
  fail_unless_empty(svg.fault);
  for (const char* words : {"stream 0", "stream 2", "push", "65x63 I420", "4 stripes a frame",
                            "link used", "5 frames", "after 8 that warmed up"})
    fail_unless(svg.says(words), "%s", words);
  fail_unless(svg.says("Mapped") == is_mapped_run() && svg.says("Overlap") != is_mapped_run());
}
GST_END_TEST;

// --- bad paths

struct BadPath {
  const char* name;
  int code;
};

constexpr BadPath bad_paths[] = {{"t.txt", GST_RESOURCE_ERROR_SETTINGS},
                                 {"t", GST_RESOURCE_ERROR_SETTINGS},
                                 {"t.json.gz", GST_RESOURCE_ERROR_SETTINGS},
                                 {"/dev/full", GST_RESOURCE_ERROR_SETTINGS},
                                 {"missing/t.json", GST_RESOURCE_ERROR_OPEN_WRITE},
                                 {"file/t.svg", GST_RESOURCE_ERROR_OPEN_WRITE},
                                 {"folder.json", GST_RESOURCE_ERROR_OPEN_WRITE},
                                 {"fifo.json", GST_RESOURCE_ERROR_OPEN_WRITE},
                                 {"full.json", GST_RESOURCE_ERROR_OPEN_WRITE}};

void fill_with_traps(const TempFolder& folder) {
  fail_unless(g_mkdir(folder.file("folder.json").c_str(), 0755) == 0);
  fail_unless(mkfifo(folder.file("fifo.json").c_str(), 0644) == 0);
  fail_unless(symlink("/dev/full", folder.file("full.json").c_str()) == 0);
  fail_unless(g_file_set_contents(folder.file("file").c_str(), "x", 1, nullptr));
}

std::string path_in(const TempFolder& folder, const char* name) {
  return name[0] == '/' ? name : folder.file(name);
}

bool is_fifo(const std::string& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

/// An error from NULL to READY, exactly one, and afterwards the element works with a good path.
void expect_refused(const std::string& path, int code) {
  const Ref<GstElement> element = make_timeline_element({.location = path});
  const StartResult result = try_start(element.get());
  fail_unless(!result.started, "%s", path.c_str());
  fail_unless(result.errors.size() == 1, "%zu errors of %s", result.errors.size(), path.c_str());
  const Report& error = result.errors[0];
  fail_unless(error.domain == GST_RESOURCE_ERROR && error.code == code, "%s: %d %s", path.c_str(),
              error.code, error.text.c_str());
  fail_unless(error.text.find(path) != std::string::npos || code != GST_RESOURCE_ERROR_SETTINGS);
  fail_unless(error.debug.find("timeline-location") != std::string::npos, "%s",
              error.debug.c_str());
  g_object_set(element.get(), "timeline-location", nullptr, nullptr);
  fail_unless(try_start(element.get()).started);
}

// Where permissions promise what the file system refuses, to root at least.
GST_START_TEST(a_folder_without_files_is_refused) {
  expect_refused("/proc/cudastripetransform.json", GST_RESOURCE_ERROR_OPEN_WRITE);
}
GST_END_TEST;

// The check leaves nothing behind, and an older timeline as it is.
GST_START_TEST(the_check_touches_nothing) {
  const TempFolder folder;
  const std::string path = folder.file("t.json");
  fail_unless(g_file_set_contents(path.c_str(), "older", -1, nullptr));
  const Ref<GstElement> element = make_element();
  g_object_set(element.get(), "timeline-location", path.c_str(), nullptr);
  fail_unless(try_start(element.get()).started);
  gchar* text = nullptr;
  fail_unless(g_file_get_contents(path.c_str(), &text, nullptr, nullptr));
  fail_unless_equals_string(text, "older");
  g_free(text);
  GDir* files = g_dir_open(folder.path().c_str(), 0, nullptr);
  fail_unless_equals_string(g_dir_read_name(files), "t.json");
  fail_unless(g_dir_read_name(files) == nullptr);
  g_dir_close(files);
}
GST_END_TEST;

GST_START_TEST(bad_paths_are_refused) {
  const TempFolder folder;
  fill_with_traps(folder);
  for (const BadPath& bad : bad_paths) expect_refused(path_in(folder, bad.name), bad.code);
  fail_unless(is_fifo(folder.file("fifo.json")));
}
GST_END_TEST;

// Where only others may write. Root may everywhere, and so becomes nobody, in a child of its own.
GST_START_TEST(no_right_to_write) {
  if (geteuid() == 0 && backend_is_cuda()) {
    std::fprintf(stderr, "NOT TESTED: root may write everywhere\n");
    return;
  }
  const TempFolder folder;
  make_element();  // the plugin is loaded while it can be read
  const std::string file = folder.file("mine.json");
  fail_unless(g_file_set_contents(file.c_str(), "x", 1, nullptr));
  fail_unless(g_chmod(file.c_str(), 0444) == 0 && g_chmod(folder.path().c_str(), 0555) == 0);
  const uid_t user = geteuid();
  if (user == 0) fail_unless(setresuid(65534, 65534, 0) == 0);
  expect_refused(file, GST_RESOURCE_ERROR_OPEN_WRITE);
  expect_refused(folder.file("new.svg"), GST_RESOURCE_ERROR_OPEN_WRITE);
  if (user == 0) fail_unless(setresuid(0, 0, 0) == 0);
  fail_unless(g_chmod(folder.path().c_str(), 0755) == 0);
}
GST_END_TEST;

/// Set in READY, when NULL to READY is past. What is there must stay what it is.
GST_START_TEST(bad_paths_in_ready) {
  const TempFolder folder;
  fill_with_traps(folder);
  for (const char* name : {"fifo.json", "t.txt"}) {
    const std::string path = folder.file(name);
    Ref<GstElement> element = make_timeline_element({});
    const Ref<GstBus> bus(gst_bus_new());
    gst_element_set_bus(element.get(), bus.get());
    gst_element_set_state(element.get(), GST_STATE_READY);
    g_object_set(element.get(), "timeline-location", path.c_str(), nullptr);
    const bool refused =
        gst_element_set_state(element.get(), GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE;
    const std::vector<Report> errors = take_reports(bus.get(), GST_MESSAGE_ERROR);
    gst_element_set_state(element.get(), GST_STATE_NULL);
    gst_element_set_bus(element.get(), nullptr);
    fail_unless(refused && errors.size() == 1, "%s: %zu errors", name, errors.size());
    fail_unless(is_fifo(folder.file("fifo.json")) && !exists(folder.file("t.txt")), "%s", name);
  }
}
GST_END_TEST;

/// All frames come through, and one warning says that the timeline is lost.
void expect_lost(TimelineFixture& one, int frames_so_far) {
  one.run(20);
  one.end_stream();
  const std::vector<Said> said = with(take_said(one.rig.bus()), "timeline");
  fail_unless_equals_int(said.size(), 1);
  fail_unless(said[0].is_warning && said[0].domain == GST_RESOURCE_ERROR &&
                  said[0].code == GST_RESOURCE_ERROR_WRITE,
              "%s", said[0].text.c_str());
  fail_unless(said[0].hint.find("timeline-location") != std::string::npos);
  one.expect(
      {{"frames-out", static_cast<std::uint64_t>(frames_so_far + 20)}, {"frames-dropped", 0}});
  one.stop();
}

GST_START_TEST(the_folder_goes) {
  const unsigned depth = depths[__i__];
  const TempFolder folder;
  TimelineFixture one({.location = folder.file("t.json"), .depth = depth});
  one.run(warm_up(depth));
  folder.take_away();
  expect_lost(one, warm_up(depth));
}
GST_END_TEST;

// As where the disk is full: the kernel lets no file grow.
GST_START_TEST(the_disk_is_full) {
  const TempFolder folder;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  fail_unless(getrlimit(RLIMIT_FSIZE, &before) == 0);
  TimelineFixture one({.location = folder.file("t.json")});
  one.run(warm_up(3));
  const rlimit small{300, before.rlim_max};
  fail_unless(setrlimit(RLIMIT_FSIZE, &small) == 0);
  one.run(10);
  fail_unless(setrlimit(RLIMIT_FSIZE, &before) == 0);
  expect_lost(one, warm_up(3) + 10);
  fail_unless(!exists(folder.file("t.json")));
}
GST_END_TEST;

Suite* element_timeline_suite() {
  Suite* suite = suite_create("element-timeline");
  TCase* cases = tcase_create("timeline");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, set_and_get);
  tcase_add_loop_test(cases, written_when_complete, 0, depth_count);
  tcase_add_loop_test(cases, fewer_frames_at_eos, 0, depth_count);
  tcase_add_loop_test(cases, fewer_frames_at_the_stop, 0, depth_count);
  tcase_add_loop_test(cases, shorter_than_the_warm_up, 0, depth_count);
  tcase_add_test(cases, each_session_writes_its_own);
  tcase_add_test(cases, across_a_change_of_caps);
  tcase_add_test(cases, the_rows_of_all_streams);
  tcase_add_test(cases, staging_has_its_rows);
  tcase_add_test(cases, a_picture);
  tcase_add_test(cases, a_folder_without_files_is_refused);
  tcase_add_test(cases, the_check_touches_nothing);
  tcase_add_test(cases, bad_paths_are_refused);
  tcase_add_test(cases, no_right_to_write);
  tcase_add_test(cases, bad_paths_in_ready);
  tcase_add_loop_test(cases, the_folder_goes, 0, depth_count);
  tcase_add_test(cases, the_disk_is_full);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_timeline)
