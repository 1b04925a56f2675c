// SPDX-License-Identifier: Apache-2.0
#include "fusion/rules/legality.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/decision_rules.h"
#include "core/storage_box.h"
#include "fusion/groups/horizontal_fusion.h"
#include "fusion/rules/structure_changes.h"

namespace stowage {
namespace {

using Problem = std::optional<BrokenRule>;

bool holds(const FusedOperator& group, OpId op) {
  return std::find(group.operators.begin(), group.operators.end(), op) != group.operators.end();
}

/// Operators of the group whose result no other one of the group reads.
std::vector<OpId> ends_of(const Graph& graph, const FusedOperator& group) {
  std::vector<OpId> ends;
  for (const OpId op : group.operators) {
    const std::vector<OpId> readers = readers_of(graph, op);
    if (std::none_of(readers.begin(), readers.end(), [&](OpId reader) { return holds(group, reader); })) {
      ends.push_back(op);
    }
  }
  return ends;
}

bool is_result(const std::vector<TensorId>& results, TensorId tensor) {
  return std::find(results.begin(), results.end(), tensor) != results.end();
}

/// The operators whose outputs are what the group stores.
std::vector<OpId> makers_of(const Graph& graph, const std::vector<TensorId>& results) {
  std::vector<OpId> makers;
  for (const TensorId result : results) {
    const OpId maker = graph.tensor(result).producer.value();
    if (std::find(makers.begin(), makers.end(), maker) == makers.end()) makers.push_back(maker);
  }
  return makers;
}

std::vector<TensorId> outputs_of_all(const Graph& graph, const FusedOperator& group) {
  std::vector<TensorId> outputs;
  for (const OpId op : group.operators) {
    for (const TensorId output : outputs_of(graph.op(op))) outputs.push_back(output);
  }
  return outputs;
}

Problem one_output(const GraphFacts& facts, const FusedOperator& group) {
  const std::vector<OpId> ends = ends_of(facts.graph, group);
  const std::vector<OpId> wanted = makers_of(facts.graph, results_of(group));
  const bool all_are = std::all_of(
      ends.begin(), ends.end(), [&](OpId op) { return std::find(wanted.begin(), wanted.end(), op) != wanted.end(); });
  if (ends.size() == wanted.size() && (all_are || wanted.size() == 1)) return std::nullopt;
  return fmt::format("{} results leave the group: {}", ends.size(), names_of(facts.graph, ends));
}

/// What a rule finds wrong, one place after the other: all reasons, and the changes that together lift the refusal
/// (none where one of them has none).
class Findings {
 public:
  void add(std::string reason, std::string flip) {
    reasons_.push_back(std::move(reason));
    flips_.push_back(std::move(flip));
  }
  [[nodiscard]] Problem all() const {
    if (reasons_.empty()) return std::nullopt;
    const bool all_can =
        std::none_of(flips_.begin(), flips_.end(), [](const std::string& flip) { return flip.empty(); });
    return BrokenRule(fmt::format("{}", fmt::join(reasons_, "; ")),
                      all_can ? fmt::format("{}", fmt::join(flips_, ", and ")) : std::string());
  }

