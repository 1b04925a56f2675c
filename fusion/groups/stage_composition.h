// SPDX-License-Identifier: Apache-2.0
// Stages of a group put together: fewer stages, fewer intermediates, the same values.
#pragma once

#include "core/stage.h"

namespace stowage {

/// Removes intermediates that need no memory of their own:
///  - one that only re-indexes another tensor (a view inside a group) becomes an index of its readers;
///  - one that is computed element by element, and read only by stages without a reduction at their own index, is
///    computed by those readers.
/// Results of reductions stay: a convolution with an element-wise tail is the convolution and one stage behind it.
StageList compose_stages(StageList list);

}  // namespace stowage
