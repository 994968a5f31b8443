// SPDX-License-Identifier: LGPL-2.1-or-later

// The n-th call to the device fails, for every n: one error, no hang, no leak, hands off the
// frames, and a new engine works.

#include <atomic>
#include <chrono>
#include <optional>
#include <semaphore>
#include <set>
#include <thread>

#include "cuda/engine.h"
#include "support/decorated_device.h"
#include "support/engine_rig.h"
#include "support/library_main.h"

using stripe::StripeLayout;
using test::Access;
using test::Feeder;
using test::Random;
using test::Script;
using test::Setting;
using test::Treatment;

namespace {

/// What the engine does while something fails.
struct Scenario {
  Setting setting;
  Access access;
  Treatment treatment;
  int frames;
  int unmapped_one_in = 0;  ///< as the script's
};

const Access in_staged{stripe::HostAccess::staged, stripe::HostAccess::direct};
const Access out_staged{stripe::HostAccess::direct, stripe::HostAccess::staged};

Scenario copying_scenario(int number) {
  const Treatment rows{test::Effect::invert, test::bt709_full, StripeLayout::rows, 3};
  const Treatment columns{test::Effect::none, test::bt709_full, StripeLayout::columns, 2};
  switch (number) {
    case 0:
      return {{&test::format_named("GRAY8"), 65, 63, false, {1, 1}}, test::direct, rows, 2};
    case 1:
      return {{&test::format_named("I420"), 65, 63, false, {3, 2}}, test::staged, rows, 4};
    case 2:
      return {{&test::format_named("RGBA"), 33, 47, false, {2, 3}}, in_staged, columns, 5};
    default:
      return {{&test::format_named("NV12"), 34, 46, false, {4, 4}}, out_staged, rows, 6};
  }
}

/// The first four copy frames, the next four map the same, and the last one finds that it can't.
Scenario scenario(int number) {
  Scenario s = copying_scenario(number % 4);
  if (number >= 4) s.setting.options.transfer = stripe::Transfer::mapped;
  if (number >= 8) s.unmapped_one_in = 1;
  return s;
}
constexpr int scenario_count = 9;

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

/// The error of a call, if it throws one.
template <typename Body>
std::optional<stripe::DeviceError> error_of(Body body) {
  try {
    body();
  } catch (const stripe::DeviceError& error) {
    return error;
  }
  return {};
}

bool is_injected(const std::optional<stripe::DeviceError>& error) {
  return error && std::string(error->what()) == test::injected_error;
}

/// Feeds all frames; the first error ends it.
std::optional<stripe::DeviceError> feed_all(Feeder& feeder, const Scenario& s) {
  std::string text;
  const auto error = error_of([&] {
    for (int i = 0; i < s.frames && text.empty(); ++i) text = feeder.feed(s.access, s.treatment);
    if (text.empty()) text = feeder.finish();
  });
  fail_unless_empty(text);
  return error;
}

/// A failed engine says the same again and leaves the frames alone.
void expect_dead(Feeder& feeder, const stripe::DeviceError& first, bool free_frames,
                 Random& random) {
  const stripe::FrameJob job = feeder.unfinished().front()->job();
  for (int i = 0; i < 2; ++i) {
    const auto submit_error = error_of([&] { feeder.engine().submit(job, {}); });
    const auto wait_error = error_of([&] { feeder.engine().wait(0); });
    fail_unless(is_injected(submit_error) && is_injected(wait_error));
    fail_unless(submit_error->kind() == first.kind() && wait_error->kind() == first.kind());
  }
  if (free_frames) {
    feeder.unfinished().clear();  // ASan watches
    return;
  }
  for (const auto& frame : feeder.unfinished()) frame->take_back(random);
  feeder.destroy_engine();
  for (const auto& frame : feeder.unfinished()) fail_unless_empty(frame->touched());
}

/// Whether the script's failure came before the work was done.
bool run_with_failure(const Scenario& s, const std::shared_ptr<Script>& script, bool free_frames,
                      Random& random) {
  const auto plain = test::open_test_device();
  const auto device = test::decorate(plain, script);
  {
    std::unique_ptr<Feeder> feeder;
    const auto construction_error =
        error_of([&] { feeder = std::make_unique<Feeder>(device, plain, s.setting, random); });
    fail_if(construction_error && !is_injected(construction_error));
    const auto error = feeder ? feed_all(*feeder, s) : construction_error;
    // Without an error all frames were right: then only the engine's own end may have failed.
    if (error) fail_unless(is_injected(error) && script->fired());
    if (error && feeder) expect_dead(*feeder, *error, free_frames, random);
  }
  fail_unless_equals_int(script->live_objects(), 0);
  const bool fired = script->fired();
  script->disarm();
  fail_unless_empty(test::feed_alike(device, s.setting, s.access, s.treatment, 2, random));
  return fired;
}

/// Lets each call fail in turn until a run needs fewer calls. Returns how many that are.
int fail_each_call(const Scenario& s, bool ever_after, Random& random) {
  for (int n = 1; n < 2000; ++n) {
    const auto script = std::make_shared<Script>();
    script->work_delay_kib = n % 3 == 0 ? 200 : 0;
    script->fail_at = n;
    script->fail_ever_after = ever_after;
    script->unmapped_one_in = s.unmapped_one_in;
    if (!run_with_failure(s, script, n % 2 == 0, random)) return n - 1;
  }
  fail_unless(false, "the calls never end");
  return 0;
}

/// Submits in this thread and waits in another one until both are through or have failed.
class TwoThreads {
 public:
  TwoThreads(std::shared_ptr<stripe::Device> device, std::shared_ptr<stripe::Device> plain,
             const Scenario& s, Random& random)
      : s_(s), room_(s.setting.options.depth), submitted_(0) {
    for (int i = 0; i < s.frames; ++i) {
      frames_.push_back(std::make_unique<test::TestFrame>(*plain, s.setting.shape(),
                                                          *s.setting.format, s.access, random));
      frames_.back()->expect(s.treatment);
    }
    engine_ =
        std::make_unique<stripe::Engine>(std::move(device), s.setting.shape(), s.setting.options);
  }

