// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/test_frame.h"

#include "cuda/host_kernels.h"
#include "support/layouts.h"

namespace test {
namespace {

constexpr stripe::HostAccess accesses[] = {stripe::HostAccess::direct, stripe::HostAccess::staged};
constexpr Colors all_colors[] = {bt601_limited, bt601_full,     bt709_limited,
                                 bt709_full,    bt2020_limited, bt2020_full};

Allocate page_locked_by(stripe::Device& device) {
  return [&device](std::size_t size_bytes) {
    auto block = std::make_shared<stripe::PinnedBlock>(device.allocate_pinned(size_bytes));
    return std::shared_ptr<std::uint8_t>(block, reinterpret_cast<std::uint8_t*>(block->data()));
  };
}

GuardedImage make_image(stripe::Device& device, const stripe::FrameShape& shape,
                        const Format& format, const Access& access, stripe::HostAccess side,
                        Random& random) {
  const bool is_staged = side == stripe::HostAccess::staged;
  const bool on_heap = is_staged || (!access.page_locked && random.one_in(3));
  return {format,       shape.width,
          shape.height, random_geometry(random, is_staged || access.any_pitch),
          random,       on_heap ? Allocate(allocate_on_heap) : page_locked_by(device)};
}

}  // namespace

Access random_access(Random& random) { return {random.pick(accesses), random.pick(accesses)}; }

stripe::FrameParameters Treatment::parameters(const Format& format) const {
  return {
      layout, count,
      settings ? operation_of(*settings, format, colors) : operation_of(effect, format, colors)};
}

Treatment random_treatment(Random& random) {
  Treatment treatment;
  treatment.effect = random.pick(effects);
  treatment.colors = random.pick(all_colors);
  treatment.layout = random.pick(stripe_layouts);
  treatment.count = random.one_in(3) ? random.between(1, 256) : random.between(1, 9);
  return treatment;
}

TestFrame::TestFrame(stripe::Device& device, const stripe::FrameShape& shape, const Format& format,
                     const Access& how, Random& random)
    : access(how),
      input_(make_image(device, shape, format, how, how.input, random)),
      output_(make_image(device, shape, format, how, how.output, random)),
      expected_(format, shape.width, shape.height, {}, random) {}

void TestFrame::expect(const Treatment& treatment) {
  const Picture& expected = expected_.picture();
  if (treatment.settings)
    stripe::run_on_host(treatment.parameters(*expected.format).operation,
                        {layout_of(*expected.format),
                         image_of(input_.view()),
                         image_of(expected),
                         {0, 0, expected.width, expected.height}});
  else
    exact(treatment.effect, treatment.colors, input_.view(), expected);
  output_.spoil(expected_.view());
}

stripe::FrameJob TestFrame::job() const {
  return {image_of(input_.view()), access.input, image_of(output_.picture()), access.output};
}

std::string TestFrame::verdict() const {
  std::string text = difference(expected_.view(), output_.view());
  if (text.empty()) text = output_.guard_damage();
  if (!text.empty()) return "output: " + text;
  text = input_.any_damage();
  return text.empty() ? text : "input: " + text;
}

void TestFrame::take_back(Random& random) {
  input_.refill(random);
  output_.refill(random);
}

std::string TestFrame::touched() const {
  const std::string text = output_.any_damage();
  return text.empty() ? input_.any_damage() : text;
}

}  // namespace test
