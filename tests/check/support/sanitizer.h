// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What tests have to know of sanitizers: all end the process where memory of an absurd size is asked
// for, and operators new of ThreadSanitizer can't be replaced.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_WITH_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define TEST_WITH_SANITIZER 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define TEST_WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_WITH_TSAN 1
#endif
#endif

namespace test {

#ifdef TEST_WITH_SANITIZER
inline constexpr bool with_sanitizer = true;
#else
inline constexpr bool with_sanitizer = false;
#endif

}  // namespace test
