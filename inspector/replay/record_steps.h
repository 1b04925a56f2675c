// SPDX-License-Identifier: Apache-2.0
// The steps of the algorithms that planned a fused operator, out of their records.
#pragma once

#include <vector>

#include "core/trace.h"
#include "inspector/replay/step_maker.h"

namespace stowage::inspector {

/// What they leave in `maker.state` is what algorithm 3 knew at the end. Records that speak of other iterators or
/// buffers than the operator has, as in a trace that was damaged, are passed over.
void add_record_steps(StepMaker& maker, const std::vector<TraceRecord>& records);

/// The same records as an earlier version wrote them: text, without a state.
void add_text_steps(StepMaker& maker, const std::vector<TraceRecord>& records);

}  // namespace stowage::inspector
