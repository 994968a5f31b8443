// SPDX-License-Identifier: LGPL-2.1-or-later
#include "element_ways.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "together.h"

namespace benchmark {

namespace {

constexpr const char* element_name = "cudastripetransform";
constexpr int pipelines_together = 4;

constexpr const char* plain_ways[] = {
    way::usual,    "async-depth=3 stats-interval=0",     "async-depth=2",
    way::single,   "async-depth=1 transfer-mode=mapped", "async-depth=3 page-lock=stage",
    way::question,
};

struct FreeStructure {
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
};
using StructureRef = std::unique_ptr<GstStructure, FreeStructure>;

StructureRef read_stats(GstElement* pipeline) {
  const ElementRef element(gst_bin_get_by_name(GST_BIN(pipeline), "stripes"));
  GstStructure* stats = nullptr;
  g_object_get(element.get(), "stats", &stats, nullptr);
  return StructureRef(stats);
}

void read_overlap(GstElement* pipeline, OverlapRow& row) {
  const StructureRef stats = read_stats(pipeline);
  guint stripes = 0, streams = 0;
  gst_structure_get(stats.get(), "overlap", G_TYPE_DOUBLE, &row.overlap, "overlap-ceiling",
                    G_TYPE_DOUBLE, &row.ceiling, "link-share", G_TYPE_DOUBLE, &row.link_share,
                    "stripes-per-frame", G_TYPE_UINT, &stripes, "streams", G_TYPE_UINT, &streams,
                    nullptr);
  row.stripes = static_cast<int>(stripes);
  row.streams = static_cast<int>(streams);
  row.transfer = gst_structure_get_string(stats.get(), "transfer-mode");
}

void check_pool(GstElement* pipeline) {
  gboolean used = FALSE;
  gst_structure_get_boolean(read_stats(pipeline).get(), "upstream-uses-pool", &used);
  if (!used) throw std::runtime_error("the source does not use the element's pool");
}

std::string replace(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

}  // namespace

std::string why_no_settings(const std::string& settings) {
  GstElement* const made = gst_element_factory_make(element_name, nullptr);
  if (!made) return std::string("no element ") + element_name;
  const ElementRef element(GST_ELEMENT(gst_object_ref_sink(made)));
  std::istringstream words(settings);
  for (std::string word; words >> word;) {
    const std::string property = word.substr(0, word.find('='));
    if (!g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), property.c_str()))
      return std::string(element_name) + " has no property " + property;
  }
  return {};
}

ElementWays::ElementWays(std::shared_ptr<stripe::Device> device, const Size& size, int frames)
    : device_(std::move(device)), size_(size), frames_(frames) {}

Chain ElementWays::chain_of(const std::string& settings, Source source) const {
  return {picture_of(size_), source, std::string(element_name) + " name=stripes " + settings};
}

void ElementWays::add_chain(std::vector<Contestant>& contestants, const std::string& config,
                            const std::string& settings, Source source,
                            std::function<void(GstElement*)> inspect) {
  const auto pace = std::make_shared<Pace>(frames_);
  contestants.push_back(
      {config, [chain = chain_of(settings, source), pace, inspect = std::move(inspect)] {
         return run_at_pace(chain, *pace, inspect);
       }});
}

void ElementWays::add_to(std::vector<Contestant>& contestants, std::vector<Absence>& absences) {
  for (const std::string config : plain_ways) {
    const std::size_t row = overlaps_.size();
    overlaps_.push_back({size_.name, config, 0, 0, 0, 0, 0, {}});
    add_chain(contestants, config, "effect=invert " + config, Source::still,
              [this, row](GstElement* pipeline) {
                OverlapRow& overlap = overlaps_[row];
                read_overlap(pipeline, overlap);
                if (overlap.config == way::single)
                  choice_ = {overlap.stripes, overlap.streams, overlap.transfer};
              });
  }
  // Behind the pipeline of which it takes the choice.
  contestants.push_back({way::single_in_engine, [this] { return run_engine(frames_); }});
  add_chain(contestants, way::from_pool, "effect=invert async-depth=3", Source::pool, check_pool);
  const auto pace = std::make_shared<Pace>(2 * frames_);
  contestants.push_back(
      {way::together, [chain = chain_of("effect=invert async-depth=3", Source::still), pace] {
         return pace->run(
             [&](int frames) { return run_together(chain, pipelines_together, frames); });
       }});
  add_colors(contestants, absences);
}

// What all colors cost is told of two pictures.
void ElementWays::add_colors(std::vector<Contestant>& contestants, std::vector<Absence>& absences) {
  if (size_.width != 1920 || std::string(size_.format) == "RGB") return;
  const std::string missing = why_no_settings(way::all_colors);
  if (!missing.empty()) {
    absences.push_back({size_.name, way::all_colors, "missing", missing});
    return;
  }
  add_chain(contestants, way::copy_only, way::copy_only, Source::still, {});
  add_chain(contestants, way::all_colors, replace(way::all_colors, "33.cube", cube_.path()),
            Source::still, {});
}

Sample ElementWays::run_engine(int frames) {
  if (!engine_ || choice_ != engine_choice_) {
    if (!pictures_)
      pictures_ = std::make_unique<Pictures>(*device_, size_, stripe::Effect::invert, 1, true);
    const auto transfer =
        choice_.transfer == "mapped" ? stripe::Transfer::mapped : stripe::Transfer::copy;
    engine_ = std::make_unique<EngineRun>(device_, size_,
                                          Way{1, choice_.stripes, transfer, choice_.streams},
                                          way::single_in_engine, *pictures_);
    engine_choice_ = choice_;
  }
  return engine_->run(frames);
}

}  // namespace benchmark
