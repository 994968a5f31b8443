// SPDX-License-Identifier: LGPL-2.1-or-later

// Staged frames whose stripes are large enough for several threads.

#include <dirent.h>

#include <cstdio>
#include <memory>
#include <semaphore>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cuda/engine.h"
#include "support/decorated_device.h"
#include "support/engine_rig.h"
#include "support/library_main.h"
#include "support/sanitizer.h"

using stripe::StripeLayout;
using test::Access;
using test::Feeder;
using test::Random;
using test::Setting;
using test::Treatment;

namespace {

constexpr int law_cases = 8;

constexpr Access output_staged{stripe::HostAccess::direct, stripe::HostAccess::staged};
constexpr Access ways[] = {
    test::staged, {stripe::HostAccess::staged, stripe::HostAccess::direct}, output_staged};

constexpr stripe::Transfer transfers[] = {stripe::Transfer::copy, stripe::Transfer::mapped};
constexpr int transfer_count = 2;

/// RGBA in rows: a third of such a frame is above 256 KiB, an eighth is below.
Setting large_setting(int streams, int depth, stripe::Transfer transfer) {
  return {&test::format_named("RGBA"), 641, 403, false, {streams, depth, transfer}};
}

Treatment in_rows(int count) {
  return {test::Effect::invert, test::bt709_full, StripeLayout::rows, count};
}

/// A device that dawdles: a stripe that is not waited for is not there yet.
std::shared_ptr<stripe::Device> slow_device() {
  auto script = std::make_shared<test::Script>();
  script->work_delay_kib = 2000;
  return test::decorate(test::open_test_device(), script);
}

struct Mix {
  int stripes, streams;
};

constexpr Mix mixes[] = {{1, 1}, {1, 4}, {2, 5}, {3, 3}, {3, 2}, {7, 3}, {64, 3}, {5, 1}};

/// The threads of this process that have this name.
std::set<std::string> threads_named(const std::string& name) {
  std::set<std::string> ids;
  DIR* const tasks = opendir("/proc/self/task");
  while (const dirent* task = readdir(tasks)) {
    const std::string path = std::string("/proc/self/task/") + task->d_name + "/comm";
    std::FILE* const file = std::fopen(path.c_str(), "r");
    if (!file) continue;
    char text[64] = "";
    if (std::fgets(text, sizeof text, file) && text == name + "\n") ids.insert(task->d_name);
    std::fclose(file);
  }
  closedir(tasks);
  return ids;
}

}  // namespace

GST_START_TEST(large_staged_frames_keep_the_law) {
  Random random(__i__);
  Setting setting{&random.pick(test::formats), random.between(600, 900), random.between(300, 700)};
  setting.interlaced = random.one_in(4);
  setting.options = {random.between(1, 5), random.between(1, 3), random.pick(transfers)};
  Feeder feeder(test::open_test_device(), setting, random);
  for (int frame = 0; frame < (test::with_sanitizer ? 2 : 4); ++frame) {
    Treatment treatment = test::random_treatment(random);
    treatment.count = random.between(1, 4);
    fail_unless_empty(feeder.feed(random.pick(ways), treatment));
  }
  fail_unless_empty(feeder.finish());
}
GST_END_TEST;

// Each stripe is copied out once its own stream has passed it: fewer stripes than streams, as many,
// more. The wait begins while the device works.
GST_START_TEST(staged_output_waits_for_each_stripe) {
  Random random(__i__);
  const Mix& mix = mixes[__i__];
  for (const stripe::Transfer transfer : transfers) {
    Feeder feeder(slow_device(), large_setting(mix.streams, 2, transfer), random);
    for (int frame = 0; frame < 4; ++frame) {
      fail_unless_empty(feeder.feed(output_staged, in_rows(mix.stripes)));
      fail_unless_empty(feeder.finish_oldest());
    }
  }
}
GST_END_TEST;

