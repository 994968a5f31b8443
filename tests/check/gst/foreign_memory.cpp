// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/foreign_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace test {
namespace {

void* map_pages(void* address, std::size_t size_bytes, int flags) {
  void* const data =
      mmap(address, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  fail_unless(data != MAP_FAILED);
  return data;
}

/// For destroy notifies that need to know how much there is.
struct Pages {
  void* data;
  std::size_t size_bytes;
};

void unmap_pages(gpointer pages) {
  auto* gone = static_cast<Pages*>(pages);
  munmap(gone->data, gone->size_bytes);
  delete gone;
}

void write_all(int fd, const GuardedImage& image) {
  fail_unless(write(fd, image.memory(), image.size_bytes()) ==
              static_cast<ssize_t>(image.size_bytes()));
}

struct ForeignAllocator {
  GstAllocator parent;
};

struct ForeignAllocatorClass {
  GstAllocatorClass parent_class;
};

struct ForeignMemory {
  GstMemory parent;
  GstMemory* storage;
  GstMapInfo map;
};

G_DEFINE_TYPE(ForeignAllocator, foreign_allocator, GST_TYPE_ALLOCATOR)

ForeignMemory* foreign_memory(GstMemory* memory) {
  return reinterpret_cast<ForeignMemory*>(memory);
}

GstMemory* foreign_alloc(GstAllocator*, gsize, GstAllocationParams*) { return nullptr; }

void foreign_free(GstAllocator*, GstMemory* memory) {
  ForeignMemory* foreign = foreign_memory(memory);
  gst_memory_unmap(foreign->storage, &foreign->map);
  gst_memory_unref(foreign->storage);
  delete foreign;
}

gpointer foreign_map(GstMemory* memory, gsize, GstMapFlags) {
  return foreign_memory(memory)->map.data;
}

void foreign_unmap(GstMemory*) {}

void foreign_allocator_class_init(ForeignAllocatorClass* klass) {
  klass->parent_class.alloc = foreign_alloc;
  klass->parent_class.free = foreign_free;
}

void foreign_allocator_init(ForeignAllocator* self) {
  GstAllocator* allocator = GST_ALLOCATOR_CAST(self);
  allocator->mem_type = "TestForeign";
  allocator->mem_map = foreign_map;
  allocator->mem_unmap = foreign_unmap;
  GST_OBJECT_FLAG_SET(self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

struct Spoiling {
  std::vector<std::uint8_t> bytes;
  std::atomic<int>* gone;
};

void spoil_and_free(gpointer spoiling) {
  auto* self = static_cast<Spoiling*>(spoiling);
  for (std::uint8_t& byte : self->bytes) byte = static_cast<std::uint8_t>(byte ^ 0x5a);
  ++*self->gone;
  delete self;
}

}  // namespace

SameAddress::SameAddress(std::size_t size_bytes)
    : size_bytes_(size_bytes), address_(map_pages(nullptr, size_bytes, 0)) {}

SameAddress::~SameAddress() { munmap(address_, size_bytes_); }

Allocate SameAddress::allocate() {
  return [this](std::size_t size_bytes) {
    fail_unless(size_bytes <= size_bytes_);
    auto* data = static_cast<std::uint8_t*>(map_pages(address_, size_bytes_, MAP_FIXED));
    return std::shared_ptr<std::uint8_t>(
        data, [size = size_bytes_](std::uint8_t* pages) { map_pages(pages, size, MAP_FIXED); });
  };
}

Ref<GstBuffer> wrap_file(const GuardedImage& image, const FileOptions& options) {
  std::FILE* const file = std::tmpfile();
  fail_unless(file != nullptr);
  write_all(fileno(file), image);
  const std::size_t size = image.size_bytes();
  void* const data =
      mmap(nullptr, size, PROT_READ, options.shared ? MAP_SHARED : MAP_PRIVATE, fileno(file), 0);
  std::fclose(file);
  fail_unless(data != MAP_FAILED);
  const auto flags =
      options.said_read_only ? GST_MEMORY_FLAG_READONLY : static_cast<GstMemoryFlags>(0);
  Ref<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_append_memory(
      buffer.get(),
      gst_memory_new_wrapped(flags, data, size, 0, size, new Pages{data, size}, unmap_pages));
  add_meta(buffer.get(), image);
  return buffer;
}

Ref<GstAllocator> make_fd_allocator(bool dmabuf) {
  return Ref<GstAllocator>(GST_ALLOCATOR(
      gst_object_ref_sink(dmabuf ? gst_dmabuf_allocator_new() : gst_fd_allocator_new())));
}

Ref<GstBuffer> make_fd_buffer(GstAllocator* allocator, const GuardedImage& image,
                              GstFdMemoryFlags flags) {
  const int fd = memfd_create("test-picture", MFD_CLOEXEC);
  fail_unless(fd >= 0);
  write_all(fd, image);
  GstMemory* memory = gst_fd_allocator_alloc(allocator, fd, image.size_bytes(), flags);
  fail_unless(memory != nullptr);
  Ref<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(), memory);
  add_meta(buffer.get(), image);
  return buffer;
}

Ref<GstMemory> make_foreign_memory(GstAllocator* storage, gsize size) {
  auto* memory = new ForeignMemory{};
  memory->storage = gst_allocator_alloc(storage, size, nullptr);
  fail_unless(gst_memory_map(memory->storage, &memory->map, GST_MAP_READWRITE));
  auto* allocator = static_cast<GstAllocator*>(
      gst_object_ref_sink(g_object_new(foreign_allocator_get_type(), nullptr)));
  gst_memory_init(GST_MEMORY_CAST(memory), GST_MEMORY_FLAG_NO_SHARE, allocator, nullptr, size, 0, 0,
                  size);
  gst_object_unref(allocator);  // the memory holds it
  return Ref<GstMemory>(GST_MEMORY_CAST(memory));
}

Ref<GstBuffer> make_foreign_buffer(GstAllocator* storage, const GuardedImage& image) {
  const gsize size = image.size_bytes();
  Ref<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(), make_foreign_memory(storage, size).release());
  gst_buffer_fill(buffer.get(), 0, image.memory(), size);
  add_meta(buffer.get(), image);
  return buffer;
}

Ref<GstBuffer> make_spoiling_buffer(const GuardedImage& image, std::atomic<int>& gone) {
  auto* spoiling = new Spoiling{{image.memory(), image.memory() + image.size_bytes()}, &gone};
  const std::size_t size = spoiling->bytes.size();
  Ref<GstBuffer> buffer(gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0),
                                                    spoiling->bytes.data(), size, 0, size, spoiling,
                                                    spoil_and_free));
  add_meta(buffer.get(), image);
  return buffer;
}

}  // namespace test
