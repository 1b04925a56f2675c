// SPDX-License-Identifier: Apache-2.0
// Patterns over graphs whose operators are only labels.
#pragma once

#include <string>
#include <vector>

#include "fusion/match/match.h"

namespace stowage::testing {

/// A pattern whose vertices are labelled with single kinds.
struct Labelled {
  Pattern pattern;
  std::vector<std::string> labels;
};

inline VertexCandidates candidates_by_kind(const Graph& graph, const std::vector<std::string>& labels) {
  VertexCandidates candidates;
  for (const std::string& label : labels) {
    candidates.fits.emplace_back();
    candidates.members.emplace_back();
    for (std::size_t i = 0; i < graph.operators().size(); ++i) {
      const bool fits = graph.operators()[i].kind == label;
      candidates.fits.back().push_back(fits);
      if (fits) candidates.members.back().emplace_back(i);
    }
  }
  return candidates;
}

}  // namespace stowage::testing
