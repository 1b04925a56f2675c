// SPDX-License-Identifier: Apache-2.0
// Files of learned evaluators (lowering/evaluate/cost_predictor.h) as JSON text: what `stowage train-cost` writes and
// `--cost-model` reads (docs/simulation.md).
#pragma once

#include <string>
#include <string_view>

#include "core/diagnostics.h"
#include "lowering/evaluate/cost_predictor.h"

namespace stowage {

/// `command`: the command line that trains the same.
std::string predictor_text(const CostPredictor& predictor, const std::string& command, std::string_view version);

/// Fails with "damaged-cost-model" where the text is no predictor, and "other-features" where another version of this
/// tool has trained it with other features; `path` is the place of both.
Result<CostPredictor> parse_predictor(std::string_view text, const std::string& path, Diagnostics& diagnostics);

}  // namespace stowage