  void run() {
    std::thread waiter([this] { wait_for_all(); });
    submit_all();
    waiter.join();
  }

  int finished() const { return finished_; }
  int foreign_errors() const { return foreign_errors_; }

  /// Nothing may touch the frames after run; the engine is destroyed in between.
  std::string touched_later(Random& random) {
    for (const auto& frame : frames_) frame->take_back(random);
    engine_.reset();
    for (const auto& frame : frames_) {
      const std::string text = frame->touched();
      if (!text.empty()) return text;
    }
    return {};
  }

 private:
  void note(const std::optional<stripe::DeviceError>& error) {
    if (error && !is_injected(error)) ++foreign_errors_;
  }

  void submit_all() {
    for (int i = 0; i < s_.frames; ++i) {
      room_.acquire();
      const auto error = error_of(
          [&] { engine_->submit(frames_[i]->job(), s_.treatment.parameters(*s_.setting.format)); });
      note(error);
      if (error) break;
      ++submitted_count_;
      submitted_.release();
    }
    over_ = true;
    submitted_.release();
  }

  void wait_for_all() {
    for (int i = 0;; ++i) {
      submitted_.acquire();
      if (over_ && i >= submitted_count_) return;
      const auto error = error_of([&] { engine_->wait(i); });
      note(error);
      if (!error) ++finished_;
      room_.release();
    }
  }

  const Scenario s_;
  std::vector<std::unique_ptr<test::TestFrame>> frames_;
  std::unique_ptr<stripe::Engine> engine_;
  std::counting_semaphore<> room_, submitted_;
  std::atomic<int> submitted_count_{0}, finished_{0}, foreign_errors_{0};
  std::atomic<bool> over_{false};
};

}  // namespace

GST_START_TEST(each_call_fails_once) {
  Random random(__i__);
  const int calls = fail_each_call(scenario(__i__), false, random);
  fail_unless(calls > 10, "only %d calls", calls);
}
GST_END_TEST;

// As after a sticky error of CUDA.
GST_START_TEST(all_calls_fail_from_one_on) {
  Random random(100 + __i__);
  const int calls = fail_each_call(scenario(__i__), true, random);
  fail_unless(calls > 10, "only %d calls", calls);
}
GST_END_TEST;

GST_START_TEST(error_keeps_its_kind) {
  Random random;
  const auto plain = test::open_test_device();
  for (const test::Call call :
       {test::Call::allocate, test::Call::allocate_pinned, test::Call::launch}) {
    const auto script = std::make_shared<Script>();
    script->fail_at = 1;
    script->fail_this_kind = true;
    script->fail_kind = call;
    const auto error = error_of([&] {
      Feeder feeder(test::decorate(plain, script), plain, scenario(1).setting, random);
      feeder.feed(test::staged, {});
    });
    fail_unless(is_injected(error));
    fail_unless(error->kind() == test::error_kind_of(call));
  }
}
GST_END_TEST;

