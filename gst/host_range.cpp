// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/host_range.h"

#include <memory>
#include <mutex>

namespace gst_stripe {

namespace {

using stripe::HostRange;

GQuark range_quark() {
  static const GQuark quark = g_quark_from_static_string("cuda-stripe-host-range");
  return quark;
}

void delete_range(gpointer range) noexcept { delete static_cast<HostRange*>(range); }

HostRange* find_range(GstMemory* root) {
  return static_cast<HostRange*>(gst_mini_object_get_qdata(GST_MINI_OBJECT(root), range_quark()));
}

// All of the memory, whatever part of it `map` shows: a copy across the border of what is registered
// fails.
std::unique_ptr<HostRange> make_range(const GstMemory* memory, const GstMemory* root,
                                      const GstMapInfo& map) {
  const auto* base = reinterpret_cast<const std::byte*>(map.data) - memory->offset;
  // The root's: a part is read-only to its users, its pages need not be.
  return std::make_unique<HostRange>(base, memory->maxsize, GST_MEMORY_IS_READONLY(root));
}

}  // namespace

GstMemory* root_of(GstMemory* memory) {
  while (memory->parent) memory = memory->parent;
  return memory;
}

bool is_registrable(const GstMemory* memory) {
  return memory->allocator && g_strcmp0(memory->allocator->mem_type, GST_ALLOCATOR_SYSMEM) == 0;
}

HostRange& host_range_of(GstMemory* memory, const GstMapInfo& map) {
  GstMemory* root = root_of(memory);
  if (HostRange* range = find_range(root)) return *range;
  // Two branches of a tee may be here at once; setting it twice would delete the first one's.
  static std::mutex making;  // a leaf, but for GStreamer's own lock of its qdata
  auto range = make_range(memory, root, map);
  const std::lock_guard lock(making);
  if (HostRange* made_meanwhile = find_range(root)) return *made_meanwhile;
  HostRange* made = range.release();
  gst_mini_object_set_qdata(GST_MINI_OBJECT(root), range_quark(), made, delete_range);
  return *made;
}

}  // namespace gst_stripe
