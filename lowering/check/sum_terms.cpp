// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/sum_terms.h"

#include <fmt/format.h>

#include "core/number_text.h"

namespace stowage {
namespace {

/// A number that looks drawn by chance, of an axis and a place on it.
std::uint64_t drawn(std::size_t axis, std::int64_t at) {
  std::uint64_t z = 0x9E3779B97F4A7C15U * (static_cast<std::uint64_t>(at) + 0xD1B54A32D192ED03U * (axis + 1));
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

/// Every place of an axis has a weight, the difference of what is drawn at its end and at its begin, so that those of a
/// range add up to the difference at its ends; a term weighs the product of its places' weights, so that those of a box
/// are the product of its ranges' weights.
SumTerms terms_of_box(StageId stage, std::size_t spatial, const ElementBox& points) {
  SumTerms made{stage, 1, 1};
  for (std::size_t a = spatial; a < points.low.size(); ++a) {
    made.terms *= static_cast<std::uint64_t>(points.end[a] - points.low[a]);
    made.mark *= drawn(a, points.end[a]) - drawn(a, points.low[a]);
  }
  return made;
}

SumTerms all_terms(const LoopNest& nest, StageId stage) {
  ElementBox points;
  for (const Axis& axis : nest.stages.stages[stage].axes) {
    points.low.push_back(0);
    points.end.push_back(axis.extent);
  }
  return terms_of_box(stage, nest.stages.stages[stage].spatial, points);
}

}  // namespace

SumTerms with_terms(const LoopNest& nest, const std::optional<SumTerms>& before, const Compute& compute,
                    const ElementBox& points) {
  const std::size_t spatial = nest.stages.stages[compute.stage].spatial;
  SumTerms made = terms_of_box(compute.stage, spatial, points);
  const SumTerms had = before ? *before : all_terms(nest, compute.stage);
  made.terms += had.terms;
  made.mark += had.mark;
  return made;
}

std::optional<std::string> what_lacks(const LoopNest& nest, const SumTerms& sum, bool finishing) {
  if (!sum.stage) return "before its sum has any term";
  const SumTerms all = all_terms(nest, *sum.stage);
  if (sum.terms != all.terms) return fmt::format("with {} of a sum of {}", counted(sum.terms, "term"), all.terms);
  if (sum.mark != all.mark) return fmt::format("with some of the {} twice and some not", counted(all.terms, "term"));
  if (!finishing && nest.stages.stages[*sum.stage].finish) return "before its sum is finished";
  return std::nullopt;
}

}  // namespace stowage
