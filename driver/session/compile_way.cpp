// SPDX-License-Identifier: Apache-2.0
#include "driver/session/compile_way.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"
#include "driver/session/learned_elsewhere.h"
#include "fusion/fold/channel_blocks.h"

namespace stowage {
namespace {

void report_unknown(const std::string& what, const std::string& name, const std::vector<std::string>& names,
                    Diagnostics& diagnostics) {
  diagnostics.error("unknown-" + what, {}, fmt::format("no {} '{}'", what, name), suggest_name(name, names));
}

bool is_one_of(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<CompileWay> compile_way(const CompileRequest& request, Diagnostics& diagnostics) {
  Diagnostics own;
  const auto target = target_of(request, own);
  const Backend* const backend = target ? find_backend(request.backends, target->family) : nullptr;
  if (target && backend == nullptr) {
    std::vector<std::string> families;
    for (const Backend* known : request.backends) families.emplace_back(known->family());
    report_unknown("family", target->family, families, own);
  }
  const Strategy* strategy = find_strategy(request.fusion);
  if (strategy == nullptr) report_unknown("fusion", request.fusion, strategy_names(), own);
  const Backend& family = backend != nullptr ? *backend : *request.backends.front();
  const std::string planner = planner_of(request, family);
  if (!is_one_of(planner, family.planner_names())) report_unknown("planner", planner, family.planner_names(), own);
  const std::string layout = layout_of(request, family);
  if (!is_one_of(layout, layout_names())) report_unknown("layout", layout, layout_names(), own);
  const bool has_evaluator = is_one_of(request.cost, family.evaluator_names());
  if (!has_evaluator) report_unknown("cost", request.cost, family.evaluator_names(), own);
  auto cost_model = read_cost_model(request.cost, request.cost_model, own);
  auto user_templates = read_user_templates(request.templates, own);
  auto templates =
      user_templates ? fusion_templates(*user_templates, own) : Result<std::vector<FusionTemplate>>(Failed{});
  auto evaluator = has_evaluator && target && cost_model
                       ? evaluator_for(*find_evaluator(request.cost), *cost_model, *target, own)
                       : Result<Evaluator>(Failed{});
  diagnostics.append(own);
  if (own.has_errors() || !templates || !evaluator) return Failed{};
  return CompileWay{*target,
                    backend,
                    strategy,
                    planner,
                    layout,
                    *std::move(evaluator),
                    *std::move(cost_model),
                    *std::move(user_templates),
                    *std::move(templates)};
}

Result<CompileWay> way_of(const Compilation& before, const Target& target, Diagnostics& diagnostics) {
  const Strategy* strategy = find_strategy(before.program.fusion);
  check(strategy != nullptr, "a plan names a strategy that there is not");
  auto evaluator = evaluator_again(before, target, diagnostics);
  if (!evaluator) return Failed{};
  return CompileWay{target,
                    &backend_of(before),
                    strategy,
                    before.program.planner,
                    before.program.layout,
                    *std::move(evaluator),
                    before.cost_model,
                    before.templates,
                    {}};
}

}  // namespace stowage
