// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/advice.h"

#include <cstdlib>

#include "cuda/text.h"

namespace stripe {

namespace {

void advise_on_environment(const Situation& s, std::vector<Advice>& out) {
  if (!s.launch_blocking.empty() && s.launch_blocking != "0")
    out.push_back({Cause::launch_blocking, false,
                   "CUDA_LAUNCH_BLOCKING=" + s.launch_blocking +
                       " makes each kernel wait for its end, so that nothing overlaps",
                   "unset CUDA_LAUNCH_BLOCKING"});
  if (s.max_connections == "1")
    out.push_back(
        {Cause::one_connection, false,
         "CUDA_DEVICE_MAX_CONNECTIONS=1 sends all streams through one queue",
         "unset CUDA_DEVICE_MAX_CONNECTIONS, or set it to the number of streams or more"});
}

void advise_on_copies(const Situation& s, std::vector<Advice>& out) {
  if (s.device.copy_engines == 1)
    out.push_back({Cause::one_copy_engine, false,
                   "the device has one copy engine: an upload and a download can't run at the same "
                   "time",
                   "transfer-mode=mapped may be faster here"});
  if (s.request.stripe_count > 1 && s.frame_bytes / s.request.stripe_count < small_copy_bytes)
    out.push_back({Cause::small_frame, false,
                   "a frame of " + std::to_string(s.frame_bytes) + " bytes is too small for " +
                       std::to_string(s.request.stripe_count) + " stripes: copies of less than " +
                       std::to_string(small_copy_bytes / 1000) +
                       " KB don't use half of the link's speed",
                   "set stripe-count=0 or a lower one, and async-depth=3 to overlap frames"});
}

}  // namespace

std::vector<Advice> advise(const Situation& s) {
  std::vector<Advice> out;
  if (s.request.stream_count == 1 && s.request.depth == 1)
    out.push_back({Cause::single_stream, true,
                   "stream-count=1 with async-depth=1: one thing after another, nothing overlaps",
                   "set stream-count=0, or async-depth=3"});
  if (s.request.stripe_count > s.stripes)
    out.push_back({Cause::small_frame, false,
                   "the frame is too small for " + std::to_string(s.request.stripe_count) +
                       " stripes: it is cut into " + std::to_string(s.stripes),
                   "set stripe-count=0 or a lower one"});
  if (s.device.shares_memory) return out;
  advise_on_environment(s, out);
  if (!s.request.page_locked)
    out.push_back({Cause::not_page_locked, true,
                   "page-lock=off: copies from pageable memory overlap with nothing",
                   "set page-lock=auto"});
  if (s.choice.transfer == Transfer::copy) advise_on_copies(s, out);
  return out;
}

std::vector<Advice> advise(const Overlap& overlap, const DeviceInfo& device) {
  if (device.shares_memory || !is_kernel_bound(overlap)) return {};
  return {{Cause::kernel_bound, false,
           "kernels ran for " + to_text(100 * overlap.kernel / overlap.window, 0) +
               " % of the time, copies for less: the device, not the link, sets the pace",
           "nothing is wrong with the copies; another process may be using the device"}};
}

Advice advise_on_new_memory() {
  return {Cause::new_memory, false,
          "upstream puts each frame into new memory, so that all are copied on the CPU first",
          "let upstream take the pool that is offered, use a pool of its own, or keep the memories "
          "and push references to them (docs/memory.md)"};
}

void read_environment(Situation& situation) {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text ? text : "");
  };
  situation.launch_blocking = value("CUDA_LAUNCH_BLOCKING");
  situation.max_connections = value("CUDA_DEVICE_MAX_CONNECTIONS");
}

}  // namespace stripe
