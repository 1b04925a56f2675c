// SPDX-License-Identifier: Apache-2.0
#include "driver/session/cost_model.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "driver/files/files.h"
#include "driver/predictor/predictor_file.h"
#include "driver/session/session.h"

namespace stowage {

Result<std::optional<CostModel>> read_cost_model(const std::string& cost, const std::string& path,
                                                 Diagnostics& diagnostics) {
  const bool is_learned = cost == name_of(EvaluatedBy::learned);
  if (path.empty() && is_learned) {
    diagnostics.error(
        "no-cost-model", {}, "cost 'learned' wants what was learned, and no file is named",
        "`stowage train-cost -o FILE` trains a predictor, --cost-model FILE (in a batch file 'cost_model') "
        "names it");
    return Failed{};
  }
  if (!path.empty() && !is_learned) {
    SourceLocation location;
    location.file = path;
    diagnostics.error("idle-cost-model", location, fmt::format("cost '{}' uses no learned evaluator", cost),
                      "choose --cost learned, or leave --cost-model out");
    return Failed{};
  }
  if (path.empty()) return std::optional<CostModel>{};
  auto text = read_text_file(path, diagnostics);
  if (!text) return Failed{};
  const std::string hash = hash_of(std::as_bytes(std::span(*text)));
  return std::optional(CostModel{{path, hash}, *std::move(text)});
}

Result<Evaluator> evaluator_for(EvaluatedBy by, const std::optional<CostModel>& model, const Target& target,
                                Diagnostics& diagnostics) {
  if (by != EvaluatedBy::learned) return Evaluator{by};
  check(model.has_value(), "a learned evaluator without its file");
  auto predictor = parse_predictor(model->text, model->file.path, diagnostics);
  if (!predictor) return Failed{};
  if (predictor->target_hash != hash_of_target(target)) {
    SourceLocation location;
    location.file = model->file.path;
    diagnostics.error("other-target", location,
                      fmt::format("it was trained for target {} ({}), and this is {} ({})", predictor->target,
                                  predictor->target_hash, target.name, hash_of_target(target)),
                      "train one for this target, with the same --target and --set: stowage train-cost");
    return Failed{};
  }
  // Not the hash that a plan's folder says: costs on disk are found by it.
  return Evaluator{by, std::make_shared<const CostPredictor>(*std::move(predictor)),
                   hash_of(std::as_bytes(std::span(model->text)))};
}

}  // namespace stowage
