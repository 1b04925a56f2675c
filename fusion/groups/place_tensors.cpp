// SPDX-License-Identifier: Apache-2.0
// Which operators become views. Concatenations first, the last one in the network first, because it decides where
// others write: it claims a box for each of its operands, and through reshapes for what these re-index. Then everything
// that only reads: slices and reshapes follow their operands, from the first to the last.
//
// Results of branches are put side by side where nothing has a place already and no view is lost by it: beside the
// concatenation that some of them are the first or the last operands of, or in a storage of their own.
//
// Every element is written by one operator only: a claim gives a tensor a part of a box that nobody else has, and what
// is claimed twice stays where it was first.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/operators.h"
#include "core/trace.h"
#include "fusion/facts/views.h"
#include "fusion/groups/branch_stacks.h"

namespace stowage {
namespace {

/// A reason of placement, not a rule of legality: docs/views.md has it.
constexpr std::string_view one_copy = "one-copy";

/// What it takes to have a tensor in a box.
struct Claim {
  enum class Cost : std::uint8_t {
    none,  ///< its producer writes there
    copy,  ///< its producer, which might have been a view, copies there
    impossible
  } cost = Cost::none;
  std::string rule;    ///< if impossible
  std::string reason;  ///< if not none
};

class Placer {
 public:
  Placer(const Graph& graph, int dma_alignment)
      : graph_(graph), dma_alignment_(dma_alignment), order_(topological_order(graph)) {
    for (std::size_t i = 0; i < graph.operators().size(); ++i) {
      const Operator& op = graph.op(OpId(i));
      kinds_.push_back(op.kind == "Concat"                       ? Kind::join
                       : op.kind == "Slice"                      ? Kind::slice
                       : define_operator(graph, OpId(i)).is_view ? Kind::reshape
                                                                 : Kind::other);
    }
    records_.resize(graph.operators().size());
  }

  void run(std::vector<BranchStack> stacks = {}) {
    stacks_ = std::move(stacks);
    refused_stacks_.resize(stacks_.size());
    for (auto op = order_.rbegin(); op != order_.rend(); ++op) {
      if (kinds_[op->index()] != Kind::join) continue;
      for (std::size_t r = 0; r < stacks_.size(); ++r) {
        if (stacks_[r].join == *op) lay(r);
      }
      join(*op);
    }
    for (std::size_t r = 0; r < stacks_.size(); ++r) {
      if (!stacks_[r].join) lay(r);
    }
    for (const OpId op : order_) {
      if (kinds_[op.index()] == Kind::slice || kinds_[op.index()] == Kind::reshape) follow(op);
    }
  }

  [[nodiscard]] const Boxes& boxes() const { return boxes_; }
  /// By operator: concatenations that are views.
  [[nodiscard]] std::vector<bool> placed_joins() const {
    std::vector<bool> joins;
    for (std::size_t op = 0; op < kinds_.size(); ++op) joins.push_back(kinds_[op] == Kind::join && is_placed(OpId(op)));
    return joins;
  }
  [[nodiscard]] bool is_placed(OpId op) const {
    return records_[op.index()] && std::holds_alternative<ViewStored>(*records_[op.index()]);
  }
  /// Why a stack is not laid; nothing if it is.
  [[nodiscard]] const std::optional<Decision>& refusal(std::size_t stack) const { return refused_stacks_[stack]; }
  /// The storage that a tensor lies in, if it is one of a stack.
  [[nodiscard]] std::optional<std::size_t> stack_holding(TensorId id) const {
    const auto found = boxes_.find(id);
    if (found == boxes_.end() || found->second.storage.index() < graph_.tensors().size()) return std::nullopt;
    return stack_of_storage_[found->second.storage.index() - graph_.tensors().size()];
  }
  /// As it was laid.
  [[nodiscard]] const BranchStack& stack(std::size_t stack) const { return stacks_[stack]; }
  [[nodiscard]] const std::string& storage_name(std::size_t stack) const {
    for (std::size_t s = 0; s < stack_of_storage_.size(); ++s) {
      if (stack_of_storage_[s] == stack) return storages_[s].name;
    }
    fail_check("a stack without a storage");
  }

