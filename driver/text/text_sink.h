// SPDX-License-Identifier: Apache-2.0
// Long texts piece by piece, so that no memory need hold all of one.
#pragma once

#include <functional>
#include <string_view>

namespace stowage {

/// Takes the next piece of a text.
using TextSink = std::function<void(std::string_view piece)>;
/// Gives all pieces of a text, the same ones each time.
using TextPieces = std::function<void(const TextSink& sink)>;

}  // namespace stowage
