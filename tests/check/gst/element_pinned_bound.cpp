// SPDX-License-Identifier: LGPL-2.1-or-later
// `max-pinned-bytes`: what is beyond it is staged, nothing waits for a buffer that downstream holds,
// and what comes no more makes room.

#include "gst/page_lock.h"

namespace {

using namespace test;

/// The element's staging blocks, which the bound does not count: one for each way and frame in
/// flight at most.
std::uint64_t staging_bytes(const LockFixture& one, unsigned depth) {
  return 2 * depth * (one.block_bytes() + 4096);
}

void expect_bound(const LockFixture& one, std::uint64_t bound_bytes, unsigned depth) {
  const std::uint64_t most = bound_bytes + staging_bytes(one, depth);
  for (const char* field : {"pinned-bytes", "pinned-bytes-peak"})
    fail_unless(one.stat(field) <= most,
                "%s is %" G_GUINT64_FORMAT ", the bound %" G_GUINT64_FORMAT, field, one.stat(field),
                bound_bytes);
}

std::uint64_t block_bytes_of(const LockSetup& setup) { return LockFixture(setup).block_bytes(); }

constexpr unsigned depths[] = {1, 3};

GST_START_TEST(below_one_frame) {
  for (const char* mode : page_lock_modes) {
    for (const std::uint64_t bound : {std::uint64_t{1}, block_bytes_of({}) / 2}) {
      LockFixture one({.mode = mode, .depth = depths[__i__], .bound_bytes = bound});
      const Frame frame = one.make();
      one.process_again(frame, 5);
      one.process_new(10);
      one.expect({{"frames-out", 15},
                  {"registrations", 0},
                  {"refusals", 0},
                  {"evictions", 0},
                  {"input-pinned-frames", 0},
                  {"output-pinned-frames", 0}});
      expect_bound(one, bound, depths[__i__]);
    }
  }
}
GST_END_TEST;

GST_START_TEST(large) {
  for (const char* mode : {"auto", "register"}) {
    LockFixture one({.mode = mode, .depth = depths[__i__], .bound_bytes = G_MAXUINT64});
    const Frame frame = one.make();
    one.process_again(frame, 5);
    one.process_new(20);
    one.expect({{"output-pinned-frames", 25}, {"evictions", 0}, {"refusals", 0}});
    fail_unless(one.stat("input-pinned-frames") >= 4);
    one.rig.expect_quiet();
  }
}
GST_END_TEST;

// Downstream keeps every buffer: those within the bound are page-locked, the others plain.
GST_START_TEST(downstream_holds_all) {
  const std::uint64_t block = block_bytes_of({});
  for (const std::uint64_t blocks : {1, 2, 5}) {
    LockFixture one({.depth = depths[__i__], .bound_bytes = blocks * block});
    const std::vector<Ref<GstBuffer>> held = one.process_new(20);
    one.expect({{"output-pinned-frames", blocks}, {"staged-frames", 20}, {"registrations", 0}});
    expect_bound(one, blocks * block, depths[__i__]);
    one.expect_one_warning(GST_RESOURCE_ERROR_NO_SPACE_LEFT);
    // What is held stays as it was.
    const std::vector<Ref<GstBuffer>> more = one.process_new(5);
    one.expect({{"output-pinned-frames", blocks}});
    one.rig.expect_quiet();
  }
}
GST_END_TEST;

// The bound is exact: as many blocks as it holds, and not one more.
GST_START_TEST(exactly_the_blocks_that_are_held) {
  const std::uint64_t block = block_bytes_of({});
  LockFixture one({.depth = depths[__i__], .bound_bytes = 7 * block});
  const std::vector<Ref<GstBuffer>> held = one.process_new(7);
  one.expect({{"output-pinned-frames", 7}});
  one.rig.expect_quiet();
  const std::vector<Ref<GstBuffer>> more = one.process_new(1);
  one.expect({{"output-pinned-frames", 7}});
  one.expect_one_warning(GST_RESOURCE_ERROR_NO_SPACE_LEFT);
}
GST_END_TEST;

/// In mode register outputs are others' memory too.
GST_START_TEST(registered_outputs_are_held) {
  const std::uint64_t bound = 4 * block_bytes_of({});
  LockFixture one({.mode = "register", .depth = depths[__i__], .bound_bytes = bound});
  const Frame frame = one.make();
  one.process(frame);
  const std::vector<Ref<GstBuffer>> held = one.process_new(20);
  fail_unless(one.stat("output-pinned-frames") >= 1 && one.stat("output-pinned-frames") < 20);
  expect_bound(one, bound, depths[__i__]);
  one.expect_one_warning(GST_RESOURCE_ERROR_NO_SPACE_LEFT);
}
GST_END_TEST;

// Upstream takes the pool that is offered, of which a part is plain memory then.
GST_START_TEST(our_pool_upstream) {
  const std::uint64_t bound = 2 * block_bytes_of({});
  LockFixture one({.depth = depths[__i__], .bound_bytes = bound});
  one.process_in_offered_pool(20);
  fail_unless(stat_boolean(one.rig.element(), "upstream-uses-pool"));
  fail_unless(one.stat("input-pinned-frames") > 0 && one.stat("staged-frames") > 0);
  one.expect({{"refusals", 0}, {"registrations", 0}, {"output-pinned-frames", 0}});
  expect_bound(one, bound, depths[__i__]);
  one.expect_one_warning(GST_RESOURCE_ERROR_NO_SPACE_LEFT);
}
GST_END_TEST;

/// Room for one input and one output, of whole pages each.
LockSetup room_for_two(const char* mode) {
  LockSetup setup{.mode = mode, .depth = 1, .format = "GRAY8", .width = 64, .height = 64};
  setup.bound_bytes = 2 * 64 * 64 + 64 * 64 / 2;
  return setup;
}

// Old memory that is kept but comes no more makes room for what comes now.
GST_START_TEST(old_memory_is_let_go) {
  LockFixture one(room_for_two("register"));
  const Frame old = one.make();
  one.process_again(old, 5);
  one.expect({{"registrations", 2}, {"input-pinned-frames", 5}});
  one.rig.expect_quiet();
  const Frame now = one.make();
  one.process_again(now, 5);
  one.expect({{"registrations", 2}, {"evictions", 0}, {"staged-frames", 5}});
  one.expect_one_warning(GST_RESOURCE_ERROR_NO_SPACE_LEFT);
  one.process_again(now, 200);
  one.expect({{"registrations", 3}, {"evictions", 1}, {"refusals", 0}});
  fail_unless(one.stat("staged-frames") < 100);
  expect_bound(one, room_for_two("register").bound_bytes, 1);
  // And back again.
  const std::uint64_t staged = one.stat("staged-frames");
  one.process_again(old, 200);
  one.expect({{"registrations", 4}, {"evictions", 2}});
  fail_unless(one.stat("staged-frames") - staged < 100);
  one.rig.expect_quiet();
}
GST_END_TEST;

// Memories that all come again and again: none is let go for another one.
GST_START_TEST(what_still_comes_is_kept) {
  LockFixture one(room_for_two("register"));
  std::vector<Frame> frames;
  for (int i = 0; i < 5; ++i) frames.push_back(one.make());
  for (int i = 0; i < 40; ++i)
    for (const Frame& frame : frames) one.process_again(frame, 1);
  one.expect({{"registrations", 2},
              {"evictions", 0},
              {"input-pinned-frames", 40},
              {"staged-frames", 160}});
}
GST_END_TEST;

// Freed memory makes room at once.
GST_START_TEST(freed_memory_makes_room) {
  LockFixture one(room_for_two("register"));
  for (int i = 0; i < 10; ++i) {
    const Frame frame = one.make();
    one.process_again(frame, 3);
  }
  one.expect({{"registrations", 11}, {"evictions", 0}, {"staged-frames", 0}});
  one.rig.expect_quiet();
}
GST_END_TEST;

// In mode auto outputs are the pool's: what is registered is input alone.
GST_START_TEST(old_input_is_let_go_in_auto) {
  LockFixture one(room_for_two("auto"));
  const Frame old = one.make();
  one.process_again(old, 5);
  one.expect({{"registrations", 1}, {"input-pinned-frames", 4}, {"output-pinned-frames", 5}});
  const Frame now = one.make();
  one.process_again(now, 300);
  one.expect({{"registrations", 2}, {"evictions", 1}});
  fail_unless(one.stat("staged-frames") < 100);
}
GST_END_TEST;

// More memories come round than may be pinned.
GST_START_TEST(many_frames_under_a_small_bound) {
  const std::uint64_t block = block_bytes_of({});
  LockFixture one({.depth = depths[__i__], .bound_bytes = 3 * block});
  const Ref<GstBufferPool> pool = start_system_pool(one.caps.get(), 6);
  for (int i = 0; i < 100; ++i) {
    Ref<GstBuffer> buffer = acquire_from(pool.get());
    const GuardedImage image = fill_buffer(buffer.get(), one.caps.get(), one.random);
    one.check(one.rig.process(std::move(buffer)).get(), image.view());
    expect_bound(one, 3 * block, depths[__i__]);
  }
  fail_unless(one.stat("registrations") >= 1 && one.stat("registrations") <= 2);
  one.expect({{"evictions", 0}, {"output-pinned-frames", 100}});
  one.expect_one_warning(GST_RESOURCE_ERROR_NO_SPACE_LEFT);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

Suite* element_pinned_bound_suite() {
  Suite* suite = suite_create("element-pinned-bound");
  TCase* cases = tcase_create("bound");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  const int depth_count = static_cast<int>(std::size(depths));
  tcase_add_loop_test(cases, below_one_frame, 0, depth_count);
  tcase_add_loop_test(cases, large, 0, depth_count);
  tcase_add_loop_test(cases, downstream_holds_all, 0, depth_count);
  tcase_add_loop_test(cases, exactly_the_blocks_that_are_held, 0, depth_count);
  tcase_add_loop_test(cases, registered_outputs_are_held, 0, depth_count);
  tcase_add_loop_test(cases, our_pool_upstream, 0, depth_count);
  tcase_add_test(cases, old_memory_is_let_go);
  tcase_add_test(cases, what_still_comes_is_kept);
  tcase_add_test(cases, freed_memory_makes_room);
  tcase_add_test(cases, old_input_is_let_go_in_auto);
  tcase_add_loop_test(cases, many_frames_under_a_small_bound, 0, depth_count);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_pinned_bound)
