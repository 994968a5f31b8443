// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stats_table.h"

#include <cstdio>
#include <string>

#include "pipeline.h"

namespace demo {

namespace {

Ref<GstStructure> stats_of(GstElement* element) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  return Ref<GstStructure>(stats);
}

// A field as text; empty if there is none, which is the same to the reader.
std::string field(const GstStructure* stats, const char* name) {
  const GValue* value = gst_structure_get_value(stats, name);
  if (value == nullptr) return "";
  if (G_VALUE_HOLDS_BOOLEAN(value)) return g_value_get_boolean(value) ? "yes" : "no";
  const bool is_string = G_VALUE_HOLDS_STRING(value);
  gchar* text = is_string ? g_value_dup_string(value) : gst_value_serialize(value);
  const std::string copy = text != nullptr ? text : "";
  g_free(text);
  return copy;
}

bool says_cpu(const GstStructure* stats) { return field(stats, "backend") == "host"; }

// Two fields, such as "120 in, 118 out"; empty if one of them is missing.
std::string in_and_out(const GstStructure* stats, const char* in, const char* out) {
  const std::string came = field(stats, in);
  const std::string left = field(stats, out);
  return came.empty() || left.empty() ? "" : came + " in, " + left + " out";
}

// The CPU reads any memory; the element counts there what it would page-lock for a GPU.
std::string page_locked(const GstStructure* stats) {
  const std::string frames = in_and_out(stats, "input-pinned-frames", "output-pinned-frames");
  return frames.empty() || !says_cpu(stats) ? frames : frames + " (without a GPU: plain memory)";
}

std::string transfer(const GstStructure* stats) {
  const std::string mode = field(stats, "transfer-mode");
  if (mode == "copy") return "copied to the device and back";
  if (mode == "mapped") return "none: the device works on the frames where they lie";
  return mode;
}

void print_row(const char* name, const std::string& value) {
  if (!value.empty()) std::printf("  %-33s %s\n", name, value.c_str());
}

}  // namespace

bool ran_on_cpu(GstElement* element) { return says_cpu(stats_of(element).get()); }

void print_stats(GstElement* element) {
  const Ref<GstStructure> owner = stats_of(element);
  const GstStructure* stats = owner.get();
  const auto value = [stats](const char* name) { return field(stats, name); };
  print_row("ran on", says_cpu(stats) ? "the CPU" : value("device-name"));
  print_row("frames", in_and_out(stats, "frames-in", "frames-out"));
  print_row("of these in page-locked memory", page_locked(stats));
  print_row("inputs copied on the CPU first", value("staged-frames"));
  print_row("decoder writes into our memory", value("upstream-uses-pool"));
  print_row("stripes a frame", value("stripes-per-frame"));
  print_row("streams", value("streams"));
  print_row("frames in flight, at most", value("frames-in-flight-peak"));
  print_row("transfer", transfer(stats));
}

}  // namespace demo
