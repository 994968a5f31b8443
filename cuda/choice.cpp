// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/choice.h"

#include <algorithm>
#include <initializer_list>

#include "cuda/advice.h"

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

// What the model of list_candidates knows of a link, from PCIe 5 with 16 lanes. It only puts candidates in
// an order; but what comes late in it may find no time to be tried.
constexpr double link_bytes_a_us = 54e3;
constexpr double issue_us = 10.6;  // of a stripe: two copies and a kernel
constexpr double mapped_issue_us = issue_us / 3;
constexpr double both_ways_factor = 1.09;  // two copies at once, of one alone
constexpr double mapped_alone_factor = 1.32;
constexpr double mapped_in_flight_factor = 1.3;

// The first stripe's upload and the last one's download overlap with nothing.
double guess_alone_us(const Candidate& candidate, double one_way_us) {
  const double n = candidate.stripe_count;
  if (candidate.transfer == Transfer::mapped)
    return mapped_alone_factor * one_way_us + mapped_issue_us * n;
  return (both_ways_factor * (n - 1) + 2) / n * one_way_us + issue_us * n;
}

double guess_us(const Candidate& candidate, int depth, double one_way_us) {
  if (depth == 1) return guess_alone_us(candidate, one_way_us);
  const double n = candidate.stripe_count;
  if (candidate.transfer == Transfer::mapped) return mapped_in_flight_factor * one_way_us + n;
  // As many frames as there are in flight share what one takes, and some is lost between them.
  constexpr double lost = 1.15;
  return std::max(both_ways_factor * one_way_us + issue_us / 2 * (n - 1),
                  lost * guess_alone_us(candidate, one_way_us) / depth);
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

std::vector<Candidate> list_candidates(const ChoiceRequest& request, const DeviceInfo& device,
                                       std::size_t frame_bytes) {
  std::vector<Candidate> out;
  if (!request.page_locked || device.shares_memory) return out;
  const auto add = [&](Transfer transfer, std::initializer_list<int> counts) {
    const TransferMode mode =
        transfer == Transfer::copy ? TransferMode::copy : TransferMode::mapped;
    if (request.transfer != TransferMode::automatic && request.transfer != mode) return;
    for (const int n : counts) {
      if (request.stripe_count != 0) {
        out.push_back({transfer, request.stripe_count});
        return;
      }
      if (n == 1 || frame_bytes / static_cast<std::size_t>(n) >= small_copy_bytes)
        out.push_back({transfer, n});
    }
  };
  add(Transfer::copy, {1, 2, 3, 4, 6, 8, 12});
  add(Transfer::mapped, {1, 3});
  const double one_way_us = static_cast<double>(frame_bytes) / link_bytes_a_us;
  std::stable_sort(out.begin(), out.end(), [&](const Candidate& a, const Candidate& b) {
    return guess_us(a, request.depth, one_way_us) < guess_us(b, request.depth, one_way_us);
  });
  return out;
}

// 0.35 ms a MB, as of a driver that clears and locks the pages one by one.
Time page_lock_time(std::size_t size_bytes) noexcept {
  return static_cast<Time>(0.35 * static_cast<double>(size_bytes));
}

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