  [[nodiscard]] Graph placed(TraceSink trace) const {
    for (const OpId op : order_) {
      if (records_[op.index()]) trace.add(graph_.op(op).name, *records_[op.index()]);
    }
    GraphBuilder builder(graph_);
    for (const GraphTensor& storage : storages_) builder.add_storage(storage.name, storage.type, storage.shape);
    return with_boxes(std::move(builder).build(), boxes_);
  }

 private:
  enum class Kind : std::uint8_t { other, join, slice, reshape };

  [[nodiscard]] const GraphTensor& tensor(TensorId id) const {
    const std::size_t known = graph_.tensors().size();
    return id.index() < known ? graph_.tensor(id) : storages_[id.index() - known];
  }

  [[nodiscard]] std::string text_of(const StorageBox& box) const { return to_text(tensor(box.storage).name, box); }
  [[nodiscard]] TracedBox traced(const StorageBox& box) const {
    return {tensor(box.storage).name, box.offset, box.strides};
  }

  [[nodiscard]] StorageBox box_of(TensorId id) const {
    const auto found = boxes_.find(id);
    return found != boxes_.end() ? found->second : StorageBox{id, 0, row_major_strides(tensor(id).shape)};
  }

  void record(OpId op, TraceEvent what) { records_[op.index()] = std::move(what); }
  void refuse(OpId op, std::string rule, std::string reason) {
    record(op, ViewRefused{Decision::refuse(std::move(rule), std::move(reason))});
  }

  // --- what cannot be
  // --------------------------------------------------------------------------------------------------

  /// Why a tensor may not have this box, whoever writes or reads it; cost `none` if it may.
  [[nodiscard]] Claim fits(TensorId id, const StorageBox& box) const {
    const GraphTensor& t = tensor(id);
    if ((t.is_input || t.is_output) && !is_dense(t.shape, box.strides)) {
      return {Claim::Cost::impossible, "dense-boundary",
              fmt::format("{} is an {} of the network, which lies in memory without gaps", t.name,
                          t.is_input ? "input" : "output")};
    }
    if (!rows_are_contiguous(t.shape, box.strides)) {
      return {Claim::Cost::impossible, "contiguous-rows",
              fmt::format("no two elements of {} would lie side by side: DMA would move each by itself", t.name)};
    }
    if (!keeps_to_units(t, box)) {
      return {Claim::Cost::impossible, "whole-units",
              fmt::format("{} would begin or end between two units of {} bytes, in which DMA moves", t.name,
                          dma_alignment_)};
    }
    return {};
  }

  /// Begin, contiguous runs and steps in whole units, so that no unit holds elements of two tensors; or all of a
  /// storage.
  [[nodiscard]] bool keeps_to_units(const GraphTensor& t, const StorageBox& box) const {
    const std::int64_t bytes = byte_size(t.type);
    if (bytes % dma_alignment_ == 0) return true;
    const bool dense = is_dense(t.shape, box.strides);
    if (dense && box.offset == 0 && element_count(t.shape) == element_count(tensor(box.storage).shape)) return true;
    const auto whole = [&](std::int64_t elements) { return elements * bytes % dma_alignment_ == 0; };
    std::int64_t run = 1;
    std::size_t d = t.shape.size();
    for (; d > 0 && (t.shape[d - 1] == 1 || box.strides[d - 1] == run); --d) run *= t.shape[d - 1];
    if (!whole(box.offset) || !whole(run)) return false;
    for (; d > 0; --d) {
      if (t.shape[d - 1] > 1 && !whole(box.strides[d - 1])) return false;
    }
    return true;
  }

  static bool rows_are_contiguous(const Shape& shape, const std::vector<std::int64_t>& strides) {
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (shape[d] != 1) return strides[d] == 1;
    }
    return true;
  }

