// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/node_order.h"

#include <functional>
#include <map>
#include <queue>
#include <vector>

namespace stowage::onnx_import {
namespace {

/// Values that the nodes of a branch read and the branch itself does not make.
void collect_outer_values(const onnx::GraphProto& branch, std::set<std::string>& values) {
  std::set<std::string> own;
  for (const auto& input : branch.input()) own.insert(input.name());
  for (const auto& tensor : branch.initializer()) own.insert(tensor.name());
  for (const auto& node : branch.node()) own.insert(node.output().begin(), node.output().end());
  const auto note = [&](const std::string& name) {
    if (!name.empty() && !own.contains(name)) values.insert(name);
  };
  for (const auto& node : branch.node()) {
    for (const std::string& name : values_read(node)) note(name);
  }
  for (const auto& output : branch.output()) note(output.name());
}

/// Places of the nodes in a valid order: always the first one of the file that is ready. Shorter where there is a
/// cycle.
std::vector<int> valid_order(const Nodes& nodes) {
  std::map<std::string, int> made_by;
  for (int n = 0; n < nodes.size(); ++n) {
    for (const auto& output : nodes[n].output()) {
      if (!output.empty()) made_by.emplace(output, n);
    }
  }
  std::vector<std::vector<int>> readers(static_cast<std::size_t>(nodes.size()));
  std::vector<int> waiting(static_cast<std::size_t>(nodes.size()), 0);
  for (int n = 0; n < nodes.size(); ++n) {
    for (const std::string& value : values_read(nodes[n])) {
      const auto maker = made_by.find(value);
      if (maker == made_by.end()) continue;
      readers[static_cast<std::size_t>(maker->second)].push_back(n);
      ++waiting[static_cast<std::size_t>(n)];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int n = 0; n < nodes.size(); ++n) {
    if (waiting[static_cast<std::size_t>(n)] == 0) ready.push(n);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const int reader : readers[static_cast<std::size_t>(order.back())]) {
      if (--waiting[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
    }
  }
  return order;
}

}  // namespace

void name_nodes(Nodes& nodes) {
  const auto names = node_names(nodes);
  for (int n = 0; n < nodes.size(); ++n) {
    nodes[n].set_name(names[static_cast<std::size_t>(n)]);
    for (auto& attribute : *nodes[n].mutable_attribute()) {
      if (attribute.has_g()) name_nodes(*attribute.mutable_g()->mutable_node());
    }
  }
}

std::set<std::string> values_read(const onnx::NodeProto& node) {
  std::set<std::string> values;
  for (const auto& input : node.input()) {
    if (!input.empty()) values.insert(input);
  }
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) collect_outer_values(attribute.g(), values);
  }
  return values;
}

void sort_nodes(Nodes& nodes) {
  for (auto& node : nodes) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) sort_nodes(*attribute.mutable_g()->mutable_node());
    }
  }
  const std::vector<int> order = valid_order(nodes);
  if (static_cast<int>(order.size()) < nodes.size()) return;  // a cycle, which the checks of structure show
  Nodes sorted;
  sorted.Reserve(nodes.size());
  for (const int n : order) sorted.Add()->Swap(&nodes[n]);
  nodes.Swap(&sorted);
}

}  // namespace stowage::onnx_import
