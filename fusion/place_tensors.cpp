// SPDX-License-Identifier: Apache-2.0
// Which operators become views. Concatenations first, the last one in the network first, because it decides where
// others write: it claims a box for each of its operands, and through reshapes for what these re-index. Then everything
// that only reads: slices and reshapes follow their operands, from the first to the last.
//
// Every element is written by one operator only: a claim gives a tensor a part of a box that nobody else has, and what
// is claimed twice stays where it was first.
#include <algorithm>

#include <fmt/format.h>

#include "core/operators.h"
#include "fusion/views.h"

namespace stowage {
namespace {

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
  explicit Placer(const Graph& graph) : graph_(graph), order_(topological_order(graph)) {
    for (std::size_t i = 0; i < graph.operators().size(); ++i) {
      const Operator& op = graph.op(OpId(i));
      kinds_.push_back(op.kind == "Concat"                       ? Kind::join
                       : op.kind == "Slice"                      ? Kind::slice
                       : define_operator(graph, OpId(i)).is_view ? Kind::reshape
                                                                 : Kind::other);
    }
    records_.resize(graph.operators().size());
  }

  Graph run(TraceSink trace) {
    for (auto op = order_.rbegin(); op != order_.rend(); ++op) {
      if (kinds_[op->index()] == Kind::join) join(*op);
    }
    for (const OpId op : order_) {
      if (kinds_[op.index()] == Kind::slice || kinds_[op.index()] == Kind::reshape) follow(op);
    }
    for (const OpId op : order_) {
      if (records_[op.index()]) trace.add(*std::move(records_[op.index()]));
    }
    return with_boxes(graph_, boxes_);
  }

 private:
  enum class Kind : std::uint8_t { other, join, slice, reshape };
  using Boxes = std::map<TensorId, StorageBox>;

  [[nodiscard]] const GraphTensor& tensor(TensorId id) const { return graph_.tensor(id); }

  [[nodiscard]] StorageBox box_of(TensorId id) const {
    const auto found = boxes_.find(id);
    return found != boxes_.end() ? found->second : StorageBox{id, 0, row_major_strides(tensor(id).shape)};
  }

  void record(OpId op, TraceOutcome outcome, std::string rule, std::string message) {
    records_[op.index()] =
        TraceRecord{"placement", graph_.op(op).name, std::move(rule), outcome, std::move(message), {}};
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
    return {};
  }

  static bool rows_are_contiguous(const Shape& shape, const std::vector<std::int64_t>& strides) {
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (shape[d] != 1) return strides[d] == 1;
    }
    return true;
  }

