// SPDX-License-Identifier: LGPL-2.1-or-later

// The engine: the law of equality, and what its header promises.

#include "cuda/engine.h"

#include <map>
#include <semaphore>
#include <set>
#include <stdexcept>
#include <thread>

#include "support/color_oracle.h"
#include "support/decorated_device.h"
#include "support/engine_rig.h"
#include "support/library_main.h"

using stripe::StripeLayout;
using stripe::Transfer;
using test::Access;
using test::Call;
using test::Feeder;
using test::Random;
using test::Setting;
using test::Treatment;

namespace {

constexpr int law_cases = 30;
constexpr int configurations_per_case = 10;

int random_length(Random& random) {
  switch (random.between(1, 12)) {
    case 1:
      return 1;
    case 2:
      return random.between(300, 700);
    case 3:
      return random.between(1, 16) * 32;
    default:
      return random.between(1, 130);
  }
}

Setting random_setting(Random& random) {
  Setting setting{&random.pick(test::formats), random_length(random), random_length(random)};
  setting.interlaced = random.one_in(4);
  setting.options.stream_count = random.one_in(3) ? random.between(1, 32) : random.between(1, 4);
  setting.options.depth = random.between(1, 4);
  if (random.one_in(2)) setting.options.transfer = Transfer::mapped;
  return setting;
}

/// Dawdles, so that queues and threads meet in all orders.
std::shared_ptr<test::Script> random_script(Random& random) {
  auto script = std::make_shared<test::Script>();
  if (random.one_in(3)) script->most_delay_us = 60;
  if (random.one_in(2)) script->work_delay_kib = random.between(1, 300);
  if (random.one_in(4)) script->unmapped_one_in = random.between(1, 4);
  return script;
}

/// Every other time with settings of all sorts.
Treatment random_colors(Random& random) {
  Treatment treatment = test::random_treatment(random);
  if (random.one_in(2)) treatment.settings = test::random_settings(random, random.one_in(2));
  return treatment;
}

std::string check_law(Random& random) {
  const Setting setting = random_setting(random);
  const auto script = random_script(random);
  const auto device = test::decorate(test::open_test_device(), script);
  Feeder feeder(device, setting, random);
  const int frames = random.between(2, 7);
  Treatment treatment = random_colors(random);
  Access access = test::random_access(random);
  for (int i = 0; i < frames; ++i) {
    access.any_pitch = !device->needs_page_lock() && script->unmapped_one_in == 0 &&
                       setting.options.transfer == Transfer::mapped;
    const std::string text = feeder.feed(access, treatment);
    if (!text.empty()) return text;
    if (random.one_in(2)) treatment = random_colors(random);
    if (random.one_in(3)) access = test::random_access(random);
  }
  return feeder.finish();
}

Setting small_setting(const char* format, int streams, int depth) {
  return {&test::format_named(format), 65, 63, false, {streams, depth}};
}

bool throws_logic_error(Feeder& feeder, stripe::FrameJob job,
                        const stripe::FrameParameters& parameters) {
  try {
    feeder.engine().submit(job, parameters);
  } catch (const std::logic_error&) {
    return true;
  }
  return false;
}

}  // namespace

GST_START_TEST(law_of_equality) {
  Random random(__i__);
  for (int i = 0; i < configurations_per_case; ++i) fail_unless_empty(check_law(random));
}
GST_END_TEST;

// Every format in all layouts, at sizes that no block of threads divides.
GST_START_TEST(every_format_both_ways) {
  Random random(__i__);
  const auto device = test::open_test_device();
  for (const Transfer transfer : {Transfer::copy, Transfer::mapped})
    for (const Access& access : {test::direct, test::staged})
      for (const test::Effect effect : test::effects)
        for (const StripeLayout layout : test::stripe_layouts) {
          const Setting setting{&test::formats[__i__], 65, 63, false, {3, 2, transfer}};
          const Treatment treatment{effect, test::bt601_limited, layout, 5};
          fail_unless_empty(test::feed_alike(device, setting, access, treatment, 3, random));
        }
}
GST_END_TEST;

