// SPDX-License-Identifier: Apache-2.0
// Words of folders of version 1 that have another name today. They stand in one table; nothing but the reading of such
// folders knows them.
#pragma once

#include "core/trace.h"
#include "driver/store/stored_step.h"
#include "fusion/groups/fusion_record.h"

namespace stowage {

/// The template and the roles of a step. Names of tensors and operators stay as they are.
void take_words_of_today(StoredStep& step);
/// Templates and rules among decisions. Their messages stay as they were written.
void take_words_of_today(Trace& trace, FusionRecord& fusion);

}  // namespace stowage
