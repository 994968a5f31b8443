// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "gst/frames.h"
#include "gst/support.h"

// What the tests of `page-lock` and `max-pinned-bytes` share: an element set up for one of the
// modes, and what is asked of its counters and its warnings.

namespace test {

inline constexpr const char* page_lock_modes[] = {"auto", "register", "stage", "off"};
inline constexpr int mode_count = static_cast<int>(std::size(page_lock_modes));

inline constexpr const char* pinned_type = "CudaStripePinned";

/// How the element is set up, and for what pictures.
struct LockSetup {
  const char* mode = "auto";
  const char* transfer = transfer_name();
  unsigned depth = 3;
  std::uint64_t bound_bytes = 0;
  std::string format = "I420";
  int width = 65;
  int height = 63;
  unsigned salt = 60;  ///< of the random numbers
};

Ref<GstElement> make_locking_element(const LockSetup& setup);

/// An inverting element with caps set.
struct LockFixture {
  explicit LockFixture(const LockSetup& setup = {})
      : LockFixture(make_locking_element(setup), setup) {}

  /// Takes over an element that was set up before.
  LockFixture(Ref<GstElement> element, const LockSetup& setup);

  /// A random picture in system memory of its own.
  Frame make() { return make_plain_frame(caps.get(), random); }

  /// Pushes the frame's buffer, and gives what comes out of it, pixels checked.
  Ref<GstBuffer> process(const Frame& frame);

  /// The same `times` times, with new bytes in the same memory each time.
  void process_again(const Frame& frame, int times);

  /// New frames in memory of their own, pushed at once and then pulled, pixels checked. They are
  /// held until the last one is out.
  std::vector<Ref<GstBuffer>> process_new(int frames);

  /// So many new frames in buffers of the pool that the element offers, pixels checked.
  void process_in_offered_pool(int frames);

  /// Fails unless `output` is the inverted picture.
  void check(GstBuffer* output, const ConstPicture& input);

  std::uint64_t stat(const char* field) const { return stat_uint64(rig.element(), field); }

  /// Fails unless each field of `stats` has its value.
  void expect(std::initializer_list<std::pair<const char*, std::uint64_t>> fields) const;

  /// The bytes of a picture without padding.
  std::uint64_t sample_bytes() const;

  /// The bytes of one block that holds a picture in GStreamer's layout: whole pages.
  std::uint64_t block_bytes() const;

  std::vector<Report> warnings() { return take_reports(rig.bus(), GST_MESSAGE_WARNING); }

  /// Fails unless there was exactly one warning, of the domain RESOURCE and with this code.
  Report expect_one_warning(int code);

  Ref<GstCaps> caps;
  Random random;
  Rig rig;
};

/// A pool of exactly `buffers` buffers in system memory, as elements without a better one have.
Ref<GstBufferPool> start_system_pool(GstCaps* caps, unsigned buffers);

Ref<GstBuffer> acquire_from(GstBufferPool* pool);

/// A random picture in a buffer of somebody else's, written through a map.
GuardedImage fill_buffer(GstBuffer* buffer, const GstCaps* caps, Random& random);

/// A buffer in memory of the allocator that the plugin registered.
Ref<GstBuffer> make_pinned_buffer(const GstCaps* caps);

bool is_of_type(GstBuffer* buffer, const char* mem_type);

}  // namespace test
