// SPDX-License-Identifier: Apache-2.0
#include "tests/onnx/shared_networks.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/npy.h"
#include "tests/shared_files.h"

namespace stowage::test {

namespace fs = std::filesystem;

std::vector<fs::path> models_in(const std::string& folder) {
  const auto root = shared_file("models/" + folder);
  if (!root) {
    std::cout << "skipped: ../shared/models/" << folder << " is not here\n";
    return {};
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(*root)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<Golden> golden_of(const fs::path& model) {
  const auto folder = shared_file(fs::path("models/golden") / model.stem());
  if (!folder || !fs::exists(*folder / "meta.json")) return std::nullopt;
  const auto meta = nlohmann::json::parse(std::ifstream(*folder / "meta.json"));
  Golden golden;
  Diagnostics diagnostics;
  const auto declared = onnx_inputs(model.string(), diagnostics);
  if (!declared) return std::nullopt;
  for (const auto& info : meta.at("inputs")) {
    auto tensor = read_npy((*folder / info.at("file").get<std::string>()).string(), diagnostics);
    if (!tensor) return std::nullopt;  // float16
    const auto input = std::find_if(declared->begin(), declared->end(), [&](const NetworkInput& i) {
      return i.name == info.at("name").get<std::string>();
    });
    if (input == declared->end()) return std::nullopt;
    for (std::size_t d = 0; d < input->dimensions.size(); ++d) {
      if (input->dimensions[d].find_first_not_of("0123456789") != std::string::npos) {
        golden.options.dimensions[input->dimensions[d]] = tensor->shape()[d];
      }
    }
    golden.inputs.push_back(*std::move(tensor));
  }
  for (const auto& info : meta.at("outputs")) {
    auto tensor = read_npy((*folder / info.at("file").get<std::string>()).string(), diagnostics);
    if (!tensor) return std::nullopt;
    golden.outputs.push_back(*std::move(tensor));
  }
  return golden;
}

std::vector<std::string> unsupported_of(const fs::path& model) {
  Diagnostics diagnostics;
  const auto rows = onnx_coverage(model.string(), diagnostics);
  std::vector<std::string> names;
  if (!rows) return names;
  for (const CoverageRow& row : *rows) {
    if (!row.supported) names.push_back(row.operator_name);
  }
  return names;
}

bool agrees(const Tensor& expected, const Tensor& actual) {
  double magnitude = 0;
  double error = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    magnitude = std::max(magnitude, std::abs(expected.as_double(i)));
    error = std::max(error, std::abs(expected.as_double(i) - actual.as_double(i)));
  }
  return error <= 1e-3 * magnitude + 1e-6;
}

}  // namespace stowage::test
