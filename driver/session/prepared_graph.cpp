// SPDX-License-Identifier: Apache-2.0
#include "driver/session/prepared_graph.h"

#include "core/channel_blocks.h"
#include "fusion/facts/views.h"
#include "fusion/fold/channel_blocks.h"
#include "fusion/fold/fold_intrinsics.h"

namespace stowage {

Graph prepared_graph(const Graph& imported, std::string_view layout, const Target& target, TraceSink trace) {
  return laid_out_graph(fold_intrinsics(imported, trace), layout, target, trace);
}

Graph laid_out_graph(const Graph& folded, std::string_view layout, const Target& target, TraceSink trace) {
  return layout == blocked_layout ? place_tensors(block_channels(folded, target, trace), trace, target.dma.alignment)
                                  : place_tensors(folded, trace, target.dma.alignment);
}

std::string_view layout_found_in(const Graph& prepared) {
  return has_channel_blocks(prepared) ? blocked_layout : given_layout;
}

}  // namespace stowage
