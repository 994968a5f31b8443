// SPDX-License-Identifier: LGPL-2.1-or-later
// The read-only property `stats`: its fields, when they count, and when they start again.

#include <algorithm>
#include <string>
#include <vector>

#include "gst/downstream.h"
#include "gst/frames.h"
#include "gst/support.h"
#include "support/backend.h"

namespace {

using namespace test;

constexpr const char* counters[] = {
    "frames-in",        "frames-out",          "bytes-uploaded",
    "bytes-downloaded", "input-pinned-frames", "output-pinned-frames",
    "staged-frames",    "pinned-bytes",        "registrations",
    "refusals",         "evictions",           "pinned-bytes-peak",
    "staged-bytes",     "frames-dropped"};

constexpr const char* numbers[] = {"stripes-per-frame", "streams", "frames-in-flight",
                                   "frames-in-flight-peak"};

constexpr const char* words[] = {"backend", "device-name", "transfer-mode"};

/// Fails unless every field is there with its type; the values do not matter.
void expect_all_fields(GstElement* element) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  fail_unless(stats != nullptr);
  const Ref<GstStructure> owner(stats);
  fail_unless_equals_string(gst_structure_get_name(stats), "cuda-stripe-stats");
  for (const char* field : counters) stat_uint64(element, field);
  for (const char* field : numbers) stat_uint(element, field);
  for (const char* field : words) stat_string(element, field);
  stat_boolean(element, "upstream-uses-pool");
}

void expect_zeros(GstElement* element) {
  expect_all_fields(element);
  for (const char* field : counters)
    fail_unless(stat_uint64(element, field) == 0, "%s is not 0", field);
  for (const char* field : numbers)
    fail_unless(stat_uint(element, field) == 0, "%s is not 0", field);
  for (const char* field : words)
    fail_unless(stat_string(element, field).empty(), "%s is not empty", field);
  fail_unless(!stat_boolean(element, "upstream-uses-pool"));
}

GST_START_TEST(zeros_before_start) {
  const Ref<GstElement> element = make_element();
  expect_zeros(element.get());
  gst_element_set_state(element.get(), GST_STATE_READY);
  expect_zeros(element.get());
  gst_element_set_state(element.get(), GST_STATE_NULL);
}
GST_END_TEST;

/// What the field `calibration` says.
struct CalibrationField {
  explicit CalibrationField(GstElement* element) {
    GstStructure* stats = nullptr;
    g_object_get(element, "stats", &stats, nullptr);
    const Ref<GstStructure> owner(stats);
    const auto* inner = static_cast<const GstStructure*>(
        g_value_get_boxed(gst_structure_get_value(stats, "calibration")));
    gboolean cached = FALSE;
    fail_unless(gst_structure_get_boolean(inner, "from-cache", &cached));
    from_cache = cached;
    const GValue* candidates = gst_structure_get_value(inner, "candidates");
    fail_unless(GST_VALUE_HOLDS_ARRAY(candidates));
    for (guint i = 0; i < gst_value_array_get_size(candidates); ++i)
      add(static_cast<const GstStructure*>(
          g_value_get_boxed(gst_value_array_get_value(candidates, i))));
    choice = word_for(static_cast<const GstStructure*>(
        g_value_get_boxed(gst_structure_get_value(inner, "choice"))));
  }

  /// "copy 3" for three copied stripes.
  static std::string word_for(const GstStructure* one) {
    guint stripes = 0;
    fail_unless(gst_structure_get_uint(one, "stripe-count", &stripes));
    return std::string(gst_structure_get_string(one, "transfer-mode")) + " " +
           std::to_string(stripes);
  }

  void add(const GstStructure* one) {
    double time = 0;
    fail_unless(gst_structure_get_double(one, "time-us", &time) && time > 0);
    tried.push_back(word_for(one));
    times.push_back(time);
  }

  bool from_cache = false;
  std::vector<std::string> tried;
  std::vector<double> times;
  std::string choice;
};

