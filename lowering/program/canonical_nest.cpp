// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/canonical_nest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lowering/program/canonical_stages.h"

namespace stowage {

std::string canonical_text(const LoopNest& nest) {
  return canonical_stages(nest.stages).text + to_text_by_position(nest);
}

NestKey nest_key(const LoopNest& nest) {
  const std::string text = canonical_text(nest);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

}  // namespace stowage
