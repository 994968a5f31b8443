// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Random inputs that can be had again: STRIPE_TEST_SEED=<the printed number>.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>

namespace test {

/// The seed of this run, from STRIPE_TEST_SEED or new; printed the first time it is asked for. Ask
/// in main, before libcheck forks, so that all cases have the same one.
inline std::uint64_t test_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("STRIPE_TEST_SEED");
    const std::uint64_t value = given ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::fprintf(stderr, "STRIPE_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
    return value;
  }();
  return seed;
}

/// Numbers that depend on the seed, and on `salt`, which keeps cases apart.
class Random {
 public:
  explicit Random(std::uint64_t salt = 0) : engine_(test_seed() + salt * 0x9e3779b97f4a7c15u) {}

  /// Uniform in [low, high], both included.
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

  bool one_in(int n) { return between(1, n) == 1; }

  template <typename Container>
  const auto& pick(const Container& container) {
    return std::data(container)[between(0, static_cast<int>(std::size(container)) - 1)];
  }

  void fill(std::uint8_t* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      if (i % 8 == 0) bits_ = engine_();
      data[i] = static_cast<std::uint8_t>(bits_ >> (i % 8 * 8));
    }
  }

 private:
  std::mt19937_64 engine_;
  std::uint64_t bits_ = 0;
};

}  // namespace test
