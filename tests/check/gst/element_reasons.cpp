// SPDX-License-Identifier: LGPL-2.1-or-later
// The reasons why nothing overlaps: each said once for the same caps, with what to do, and only
// where it is true.

#include <cstdlib>

#include "gst/downstream.h"
#include "gst/foreign_memory.h"
#include "gst/special.h"
#include "gst/timelines.h"
#include "support/backend.h"

namespace {

using namespace test;

/// A reason that is expected, and its level.
struct Reason {
  const char* text;
  const char* hint;
  bool is_warning;
  int code;
};

constexpr Reason off{"page-lock=off: copies", "page-lock=auto", false, GST_RESOURCE_ERROR_SETTINGS};
constexpr Reason single{"stream-count=1 with async-depth=1", "async-depth=3", false,
                        GST_RESOURCE_ERROR_SETTINGS};
constexpr Reason few_units{"too small for 200 stripes", "stripe-count", true,
                           GST_RESOURCE_ERROR_FAILED};
constexpr Reason blocking{"CUDA_LAUNCH_BLOCKING=1", "unset", true, GST_RESOURCE_ERROR_FAILED};
constexpr Reason connection{"CUDA_DEVICE_MAX_CONNECTIONS=1", "unset", true,
                            GST_RESOURCE_ERROR_FAILED};
constexpr Reason new_memory{"each frame into new memory", "pool", true, GST_RESOURCE_ERROR_FAILED};
constexpr Reason bound{"max-pinned-bytes is reached", "raise max-pinned-bytes", true,
                       GST_RESOURCE_ERROR_NO_SPACE_LEFT};

void expect_said(const std::vector<Said>& said, const Reason& reason, int times) {
  const std::vector<Said> found = with(said, reason.text);
  fail_unless(static_cast<int>(found.size()) == times, "'%s' %zu times instead of %d", reason.text,
              found.size(), times);
  for (const Said& one : found) {
    fail_unless(one.is_warning == reason.is_warning, "%s", one.text.c_str());
    fail_unless(one.domain == GST_RESOURCE_ERROR && one.code == reason.code, "%d: %s", one.code,
                one.text.c_str());
    fail_unless(one.hint.find(reason.hint) != std::string::npos, "no '%s' in: %s", reason.hint,
                one.hint.c_str());
  }
}

struct Setup {
  unsigned depth = 3;
  unsigned streams = 0;
  unsigned stripes = 0;
  std::uint64_t bound_bytes = 0;
  const char* mode = "auto";
};

LockSetup lock_setup(const Setup& setup) {
  return {.mode = setup.mode, .depth = setup.depth, .bound_bytes = setup.bound_bytes};
}

Ref<GstElement> make(const Setup& setup) {
  Ref<GstElement> element = make_locking_element(lock_setup(setup));
  g_object_set(element.get(), "stream-count", setup.streams, "stripe-count", setup.stripes,
               nullptr);
  return element;
}

/// Frames of one caps, then of others, then of the first ones again: the reason is said each time,
/// once, or never.
void expect_once_for_caps(const Setup& setup, const Reason& reason, bool is_true) {
  LockFixture one(make(setup), lock_setup(setup));
  const Ref<GstCaps> first = make_caps("I420", 65, 63), other = make_caps("GRAY8", 34, 31);
  for (GstCaps* caps : {first.get(), other.get(), first.get()}) {
    one.caps.reset(gst_caps_ref(caps));
    one.rig.set_caps(caps);
    one.process_again(one.make(), 12);
    expect_said(take_said(one.rig.bus()), reason, is_true ? 1 : 0);
  }
}

GST_START_TEST(single_stream) {
  expect_once_for_caps({.depth = 1, .streams = 1}, single, true);
  expect_once_for_caps({.depth = 1, .streams = 2}, single, false);
  expect_once_for_caps({.depth = 1}, single, false);
  expect_once_for_caps({.depth = 2, .streams = 1}, single, false);
}
GST_END_TEST;

GST_START_TEST(fewer_units_than_stripes) {
  expect_once_for_caps({.stripes = 200}, few_units, true);
  expect_once_for_caps({.stripes = 10}, few_units, false);
}
GST_END_TEST;

// The CPU copies pageable memory as well as any.
GST_START_TEST(nothing_page_locked) {
  expect_once_for_caps({.mode = "off"}, off, backend_is_cuda());
  for (const char* mode : {"auto", "register", "stage"})
    expect_once_for_caps({.mode = mode}, off, false);
}
GST_END_TEST;

GST_START_TEST(environment) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
  expect_once_for_caps({}, blocking, backend_is_cuda());
  expect_once_for_caps({}, connection, backend_is_cuda());
  unsetenv("CUDA_LAUNCH_BLOCKING");
  unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
  expect_once_for_caps({}, blocking, false);
  expect_once_for_caps({}, connection, false);
}
GST_END_TEST;

// --- memory

/// So many inputs in memory of their own, one after another.
void feed_new(LockFixture& one, int frames) {
  for (int i = 0; i < frames; ++i) one.process(one.make());
}

