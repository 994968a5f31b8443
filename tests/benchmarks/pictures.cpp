// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pictures.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "cuda/image.h"

namespace benchmark {

namespace {

// Byte i of frame n: the top of a multiplicative hash, so that it repeats nowhere that matters.
std::uint8_t input_byte(std::size_t i, int n) {
  const std::uint32_t seed = static_cast<std::uint32_t>(i) + 0x55555555u * (n + 1u);
  return static_cast<std::uint8_t>((seed * 2654435761u) >> 24);
}

// What invert makes of a byte, written down for these formats and not taken from the library: 255 - v; alpha stays;
// chroma is mirrored at 128.
std::uint8_t inverted_byte(const stripe::PixelLayout& layout, int plane, std::size_t x,
                           std::uint8_t v) {
  if (layout.has_extra && x % 4 == 3) return v;
  if (layout.model == stripe::ColorModel::yuv && plane > 0)
    return static_cast<std::uint8_t>(std::min(256 - v, 255));
  return static_cast<std::uint8_t>(255 - v);
}

stripe::PlaneArea whole_plane(const Size& size, int plane) {
  return stripe::plane_area(size.layout, plane, {0, 0, size.width, size.height});
}

void fill(const Size& size, const stripe::FrameLayout& layout, stripe::Effect effect, int n,
          std::byte* input, std::byte* expected) {
  for (int p = 0; p < size.layout.plane_count; ++p) {
    const stripe::PlaneArea area = whole_plane(size, p);
    for (std::size_t y = 0; y < area.rows; ++y) {
      const std::size_t row =
          layout.offset_bytes[p] + y * static_cast<std::size_t>(layout.pitch_bytes[p]);
      for (std::size_t x = 0; x < area.row_bytes; ++x) {
        const std::uint8_t v = input_byte(row + x, n);
        input[row + x] = std::byte{v};
        expected[row + x] =
            std::byte{effect == stripe::Effect::none ? v : inverted_byte(size.layout, p, x, v)};
      }
    }
  }
}

}  // namespace

HostFrame::HostFrame(stripe::Device& device, std::size_t size_bytes, bool page_locked) {
  if (page_locked)
    block_ = device.allocate_pinned(size_bytes);
  else
    pageable_ = std::make_unique<std::byte[]>(size_bytes);
  std::memset(data(), 0, size_bytes);
}

Pictures::Pictures(stripe::Device& device, const Size& size, stripe::Effect effect, int count,
                   bool page_locked)
    : size_(size), layout_(stripe::make_frame_layout(size.layout, size.width, size.height)) {
  for (int i = 0; i < count; ++i) {
    inputs_.emplace_back(device, layout_.size_bytes, page_locked);
    outputs_.emplace_back(device, layout_.size_bytes, page_locked);
    expected_.push_back(std::make_unique<std::byte[]>(layout_.size_bytes));
    fill(size_, layout_, effect, i, inputs_.back().data(), expected_.back().get());
  }
}

stripe::ConstImage Pictures::input(int i) const {
  return stripe::as_const(view_of(layout_, inputs_[static_cast<std::size_t>(i)].data()));
}

stripe::Image Pictures::output(int i) const {
  return view_of(layout_, outputs_[static_cast<std::size_t>(i)].data());
}

void Pictures::wipe_outputs(int count) {
  for (int i = 0; i < count; ++i)
    std::memset(outputs_[static_cast<std::size_t>(i)].data(), 0, layout_.size_bytes);
}

void Pictures::check_outputs(int count, const std::string& config) const {
  for (int i = 0; i < count; ++i) {
    const stripe::Image is = output(i);
    const stripe::Image must = view_of(layout_, expected_[static_cast<std::size_t>(i)].get());
    for (int p = 0; p < size_.layout.plane_count; ++p) {
      const stripe::PlaneArea area = whole_plane(size_, p);
      for (std::size_t y = 0; y < area.rows; ++y) {
        const auto row = static_cast<std::ptrdiff_t>(y) * layout_.pitch_bytes[p];
        if (std::memcmp(is.planes[p].data + row, must.planes[p].data + row, area.row_bytes) != 0)
          throw std::runtime_error(std::string(size_.name) + ", " + config +
                                   ": the output is wrong: frame " + std::to_string(i) +
                                   ", plane " + std::to_string(p) + ", row " + std::to_string(y));
      }
    }
  }
}

}  // namespace benchmark
