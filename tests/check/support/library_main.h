// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// main and device of the tests of cuda/.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "cuda/backend.h"
#include "support/backend.h"
#include "support/check.h"
#include "support/random.h"

namespace test {

/// The device that this run is about.
inline std::shared_ptr<stripe::Device> open_test_device() {
  stripe::BackendChoice choice;
  if (backend_is_cuda())
    choice = stripe::choose_backend(stripe::Backend::cuda, -1, stripe::cuda_facts());
  return stripe::open_device(choice);
}

inline int run_library_suite(int argc, char** argv, Suite* (*suite)(), const char* name,
                             const char* file) {
  dont_fork_with_cuda();
  // No plugin is needed: scanning for them takes time, and what they leak is not ours.
  setenv("GST_REGISTRY_DISABLE", "yes", 1);
  if (backend_is_cuda()) {
    const std::string reason = stripe::why_not_cuda(stripe::cuda_facts());
    if (!reason.empty()) {
      std::printf("skipped: %s\n", reason.c_str());
      return exit_skipped;
    }
  }
  test_seed();
  gst_check_init(&argc, &argv);
  return gst_check_run_suite(suite(), name, file);
}

}  // namespace test

/// As GST_CHECK_MAIN; exits 77 when cuda is asked for and can't be had.
#define LIBRARY_CHECK_MAIN(name)                                               \
  int main(int argc, char** argv) {                                            \
    return test::run_library_suite(argc, argv, name##_suite, #name, __FILE__); \
  }
