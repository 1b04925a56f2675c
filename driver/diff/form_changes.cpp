// SPDX-License-Identifier: Apache-2.0
#include "driver/diff/form_changes.h"

#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage {

namespace {

std::string merged_text(const std::optional<MergedAxes>& merged) {
  std::vector<std::string> runs;
  for (const std::vector<std::string>& run : merged.value_or(MergedAxes{})) {
    runs.push_back(fmt::format("{}", fmt::join(run, ", ")));
  }
  return fmt::format("{}", fmt::join(runs, "; "));
}

std::string lanes_text(const std::optional<LaneBlocks>& lanes) {
  std::vector<std::string> blocks;
  for (const auto& [iterator, block] : lanes.value_or(LaneBlocks{})) {
    blocks.push_back(fmt::format("{} in blocks of {}", iterator, block));
  }
  return fmt::format("{}", fmt::join(blocks, ", "));
}

std::string copied_text(const std::optional<CopiedInputs>& copied) {
  return fmt::format("{}", fmt::join(copied.value_or(CopiedInputs{}), ", "));
}

std::string split_text(const std::optional<SplitReductions>& split) {
  std::vector<std::string> parts;
  for (const auto& [iterator, number] : split.value_or(SplitReductions{}))
    parts.push_back(fmt::format("{} over {} cores", iterator, number));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

void add_form_changes(std::vector<ScheduleChange>& changes, const Schedule& a, const Schedule& b) {
  using What = ScheduleChange::What;
  if (a.merged != b.merged) {
    changes.push_back({What::merged, "", merged_text(a.merged), merged_text(b.merged),
                       merged_text(b.merged).empty() ? "takes each axis by itself"
                                                     : fmt::format("takes {} as one axis", merged_text(b.merged))});
  }
  if (a.lanes != b.lanes) {
    changes.push_back({What::lanes, "", lanes_text(a.lanes), lanes_text(b.lanes),
                       lanes_text(b.lanes).empty() ? "has no lanes in blocks"
                                                   : fmt::format("runs vectors along {}", lanes_text(b.lanes))});
  }
  if (a.copied != b.copied) {
    changes.push_back({What::copied, "", copied_text(a.copied), copied_text(b.copied),
                       copied_text(b.copied).empty() ? "loads its inputs with their padding"
                                                     : fmt::format("copies {} in the LDM", copied_text(b.copied))});
  }
  if (a.folded != b.folded) {
    const auto words = [](const std::optional<bool>& folded) { return folded.value_or(false) ? "one pass" : ""; };
    changes.push_back({What::folded, "", words(a.folded), words(b.folded),
                       b.folded.value_or(false) ? "finishes sums in one pass with what follows them"
                                                : "finishes sums in a pass of its own"});
  }
  if (a.split.value_or(SplitReductions{}) != b.split.value_or(SplitReductions{})) {
    changes.push_back({What::reduction, "", split_text(a.split), split_text(b.split),
                       split_text(b.split).empty() ? "sums on one core each"
                                                   : fmt::format("splits the sum along {}", split_text(b.split))});
  }
}

}  // namespace stowage
