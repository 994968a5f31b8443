// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The element in pipelines: in its configurations, from a source that uses its pool, several at once; and the engine
// alone, as the element would use it.

#include <memory>
#include <string>
#include <vector>

#include "cube_file.h"
#include "engine_run.h"
#include "pipeline.h"
#include "report.h"

namespace benchmark {

namespace way {
inline constexpr const char* usual = "async-depth=3";
inline constexpr const char* single = "async-depth=1";
inline constexpr const char* single_in_engine = "engine async-depth=1";
inline constexpr const char* from_pool = "source=pool async-depth=3";
inline constexpr const char* together = "pipelines=4 async-depth=3";
inline constexpr const char* question = "page-lock=off async-depth=1 stripe-count=3 stream-count=3";
inline constexpr const char* copy_only = "effect=none async-depth=3";
inline constexpr const char* all_colors =
    "effect=none brightness=0.05 contrast=1.2 hue=0.1 saturation=1.5 gamma=1.2 "
    "lut-location=33.cube "
    "async-depth=3";
}  // namespace way

// Why the element can't have these settings: it has no such property. Empty where it can.
std::string why_no_settings(const std::string& settings);

class ElementWays {
 public:
  ElementWays(std::shared_ptr<stripe::Device> device, const Size& size, int frames);
  ElementWays(const ElementWays&) = delete;

  // They refer to this.
  void add_to(std::vector<Contestant>& contestants, std::vector<Absence>& absences);

  // What stats said after each one's last run.
  const std::vector<OverlapRow>& overlaps() const { return overlaps_; }

 private:
  // What the element chose for a single frame in flight.
  struct Choice {
    int stripes = 0;
    int streams = 0;
    std::string transfer;
    bool operator==(const Choice&) const = default;
  };

  Chain chain_of(const std::string& settings, Source source) const;
  void add_chain(std::vector<Contestant>& contestants, const std::string& config,
                 const std::string& settings, Source source,
                 std::function<void(GstElement*)> inspect);
  void add_colors(std::vector<Contestant>& contestants, std::vector<Absence>& absences);
  Sample run_engine(int frames);

  const std::shared_ptr<stripe::Device> device_;
  const Size size_;
  const int frames_;
  const CubeFile cube_;
  std::vector<OverlapRow> overlaps_;
  Choice choice_;         // as the element made it last
  Choice engine_choice_;  // the engine's, which is made again when the element chooses otherwise
  std::unique_ptr<Pictures> pictures_;
  std::unique_ptr<EngineRun> engine_;
};

}  // namespace benchmark
