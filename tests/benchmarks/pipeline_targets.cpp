// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pipeline_targets.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "element_ways.h"
#include "peers.h"

namespace benchmark {

namespace {

// Two decimals at most.
std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

class Judge {
 public:
  Judge(const Size& size, const std::vector<Row>& rows, const std::vector<Row>& peers)
      : size_(size), rows_(rows), peers_(peers) {}

  std::vector<Verdict> take() { return std::move(verdicts_); }

  // NaN where it was not measured.
  double time_of(const char* config) const { return figure_of(config).median_us; }
  double cpu_of(const char* config) const { return figure_of(config).cpu_us; }
  double limit() const { return rows_[0].figure.median_us; }

  void add(const std::string& target, const char* config, double measured, Bound bound,
           double value, double share = NAN, bool reported = false) {
    const std::string verdict = judge(measured, bound, value);
    verdicts_.push_back({size_.name, target, share, config, measured,
                         reported && !std::isnan(measured) ? "reported" : verdict});
  }
  void share_of_limit(const std::string& what, const char* config, double least, bool reported) {
    add(what + ": at least " + text_of(least) + " of the limit", config, limit() / time_of(config),
        Bound::at_least, least, least, reported);
  }

 private:
  Figure figure_of(const char* config) const {
    for (const std::vector<Row>* list : {&rows_, &peers_})
      for (const Row& row : *list)
        if (row.config == config) return row.figure;
    return {NAN, NAN, NAN, NAN, 0, {}};
  }

  const Size& size_;
  const std::vector<Row>& rows_;
  const std::vector<Row>& peers_;
  std::vector<Verdict> verdicts_;
};

// The sizes that targets are about: 1080p RGBA, 1080p NV12, 2160p RGBA. Others are reported.
struct About {
  bool rgb;
  bool nv12;
  bool large;
  bool middle;

  explicit About(const Size& size)
      : rgb(std::string(size.format) == "RGB"),
        nv12(std::string(size.format) == "NV12"),
        large(size.width > 1920),
        middle(!rgb && !nv12 && !large) {}
};

void judge_throughput(Judge& judge, const About& about) {
  judge.share_of_limit("all defaults", way::usual, about.nv12 ? 0.90 : 0.95, about.rgb);
  judge.share_of_limit("source of the element's pool", way::from_pool, 0.93, about.rgb);
  judge.share_of_limit("4 pipelines at once", way::together, 0.90, about.rgb);
  judge.add("4 pipelines at once: at most 120 us of CPU a frame", way::together,
            judge.cpu_of(way::together), Bound::at_most, 120, NAN, about.rgb);
}

void judge_single(Judge& judge, const About& about) {
  const double most = about.large ? 1.24 : 1.30;
  judge.add("engine, one frame: at most " + text_of(most) + " times the limit's time",
            way::single_in_engine, judge.time_of(way::single_in_engine) / judge.limit(),
            Bound::at_most, most, NAN, about.rgb || about.nv12);
  judge.add("one frame: at most 20 us more than in the engine", way::single,
            judge.time_of(way::single) - judge.time_of(way::single_in_engine), Bound::at_most, 20);
}

void judge_peers(Judge& judge, const About& about) {
  if (about.rgb) return;
  const double least = about.large ? 2.8 : 2.2;
  judge.add("at least " + text_of(least) + " times the throughput of " + nvcodec_config, way::usual,
            judge.time_of(nvcodec_config) / judge.time_of(way::usual), Bound::at_least, least, NAN,
            about.nv12);
  if (!about.middle) return;
  judge.add("at most 60 us of CPU a frame", way::usual, judge.cpu_of(way::usual), Bound::at_most,
            60);
  judge.add(std::string("at most 0.15 of the CPU of ") + nvcodec_config, way::usual,
            judge.cpu_of(way::usual) / judge.cpu_of(nvcodec_config), Bound::at_most, 0.15);
}

void judge_colors(Judge& judge, const About& about) {
  if (about.rgb || about.large) return;
  judge.add("all colors: at least 0.9 of the throughput of copies only", way::all_colors,
            judge.time_of(way::copy_only) / judge.time_of(way::all_colors), Bound::at_least, 0.9);
}

// What the timeline of each should show, where a GPU's copy engines do the copies.
void judge_overlap(Judge& judge, const OverlapRow& row) {
  if (row.config == way::usual)
    judge.add("async-depth=3: overlap at least 0.85 of its ceiling", way::usual,
              row.ceiling > 0 ? row.overlap / row.ceiling : 0, Bound::at_least, 0.85);
  if (row.config == way::question)
    judge.add("page-lock=off: overlap below 1.15", way::question, row.overlap, Bound::at_most,
              1.15);
}

}  // namespace

std::vector<Verdict> judge_pipelines(const Size& size, const std::vector<Row>& rows,
                                     const std::vector<Row>& peers,
                                     const std::vector<OverlapRow>& overlaps) {
  Judge judge(size, rows, peers);
  const About about(size);
  judge_throughput(judge, about);
  judge_single(judge, about);
  judge_peers(judge, about);
  judge_colors(judge, about);
  for (const OverlapRow& row : overlaps) judge_overlap(judge, row);
  return judge.take();
}

}  // namespace benchmark
