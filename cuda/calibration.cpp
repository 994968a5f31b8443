// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace stripe {

namespace {

// The best of some measurements differs by little less from that of others, and a frame that is mapped
// takes half to three quarters of the CPU time of six stripes: who is no further from the fastest
// counts as fast.
constexpr double noise = 0.05;

// So many more than fill the engine twice are not measured: together they are enough for what the
// wait has to learn first (forecast.cpp).
constexpr int learning_frames = 2;

// More in flight are no faster, and would take their memory.
constexpr int most_frames_in_flight = 4;

// Another process, or a CPU that was asleep, may hold up any candidate. So each is measured in at most
// so many rounds: in the second unless it is hopeless, and from then on where it is close to the
// fastest. Large frames leave time for the first only: there what was the best is measured again as
// soon as one that costs more is faster, or that one has to be faster by a tenth.
constexpr double certain = 1.1;
constexpr double hopeless = 2.5;
constexpr double close = 1.15;
constexpr int most_rounds = 4;

// One pair of page-locked frames for all that are in flight: nobody looks at the results.
class Trial {
 public:
  Trial(std::shared_ptr<Device> device, const FrameShape& shape, const ChoiceRequest& request,
        int stream_count, Time deadline)
      : device_(std::move(device)),
        shape_(shape),
        depth_(std::min(request.depth, most_frames_in_flight)),
        stream_count_(stream_count),
        deadline_(deadline),
        layout_(make_frame_layout(shape.layout, shape.width, shape.height)),
        input_(device_->allocate_pinned(layout_.size_bytes)),
        output_(device_->allocate_pinned(layout_.size_bytes)) {}

  std::optional<double> measure(const Candidate& candidate) {
    if (now() >= deadline_) return std::nullopt;
    try {
      return run(engine_for(candidate.transfer), candidate);
    } catch (const std::exception&) {
      return std::numeric_limits<double>::infinity();
    }
  }

 private:
  Engine& engine_for(Transfer transfer) {
    std::unique_ptr<Engine>& engine = engines_[static_cast<std::size_t>(transfer)];
    if (!engine)
      engine =
          std::make_unique<Engine>(device_, shape_, EngineOptions{stream_count_, depth_, transfer});
    return *engine;
  }

  // Some milliseconds of them.
  int frames_a_batch() const {
    constexpr double bytes_a_batch = 80e6;
    return std::clamp(static_cast<int>(bytes_a_batch / static_cast<double>(layout_.size_bytes)), 4,
                      16);
  }

  // In us a frame, once frames follow each other as they will for good: the first ones of a kind
  // take longer, too while the engine learns how long it has to wait, and how long the very first is
  // under way says nothing of those behind it. Nothing where the time was up before.
  std::optional<double> run(Engine& engine, const Candidate& candidate) {
    const int frames = frames_a_batch();
    // What another operation does to the times is too little to be worth its preparation.
    const FrameParameters parameters{StripeLayout::rows, candidate.stripe_count, {}};
    const FrameJob job{stripe::as_const(view_of(layout_, input_.data())),
                       HostAccess::direct,
                       view_of(layout_, output_.data()),
                       HostAccess::direct,
                       true,
                       true};
    std::deque<Ticket> flying;
    const auto finish_one = [&] {
      engine.wait(flying.front());
      flying.pop_front();
    };
    for (int i = 1; i < depth_; ++i) flying.push_back(engine.submit(job, parameters));
    const auto take_turns = [&](int count) {
      int done = 0;
      for (; done < count && now() < deadline_; ++done) {
        flying.push_back(engine.submit(job, parameters));
        finish_one();
      }
      return done;
    };
    take_turns(2 * depth_ + learning_frames);
    const Time begin = now();
    const int done = take_turns(frames);
    const double time = microseconds(now() - begin) / frames;
    while (!flying.empty()) finish_one();
    if (done < frames) return std::nullopt;
    return time;
  }

  const std::shared_ptr<Device> device_;
  const FrameShape shape_;
  const int depth_;
  const int stream_count_;
  const Time deadline_;
  const FrameLayout layout_;
  const PinnedBlock input_;
  const PinnedBlock output_;
  std::array<std::unique_ptr<Engine>, 2> engines_;
};

// All that the answer depends on.
std::string key_of(const DeviceInfo& device, const FrameShape& shape,
                   const ChoiceRequest& request) {
  std::string key = device.backend + " " + device.name + " ";
  for (const int number :
       {device.id, shape.width, shape.height, int{shape.interlaced}, request.depth,
        request.stream_count, request.stripe_count, static_cast<int>(request.transfer)})
    key += std::to_string(number) + " ";
  const PixelLayout& layout = shape.layout;
  for (const int number : {static_cast<int>(layout.model), int{layout.plane_count},
                           int{layout.color_count}, int{layout.has_extra}})
    key += std::to_string(number) + " ";
  for (int c = 0; c < layout.component_count(); ++c)
    for (const int number : {layout.components[c].plane, layout.components[c].offset_bytes,
                             layout.components[c].step_bytes, layout.components[c].log2_sub_x,
                             layout.components[c].log2_sub_y})
      key += std::to_string(number) + " ";
  return key;
}

// What is known already, and whether somebody is at it.
class Cache {
 public:
  // The answer that is known; nothing where the caller is to find it and then to call `put` or
  // `give_up`, or where others kept the device busy for too long: then `mine` is false.
  std::optional<Calibration> get(const std::string& key, Time budget, bool& mine) {
    std::unique_lock lock(mutex_);
    mine = changed_.wait_for(lock, std::chrono::nanoseconds(budget),
                             [&] { return !busy_ || known_.contains(key); });
    if (const auto found = known_.find(key); found != known_.end()) {
      mine = false;
      return found->second;
    }
    busy_ |= mine;
    return std::nullopt;
  }