std::string treatment_of(GstElement* element) {
  return stat_string(element, "transfer-mode") + " " +
         std::to_string(stat_uint(element, "stripes-per-frame"));
}

// What is left open is tried where that may gain something, and what is said is what is done.
GST_START_TEST(calibration) {
  const Ref<GstCaps> caps = make_caps("RGBA", 801, 603);
  Random random(95);
  bool known = false;
  for (int round = 0; round < 2; ++round) {
    Ref<GstElement> element = make_element();
    set_nick(element.get(), "transfer-mode", "auto");
    g_object_set(element.get(), "async-depth", __i__ ? 3 : 1, nullptr);
    Rig rig(std::move(element));
    rig.set_caps(caps.get());
    rig.process(make_plain_frame(caps.get(), random).share());
    const CalibrationField field(rig.element());
    const std::string done = treatment_of(rig.element());
    fail_unless(field.choice == done, "%s chosen, %s done", field.choice.c_str(), done.c_str());
    fail_unless(field.tried.empty() || backend_is_cuda());  // on a busy device the time may be up
    if (field.tried.empty()) continue;
    fail_unless(field.from_cache == known);
    known = true;
    const auto chosen = std::find(field.tried.begin(), field.tried.end(), field.choice);
    fail_unless(chosen != field.tried.end());
    // The fastest, or the first where it is as good.
    const double time = field.times[static_cast<std::size_t>(chosen - field.tried.begin())];
    const double best = *std::min_element(field.times.begin(), field.times.end());
    fail_unless(time <= best * (chosen == field.tried.begin() ? 1.021 : 1));
  }
}
GST_END_TEST;

// The user's own values are not tried, and win.
GST_START_TEST(nothing_is_calibrated_that_was_asked_for) {
  const Ref<GstCaps> caps = make_caps("RGBA", 802, 603);
  Random random(96);
  for (const char* transfer : {"copy", "mapped"}) {
    Ref<GstElement> element = make_element();
    set_nick(element.get(), "transfer-mode", transfer);
    g_object_set(element.get(), "stripe-count", 2, "async-depth", 1, nullptr);
    Rig rig(std::move(element));
    rig.set_caps(caps.get());
    rig.process(make_plain_frame(caps.get(), random).share());
    fail_unless(CalibrationField(rig.element()).tried.empty());
    fail_unless(treatment_of(rig.element()) == std::string(transfer) + " 2");
  }
}
GST_END_TEST;

GST_START_TEST(backend_and_device) {
  const Ref<GstElement> element = make_element();
  gst_element_set_state(element.get(), GST_STATE_PAUSED);
  const std::string backend = stat_string(element.get(), "backend");
  fail_unless(backend == backend_name(), "%s", backend.c_str());
  fail_unless(!stat_string(element.get(), "device-name").empty());
  gst_element_set_state(element.get(), GST_STATE_NULL);
}
GST_END_TEST;

/// A rig whose frames have no padding anywhere: every byte of them is a sample.
struct Fixture {
  explicit Fixture(const char* format = "I420", Ref<GstElement> element = make_element())
      : caps(make_caps(format, 64, 64)), random(90), rig(std::move(element)) {
    rig.set_caps(caps.get());
  }

  void process(int frames) {
    for (int i = 0; i < frames; ++i) rig.process(make_plain_frame(caps.get(), random).share());
  }

  std::uint64_t counter(const char* field) { return stat_uint64(rig.element(), field); }

  Ref<GstCaps> caps;
  Random random;
  Rig rig;
};

// A byte goes up once and comes down once, however the frame is cut.
GST_START_TEST(bytes) {
  for (const char* format : {"I420", "NV12", "RGBA", "GRAY8"}) {
    Fixture one(format);
    const std::uint64_t frame_bytes = info_of(one.caps.get()).size;
    std::uint64_t frames = 0;
    for (const char* layout : {"rows", "columns", "tiles"}) {
      for (const int count : {1, 3, 32}) {
        set_nick(one.rig.element(), "stripe-layout", layout);
        g_object_set(one.rig.element(), "stripe-count", count, nullptr);
        one.process(2);
        frames += 2;
        fail_unless_equals_uint64(one.counter("bytes-uploaded"), frames * frame_bytes);
        fail_unless_equals_uint64(one.counter("bytes-downloaded"), frames * frame_bytes);
      }
    }
  }
}
GST_END_TEST;

