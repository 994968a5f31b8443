// SPDX-License-Identifier: LGPL-2.1-or-later
// The modes of `page-lock`: what is registered when, what is staged, what is offered, and that the
// pixels are the same in all of them.

#include <string>

#include "gst/downstream.h"
#include "gst/page_lock.h"
#include "gst/special.h"

namespace {

using namespace test;

constexpr unsigned depths[] = {1, 3};

// --- auto

GST_START_TEST(registered_at_second_sight) {
  LockFixture one({.depth = depths[__i__]});
  const Frame frame = one.make();
  one.process(frame);
  one.expect({{"registrations", 0}, {"staged-frames", 1}, {"input-pinned-frames", 0}});
  one.process_again(frame, 1);
  one.expect({{"registrations", 1}, {"staged-frames", 1}, {"input-pinned-frames", 1}});
  one.process_again(frame, 20);
  one.expect({{"registrations", 1},
              {"refusals", 0},
              {"evictions", 0},
              {"staged-frames", 1},
              {"staged-bytes", one.sample_bytes()},
              {"input-pinned-frames", 21},
              {"output-pinned-frames", 22}});
  one.rig.expect_quiet();
}
GST_END_TEST;

GST_START_TEST(new_memory_is_staged_for_ever) {
  LockFixture one({.depth = depths[__i__]});
  for (int i = 0; i < 10; ++i) one.process_new(4);
  one.expect({{"registrations", 0},
              {"refusals", 0},
              {"staged-frames", 40},
              {"staged-bytes", 40 * one.sample_bytes()},
              {"input-pinned-frames", 0},
              {"output-pinned-frames", 40}});
  one.rig.expect_quiet();
}
GST_END_TEST;

GST_START_TEST(a_pool_of_four_upstream) {
  LockFixture one({.depth = depths[__i__]});
  const Ref<GstBufferPool> pool = start_system_pool(one.caps.get(), 4);
  for (int i = 0; i < 24; ++i) {
    Ref<GstBuffer> buffer = acquire_from(pool.get());
    const GuardedImage image = fill_buffer(buffer.get(), one.caps.get(), one.random);
    const Ref<GstBuffer> output = one.rig.process(std::move(buffer));
    one.check(output.get(), image.view());
  }
  one.expect({{"registrations", 4},
              {"staged-frames", 4},
              {"input-pinned-frames", 20},
              {"output-pinned-frames", 24}});
  fail_unless(!stat_boolean(one.rig.element(), "upstream-uses-pool"));
  // A registration goes with its memory, and the peak stays.
  const std::uint64_t before = one.stat("pinned-bytes");
  gst_buffer_pool_set_active(pool.get(), FALSE);
  const std::uint64_t gone = before - one.stat("pinned-bytes");
  const std::uint64_t pool_bytes = 4 * info_of(one.caps.get()).size;
  fail_unless(gone >= pool_bytes && gone <= pool_bytes + 4 * 64, "%" G_GUINT64_FORMAT, gone);
  fail_unless(one.stat("pinned-bytes-peak") >= before);
  one.rig.expect_quiet();
}
GST_END_TEST;

GST_START_TEST(nothing_to_do_with_our_pool) {
  LockFixture one({.depth = depths[__i__]});
  one.process_in_offered_pool(12);
  one.expect({{"registrations", 0},
              {"staged-frames", 0},
              {"staged-bytes", 0},
              {"input-pinned-frames", 12},
              {"output-pinned-frames", 12}});
  fail_unless(stat_boolean(one.rig.element(), "upstream-uses-pool"));
  one.rig.expect_quiet();
}
GST_END_TEST;

/// Runs frames into a pool of downstream's that is of a kind of its own, and so is used.
void run_into_special_pool(LockFixture& one, int frames) {
  const Ref<GstBufferPool> pool = make_adjusting_pool(PoolAnswer::larger);
  Downstream downstream = offering(pool.get());
  install(one.rig, downstream);
  one.rig.set_caps(make_caps("I420", 33, 31).get());  // caps anew: downstream is asked again
  one.rig.set_caps(one.caps.get());
  for (int i = 0; i < frames; ++i) fail_unless(one.process(one.make())->pool == pool.get());
}

// Output is registered as input is.
GST_START_TEST(downstream_s_special_pool) {
  LockFixture one({.depth = 1});
  run_into_special_pool(one, 8);
  one.expect({{"registrations", 1}, {"output-pinned-frames", 7}, {"input-pinned-frames", 0}});
  LockFixture at_once({.mode = "register", .depth = 1});
  run_into_special_pool(at_once, 8);
  at_once.expect({{"registrations", 9}, {"output-pinned-frames", 8}, {"input-pinned-frames", 8}});
}
GST_END_TEST;

// --- register

GST_START_TEST(register_at_first_sight) {
  LockFixture one({.mode = "register", .depth = depths[__i__]});
  const Frame frame = one.make();
  const Ref<GstBuffer> output = one.process(frame);
  fail_unless(is_of_type(output.get(), GST_ALLOCATOR_SYSMEM));
  one.expect({{"registrations", 2}, {"input-pinned-frames", 1}, {"output-pinned-frames", 1}});
  for (int i = 0; i < 10; ++i) one.process_new(4);
  one.expect({{"staged-frames", 0},
              {"staged-bytes", 0},
              {"refusals", 0},
              {"input-pinned-frames", 41},
              {"output-pinned-frames", 41}});
  fail_unless(one.stat("registrations") >= 42);
  // New inputs are gone, and their registrations with them: what is left is this frame and outputs.
  fail_unless(one.stat("pinned-bytes") < 20 * one.block_bytes());
  one.rig.expect_quiet();
}
GST_END_TEST;

// --- stage

GST_START_TEST(stage_copies_everything) {
  LockFixture one({.mode = "stage", .depth = depths[__i__]});
  const Frame frame = one.make();
  for (int i = 0; i < 5; ++i)
    fail_unless(is_of_type(one.process(frame).get(), GST_ALLOCATOR_SYSMEM));
  one.expect({{"staged-frames", 5}, {"staged-bytes", 10 * one.sample_bytes()}});
  for (int i = 0; i < 5; ++i) {
    Ref<GstBuffer> buffer = make_pinned_buffer(one.caps.get());
    const GuardedImage image = fill_buffer(buffer.get(), one.caps.get(), one.random);
    one.check(one.rig.process(std::move(buffer)).get(), image.view());
  }
  one.expect({{"staged-frames", 10},
              {"staged-bytes", 20 * one.sample_bytes()},
              {"registrations", 0},
              {"refusals", 0},
              {"input-pinned-frames", 0},
              {"output-pinned-frames", 0}});
  fail_unless(one.stat("pinned-bytes") >= 2 * one.sample_bytes());
  one.rig.expect_quiet();
}
GST_END_TEST;

// --- off

GST_START_TEST(off_pins_nothing) {
  LockFixture one({.mode = "off", .depth = depths[__i__]});
  const Frame frame = one.make();
  fail_unless(is_of_type(one.process(frame).get(), GST_ALLOCATOR_SYSMEM));
  one.process_again(frame, 9);
  one.process_new(10);
  one.expect({{"frames-out", 20},
              {"registrations", 0},
              {"refusals", 0},
              {"staged-frames", 0},
              {"staged-bytes", 0},
              {"input-pinned-frames", 0},
              {"output-pinned-frames", 0},
              {"pinned-bytes", 0},
              {"pinned-bytes-peak", 0}});
}
GST_END_TEST;

// --- all

GST_START_TEST(only_auto_offers_memory) {
  for (const char* mode : page_lock_modes) {
    LockFixture one({.mode = mode});
    const Ref<GstQuery> query(gst_query_new_allocation(one.caps.get(), TRUE));
    fail_unless(gst_pad_peer_query(one.rig.harness()->srcpad, query.get()));
    const unsigned offers = std::string(mode) == "auto" ? 1 : 0;
    fail_unless(gst_query_get_n_allocation_pools(query.get()) == offers, "pools of %s", mode);
    fail_unless(gst_query_get_n_allocation_params(query.get()) == offers, "allocators of %s", mode);
    fail_unless(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr));
  }
}
GST_END_TEST;

