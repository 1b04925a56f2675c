// SPDX-License-Identifier: Apache-2.0
// Writing down what a strategy searched, as SearchGraph (fusion/groups/fusion_record.h).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "fusion/groups/fusion_record.h"
#include "fusion/strategies/candidates.h"

namespace stowage {

/// Edges of one, at most: a picture of more helps nobody.
inline constexpr std::size_t max_search_edges = 6'000;

/// One after the other, segments of operators with their chosen partitions. Of each the chosen path is drawn, and from
/// every state on it the other groups that could have come next.
class SearchGraphWriter {
 public:
  SearchGraphWriter(const CandidateSet& set, std::string name);
  /// `choice` in an order of execution, or one that can be put into it.
  void add_segment(const std::vector<OpId>& operators, const std::vector<std::size_t>& candidates,
                   std::vector<std::size_t> choice);
  SearchGraph finish() &&;

 private:
  std::size_t add_node(std::string label, std::int64_t cycles, bool on_path);
  [[nodiscard]] std::string label_of(const std::vector<OpId>& executed) const;

  const CandidateSet& set_;
  SearchGraph graph_;
  std::vector<bool> executed_;
  std::size_t last_ = 0;  ///< node in which everything so far is executed
};

}  // namespace stowage
