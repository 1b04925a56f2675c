// SPDX-License-Identifier: Apache-2.0
// Sample networks: well-known topologies with seeded random weights, written as ONNX files, so that anyone can try
// Stowage without downloading a model. docs/networks.md says which variant of each network this is.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"
#include "core/hidden_temporary.h"

namespace stowage {

class NetworkBuilder;  // driver/networks/network_builder.h

/// A batch above this only makes sizes overflow; it is far beyond what any machine here can hold.
inline constexpr std::int64_t largest_network_batch = 4096;

struct NetworkOptions {
  std::uint64_t seed = 1;  ///< the same seed gives the same file, byte for byte
  std::int64_t batch = 1;
};

struct NetworkRow {
  std::string_view name;
  std::string_view summary;  ///< variant and input shape
  int opset = 13;
  void (*build)(NetworkBuilder& builder) = nullptr;
};

/// All sample networks, sorted by name.
std::span<const NetworkRow> network_table();
std::vector<std::string> network_names();

/// What a network asks of those who plan and run it.
struct NetworkSize {
  std::int64_t operators = 0;
  std::int64_t parameter_bytes = 0;
  std::int64_t multiply_adds = 0;
  std::vector<std::int64_t> convolutions;  ///< multiply-adds of each, of those of equal shapes once
};
/// Of a sample network, without making its weights; `name` is one of network_names().
NetworkSize size_of_network(std::string_view name, const NetworkOptions& options);

/// Writes a sample network to `path` and returns the path. Errors: unknown-network (with the nearest name),
/// invalid-batch, cannot-write, output-exists; when stopped it fails without one.
Result<std::string> write_network(std::string_view name, const NetworkOptions& options, const std::string& path,
                                  Diagnostics& diagnostics, std::stop_token stop = {},
                                  Existing existing = Existing::replace);

}  // namespace stowage
