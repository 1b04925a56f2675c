// SPDX-License-Identifier: Apache-2.0
#include "driver/training/training.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "core/onnx/import.h"
#include "core/parallel.h"
#include "core/temporary_folder.h"
#include "driver/networks/networks.h"
#include "fusion/facts/views.h"
#include "fusion/fold/channel_blocks.h"
#include "fusion/fold/fold_intrinsics.h"
#include "fusion/strategies/candidates.h"
#include "lowering/program/canonical_stages.h"
#include "lowering/program/cost_samples.h"

namespace stowage {

namespace {

constexpr std::size_t variants_of_group = 6;
constexpr std::size_t fewest_groups = 5;  // train_predictor

/// By canonical text, so that equal groups are one and the order depends on nothing else.
using Groups = std::map<std::string, CanonicalStages>;

bool add_groups(const std::string& network, const Target& target, Groups& groups, Diagnostics& diagnostics,
                const std::stop_token& stop) {
  const TemporaryFolder folder;
  const auto file = write_network(network, {}, (folder.path() / "model.onnx").string(), diagnostics, stop);
  if (!file) return false;
  const auto imported = import_onnx(*file, {}, diagnostics, stop);
  if (!imported) return false;
  // As the default planner has pictures.
  const Graph blocked = block_channels(fold_intrinsics(*imported, {}), target, {});
  const Graph graph = place_tensors(blocked, {}, target.dma.alignment);
  const CandidateSet set = find_candidate_groups(graph, built_in_templates(), nullptr, {}, stop);
  for (const CandidateGroup& candidate : set.candidates) {
    if (!candidate.allowed() || candidate.group.is_view) continue;
    CanonicalStages canonical = canonical_stages(group_stages(graph, candidate.group));
    std::string text = canonical.text;
    groups.emplace(std::move(text), std::move(canonical));
  }
  return !stop.stop_requested();
}

/// As the seed draws them; std::shuffle may differ from library to library.
std::vector<const CanonicalStages*> drawn(const Groups& groups, std::uint64_t seed) {
  std::vector<const CanonicalStages*> order;
  for (const auto& [text, group] : groups) order.push_back(&group);
  std::mt19937_64 random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

}  // namespace

Result<std::vector<CostSample>> training_samples(const Target& target, const Planner& planner,
                                                 const TrainingOptions& options, Diagnostics& diagnostics,
                                                 const std::stop_token& stop, const ProgressSink& progress) {
  const std::vector<std::string> networks = options.networks.empty() ? network_names() : options.networks;
  Groups groups;
  for (std::size_t n = 0; n < networks.size(); ++n) {
    if (progress) progress("networks", n, networks.size());
    if (!add_groups(networks[n], target, groups, diagnostics, stop)) return Failed{};
  }
  std::vector<const CanonicalStages*> order = drawn(groups, options.seed);
  constexpr std::size_t plans_of_group = variants_of_group + 2;
  const std::size_t wanted = (options.samples + plans_of_group - 1) / plans_of_group;
  order.resize(std::min(order.size(), std::max(wanted, fewest_groups)));
  std::vector<std::vector<CostSample>> of_group(order.size());
  std::mutex one_by_one;
  std::size_t done = 0;
  parallel_for(order.size(), options.threads, stop, [&](std::size_t g) {
    of_group[g] = cost_samples(*order[g], planner, target, variants_of_group, options.seed + g, stop);
    const std::lock_guard lock(one_by_one);
    if (progress) progress("simulate", ++done, order.size());
  });
  if (stop.stop_requested()) return Failed{};
  std::vector<CostSample> samples;
  std::size_t planned = 0;
  for (std::size_t g = 0; g < of_group.size(); ++g) {
    planned += of_group[g].empty() ? 0 : 1;
    for (CostSample& sample : of_group[g]) {
      sample.group = g;
      samples.push_back(std::move(sample));
    }
  }
  if (planned < fewest_groups) {
    diagnostics.error("too-few-samples", {},
                      fmt::format("only {} groups of the sample networks can be planned for target {}, {} are the "
                                  "fewest to train with",
                                  planned, target.name, fewest_groups),
                      "`stowage compile` tells why a network cannot be planned for it");
    return Failed{};
  }
  return samples;
}

}  // namespace stowage