  /// What it takes to have `id` in `box`; what else is claimed with it is added to `wanted`.
  Claim claim(TensorId id, const StorageBox& box, OpId joined_by, Boxes& wanted) const {
    const GraphTensor& t = tensor(id);
    const auto impossible = [](std::string rule, std::string reason) {
      return Claim{Claim::Cost::impossible, std::move(rule), std::move(reason)};
    };
    if (t.constant) return impossible("constant", fmt::format("{} is a constant, among the parameters", t.name));
    if (wanted.contains(id)) return impossible("one-place", fmt::format("{} would be in two places of it", t.name));
    if (const auto placed = boxes_.find(id); placed != boxes_.end()) {
      if (same_box(t.shape, placed->second, box)) return {};
      return impossible("one-place", fmt::format("{} lies {} already", t.name, to_text(graph_, placed->second)));
    }
    if (Claim unfit = fits(id, box); unfit.cost != Claim::Cost::none) return unfit;
    for (const OpId reader : t.consumers) {
      const Operator& op = graph_.op(reader);
      if (reader == joined_by || kinds_[reader.index()] != Kind::reshape || wanted.contains(op.output)) continue;
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
    const TensorId result = graph_.op(id).output;
    if (element_count(tensor(result).shape) == 0) return;
    if (!boxes_.contains(result) && join_where_operands_are(id)) return;
    Boxes wanted;
    std::vector<std::string> copies;
    for (const auto& [operand, box] : boxes_in_result(graph_, id, box_of(result))) {
      const Claim claimed = claim(operand, box, id, wanted);
      if (claimed.cost == Claim::Cost::impossible) {
        return record(id, TraceOutcome::refused, claimed.rule, "copies: " + claimed.reason);
      }
      if (claimed.cost == Claim::Cost::copy) copies.push_back(claimed.reason);
    }
    if (copies.size() > 1) {
      return record(id, TraceOutcome::refused, "one-copy",
                    fmt::format("copies, once for all: else {}, and {}", copies[0], copies[1]));
    }
    boxes_.merge(wanted);
    record(id, TraceOutcome::accepted, "concat",
           fmt::format("its operands are written straight into {}{}", place_text(result),
                       copies.empty() ? "" : "; " + copies[0]));
  }

  /// Operands that a later concatenation has put side by side already (the growing ones of a dense block).
  bool join_where_operands_are(OpId id) {
    const TensorId result = graph_.op(id).output;
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
    record(id, TraceOutcome::accepted, "concat", fmt::format("its operands lie side by side {}", to_text(graph_, box)));
    return true;
  }

  // --- what follows its operand
  // ------------------------------------------------------------------------------------------

  void follow(OpId id) {
    const Operator& op = graph_.op(id);
    const TensorId result = op.output;
    const std::string rule = kinds_[id.index()] == Kind::slice ? "slice" : "reshape";
    const StorageBox operand = box_of(*op.inputs.front());
    const auto box = box_in_operand(graph_, id, operand);
    if (!box) {
      return record(id, TraceOutcome::refused, rule == "slice" ? "backwards" : "merged-dimensions",
                    rule == "slice" ? "copies: a step is negative, and DMA goes forwards only"
                                    : fmt::format("copies: it merges dimensions of {} between which there are gaps {}",
                                                  tensor(*op.inputs.front()).name, to_text(graph_, operand)));
    }
    if (const auto placed = boxes_.find(result); placed != boxes_.end()) {
      if (same_box(tensor(result).shape, placed->second, *box)) {
        return record(id, TraceOutcome::accepted, rule,
                      fmt::format("{} lies {}", tensor(result).name, to_text(graph_, placed->second)));
      }
      return record(id, TraceOutcome::refused, "one-place",
                    fmt::format("copies: {} is wanted {}, its operand lies {}", tensor(result).name,
                                to_text(graph_, placed->second), to_text(graph_, operand)));
    }
    if (const Claim unfit = fits(result, *box); unfit.cost != Claim::Cost::none) {
      return record(id, TraceOutcome::refused, unfit.rule, "copies: " + unfit.reason);
    }
    boxes_.emplace(result, *box);
    const GraphTensor& storage = tensor(box->storage);
    const bool whole = is_dense(tensor(result).shape, box->strides) &&
                       element_count(tensor(result).shape) == element_count(storage.shape);
    record(id, TraceOutcome::accepted, rule,
           whole ? fmt::format("{} is all of {}", tensor(result).name, storage.name)
                 : fmt::format("{} lies {}", tensor(result).name, to_text(graph_, *box)));
  }

  [[nodiscard]] std::string place_text(TensorId id) const {
    const auto found = boxes_.find(id);
    return found == boxes_.end() ? tensor(id).name
                                 : fmt::format("{} ({})", tensor(id).name, to_text(graph_, found->second));
  }

  const Graph& graph_;
  std::vector<OpId> order_;
  std::vector<Kind> kinds_;  ///< by operator
  Boxes boxes_;
  std::vector<std::optional<TraceRecord>> records_;  ///< by operator
};

}  // namespace

Graph place_tensors(const Graph& graph, TraceSink trace) { return Placer(graph).run(trace); }

}  // namespace stowage