 private:
  std::vector<std::string> reasons_;
  std::vector<std::string> flips_;
};

Problem inner_use(const GraphFacts& facts, const FusedOperator& group) {
  const Graph& graph = facts.graph;
  const std::vector<TensorId> leaving = results_of(group);
  Findings found;
  for (const TensorId tensor : outputs_of_all(graph, group)) {
    const GraphTensor& result = graph.tensor(tensor);
    if (is_result(leaving, tensor)) continue;
    std::vector<OpId> outside;
    for (const OpId reader : result.consumers) {
      const bool is_new = std::find(outside.begin(), outside.end(), reader) == outside.end();
      if (is_new && !holds(group, reader)) outside.push_back(reader);
    }
    // Of several outputs one may be read while another is not; nothing would store that.
    if (result.consumers.empty() && !result.is_output && outputs_of(graph.op(*result.producer)).size() > 1) {
      found.add(fmt::format("{}, a result of {}, is read by nobody in the group", result.name,
                            graph.op(*result.producer).name),
                {});
    }
    if (outside.empty()) continue;
    found.add(fmt::format("{}, the result of {}, is also read by {} outside the group", result.name,
                          graph.op(*result.producer).name, listed(graph, outside)),
              fmt::format("{} not reading {}", listed(graph, outside), result.name));
  }
  return found.all();
}

Problem network_output(const GraphFacts& facts, const FusedOperator& group) {
  const Graph& graph = facts.graph;
  const std::vector<TensorId> leaving = results_of(group);
  Findings found;
  for (const TensorId tensor : outputs_of_all(graph, group)) {
    const GraphTensor& result = graph.tensor(tensor);
    if (is_result(leaving, tensor) || !result.is_output) continue;
    found.add(
        fmt::format("{}, the result of {}, is an output of the network", result.name, graph.op(*result.producer).name),
        fmt::format("{} not being an output of the network", result.name));
  }
  return found.all();
}

Problem convex(const GraphFacts& facts, const FusedOperator& group) {
  const Graph& graph = facts.graph;
  std::size_t last = 0;
  for (const OpId op : group.operators) last = std::max(last, facts.of(op).position);
  // From every outside reader forward, as far as the group's last operator; no inner result read outside, no walk.
  std::vector<OpId> walk;
  std::set<OpId> seen;
  const auto visit = [&](OpId op) {
    if (facts.of(op).position <= last && seen.insert(op).second) walk.push_back(op);
  };
  for (const OpId op : group.operators) {
    for (const OpId reader : readers_of(graph, op)) {
      if (!holds(group, reader)) visit(reader);
    }
  }
  while (!walk.empty()) {
    const OpId op = walk.back();
    walk.pop_back();
    for (const OpId reader : readers_of(graph, op)) {
      if (!holds(group, reader)) {
        visit(reader);
      } else {
        return fmt::format("a path leaves the group and comes back through {} to {}", graph.op(op).name,
                           graph.op(reader).name);
      }
    }
  }
  return std::nullopt;
}

std::optional<OpId> anchor_of(const FusedOperator& group) {
  for (std::size_t i = 0; i < group.roles.size(); ++i) {
    if (group.roles[i] == "anchor") return group.operators[i];
  }
  return std::nullopt;
}

/// What `check` finds wrong with each operator that has a role.
template <class Check>
Problem for_role(const FusedOperator& group, std::string_view role, Check&& check) {
  Findings found;
  for (std::size_t i = 0; i < group.operators.size(); ++i) {
    if (group.roles[i] != role) continue;
    if (Problem problem = check(group.operators[i])) found.add(std::move(problem->reason), std::move(problem->flip));
  }
  return found.all();
}

Problem one_anchor(const GraphFacts& facts, const FusedOperator& group) {
  const auto anchors = std::count(group.roles.begin(), group.roles.end(), "anchor");
  if (anchors == 1) return std::nullopt;
  return fmt::format("{} has {} anchors", names_of(facts.graph, group.operators), anchors);
}

/// Of branches each epilogue is held against the anchor of its own branch.
Problem epilogue_shape(const GraphFacts& facts, const FusedOperator& group) {
  const Graph& graph = facts.graph;
  std::vector<Branch> branches;
  if (is_horizontal(group)) {
    branches = branches_of(graph, group);
  } else if (const auto anchor = anchor_of(group)) {
    branches = {{*anchor}};
    branches[0].insert(branches[0].end(), group.operators.begin(), group.operators.end());
  }
  const auto anchor_for = [&](OpId op) {
    const auto own = std::find_if(branches.begin(), branches.end(), [&](const Branch& branch) {
      return std::find(branch.begin(), branch.end(), op) != branch.end();
    });
    return own == branches.end() ? std::nullopt : std::optional(own->front());
  };
  return for_role(group, "epilogue", [&](OpId op) -> Problem {
    const auto anchor = anchor_for(op);
    if (!anchor) return std::nullopt;
    const Shape& wanted = graph.tensor(graph.op(*anchor).first_output()).shape;
    const Shape& shape = graph.tensor(graph.op(op).first_output()).shape;
    if (shape == wanted) return std::nullopt;
    return BrokenRule(fmt::format("{} has shape {}, {} has {}", graph.op(op).name, to_text(shape),
                                  graph.op(*anchor).name, to_text(wanted)),
                      fmt::format("{} having the shape {}", graph.op(op).name, to_text(wanted)));
  });
}

Problem epilogue_operands(const GraphFacts& facts, const FusedOperator& group) {
  const Graph& graph = facts.graph;
  Findings found;
  for (std::size_t i = 0; i < group.operators.size(); ++i) {
    if (group.roles[i] != "epilogue") continue;
    const Operator& op = graph.op(group.operators[i]);
    for (std::size_t slot = 0; slot < op.inputs.size(); ++slot) {
      if (!op.inputs[slot]) continue;
      const GraphTensor& operand = graph.tensor(*op.inputs[slot]);
      const OperandUse use = facts.of(group.operators[i]).operands[slot];
      if (use == OperandUse::other) {
        found.add(fmt::format("{} reads {} at other places than its own index", op.name, operand.name),
                  fmt::format("{} reading {} at its own index", op.name, operand.name));
      }
      const bool inside = operand.producer && holds(group, *operand.producer);
      if (inside && use == OperandUse::broadcast) {
        const std::string wanted = to_text(graph.tensor(op.first_output()).shape);
        found.add(fmt::format("{} of shape {}, computed inside the group, is broadcast by {} to {}", operand.name,
                              to_text(operand.shape), op.name, wanted),
                  fmt::format("{} having the shape {}", operand.name, wanted));
      }
    }
  }
  return found.all();
}

Problem prologue_element(const GraphFacts& facts, const FusedOperator& group) {
  const Graph& graph = facts.graph;
  return for_role(group, "prologue", [&](OpId id) -> Problem {
    if (facts.of(id).reduces) {
      return BrokenRule(fmt::format("{} ({}) reduces", graph.op(id).name, graph.op(id).kind),
                        fmt::format("a template that takes {} as 'producer'", graph.op(id).name));
    }
    if (facts.of(id).kind == FusionKind::opaque) {
      return fmt::format("{} ({}) reads at places that depend on data", graph.op(id).name, graph.op(id).kind);
    }
    return std::nullopt;
  });
}

Problem producer_places(const GraphFacts& facts, const FusedOperator& group) {
  return for_role(group, "producer", [&](OpId id) -> Problem {
    if (facts.of(id).kind != FusionKind::opaque) return std::nullopt;
    return fmt::format("{} ({}) reads at places that depend on data", facts.graph.op(id).name, facts.graph.op(id).kind);
  });
}

Problem view_role(const GraphFacts& facts, const FusedOperator& group) {
  return for_role(group, "view", [&](OpId id) -> Problem {
    if (facts.of(id).is_view) return std::nullopt;
    return BrokenRule(
        fmt::format("{} ({}) moves or computes elements", facts.graph.op(id).name, facts.graph.op(id).kind),
        fmt::format("a template that takes {} as 'producer'", facts.graph.op(id).name));
  });
}

Problem branches_apart(const GraphFacts& facts, const FusedOperator& group) {
  if (!is_horizontal(group)) return std::nullopt;
  const Graph& graph = facts.graph;
  const std::vector<Branch> branches = branches_of(graph, group);
  for (const Branch& reader : branches) {
    for (const Branch& read : branches) {
      if (&read == &reader) continue;
      for (const OpId op : reader) {
        for (const auto& operand : graph.op(op).inputs) {
          if (!operand || !graph.tensor(*operand).producer) continue;
          const OpId producer = *graph.tensor(*operand).producer;
          if (std::find(read.begin(), read.end(), producer) == read.end()) continue;
          return BrokenRule(fmt::format("{} reads {}, the result of its branch {}", graph.op(op).name,
                                        graph.tensor(*operand).name, graph.op(producer).name),
                            fmt::format("{} not reading {}", graph.op(op).name, graph.tensor(*operand).name));
        }
      }
    }
  }
  return std::nullopt;
}

/// Why the branches of a group of branches cannot be one operator, or how they would be one.
std::variant<StackedStages, Decision> stack_of(const Graph& graph, const std::vector<Branch>& branches) {
  std::vector<StageList> lists;
  for (const Branch& branch : branches) lists.push_back(branch_stages(graph, branch));
  return stack_stages(graph, lists, branches);
}

Problem not_stacked(const GraphFacts& facts, const FusedOperator& group, std::string_view rule) {
  if (!is_horizontal(group) || branches_apart(facts, group)) return std::nullopt;
  const auto stacked = stack_of(facts.graph, branches_of(facts.graph, group));
  const auto* refused = std::get_if<Decision>(&stacked);
  if (refused == nullptr || refused->rule != rule) return std::nullopt;
  return BrokenRule(refused->reason, refused->flip);
}

Problem branches_alike(const GraphFacts& facts, const FusedOperator& group) {
  return not_stacked(facts, group, "branches-alike");
}

Problem branches_parameters(const GraphFacts& facts, const FusedOperator& group) {
  return not_stacked(facts, group, "branches-parameters");
}

Problem branches_place(const GraphFacts& facts, const FusedOperator& group) {
  if (!is_horizontal(group) || branches_apart(facts, group)) return std::nullopt;
  const Graph& graph = facts.graph;
  const auto stacked = stack_of(graph, branches_of(graph, group));
  if (!std::holds_alternative<StackedStages>(stacked)) return std::nullopt;
  const auto& [axis, parts] = std::get<StackedStages>(stacked).result();
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const GraphTensor& a = graph.tensor(parts[i]);
    const GraphTensor& b = graph.tensor(parts[i + 1]);
    const StorageBox box = box_of(graph, parts[i]);
    const StorageBox next = box_of(graph, parts[i + 1]);
    const StorageBox wanted{box.storage, box.offset + a.shape[axis] * box.strides[axis], box.strides};
    if (same_box(b.shape, next, wanted)) continue;
    const auto place = [&](const GraphTensor& tensor, const StorageBox& lies) {
      return tensor.inside ? fmt::format("{} lies {}", tensor.name, to_text(graph, lies))
                           : fmt::format("{} has memory of its own", tensor.name);
    };
    return fmt::format("{}, {}", place(a, box), place(b, next));
  }
  return std::nullopt;
}

constexpr LegalityRule rules[] = {
    {"one-anchor", RuleScope::structure, "a group has exactly one anchor", one_anchor},
    {"one-output", RuleScope::structure, "exactly one operator's result leaves a group; of branches, one of each",
     one_output},
    {"inner-use", RuleScope::structure, "a result inside a group is read inside the group only", inner_use},
    {"network-output", RuleScope::structure, "a result inside a group is not an output of the network", network_output},
    {"convex", RuleScope::structure, "no path between two operators of a group leads through one outside", convex},
    {"epilogue-shape", RuleScope::structure, "an epilogue has the shape of its anchor's result", epilogue_shape},
    {"epilogue-operands", RuleScope::structure,
     "an epilogue reads results of its group at its own index, other operands there or with dimensions dropped",
     epilogue_operands},
    {"prologue-element", RuleScope::structure,
     "a prologue computes every element by itself, without a reduction, from places known in advance",
     prologue_element},
    {"producer-places", RuleScope::structure, "a producer reads at places known in advance", producer_places},
    {"view-role", RuleScope::structure, "an operator in the role of a view only re-indexes", view_role},
    {"branches-apart", RuleScope::structure, "branches do not read each other's results", branches_apart},
    {"branches-alike", RuleScope::structure, "branches compute the same, channel by channel, and differ in parameters",
     branches_alike},
    {"branches-parameters", RuleScope::structure,
     "what branches do not share are constants of their own, with a dimension that is the results' own",
     branches_parameters},
    {"branches-place", RuleScope::structure, "the results of branches lie side by side in main memory", branches_place},
    {ldm_capacity_rule, RuleScope::lowering, "the smallest buffers of a group fit the scratchpad", nullptr},
    {dma_alignment_rule, RuleScope::lowering,
     "the transfers of a group are aligned as the machine's DMA asks, but for those that its operators alone make "
     "unaligned too",
     nullptr},
    {"padded-intermediate", RuleScope::lowering, "all that read outside of an intermediate see the same padding there",
     nullptr},
    {"table-in-window", RuleScope::lowering,
     "nothing that reads at places from a table (an interpolating Resize) is computed for a reader that looks outside",
     nullptr},
    {schedule_rule, RuleScope::lowering, "a schedule that a person fixed can be completed for the group", nullptr},
    {"taken", RuleScope::choice, "an operator belongs to one group only, and greedy gives it to the first", nullptr},
    {"slower-than-parts", RuleScope::choice,
     "a group that greedy takes costs no more cycles than what the templates behind make of its operators", nullptr},
    {"circle", RuleScope::choice, "a group and those that greedy took before do not wait for each other in a circle",
     nullptr},
    {fixed_rule, RuleScope::choice,
     "a group that a person fixes is one that some template takes, and no other has its operators", nullptr},
    {"search-limit", RuleScope::choice,
     "a template's search from one operator ends after 20,000 tries or 200 groups, and of all its groups the smallest "
     "32 for each operator of the network are candidates, at least 2,000",
     nullptr},
    {"repeat-limit", RuleScope::choice,
     "a repeated vertex of a template stands for at most as many operators as the template says", nullptr},
    {"out-of-time", RuleScope::choice, "where planning has a time limit, a group was planned within it", nullptr},
    {"adjacent-taps", RuleScope::folding, "a transposed convolution that is computed by phases has no dilation",
     nullptr},
    {"auto-pad", RuleScope::folding, "a window that padding folds into names its pads instead of computing them",
     nullptr},
    {"ceil-mode", RuleScope::folding, "a window that padding folds into rounds its extents down", nullptr},
    {"channel-blocks", RuleScope::folding,
     "all that read or write a picture, and what must lie like it, can have channels in blocks", nullptr},
    {"constant-weights", RuleScope::folding, "weights and bias that something folds into are constants", nullptr},
    {"count-include-pad", RuleScope::folding,
     "an average that padding folds into counts padding, or has none of its own", nullptr},
    {"element-type", RuleScope::folding, "weights that something folds into are f32 or f64", nullptr},
    {"few-zeros", RuleScope::folding,
     "a transposed convolution that is computed by phases has 16 times as many weights at most, zeros included",
     nullptr},
    {"finite", RuleScope::folding, "folded parameters are finite numbers", nullptr},
    {"no-bias-operand", RuleScope::folding, "what a shift folds into has an operand for a bias", nullptr},
    {"pad-place", RuleScope::folding, "padding that folds adds elements along dimensions of the window", nullptr},
    {"pad-value", RuleScope::folding, "padding that folds is constant and zero", nullptr},
    {"per-channel", RuleScope::folding, "what folds is one value for each channel", nullptr},
};

}  // namespace

