// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Which backend this run of a test is about: STRIPE_TEST_BACKEND=host (default) or cuda.

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace test {

/// Exit status by which Meson knows that a test was skipped.
inline constexpr int exit_skipped = 77;

/// "host" or "cuda", also the value of the element's property `backend`.
inline const char* backend_name() {
  const char* wanted = std::getenv("STRIPE_TEST_BACKEND");
  if (!wanted || std::string_view(wanted) == "host") return "host";
  if (std::string_view(wanted) == "cuda") return "cuda";
  std::fprintf(stderr, "STRIPE_TEST_BACKEND=%s: neither host nor cuda\n", wanted);
  std::abort();
}

inline bool backend_is_cuda() { return std::string_view(backend_name()) == "cuda"; }

/// To be called first thing in main. libcheck forks for each case, and a child can't use the CUDA
/// context of its parent.
inline void dont_fork_with_cuda() {
  if (backend_is_cuda()) setenv("CK_FORK", "no", 1);
}

}  // namespace test
