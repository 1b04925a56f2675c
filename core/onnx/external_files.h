// SPDX-License-Identifier: Apache-2.0
// Which other files a model's values come from.
#pragma once

#include <set>
#include <stop_token>
#include <string>

namespace stowage {

namespace onnx_import {
struct Model;
/// Of a model as load_model() has read it.
std::set<std::string> external_files(const Model& model);
}  // namespace onnx_import

/// Locations as the model's tensors name them, relative to its folder; also those of tensors that nothing reads. None
/// of a file that is no model, which importing it says.
std::set<std::string> onnx_external_files(const std::string& path, const std::stop_token& stop = {});

}  // namespace stowage
