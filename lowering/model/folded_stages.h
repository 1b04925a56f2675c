// SPDX-License-Identifier: Apache-2.0
// One pass over the LDM where stages take two. Constants of one element (the bounds of a Clip) are written into the
// expressions that read them, which then need no buffer and no transfer. What the finish of a reduction does (the bias
// of a convolution) the stage does that reads the result, so that each element is loaded and stored once behind the
// sum. What is computed stays the same, by the same operations in the same order.
#pragma once

#include "core/stage.h"

namespace stowage {

/// The value of a constant of one element, where a literal can say it: float32 and float64, boolean, and integers that
/// 64 bits with a sign hold. Null for any other tensor, and where the value is not known.
ScalarExpr literal_of(const StageTensor& tensor);

/// The stages with literals and with finishes moved; what is done already stays, and so do the numbers of tensors and
/// stages (a constant that is a literal now nobody reads). Literals stand in what is computed element
/// by element: the terms of a reduction keep their reads. A finish moves to the only stage that reads the result, where
/// that reads every element once and has no reduction; a division or a function, not where that names the result
/// several times.
StageList fold_stages(StageList stages);

/// True if fold_stages has something to do.
bool may_fold(const StageList& stages);

}  // namespace stowage
