// SPDX-License-Identifier: Apache-2.0
// The algorithms that the replay pane shows, as numbered pseudocode in our own words: what each line does, which line
// of the published algorithm it is, and where we deviate. Data; docs/swtvm.md explains the deviations at length.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace stowage::inspector {

struct AlgorithmLine {
  std::string_view text;          ///< indented by two spaces a level
  std::string_view paper = {};    ///< line numbers of the publication, "16-20"; empty where it has no such line
  std::string_view marks = {};    ///< what lights it: places of trace records (core/trace.h), separated by spaces
  std::string_view differs = {};  ///< how the printed algorithm differs from ours, and why; empty: it does not
};

struct AlgorithmText {
  std::string_view name;    ///< of TraceHeading::algorithm, or a name of our own
  std::string_view chip;    ///< a word or two, for the strip of phases
  std::string_view title;   ///< what it is for
  std::string_view source;  ///< where it was published
  std::vector<AlgorithmLine> lines;
};

/// All of them, in the order in which they run.
std::span<const AlgorithmText> algorithm_texts();
/// Null for an unknown name.
const AlgorithmText* find_algorithm(std::string_view name);
/// Lines (from 0) that a mark lights; none if no line has it.
std::vector<int> lines_of(const AlgorithmText& algorithm, std::string_view mark);

}  // namespace stowage::inspector