  /// What it takes to have `id` in `box`; what else is claimed with it is added to `wanted`.
  Claim claim(TensorId id, const StorageBox& box, std::optional<OpId> joined_by, Boxes& wanted) const {
    const GraphTensor& t = tensor(id);
    const auto impossible = [](std::string rule, std::string reason) {
      return Claim{Claim::Cost::impossible, std::move(rule), std::move(reason)};
    };
    if (t.constant) return impossible("constant", fmt::format("{} is a constant, among the parameters", t.name));
    if (wanted.contains(id)) return impossible("one-place", fmt::format("{} would be in two places of it", t.name));
    if (const auto placed = boxes_.find(id); placed != boxes_.end()) {
      if (same_box(t.shape, placed->second, box)) return {};
      return impossible("one-place", fmt::format("{} lies {} already", t.name, text_of(placed->second)));
    }
    if (Claim unfit = fits(id, box); unfit.cost != Claim::Cost::none) return unfit;
    for (const OpId reader : t.consumers) {
      const Operator& op = graph_.op(reader);
      if (reader == joined_by || kinds_[reader.index()] != Kind::reshape || wanted.contains(op.first_output()))
        continue;
      if (box_in_operand(graph_, reader, box) || box_in_operand(graph_, reader, box_of(id)) == std::nullopt) continue;
      return impossible("needed-dense", fmt::format("{} re-indexes {}, which it cannot with gaps", op.name, t.name));
    }
    wanted.emplace(id, box);
    if (!t.producer) return {};
    const Operator& producer = graph_.op(*t.producer);
    const auto copies = [&] {
      return Claim{Claim::Cost::copy, "", fmt::format("{} has to copy {} there", producer.name, t.name)};
    };
    if (kinds_[t.producer->index()] == Kind::slice) return copies();
    if (kinds_[t.producer->index()] != Kind::reshape) return {};
    const TensorId from = *producer.inputs.front();
    const auto inner = reshaped_box(box, t.shape, tensor(from).shape);
    Boxes further = wanted;
    if (!inner || claim(from, *inner, *t.producer, further).cost != Claim::Cost::none) return copies();
    wanted = std::move(further);
    return {};
  }

  // --- concatenations
  // ----------------------------------------------------------------------------------------------------

  void join(OpId id) {
    const TensorId result = graph_.op(id).first_output();
    if (element_count(tensor(result).shape) == 0) return;
    if (!boxes_.contains(result) && join_where_operands_are(id)) return;
    Boxes wanted;
    std::vector<std::string> copies;
    for (const auto& [operand, box] : boxes_in_result(graph_, id, box_of(result))) {
      const Claim claimed = claim(operand, box, id, wanted);
      if (claimed.cost == Claim::Cost::impossible) {
        return refuse(id, claimed.rule, claimed.reason);
      }
      if (claimed.cost == Claim::Cost::copy) copies.push_back(claimed.reason);
    }
    if (copies.size() > 1) {
      return record(
          id,
          ViewRefused{Decision::refuse(std::string(one_copy), fmt::format("{}, and {}", copies[0], copies[1])), true});
    }
    boxes_.merge(wanted);
    const auto inside = boxes_.find(result);
    record(id, ViewStored{ViewStored::Rule::concat, ViewStored::How::written, tensor(result).name,
                          inside == boxes_.end() ? std::nullopt : std::optional(traced(inside->second)),
                          copies.empty() ? "" : copies[0]});
  }

  /// Operands that a later concatenation has put side by side already (the growing ones of a dense block).
  bool join_where_operands_are(OpId id) {
    const TensorId result = graph_.op(id).first_output();
    const auto& operands = graph_.op(id).inputs;
    const auto first = std::find_if(operands.begin(), operands.end(), [&](const auto& operand) {
      return operand && element_count(tensor(*operand).shape) > 0;
    });
    if (first == operands.end() || !boxes_.contains(**first)) return false;
    const StorageBox box{boxes_.at(**first).storage, boxes_.at(**first).offset, boxes_.at(**first).strides};
    const auto boxes = boxes_in_result(graph_, id, box);
    const bool side_by_side = std::all_of(boxes.begin(), boxes.end(), [&](const auto& operand) {
      const auto placed = boxes_.find(operand.first);
      return placed != boxes_.end() && same_box(tensor(operand.first).shape, placed->second, operand.second);
    });
    if (!side_by_side || fits(result, box).cost != Claim::Cost::none) return false;
    if (!addresses_once(tensor(result).shape, box.strides)) return false;
    boxes_.emplace(result, box);
    record(id, ViewStored{ViewStored::Rule::concat, ViewStored::How::beside, tensor(result).name, traced(box), ""});
    return true;
  }

  // --- branches
  // ------------------------------------------------------------------------------------------------------------

