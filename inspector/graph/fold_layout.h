// SPDX-License-Identifier: Apache-2.0
// A long picture folded into columns, as a newspaper folds its text: read down a column, then on at the top of the
// next. Where a layout came from does not matter. It is cut where few edges pass; those run on through the gutter.
#pragma once

#include "emitter/pictures/layered_layout.h"

namespace stowage::inspector {

struct FoldWish {
  double max_ratio = 3;        ///< height by width from which on a picture is folded
  double wanted_ratio = 0.75;  ///< what it is folded to, about
  double least_column = 1400;  ///< height of a column; what is no longer than two stays as it is
};

/// Nothing where there is nothing to fold, or no place to do so.
std::optional<LayoutResult> folded(const LayoutInput& input, const LayoutResult& layout, const FoldWish& wish = {});

}  // namespace stowage::inspector