GST_START_TEST(frames) {
  Fixture one;
  fail_unless_equals_uint64(one.counter("frames-in"), 0);
  one.process(5);
  fail_unless_equals_uint64(one.counter("frames-in"), 5);
  fail_unless_equals_uint64(one.counter("frames-out"), 5);
  fail_unless_equals_uint64(one.counter("staged-frames"), 5);
  fail_unless_equals_uint64(one.counter("input-pinned-frames"), 0);
  fail_unless_equals_uint64(one.counter("output-pinned-frames"), 5);
  fail_unless_equals_uint64(one.counter("frames-dropped"), 0);
  // The frame was waited for, and the next one pushed after it.
  fail_unless_equals_int(stat_uint(one.rig.element(), "frames-in-flight"), 0);
  fail_unless_equals_int(stat_uint(one.rig.element(), "frames-in-flight-peak"), 1);
}
GST_END_TEST;

// At least the output buffer that a frame needs, and no more than a few frames.
GST_START_TEST(pinned_bytes) {
  Fixture one;
  one.process(5);
  const std::uint64_t frame_bytes = info_of(one.caps.get()).size;
  const std::uint64_t pinned = one.counter("pinned-bytes");
  fail_unless(pinned >= frame_bytes, "%" G_GUINT64_FORMAT, pinned);
  fail_unless(pinned <= 40 * frame_bytes, "%" G_GUINT64_FORMAT, pinned);
  one.process(50);
  fail_unless_equals_uint64(one.counter("pinned-bytes"), pinned);
}
GST_END_TEST;

GST_START_TEST(streams) {
  for (const guint count : {0, 1, 2, 7, 32}) {
    Ref<GstElement> element = make_element();
    g_object_set(element.get(), "stream-count", count, nullptr);
    Fixture one("I420", std::move(element));
    one.process(1);
    fail_unless_equals_int(stat_uint(one.rig.element(), "streams"), count ? count : 3);
  }
}
GST_END_TEST;

/// What fits: a stripe never splits a block of subsampled chroma, of a field where there are
/// fields.
GST_START_TEST(stripes_per_frame) {
  const guint depth = __i__;
  const guint chosen = depth == 1 ? 3 : 1;
  const struct {
    const char* format;
    int width;
    int height;
    const char* interlace_mode;
    const char* layout;
    guint count;
    guint expected;
  } cases[] = {{"RGB", 64, 3, "", "rows", 7, 3},
               {"I420", 64, 3, "", "rows", 7, 2},
               {"I420", 5, 64, "", "columns", 7, 3},
               {"NV12", 5, 64, "", "columns", 256, 3},
               {"GRAY8", 1, 1, "", "columns", 256, 1},
               {"GRAY8", 1, 1, "", "rows", 0, 1},
               {"RGB", 64, 64, "", "rows", 0, chosen},
               {"RGB", 64, 64, "", "rows", 64, 64},
               {"I420", 8, 9, "interleaved", "rows", 99, 3},
               {"RGB", 8, 9, "mixed", "rows", 99, 5},
               {"RGB", 9, 8, "interleaved", "columns", 99, 9},
               {"RGB", 64, 64, "", "tiles", 7, 7},
               {"RGB", 64, 64, "", "tiles", 0, chosen},
               {"NV12", 5, 3, "", "tiles", 256, 6},
               {"I420", 8, 9, "interleaved", "tiles", 99, 12},
               {"GRAY8", 1, 1, "", "tiles", 9, 1}};
  for (const auto& entry : cases) {
    const Ref<GstCaps> caps =
        make_caps(entry.format, entry.width, entry.height, "", entry.interlace_mode);
    Random random(91);
    Rig rig(depth);
    set_nick(rig.element(), "stripe-layout", entry.layout);
    g_object_set(rig.element(), "stripe-count", entry.count, nullptr);
    rig.set_caps(caps.get());
    rig.process(make_plain_frame(caps.get(), random).share());
    const guint stripes = stat_uint(rig.element(), "stripes-per-frame");
    fail_unless(stripes == entry.expected, "%s %dx%d %s %s: %u of %u, expected %u", entry.format,
                entry.width, entry.height, entry.interlace_mode, entry.layout, stripes, entry.count,
                entry.expected);
  }
}
GST_END_TEST;

