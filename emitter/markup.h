// SPDX-License-Identifier: Apache-2.0
// Text as it stands in XML, HTML and the labels of Graphviz.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stowage {

/// With &, <, >, " and ' as entities, and without the control characters that XML does not allow.
std::string escaped(std::string_view text);

/// At most `most` characters of a long name: its beginning and its end with "…" between. Counts code points.
std::string shortened(std::string_view name, std::size_t most);

}  // namespace stowage
