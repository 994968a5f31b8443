// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine_run.h"

namespace benchmark {

std::string config_of(const Way& way) {
  return "async-depth=" + std::to_string(way.depth) +
         " stripe-count=" + std::to_string(way.stripes) +
         " transfer-mode=" + stripe::name_of(way.transfer);
}

EngineRun::EngineRun(const std::shared_ptr<stripe::Device>& device, const Size& size,
                     const Way& way, const std::string& config, Pictures& pictures)
    : config_(config),
      depth_(way.depth),
      engine_(device, {size.layout, size.width, size.height},
              {way.streams, way.depth, way.transfer}),
      parameters_{stripe::StripeLayout::rows, way.stripes,
                  stripe::prepare_operation({.effect = stripe::Effect::invert}, size.layout, {})},
      pictures_(pictures) {}

Sample EngineRun::run(int frames) {
  pictures_.wipe_outputs(depth_);
  for (int i = 0; i < depth_ - 1; ++i) submit();
  take_turns(depth_);
  const Stopwatch watch;
  take_turns(frames);
  const Sample sample = watch.a_frame(frames);
  while (waited_ < submitted_) wait();
  pictures_.check_outputs(depth_, config_);
  return sample;
}

void EngineRun::take_turns(int frames) {
  for (int i = 0; i < frames; ++i) {
    submit();
    wait();
  }
}

// Direct although pageable, where the question's way is measured.
void EngineRun::submit() {
  const int slot = static_cast<int>(submitted_ % static_cast<stripe::Ticket>(depth_));
  engine_.submit({pictures_.input(slot), stripe::HostAccess::direct, pictures_.output(slot),
                  stripe::HostAccess::direct, true, true},
                 parameters_);
  ++submitted_;
}

void EngineRun::wait() { engine_.wait(waited_++); }

}  // namespace benchmark
