// SPDX-License-Identifier: LGPL-2.1-or-later

// An engine whose kernels work on the frames' host memory: what it asks of the device, what it
// counts, and what becomes of memory that kernels can't reach.

#include <cstdint>
#include <memory>

#include "cuda/engine.h"
#include "support/decorated_device.h"
#include "support/engine_rig.h"
#include "support/library_main.h"

using stripe::EngineCounters;
using stripe::HostAccess;
using stripe::StripeLayout;
using stripe::Transfer;
using test::Access;
using test::Call;
using test::Feeder;
using test::Random;
using test::Script;
using test::Setting;
using test::Treatment;

namespace {

constexpr Access input_staged{HostAccess::staged, HostAccess::direct, true};
constexpr Access output_staged{HostAccess::direct, HostAccess::staged, true};
constexpr Access accesses[] = {test::page_locked, input_staged, output_staged, test::staged};

Setting mapped_setting(const char* format, int streams = 3, int depth = 2) {
  return {&test::format_named(format), 65, 63, false, {streams, depth, Transfer::mapped}};
}

Treatment in_tiles(int count) {
  return {test::Effect::invert, test::bt709_full, StripeLayout::tiles, count};
}

/// A feeder of an engine whose device keeps to a script, and the script.
struct Rig {
  Rig(const Setting& setting, Random& random)
      : feeder(test::decorate(device, script), device, setting, random) {}

  void feed(const Access& access, const Treatment& treatment, int frames) {
    for (int i = 0; i < frames; ++i) fail_unless_empty(feeder.feed(access, treatment));
  }

  EngineCounters finish() {
    fail_unless_empty(feeder.finish());
    fail_unless_equals_int(script->strangers(), 0);
    return feeder.engine().counters();
  }

  std::shared_ptr<stripe::Device> device = test::open_test_device();
  std::shared_ptr<Script> script = std::make_shared<Script>();
  Feeder feeder;
};

}  // namespace

GST_START_TEST(mapped_frames_are_not_copied) {
  Random random(__i__);
  const Setting setting = mapped_setting(test::formats[__i__].name);
  Rig rig(setting, random);
  rig.feed(test::page_locked, in_tiles(6), 5);
  const EngineCounters counters = rig.finish();
  fail_unless_equals_uint64(counters.frames_finished, 5);
  fail_unless_equals_uint64(counters.bytes_uploaded, 0);
  fail_unless_equals_uint64(counters.bytes_downloaded, 0);
  fail_unless_equals_uint64(counters.staged_bytes, 0);
  fail_unless_equals_uint64(counters.staging_block_bytes, 0);
  fail_unless_equals_int(rig.script->count(Call::launch), 5 * counters.stripes_per_frame);
  for (const Call call : {Call::copy, Call::allocate, Call::allocate_pinned})
    fail_unless_equals_int(rig.script->count(call), 0);
}
GST_END_TEST;

// The block that a frame is staged in is mapped too.
GST_START_TEST(staged_frames_are_copied_by_the_cpu_alone) {
  Random random;
  const Setting setting = mapped_setting("I420");
  const std::uint64_t bytes = test::sample_bytes(setting);
  Rig rig(setting, random);
  for (const Access& access : accesses) rig.feed(access, in_tiles(7), 3);
  const EngineCounters counters = rig.finish();
  fail_unless_equals_uint64(counters.staged_bytes, 3 * 4 * bytes);
  fail_unless(counters.staging_block_bytes >= 2 * 2 * bytes);  // each place's own
  fail_unless_equals_uint64(counters.bytes_uploaded, 0);
  fail_unless_equals_uint64(counters.bytes_downloaded, 0);
  fail_unless_equals_int(rig.script->count(Call::allocate_pinned), 2 * 2);
  for (const Call call : {Call::copy, Call::allocate})
    fail_unless_equals_int(rig.script->count(call), 0);
}
GST_END_TEST;

GST_START_TEST(what_kernels_cannot_reach_is_copied) {
  Random random(__i__);
  const Setting setting = mapped_setting(test::formats[__i__].name);
  const std::uint64_t bytes = test::sample_bytes(setting);
  Rig rig(setting, random);
  rig.script->unmapped_one_in = 1;
  for (const Access& access : accesses) rig.feed(access, in_tiles(5), 2);
  const EngineCounters counters = rig.finish();
  fail_unless_equals_uint64(counters.bytes_uploaded, 8 * bytes);
  fail_unless_equals_uint64(counters.bytes_downloaded, 8 * bytes);
  fail_unless_equals_uint64(counters.staged_bytes, 8 * bytes);
  fail_unless_equals_int(rig.script->count(Call::allocate), 2 * 2);  // both sides of each place
}
GST_END_TEST;

// From frame to frame, and of one frame the input, the output, or one plane.
GST_START_TEST(what_kernels_reach_may_change) {
  Random random(__i__);
  Rig rig(mapped_setting(test::formats[__i__].name, 2, 3), random);
  for (int i = 0; i < 40; ++i) {
    rig.script->unmapped_one_in = random.between(0, 3);
    rig.feed(random.pick(accesses), test::random_treatment(random), 1);
  }
  rig.script->unmapped_one_in = 0;
  const EngineCounters before = rig.finish();
  rig.feed(test::page_locked, in_tiles(3), 5);
  const EngineCounters after = rig.finish();
  fail_unless_equals_uint64(after.bytes_uploaded, before.bytes_uploaded);
  fail_unless_equals_uint64(after.bytes_downloaded, before.bytes_downloaded);
  fail_unless(rig.script->count(Call::allocate) <= 2 * 3);
}
GST_END_TEST;

