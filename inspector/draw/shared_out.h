// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace stowage::inspector {

/// A width in parts by weight, none below its least; by weight alone where that would leave next to nothing to some.
std::vector<double> shared_out(double width, const std::vector<double>& weights, const std::vector<double>& least);

}  // namespace stowage::inspector
