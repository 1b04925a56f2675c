// SPDX-License-Identifier: Apache-2.0
// Which names are read: they go into messages, plan files and sources, and come out again as they are.
#pragma once

#include <string_view>

namespace stowage::onnx_import {

/// Well-formed UTF-8 (Unicode 15, table 3-7) without ASCII control characters.
bool is_readable_name(std::string_view text);

}  // namespace stowage::onnx_import