// As while a controller animates gamma: every frame has a table of its own, which goes while others
// still run.
GST_START_TEST(tables_live_as_long_as_their_frames) {
  Random random(__i__);
  const auto script = std::make_shared<test::Script>();
  script->work_delay_kib = 20;
  const auto device = test::decorate(test::open_test_device(), script);
  const Setting setting = small_setting(__i__ ? "RGBA" : "NV12", 3, 4);
  Feeder feeder(device, setting, random);
  Treatment treatment{test::Effect::none, test::bt709_limited, StripeLayout::rows, 3};
  treatment.settings = stripe::ColorSettings{.lut = test::random_lut(random)};
  for (int frame = 0; frame < 60; ++frame) {
    treatment.settings->gamma = 1 + frame / 50.0;
    if (frame % 20 == 19) treatment.settings->lut = test::random_lut(random);
    fail_unless_empty(feeder.feed(test::direct, treatment));
  }
  fail_unless_empty(feeder.finish());
}
GST_END_TEST;

GST_START_TEST(frames_beyond_the_depth_are_refused) {
  Random random;
  const auto device = test::open_test_device();
  for (const int depth : {1, 3}) {
    const Setting setting = small_setting("RGBA", 2, depth);
    Feeder feeder(device, setting, random);
    for (int i = 0; i < depth; ++i) fail_unless_empty(feeder.feed(test::direct, {}));
    const test::TestFrame extra(*device, setting.shape(), *setting.format, test::direct, random);
    fail_unless(throws_logic_error(feeder, extra.job(), {}));
    fail_unless_empty(feeder.feed(test::direct, {}));  // after a wait there is room again
    fail_unless_empty(feeder.finish());
    fail_unless_empty(extra.touched());
  }
}
GST_END_TEST;

// Of a frame that is not in flight, also where another one has its place in the engine.
GST_START_TEST(other_tickets_are_refused) {
  Random random;
  const auto device = test::open_test_device();
  for (const int depth : {1, 3}) {
    Feeder feeder(device, small_setting("RGBA", 2, depth), random);
    for (int i = 0; i < depth + 1; ++i) fail_unless_empty(feeder.feed(test::direct, {}));
    // In flight are 1 to `depth`.
    for (const int ticket : {0, depth + 1, depth + 2, 2 * depth + 1}) {
      bool refused = false;
      try {
        feeder.engine().wait(static_cast<stripe::Ticket>(ticket));
      } catch (const std::logic_error&) {
        refused = true;
      }
      fail_unless(refused, "depth %d: waited for %d", depth, ticket);
    }
    fail_unless_empty(feeder.finish());
  }
}
GST_END_TEST;

// A mistake of the caller's, not a failure of the engine.
GST_START_TEST(bad_stripe_count_is_refused) {
  Random random;
  const auto device = test::open_test_device();
  const Setting setting = small_setting("BGR", 2, 2);
  Feeder feeder(device, setting, random);
  const test::TestFrame frame(*device, setting.shape(), *setting.format, test::direct, random);
  for (const int count : {0, -1})
    fail_unless(throws_logic_error(feeder, frame.job(), {StripeLayout::rows, count, {}}));
  fail_unless_empty(feeder.feed(test::direct, {}));
  fail_unless_empty(feeder.finish());
}
GST_END_TEST;

GST_START_TEST(bad_shapes_and_options_are_refused) {
  const auto device = test::open_test_device();
  const auto refuses = [&](int width, int height, int streams, int depth) {
    Setting setting{&test::format_named("I420"), width, height, false, {streams, depth}};
    try {
      stripe::Engine engine(device, setting.shape(), setting.options);
    } catch (const std::logic_error&) {
      return true;
    }
    return false;
  };
  fail_if(refuses(1, 1, 1, 1));
  fail_unless(refuses(0, 1, 1, 1));
  fail_unless(refuses(1, 0, 1, 1));
  fail_unless(refuses(1, 1, 0, 1));
  fail_unless(refuses(1, 1, 1, 0));
}
GST_END_TEST;

