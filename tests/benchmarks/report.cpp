// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report.h"

#include <cmath>
#include <cstdio>

namespace benchmark {

std::vector<Row> make_rows(const std::string& size, const std::vector<Contestant>& contestants,
                           const std::vector<Figure>& figures) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < figures.size(); ++i)
    if (figures[i].failure.empty())
      rows.push_back({size, contestants[i].config, figures[i], figures[0].median_us});
  return rows;
}

std::vector<Absence> find_failures(const std::string& size,
                                   const std::vector<Contestant>& contestants,
                                   const std::vector<Figure>& figures) {
  std::vector<Absence> failures;
  for (std::size_t i = 0; i < figures.size(); ++i)
    if (!figures[i].failure.empty())
      failures.push_back({size, contestants[i].config, "failed", figures[i].failure});
  return failures;
}

std::string judge(double measured, Bound bound, double value) {
  if (std::isnan(measured)) return "not measured";
  return (bound == Bound::at_least ? measured >= value : measured <= value) ? "met" : "missed";
}

void print_rows(const std::vector<Row>& rows) {
  std::printf(
      "\n%s, rounds of %d frames, or fewer of what is slow\n  %-60s %9s  %6s  %6s..%-6s  %5s  "
      "%8s\n",
      rows[0].size.c_str(), rows[0].figure.frames, "", "us/frame", "ratio", "low", "high", "share",
      "CPU us");
  for (const Row& row : rows)
    std::printf("  %-60s %9.1f  %6.2f  %6.2f..%-6.2f  %5.2f  %8.1f\n", row.config.c_str(),
                row.figure.median_us, row.ratio(), row.figure.low_us / row.limit_us,
                row.figure.high_us / row.limit_us, row.share(), row.figure.cpu_us);
  std::fflush(stdout);
}

void print_absences(const std::vector<Absence>& absences) {
  for (const Absence& absence : absences)
    std::printf("  %-60s %9s: %s\n", absence.config.c_str(), absence.state.c_str(),
                absence.reason.c_str());
  std::fflush(stdout);
}

void print_overlaps(const std::vector<OverlapRow>& rows) {
  std::printf(
      "\nOverlap and what was chosen, as stats have it\n  %-60s %7s  %7s  %10s  %7s  %7s  %s\n", "",
      "overlap", "ceiling", "link share", "stripes", "streams", "transfer");
  for (const OverlapRow& row : rows)
    std::printf("  %-60s %7.2f  %7.2f  %10.2f  %7d  %7d  %s\n",
                (row.size + " " + row.config).c_str(), row.overlap, row.ceiling, row.link_share,
                row.stripes, row.streams, row.transfer.c_str());
}

void print_kernels(const std::vector<KernelRow>& rows) {
  std::printf("\nKernels on device memory\n  %-60s %9s  %9s..%-9s  %s\n", "", "us/frame", "low",
              "high", "GB/s read and written");
  for (const KernelRow& row : rows)
    std::printf("  %-60s %9.1f  %9.1f..%-9.1f  %.0f\n", (row.size + " " + row.config).c_str(),
                row.figure.median_us, row.figure.low_us, row.figure.high_us,
                row.gigabytes_per_second());
}

void print_staged(const std::vector<StagedRow>& rows) {
  std::printf("\nWhere the time of a staged frame goes, us\n  %-60s %8s  %8s  %8s  %8s  %8s  %8s\n",
              "", "CPU in", "upload", "kernel", "download", "wait", "CPU out");
  for (const StagedRow& row : rows)
    std::printf("  %-60s %8.0f  %8.0f  %8.0f  %8.0f  %8.0f  %8.0f\n",
                (row.size + " " + row.config).c_str(), row.in_us, row.upload_us, row.kernel_us,
                row.download_us, row.wait_us, row.out_us);
  std::fflush(stdout);
}

void print_starts(const std::vector<StartRow>& rows) {
  std::printf(
      "\nTo the first frame, in a process of its own each time\n  %-60s %9s  %9s..%-9s  %9s\n", "",
      "ms", "low", "high", "own share");
  for (const StartRow& row : rows)
    std::printf("  %-60s %9.1f  %9.1f..%-9.1f  %9.1f\n", row.config.c_str(), row.median_ms,
                row.low_ms, row.high_ms, row.own_ms);
  std::fflush(stdout);
}

void print_models(const std::vector<Model>& models) {
  std::printf(
      "\nModel of a single frame of n stripes: (n + 1) / n x one way + n x issue\n  %-60s %9s  "
      "%9s\n",
      "", "one way", "issue, us");
  for (const Model& model : models)
    std::printf("  %-60s %9.1f  %9.1f\n", model.size.c_str(), model.one_way_us, model.issue_us);
}

void print_verdicts(const Report& report) {
  if (report.verdicts.empty()) return;
  std::printf("\nTargets, for a GPU on PCIe, of the best configuration of each size and depth%s\n",
              report.machine.backend == "cuda"
                  ? ""
                  : "; on CPU threads only those of so many CPUs say something");
  for (const Verdict& verdict : report.verdicts) {
    std::printf("  %-10s  %s: ", verdict.size.c_str(), verdict.target.c_str());
    if (!std::isnan(verdict.measured))
      std::printf("%.2f with %s: ", verdict.measured, verdict.config.c_str());
    std::printf("%s\n", verdict.verdict.c_str());
  }
}

}  // namespace benchmark
