// SPDX-License-Identifier: LGPL-2.1-or-later

// Copies that become one, and what a frame costs in calls once the first ones are through.

#include "cuda/copy_job.h"
#include "support/decorated_device.h"
#include "support/engine_rig.h"
#include "support/library_main.h"

using stripe::CopyDirection;
using stripe::CopyJob;
using stripe::EngineCounters;
using stripe::Transfer;
using test::Access;
using test::Call;
using test::Feeder;
using test::Random;
using test::Script;
using test::Setting;

namespace {

int allocations_of(const Script& script) {
  int sum = 0;
  for (const Call call : {Call::allocate, Call::allocate_pinned, Call::create_queue,
                          Call::create_event, Call::create_stamp, Call::create_clock})
    sum += script.count(call);
  return sum;
}

int waits_of(const Script& script) {
  return script.count(Call::wait) + script.count(Call::synchronize);
}

// No allocation and no wait but that for the frame's streams, and the engine counts what the device
// sees.
GST_START_TEST(a_frame_costs_one_wait) {
  Random random(71);
  for (const Transfer transfer : {Transfer::copy, Transfer::mapped})
    for (const Access& access : {test::page_locked, test::staged})
      for (const int stripes : {1, 2, 7}) {
        const auto script = std::make_shared<Script>();
        const auto frame_device = test::open_test_device();
        const Setting setting{&test::format_named("NV12"), 97, 61, false, {3, 3, transfer}};
        Feeder feeder(test::decorate(test::open_test_device(), script), frame_device, setting,
                      random);
        test::Treatment treatment{.count = stripes};
        for (int i = 0; i < 6; ++i) fail_unless_empty(feeder.feed(access, treatment));
        const EngineCounters before = feeder.engine().counters();
        fail_unless_equals_uint64(before.allocations, allocations_of(*script));
        fail_unless_equals_uint64(before.waits, waits_of(*script));
        constexpr int frames = 25;
        for (int i = 0; i < frames; ++i) fail_unless_empty(feeder.feed(access, treatment));
        const EngineCounters after = feeder.engine().counters();
        fail_unless_equals_uint64(after.allocations, before.allocations);
        fail_unless_equals_int(allocations_of(*script), static_cast<int>(before.allocations));
        const bool by_stripe = access.output == stripe::HostAccess::staged;
        const int waits_a_frame = by_stripe ? stripes : std::min(stripes, 3);
        fail_unless_equals_uint64(after.waits - before.waits,
                                  static_cast<std::uint64_t>(frames) * waits_a_frame);
        fail_unless_equals_uint64(after.waits, waits_of(*script));
        fail_unless_equals_int(script->count(Call::synchronize), 0);
        fail_unless_equals_int(script->count(Call::page_lock), 0);
        fail_unless_empty(feeder.finish());
      }
}
GST_END_TEST;

// --- copies

CopyJob a_copy(std::byte* to, const std::byte* from, std::size_t row_bytes, std::size_t rows,
               std::ptrdiff_t gap = 0) {
  const auto pitch = static_cast<std::ptrdiff_t>(row_bytes) + gap;
  return {to, pitch, from, pitch, row_bytes, rows, CopyDirection::upload};
}

GST_START_TEST(copies_behind_each_other_become_one) {
  std::byte to[100], from[100];
  CopyJob job = a_copy(to, from, 10, 4);
  fail_unless(stripe::join(job, a_copy(to + 40, from + 40, 5, 3)));
  fail_unless_equals_uint64(job.row_bytes * job.rows, 55);
  fail_unless(job.to == to && job.from == from && stripe::is_contiguous(job));
  fail_unless(stripe::join(job, a_copy(to + 55, from + 55, 1, 1)));
  fail_unless_equals_uint64(job.row_bytes * job.rows, 56);
}
GST_END_TEST;

GST_START_TEST(other_copies_stay_apart) {
  std::byte to[200], from[200];
  const CopyJob first = a_copy(to, from, 10, 4);
  CopyJob download = a_copy(to + 40, from + 40, 10, 4);
  download.direction = CopyDirection::download;
  CopyJob pitched = a_copy(to + 40, from + 40, 10, 4);
  pitched.from_pitch_bytes = 12;
  for (const CopyJob& next : {a_copy(to + 41, from + 40, 10, 4), a_copy(to + 40, from + 41, 10, 4),
                              a_copy(to + 30, from + 30, 10, 4),
                              a_copy(to + 40, from + 40, 10, 4, 2), download, pitched}) {
    CopyJob job = first;
    fail_unless(!stripe::join(job, next));
    fail_unless(job.to == to && job.from == from);
    fail_unless_equals_uint64(job.row_bytes, 10);
    fail_unless_equals_uint64(job.rows, 4);
  }
  CopyJob gaps = a_copy(to, from, 10, 4, 3);
  fail_unless(!stripe::join(gaps, a_copy(to + 49, from + 49, 10, 4)));
}
GST_END_TEST;

// Copies of both planes at once only where somebody vouches that they are one memory.
GST_START_TEST(planes_of_one_memory_are_one_copy) {
  const auto script = std::make_shared<Script>();
  const auto device = test::decorate(test::open_test_device(), script);
  const stripe::FrameShape shape{test::layout_of(test::format_named("NV12")), 64, 64, false};
  const stripe::FrameLayout layout = stripe::make_frame_layout(shape.layout, 64, 64);
  stripe::PinnedBlock in = device->allocate_pinned(layout.size_bytes);
  stripe::PinnedBlock out = device->allocate_pinned(layout.size_bytes);
  Random random(72);
  for (std::size_t i = 0; i < layout.size_bytes; ++i)
    in.data()[i] = static_cast<std::byte>(random.between(0, 255));
  stripe::Engine engine(device, shape, {1, 1, Transfer::copy});
  for (const bool in_one : {false, true})
    for (const bool out_one : {false, true}) {
      std::fill(out.data(), out.data() + layout.size_bytes, std::byte{0});
      const int before = script->count(Call::copy);
      engine.wait(
          engine.submit({as_const(view_of(layout, in.data())), stripe::HostAccess::direct,
                         view_of(layout, out.data()), stripe::HostAccess::direct, in_one, out_one},
                        {}));
      fail_unless_equals_int(script->count(Call::copy) - before,
                             (in_one ? 1 : 2) + (out_one ? 1 : 2));
      fail_unless(std::equal(in.data(), in.data() + 64 * 96, out.data()));
    }
}
GST_END_TEST;

Suite* engine_steady_suite() {
  Suite* suite = suite_create("engine-steady");
  TCase* cases = tcase_create("steady");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, a_frame_costs_one_wait);
  tcase_add_test(cases, copies_behind_each_other_become_one);
  tcase_add_test(cases, other_copies_stay_apart);
  tcase_add_test(cases, planes_of_one_memory_are_one_copy);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(engine_steady)
