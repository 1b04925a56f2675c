// SPDX-License-Identifier: Apache-2.0
#include "driver/run/inputs.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <xxhash.h>

#include "core/npy.h"
#include "core/operators.h"
#include "driver/run/index_check.h"

namespace stowage {

namespace {

/// One more than the largest index that every Gather of this tensor takes.
std::int64_t index_bound(const Graph& graph, TensorId input) {
  std::optional<std::int64_t> bound;
  for (const Operator& op : graph.operators()) {
    if (op.kind != "Gather" || unchanged_from(graph, *op.inputs[1]) != input) continue;
    const Shape& data = graph.tensor(*op.inputs[0]).shape;
    std::int64_t axis = int_attribute(op.attributes, "axis", 0);
    if (axis < 0) axis += static_cast<std::int64_t>(data.size());
    bound = std::min(bound.value_or(data[static_cast<std::size_t>(axis)]), data[static_cast<std::size_t>(axis)]);
  }
  return std::max<std::int64_t>(1, bound.value_or(2));
}

}  // namespace

Tensor random_input(const Graph& graph, TensorId input, std::uint64_t seed) {
  const GraphTensor& tensor = graph.tensor(input);
  std::mt19937_64 generator(XXH64(tensor.name.data(), tensor.name.size(), seed));
  const std::int64_t bound = is_float(tensor.type) ? 0 : index_bound(graph, input);
  const auto size = static_cast<std::size_t>(byte_size(tensor.type));
  std::vector<std::byte> bytes(static_cast<std::size_t>(element_count(tensor.shape)) * size);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const std::uint64_t bits = generator();
    if (is_float(tensor.type)) {
      // 53 bits to [0, 1), the same on every machine (the standard's distributions are not).
      store_element(tensor.type, static_cast<double>(bits >> 11) * 0x1p-52 - 1.0, &bytes[at]);
    } else {
      store_element(tensor.type, static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(bound)), &bytes[at]);
    }
  }
  return Tensor(tensor.type, tensor.shape, std::move(bytes));
}

Result<NetworkInputs> network_inputs(const Graph& graph, const std::map<std::string, std::string>& files,
                                     std::uint64_t seed, Diagnostics& diagnostics) {
  Diagnostics own;
  std::vector<std::string> names;
  for (const TensorId id : graph.inputs()) names.push_back(graph.tensor(id).name);
  for (const auto& [name, file] : files) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    SourceLocation location;
    location.file = "--input " + name + "=" + file;
    own.error("unknown-input", location, fmt::format("the network has no input '{}'", name), suggest_name(name, names));
  }
  NetworkInputs inputs;
  for (const TensorId id : graph.inputs()) {
    const GraphTensor& tensor = graph.tensor(id);
    const auto file = files.find(tensor.name);
    if (file == files.end()) {
      inputs.random.push_back(tensor.name);
      inputs.values.push_back(random_input(graph, id, seed));
      continue;
    }
    const auto value = read_npy(file->second, own);
    if (!value) continue;
    if (value->type() != tensor.type || value->shape() != tensor.shape) {
      SourceLocation location;
      location.file = file->second;
      own.error("wrong-input", location,
                fmt::format("holds {}{}, but input '{}' is {}{}", name_of(value->type()), to_text(value->shape()),
                            tensor.name, name_of(tensor.type), to_text(tensor.shape)));
      continue;
    }
    inputs.values.push_back(*value);
  }
  if (!own.has_errors()) check_indices(graph, inputs.values, files, own);
  diagnostics.append(own);
  if (own.has_errors()) return Failed{};
  return inputs;
}

}  // namespace stowage
