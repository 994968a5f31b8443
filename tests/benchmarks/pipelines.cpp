// SPDX-License-Identifier: LGPL-2.1-or-later

// How close the element comes to the limit of the link in a whole pipeline, and what others reach in its place:
//
//   imagefreeze ! cudastripetransform effect=invert ! fakesink

#include <gst/gst.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "child.h"
#include "element_ways.h"
#include "on_cpu.h"
#include "peers.h"
#include "pipeline_targets.h"
#include "pool_source.h"
#include "program.h"
#include "start_time.h"

namespace {

using benchmark::Absence;
using benchmark::Contestant;
using benchmark::Context;
using benchmark::Figure;
using benchmark::Report;
using benchmark::Row;
using benchmark::Size;

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// RGB has no peer: neither nvcodec nor OpenGL's filters take it.
bool has_peers(const Size& size) { return std::string(size.format) != "RGB"; }

std::vector<Row> rows_of(const std::vector<Row>& rows, const std::vector<Contestant>& contestants,
                         bool of_peers) {
  std::vector<Row> found;
  for (const Contestant& contestant : contestants)
    if (contestant.is_peer == of_peers)
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(found),
                   [&](const Row& row) { return row.config == contestant.config; });
  return found;
}

void measure_size(Context& context, const Size& size) {
  Report& report = context.report;
  const int frames = benchmark::scale_frames(size, report.frames);
  benchmark::DuplexLimit limit(*context.device, size);
  benchmark::ElementWays element(context.device, size, frames);
  std::vector<Absence> absences;
  std::vector<Contestant> contestants = {
      {benchmark::limit_config, [&] { return limit.run(frames); }}};
  element.add_to(contestants, absences);
  if (has_peers(size)) benchmark::add_peers(size, frames, contestants, absences);
  const std::vector<Figure> figures = benchmark::measure_in_turn(contestants, report.rounds);
  append(absences, benchmark::find_failures(size.name, contestants, figures));
  const std::vector<Row> all = benchmark::make_rows(size.name, contestants, figures);
  benchmark::print_rows(all);
  benchmark::print_absences(absences);
  const std::vector<Row> rows = rows_of(all, contestants, false);
  const std::vector<Row> peers = rows_of(all, contestants, true);
  append(report.verdicts, benchmark::judge_pipelines(size, rows, peers, element.overlaps()));
  append(report.rows, rows);
  append(report.peers, peers);
  append(report.absences, absences);
  append(report.overlaps, element.overlaps());
}

void measure_element(Context& context) {
  for (const Size& size : benchmark::sizes)
    if (context.wants(size)) measure_size(context, size);
  benchmark::print_overlaps(context.report.overlaps);
}

const std::map<std::string, benchmark::ChildMain> children = {
    {"on-cpu", benchmark::on_cpu_as_child},
    {"start", benchmark::start_as_child},
    {"try", benchmark::try_as_child},
};

std::string gstreamer_version() {
  gchar* const text = gst_version_string();
  const std::string version = text;
  g_free(text);
  return version;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::set_gl_environment();
  if (benchmark::is_child(argc, argv)) return benchmark::run_as_child(children, argc, argv);
  gst_init(&argc, &argv);
  benchmark::register_pool_source();
  return benchmark::run_program(
      {"pipelines",
       "Measures the element in pipelines against the limit of the link, and against its peers.",
       {400, 5},
       {20, 2},
       {{"element", true, measure_element},
        {"start", true, benchmark::measure_start},
        {"on-cpu", true, benchmark::measure_on_cpu}},
       gstreamer_version()},
      argc, argv);
}
