// SPDX-License-Identifier: Apache-2.0
#include "inspector/sensitivity/asked_curve.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "driver/store/plan_file.h"
#include "inspector/state/background.h"

namespace stowage::inspector {

namespace {

std::string sentences(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.entries()) {
    if (!text.empty()) text += "\n";
    text += diagnostic.message;
    if (!diagnostic.remedy.empty()) text += " (" + diagnostic.remedy + ")";
  }
  return text;
}

}  // namespace

AskedCurve ask_curve(const LoadedPlan& plan, const std::string& key, const RangeText& range,
                     const std::stop_token& stop, const ProgressSink& progress) {
  off_window_thread("a curve was calculated");
  Diagnostics diagnostics;
  CurveRequest request;
  request.key = key;
  auto values = curve_values(key, range, diagnostics);
  if (!values) return {nullptr, sentences(diagnostics)};
  request.values = *std::move(values);
  request.costs.cache = default_cost_cache();
  Compilation compilation = plan.compilation;
  if (!compilation.imported && !plan.folder.empty()) read_model_again(compilation, plan.folder);
  auto curve = sensitivity(compilation, request, diagnostics, stop, progress);
  if (!curve) return {nullptr, sentences(diagnostics)};
  return {std::make_shared<const Curve>(*std::move(curve)), sentences(diagnostics)};
}

RangeText usual_range(const LoadedPlan& plan, const std::string& key) {
  const auto keys = curve_keys(plan.program().target);
  const auto own = keys.find(key);
  if (own == keys.end() || own->second <= 0) return {"0", "1", "1", ""};
  const double value = own->second;
  const bool is_whole = value == std::floor(value) && value < 9e15;
  if (!is_whole) return {fmt::format("{}", value / 4), fmt::format("{}", value * 2), "", "2"};
  const auto whole = static_cast<std::int64_t>(value);
  return {std::to_string(whole >= 4 ? whole / 4 : 1), std::to_string(2 * whole), "", "2"};
}

}  // namespace stowage::inspector
