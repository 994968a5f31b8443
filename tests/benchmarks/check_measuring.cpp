// SPDX-License-Identifier: LGPL-2.1-or-later

// What the benchmarks rely on, without a device: turns, failures of peers, paces, verdicts. Exit status 1 names what is
// wrong.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure.h"
#include "report.h"

namespace {

using benchmark::Bound;
using benchmark::Contestant;
using benchmark::Figure;
using benchmark::Sample;

void check(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}

void check_turns() {
  std::string order;
  double time_us = 100;  // of the warm-up, which must not count
  const std::vector<Contestant> contestants = {{"first",
                                                [&] {
                                                  order += 'a';
                                                  return Sample{time_us, 1, 10};
                                                }},
                                               {"second", [&] {
                                                  order += 'b';
                                                  time_us = time_us == 100 ? 2 : time_us + 2;
                                                  return Sample{time_us, 3, 20};
                                                }}};
  const std::vector<Figure> figures = measure_in_turn(contestants, 2);
  check(order == "abaabaaba", "the first of them begins and ends each round");
  // Its times: 100 and 2 in the warm-up, then 2, 4, 4, 6.
  check(figures[0].median_us == 4 && figures[0].low_us == 2 && figures[0].high_us == 6,
        "figures of the first");
  check(figures[1].median_us == 5 && figures[1].frames == 20 && figures[1].cpu_us == 3,
        "figures of the second");
}

void check_peer_failure() {
  int runs = 0;
  const Contestant limit{"limit", [] { return Sample{2, 1, 10}; }};
  const Contestant peer{"peer",
                        [&]() -> Sample {
                          if (++runs == 2) throw std::runtime_error("no such thing");
                          return {8, 1, 10};
                        },
                        true};
  const std::vector<Contestant> contestants = {limit, peer};
  const std::vector<Figure> figures = measure_in_turn(contestants, 3);
  check(runs == 2, "a peer that failed is not run again");
  check(benchmark::make_rows("size", contestants, figures).size() == 1, "it has no row");
  const auto failures = benchmark::find_failures("size", contestants, figures);
  check(failures.size() == 1 && failures[0].config == "peer" && failures[0].state == "failed" &&
            failures[0].reason == "no such thing",
        "it is told to have failed, and why");

  bool thrown = false;
  try {
    benchmark::measure_in_turn(
        {limit, {"own", []() -> Sample { throw std::runtime_error("own"); }}}, 1);
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  check(thrown, "what is no peer ends the run");
}

void check_pace() {
  benchmark::Pace pace(1000);
  std::vector<int> runs;
  double us = 10;
  const auto run = [&](int frames) {
    runs.push_back(frames);
    return Sample{runs.size() == 1 ? 5000.0 : us, 0, frames};  // the first frames are slow
  };
  const Sample first = pace.run(run);
  check(runs.size() == 3 && runs[0] < 10 && runs[1] == 40, "few frames at first");
  check(runs[2] == 1000 && first.frames == 1000, "run again with as many as there may be");
  us = 20'000;
  pace.run(run);
  check(runs.size() == 4 && runs[3] == 1000, "once where it had enough");
  us = 1e9;
  pace.run(run);
  check(runs.size() == 5 && runs[4] == 10, "fewer of what is slow");
  pace.run(run);
  check(runs.size() == 6 && runs[5] == 2, "not fewer than two");
}

void check_verdicts() {
  check(benchmark::judge(0.9, Bound::at_least, 0.9) == "met", "at least, met");
  check(benchmark::judge(0.89, Bound::at_least, 0.9) == "missed", "at least, missed");
  check(benchmark::judge(20, Bound::at_most, 20) == "met", "at most, met");
  check(benchmark::judge(20.1, Bound::at_most, 20) == "missed", "at most, missed");
  check(benchmark::judge(NAN, Bound::at_most, 20) == "not measured", "not measured");
}

}  // namespace

int main() {
  check_turns();
  check_peer_failure();
  check_pace();
  check_verdicts();
  return 0;
}
