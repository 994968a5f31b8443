// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>

#include "cuda/engine.h"
#include "support/guarded_image.h"
#include "support/reference.h"

namespace test {

/// How both sides of a frame reach the device.
struct Access {
  stripe::HostAccess input;
  stripe::HostAccess output;
  bool page_locked = false;  ///< directly accessed sides lie in page-locked memory, all of them
  bool any_pitch = false;    ///< and their rows may go up in memory
};

inline constexpr Access direct{stripe::HostAccess::direct, stripe::HostAccess::direct};
inline constexpr Access staged{stripe::HostAccess::staged, stripe::HostAccess::staged};
inline constexpr Access page_locked{stripe::HostAccess::direct, stripe::HostAccess::direct, true};

Access random_access(Random& random);

/// What one frame is to become.
struct Treatment {
  Effect effect = Effect::none;
  Colors colors = bt709_limited;
  stripe::StripeLayout layout = stripe::StripeLayout::rows;
  int count = 1;
  std::optional<stripe::ColorSettings> settings = std::nullopt;  ///< instead of the effect

  /// The operation is not prepared for a device.
  stripe::FrameParameters parameters(const Format& format) const;
};

/// Any effect and colours, any cut into up to 256.
Treatment random_treatment(Random& random);

/// A frame for an engine, between guards, with what its output must be. Directly accessed sides lie
/// in page-locked memory, now and then in other memory, which is slow but allowed.
class TestFrame {
 public:
  TestFrame(stripe::Device& device, const stripe::FrameShape& shape, const Format& format,
            const Access& access, Random& random);

  /// Works out the output and fills the real one with something else. What settings come to is
  /// another test's concern: here it is what the CPU makes of the whole picture at once.
  void expect(const Treatment& treatment);

  stripe::FrameJob job() const;

  /// A caller may do so once staged input was submitted.
  void overwrite_input(Random& random) { input_.refill(random); }

  /// What is wrong after the frame was waited for, in words; empty if nothing.
  std::string verdict() const;

  /// For frames that nobody may use any more: fills them anew; then says whether they were touched
  /// since.
  void take_back(Random& random);
  std::string touched() const;

  const Access access;

 private:
  GuardedImage input_, output_, expected_;
};

}  // namespace test
