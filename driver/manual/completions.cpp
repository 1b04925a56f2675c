// SPDX-License-Identifier: Apache-2.0
#include "driver/manual/completions.h"

namespace stowage {

std::vector<CompletionRow> completion_table() {
  return {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};
}

}  // namespace stowage
