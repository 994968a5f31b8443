// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/doctor/examination.h"

namespace doctor {

/// The whole report, as people paste it: plain text of at most `line_columns` columns, the verdict
/// at its end.
std::string make_report(const Examination& examination);

}  // namespace doctor
