// SPDX-License-Identifier: LGPL-2.1-or-later
// For ThreadSanitizer, which sees no synchronization in libraries that it didn't instrument. GLib's
// mutexes are futexes of its own, and GStreamer hands buffers and data of objects over by atomics:
// here it is told what these order. Linked into test programs, whose symbols go first.

#include <dlfcn.h>
#include <gst/gst.h>
#include <sanitizer/tsan_interface.h>

namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define NEXT(function) (next<decltype(function)>(#function))

extern "C" {

void g_mutex_lock(GMutex* mutex) {
  static auto* const real = NEXT(g_mutex_lock);
  real(mutex);
  __tsan_acquire(mutex);
}

gboolean g_mutex_trylock(GMutex* mutex) {
  static auto* const real = NEXT(g_mutex_trylock);
  const gboolean locked = real(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}

void g_mutex_unlock(GMutex* mutex) {
  static auto* const real = NEXT(g_mutex_unlock);
  __tsan_release(mutex);
  real(mutex);
}

void g_cond_wait(GCond* cond, GMutex* mutex) {
  static auto* const real = NEXT(g_cond_wait);
  __tsan_release(mutex);
  real(cond, mutex);
  __tsan_acquire(mutex);
}

gboolean g_cond_wait_until(GCond* cond, GMutex* mutex, gint64 end_time) {
  static auto* const real = NEXT(g_cond_wait_until);
  __tsan_release(mutex);
  const gboolean signalled = real(cond, mutex, end_time);
  __tsan_acquire(mutex);
  return signalled;
}

gpointer gst_mini_object_get_qdata(GstMiniObject* object, GQuark quark) {
  static auto* const real = NEXT(gst_mini_object_get_qdata);
  gpointer data = real(object, quark);
  __tsan_acquire(object);
  return data;
}

void gst_mini_object_set_qdata(GstMiniObject* object, GQuark quark, gpointer data,
                               GDestroyNotify destroy) {
  static auto* const real = NEXT(gst_mini_object_set_qdata);
  __tsan_release(object);
  real(object, quark, data, destroy);
}

/// A buffer may go back to its pool with it, and be somebody else's next.
void gst_mini_object_unref(GstMiniObject* object) {
  static auto* const real = NEXT(gst_mini_object_unref);
  if (GST_MINI_OBJECT_TYPE(object) == GST_TYPE_BUFFER) {
    GstBufferPool* pool = GST_BUFFER_CAST(object)->pool;
    if (pool) __tsan_release(pool);
  }
  __tsan_release(object);
  real(object);
}

GstFlowReturn gst_buffer_pool_acquire_buffer(GstBufferPool* pool, GstBuffer** buffer,
                                             GstBufferPoolAcquireParams* params) {
  static auto* const real = NEXT(gst_buffer_pool_acquire_buffer);
  const GstFlowReturn flow = real(pool, buffer, params);
  __tsan_acquire(pool);
  return flow;
}

/// Harnesses and sinks hand what was pushed to another thread, through locks inside of libraries;
/// there it is looked at through a map.
GstFlowReturn gst_pad_push(GstPad* pad, GstBuffer* buffer) {
  static auto* const real = NEXT(gst_pad_push);
  __tsan_release(buffer);
  return real(pad, buffer);
}

gboolean gst_buffer_map(GstBuffer* buffer, GstMapInfo* info, GstMapFlags flags) {
  static auto* const real = NEXT(gst_buffer_map);
  __tsan_acquire(buffer);
  return real(buffer, info, flags);
}

/// By planes: what gst_video_frame_map does where there is a GstVideoMeta.
gboolean gst_buffer_map_range(GstBuffer* buffer, guint first, gint count, GstMapInfo* info,
                              GstMapFlags flags) {
  static auto* const real = NEXT(gst_buffer_map_range);
  __tsan_acquire(buffer);
  return real(buffer, first, count, info, flags);
}

}  // extern "C"
