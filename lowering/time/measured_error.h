// SPDX-License-Identifier: Apache-2.0
// How well the time model is known to meet measurements of others (docs/measurements.md).
#pragma once

namespace stowage {

/// Median error over the measured transfers that the model was not fitted to, of the built-in target sw26010. No target
/// is known better, and no kernel as a whole.
inline constexpr double measured_error = 0.03;

}  // namespace stowage
