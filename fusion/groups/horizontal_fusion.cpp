// SPDX-License-Identifier: Apache-2.0
#include "fusion/groups/horizontal_fusion.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/operators.h"
#include "core/storage_box.h"
#include "fusion/groups/group.h"

namespace stowage {
namespace {

TensorId result_of(const Graph& graph, const Branch& branch) { return graph.op(branch.back()).first_output(); }

/// An operator and the element-wise ones behind it, as far as each is the only reader of the one before and reads
/// constants besides.
Branch branch_from(const Graph& graph, OpId op) {
  constexpr std::size_t longest = 8;
  Branch branch{op};
  while (branch.size() < longest) {
    const GraphTensor& result = graph.tensor(result_of(graph, branch));
    if (result.is_output || result.consumers.size() != 1) break;
    const Operator& reader = graph.op(result.consumers.front());
    const bool only_constants = std::all_of(reader.inputs.begin(), reader.inputs.end(), [&](const auto& operand) {
      return !operand || *operand == result_of(graph, branch) || graph.tensor(*operand).constant;
    });
    if (!only_constants || outputs_of(reader).size() > 1 || graph.tensor(reader.first_output()).shape != result.shape)
      break;
    const OperatorDefinition definition = define_operator(graph, result.consumers.front());
    if (definition.is_view || fusion_kind(definition.list) > FusionKind::broadcast) break;
    branch.push_back(result.consumers.front());
  }
  return branch;
}

/// The families among some branches, cut to `length`; with longer ones before.
void add_families(const Graph& graph, const std::vector<Branch>& branches, std::size_t length,
                  std::vector<BranchFamily>& families) {
  struct Cluster {
    std::vector<Branch> whole;  ///< as long as they are
    BranchFamily family;
    StageList first;
  };
  std::vector<Cluster> clusters;
  for (const Branch& branch : branches) {
    if (branch.size() < length) continue;
    const Branch cut(branch.begin(), branch.begin() + static_cast<std::ptrdiff_t>(length));
    StageList list = branch_stages(graph, cut);
    const auto joins = [&](Cluster& cluster) {
      const StageList lists[] = {cluster.first, list};
      const Branch of[] = {cluster.family.branches.front(), cut};
      const auto stacked = stack_stages(graph, lists, of);
      if (!std::holds_alternative<StackedStages>(stacked)) return false;
      cluster.family.axis = std::get<StackedStages>(stacked).result().axis;
      return true;
    };
    auto cluster = std::find_if(clusters.begin(), clusters.end(), joins);
    if (cluster == clusters.end()) {
      cluster = clusters.insert(clusters.end(), Cluster{{}, {}, std::move(list)});
    }
    cluster->whole.push_back(branch);
    cluster->family.branches.push_back(cut);
  }
  for (Cluster& cluster : clusters) {
    if (cluster.whole.size() < 2) continue;
    add_families(graph, cluster.whole, length + 1, families);
    families.push_back(std::move(cluster.family));
  }
}

}  // namespace

bool is_horizontal(const FusedOperator& group) {
  return std::find(group.roles.begin(), group.roles.end(), "branch") != group.roles.end();
}

namespace {

/// Nothing where an operator belongs to no branch.
std::optional<std::vector<Branch>> find_branches(const Graph& graph, const FusedOperator& group) {
  std::vector<Branch> branches;
  for (std::size_t i = 0; i < group.operators.size(); ++i) {
    const OpId op = group.operators[i];
    if (group.roles[i] == "anchor" || group.roles[i] == "branch") {
      branches.push_back({op});
      continue;
    }
    const auto reads = [&](const Branch& branch) {
      const auto& operands = graph.op(op).inputs;
      return std::any_of(branch.begin(), branch.end(), [&](OpId earlier) {
        return std::find(operands.begin(), operands.end(), graph.op(earlier).first_output()) != operands.end();
      });
    };
    const auto found = std::find_if(branches.begin(), branches.end(), reads);
    if (found == branches.end()) return std::nullopt;
    found->push_back(op);
  }
  const auto offset = [&](const Branch& branch) { return box_of(graph, result_of(graph, branch)).offset; };
  std::stable_sort(branches.begin(), branches.end(),
                   [&](const Branch& a, const Branch& b) { return offset(a) < offset(b); });
  return branches;
}

}  // namespace

std::vector<Branch> branches_of(const Graph& graph, const FusedOperator& group) {
  auto branches = find_branches(graph, group);
  check(branches.has_value(), "an operator of a group of branches that belongs to none");
  return *std::move(branches);
}

std::vector<TensorStack> results_of_branches(const Graph& graph, const FusedOperator& group) {
  const auto branches = is_horizontal(group) ? find_branches(graph, group) : std::nullopt;
  if (!branches) return results_of_operator(graph.op(group.operators.back()));
  std::vector<TensorStack> results;
  for (const Branch& branch : *branches) {
    const auto of_branch = results_of_operator(graph.op(branch.back()));
    results.insert(results.end(), of_branch.begin(), of_branch.end());
  }
  return results;
}

std::optional<std::string> broken_stacks(const Graph& graph, const FusedOperator& group) {
  if (!is_horizontal(group)) {
    const bool joins = std::any_of(group.results.begin(), group.results.end(),
                                   [](const TensorStack& result) { return result.joins(); });
    return group.parameters.empty() && !joins ? std::nullopt
                                              : std::optional<std::string>("it has stacks and no branches");
  }
  const auto branches = find_branches(graph, group);
  if (!branches) return "an operator belongs to none of its branches";
  std::vector<StageList> lists;
  for (const Branch& branch : *branches) {
    for (std::size_t i = 1; i < branch.size(); ++i) {
      const auto& operands = graph.op(branch[i]).inputs;
      if (std::find(operands.begin(), operands.end(), graph.op(branch[i - 1]).first_output()) != operands.end())
        continue;
      return fmt::format("{} does not read {}", graph.op(branch[i]).name, graph.op(branch[i - 1]).name);
    }
    lists.push_back(branch_stages(graph, branch));
  }
  const auto stacked = stack_stages(graph, lists, *branches);
  if (const auto* refused = std::get_if<Decision>(&stacked)) return refused->reason;
  const auto& [list, parts] = std::get<StackedStages>(stacked);
  std::size_t wanted = 0;
  for (const StageTensorId t : parts.ids()) {
    const StageTensor& tensor = list.tensors[t];
    if (!parts[t] || tensor.role == TensorRole::intermediate) continue;
    ++wanted;
    const bool is_result = tensor.role == TensorRole::output;
    const std::vector<TensorStack>& stacks = is_result ? group.results : group.parameters;
    const auto stack = std::find_if(stacks.begin(), stacks.end(), [&held = *parts[t]](const auto& row) {
      return row.parts == held.tensors && row.axis == held.axis;
    });
    if (stack == stacks.end()) return fmt::format("no stack holds {}", tensor.name);
    const GraphTensor& whole = graph.tensor(stack->whole);
    if (whole.type != tensor.type || whole.shape != tensor.shape) {
      return fmt::format("{} is {}{}, its parts make {}{}", whole.name, name_of(whole.type), to_text(whole.shape),
                         name_of(tensor.type), to_text(tensor.shape));
    }
    if (is_result == whole.constant.has_value() || whole.producer || whole.is_input) {
      return fmt::format("{} is no stack of {}", whole.name, is_result ? "results" : "parameters");
    }
  }
  const std::size_t found = group.parameters.size() + group.results.size();
  if (wanted != found) return fmt::format("{} stacks, {} were wanted", found, wanted);
  return std::nullopt;
}

StageList branch_stages(const Graph& graph, const Branch& branch) {
  FusedOperator alone;
  alone.operators = branch;
  alone.results = results_of_operator(graph.op(branch.back()));
  alone.inputs = outside_inputs(graph, branch);
  return group_stages(graph, alone);
}

std::vector<BranchFamily> find_branch_families(const Graph& graph) {
  std::vector<BranchFamily> families;
  for (const GraphTensor& shared : graph.tensors()) {
    if ((!shared.producer && !shared.is_input) || shared.consumers.size() < 2) continue;
    std::vector<Branch> branches;
    for (const OpId reader : shared.consumers) {
      const bool has_elements = element_count(graph.tensor(graph.op(reader).first_output()).shape) > 0;
      if (!has_elements || outputs_of(graph.op(reader)).size() > 1 ||
          fusion_kind(define_operator(graph, reader).list) != FusionKind::anchor)
        continue;
      branches.push_back(branch_from(graph, reader));
    }
    if (branches.size() > 1) add_families(graph, branches, 1, families);
  }
  return families;
}

FusedGraph with_stacks(FusedGraph fused) {
  GraphBuilder builder(fused.graph);
  std::map<std::vector<TensorId>, TensorId> known;
  const auto whole_of = [&](const StackedStages::Part& part, const StageTensor& tensor) {
    const auto found = known.find(part.tensors);
    if (found != known.end()) return found->second;
    const GraphTensor first = builder.tensor(part.tensors.front());
    const std::string name = builder.unique_name(first.name + "_stack");
    if (first.constant) {
      std::vector<Tensor> values;
      for (const TensorId id : part.tensors) values.push_back(*builder.tensor(id).constant);
      return known[part.tensors] = builder.add_constant(name, concatenated(values, part.axis));
    }
    check(first.inside.has_value(), "results of branches without a place");
    const TensorId whole = builder.add_storage(name, tensor.type, tensor.shape);
    builder.place(whole, first.inside);
    return known[part.tensors] = whole;
  };
  bool any = false;
  for (FusedOperator& group : fused.groups) {
    if (!is_horizontal(group)) continue;
    any = true;
    std::vector<StageList> lists;
    const std::vector<Branch> branches = branches_of(fused.graph, group);
    for (const Branch& branch : branches) lists.push_back(branch_stages(fused.graph, branch));
    const auto stacked = stack_stages(fused.graph, lists, branches);
    check(std::holds_alternative<StackedStages>(stacked), "a group of branches that are not alike");
    const auto& [list, parts] = std::get<StackedStages>(stacked);
    group.results.clear();
    for (const StageTensorId t : parts.ids()) {
      if (!parts[t] || list.tensors[t].role == TensorRole::intermediate) continue;
      std::vector<TensorStack>& stacks = list.tensors[t].role == TensorRole::output ? group.results : group.parameters;
      stacks.push_back({whole_of(*parts[t], list.tensors[t]), parts[t]->tensors, parts[t]->axis});
    }
  }
  if (any) fused.graph = std::move(builder).build();
  return fused;
}

}  // namespace stowage