  void put(const std::string& key, const Calibration& calibration) {
    {
      const std::lock_guard lock(mutex_);
      known_[key] = calibration;
    }
    give_up();
  }

  void give_up() {
    {
      const std::lock_guard lock(mutex_);
      busy_ = false;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;  // a leaf; guards all below
  std::condition_variable changed_;
  std::map<std::string, Calibration> known_;
  bool busy_ = false;
};

// Outlives every element.
Cache& cache() {
  static Cache* const cache = new Cache;
  return *cache;
}

Calibration measure_all(const std::shared_ptr<Device>& device, const FrameShape& shape,
                        const ChoiceRequest& request, const std::vector<Candidate>& candidates,
                        Time deadline) {
  const Choice guess = choose(request, device->info());
  try {
    Trial trial(device, shape, request, guess.stream_count, deadline);
    return try_candidates(guess, candidates,
                          [&](const Candidate& candidate) { return trial.measure(candidate); });
  } catch (const std::exception&) {
    return {guess, {}, false};
  }
}

// Whether there was time for it.
bool measure_once_more(Candidate& one, const MeasureCandidate& measure) {
  const std::optional<double> time = measure(one);
  if (time) one.us = std::min(one.us, *time);
  return time.has_value();
}

// Whether there is time for another round.
bool measure_again(std::vector<Candidate>& tried, double within, const MeasureCandidate& measure) {
  double best = std::numeric_limits<double>::infinity();
  for (const Candidate& one : tried) best = std::min(best, one.us);
  for (Candidate& one : tried)
    if (one.us <= within * best && !measure_once_more(one, measure)) return false;
  return true;
}

// What a frame costs the CPU, about: a stripe's kernel, and its two copies where there are any.
int calls_of(const Candidate& candidate) {
  return candidate.stripe_count * (candidate.transfer == Transfer::mapped ? 1 : 3);
}

// Its place; nothing where nothing was tried.
std::optional<std::size_t> cheapest_of_fastest(const std::vector<Candidate>& tried) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const Candidate& one : tried) shortest = std::min(shortest, one.us);
  std::optional<std::size_t> best;
  const auto costs_less = [](const Candidate& a, const Candidate& b) {
    return std::pair(calls_of(a), a.us) < std::pair(calls_of(b), b.us);
  };
  for (std::size_t i = 0; i < tried.size(); ++i)
    if (tried[i].us <= shortest * (1 + noise) && (!best || costs_less(tried[i], tried[*best])))
      best = i;
  return best;
}

// Whether there is time for another one. The new one may also make a third one the best, which is
// still within `noise` of it.
bool try_next(const Candidate& candidate, std::vector<Candidate>& tried,
              const MeasureCandidate& measure) {
  const std::optional<double> time = measure(candidate);
  if (!time) return false;
  if (!std::isfinite(*time)) return true;
  const std::optional<std::size_t> former = cheapest_of_fastest(tried);
  tried.push_back({candidate.transfer, candidate.stripe_count, *time});
  if (!former) return true;
  const Candidate& best = tried[*cheapest_of_fastest(tried)];
  if (calls_of(best) <= calls_of(tried[*former])) return true;
  const bool is_certain = tried[*former].us > certain * best.us;
  if (measure_once_more(tried[*former], measure)) return true;
  if (!is_certain) tried.pop_back();
  return false;
}

}  // namespace

Calibration try_candidates(const Choice& guess, const std::vector<Candidate>& candidates,
                           const MeasureCandidate& measure) {
  Calibration out{guess, {}, false};
  bool has_time = true;
  for (std::size_t i = 0; i < candidates.size() && has_time; ++i)
    has_time = try_next(candidates[i], out.tried, measure);
  for (int round = 1; round < most_rounds && has_time; ++round)
    has_time = measure_again(out.tried, round == 1 ? hopeless : close, measure);
  if (const std::optional<std::size_t> best = cheapest_of_fastest(out.tried)) {
    out.choice.transfer = out.tried[*best].transfer;
    out.choice.stripe_count = out.tried[*best].stripe_count;
  }
  return out;
}

Calibration calibrate(const std::shared_ptr<Device>& device, const FrameShape& shape,
                      const ChoiceRequest& request, Time budget) {
  const Time begin = now();
  const FrameLayout layout = make_frame_layout(shape.layout, shape.width, shape.height);
  const std::vector<Candidate> candidates =
      list_candidates(request, device->info(), layout.size_bytes);
  // Page-locking the two frames must leave time to try something.
  if (candidates.size() < 2 || 2 * page_lock_time(layout.size_bytes) > budget / 2)
    return {choose(request, device->info()), {}, false};
  const std::string key = key_of(device->info(), shape, request);
  bool mine = false;
  if (std::optional<Calibration> known = cache().get(key, budget, mine)) {
    known->from_cache = true;
    return *known;
  }
  if (!mine) return {choose(request, device->info()), {}, false};
  const bool had_to_wait = now() - begin > budget / 10;
  const Calibration found = measure_all(device, shape, request, candidates, begin + budget);
  // What had less time than there should be, or failed, is no answer for those who come later.
  if (found.tried.empty() || had_to_wait)
    cache().give_up();
  else
    cache().put(key, found);
  return found;
}

}  // namespace stripe
