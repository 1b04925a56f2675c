// SPDX-License-Identifier: Apache-2.0
// Random tiny networks cut into random groups, for property tests of groups of several stages. Groups need no template
// here: whatever has one result, hands out nothing else and encloses no other operator must be computed correctly.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/target.h"
#include "fusion/groups/group.h"
#include "fusion/groups/horizontal_fusion.h"
#include "fusion/rules/legality.h"
#include "tests/fusion/net.h"

namespace stowage::testing {

class RandomPartition {
 public:
  explicit RandomPartition(unsigned seed) : net_("random", seed), random_(seed) {}

  FusedGraph make() {
    images_ = {net_.input("x0", {1, between(1, 4), between(3, 9), between(3, 9)})};
    rows_ = {net_.input("x1", {between(1, 6), between(2, 9)})};
    const std::int64_t size = between(2, 7);
    const bool image = between(0, 3) > 0;
    for (std::int64_t i = 0; i < size; ++i) {
      auto& tensors = image ? images_ : rows_;
      const TensorId made = image ? add_image("op" + std::to_string(i)) : add_row("op" + std::to_string(i));
      tensors.push_back(made);
      made_.push_back(made);
    }
    std::vector<TensorId> outputs;
    for (const TensorId tensor : made_) {
      if (!read_.contains(tensor) || between(0, 9) == 0) outputs.push_back(tensor);
    }
    const Graph graph = net_.done(outputs);
    const GraphFacts facts(graph);
    return with_stacks({graph, in_execution_order(facts, groups(facts))});
  }

  Target machine() {
    Target target;
    target.name = "random";
    target.cores.count = static_cast<int>(between(1, 64));
    target.ldm.reserved = 0;
    target.ldm.bytes = std::int64_t{1} << between(9, 15);
    target.ldm.alignment = between(0, 1) == 1 ? 4 : 32;
    target.dma.good_block_bytes = std::int64_t{4} << between(0, 6);
    target.dma.bandwidth = {{64, 1e10}};
    return target;
  }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  /// Recent tensors first, so that chains grow.
  TensorId pick(const std::vector<TensorId>& from) {
    const auto last = static_cast<std::int64_t>(from.size()) - 1;
    const TensorId tensor = from[static_cast<std::size_t>(last - std::min(between(0, last), between(0, last)))];
    read_.insert(tensor);
    return tensor;
  }

  TensorId element_wise(const std::string& name, TensorId x, const std::vector<TensorId>& others) {
    if (between(0, 1) == 0) {
      const char* kinds[] = {"Relu", "Sigmoid", "Tanh", "HardSwish"};
      return net_.op(kinds[between(0, 3)], name, {x});
    }
    const Shape& shape = net_.shape(x);
    std::vector<TensorId> fitting;
    for (const TensorId other : others) {
      const Shape& s = net_.shape(other);
      bool fits = s.size() == shape.size();
      for (std::size_t d = 0; fits && d < s.size(); ++d) fits = s[d] == shape[d] || s[d] == 1;
      if (fits) fitting.push_back(other);
    }
    const TensorId other = fitting.empty() ? x : pick(fitting);
    const char* kinds[] = {"Add", "Mul", "Sub"};
    return net_.op(kinds[between(0, 2)], name, {x, other});
  }

