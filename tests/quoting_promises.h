// SPDX-License-Identifier: Apache-2.0
// What core/quoting.h and driver/text promise of any text: it is read again as it was, by a reader written
// from the language's grammar, or cannot leave the place where it stands.
#pragma once

#include <string>
#include <string_view>

namespace stowage::test {

/// The first promise that does not hold of this text, or "".
std::string broken_promise_of_quoting(std::string_view text);

}  // namespace stowage::test
