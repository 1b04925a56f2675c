// SPDX-License-Identifier: Apache-2.0
#include "fusion/groups/horizontal_fusion.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/operators.h"
#include "core/same_padding.h"
#include "core/storage_box.h"
#include "fusion/groups/group.h"

namespace stowage {
namespace {

TensorId result_of(const Graph& graph, const Branch& branch) { return graph.op(branch.back()).output; }

Decision unlike(std::string reason, std::string flip = {}) {
  return Decision::refuse("branches-alike", std::move(reason), std::move(flip));
}

Decision other_parameters(std::string reason) { return Decision::refuse("branches-parameters", std::move(reason)); }

/// Text and types of an expression, so that equal ones compute the same.
std::string exact_text(const ScalarExpr& e) {
  if (!e) return "nothing";
  const auto axis = [](VarId a) { return fmt::format("a{}", a.index()); };
  std::string text = to_text(
      e, [](int read) { return fmt::format("#{}", read); },
      [&](const IndexExpr& index) { return to_text(index, axis); });
  visit_nodes(e, [&](const ScalarNode& node) { text += fmt::format(" {}", name_of(node.type)); });
  return text;
}

bool same_value(const StageTensor& a, const StageTensor& b) {
  if (a.source && a.source == b.source) return true;
  if (!a.value || !b.value || a.value->type() != b.value->type() || a.value->shape() != b.value->shape()) return false;
  return std::equal(a.value->bytes().begin(), a.value->bytes().end(), b.value->bytes().begin(), b.value->bytes().end());
}

bool uses_index(const ScalarExpr& e, VarId axis) {
  bool uses = false;
  if (!e) return false;
  visit_nodes(e, [&](const ScalarNode& node) {
    const auto* index = std::get_if<ScalarNode::Index>(&node.value);
    uses = uses || (index != nullptr && variables_of(index->value).contains(axis));
  });
  return uses;
}

/// Puts the lists of branches together along one dimension of their results.
class Stacker {
 public:
  Stacker(const Graph& graph, std::span<const StageList> lists, std::span<const Branch> of)
      : graph_(graph), lists_(lists), of_(of), first_(lists.front()) {}

  std::variant<StackedStages, Decision> run() {
    for (std::size_t i = 1; i < lists_.size(); ++i) {
      if (auto different = compare_operators(i)) return *std::move(different);
      if (auto different = compare_stages(i)) return *std::move(different);
    }
    std::optional<Decision> refused;
    for (std::size_t axis = 0; axis < output().shape.size(); ++axis) {
      auto tried = along(axis);
      if (!tried) return stacked();
      // The refusal that says most is the one of the dimension that is nobody else's.
      if (!refused || !shared_dimension_) refused = std::move(tried);
    }
    return refused ? *std::move(refused) : unlike("their results are single numbers");
  }

 private:
  [[nodiscard]] const StageTensor& tensor(std::size_t list, std::size_t t) const { return lists_[list].tensors[t]; }
  [[nodiscard]] const std::string& name(std::size_t list) const { return graph_.op(of_[list].front()).name; }

  [[nodiscard]] const StageTensor& output() const {
    return first_.tensors[static_cast<std::size_t>(first_.stages.back().output)];
  }

  /// Kinds and attributes, because a person thinks in these.
  [[nodiscard]] std::optional<Decision> compare_operators(std::size_t i) const {
    if (of_[i].size() != of_[0].size()) {
      return unlike(fmt::format("{} has {} operators, {} has {}", names_of(graph_, of_[i]), of_[i].size(),
                                names_of(graph_, of_[0]), of_[0].size()));
    }
    for (std::size_t k = 0; k < of_[i].size(); ++k) {
      const Operator& a = graph_.op(of_[0][k]);
      const Operator& b = graph_.op(of_[i][k]);
      if (a.kind != b.kind) return unlike(fmt::format("{} is {}, {} is {}", b.name, b.kind, a.name, a.kind));
    }
    return std::nullopt;
  }

