// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/choice.h"

namespace stripe {

namespace {

constexpr int default_stream_count = 3;
constexpr int stripes_of_a_single_frame = 3;

Transfer choose_transfer(const ChoiceRequest& request, const DeviceInfo& device) {
  if (!request.page_locked || request.transfer == TransferMode::copy) return Transfer::copy;
  if (request.transfer == TransferMode::mapped || device.shares_memory) return Transfer::mapped;
  return Transfer::copy;
}

// Frames in flight overlap each other, and larger copies are faster; a single frame has only its
// own stripes to overlap with.
int choose_stripe_count(const ChoiceRequest& request) {
  if (request.stripe_count != 0) return request.stripe_count;
  return request.depth == 1 ? stripes_of_a_single_frame : 1;
}

std::string explain_transfer(const ChoiceRequest& request, const DeviceInfo& device) {
  if (!request.page_locked) return "copied, as pageable memory can only be";
  if (request.transfer == TransferMode::copy) return "copied, as asked for";
  if (request.transfer == TransferMode::mapped) return "mapped, as asked for";
  return device.shares_memory ? "mapped, since the device works in the CPU's memory"
                              : "copied, since the device has memory of its own";
}

std::string explain_stripes(const ChoiceRequest& request) {
  if (request.stripe_count != 0) return "as asked for";
  return request.depth == 1 ? "to overlap each other within the one frame in flight"
                            : "since frames in flight overlap each other";
}

}  // namespace

Choice choose(const ChoiceRequest& request, const DeviceInfo& device) {
  return {request.stream_count != 0 ? request.stream_count : default_stream_count,
          choose_stripe_count(request), choose_transfer(request, device)};
}

std::string explain_choice(const ChoiceRequest& request, const DeviceInfo& device) {
  const Choice choice = choose(request, device);
  return std::to_string(choice.stripe_count) + (choice.stripe_count == 1 ? " stripe" : " stripes") +
         " a frame, " + explain_stripes(request) + ", on " + std::to_string(choice.stream_count) +
         (choice.stream_count == 1 ? " stream" : " streams") + "; " +
         explain_transfer(request, device);
}

const char* name_of(Transfer transfer) noexcept {
  return transfer == Transfer::mapped ? "mapped" : "copy";
}

}  // namespace stripe