GST_START_TEST(counters_count) {
  Random random;
  const auto device = test::open_test_device();
  const Setting setting = small_setting("I420", 3, 2);
  const std::uint64_t bytes = test::sample_bytes(setting);
  Feeder feeder(device, setting, random);
  fail_unless_equals_uint64(feeder.engine().counters().frames_submitted, 0);
  const Access stage_input{stripe::HostAccess::staged, stripe::HostAccess::direct};
  const Access stage_output{stripe::HostAccess::direct, stripe::HostAccess::staged};
  for (const Access& access : {test::direct, stage_input, stage_output, test::staged})
    fail_unless_empty(
        feeder.feed(access, {test::Effect::invert, test::bt709_full, StripeLayout::rows, 99}));
  fail_unless_equals_uint64(feeder.engine().counters().frames_finished, 2);
  fail_unless_empty(feeder.finish());
  const stripe::EngineCounters counters = feeder.engine().counters();
  fail_unless_equals_uint64(counters.frames_submitted, 4);
  fail_unless_equals_uint64(counters.frames_finished, 4);
  fail_unless_equals_uint64(counters.bytes_uploaded, 4 * bytes);
  fail_unless_equals_uint64(counters.bytes_downloaded, 4 * bytes);
  fail_unless_equals_uint64(counters.staged_bytes, 4 * bytes);
  fail_unless(counters.staging_block_bytes >= 2 * bytes);
  fail_unless_equals_int(counters.stripes_per_frame, 32);  // of 63 rows in pairs
}
GST_END_TEST;

// Stripe k of frame f with n stripes runs in queue (f * n + k) mod stream count.
GST_START_TEST(stripes_go_round_the_queues) {
  Random random;
  for (const int streams : {1, 2, 3, 5}) {
    const auto script = std::make_shared<test::Script>();
    Feeder feeder(test::decorate(test::open_test_device(), script),
                  small_setting("GRAY8", streams, 2), random);
    std::map<int, std::set<int>> queues_of;
    const int counts[] = {3, 3, 4, 1, 1, 7, 2};
    for (int f = 0; f < 7; ++f) {
      const std::size_t before = script->launched().size();
      fail_unless_empty(feeder.feed(
          test::direct, {test::Effect::none, test::bt709_full, StripeLayout::rows, counts[f]}));
      const std::vector<test::Launched> launched = script->launched();
      fail_unless_equals_int(static_cast<int>(launched.size() - before), counts[f]);
      for (int k = 0; k < counts[f]; ++k) {
        fail_unless_equals_int(launched[before + k].area.y, k * 63 / counts[f]);
        queues_of[(f * counts[f] + k) % streams].insert(launched[before + k].queue);
      }
    }
    std::set<int> all;
    for (const auto& [number, queues] : queues_of) {
      fail_unless(queues.size() == 1, "%d streams, number %d", streams, number);
      all.insert(*queues.begin());
    }
    fail_unless_equals_int(static_cast<int>(all.size()), streams);
    fail_unless_empty(feeder.finish());
  }
}
GST_END_TEST;

GST_START_TEST(steady_state_allocates_nothing) {
  Random random;
  const auto script = std::make_shared<test::Script>();
  const auto device = test::open_test_device();
  Feeder feeder(test::decorate(device, script), device, small_setting("NV12", 3, 3), random);
  const auto feed = [&](int frames) {
    for (int i = 0; i < frames; ++i)
      fail_unless_empty(
          feeder.feed(i / 3 % 2 ? test::direct : test::staged, test::random_treatment(random)));
  };
  const auto allocations = [&] {
    return script->count(Call::allocate) + script->count(Call::allocate_pinned) +
           script->count(Call::create_queue) + script->count(Call::create_event);
  };
  feed(6);  // each place for a frame in flight was staged once
  const int before = allocations();
  fail_unless(before > 0);
  feed(60);
  fail_unless_equals_int(allocations(), before);
  fail_unless_empty(feeder.finish());
}
GST_END_TEST;