  /// Gives a stack its storage; where a concatenation cannot be in it, without that.
  void lay(std::size_t r) {
    refused_stacks_[r] = try_to_lay(r);
    BranchStack& stack = stacks_[r];
    if (!refused_stacks_[r] || !stack.join || stack.tensors.size() < 3) return;
    std::erase(stack.tensors, graph_.op(*stack.join).first_output());
    stack.join.reset();
    if (!try_to_lay(r)) refused_stacks_[r].reset();
  }

  /// Why it cannot be.
  std::optional<Decision> try_to_lay(std::size_t r) {
    const BranchStack& stack = stacks_[r];
    const GraphTensor& first = tensor(stack.tensors.front());
    Shape shape = first.shape;
    shape[stack.axis] = 0;
    for (const TensorId id : stack.tensors) shape[stack.axis] += tensor(id).shape[stack.axis];
    StorageBox box{TensorId(graph_.tensors().size() + storages_.size()), 0, row_major_strides(shape)};
    Boxes wanted;
    for (const TensorId id : stack.tensors) {
      const Claim claimed = claim(id, box, std::nullopt, wanted);
      if (claimed.cost != Claim::Cost::none) {
        return Decision::refuse(claimed.rule.empty() ? std::string(one_copy) : claimed.rule, claimed.reason);
      }
      box.offset += tensor(id).shape[stack.axis] * box.strides[stack.axis];
    }
    boxes_.merge(wanted);
    GraphTensor storage;
    storage.name = storage_name_for(first.name);
    storage.type = first.type;
    storage.shape = std::move(shape);
    storages_.push_back(std::move(storage));
    stack_of_storage_.push_back(r);
    return std::nullopt;
  }

  [[nodiscard]] std::string storage_name_for(const std::string& first) const {
    std::string wanted = first + "_and_branches";
    const auto taken = [&](const std::string& name) {
      return graph_.find_tensor(name) || graph_.find_operator(name) ||
             std::any_of(storages_.begin(), storages_.end(), [&](const GraphTensor& t) { return t.name == name; });
    };
    std::string name = wanted;
    for (int number = 2; taken(name); ++number) name = fmt::format("{}_{}", wanted, number);
    return name;
  }

  // --- what follows its operand
  // ------------------------------------------------------------------------------------------

  void follow(OpId id) {
    const Operator& op = graph_.op(id);
    const TensorId result = op.first_output();
    const bool is_slice = kinds_[id.index()] == Kind::slice;
    const ViewStored::Rule rule = is_slice ? ViewStored::Rule::slice : ViewStored::Rule::reshape;
    const std::string& name = tensor(result).name;
    const StorageBox operand = box_of(*op.inputs.front());
    const auto box = box_in_operand(graph_, id, operand);
    if (!box && is_slice) return refuse(id, "backwards", "a step is negative, and DMA goes forwards only");
    if (!box) {
      return refuse(id, "merged-dimensions",
                    fmt::format("it merges dimensions of {} between which there are gaps {}",
                                tensor(*op.inputs.front()).name, text_of(operand)));
    }
    if (const auto placed = boxes_.find(result); placed != boxes_.end()) {
      if (same_box(tensor(result).shape, placed->second, *box)) {
        return record(id, ViewStored{rule, ViewStored::How::boxed, name, traced(placed->second), ""});
      }
      return refuse(
          id, "one-place",
          fmt::format("{} is wanted {}, its operand lies {}", name, text_of(placed->second), text_of(operand)));
    }
    if (const Claim unfit = fits(result, *box); unfit.cost != Claim::Cost::none) {
      return refuse(id, unfit.rule, unfit.reason);
    }
    boxes_.emplace(result, *box);
    const bool whole = is_dense(tensor(result).shape, box->strides) &&
                       element_count(tensor(result).shape) == element_count(tensor(box->storage).shape);
    record(id, ViewStored{rule, whole ? ViewStored::How::all : ViewStored::How::boxed, name, traced(*box), ""});
  }