  /// The attribute in which operators differ, where it is one; a difference of stages may come from it.
  [[nodiscard]] std::pair<std::string, std::string> attribute_difference(std::size_t i) const {
    std::vector<std::string> found;
    std::string flip;
    for (std::size_t k = 0; k < of_[i].size(); ++k) {
      const Operator& a = graph_.op(of_[0][k]);
      const Operator& b = graph_.op(of_[i][k]);
      std::map<std::string, std::pair<std::string, std::string>> values;
      for (const auto& [key, value] : a.attributes) values[key].first = to_text(value);
      for (const auto& [key, value] : b.attributes) values[key].second = to_text(value);
      for (const auto& [key, both] : values) {
        if (both.first == both.second) continue;
        const auto or_default = [](const std::string& text) { return text.empty() ? "of the default" : text; };
        found.push_back(fmt::format("{} has {} {}, {} has {}", b.name, key, or_default(both.second), a.name,
                                    or_default(both.first)));
        flip = fmt::format("{} with {} {}", b.name, key, or_default(both.first));
      }
    }
    std::string text;
    for (const std::string& one : found) text += (text.empty() ? "" : "; ") + one;
    return {text, found.size() == 1 ? flip : ""};
  }

  [[nodiscard]] std::optional<Decision> compare_stages(std::size_t i) const {
    const StageList& other = lists_[i];
    const auto different = [&](std::string what) {
      auto [attributes, flip] = attribute_difference(i);
      return unlike(attributes.empty() ? std::move(what) : std::move(attributes), std::move(flip));
    };
    bool same = other.stages.size() == first_.stages.size() && other.tensors.size() == first_.tensors.size();
    for (std::size_t s = 0; same && s < first_.stages.size(); ++s) same = alike(first_.stages[s], other.stages[s]);
    if (!same) return different(fmt::format("{} is not computed as {} is", name(i), name(0)));
    for (std::size_t t = 0; t < first_.tensors.size(); ++t) {
      const StageTensor& a = first_.tensors[t];
      const StageTensor& b = other.tensors[t];
      if (std::pair(a.role, b.role) == std::pair(TensorRole::constant, TensorRole::input)) {
        return other_parameters(fmt::format("{} reads {}, which is no constant", name(i), b.name));
      }
      if (a.type != b.type || a.role != b.role || a.shape.size() != b.shape.size()) {
        return different(fmt::format("{} is {}{}, {} is {}{}", b.name, name_of(b.type), to_text(b.shape), a.name,
                                     name_of(a.type), to_text(a.shape)));
      }
    }
    return std::nullopt;
  }

  static bool alike(const Stage& a, const Stage& b) {
    const bool same_form = a.output == b.output && a.axes.size() == b.axes.size() && a.spatial == b.spatial &&
                           a.reduction == b.reduction && a.reads.size() == b.reads.size() &&
                           exact_text(a.body) == exact_text(b.body) && exact_text(a.finish) == exact_text(b.finish);
    return same_form &&
           std::equal(a.reads.begin(), a.reads.end(), b.reads.begin(), [](const Access& x, const Access& y) {
             return x.tensor == y.tensor && x.index == y.index && same_padding(x.padding, y.padding);
           });
  }

  /// Finds of every tensor the dimension in which the axis runs. Nothing if they can be stacked along it.
  std::optional<Decision> along(std::size_t axis) {
    axis_of_.assign(first_.tensors.size(), std::nullopt);
    seen_.assign(first_.tensors.size(), false);
    stage_axis_.assign(first_.stages.size(), 0);
    shared_dimension_ = false;
    axis_of_[static_cast<std::size_t>(first_.stages.back().output)] = axis;
    for (std::size_t s = first_.stages.size(); s-- > 0;) {
      if (auto refused = through(s)) return refused;
    }
    for (std::size_t t = 0; t < first_.tensors.size(); ++t) {
      if (auto refused = judge_tensor(t)) return refused;
    }
    return judge_axes();
  }

  std::optional<Decision> through(std::size_t s) {
    const Stage& stage = first_.stages[s];
    const auto& of_output = axis_of_[static_cast<std::size_t>(stage.output)];
    if (!of_output) return unlike(fmt::format("{} is one for all channels", stage.name));
    stage_axis_[s] = *of_output;
    const VarId axis(*of_output);
    if (uses_index(stage.body, axis) || uses_index(stage.finish, axis)) {
      return unlike(fmt::format("{} computes with the number of the channel", stage.name));
    }
    for (const Access& access : stage.reads) {
      const auto t = static_cast<std::size_t>(access.tensor);
      std::optional<std::size_t> found;
      for (std::size_t d = 0; d < access.index.size(); ++d) {
        if (!variables_of(access.index[d]).contains(axis)) continue;
        if (tensor(0, t).role == TensorRole::input) return judge_input(t);
        if (found || !access.index[d].is_variable(axis)) {
          return unlike(fmt::format("{} does not read {} channel by channel", stage.name, tensor(0, t).name));
        }
        found = d;
      }
      if (seen_[t] && axis_of_[t] != found) {
        return unlike(fmt::format("{} is read channel by channel and as a whole", tensor(0, t).name));
      }
      seen_[t] = true;
      axis_of_[t] = found;
    }
    return std::nullopt;
  }