// A place for a frame in flight must not keep the cut, the streams or the way of the frame before.
GST_START_TEST(staged_frames_change_from_one_to_the_next) {
  Random random(__i__);
  Feeder feeder(slow_device(), large_setting(3, 2, transfers[__i__]), random);
  const int counts[] = {7, 1, 2, 16, 3, 1, 64, 2};
  for (int frame = 0; frame < 8; ++frame) {
    Treatment treatment = in_rows(counts[frame]);
    if (frame % 3 == 1) treatment.layout = StripeLayout::columns;
    fail_unless_empty(feeder.feed(frame % 4 == 3 ? test::direct : output_staged, treatment));
    fail_unless_empty(feeder.finish_oldest());
  }
  for (int frame = 0; frame < 4; ++frame)
    fail_unless_empty(feeder.feed(frame == 2 ? test::direct : ways[frame % 3], in_rows(frame + 1)));
  fail_unless_empty(feeder.finish());
}
GST_END_TEST;

// The submitting thread copies in while the waiting thread copies out.
GST_START_TEST(both_sides_are_staged_at_once) {
  Random random(__i__);
  const auto device = test::open_test_device();
  const Setting setting = large_setting(3, 2, transfers[__i__]);
  const int frames = test::with_sanitizer ? 6 : 12;
  stripe::Engine engine(device, setting.shape(), setting.options);
  std::counting_semaphore<> room(setting.options.depth), submitted(0);
  std::vector<std::unique_ptr<test::TestFrame>> all;
  for (int i = 0; i < frames; ++i) {
    all.push_back(std::make_unique<test::TestFrame>(*device, setting.shape(), *setting.format,
                                                    test::staged, random));
    all.back()->expect(in_rows(1 + i % 4));
  }
  std::thread waiter([&] {
    for (int i = 0; i < frames; ++i) {
      submitted.acquire();
      engine.wait(i);
      room.release();
    }
  });
  for (int i = 0; i < frames; ++i) {
    room.acquire();
    engine.submit(all[i]->job(), in_rows(1 + i % 4).parameters(*setting.format));
    submitted.release();
  }
  waiter.join();
  for (const auto& frame : all) fail_unless_empty(frame->verdict());
  fail_unless_equals_uint64(engine.counters().staged_bytes,
                            2 * frames * std::uint64_t{test::sample_bytes(setting)});
}
GST_END_TEST;

GST_START_TEST(threads_that_copy_are_started_once) {
  Random random;
  const std::set<std::string> before = threads_named("stripe-copy");
  Feeder feeder(test::open_test_device(), large_setting(2, 2, transfers[__i__]), random);
  for (int i = 0; i < 3; ++i) fail_unless_empty(feeder.feed(test::direct, in_rows(1)));
  fail_unless(threads_named("stripe-copy") == before);  // nothing was staged
  for (int i = 0; i < 3; ++i) fail_unless_empty(feeder.feed(test::staged, in_rows(1)));
  const std::set<std::string> started = threads_named("stripe-copy");
  if (std::thread::hardware_concurrency() > 1) fail_unless(started.size() > before.size());
  for (int i = 0; i < 5; ++i) fail_unless_empty(feeder.feed(test::staged, in_rows(1)));
  fail_unless(threads_named("stripe-copy") == started);
  fail_unless_empty(feeder.finish());
}
GST_END_TEST;

static Suite* engine_staging_suite() {
  Suite* suite = suite_create("engine-staging");
  TCase* cases = tcase_create(test::backend_name());
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 120);
  tcase_add_loop_test(cases, large_staged_frames_keep_the_law, 0, law_cases);
  tcase_add_loop_test(cases, staged_output_waits_for_each_stripe, 0, G_N_ELEMENTS(mixes));
  tcase_add_loop_test(cases, staged_frames_change_from_one_to_the_next, 0, transfer_count);
  tcase_add_loop_test(cases, both_sides_are_staged_at_once, 0, transfer_count);
  tcase_add_loop_test(cases, threads_that_copy_are_started_once, 0, transfer_count);
  return suite;
}

LIBRARY_CHECK_MAIN(engine_staging)