std::string_view name_of(RuleScope scope) {
  switch (scope) {
    case RuleScope::structure: return "structure";
    case RuleScope::lowering: return "lowering";
    case RuleScope::choice: return "choice";
    case RuleScope::folding: return "folding";
  }
  fail_check("unknown scope of a rule");
}

std::span<const LegalityRule> legality_rules() { return rules; }

std::vector<Decision> refusals(const GraphFacts& facts, const FusedOperator& group) {
  std::vector<Decision> found;
  for (const LegalityRule& rule : rules) {
    if (rule.broken == nullptr) continue;
    if (Problem problem = rule.broken(facts, group)) {
      found.push_back(Decision::refuse(std::string(rule.name), std::move(problem->reason), std::move(problem->flip)));
    }
  }
  return found;
}

std::string change_of_structure(const GraphFacts& facts, const FusedOperator& group,
                                const std::vector<Decision>& broken) {
  if (broken.size() == 1 && !broken.front().flip.empty()) return broken.front().flip;
  const IsLegal legal = [&](const FusedOperator& changed) {
    return std::none_of(std::begin(rules), std::end(rules), [&](const LegalityRule& rule) {
      return rule.broken != nullptr && rule.broken(facts, changed);
    });
  };
  std::vector<std::string> changes;
  for (const auto change : {change_of_roles, change_to_one_output, change_to_convex}) {
    if (std::string text = change(facts, group, legal); !text.empty()) changes.push_back(std::move(text));
    if (!changes.empty()) break;
  }
  // A way that leaves the group and comes back begins at a result that is read outside, and never at its last one.
  const bool all_by_readers = std::all_of(broken.begin(), broken.end(), [](const Decision& refusal) {
    return refusal.rule == "inner-use" || refusal.rule == "convex";
  });
  for (const Decision& refusal : broken) {
    if (all_by_readers && refusal.rule == "inner-use") changes.push_back(refusal.flip);
  }
  return fmt::format("{}", fmt::join(changes, ", or "));
}

}  // namespace stowage
