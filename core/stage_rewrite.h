// SPDX-License-Identifier: Apache-2.0
// Stages computed as a part of others: one stage's expression in place of a read. What comes out computes the same
// values by the same operations.
#pragma once

#include "core/stage.h"

namespace stowage {

/// What a stage without a reduction computes for one element.
ScalarExpr element_value(const Stage& stage);

/// `reader` with every read of the producer's output replaced by its computation at that place. The producer has no
/// reduction, and no index of the reader needs its values.
Stage inlined(Stage reader, const Stage& producer);

/// The stage without reads that nothing uses, and with equal ones as one.
Stage with_tidy_reads(Stage stage);

/// True if the finish of a reduction may be computed by the one that reads its result: there is one, of the type that
/// is reduced.
bool finish_may_move(const StageList& list, const Stage& reduction);

/// Has `reader` finish what `reduction` leaves, wherever it reads it: there is no finish any more. Needs
/// finish_may_move, and no other reader of the result.
void move_finish(Stage& reduction, Stage& reader);

}  // namespace stowage
