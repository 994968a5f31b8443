// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/stats.h"

namespace gst_stripe {

namespace {

void set_summary(GstStructure* structure, const std::string& name, const stripe::Summary& summary) {
  gst_structure_set(structure, (name + "-mean").c_str(), G_TYPE_DOUBLE, summary.mean,
                    (name + "-p50").c_str(), G_TYPE_DOUBLE, summary.p50, (name + "-p99").c_str(),
                    G_TYPE_DOUBLE, summary.p99, nullptr);
}

void set_times(GstStructure* structure, const stripe::SampledTimes& times) {
  set_summary(structure, "submit-us", times.submit);
  set_summary(structure, "upload-us", times.upload);
  set_summary(structure, "kernel-us", times.kernel);
  set_summary(structure, "download-us", times.download);
  set_summary(structure, "wall-us", times.wall);
  const stripe::Overlap& overlap = times.overlap;
  gst_structure_set(structure,                                                                  //
                    "overlap", G_TYPE_DOUBLE, overlap.overlap,                                  //
                    "overlap-ceiling", G_TYPE_DOUBLE, overlap.ceiling,                          //
                    "link-share", G_TYPE_DOUBLE, overlap.link_share,                            //
                    "upload-bytes-per-second", G_TYPE_DOUBLE, overlap.upload_bytes_per_second,  //
                    "download-bytes-per-second", G_TYPE_DOUBLE, overlap.download_bytes_per_second,
                    nullptr);
}

GstStructure* candidate_structure(const char* name, stripe::Transfer transfer, int stripe_count) {
  return gst_structure_new(name, "transfer-mode", G_TYPE_STRING, stripe::name_of(transfer),
                           "stripe-count", G_TYPE_UINT, static_cast<guint>(stripe_count), nullptr);
}

void append_structure(GValue* array, GstStructure* structure) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed(&value, structure);
  gst_value_array_append_and_take_value(array, &value);
}

void set_structure(GstStructure* structure, const char* name, GstStructure* inner) {
  gst_structure_set(structure, name, GST_TYPE_STRUCTURE, inner, nullptr);
  gst_structure_free(inner);
}

void set_calibration(GstStructure* structure, const stripe::Calibration& calibration) {
  GstStructure* inner = gst_structure_new("calibration", "from-cache", G_TYPE_BOOLEAN,
                                          static_cast<gboolean>(calibration.from_cache), nullptr);
  GValue candidates = G_VALUE_INIT;
  g_value_init(&candidates, GST_TYPE_ARRAY);
  for (const stripe::Candidate& tried : calibration.tried) {
    GstStructure* candidate = candidate_structure("candidate", tried.transfer, tried.stripe_count);
    gst_structure_set(candidate, "time-us", G_TYPE_DOUBLE, tried.us, nullptr);
    append_structure(&candidates, candidate);
  }
  gst_structure_take_value(inner, "candidates", &candidates);
  set_structure(
      inner, "choice",
      candidate_structure("choice", calibration.choice.transfer, calibration.choice.stripe_count));
  set_structure(structure, "calibration", inner);
}

}  // namespace

GstStructure* to_structure(const Stats& s) {
  GstStructure* structure = gst_structure_new(
      "cuda-stripe-stats",                                                     //
      "backend", G_TYPE_STRING, s.backend.c_str(),                             //
      "device-name", G_TYPE_STRING, s.device_name.c_str(),                     //
      "frames-in", G_TYPE_UINT64, guint64{s.frames_in},                        //
      "frames-out", G_TYPE_UINT64, guint64{s.frames_out},                      //
      "bytes-uploaded", G_TYPE_UINT64, guint64{s.bytes_uploaded},              //
      "bytes-downloaded", G_TYPE_UINT64, guint64{s.bytes_downloaded},          //
      "input-pinned-frames", G_TYPE_UINT64, guint64{s.input_pinned_frames},    //
      "output-pinned-frames", G_TYPE_UINT64, guint64{s.output_pinned_frames},  //
      "staged-frames", G_TYPE_UINT64, guint64{s.staged_frames},                //
      "pinned-bytes", G_TYPE_UINT64, guint64{s.pinned_bytes},                  //
      "stripes-per-frame", G_TYPE_UINT, s.stripes_per_frame,                   //
      "streams", G_TYPE_UINT, s.streams,                                       //
      "registrations", G_TYPE_UINT64, guint64{s.registrations},                //
      "refusals", G_TYPE_UINT64, guint64{s.refusals},                          //
      "evictions", G_TYPE_UINT64, guint64{s.evictions},                        //
      "pinned-bytes-peak", G_TYPE_UINT64, guint64{s.pinned_bytes_peak},        //
      "staged-bytes", G_TYPE_UINT64, guint64{s.staged_bytes},                  //
      "frames-dropped", G_TYPE_UINT64, guint64{s.frames_dropped},              //
      "transfer-mode", G_TYPE_STRING, s.transfer_mode.c_str(),                 //
      "frames-in-flight", G_TYPE_UINT, s.frames_in_flight,                     //
      "frames-in-flight-peak", G_TYPE_UINT, s.frames_in_flight_peak,           //
      "upstream-uses-pool", G_TYPE_BOOLEAN, static_cast<gboolean>(s.upstream_uses_pool), nullptr);
  set_times(structure, s.times);
  set_calibration(structure, s.calibration);
  return structure;
}

}  // namespace gst_stripe