// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/copy_pool.h"

#include <pthread.h>

#include <algorithm>
#include <system_error>

#include "cuda/host_kernels.h"

namespace stripe {

namespace {

constexpr unsigned int most_helpers = 3;

// Below it, waking threads takes longer than the copy.
constexpr std::size_t worth_sharing_bytes = std::size_t{256} << 10;

// Part `part` of `parts` of the job's rows; of a job in one row, of its bytes.
CopyJob part_of(const CopyJob& job, std::size_t part, std::size_t parts) {
  CopyJob out = job;
  std::size_t& extent = job.rows == 1 ? out.row_bytes : out.rows;
  const std::size_t whole = extent;
  const std::size_t begin = whole * part / parts;
  extent = whole * (part + 1) / parts - begin;
  const auto steps = static_cast<std::ptrdiff_t>(begin);
  out.to += job.rows == 1 ? steps : steps * job.to_pitch_bytes;
  out.from += job.rows == 1 ? steps : steps * job.from_pitch_bytes;
  return out;
}

void run(const CopyJob& job) noexcept {
  if (job.rows != 0 && job.row_bytes != 0) copy_rows_on_host(job);
}

}  // namespace

CopyPool::CopyPool(int helpers) {
  helpers_.reserve(static_cast<std::size_t>(helpers));
  try {
    for (int i = 0; i < helpers; ++i)
      helpers_.emplace_back([this, i] { work(static_cast<std::size_t>(i) + 1); });
  } catch (const std::system_error&) {
    // With the threads that there are.
  }
}

CopyPool::~CopyPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

int CopyPool::useful_helpers() noexcept {
  const unsigned int cores = std::thread::hardware_concurrency();
  return cores == 0 ? 0 : static_cast<int>(std::min(cores - 1, most_helpers));
}

void CopyPool::copy(const CopyJob& job) noexcept {
  if (helpers_.empty() || job.row_bytes * job.rows < worth_sharing_bytes) {
    run(job);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    job_ = job;
    ++round_;
    unfinished_ = helpers_.size();
  }
  changed_.notify_all();
  run(part_of(job, 0, helpers_.size() + 1));
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return unfinished_ == 0; });
}

void CopyPool::work(std::size_t part) noexcept {
  pthread_setname_np(pthread_self(), "stripe-copy");
  std::uint64_t done = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || round_ != done; });
    if (stopping_) return;
    done = round_;
    const CopyJob job = job_;
    const std::size_t parts = helpers_.size() + 1;
    lock.unlock();
    run(part_of(job, part, parts));
    lock.lock();
    if (--unfinished_ == 0) changed_.notify_all();
  }
}

}  // namespace stripe
