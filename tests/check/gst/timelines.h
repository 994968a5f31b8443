// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "gst/page_lock.h"
#include "support/trace.h"

// What the tests of `timeline-location` and of the times in `stats` share.

namespace test {

/// A folder of its own, gone at the end with all that is in it.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  ~TempFolder();

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  /// Takes it away with its files, before its time.
  void take_away() const;

 private:
  std::string path_;
};

bool exists(const std::string& path);
std::string read_file(const std::string& path);

/// Frames that are left out of timelines and samples.
constexpr int warm_up(unsigned depth) { return 2 * static_cast<int>(depth) + 2; }

/// `count` numbers from `first` on.
std::vector<int> numbers(int first, int count);

/// Whether frames are mapped in this run.
bool is_mapped_run();

/// A timeline that is wanted.
struct TimelineSetup {
  std::string location;
  unsigned frames = 5;
  unsigned depth = 3;
  unsigned stripes = 4;
  unsigned stats_interval = 64;
  unsigned streams = 0;
};

/// An inverting element that writes it; pictures are small I420 ones.
struct TimelineFixture : LockFixture {
  explicit TimelineFixture(const TimelineSetup& setup);
  TimelineFixture(Ref<GstElement> element, const TimelineSetup& setup);

  /// So many frames through, the same memory each time, pixels checked; until their times are read.
  void run(int count);

  /// Until all that was pushed is done with: a frame's times are read when it is out.
  void catch_up();

  /// EOS, and until it is out.
  void end_stream();

  /// Stops the element, and gives it back.
  Ref<GstElement> stop() { return rig.release(); }

 private:
  void push_event(GstEvent* event);

  Frame again_;
};

/// The element of such a fixture, in NULL.
Ref<GstElement> make_timeline_element(const TimelineSetup& setup);

/// Reads a timeline; fails unless it keeps the rules, and has these frames and stripes.
Trace expect_trace(const std::string& path, const std::vector<int>& frames, unsigned stripes);

/// A warning or an information that the element has posted.
struct Said {
  bool is_warning;
  GQuark domain;
  int code;
  std::string text;
  std::string hint;  ///< the debug text
};

/// Takes all of them off the bus; fails on an error.
std::vector<Said> take_said(GstBus* bus);

/// Those whose text has `part` in it.
std::vector<Said> with(const std::vector<Said>& said, const std::string& part);

}  // namespace test
