// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/page_locking.h"

#include <gst/allocators/gstfdmemory.h>

#include "gst/host_range.h"
#include "gst/pinned_allocator.h"

namespace gst_stripe {

namespace {

using stripe::HostAccess;

constexpr const char* hint_to_offer =
    "let upstream and downstream take the pools that are offered (page-lock=auto), or allocate "
    "from "
    "the allocator CudaStripePinned";

std::string allocator_name(const GstMemory* memory) {
  const gchar* name = memory->allocator ? memory->allocator->mem_type : nullptr;
  return name ? name : "of no name";
}

}  // namespace

PageLocking::PageLocking(PageLockMode mode, stripe::Transfer transfer,
                         std::shared_ptr<stripe::Device> device,
                         std::shared_ptr<stripe::LockBudget> budget, Notices& notices)
    : mode_(mode),
      any_memory_will_do_(mode == PageLockMode::automatic && transfer == stripe::Transfer::mapped &&
                          !device->needs_page_lock()),
      device_(std::move(device)),
      budget_(std::move(budget)),
      notices_(notices) {}

MemoryClaim PageLocking::claim(const FrameView& view, FrameSide side) {
  MemoryClaim claim;
  if (any_memory_will_do_) {
    claim.access = HostAccess::direct;
    claim.pinned = is_all_pinned(view);
    return claim;
  }
  // A device's copies go down in memory only; the CPU turns such pictures round while staging.
  if (mode_ == PageLockMode::stage || !view.rows_go_down()) return claim;
  if (mode_ == PageLockMode::off) {
    claim.access = HostAccess::direct;
    return claim;
  }
  if (!claim_memories(view, side, claim)) {
    claim.uses = {};
    return claim;
  }
  claim.access = HostAccess::direct;
  claim.pinned = true;
  return claim;
}

bool PageLocking::is_all_pinned(const FrameView& view) const {
  if (view.is_merged()) return false;
  for (const GstMapInfo& map : view.maps())
    if (map.memory && !(is_allocator_memory(map.memory) && is_pinned_memory(map.memory, *device_)))
      return false;
  return true;
}

bool PageLocking::claim_memories(const FrameView& view, FrameSide side, MemoryClaim& claim) {
  if (view.is_merged()) {
    tell(side, "a plane lies across two memories of a buffer", hint_to_offer);
    return false;
  }
  bool all_locked = true;
  // All of them are asked, so that each is seen, and registered in its time.
  for (std::size_t i = 0; i < view.maps().size() && view.maps()[i].memory; ++i)
    all_locked &= claim_memory(view, view.maps()[i], side, claim, claim.uses[i]);
  return all_locked;
}

bool PageLocking::claim_memory(const FrameView& view, const GstMapInfo& map, FrameSide side,
                               MemoryClaim& claim, stripe::LockUse& use) {
  if (is_allocator_memory(map.memory)) return claim_allocator_memory(map.memory, side);
  if (is_registrable(root_of(map.memory))) return claim_system_memory(map, side, claim, use);
  return claim_other_memory(view, map, side);
}

bool PageLocking::claim_allocator_memory(GstMemory* memory, FrameSide side) {
  if (is_pinned_memory(memory, *device_)) return true;
  if (is_past_bound(memory))
    tell_of_bound();
  else
    tell(side, "memory of allocator CudaStripePinned came without its pages locked",
         "it is of an element that runs on the host, or the driver had no page-locked memory left");
  return false;
}

bool PageLocking::claim_system_memory(const GstMapInfo& map, FrameSide side, MemoryClaim& claim,
                                      stripe::LockUse& use) {
  const auto when = mode_ == PageLockMode::on_register ? stripe::LockWhen::first_sight
                                                       : stripe::LockWhen::second_sight;
  stripe::LockAnswer answer = host_range_of(map.memory, map).use(*device_, budget_, when);
  use = std::move(answer.use);
  if (!answer.reason.empty())
    tell(side, "system memory cannot be page-locked: " + answer.reason, hint_to_offer);
  if (answer.state == stripe::LockState::over_bound) tell_of_bound();
  claim.unseen |= answer.state == stripe::LockState::unseen;
  return answer.state == stripe::LockState::locked;
}

bool PageLocking::claim_other_memory(const FrameView& view, const GstMapInfo& map, FrameSide side) {
  stripe::HostRange& range = host_range_of(map.memory, map);
  if (range.is_refused(*device_)) return false;
  if (is_locked_elsewhere(view, map.memory)) return true;
  range.refuse(*device_, *budget_);
  tell(side, "memory of allocator " + allocator_name(map.memory) + " cannot be page-locked",
       hint_to_offer);
  return false;
}

// Whether somebody else page-locked it. Of a file descriptor's memory it can't be seen whether it
// keeps its mapping, so it is staged whatever the driver says of its address now.
bool PageLocking::is_locked_elsewhere(const FrameView& view, GstMemory* memory) {
  if (gst_is_fd_memory(memory)) return false;
  for (const PlaneRange& range : view.ranges())
    if (range.memory == memory && !device_->is_page_locked(range.begin, range.size_bytes))
      return false;
  return true;
}

void PageLocking::tell_of_bound() {
  notices_.tell({true, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                 "Frames are copied on the CPU: max-pinned-bytes is reached.",
                 "raise max-pinned-bytes, or use fewer or smaller buffers"});
}

void PageLocking::tell(FrameSide side, const std::string& cause, const char* hint) {
  const char* frames = side == FrameSide::input ? "Input frames" : "Output frames";
  notices_.tell({true, GST_RESOURCE_ERROR_FAILED,
                 std::string(frames) + " are copied on the CPU: " + cause + ".", hint});
}

}  // namespace gst_stripe
