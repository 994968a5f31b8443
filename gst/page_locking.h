// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <memory>
#include <string>

#include "cuda/engine.h"
#include "cuda/page_lock.h"
#include "gst/frame_view.h"
#include "gst/notices.h"

namespace gst_stripe {

/// Values of the property `page-lock`.
enum class PageLockMode {
  automatic,    ///< pools of page-locked memory are offered; others' is registered at second sight
  on_register,  ///< both sides' memory is registered at first sight, as in the question's answer
  stage,        ///< everything is copied on the CPU through page-locked blocks
  off,          ///< nothing is page-locked: what the question did
};

/// How a frame's memory may be used, for as long as this lives.
///
/// Owner:   the frame; gone before the view that it was made from is unmapped.
struct MemoryClaim {
  stripe::HostAccess access = stripe::HostAccess::staged;
  bool pinned = false;  ///< page-locked, and used as it is
  bool unseen = false;  ///< staged because its memory may never come again
  std::array<stripe::LockUse, stripe::max_planes> uses;
};

enum class FrameSide { input, output };

/// Decides for each frame's memory whether the device copies from and to it directly, and
/// registers what is worth it.
///
/// Owner:   whoever makes it keeps `notices`, which hears why frames are staged.
/// Thread:  any.
class PageLocking {
 public:
  PageLocking(PageLockMode mode, stripe::Transfer transfer, std::shared_ptr<stripe::Device> device,
              std::shared_ptr<stripe::LockBudget> budget, Notices& notices);
  PageLocking(const PageLocking&) = delete;

  /// Whether upstream is offered page-locked memory, and output lies in it.
  bool uses_own_pools() const noexcept { return mode_ == PageLockMode::automatic; }

  MemoryClaim claim(const FrameView& view, FrameSide side);

 private:
  bool is_all_pinned(const FrameView& view) const;
  bool claim_memories(const FrameView& view, FrameSide side, MemoryClaim& claim);
  bool claim_memory(const FrameView& view, const GstMapInfo& map, FrameSide side,
                    MemoryClaim& claim, stripe::LockUse& use);
  bool claim_allocator_memory(GstMemory* memory, FrameSide side);
  bool claim_system_memory(const GstMapInfo& map, FrameSide side, MemoryClaim& claim,
                           stripe::LockUse& use);
  bool claim_other_memory(const FrameView& view, const GstMapInfo& map, FrameSide side);
  bool is_locked_elsewhere(const FrameView& view, GstMemory* memory);
  void tell_of_bound();
  void tell(FrameSide side, const std::string& cause, const char* hint);

  const PageLockMode mode_;
  const bool any_memory_will_do_;
  const std::shared_ptr<stripe::Device> device_;
  const std::shared_ptr<stripe::LockBudget> budget_;
  Notices& notices_;
};

}  // namespace gst_stripe
