// SPDX-License-Identifier: LGPL-2.1-or-later
//
// own-images [BACKEND]
//
// An application that has images of its own, in std::vector, sends them through cudastripetransform
// and gets them back inverted:
//
//   ring of images -> appsrc -> cudastripetransform -> appsink -> compare
//
// The images are allocated in no special way, and not copied on the CPU, because there is ONE
// GstMemory for each of them, made once and kept. The element sees it come a second time, page-locks
// the vector where it lies, and from then on the GPU reads it directly. With a new GstMemory for
// each frame the same bytes would look like new memory each time, and be copied for ever.
//
// BACKEND is auto (the default), cuda or host. Exit status: 0 if every byte was right, 77 if there
// is no such backend here, 1 otherwise.

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int width = 640;
constexpr int height = 480;
constexpr std::size_t image_bytes = std::size_t{width} * height * 3;  // BGR, rows without padding
constexpr int frame_count = 100;

// More than the element has in flight (async-depth, 3), so that it always has a next frame.
constexpr std::size_t ring_size = 6;

/// GStreamer counts references; these owners give theirs back.
struct Unref {
  void operator()(GstElement* element) const { gst_object_unref(element); }
  void operator()(GstBus* bus) const { gst_object_unref(bus); }
  void operator()(GstMemory* memory) const { gst_memory_unref(memory); }
  void operator()(GstSample* sample) const { gst_sample_unref(sample); }
  void operator()(GstMessage* message) const { gst_message_unref(message); }
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
};

template <typename T>
using Ref = std::unique_ptr<T, Unref>;

struct NoBackend : std::runtime_error {
  using runtime_error::runtime_error;
};

/// An image of the application's, and the one GstMemory that GStreamer ever sees of it.
///
/// Owner: the vector owns the bytes, so it outlives everybody else who has the memory: the ring is
///        declared before the pipeline, and the pipeline is gone before the ring is.
class Image {
 public:
  Image()
      : pixels_(image_bytes),
        // Our bytes are not GStreamer's to free: no destroy notify.
        memory_(gst_memory_new_wrapped(GST_MEMORY_FLAG_READONLY, pixels_.data(), pixels_.size(), 0,
                                       pixels_.size(), nullptr, nullptr)) {}

  std::uint8_t* pixels() { return pixels_.data(); }

  /// A new GstBuffer, which costs nothing, around the same GstMemory.
  GstBuffer* new_buffer() {
    GstBuffer* buffer = gst_buffer_new();
    gst_buffer_append_memory(buffer, gst_memory_ref(memory_.get()));
    return buffer;
  }

  /// Returns when nobody but us has the memory. Only then may the pixels be written again: until
  /// then the GPU may be reading them.
  void wait_until_released() const {
    while (GST_MINI_OBJECT_REFCOUNT_VALUE(memory_.get()) > 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::vector<std::uint8_t> pixels_;
  Ref<GstMemory> memory_;
};

/// What the application would draw; any byte of any frame can be computed again for the check.
std::uint8_t pixel_byte(int frame, std::size_t i) {
  return static_cast<std::uint8_t>(i * 7 + i / 1920 + static_cast<std::size_t>(frame) * 13);
}

std::string take_text(GError* error) {
  const std::string text = error->message;
  g_error_free(error);
  return text;
}

/// Throws what the element or another one has to say, if one failed.
void throw_error(GstBus* bus) {
  const Ref<GstMessage> message(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR));
  if (!message) return;
  GError* error = nullptr;
  gst_message_parse_error(message.get(), &error, nullptr);
  if (g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND))
    throw NoBackend(take_text(error));
  throw std::runtime_error(take_text(error));
}

class Pipeline {
 public:
  explicit Pipeline(const std::string& backend) {
    const std::string caps =
        "video/x-raw,format=BGR,framerate=50/1,width=" + std::to_string(width) +
        ",height=" + std::to_string(height);
    const std::string line =
        "appsrc name=source format=time caps=" + caps +
        " ! cudastripetransform name=stripes effect=invert backend=" + backend +
        " ! appsink name=sink sync=false";
    GError* error = nullptr;
    pipeline_.reset(gst_parse_launch(line.c_str(), &error));
    if (error != nullptr) throw std::runtime_error(take_text(error));
    gst_object_ref_sink(pipeline_.get());
    source_ = find("source");
    stripes_ = find("stripes");
    sink_ = find("sink");
    bus_.reset(gst_element_get_bus(pipeline_.get()));
  }
  Pipeline(const Pipeline&) = delete;

