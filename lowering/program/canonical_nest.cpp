// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/canonical_nest.h"

#include "lowering/program/canonical_stages.h"

namespace stowage {

std::string canonical_text(const LoopNest& nest) {
  return canonical_stages(nest.stages).text + to_text_by_position(nest);
}

}  // namespace stowage