GST_START_TEST(start_again_at_paused) {
  Fixture one;
  one.process(3);
  gst_element_set_state(one.rig.element(), GST_STATE_READY);
  expect_all_fields(one.rig.element());
  gst_element_set_state(one.rig.element(), GST_STATE_PLAYING);
  for (const char* field :
       {"frames-in", "frames-out", "bytes-uploaded", "bytes-downloaded", "input-pinned-frames",
        "output-pinned-frames", "staged-frames", "staged-bytes", "frames-dropped"})
    fail_unless(one.counter(field) == 0, "%s is not 0", field);
  fail_unless_equals_int(stat_uint(one.rig.element(), "frames-in-flight-peak"), 0);
  gst_element_set_state(one.rig.element(), GST_STATE_NULL);
  expect_all_fields(one.rig.element());
}
GST_END_TEST;

// Neither PAUSED and PLAYING nor new caps are a new start.
GST_START_TEST(go_on_otherwise) {
  Fixture one;
  one.process(3);
  gst_element_set_state(one.rig.element(), GST_STATE_PAUSED);
  gst_element_set_state(one.rig.element(), GST_STATE_PLAYING);
  const std::uint64_t bytes_before = one.counter("bytes-uploaded");
  one.caps = make_caps("RGBA", 32, 32);
  one.rig.set_caps(one.caps.get());
  one.process(1);
  fail_unless_equals_uint64(one.counter("frames-in"), 4);
  fail_unless_equals_uint64(one.counter("frames-out"), 4);
  fail_unless_equals_uint64(one.counter("bytes-uploaded"), bytes_before + 32 * 32 * 4);
}
GST_END_TEST;

// An application polls them while frames run.
GST_START_TEST(read_from_another_thread) {
  Fixture one;
  struct Reader {
    GstElement* element;
    gint stop;
    gint went_back;
  } reader{one.rig.element(), 0, 0};
  GThread* thread = g_thread_new(
      "reader",
      [](gpointer data) -> gpointer {
        auto* self = static_cast<Reader*>(data);
        std::uint64_t last = 0;
        while (!g_atomic_int_get(&self->stop)) {
          const std::uint64_t now = stat_uint64(self->element, "frames-out");
          if (now < last) g_atomic_int_set(&self->went_back, 1);
          last = now;
        }
        return nullptr;
      },
      &reader);
  one.process(300);
  g_atomic_int_set(&reader.stop, 1);
  g_thread_join(thread);
  fail_unless(!reader.went_back);
}
GST_END_TEST;

Suite* element_stats_suite() {
  Suite* suite = suite_create("element-stats");
  TCase* cases = tcase_create("stats");
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, calibration, 0, 2);
  tcase_add_test(cases, nothing_is_calibrated_that_was_asked_for);
  tcase_add_test(cases, zeros_before_start);
  tcase_add_test(cases, backend_and_device);
  tcase_add_test(cases, bytes);
  tcase_add_test(cases, frames);
  tcase_add_test(cases, pinned_bytes);
  tcase_add_test(cases, streams);
  tcase_add_loop_test(cases, stripes_per_frame, 1, 4);
  tcase_add_test(cases, start_again_at_paused);
  tcase_add_test(cases, go_on_otherwise);
  tcase_add_test(cases, read_from_another_thread);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_stats)
