// SPDX-License-Identifier: LGPL-2.1-or-later
// Every format, effect, size, layout and colorimetry: output against both oracles, guards intact on
// both sides.

#include <string>

#include "gst/downstream.h"
#include "gst/frames.h"
#include "gst/support.h"

namespace {

using namespace test;

struct Size {
  int width;
  int height;
};

constexpr Size small_sizes[] = {{1, 1}, {1, 17}, {17, 1}, {3, 5}, {65, 63}};
constexpr const char* large_formats[] = {"RGB", "RGBA", "NV12", "I420", "GRAY8"};
constexpr const char* layouts[] = {"rows", "columns", "tiles"};

/// One rig for one format and size, with or without a guarded output pool.
struct Case {
  Case(const std::string& format, Size size, bool guarded_output, std::uint64_t salt,
       const std::string& colorimetry = "", const std::string& interlace_mode = "",
       Ref<GstElement> element = make_element())
      : caps(make_caps(format, size.width, size.height, colorimetry, interlace_mode)),
        random(salt),
        pool(make_guarded_pool()),
        downstream(guarded_output ? offering(pool.get()) : Downstream{}),
        rig(std::move(element)) {
    install(rig, downstream);
    rig.set_caps(caps.get());
  }

  /// A new random picture of random geometry through the element, everything checked.
  void check(Effect effect, const std::string& what) {
    set_effect(rig.element(), effect);
    const Frame input = make_frame(caps.get(), random_geometry(random, false), random);
    const Ref<GstBuffer> output = rig.process(input.share());
    fail_unless(output.get() != input.buffer.get(), "%s: passed through", what.c_str());
    const std::string text = verdict(output.get(), input, effect);
    fail_unless(text.empty(), "%s: %s", what.c_str(), text.c_str());
  }

  void set_stripes(const char* layout, int count) {
    set_nick(rig.element(), "stripe-layout", layout);
    g_object_set(rig.element(), "stripe-count", count, nullptr);
  }

  Ref<GstCaps> caps;
  Random random;
  Ref<GstBufferPool> pool;
  Downstream downstream;
  Rig rig;