// Where all memory will do nothing is copied, and nothing said.
GST_START_TEST(upstream_never_recycles) {
  LockFixture one(make({}), {});
  const int times = any_memory_will_do() ? 0 : 1;
  feed_new(one, 63);
  expect_said(take_said(one.rig.bus()), new_memory, 0);
  std::vector<Frame> kept;
  for (int i = 0; i < 70; ++i) {
    kept.push_back(one.make());
    one.process(kept.back());
  }
  expect_said(take_said(one.rig.bus()), new_memory, times);
  feed_new(one, 200);
  expect_said(take_said(one.rig.bus()), new_memory, 0);
  one.rig.set_caps(make_caps("GRAY8", 20, 20).get());
  one.rig.set_caps(one.caps.get());
  feed_new(one, 100);
  expect_said(take_said(one.rig.bus()), new_memory, times);
}
GST_END_TEST;

// One that comes again in between shows that upstream does recycle.
GST_START_TEST(upstream_recycles_now_and_then) {
  LockFixture one(make({}), {});
  const Frame again = one.make();
  one.process(again);
  for (int i = 0; i < 8; ++i) {
    feed_new(one, 40);
    one.process_again(again, 1);
  }
  expect_said(take_said(one.rig.bus()), new_memory, 0);
}
GST_END_TEST;

GST_START_TEST(input_of_an_unknown_allocator) {
  LockFixture one(make({}), {});
  const Reason reason{"Input frames are copied on the CPU: memory of allocator TestForeign",
                      "CudaStripePinned", true, GST_RESOURCE_ERROR_FAILED};
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) {
      const Frame frame = one.make();
      one.check(one.rig.process(make_foreign_buffer(nullptr, *frame.image)).get(),
                frame.image->view());
    }
    expect_said(take_said(one.rig.bus()), reason, any_memory_will_do() ? 0 : 1);
    one.rig.set_caps(make_caps("GRAY8", 20, 20).get());
    one.rig.set_caps(one.caps.get());
  }
}
GST_END_TEST;

/// A pool of downstream's own kind, whose buffers lie in memory of a type that nobody knows.
GST_START_TEST(output_of_an_unknown_allocator) {
  LockFixture one(make({}), {});
  const Ref<GstAllocator> allocator = make_special_allocator();
  const Ref<GstBufferPool> pool = make_adjusting_pool(PoolAnswer::larger);
  Downstream downstream = offering(pool.get());
  downstream.has_params = true;
  downstream.allocator = allocator.get();
  install(one.rig, downstream);
  one.rig.set_caps(make_caps("GRAY8", 20, 20).get());
  one.rig.set_caps(one.caps.get());
  take_said(one.rig.bus());
  const Ref<GstBuffer> output = one.process(one.make());
  one.process(one.make());
  const bool is_foreign =
      !is_of_type(output.get(), GST_ALLOCATOR_SYSMEM) && !is_of_type(output.get(), pinned_type);
  const std::vector<Said> said = with(take_said(one.rig.bus()), "Output frames are copied");
  fail_unless_equals_int(said.size(), is_foreign && !any_memory_will_do() ? 1 : 0);
  if (!is_foreign) std::fprintf(stderr, "NOT TESTED: the pool has ordinary memory\n");
}
GST_END_TEST;

GST_START_TEST(a_budget_is_reached) {
  LockFixture one(make({.bound_bytes = 1}), {.bound_bytes = 1});
  const int times = any_memory_will_do() ? 0 : 1;
  for (int round = 0; round < 2; ++round) {
    one.process_again(one.make(), 12);
    expect_said(take_said(one.rig.bus()), bound, times);
    one.rig.set_caps(make_caps("GRAY8", 20, 20).get());
    one.rig.set_caps(one.caps.get());
  }
}
GST_END_TEST;

// --- nothing

GST_START_TEST(nothing_where_all_is_well) {
  for (const unsigned depth : {1u, 3u}) {
    LockFixture one(make({.depth = depth}), lock_setup({.depth = depth}));
    one.process_again(one.make(), 150);
    one.process_in_offered_pool(20);
    for (const Said& said : take_said(one.rig.bus()))
      fail_unless(said.text.find("kernels take") != std::string::npos, "%s", said.text.c_str());
  }
}
GST_END_TEST;

// Each session begins anew.
GST_START_TEST(said_again_after_a_stop) {
  const Setup setup{.depth = 1, .streams = 1};
  Ref<GstElement> element = make(setup);
  for (int session = 0; session < 3; ++session) {
    LockFixture one(std::move(element), lock_setup(setup));
    one.process_again(one.make(), 5);
    expect_said(take_said(one.rig.bus()), single, 1);
    element = one.rig.release();
  }
}
GST_END_TEST;

Suite* element_reasons_suite() {
  Suite* suite = suite_create("element-reasons");
  TCase* cases = tcase_create("reasons");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, single_stream);
  tcase_add_test(cases, fewer_units_than_stripes);
  tcase_add_test(cases, nothing_page_locked);
  tcase_add_test(cases, environment);
  tcase_add_test(cases, upstream_never_recycles);
  tcase_add_test(cases, upstream_recycles_now_and_then);
  tcase_add_test(cases, input_of_an_unknown_allocator);
  tcase_add_test(cases, output_of_an_unknown_allocator);
  tcase_add_test(cases, a_budget_is_reached);
  tcase_add_test(cases, nothing_where_all_is_well);
  tcase_add_test(cases, said_again_after_a_stop);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_reasons)