  TensorId add_image(const std::string& name) {
    const TensorId x = pick(images_);
    const Shape shape = net_.shape(x);
    const std::int64_t least = std::min(shape[2], shape[3]);
    const auto window = [&](const std::string& kind) {
      const std::int64_t kernel = between(1, std::min<std::int64_t>(3, least));
      const std::int64_t stride = between(1, 2);
      Attributes attributes{{"kernel_shape", std::vector<std::int64_t>{kernel, kernel}},
                            {"strides", std::vector<std::int64_t>{stride, stride}}};
      std::vector<std::int64_t> pads(4);
      for (std::int64_t& pad : pads) pad = between(0, kernel - 1);
      attributes["pads"] = pads;
      if (kind != "Conv") {
        attributes["ceil_mode"] = between(0, 1);
        if (kind == "AveragePool") attributes["count_include_pad"] = between(0, 1);
        return net_.op(kind, name, {x}, attributes);
      }
      const bool depthwise = between(0, 2) == 0;
      const std::int64_t features = depthwise ? shape[1] : between(1, 5);
      attributes["group"] = depthwise ? shape[1] : std::int64_t{1};
      const TensorId w = net_.constant(name + "_w", {features, depthwise ? 1 : shape[1], kernel, kernel});
      if (between(0, 1) == 0) return net_.op(kind, name, {x, w}, attributes);
      return net_.op(kind, name, {x, w, net_.constant(name + "_b", {features})}, attributes);
    };
    switch (between(0, 12)) {
      case 12: return add_branches(name, x, images_);
      case 0:
      case 1:
      case 2:
      case 3: return window("Conv");
      case 4: return window("MaxPool");
      case 5: return window("AveragePool");
      case 6: return net_.op("GlobalAveragePool", name, {x});
      case 7: return net_.op("LRN", name, {x}, {{"size", std::int64_t{3}}});
      case 8:
        if (least >= 2 && least <= 5) {
          return net_.op("Resize", name, {x},
                         {{"scales", std::vector<double>{1, 1, 2, 2}},
                          {"mode", std::string(between(0, 1) == 0 ? "nearest" : "linear")}});
        }
        return element_wise(name, x, images_);
      default: return element_wise(name, x, images_);
    }
  }

  TensorId add_row(const std::string& name) {
    const TensorId x = pick(rows_);
    const Shape shape = net_.shape(x);
    switch (between(0, 10)) {
      case 10: return add_branches(name, x, rows_);
      case 0:
      case 1: return net_.op("MatMul", name, {x, net_.constant(name + "_w", {shape[1], between(1, 9)})});
      case 2: {
        // A product of two computed matrices.
        const TensorId turned =
            net_.op("Transpose", name + "_turned", {pick(rows_)}, {{"perm", std::vector<std::int64_t>{1, 0}}});
        made_.push_back(turned);
        read_.insert(turned);
        if (net_.shape(turned)[0] != shape[1]) return net_.op("Softmax", name, {x});
        return net_.op("MatMul", name, {x, turned});
      }
      case 3:
      case 4: return net_.op("Softmax", name, {x}, {{"axis", between(0, 1)}});
      case 5: return net_.op("ReduceMean", name, {x}, {{"axes", std::vector<std::int64_t>{between(0, 1)}}});
      case 6: return net_.op("Transpose", name, {x}, {{"perm", std::vector<std::int64_t>{1, 0}}});
      default: return element_wise(name, x, rows_);
    }
  }

  /// Alike convolutions or products of one computed tensor; the last one's result.
  TensorId add_branches(const std::string& name, TensorId x, std::vector<TensorId>& tensors) {
    const TensorId shared = net_.op("Tanh", name + "_shared", {x});
    const Shape shape = net_.shape(x);
    made_.push_back(shared);
    const std::int64_t kernel =
        shape.size() == 4 ? between(1, std::min<std::int64_t>(3, std::min(shape[2], shape[3]))) : 1;
    const std::int64_t stride = between(1, 2);
    const std::int64_t pad = between(0, kernel - 1);
    const std::int64_t count = between(2, 5);
    const std::int64_t tail = between(0, 2);
    for (std::int64_t i = 0;; ++i) {
      const std::string own = name + "_" + std::to_string(i);
      const std::int64_t features = between(1, 5);
      const auto row = [&](const std::string& what) { return net_.constant(own + what, {features}); };
      read_.insert(shared);
      TensorId made;
      if (shape.size() == 4) {
        const TensorId w = net_.constant(own + "_w", {features, shape[1], kernel, kernel});
        made = net_.op("Conv", own, {shared, w, row("_b")},
                       {{"strides", std::vector<std::int64_t>{stride, stride}},
                        {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}});
        if (tail > 1) {
          made_.push_back(made);
          read_.insert(made);
          made = net_.op("Mul", own + "_scaled", {made, net_.constant(own + "_scale", {features, 1, 1})});
        }
      } else {
        made = net_.op("MatMul", own, {shared, net_.constant(own + "_w", {shape[1], features})});
        if (tail > 1) {
          made_.push_back(made);
          read_.insert(made);
          made = net_.op("Add", own + "_biased", {made, row("_b")});
        }
      }
      if (tail > 0) {
        made_.push_back(made);
        read_.insert(made);
        made = net_.op("Relu", own + "_relu", {made});
      }
      if (i + 1 == count) return made;
      made_.push_back(made);
      tensors.push_back(made);
    }
  }

