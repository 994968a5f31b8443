// SPDX-License-Identifier: LGPL-2.1-or-later
#include "peers.h"

#include <cstdlib>
#include <memory>

#include "child.h"

namespace benchmark {

namespace {

struct Need {
  const char* element;
  const char* plugin;
};

struct Peer {
  std::string config;  // as it is told
  std::string elements;
  std::vector<Need> needs;
};

// Of few buffers: by default one frame of 2160p is all that a queue takes.
constexpr const char* queue = "queue max-size-buffers=4 max-size-bytes=0 max-size-time=0";

std::vector<Peer> peers_for(const Size& size) {
  const bool is_rgba = std::string(size.format) == "RGBA";
  const std::string between = std::string(" ! ") + queue + " ! ";
  // OpenGL's filters work on RGBA.
  const std::string convert = is_rgba ? "" : "glcolorconvert ! ";
  const std::string convert_back =
      is_rgba ? "" : "glcolorconvert ! video/x-raw(memory:GLMemory),format=NV12 ! ";
  std::vector<Peer> peers = {
      {nvcodec_config, nvcodec_elements, {{"cudaupload", "nvcodec"}, {"cudadownload", "nvcodec"}}},
      {"cudaupload ! queue ! cudadownload ! queue",
       "cudaupload ! video/x-raw(memory:CUDAMemory)" + between + "cudadownload ! video/x-raw ! " +
           queue,
       {{"cudaupload", "nvcodec"}, {"cudadownload", "nvcodec"}}},
      {"glupload ! glcolorbalance ! gldownload",
       "glupload ! " + convert + "glcolorbalance " + balance_settings + " ! " + convert_back +
           "gldownload ! video/x-raw",
       {{"glupload", "opengl"}, {"glcolorbalance", "opengl"}, {"gldownload", "opengl"}}},
      {std::string("videobalance ") + balance_settings,
       std::string("videobalance ") + balance_settings,
       {{"videobalance", "videofilter"}}},
  };
  if (is_rgba)
    for (const char* threads : {"1", "0"})
      peers.push_back(
          {std::string("videoconvert n-threads=") + threads +
               (*threads == '0' ? " (all CPUs)" : "") + " to BGRA",
           std::string("videoconvert n-threads=") + threads + " ! video/x-raw,format=BGRA",
           {{"videoconvert", "videoconvertscale"}}});
  return peers;
}

Absence why_not(const Peer& peer, const Size& size) {
  for (const Need& need : peer.needs) {
    const std::string missing = why_missing(need.element, need.plugin);
    if (!missing.empty()) return {size.name, peer.config, "missing", missing};
  }
  const std::string trial = pipeline_text({picture_of(size), Source::still, peer.elements}, 3);
  return {size.name, peer.config, "failed", run_child("try", {trial}).failure};
}

}  // namespace

void add_peers(const Size& size, int frames, std::vector<Contestant>& contestants,
               std::vector<Absence>& absences) {
  for (const Peer& peer : peers_for(size)) {
    const Absence absence = why_not(peer, size);
    if (!absence.reason.empty()) {
      absences.push_back(absence);
      continue;
    }
    const Chain chain{picture_of(size), Source::still, peer.elements};
    const auto pace = std::make_shared<Pace>(frames);
    contestants.push_back({peer.config, [=] { return run_at_pace(chain, *pace); }, true});
  }
}

void try_as_child(const std::vector<std::string>& arguments) {
  gst_init(nullptr, nullptr);
  run_to_end(arguments.at(0));
}

void set_gl_environment() {
  setenv("GST_GL_WINDOW", "egl-device", 0);
  setenv("GST_GL_PLATFORM", "egl", 0);
}

}  // namespace benchmark