/// Frames that come once, frames that come again, and page-locked ones, several in flight.
void expect_right_pixels(const LockSetup& setup) {
  LockFixture one(setup);
  const Frame frame = make_frame(one.caps.get(), random_geometry(one.random, true), one.random);
  one.process_again(frame, 3);
  one.process_new(4);
  std::vector<GuardedImage> images;
  for (int i = 0; i < 3; ++i) {
    Ref<GstBuffer> buffer = make_pinned_buffer(one.caps.get());
    images.push_back(fill_buffer(buffer.get(), one.caps.get(), one.random));
    fail_unless_equals_int(one.rig.push(std::move(buffer)), GST_FLOW_OK);
  }
  for (const GuardedImage& image : images) one.check(one.rig.pull().get(), image.view());
  one.rig.expect_quiet();
}

GST_START_TEST(pixels_are_the_same_in_all_modes) {
  const struct {
    int width;
    int height;
  } sizes[] = {{1, 1}, {3, 5}, {17, 13}, {130, 67}};
  unsigned salt = 600 + 100 * static_cast<unsigned>(__i__);
  for (const char* mode : page_lock_modes)
    for (const unsigned depth : depths)
      for (const auto& size : sizes)
        expect_right_pixels({.mode = mode,
                             .depth = depth,
                             .format = formats[__i__].name,
                             .width = size.width,
                             .height = size.height,
                             .salt = salt++});
}
GST_END_TEST;

