// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace benchmark {

// Makes the element benchmarkpoolsource known to this process: a source of raw video that takes its buffers from the
// pool that downstream offers, writes the first line of each, and leaves the rest as it is.
void register_pool_source();

}  // namespace benchmark
