// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/classification_steps.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage::inspector {

std::vector<ClassificationStep> classification_steps(const GroupModel& model, const std::vector<std::string>& before,
                                                     const std::vector<std::string>& after) {
  std::vector<ClassificationStep> steps;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] == before[i]) continue;
    const int iterator = static_cast<int>(i);
    const std::string& name = model.iterators[i].name;
    if (after[i] == "whole") {
      steps.push_back({iterator, "whole", fmt::format("{} is buffered whole: it has no outer loop", name),
                       "Where a dimension has no other open iterator, the next higher one grows instead."});
      continue;
    }
    std::vector<std::string> growing;
    std::vector<std::string> higher;
    for (const ModelBuffer& buffer : model.buffers) {
      // Dimensions are kept highest first; the growing one is the lowest with an iterator that is still open.
      const auto open = [&](int at) { return after[static_cast<std::size_t>(at)] != "whole"; };
      int dimension = static_cast<int>(buffer.iterators.size()) - 1;
      for (bool found = false; dimension > 0 && !found; dimension -= found ? 0 : 1) {
        const auto& here = buffer.iterators[static_cast<std::size_t>(dimension)];
        found = std::any_of(here.begin(), here.end(), open);
      }
      if (dimension < 0) continue;
      if (buffer.iterators[static_cast<std::size_t>(dimension)].contains(iterator)) growing.push_back(buffer.name);
      for (int d = 0; d < dimension; ++d) {
        if (!buffer.iterators[static_cast<std::size_t>(d)].contains(iterator)) continue;
        higher.push_back(buffer.name);
        break;
      }
    }
    const auto list = [](const std::vector<std::string>& names) {
      return names.empty() ? std::string("no tensor") : fmt::format("{}", fmt::join(names, ", "));
    };
    steps.push_back({iterator, after[i],
                     fmt::format("{} is {}: it runs along the DMA blocks of {}, and from block to block of {}", name,
                                 after[i], list(growing), list(higher)),
                     after[i] == "num"
                         ? "num: growing it adds blocks. That takes more memory, and no block gets longer."
                     : after[i] == "size"
                         ? "size: growing it makes the contiguous blocks longer, which DMA moves faster."
                         : "comp, of both: growing it makes blocks of one tensor longer and adds blocks of another."});
  }
  return steps;
}

}  // namespace stowage::inspector
