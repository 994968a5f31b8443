// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/downstream.h"

#include <iterator>
#include <memory>

#include "gst/frames.h"

namespace test {
namespace {

/// All harnesses have the same one.
GstPadQueryFunction harness_query = nullptr;

void fill_in(const Downstream& downstream, GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (downstream.video_meta) gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  if (downstream.has_params)
    gst_query_add_allocation_param(query, downstream.allocator, &downstream.params);
  if (!downstream.has_pool) return;
  const unsigned size_bytes =
      downstream.size_bytes ? downstream.size_bytes : static_cast<unsigned>(info_of(caps).size);
  gst_query_add_allocation_pool(query, downstream.pool, size_bytes, downstream.min_buffers,
                                downstream.max_buffers);
}

gboolean answer(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return harness_query(pad, parent, query);
  auto& downstream = *static_cast<Downstream*>(pad->querydata);
  ++downstream.queries;
  if (!downstream.answers) return FALSE;
  fill_in(downstream, query);
  return TRUE;
}

struct GuardedPool {
  GstBufferPool parent;
  GstVideoInfo info;
  PoolFault fault;
};

struct GuardedPoolClass {
  GstBufferPoolClass parent_class;
};

G_DEFINE_TYPE(GuardedPool, guarded_pool, GST_TYPE_BUFFER_POOL)

GuardedPool* guarded_pool(GstBufferPool* pool) { return reinterpret_cast<GuardedPool*>(pool); }

GQuark image_quark() { return g_quark_from_static_string("test-guarded-image"); }

const gchar** guarded_pool_options(GstBufferPool*) {
  static const gchar* options[] = {GST_BUFFER_POOL_OPTION_VIDEO_META, nullptr};
  return options;
}

gboolean guarded_pool_set_config(GstBufferPool* pool, GstStructure* config) {
  GstCaps* caps = nullptr;
  if (!gst_buffer_pool_config_get_params(config, &caps, nullptr, nullptr, nullptr) || !caps)
    return FALSE;
  guarded_pool(pool)->info = info_of(caps);
  return GST_BUFFER_POOL_CLASS(guarded_pool_parent_class)->set_config(pool, config);
}

GstFlowReturn guarded_pool_alloc(GstBufferPool* pool, GstBuffer** buffer,
                                 GstBufferPoolAcquireParams*) {
  if (guarded_pool(pool)->fault == PoolFault::cannot_allocate) return GST_FLOW_ERROR;
  static std::uint64_t buffers_so_far = 0;
  const GstVideoInfo& info = guarded_pool(pool)->info;
  Random random(1000 + ++buffers_so_far);
  auto image = std::make_shared<GuardedImage>(format_named(GST_VIDEO_INFO_NAME(&info)), info.width,
                                              info.height, random_geometry(random, false), random);
  GuardedImage* const raw = image.get();
  *buffer = wrap(std::move(image), {.read_only = false}).buffer.release();
  gst_mini_object_set_qdata(GST_MINI_OBJECT(gst_buffer_peek_memory(*buffer, 0)), image_quark(), raw,
                            nullptr);
  return GST_FLOW_OK;
}

gboolean guarded_pool_start(GstBufferPool* pool) {
  return guarded_pool(pool)->fault != PoolFault::cannot_start &&
         GST_BUFFER_POOL_CLASS(guarded_pool_parent_class)->start(pool);
}

/// The base would cut the buffer to the configured size, and with it the odd geometry.
void guarded_pool_reset(GstBufferPool* pool, GstBuffer* buffer) {
  GST_BUFFER_POOL_CLASS(guarded_pool_parent_class)->reset_buffer(pool, buffer);
  gst_buffer_set_size(buffer, static_cast<gssize>(guarded_image_of(buffer)->size_bytes()));
}

void guarded_pool_class_init(GuardedPoolClass* klass) {
  klass->parent_class.get_options = guarded_pool_options;
  klass->parent_class.set_config = guarded_pool_set_config;
  klass->parent_class.start = guarded_pool_start;
  klass->parent_class.alloc_buffer = guarded_pool_alloc;
  klass->parent_class.reset_buffer = guarded_pool_reset;
}

void guarded_pool_init(GuardedPool*) {}

}  // namespace

void install(Rig& rig, Downstream& downstream) {
  GstPad* pad = rig.harness()->sinkpad;
  if (!harness_query) harness_query = GST_PAD_QUERYFUNC(pad);
  gst_pad_set_query_function_full(pad, answer, &downstream, nullptr);
}

Ref<GstBufferPool> make_guarded_pool(PoolFault fault) {
  auto* pool = static_cast<GuardedPool*>(g_object_new(guarded_pool_get_type(), nullptr));
  pool->fault = fault;
  return Ref<GstBufferPool>(GST_BUFFER_POOL(gst_object_ref_sink(pool)));
}

const GuardedImage* guarded_image_of(GstBuffer* buffer) {
  if (gst_buffer_n_memory(buffer) == 0) return nullptr;
  return static_cast<const GuardedImage*>(
      gst_mini_object_get_qdata(GST_MINI_OBJECT(gst_buffer_peek_memory(buffer, 0)), image_quark()));
}

Downstream offering(GstBufferPool* pool) {
  Downstream downstream;
  downstream.video_meta = true;
  downstream.has_pool = true;
  downstream.pool = pool;
  return downstream;
}

InvertingFixture::InvertingFixture(const Downstream& answer, const char* format, int width,
                                   int height)
    : caps(make_caps(format, width, height)), random(40), downstream(answer) {
  install(rig, downstream);
  set_effect(rig.element(), Effect::invert);
  rig.set_caps(caps.get());
}

Ref<GstBuffer> InvertingFixture::process() {
  const Frame input = make_plain_frame(caps.get(), random);
  Ref<GstBuffer> output = rig.process(input.share());
  fail_unless_empty(mistake(output.get(), caps.get(), input.image->view(), Effect::invert));
  return output;
}

GstVideoInfo InvertingFixture::info() const { return info_of(caps.get()); }

void expect_pinned(GstBuffer* output) {
  fail_unless_equals_int(gst_buffer_n_memory(output), 1);
  fail_unless(gst_memory_is_type(gst_buffer_peek_memory(output, 0), "CudaStripePinned"));
  fail_unless(output->pool != nullptr);
  fail_unless(GST_IS_VIDEO_BUFFER_POOL(output->pool));
}

}  // namespace test