// Page-locked memory is recycled by a cache: blocks that failed engines leak would be missing
// there.
GST_START_TEST(failures_leak_no_pinned_memory) {
  Random random;
  const Scenario s = scenario(1);
  fail_each_call(s, false, random);
  const std::uint64_t before = stripe::pinned_cache().allocations();
  const std::size_t idle_before = stripe::pinned_cache().idle_bytes();
  const auto device = test::open_test_device();
  Random same(4711);
  for (int i = 0; i < 20; ++i) {
    const auto script = std::make_shared<Script>();
    script->fail_at = 20 + i;
    Feeder feeder(test::decorate(device, script), device, s.setting, same);
    error_of([&] {
      for (int f = 0; f < s.frames; ++f) feeder.feed(test::staged, s.treatment);
    });
  }
  fail_unless_equals_uint64(stripe::pinned_cache().allocations(), before);
  fail_unless_equals_uint64(stripe::pinned_cache().idle_bytes(), idle_before);
}
GST_END_TEST;

GST_START_TEST(failures_between_two_threads) {
  Random random(__i__);
  const auto plain = test::open_test_device();
  for (int i = 0; i < 40; ++i) {
    Scenario s = scenario(__i__);
    s.frames = 8;
    const auto script = std::make_shared<Script>();
    script->work_delay_kib = 100;
    script->most_delay_us = 50;
    script->unmapped_one_in = s.unmapped_one_in;
    TwoThreads threads(test::decorate(plain, script), plain, s, random);
    script->fail_at = random.between(1, 100);
    script->fail_ever_after = random.one_in(3);
    threads.run();
    fail_unless_equals_int(threads.foreign_errors(), 0);
    fail_unless(script->fired() || threads.finished() == s.frames);
    fail_unless_empty(threads.touched_later(random));
    fail_unless_equals_int(script->live_objects(), 0);
  }
}
GST_END_TEST;

// While one thread finds out that a frame failed and waits for the queues, the other one submits
// the next: that one must be over too when the error surfaces.
GST_START_TEST(frame_submitted_during_a_failure_is_over_too) {
  Random random;
  const auto plain = test::open_test_device();
  const Setting setting{&test::format_named("GRAY8"), 64, 64, false, {1, 2}};
  const auto script = std::make_shared<Script>();
  script->work_delay_kib = 32 * 1024;
  script->synchronize_delay_us = 5000;
  script->fail_at = 1;
  script->fail_this_kind = true;
  script->fail_kind = test::Call::wait;
  stripe::Engine engine(test::decorate(plain, script), setting.shape(), setting.options);
  test::TestFrame first(*plain, setting.shape(), *setting.format, test::direct, random);
  test::TestFrame second(*plain, setting.shape(), *setting.format, test::direct, random);
  script->work_delay_kib = 0;  // but the second frame takes long
  engine.submit(first.job(), {});
  std::optional<stripe::DeviceError> wait_error;
  std::thread waiter([&] { wait_error = error_of([&] { engine.wait(0); }); });
  while (script->count(test::Call::synchronize) == 0) std::this_thread::yield();
  script->work_delay_kib = 32 * 1024;
  error_of([&] { engine.submit(second.job(), {StripeLayout::rows, 16, {}}); });
  waiter.join();
  fail_unless(is_injected(wait_error));
  first.take_back(random);
  second.take_back(random);
  sleep_ms(500);
  fail_unless_empty(first.touched());
  fail_unless_empty(second.touched());
}
GST_END_TEST;

static Suite* engine_failures_suite() {
  Suite* suite = suite_create("engine-failures");
  TCase* cases = tcase_create(test::backend_name());
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 120);
  tcase_add_loop_test(cases, each_call_fails_once, 0, scenario_count);
  tcase_add_loop_test(cases, all_calls_fail_from_one_on, 0, scenario_count);
  tcase_add_test(cases, error_keeps_its_kind);
  tcase_add_test(cases, failures_leak_no_pinned_memory);
  tcase_add_loop_test(cases, failures_between_two_threads, 1, scenario_count);
  tcase_add_test(cases, frame_submitted_during_a_failure_is_over_too);
  return suite;
}

LIBRARY_CHECK_MAIN(engine_failures)