  /// One that is read along the axis.
  Decision judge_input(std::size_t t) {
    const StageTensor& a = tensor(0, t);
    for (std::size_t i = 1; i < lists_.size(); ++i) {
      const StageTensor& b = tensor(i, t);
      if (a.source == b.source) continue;
      return other_parameters(
          fmt::format("{} reads {}, {} reads {}, and these are no constants", name(i), b.name, name(0), a.name));
    }
    shared_dimension_ = true;
    return other_parameters(fmt::format("{} is read along every dimension of their results", a.name));
  }

  [[nodiscard]] std::optional<Decision> judge_tensor(std::size_t t) const {
    const StageTensor& a = first_.tensors[t];
    for (std::size_t i = 1; i < lists_.size(); ++i) {
      const StageTensor& b = tensor(i, t);
      if (!axis_of_[t]) {
        if (a.role == TensorRole::intermediate || same_value(a, b)) continue;
        if (a.role == TensorRole::input) {
          return other_parameters(
              fmt::format("{} reads {}, {} reads {}, and these are no constants", name(i), b.name, name(0), a.name));
        }
        return other_parameters(fmt::format("{} and {} differ, and are not one value a channel", b.name, a.name));
      }
      Shape shape = b.shape;
      shape[*axis_of_[t]] = a.shape[*axis_of_[t]];
      if (shape != a.shape) {
        return unlike(fmt::format("{} has shape {}, {} has {}", b.name, to_text(b.shape), a.name, to_text(a.shape)));
      }
      if (a.role == TensorRole::constant && (!a.source || !b.source || a.source == b.source)) {
        return other_parameters(fmt::format("{} and {} have {} in common", name(i), name(0), a.name));
      }
    }
    return std::nullopt;
  }