 private:
  std::string verdict(GstBuffer* output, const Frame& input, Effect effect) {
    std::string text = mistake(output, caps.get(), input.image->view(), effect);
    if (text.empty()) text = input.damage();
    if (!text.empty() || !downstream.has_pool) return text;
    const GuardedImage* guarded = guarded_image_of(output);
    return guarded ? guarded->guard_damage() : "the output is not from downstream's pool";
  }
};

void check_small(const Format& format, Size size, bool guarded_output) {
  Case one(format.name, size, guarded_output, size.width * 100 + size.height);
  for (const char* layout : layouts) {
    for (const int count : {0, 1, 4}) {
      one.set_stripes(layout, count);
      for (const Effect effect : effects)
        one.check(effect, std::string(layout) + " " + std::to_string(count));
    }
  }
  one.rig.expect_quiet();
}

GST_START_TEST(small_pictures_to_pinned_output) {
  for (const Size size : small_sizes) check_small(formats[__i__], size, false);
}
GST_END_TEST;

GST_START_TEST(small_pictures_to_guarded_output) {
  for (const Size size : small_sizes) check_small(formats[__i__], size, true);
}
GST_END_TEST;

/// None and invert in rows to pinned output, gray in columns to guarded output: the layouts and
/// outputs are looked at one by one on small pictures.
void check_large(const char* format, Size size) {
  for (const bool guarded_output : {false, true}) {
    Case one(format, size, guarded_output, 1);
    one.set_stripes(layouts[guarded_output], 0);
    for (const Effect effect : effects)
      if (guarded_output == (effect == Effect::gray)) one.check(effect, "large");
    one.rig.expect_quiet();
  }
}

GST_START_TEST(pictures_of_385x289) { check_large(large_formats[__i__], {385, 289}); }
GST_END_TEST;

GST_START_TEST(pictures_of_641x479) { check_large(large_formats[__i__], {641, 479}); }
GST_END_TEST;

// One by one, since the oracles take their time over two million pixels.
GST_START_TEST(rgb_of_1080x1920) { check_large("RGB", {1080, 1920}); }
GST_END_TEST;

GST_START_TEST(rgba_of_1080x1920) { check_large("RGBA", {1080, 1920}); }
GST_END_TEST;

GST_START_TEST(nv12_of_1080x1920) { check_large("NV12", {1080, 1920}); }
GST_END_TEST;

GST_START_TEST(i420_of_1080x1920) { check_large("I420", {1080, 1920}); }
GST_END_TEST;

GST_START_TEST(gray8_of_1080x1920) { check_large("GRAY8", {1080, 1920}); }
GST_END_TEST;

GST_START_TEST(stripe_counts) {
  Case one(formats[__i__].name, {65, 63}, true, 2);
  for (const char* layout : layouts) {
    for (const int count : {1, 2, 3, 5, 7, 16, 31, 32, 33, 63, 64, 65, 256}) {
      one.set_stripes(layout, count);
      one.check(effects[count % 3], std::string(layout) + " " + std::to_string(count));
    }
  }
}
GST_END_TEST;

GST_START_TEST(stream_counts) {
  for (const int streams : {0, 1, 2, 5, 32}) {
    Ref<GstElement> element = make_element();
    g_object_set(element.get(), "stream-count", streams, nullptr);
    Case one(formats[__i__].name, {65, 63}, false, 3, "", "", std::move(element));
    for (const int count : {1, 3, 40}) {
      one.set_stripes(layouts[streams % 3], count);
      for (const Effect effect : effects) one.check(effect, std::to_string(streams) + " streams");
    }
  }
}
GST_END_TEST;

void check_colorimetries(const std::string& format, std::initializer_list<const char*> list) {
  for (const char* colorimetry : list) {
    Case one(format, {33, 31}, true, 4, colorimetry);
    for (const Effect effect : effects) one.check(effect, colorimetry);
  }
}

// Range : matrix : transfer : primaries, as numbers, where GStreamer has no name for it. Range 1 is
// full, 2 limited; matrices 3, 4, 6 are BT.709, BT.601 and BT.2020.
GST_START_TEST(colorimetry_of_yuv) {
  for (const char* format : {"I420", "NV12"})
    check_colorimetries(format, {"bt601", "bt709", "bt2020", "smpte240m", "1:4:0:0", "1:3:5:1",
                                 "1:6:13:7", "2:4:0:0"});
}
GST_END_TEST;

// Primaries 1, 4, 5 and 7 are BT.709, SMPTE 170M, 240M and BT.2020: they decide what gray is.
GST_START_TEST(colorimetry_of_rgb) {
  for (const char* format : {"RGB", "BGRx", "ABGR"})
    check_colorimetries(format,
                        {"sRGB", "1:1:7:1", "1:1:7:4", "1:1:7:5", "1:1:7:7", "2:1:7:1", "2:1:7:4"});
}
GST_END_TEST;

GST_START_TEST(colorimetry_of_gray) {
  check_colorimetries("GRAY8", {"bt601", "bt709", "1:4:0:0", "1:3:5:1"});
}
GST_END_TEST;

/// The oracles' own constants, by hand: were both oracles wrong about the range, this would tell.
GST_START_TEST(ranges_by_hand) {
  const struct {
    const char* colorimetry;
    int inverted_100;
  } cases[] = {{"bt601", 151}, {"1:4:0:0", 155}};
  for (const auto& range : cases) {
    const Ref<GstCaps> caps = make_caps("GRAY8", 1, 1, range.colorimetry);
    Rig rig;
    set_nick(rig.element(), "effect", "invert");
    rig.set_caps(caps.get());
    Ref<GstBuffer> input(gst_buffer_new_allocate(nullptr, info_of(caps.get()).size, nullptr));
    gst_buffer_memset(input.get(), 0, 100, gst_buffer_get_size(input.get()));
    const Ref<GstBuffer> output = rig.process(std::move(input));
    guint8 pixel = 0;
    gst_buffer_extract(output.get(), 0, &pixel, 1);
    fail_unless_equals_int(pixel, range.inverted_100);
  }
}
GST_END_TEST;

GST_START_TEST(interlaced) {
  for (const char* mode : {"interleaved", "mixed"}) {
    for (const char* format : {"I420", "NV12", "RGB", "GRAY8"}) {
      for (const Size size : {Size{17, 1}, Size{33, 31}, Size{65, 64}}) {
        Case one(format, size, true, 5, "", mode);
        for (const char* layout : layouts) {
          one.set_stripes(layout, 5);
          for (const Effect effect : effects) one.check(effect, mode);
        }
      }
    }
  }
}
GST_END_TEST;

Suite* element_formats_suite() {
  Suite* suite = suite_create("element-formats");
  TCase* cases = tcase_create("pixels");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, small_pictures_to_pinned_output, 0, format_count);
  tcase_add_loop_test(cases, small_pictures_to_guarded_output, 0, format_count);
  tcase_add_loop_test(cases, pictures_of_385x289, 0, G_N_ELEMENTS(large_formats));
  tcase_add_loop_test(cases, pictures_of_641x479, 0, G_N_ELEMENTS(large_formats));
  tcase_add_test(cases, rgb_of_1080x1920);
  tcase_add_test(cases, rgba_of_1080x1920);
  tcase_add_test(cases, nv12_of_1080x1920);
  tcase_add_test(cases, i420_of_1080x1920);
  tcase_add_test(cases, gray8_of_1080x1920);
  tcase_add_loop_test(cases, stripe_counts, 0, format_count);
  tcase_add_loop_test(cases, stream_counts, 0, format_count);
  tcase_add_test(cases, colorimetry_of_yuv);
  tcase_add_test(cases, colorimetry_of_rgb);
  tcase_add_test(cases, colorimetry_of_gray);
  tcase_add_test(cases, ranges_by_hand);
  tcase_add_test(cases, interlaced);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_formats)
