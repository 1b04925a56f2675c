// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/classification_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage::inspector {

namespace {

std::string list_of(const std::vector<BufferId>& buffers, const GroupNames& names) {
  std::vector<std::string> found;
  for (const BufferId buffer : buffers) found.push_back(names.buffers[buffer]);
  return found.empty() ? std::string("no tensor") : fmt::format("{}", fmt::join(found, ", "));
}

std::string why(IteratorClass found) {
  switch (found) {
    case IteratorClass::num: return "num: growing it adds blocks. That takes more memory, and no block gets longer.";
    case IteratorClass::size: return "size: growing it makes the contiguous blocks longer, which DMA moves faster.";
    case IteratorClass::comp:
      return "comp, of both: growing it makes blocks of one tensor longer and adds blocks of another.";
    case IteratorClass::whole:
      return "Where a dimension has no other open iterator, the next higher one grows instead.";
  }
  return {};
}

}  // namespace

ClassificationStep classification_step(const IteratorClassified& classified, const GroupNames& names) {
  const std::string& name = names.iterators[classified.iterator];
  const std::string_view mark = name_of(classified.found);
  return {std::string(mark),
          classified.found == IteratorClass::whole
              ? fmt::format("{} is buffered whole: it has no outer loop", name)
              : fmt::format("{} is {}: it runs along the DMA blocks of {}, and from block to block of {}", name, mark,
                            list_of(classified.along, names), list_of(classified.across, names)),
          why(classified.found)};
}

}  // namespace stowage::inspector