  std::optional<Decision> judge_axes() const {
    for (std::size_t s = 0; s < first_.stages.size(); ++s) {
      for (std::size_t i = 1; i < lists_.size(); ++i) {
        for (std::size_t a = 0; a < first_.stages[s].axes.size(); ++a) {
          const std::int64_t here = lists_[i].stages[s].axes[a].extent;
          const std::int64_t there = first_.stages[s].axes[a].extent;
          if (a == stage_axis_[s] || here == there) continue;
          return unlike(fmt::format("{} runs to {} in {}, to {} in {}", first_.stages[s].axes[a].name, here, name(i),
                                    there, name(0)));
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] StackedStages stacked() const {
    StackedStages result{first_, {}};
    for (std::size_t s = 0; s < first_.stages.size(); ++s) {
      std::int64_t& extent = result.list.stages[s].axes[stage_axis_[s]].extent;
      for (std::size_t i = 1; i < lists_.size(); ++i) extent += lists_[i].stages[s].axes[stage_axis_[s]].extent;
    }
    result.parts.resize(first_.tensors.size());
    for (std::size_t t = 0; t < first_.tensors.size(); ++t) {
      if (!axis_of_[t]) continue;
      StageTensor& whole = result.list.tensors[t];
      for (std::size_t i = 1; i < lists_.size(); ++i) whole.shape[*axis_of_[t]] += tensor(i, t).shape[*axis_of_[t]];
      if (whole.source) {  // an operator of several stages has intermediates that are no tensors of the graph
        StackedStages::Part part{*axis_of_[t], {}};
        for (std::size_t i = 0; i < lists_.size(); ++i) part.tensors.push_back(*tensor(i, t).source);
        result.parts[t] = std::move(part);
      }
      whole.source.reset();
      whole.value.reset();
      whole.strides.clear();
    }
    return result;
  }

  const Graph& graph_;
  std::span<const StageList> lists_;
  std::span<const Branch> of_;
  const StageList& first_;
  std::vector<std::optional<std::size_t>> axis_of_;  ///< by tensor
  std::vector<bool> seen_;                           ///< by tensor
  std::vector<std::size_t> stage_axis_;              ///< by stage
  bool shared_dimension_ = false;                    ///< what was tried last belongs to a tensor that is shared
};

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
    if (!only_constants || graph.tensor(reader.output).shape != result.shape) break;
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

const StackedStages::Part& StackedStages::result() const {
  const auto& part = parts[static_cast<std::size_t>(list.stages.back().output)];
  check(part.has_value(), "results are stacked");
  return *part;
}

std::variant<StackedStages, Decision> stack_stages(const Graph& graph, std::span<const StageList> lists,
                                                   std::span<const Branch> of) {
  check(!lists.empty() && lists.size() == of.size(), "a list for every branch");
  return Stacker(graph, lists, of).run();
}

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
        return std::find(operands.begin(), operands.end(), graph.op(earlier).output) != operands.end();
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

std::optional<std::string> broken_stacks(const Graph& graph, const FusedOperator& group) {
  if (!is_horizontal(group)) {
    return group.stacks.empty() ? std::nullopt : std::optional<std::string>("it has stacks and no branches");
  }
  const auto branches = find_branches(graph, group);
  if (!branches) return "an operator belongs to none of its branches";
  std::vector<StageList> lists;
  for (const Branch& branch : *branches) {
    for (std::size_t i = 1; i < branch.size(); ++i) {
      const auto& operands = graph.op(branch[i]).inputs;
      if (std::find(operands.begin(), operands.end(), graph.op(branch[i - 1]).output) != operands.end()) continue;
      return fmt::format("{} does not read {}", graph.op(branch[i]).name, graph.op(branch[i - 1]).name);
    }
    lists.push_back(branch_stages(graph, branch));
  }
  const auto stacked = stack_stages(graph, lists, *branches);
  if (const auto* refused = std::get_if<Decision>(&stacked)) return refused->reason;
  const auto& [list, parts] = std::get<StackedStages>(stacked);
  std::size_t wanted = 0;
  for (std::size_t t = 0; t < parts.size(); ++t) {
    const StageTensor& tensor = list.tensors[t];
    if (!parts[t] || tensor.role == TensorRole::intermediate) continue;
    ++wanted;
    const auto stack = std::find_if(group.stacks.begin(), group.stacks.end(), [&held = *parts[t]](const auto& row) {
      return row.parts == held.tensors && row.axis == held.axis;
    });
    if (stack == group.stacks.end()) return fmt::format("no stack holds {}", tensor.name);
    const GraphTensor& whole = graph.tensor(stack->whole);
    if (whole.type != tensor.type || whole.shape != tensor.shape) {
      return fmt::format("{} is {}{}, its parts make {}{}", whole.name, name_of(whole.type), to_text(whole.shape),
                         name_of(tensor.type), to_text(tensor.shape));
    }
    const bool is_result = tensor.role == TensorRole::output;
    if (is_result != (stack->whole == group.output) || is_result == whole.constant.has_value() || whole.producer ||
        whole.is_input) {
      return fmt::format("{} is no stack of {}", whole.name, is_result ? "results" : "parameters");
    }
  }
  if (wanted != group.stacks.size()) return fmt::format("{} stacks, {} were wanted", group.stacks.size(), wanted);
  return std::nullopt;
}

StageList branch_stages(const Graph& graph, const Branch& branch) {
  FusedOperator alone;
  alone.operators = branch;
  alone.output = result_of(graph, branch);
  alone.inputs = outside_inputs(graph, branch);
  return group_stages(graph, alone);
}

std::vector<BranchFamily> find_branch_families(const Graph& graph) {
  std::vector<BranchFamily> families;
  for (const GraphTensor& shared : graph.tensors()) {
    if ((!shared.producer && !shared.is_input) || shared.consumers.size() < 2) continue;
    std::vector<Branch> branches;
    for (const OpId reader : shared.consumers) {
      const bool has_elements = element_count(graph.tensor(graph.op(reader).output).shape) > 0;
      if (!has_elements || fusion_kind(define_operator(graph, reader).list) != FusionKind::anchor) continue;
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
    for (std::size_t t = 0; t < parts.size(); ++t) {
      if (!parts[t] || list.tensors[t].role == TensorRole::intermediate) continue;
      group.stacks.push_back({whole_of(*parts[t], list.tensors[t]), parts[t]->tensors, parts[t]->axis});
      if (list.tensors[t].role == TensorRole::output) group.output = group.stacks.back().whole;
    }
  }
  if (any) fused.graph = std::move(builder).build();
  return fused;
}

}  // namespace stowage
