// SPDX-License-Identifier: LGPL-2.1-or-later
// `transfer-mode`: frames are copied to the device and back, or its kernels work on them where they
// lie, and which memory has to be page-locked for that. And tiles, the third way to cut a frame.

#include <algorithm>
#include <string>
#include <vector>

#include "gst/downstream.h"
#include "gst/foreign_memory.h"
#include "gst/page_lock.h"
#include "gst/special.h"
#include "support/backend.h"

namespace {

using namespace test;

constexpr unsigned depths[] = {1, 3};
constexpr int depth_count = static_cast<int>(std::size(depths));
constexpr const char* transfers[] = {"auto", "copy", "mapped"};

/// Fails unless the device copied nothing.
void expect_no_copies(const LockFixture& one) {
  one.expect({{"bytes-uploaded", 0}, {"bytes-downloaded", 0}});
}

// --- which one it is

std::string transfer_of(GstElement* element) { return stat_string(element, "transfer-mode"); }

/// Whether the element may find out for itself which one is faster.
bool is_calibrated(const std::string& mode, const std::string& transfer) {
  return backend_is_cuda() && transfer == "auto" && mode != "stage" && mode != "off";
}

/// What the element does that was told so; "auto" by what the device of this backend is.
std::string wanted_transfer(const std::string& mode, const std::string& transfer) {
  if (mode == "off") return "copy";
  if (transfer == "auto") return backend_is_cuda() ? "copy" : "mapped";
  return transfer;
}

GST_START_TEST(what_is_chosen) {
  const char* mode = page_lock_modes[__i__];
  for (const char* transfer : transfers) {
    LockFixture one({.mode = mode, .transfer = transfer});
    one.process_new(3);
    const std::string got = transfer_of(one.rig.element());
    const std::string wanted =
        is_calibrated(mode, transfer) && got == "mapped" ? got : wanted_transfer(mode, transfer);
    fail_unless(got == wanted, "%s %s: %s", mode, transfer, got.c_str());
    const std::uint64_t bytes = wanted == "mapped" ? 0 : 3 * one.sample_bytes();
    one.expect({{"bytes-uploaded", bytes}, {"bytes-downloaded", bytes}});
    // What was asked for stays what it was.
    fail_unless_equals_string(nick_of(one.rig.element(), "transfer-mode"), transfer);
    one.rig.expect_quiet();
  }
}
GST_END_TEST;

GST_START_TEST(another_one_at_each_start) {
  Ref<GstElement> element = make_element();
  for (const char* transfer : {"mapped", "copy", "mapped"}) {
    set_nick(element.get(), "transfer-mode", transfer);
    LockFixture one(std::move(element), {});
    one.process_new(2);
    fail_unless(transfer_of(one.rig.element()) == transfer);
    fail_unless((one.stat("bytes-uploaded") == 0) == (std::string(transfer) == "mapped"));
    element = one.rig.release();
  }
}
GST_END_TEST;

// Only who asked for mapped frames is told that they can't be.
GST_START_TEST(off_makes_mapped_a_copy_and_says_so) {
  for (const char* mode : page_lock_modes)
    for (const char* transfer : transfers) {
      const Ref<GstElement> element = make_locking_element({.mode = mode, .transfer = transfer});
      for (int start = 0; start < 2; ++start) {
        const StartResult result = try_start(element.get());
        fail_unless(result.started && result.warnings.empty(), "%s %s", mode, transfer);
        const bool told = std::string(mode) == "off" && std::string(transfer) == "mapped";
        fail_unless(result.infos.size() == (told ? 1 : 0), "%s %s: %zu messages", mode, transfer,
                    result.infos.size());
        if (!told) continue;
        const Report& info = result.infos[0];
        fail_unless(info.domain == GST_RESOURCE_ERROR && info.code == GST_RESOURCE_ERROR_SETTINGS);
        fail_unless(info.text.find("page-lock=off") != std::string::npos, "%s", info.text.c_str());
      }
    }
}
GST_END_TEST;

// --- memory of others

/// A picture in a buffer that is not of the element's pool.
Frame make_wrapped(LockFixture& one, bool upside_down, const Wrapping& wrapping) {
  Geometry geometry = random_geometry(one.random, false);
  for (PlaneGeometry& plane : geometry.planes) plane.upside_down = upside_down;
  return make_frame(one.caps.get(), geometry, one.random, wrapping);
}

Frame make_plain(LockFixture& one) { return one.make(); }

Frame make_writable(LockFixture& one) { return make_wrapped(one, false, {.read_only = false}); }

Frame make_read_only(LockFixture& one) { return make_wrapped(one, false, {}); }

Frame make_upside_down(LockFixture& one) { return make_wrapped(one, true, {}); }

Frame make_in_two_memories(LockFixture& one) {
  Frame frame = make_read_only(one);
  return wrap(frame.image, {.cuts = {plane_cuts(*frame.image)[0]}});
}

Frame make_across_memories(LockFixture& one) { return make_wrapped(one, false, {.cuts = {1001}}); }

Frame make_upside_down_across_memories(LockFixture& one) {
  return make_wrapped(one, true, {.cuts = {1001}});
}

Frame make_of_fd(LockFixture& one, bool dmabuf, GstFdMemoryFlags flags) {
  Frame frame = make_read_only(one);
  frame.buffer = make_fd_buffer(make_fd_allocator(dmabuf).get(), *frame.image, flags);
  return frame;
}

Frame make_fd(LockFixture& one) { return make_of_fd(one, false, GST_FD_MEMORY_FLAG_NONE); }

Frame make_kept_fd(LockFixture& one) {
  return make_of_fd(one, false, GST_FD_MEMORY_FLAG_KEEP_MAPPED);
}

Frame make_dmabuf(LockFixture& one) { return make_of_fd(one, true, GST_FD_MEMORY_FLAG_NONE); }

Frame make_unknown(LockFixture& one) {
  Frame frame = make_read_only(one);
  frame.buffer = make_foreign_buffer(nullptr, *frame.image);
  return frame;
}

/// A kind of memory, and how many of six frames in it are staged where memory has to be
/// page-locked: the first, before it is registered, or all.
struct Kind {
  const char* name;
  Frame (*make)(LockFixture& one);
  unsigned staged;
};

constexpr Kind kinds[] = {{"plain", make_plain, 1},
                          {"writable", make_writable, 1},
                          {"read-only", make_read_only, 1},
                          {"upside down", make_upside_down, 6},
                          {"two memories", make_in_two_memories, 1},
                          {"across memories", make_across_memories, 6},
                          {"upside down across", make_upside_down_across_memories, 6},
                          {"fd", make_fd, 6},
                          {"fd, kept mapped", make_kept_fd, 6},
                          {"dmabuf", make_dmabuf, 6},
                          {"unknown allocator", make_unknown, 6}};

/// Nothing is staged, registered, refused or complained about, and nothing is known to be pinned.
void expect_used_as_it_is(LockFixture& one, unsigned frames) {
  one.expect({{"registrations", 0},
              {"refusals", 0},
              {"staged-frames", 0},
              {"staged-bytes", 0},
              {"input-pinned-frames", 0},
              {"output-pinned-frames", frames}});
  one.rig.expect_quiet();
}

// The CPU needs nothing page-locked, and kernels that run on it take memory as it comes.
GST_START_TEST(memory_of_others) {
  const Kind& kind = kinds[__i__];
  LockFixture one({.transfer = "mapped"});
  const Frame frame = kind.make(one);
  for (int i = 0; i < 6; ++i) one.process(frame);
  fail_unless_empty(frame.damage());
  expect_no_copies(one);
  if (!backend_is_cuda()) return expect_used_as_it_is(one, 6);
  one.expect({{"staged-frames", kind.staged},
              {"staged-bytes", kind.staged * one.sample_bytes()},
              {"input-pinned-frames", 6 - kind.staged},
              {"output-pinned-frames", 6}});
}
GST_END_TEST;

// Downstream's memory too.
GST_START_TEST(a_special_pool_downstream) {
  LockFixture one({.transfer = "mapped"});
  const Ref<GstBufferPool> pool = make_guarded_pool();
  Downstream downstream = offering(pool.get());
  install(one.rig, downstream);
  one.rig.set_caps(make_caps("I420", 33, 31).get());  // caps anew: downstream is asked again
  one.rig.set_caps(one.caps.get());
  std::vector<Ref<GstBuffer>> kept;  // or a memory comes for the second time, and is registered
  for (int i = 0; i < 5; ++i) {
    kept.push_back(one.process(one.make()));
    fail_unless(kept.back()->pool == pool.get());
    fail_unless_empty(guarded_image_of(kept.back().get())->guard_damage());
  }
  expect_no_copies(one);
  one.expect({{"registrations", 0}, {"output-pinned-frames", 0}});
  const std::uint64_t sides = backend_is_cuda() ? 10 : 0;
  one.expect({{"staged-bytes", sides * one.sample_bytes()}});
}
GST_END_TEST;

GST_START_TEST(our_pool) {
  LockFixture one({.transfer = "mapped", .depth = depths[__i__]});
  one.process_in_offered_pool(12);
  expect_no_copies(one);
  one.expect({{"registrations", 0},
              {"staged-frames", 0},
              {"staged-bytes", 0},
              {"input-pinned-frames", 12},
              {"output-pinned-frames", 12}});
  fail_unless(stat_boolean(one.rig.element(), "upstream-uses-pool"));
  one.rig.expect_quiet();
}
GST_END_TEST;

// Past the bound output lies in plain memory.
GST_START_TEST(max_pinned_bytes) {
  LockFixture one({.transfer = "mapped", .depth = depths[__i__], .bound_bytes = 1});
  one.process_new(5);
  expect_no_copies(one);
  one.expect({{"registrations", 0}, {"output-pinned-frames", 0}});
  if (backend_is_cuda())
    one.expect({{"staged-frames", 5}, {"staged-bytes", 10 * one.sample_bytes()}});
  else
    expect_used_as_it_is(one, 0);
}
GST_END_TEST;

// --- where memory is page-locked first

GST_START_TEST(registered_at_second_sight) {
  LockFixture one({.transfer = "mapped", .depth = depths[__i__]});
  if (!backend_is_cuda()) return;
  const Frame frame = one.make();
  one.process(frame);
  one.expect({{"registrations", 0}, {"staged-frames", 1}});
  one.process_again(frame, 10);
  one.expect({{"registrations", 1}, {"staged-frames", 1}, {"input-pinned-frames", 10}});
  expect_no_copies(one);
  one.rig.expect_quiet();
}
GST_END_TEST;

// Who asks for it has it, whether the device needs it or not.
GST_START_TEST(register_registers) {
  LockFixture one({.mode = "register", .transfer = "mapped", .depth = depths[__i__]});
  const Frame frame = one.make();
  one.process(frame);
  one.expect({{"registrations", 2}, {"input-pinned-frames", 1}, {"output-pinned-frames", 1}});
  one.process_again(frame, 5);
  one.process_new(6);
  one.expect({{"staged-bytes", 0},
              {"refusals", 0},
              {"input-pinned-frames", 12},
              {"output-pinned-frames", 12}});
  fail_unless(one.stat("registrations") >= 8);
  expect_no_copies(one);
  one.rig.expect_quiet();
}
GST_END_TEST;

GST_START_TEST(stage_copies_on_the_cpu_alone) {
  LockFixture one({.mode = "stage", .transfer = "mapped", .depth = depths[__i__]});
  const Frame frame = one.make();
  one.process_again(frame, 5);
  one.process_new(5);
  one.expect({{"staged-frames", 10},
              {"staged-bytes", 20 * one.sample_bytes()},
              {"registrations", 0},
              {"input-pinned-frames", 0},
              {"output-pinned-frames", 0}});
  fail_unless(one.stat("pinned-bytes") >= 2 * one.sample_bytes());
  expect_no_copies(one);
  one.rig.expect_quiet();
}
GST_END_TEST;

// --- frames in flight

// Frames of all kinds of memory behind one another, each of other bytes.
GST_START_TEST(kinds_mixed_in_flight) {
  LockFixture one({.transfer = transfers[__i__], .depth = 8, .salt = 65});
  for (int round = 0; round < 4; ++round) {
    std::vector<Frame> frames;
    for (int i = 0; i < 20; ++i) {
      frames.push_back(one.random.pick(kinds).make(one));
      g_object_set(one.rig.element(), "stripe-count", one.random.between(0, 9), nullptr);
      fail_unless_equals_int(one.rig.push(frames.back().share()), GST_FLOW_OK);
    }
    for (const Frame& frame : frames) {
      one.check(one.rig.pull().get(), frame.image->view());
      fail_unless_empty(frame.damage());
    }
  }
}
GST_END_TEST;

// --- tiles

/// The frame, cut in one way.
Ref<GstBuffer> cut(LockFixture& one, const Frame& frame, const char* layout, int count) {
  set_nick(one.rig.element(), "stripe-layout", layout);
  g_object_set(one.rig.element(), "stripe-count", count, nullptr);
  return one.process(frame);
}

// Exactly as many as were asked for, or as there are units.
void expect_tiles_as_rows(const LockSetup& setup) {
  LockFixture one(setup);
  const GstVideoInfo info = info_of(one.caps.get());
  const int unit = GST_VIDEO_INFO_IS_YUV(&info) ? 2 : 1;
  const int units = rounded_up(setup.width, unit) * rounded_up(setup.height, unit);
  const Frame frame = one.make();
  for (const int count : {1, 2, 3, 5, 7, 16, 60, 255, 256}) {
    const Ref<GstBuffer> rows = cut(one, frame, "rows", count);
    const Ref<GstBuffer> tiles = cut(one, frame, "tiles", count);
    const MappedPicture a(rows.get(), info), b(tiles.get(), info);
    fail_unless_empty(difference(a.view(), b.view()));
    fail_unless_equals_int(stat_uint(one.rig.element(), "stripes-per-frame"),
                           std::min(count, units));
  }
}

GST_START_TEST(tiles_are_as_rows) {
  const struct {
    int width, height;
  } sizes[] = {{65, 63}, {33, 31}, {1, 17}, {17, 1}, {7, 5}, {1, 1}};
  for (const char* transfer : {"copy", "mapped"})
    for (const auto& size : sizes)
      expect_tiles_as_rows({.transfer = transfer,
                            .depth = 1,
                            .format = formats[__i__].name,
                            .width = size.width,
                            .height = size.height});
}
GST_END_TEST;

Suite* element_transfer_suite() {
  Suite* suite = suite_create("element-transfer");
  TCase* cases = tcase_create("transfer");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, what_is_chosen, 0, mode_count);
  tcase_add_test(cases, another_one_at_each_start);
  tcase_add_test(cases, off_makes_mapped_a_copy_and_says_so);
  tcase_add_loop_test(cases, memory_of_others, 0, G_N_ELEMENTS(kinds));
  tcase_add_test(cases, a_special_pool_downstream);
  tcase_add_loop_test(cases, our_pool, 0, depth_count);
  tcase_add_loop_test(cases, max_pinned_bytes, 0, depth_count);
  tcase_add_loop_test(cases, registered_at_second_sight, 0, depth_count);
  tcase_add_loop_test(cases, register_registers, 0, depth_count);
  tcase_add_loop_test(cases, stage_copies_on_the_cpu_alone, 0, depth_count);
  tcase_add_loop_test(cases, kinds_mixed_in_flight, 0, G_N_ELEMENTS(transfers));
  tcase_add_loop_test(cases, tiles_are_as_rows, 0, format_count);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_transfer)
