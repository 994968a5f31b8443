// SPDX-License-Identifier: LGPL-2.1-or-later

// The engine's timed frames.

#include <algorithm>

#include "cuda/engine_slot.h"

namespace stripe {

namespace {

std::uint64_t stripe_bytes(const PixelLayout& layout, const std::vector<Rect>& stripes) {
  std::uint64_t bytes = 0;
  for (const Rect& stripe : stripes)
    for (int p = 0; p < layout.plane_count; ++p) {
      const PlaneArea area = plane_area(layout, p, stripe);
      bytes += std::uint64_t{area.row_bytes} * area.rows;
    }
  return bytes;
}

// How far the device's clock must be off at least: no frame begins before it is submitted, or ends
// after it was waited for. An anchor is no better than the device was quick to answer, and a device
// that is shared with other processes may take milliseconds.
Time error_of(const FrameTimes& times, const std::vector<std::array<Time, 4>>& stamps) {
  Time first = times.wait.end, last = times.submit.begin;
  for (const std::array<Time, 4>& at : stamps) {
    first = std::min(first, at.front());
    last = std::max(last, at.back());
  }
  if (first < times.submit.begin) return times.submit.begin - first;
  return std::min<Time>(0, times.wait.end - last);
}

}  // namespace

std::unique_ptr<Engine::Record> Engine::begin_record() {
  if (!clock_) {
    clock_ = device_->create_clock();
    allocations_.fetch_add(1, std::memory_order_relaxed);
  }
  std::unique_ptr<Record> record;
  {
    const std::lock_guard lock(records_mutex_);
    if (!unused_.empty()) {
      record = std::move(unused_.back());
      unused_.pop_back();
    }
  }
  if (!record) record = std::make_unique<Record>();
  while (record->stamps.size() < stripes_.size()) {
    Record::Stamps stamps;
    for (std::unique_ptr<Stamp>& stamp : stamps.at) stamp = device_->create_stamp();
    allocations_.fetch_add(stamps.at.size(), std::memory_order_relaxed);
    record->stamps.push_back(std::move(stamps));
  }
  record->times = {};
  record->times.transfer = transfer_;
  record->times.submit.begin = now();
  return record;
}

void Engine::end_record(Slot& slot, Ticket ticket, Time wait_begin) {
  Record& record = *slot.record;
  record.ticket = ticket;
  record.input_copied = slot.input.copied;
  record.output_copied = slot.output.copied;
  record.times.wait = {wait_begin, now()};
  const std::uint64_t bytes = stripe_bytes(shape_.layout, slot.stripes);
  if (record.input_copied) record.times.bytes_uploaded = bytes;
  if (record.output_copied) record.times.bytes_downloaded = bytes;
  if (record.input_copied && record.output_copied) record.times.transfer = Transfer::copy;
  finished_.push_back(std::move(slot.record));
  if (finished_.size() <= slots_.size()) return;
  keep_unused(std::move(finished_.front()));  // nobody asked
  finished_.pop_front();
}

void Engine::keep_unused(std::unique_ptr<Record> record) {
  const std::lock_guard lock(records_mutex_);
  unused_.push_back(std::move(record));
}

void Engine::read_stamps(Record& record) {
  std::vector<std::array<Time, 4>> stamps(record.times.stripes.size());
  for (std::size_t k = 0; k < stamps.size(); ++k)
    for (std::size_t i = 0; i < stamps[k].size(); ++i)
      stamps[k][i] = clock_->time_of(*record.stamps[k].at[i]);
  const Time error = error_of(record.times, stamps);
  clock_->adjust(error);
  for (std::size_t k = 0; k < stamps.size(); ++k) {
    for (Time& at : stamps[k]) at += error;
    set_stripe(record, k, stamps[k]);
  }
}

// Another anchor may tell the times of a stream a little differently: its order is kept.
void Engine::set_stripe(Record& record, std::size_t number, std::array<Time, 4> at) {
  StripeTimes& stripe = record.times.stripes[number];
  Time& last = stream_times_[static_cast<std::size_t>(stripe.stream)];
  for (Time& time : at) last = time = std::max(last, time);
  if (record.input_copied) stripe.upload = {at[0], at[1]};
  stripe.kernel = {at[1], at[2]};
  if (record.output_copied) stripe.download = {at[2], at[3]};
  record.times.complete = std::max(record.times.complete, record.output_copied ? at[3] : at[2]);
}

std::optional<FrameTimes> Engine::read_times(Ticket ticket) {
  std::unique_ptr<Record> record;
  while (!finished_.empty() && finished_.front()->ticket <= ticket) {
    if (record) keep_unused(std::move(record));
    record = std::move(finished_.front());
    finished_.pop_front();
  }
  if (!record || record->ticket != ticket) {
    if (record) keep_unused(std::move(record));
    return std::nullopt;
  }
  clock_->anchor();
  read_stamps(*record);
  if (!record->times.staging_out.empty()) record->times.complete = record->times.wait.end;
  FrameTimes times = std::move(record->times);
  keep_unused(std::move(record));
  return times;
}

}  // namespace stripe