  const Graph& graph_;
  int dma_alignment_;
  std::vector<OpId> order_;
  std::vector<Kind> kinds_;  ///< by operator
  Boxes boxes_;
  std::vector<std::optional<TraceEvent>> records_;  ///< by operator: whether it is a view
  std::vector<BranchStack> stacks_;
  std::vector<std::optional<Decision>> refused_stacks_;
  std::vector<GraphTensor> storages_;          ///< numbered behind the graph's tensors
  std::vector<std::size_t> stack_of_storage_;  ///< by storage
};

/// Rows of branches, and what becomes of them.
class BranchPlaces {
 public:
  BranchPlaces(const Graph& graph, int dma_alignment) : graph_(graph), fresh_(graph, dma_alignment), before_(fresh_) {
    before_.run();
    const std::vector<bool> joins = before_.placed_joins();
    for (BranchFamily& family : find_branch_families(graph)) {
      auto stack = stack_of_results(graph, family, before_.boxes(), joins);
      entries_.push_back({std::move(family), std::move(stack), {}});
    }
  }

  /// Lays stacks until none of them costs a view: whatever costs one is given up.
  Graph run(TraceSink trace) {
    for (;;) {
      Placer placer = fresh_;
      placer.run(stacks());
      const auto lost = find_lost(placer);
      if (!lost) {
        Graph graph = placer.placed(trace);
        note_families(placer, trace);
        return graph;
      }
      give_up(placer, *lost);
    }
  }

 private:
  struct Entry {
    BranchFamily family;
    std::optional<BranchStack> stack;
    std::string given_up;  ///< why there is none any more
  };

  [[nodiscard]] std::vector<BranchStack> stacks() const {
    std::vector<BranchStack> all;
    for (const Entry& entry : entries_) {
      if (entry.stack) all.push_back(*entry.stack);
    }
    return all;
  }

  /// An operator that is a view only without branches.
  [[nodiscard]] std::optional<OpId> find_lost(const Placer& placer) const {
    for (std::size_t i = 0; i < graph_.operators().size(); ++i) {
      if (before_.is_placed(OpId(i)) && !placer.is_placed(OpId(i))) return OpId(i);
    }
    return std::nullopt;
  }

  void give_up(const Placer& placer, OpId lost) {
    const Operator& op = graph_.op(lost);
    std::set<std::size_t> holding;
    if (const auto stack = placer.stack_holding(op.first_output())) holding.insert(*stack);
    for (const auto& operand : op.inputs) {
      const auto stack = operand ? placer.stack_holding(*operand) : std::nullopt;
      if (stack) holding.insert(*stack);
    }
    std::size_t number = 0;
    for (Entry& entry : entries_) {
      if (!entry.stack) continue;
      const bool costs = holding.empty() || holding.contains(number);
      ++number;
      if (!costs) continue;
      entry.stack.reset();
      entry.given_up = fmt::format("{} would have to copy", op.name);
    }
  }

  /// One record a family: where its results lie, or why not side by side.
  void note_families(const Placer& placer, TraceSink trace) const {
    std::size_t number = 0;
    for (const Entry& entry : entries_) {
      std::vector<std::string> results;
      for (const Branch& branch : entry.family.branches) results.push_back(result_of(branch.back()));
      const std::string& subject = graph_.op(entry.family.branches.front().front()).name;
      if (!entry.stack) {
        const char* const rule = entry.given_up.empty() ? "one-place" : "lost-view";
        trace.add(subject, BranchesApart{std::move(results), Decision::refuse(rule, entry.given_up)});
      } else if (const auto& refused = placer.refusal(number++)) {
        trace.add(subject, BranchesApart{std::move(results), *refused});
      } else {
        std::vector<std::string> in_stack;
        for (const TensorId id : placer.stack(number - 1).tensors) in_stack.push_back(graph_.tensor(id).name);
        trace.add(subject, BranchesStored{std::move(results), std::move(in_stack), placer.storage_name(number - 1)});
      }
    }
  }

  [[nodiscard]] const std::string& result_of(OpId op) const { return graph_.tensor(graph_.op(op).first_output()).name; }

  const Graph& graph_;
  Placer fresh_;   ///< has placed nothing yet
  Placer before_;  ///< as it is without branches
  std::vector<Entry> entries_;
};

}  // namespace

Graph place_tensors(const Graph& graph, TraceSink trace, int dma_alignment) {
  return BranchPlaces(graph, dma_alignment).run(trace);
}

}  // namespace stowage