  /// Some branches that lie side by side, with some of the operators behind each.
  void group_branches(const GraphFacts& facts, std::set<OpId>& left, std::vector<FusedOperator>& groups) {
    for (const BranchFamily& family : find_branch_families(facts.graph)) {
      const auto branches = static_cast<std::int64_t>(family.branches.size());
      const std::int64_t first = between(0, branches - 2);
      const std::int64_t last = between(first + 1, branches - 1);
      const std::int64_t length = between(1, static_cast<std::int64_t>(family.branches[0].size()));
      std::vector<Member> members;
      for (std::int64_t b = first; b <= last; ++b) {
        const Branch& branch = family.branches[static_cast<std::size_t>(b)];
        for (std::int64_t i = 0; i < length; ++i) {
          const char* role = i > 0 ? "epilogue" : b == first ? "anchor" : "branch";
          members.push_back({branch[static_cast<std::size_t>(i)], role});
        }
      }
      FusedOperator group = make_group(facts, "branches", members.front().op, members);
      const bool is_free =
          std::all_of(group.operators.begin(), group.operators.end(), [&](OpId op) { return left.contains(op); });
      if (between(0, 3) == 0 || !is_free || !refusals(facts, group).empty()) continue;
      for (const OpId op : group.operators) left.erase(op);
      groups.push_back(std::move(group));
    }
  }

  /// Groups grow from random operators to random neighbours as long as they hang together legally.
  std::vector<FusedOperator> groups(const GraphFacts& facts) {
    std::set<OpId> left(facts.order.begin(), facts.order.end());
    std::vector<FusedOperator> groups;
    group_branches(facts, left, groups);
    while (!left.empty()) {
      std::set<OpId> members = {*std::next(left.begin(), between(0, static_cast<std::int64_t>(left.size()) - 1))};
      std::set<OpId> best = members;
      for (std::int64_t step = between(0, 5); step > 0; --step) {
        std::vector<OpId> beside;
        for (const OpId op : left) {
          if (!members.contains(op) && touches(facts.graph, members, op)) beside.push_back(op);
        }
        if (beside.empty()) break;
        members.insert(beside[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(beside.size()) - 1))]);
        if (is_legal(facts, members)) best = members;
      }
      groups.push_back(group_of(facts, best));
      for (const OpId op : best) left.erase(op);
    }
    return groups;
  }

  static bool touches(const Graph& graph, const std::set<OpId>& members, OpId op) {
    const auto reads = [&](OpId reader, OpId producer) {
      const auto& inputs = graph.op(reader).inputs;
      return std::any_of(inputs.begin(), inputs.end(),
                         [&](const auto& input) { return input && graph.tensor(*input).producer == producer; });
    };
    return std::any_of(members.begin(), members.end(),
                       [&](OpId member) { return reads(member, op) || reads(op, member); });
  }

  static FusedOperator group_of(const GraphFacts& facts, const std::set<OpId>& ops) {
    if (ops.size() == 1) return make_single(facts, *ops.begin());
    std::vector<Member> members;
    for (const OpId op : ops) members.push_back({op, "producer"});
    return make_group(facts, "random", *ops.rbegin(), std::move(members));
  }

  /// What holds for every group, whatever its template says.
  static bool is_legal(const GraphFacts& facts, const std::set<OpId>& ops) {
    for (const Decision& broken : refusals(facts, group_of(facts, ops))) {
      for (const char* rule : {"one-output", "inner-use", "network-output", "convex"}) {
        if (broken.rule == rule) return false;
      }
    }
    return true;
  }

  Net net_;
  std::mt19937 random_;
  std::vector<TensorId> images_, rows_, made_;
  std::set<TensorId> read_;
};

}  // namespace stowage::testing