// A device that knows that a kernel is as slow as the link can leave the rest of it to others.
GST_START_TEST(kernels_are_told_of_the_link) {
  Random random;
  for (const Transfer transfer : {Transfer::copy, Transfer::mapped}) {
    Setting setting = mapped_setting("GRAY8");
    setting.options.transfer = transfer;
    Rig rig(setting, random);
    for (int i = 0; i < 40; ++i) {
      const EngineCounters before = rig.feeder.engine().counters();
      rig.script->unmapped_one_in = random.between(0, 2);
      rig.feed(test::page_locked, in_tiles(4), 1);
      const EngineCounters after = rig.finish();
      const bool both_copied = after.bytes_uploaded > before.bytes_uploaded &&
                               after.bytes_downloaded > before.bytes_downloaded;
      fail_unless(rig.script->launched().back().over_link == !both_copied);
    }
  }
}
GST_END_TEST;

GST_START_TEST(mapped_steady_state_allocates_nothing) {
  Random random;
  Rig rig(mapped_setting("NV12", 3, 3), random);
  const auto feed = [&](int frames) {
    for (int i = 0; i < frames; ++i)
      rig.feed(i / 3 % 2 ? test::page_locked : test::staged, test::random_treatment(random), 1);
  };
  const auto allocations = [&] {
    const Script& script = *rig.script;
    return script.count(Call::allocate_pinned) + script.count(Call::create_queue) +
           script.count(Call::create_event);
  };
  feed(6);  // each place for a frame in flight was staged once
  const int before = allocations();
  fail_unless(before > 0);
  feed(60);
  fail_unless_equals_int(allocations(), before);
  fail_unless_equals_int(rig.script->count(Call::allocate), 0);
  rig.finish();
}
GST_END_TEST;

// A device that works in the CPU's memory is as little bound to rows that go down as the CPU is.
GST_START_TEST(rows_may_go_up_where_any_memory_will_do) {
  Random random(__i__);
  const Setting setting = mapped_setting(test::formats[__i__].name);
  Rig rig(setting, random);
  if (rig.device->needs_page_lock()) return;
  for (Access access : accesses) {
    access.page_locked = false;
    access.any_pitch = true;
    for (int i = 0; i < 12; ++i) rig.feed(access, test::random_treatment(random), 1);
  }
  const EngineCounters counters = rig.finish();
  fail_unless_equals_uint64(counters.bytes_uploaded, 0);
  fail_unless_equals_uint64(counters.bytes_downloaded, 0);
}
GST_END_TEST;

// It is taken when a frame first needs it, which is later than in an engine that copies.
GST_START_TEST(device_memory_that_cannot_be_had_is_an_error) {
  Random random;
  Rig rig(mapped_setting("RGB"), random);
  rig.feed(test::page_locked, {}, 1);
  rig.script->unmapped_one_in = 1;
  rig.script->fail_this_kind = true;
  rig.script->fail_kind = Call::allocate;
  rig.script->fail_at = 1;
  bool refused = false;
  try {
    rig.feed(test::page_locked, {}, 1);
  } catch (const stripe::DeviceError& error) {
    refused = error.kind() == stripe::DeviceErrorKind::out_of_device_memory;
  }
  fail_unless(refused);
}
GST_END_TEST;

// Where the caller says so, what goes block by block over a link is copied, and all else mapped.
GST_START_TEST(blocks_are_copied_where_asked) {
  Random random(77);
  const Setting setting{
      &test::format_named("I420"), 66, 50, false, {2, 2, Transfer::mapped, false}};
  Feeder feeder(test::open_test_device(), setting, random);
  test::Treatment sepia{.count = 3};
  sepia.settings = stripe::ColorSettings{.effect = stripe::Effect::sepia};
  const std::uint64_t bytes = test::sample_bytes(setting);
  std::uint64_t copied = 0;
  for (int i = 0; i < 8; ++i) {
    const bool by_blocks = i % 2 == 1;
    const test::Treatment plain{.effect = test::Effect::invert, .count = 3};
    fail_unless_empty(feeder.feed(test::page_locked, by_blocks ? sepia : plain));
    copied += by_blocks ? bytes : 0;
  }
  fail_unless_empty(feeder.finish());
  fail_unless_equals_uint64(feeder.engine().counters().bytes_uploaded, copied);
  fail_unless_equals_uint64(feeder.engine().counters().bytes_downloaded, copied);
}
GST_END_TEST;

static Suite* engine_mapped_suite() {
  Suite* suite = suite_create("engine-mapped");
  TCase* cases = tcase_create(test::backend_name());
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_loop_test(cases, mapped_frames_are_not_copied, 0, test::format_count);
  tcase_add_test(cases, blocks_are_copied_where_asked);
  tcase_add_test(cases, staged_frames_are_copied_by_the_cpu_alone);
  tcase_add_loop_test(cases, what_kernels_cannot_reach_is_copied, 0, test::format_count);
  tcase_add_loop_test(cases, what_kernels_reach_may_change, 0, test::format_count);
  tcase_add_test(cases, kernels_are_told_of_the_link);
  tcase_add_test(cases, mapped_steady_state_allocates_nothing);
  tcase_add_loop_test(cases, rows_may_go_up_where_any_memory_will_do, 0, test::format_count);
  tcase_add_test(cases, device_memory_that_cannot_be_had_is_an_error);
  return suite;
}

LIBRARY_CHECK_MAIN(engine_mapped)