constexpr const char* lock_counters[] = {"registrations",     "refusals",     "evictions",
                                         "pinned-bytes-peak", "staged-bytes", "staged-frames"};

GST_START_TEST(counters_start_again_at_paused) {
  const LockSetup setup{.depth = depths[__i__]};
  Ref<GstElement> element = make_locking_element(setup);
  const GstElement* const same = element.get();
  Frame kept;
  {
    LockFixture one(std::move(element), setup);
    kept = one.make();
    one.process_again(kept, 3);
    fail_unless(one.stat("registrations") == 1 && one.stat("pinned-bytes-peak") > 0);
    element = one.rig.release();
    fail_unless_equals_uint64(stat_uint64(element.get(), "registrations"), 1);
  }
  fail_unless(element.get() == same);
  gst_element_set_state(element.get(), GST_STATE_PAUSED);
  for (const char* field : lock_counters)
    fail_unless(stat_uint64(element.get(), field) == 0, "%s is not 0", field);
  gst_element_set_state(element.get(), GST_STATE_NULL);
  // Memory that the last session registered is no stranger for long.
  LockFixture again(std::move(element), setup);
  again.process_again(kept, 3);
  again.expect({{"frames-out", 3}, {"refusals", 0}, {"evictions", 0}});
  fail_unless(again.stat("registrations") <= 1 && again.stat("staged-frames") <= 1);
  fail_unless_equals_uint64(again.stat("staged-frames") + again.stat("input-pinned-frames"), 3);
}
GST_END_TEST;

Suite* element_page_lock_suite() {
  Suite* suite = suite_create("element-page-lock");
  TCase* cases = tcase_create("modes");
  suite_add_tcase(suite, cases);
  const int depth_count = static_cast<int>(std::size(depths));
  tcase_add_loop_test(cases, registered_at_second_sight, 0, depth_count);
  tcase_add_loop_test(cases, new_memory_is_staged_for_ever, 0, depth_count);
  tcase_add_loop_test(cases, a_pool_of_four_upstream, 0, depth_count);
  tcase_add_loop_test(cases, nothing_to_do_with_our_pool, 0, depth_count);
  tcase_add_test(cases, downstream_s_special_pool);
  tcase_add_loop_test(cases, register_at_first_sight, 0, depth_count);
  tcase_add_loop_test(cases, stage_copies_everything, 0, depth_count);
  tcase_add_loop_test(cases, off_pins_nothing, 0, depth_count);
  tcase_add_test(cases, only_auto_offers_memory);
  tcase_add_loop_test(cases, pixels_are_the_same_in_all_modes, 0, format_count);
  tcase_add_loop_test(cases, counters_start_again_at_paused, 0, depth_count);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_page_lock)
