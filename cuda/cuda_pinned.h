// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace stripe {

/// Says which device is in use, so that page-locked memory is taken through its context and no
/// other device of the machine gets one.
void note_opened_cuda_device(int id) noexcept;

}  // namespace stripe
