// SPDX-License-Identifier: Apache-2.0
// The lists of several branches as one list: along which dimensions what is theirs alone lies one behind the other.
#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"
#include "core/same_padding.h"
#include "fusion/groups/group.h"
#include "fusion/groups/horizontal_fusion.h"

namespace stowage {
namespace {

Decision unlike(std::string reason, std::string flip = {}) {
  return Decision::refuse("branches-alike", std::move(reason), std::move(flip));
}

Decision other_parameters(std::string reason) { return Decision::refuse("branches-parameters", std::move(reason)); }

/// Text and types of an expression, so that equal ones compute the same.
std::string exact_text(const ScalarExpr& e) {
  if (!e) return "nothing";
  const auto axis = [](VarId a) { return fmt::format("a{}", a.index()); };
  std::string text = to_text(
      e, [](ReadId read) { return fmt::format("#{}", read.index()); },
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
    uses = uses || (index != nullptr && mentions(index->value, axis));
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
  [[nodiscard]] const StageTensor& tensor(std::size_t list, StageTensorId t) const { return lists_[list].tensors[t]; }
  [[nodiscard]] const std::string& name(std::size_t list) const { return graph_.op(of_[list].front()).name; }

  [[nodiscard]] const StageTensor& output() const { return first_.tensors[first_.stages.back().output]; }

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
    same = same && std::equal(first_.stages.begin(), first_.stages.end(), other.stages.begin(), alike);
    if (!same) return different(fmt::format("{} is not computed as {} is", name(i), name(0)));
    for (const StageTensorId t : first_.tensors.ids()) {
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
    axis_of_[first_.stages.back().output] = axis;
    for (std::size_t s = first_.stages.size(); s-- > 0;) {
      if (auto refused = through(StageId(s))) return refused;
    }
    for (const StageTensorId t : first_.tensors.ids()) {
      if (auto refused = judge_tensor(t)) return refused;
    }
    return judge_axes();
  }

  std::optional<Decision> through(StageId s) {
    const Stage& stage = first_.stages[s];
    const auto& of_output = axis_of_[stage.output];
    if (!of_output) return unlike(fmt::format("{} is one for all channels", stage.name));
    stage_axis_[s] = *of_output;
    const VarId axis(*of_output);
    if (uses_index(stage.body, axis) || uses_index(stage.finish, axis)) {
      return unlike(fmt::format("{} computes with the number of the channel", stage.name));
    }
    for (const Access& access : stage.reads) {
      const StageTensorId t = access.tensor;
      std::optional<std::size_t> found;
      for (std::size_t d = 0; d < access.index.size(); ++d) {
        if (!mentions(access.index[d], axis)) continue;
        if (tensor(0, t).role == TensorRole::input) return judge_input(t);
        if (found || !moves_in_blocks(s, access, d)) {
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

  /// Whether each step along a stage's axis reads the next so many elements of a dimension and no others: one, or a
  /// block of channels, of which other axes say which. All indices are within the tensor.
  [[nodiscard]] bool moves_in_blocks(StageId s, const Access& access, std::size_t dimension) const {
    const std::size_t axis = stage_axis_[s];
    const IndexExpr& index = access.index[dimension];
    if (index.is_variable(VarId(axis))) return true;
    const std::int64_t block = index.coefficient_of(VarId(axis));
    if (access.padding || mentions(index - IndexExpr(VarId(axis)) * block, VarId(axis))) return false;
    return std::all_of(lists_.begin(), lists_.end(), [&](const StageList& list) {
      return list.tensors[access.tensor].shape[dimension] == block * list.stages[s].axes[axis].extent;
    });
  }

  /// One that is read along the axis.
  Decision judge_input(StageTensorId t) {
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

  [[nodiscard]] std::optional<Decision> judge_tensor(StageTensorId t) const {
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
    for (const StageId s : first_.stages.ids()) {
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
    for (const StageId s : first_.stages.ids()) {
      std::int64_t& extent = result.list.stages[s].axes[stage_axis_[s]].extent;
      for (std::size_t i = 1; i < lists_.size(); ++i) extent += lists_[i].stages[s].axes[stage_axis_[s]].extent;
    }
    result.parts.assign(first_.tensors.size(), std::nullopt);
    for (const StageTensorId t : first_.tensors.ids()) {
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
  IdVector<StageTensorId, std::optional<std::size_t>> axis_of_;
  IdVector<StageTensorId, bool> seen_;
  IdVector<StageId, std::size_t> stage_axis_;
  bool shared_dimension_ = false;  ///< what was tried last belongs to a tensor that is shared
};

}  // namespace

const StackedStages::Part& StackedStages::result() const {
  const auto& part = parts[list.stages.back().output];
  check(part.has_value(), "results are stacked");
  return *part;
}

std::variant<StackedStages, Decision> stack_stages(const Graph& graph, std::span<const StageList> lists,
                                                   std::span<const Branch> of) {
  check(!lists.empty() && lists.size() == of.size(), "a list for every branch");
  return Stacker(graph, lists, of).run();
}

}  // namespace stowage
