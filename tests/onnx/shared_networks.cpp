// SPDX-License-Identifier: Apache-2.0
#include "tests/onnx/shared_networks.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <fmt/format.h>

#include "core/npy.h"
#include "tests/shared_files.h"

namespace stowage::test {

namespace fs = std::filesystem;

namespace {

/// What the folders ought to hold: where one is missing, the tests say how many cases they could not try.
const std::map<std::string, std::vector<std::string>>& expected_networks() {
  static const std::map<std::string, std::vector<std::string>> names = {
      {"exported",
       {"tv_alexnet", "tv_googlenet", "tv_inception_v3", "tv_mobilenet_v2", "tv_resnet18", "tv_resnet18_dedup_identity",
        "tv_resnet18_dynbatch", "tv_resnet50_bn_kept", "tv_shufflenet_v2_x1_0", "tv_vgg16_bn", "tv_vgg19",
        "tv_vit_b_16"}},
      {"light", {"light_bvlc_alexnet", "light_inception_v1", "light_resnet50", "light_squeezenet", "light_vgg19"}},
      {"negative", {"cls_mnist_cntk_op1", "finn_custom_domain", "style_candy_winml_removed_ops"}},
      {"real",
       {"cls_cifar_pt17_dynbatch", "cls_mnist_cntk", "cls_mnist_pt112", "cls_shufflenet_v2_12_int8",
        "cls_squeezenet_fp16_caffe2", "det_yolox_nano_416", "det_yunet_n_320", "det_yunet_n_dynamic",
        "mlp_keras_tf2onnx113", "seg_selfie_landscape_tf2onnx_op9", "sr_super_resolution_10", "tf_bert_mlm_tiny_dyn",
        "tf_t5_encoder_dyn"}}};
  return names;
}

/// Throws with what the file's reader says.
Tensor read_golden(const fs::path& file) {
  Diagnostics diagnostics;
  auto tensor = read_npy(file.string(), diagnostics);
  if (!tensor) throw std::runtime_error(format_diagnostics(diagnostics));
  return *std::move(tensor);
}

}  // namespace

SharedNetworks networks_in(const std::string& folder) {
  SharedNetworks networks;
  const auto root = shared_file("models/" + folder);
  if (root) {
    for (const auto& entry : fs::directory_iterator(*root)) networks.here.push_back(entry.path());
    std::sort(networks.here.begin(), networks.here.end());
  }
  for (const std::string& name : expected_networks().at(folder)) {
    const auto is_it = [&](const fs::path& path) { return path.stem() == name; };
    if (std::none_of(networks.here.begin(), networks.here.end(), is_it)) networks.missing.push_back(name);
  }
  return networks;
}

std::string SharedNetworks::skipped() const {
  return fmt::format("skipped, {} cases: no {} in the shared folder", missing.size(), fmt::join(missing, ", "));
}

bool has_unread_types(const fs::path& model) { return model.stem() == "cls_squeezenet_fp16_caffe2"; }

std::optional<Golden> golden_of(const fs::path& model) {
  const auto folder = shared_file(fs::path("models/golden") / model.stem());
  if (!folder || has_unread_types(model)) return std::nullopt;
  std::ifstream text(*folder / "meta.json");
  const auto meta = nlohmann::json::parse(text);
  Golden golden;
  Diagnostics diagnostics;
  const auto declared = onnx_inputs(model.string(), diagnostics);
  if (!declared) throw std::runtime_error(format_diagnostics(diagnostics));
  for (const auto& info : meta.at("inputs")) {
    Tensor tensor = read_golden(*folder / info.at("file").get<std::string>());
    const auto name = info.at("name").get<std::string>();
    const auto input =
        std::find_if(declared->begin(), declared->end(), [&](const NetworkInput& i) { return i.name == name; });
    if (input == declared->end()) throw std::runtime_error(fmt::format("{} has no input {}", model.string(), name));
    if (input->dimensions.size() != tensor.shape().size()) {
      throw std::runtime_error(fmt::format("{}: input {} is given {}", model.string(), name, to_text(tensor.shape())));
    }
    for (std::size_t d = 0; d < input->dimensions.size(); ++d) {
      if (input->dimensions[d].find_first_not_of("0123456789") != std::string::npos) {
        golden.options.dimensions[input->dimensions[d]] = tensor.shape()[d];
      }
    }
    golden.inputs.push_back(std::move(tensor));
  }
  for (const auto& info : meta.at("outputs")) {
    golden.outputs.push_back(read_golden(*folder / info.at("file").get<std::string>()));
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

std::string golden_difference(const Tensor& expected, const Tensor& actual) {
  if (expected.type() != actual.type()) {
    return fmt::format("type {} instead of {}", name_of(actual.type()), name_of(expected.type()));
  }
  if (expected.shape() != actual.shape()) {
    return fmt::format("shape {} instead of {}", to_text(actual.shape()), to_text(expected.shape()));
  }
  double magnitude = 0;
  double error = 0;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const double e = expected.as_double(i);
    const double a = actual.as_double(i);
    if (std::isfinite(e)) magnitude = std::max(magnitude, std::abs(e));
    if (e == a || (std::isnan(e) && std::isnan(a))) continue;
    if (!std::isfinite(e) || !std::isfinite(a)) return fmt::format("element {} is {} instead of {}", i, a, e);
    if (std::abs(e - a) > error) at = i;
    error = std::max(error, std::abs(e - a));
  }
  if (error <= 1e-3 * magnitude + 1e-6) return {};
  return fmt::format("element {} is {} instead of {}, the largest magnitude is {}", at, actual.as_double(at),
                     expected.as_double(at), magnitude);
}

}  // namespace stowage::test