// Submit and wait may run at once, in a thread each.
GST_START_TEST(two_threads_share_an_engine) {
  Random random(__i__);
  const auto device = test::decorate(test::open_test_device(), random_script(random));
  constexpr int frames = 60, depth = 3;
  Setting setting = small_setting("RGB", 3, depth);
  setting.options.transfer = __i__ ? Transfer::mapped : Transfer::copy;
  stripe::Engine engine(device, setting.shape(), setting.options);
  std::counting_semaphore<> room(depth), submitted(0);
  std::vector<std::unique_ptr<test::TestFrame>> all;
  std::vector<Treatment> treatments;
  for (int i = 0; i < frames; ++i) {
    all.push_back(std::make_unique<test::TestFrame>(*device, setting.shape(), *setting.format,
                                                    test::random_access(random), random));
    treatments.push_back(test::random_treatment(random));
    all.back()->expect(treatments.back());
  }
  std::thread waiter([&] {
    for (int i = 0; i < frames; ++i) {
      submitted.acquire();
      engine.wait(i);
      engine.counters();
      room.release();
    }
  });
  for (int i = 0; i < frames; ++i) {
    room.acquire();
    engine.submit(all[i]->job(), treatments[i].parameters(*setting.format));
    submitted.release();
  }
  waiter.join();
  for (const auto& frame : all) fail_unless_empty(frame->verdict());
}
GST_END_TEST;

GST_START_TEST(destructor_waits_for_frames) {
  Random random;
  for (int i = 0; i < 20; ++i) {
    const auto script = std::make_shared<test::Script>();
    script->work_delay_kib = 200;
    Feeder feeder(test::decorate(test::open_test_device(), script), small_setting("RGBA", 3, 4),
                  random);
    for (int f = 0; f < 4; ++f)
      fail_unless_empty(feeder.feed(test::direct, test::random_treatment(random)));
    feeder.destroy_engine();
    fail_unless_equals_int(script->live_objects(), 0);
    for (const auto& frame : feeder.unfinished()) fail_unless_empty(frame->verdict());
  }
}
GST_END_TEST;

GST_START_TEST(engines_share_a_device) {
  const auto device = test::open_test_device();
  std::vector<std::thread> threads;
  std::string texts[4];
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      Random random(1000 + i);
      texts[i] = test::feed_alike(device, small_setting("BGRx", 2, 2), test::random_access(random),
                                  test::random_treatment(random), 20, random);
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) fail_unless_empty(text);
}
GST_END_TEST;

static Suite* engine_suite() {
  Suite* suite = suite_create("engine");
  TCase* cases = tcase_create(test::backend_name());
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 120);
  tcase_add_loop_test(cases, law_of_equality, 0, law_cases);
  tcase_add_loop_test(cases, every_format_both_ways, 0, test::format_count);
  tcase_add_loop_test(cases, tables_live_as_long_as_their_frames, 0, 2);
  tcase_add_test(cases, frames_beyond_the_depth_are_refused);
  tcase_add_test(cases, other_tickets_are_refused);
  tcase_add_test(cases, bad_stripe_count_is_refused);
  tcase_add_test(cases, bad_shapes_and_options_are_refused);
  tcase_add_test(cases, counters_count);
  tcase_add_test(cases, stripes_go_round_the_queues);
  tcase_add_test(cases, steady_state_allocates_nothing);
  tcase_add_loop_test(cases, two_threads_share_an_engine, 0, 2);
  tcase_add_test(cases, destructor_waits_for_frames);
  tcase_add_test(cases, engines_share_a_device);
  return suite;
}

LIBRARY_CHECK_MAIN(engine)
