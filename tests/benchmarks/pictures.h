// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cuda/device.h"
#include "cuda/frame_layout.h"
#include "sizes.h"

namespace benchmark {

// Host memory of a frame, page-locked or pageable.
class HostFrame {
 public:
  HostFrame(stripe::Device& device, std::size_t size_bytes, bool page_locked);
  std::byte* data() const { return block_ ? block_.data() : pageable_.get(); }

 private:
  stripe::PinnedBlock block_;
  std::unique_ptr<std::byte[]> pageable_;
};

// What is to be processed, one frame for each in flight, and what must come out. Every frame is touched, and no two
// are alike, nor are two stripes of one, so that frames and stripes in wrong places are found.
class Pictures {
 public:
  Pictures(stripe::Device& device, const Size& size, stripe::Effect effect, int count,
           bool page_locked);

  int count() const { return static_cast<int>(inputs_.size()); }
  const stripe::FrameLayout& layout() const { return layout_; }
  stripe::ConstImage input(int i) const;
  stripe::Image output(int i) const;

  // Wipes the first `count` outputs, and later throws std::runtime_error, which names `config`, where one of them is
  // not what it must be.
  void wipe_outputs(int count);
  void check_outputs(int count, const std::string& config) const;

 private:
  const Size size_;
  const stripe::FrameLayout layout_;
  std::vector<HostFrame> inputs_, outputs_;
  std::vector<std::unique_ptr<std::byte[]>> expected_;
};

}  // namespace benchmark
