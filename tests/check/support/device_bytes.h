// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Whole blocks of bytes to and from a device.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/device.h"
#include "support/random.h"

namespace test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes random_bytes(Random& random, std::size_t size) {
  Bytes bytes(size);
  random.fill(bytes.data(), size);
  return bytes;
}

inline std::byte* as_bytes(std::uint8_t* data) { return reinterpret_cast<std::byte*>(data); }

inline const std::byte* as_bytes(const std::uint8_t* data) {
  return reinterpret_cast<const std::byte*>(data);
}

/// One row, so that not a byte beside it is touched.
inline stripe::CopyJob whole_copy(std::byte* to, const std::byte* from, std::size_t size,
                                  stripe::CopyDirection direction) {
  const auto pitch = static_cast<std::ptrdiff_t>(size);
  return {to, pitch, from, pitch, size, 1, direction};
}

inline void upload(stripe::Queue& queue, stripe::DeviceMemory& to, const Bytes& from) {
  queue.copy(
      whole_copy(to.data(), as_bytes(from.data()), from.size(), stripe::CopyDirection::upload));
  queue.synchronize();
}

inline Bytes download(stripe::Queue& queue, const stripe::DeviceMemory& from, std::size_t size) {
  Bytes bytes(size);
  queue.copy(
      whole_copy(as_bytes(bytes.data()), from.data(), size, stripe::CopyDirection::download));
  queue.synchronize();
  return bytes;
}

/// Device memory with these bytes in it.
inline std::unique_ptr<stripe::DeviceMemory> on_device(stripe::Device& device, stripe::Queue& queue,
                                                       const Bytes& bytes) {
  auto memory = device.allocate(bytes.size());
  upload(queue, *memory, bytes);
  return memory;
}

/// The operation 255 - v on bytes, and the job that runs it on `size` of them.
inline stripe::Operation inversion() {
  stripe::Operation operation;
  operation.kernel = stripe::Operation::Kernel::affine;
  operation.affine.coefficient[0][0] = -65536;
  operation.affine.offset[0] = 255 * 65536;
  return operation;
}

inline stripe::KernelJob gray_job(const stripe::DeviceMemory& in, const stripe::DeviceMemory& out,
                                  int width, int height) {
  stripe::KernelJob job{};
  job.layout = {stripe::ColorModel::gray, 1, 1, false, {{0, 0, 1, 0, 0}}};
  job.input.planes[0] = {in.data(), width};
  job.output.planes[0] = {out.data(), width};
  job.area = {0, 0, width, height};
  return job;
}

}  // namespace test
