// SPDX-License-Identifier: Apache-2.0
// An event of a trace as JSON: `kind` and its fields by name (docs/plan-format.md).
#pragma once

#include "core/trace.h"
#include "driver/json/json.h"

namespace stowage {

Json row_of(const TraceEvent& what);

/// Reads it back. `names` are those of the record's fused operator, or null: events with ids need them. Whatever is
/// wrong (a missing field, another type, a number out of range, an id that stands for nothing) is an exception of the
/// JSON library, or std::invalid_argument with a sentence.
TraceEvent event_of(const Json& row, const GroupNames* names);

}  // namespace stowage