  /// In NULL no element holds a frame any more.
  ~Pipeline() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }

  void play() {
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    throw_error(bus_.get());
  }

  void push(GstBuffer* buffer, int frame) {
    GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(frame) * 20 * GST_MSECOND;
    // Takes the buffer, in any case.
    if (gst_app_src_push_buffer(GST_APP_SRC(source_.get()), buffer) == GST_FLOW_OK) return;
    throw_error(bus_.get());
    throw std::runtime_error("the pipeline takes no more frames");
  }

  void end() { gst_app_src_end_of_stream(GST_APP_SRC(source_.get())); }

  /// The next result. Frames come out in the order in which they went in.
  Ref<GstSample> pull() {
    Ref<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(sink_.get()), 10 * GST_SECOND));
    if (sample) return sample;
    throw_error(bus_.get());
    throw std::runtime_error("no result within 10 seconds");
  }

  Ref<GstStructure> stats() const {
    GstStructure* stats = nullptr;
    g_object_get(stripes_.get(), "stats", &stats, nullptr);
    return Ref<GstStructure>(stats);
  }

 private:
  Ref<GstElement> find(const char* name) const {
    return Ref<GstElement>(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
  }

  Ref<GstElement> pipeline_, source_, stripes_, sink_;
  Ref<GstBus> bus_;
};

/// Compares a result, in whatever rows it has, with the inverted frame.
void check(GstSample* sample, int frame) {
  GstVideoInfo info;
  GstVideoFrame picture;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&picture, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    throw std::runtime_error("a result that is no picture");
  bool right = true;
  for (std::size_t y = 0, i = 0; y < height; ++y) {
    const auto* row = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&picture, 0)) +
                      y * static_cast<std::size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&picture, 0));
    for (std::size_t x = 0; x < width * 3; ++x, ++i) right &= row[x] == 255 - pixel_byte(frame, i);
  }
  gst_video_frame_unmap(&picture);
  if (!right) throw std::runtime_error("frame " + std::to_string(frame) + " came out wrong");
}

std::uint64_t number(const GstStructure* stats, const char* field) {
  guint64 value = 0;
  if (!gst_structure_get_uint64(stats, field, &value))
    throw std::runtime_error(std::string("stats has no field ") + field);
  return value;
}

void print(const GstStructure* stats) {
  std::cout << "backend               " << gst_structure_get_string(stats, "backend") << " ("
            << gst_structure_get_string(stats, "device-name") << ")\n";
  for (const char* field : {"frames-out", "registrations", "input-pinned-frames", "staged-frames",
                            "output-pinned-frames", "pinned-bytes"})
    std::cout << field << std::string(22 - std::string(field).size(), ' ') << number(stats, field)
              << '\n';
}

/// Each image was page-locked once; before that it was copied on the CPU, once. Where the CPU itself
/// does the work, it reads the images without either.
void check(const GstStructure* stats) {
  const bool on_cpu = std::string("host") == gst_structure_get_string(stats, "backend");
  const std::size_t wanted = on_cpu ? 0 : ring_size;
  if (number(stats, "frames-out") != frame_count || number(stats, "registrations") != wanted ||
      number(stats, "staged-frames") > wanted)
    throw std::runtime_error("the images were not used where they lie");
}

void run(const std::string& backend) {
  std::vector<Image> ring(ring_size);
  Pipeline pipeline(backend);
  pipeline.play();
  int pulled = 0;
  for (int frame = 0; frame < frame_count; ++frame) {
    Image& image = ring[static_cast<std::size_t>(frame) % ring_size];
    if (frame >= static_cast<int>(ring_size)) check(pipeline.pull().get(), pulled++);
    image.wait_until_released();
    for (std::size_t i = 0; i < image_bytes; ++i) image.pixels()[i] = pixel_byte(frame, i);
    pipeline.push(image.new_buffer(), frame);
  }
  pipeline.end();
  for (; pulled < frame_count; ++pulled) check(pipeline.pull().get(), pulled);
  const Ref<GstStructure> stats = pipeline.stats();
  print(stats.get());
  check(stats.get());
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  try {
    run(argc > 1 ? argv[1] : "auto");
    return EXIT_SUCCESS;
  } catch (const NoBackend& error) {
    std::cerr << error.what() << '\n';
    return 77;
  } catch (const std::exception& error) {
    std::cerr << "failed: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
