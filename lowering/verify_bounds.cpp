// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lowering/prover.h"
#include "lowering/verify_rules.h"

namespace stowage {
namespace {

/// First and last value of an index over a box, both included.
struct Hull {
  IndexExpr low;
  IndexExpr high;
};

/// The part of a tensor that a buffer holds: what was last loaded or computed there, over core and loop variables.
struct Provided {
  std::vector<Hull> part;
  std::set<std::size_t> variables;
};

class BoundsCheck {
 public:
  explicit BoundsCheck(const LoopNest& nest) : nest_(nest), prover_(nest) {}

  Broken run() {
    Broken broken;
    visit_with_surroundings(nest_, [&](const Stmt& s, const Surroundings& surroundings) {
      if (!broken) broken = statement(s, surroundings);
    });
    return broken;
  }

 private:
  /// A place in a message: "elements 9..11 of dimension 1 of X, which has 11".
  struct Fact {
    IndexExpr must_not_be_negative;
    IndexExpr low, high;  ///< of what is touched, in the coordinates of the message
    std::string what;     ///< "dimension 1 of X, which has 11"
    std::string_view rule;
  };

  Broken statement(const Stmt& s, const Surroundings& around) {
    if (const auto* loop = std::get_if<Loop>(&s.node)) {
      prover_.enter(*loop, around);
      const Interval range = nest_.variables[loop->variable.index()].range;
      return value_in_range(s, around, loop->variable, IndexExpr(0), loop->extent - 1, {&loop->extent, 1}, range);
    }
    if (const auto* let = std::get_if<Let>(&s.node)) {
      return value_in_range(s, around, let->variable, let->value, let->value, {},
                            nest_.variables[let->variable.index()].range);
    }
    if (const auto* dma = std::get_if<Dma>(&s.node)) return transfer(s, around, *dma);
    if (const auto* fill = std::get_if<Fill>(&s.node)) return filling(s, around, *fill);
    if (const auto* compute = std::get_if<Compute>(&s.node)) return computation(s, around, *compute);
    return std::nullopt;
  }

  Broken holds(const Stmt& s, const Surroundings& around, const Fact& fact,
               std::span<const IndexExpr> conditions) const {
    const auto violation = prover_.find_negative(around, fact.must_not_be_negative, conditions);
    if (!violation) return std::nullopt;
    if (violation->undecided) {
      return broken_rule(nest_, fact.rule, s,
                         fmt::format("too many values to show that it stays inside {}", fact.what));
    }
    const std::string where = prover_.text(*violation);
    return broken_rule(nest_, fact.rule, s,
                       fmt::format("touches {}..{} of {}{}", Prover::value_at(around, fact.low, *violation),
                                   Prover::value_at(around, fact.high, *violation), fact.what,
                                   where.empty() ? "" : " (" + where + ")"));
  }

  Broken value_in_range(const Stmt& s, const Surroundings& around, VarId variable, const IndexExpr& low,
                        const IndexExpr& high, std::span<const IndexExpr> conditions, Interval range) const {
    const std::string what =
        fmt::format("the declared range {}..{} of {}", range.low, range.high, nest_.variables[variable.index()].name);
    if (auto broken = holds(s, around, {low - range.low, low, high, what, "variable-range"}, conditions)) return broken;
    return holds(s, around, {IndexExpr(range.high) - high, low, high, what, "variable-range"}, conditions);
  }

  static std::vector<IndexExpr> extents_of(const std::vector<Range>& ranges) {
    std::vector<IndexExpr> extents;
    for (const Range& range : ranges) extents.push_back(range.extent);
    return extents;
  }

  /// low..high lies inside [0, size).
  Broken inside(const Stmt& s, const Surroundings& around, std::string_view rule, const IndexExpr& low,
                const IndexExpr& high, std::int64_t size, const std::string& what,
                std::span<const IndexExpr> conditions) const {
    const std::string which = fmt::format("{}, which has {}", what, size);
    if (auto broken = holds(s, around, {low, low, high, which, rule}, conditions)) return broken;
    return holds(s, around, {IndexExpr(size - 1) - high, low, high, which, rule}, conditions);
  }

  Broken largest_extent(const Stmt& s, const Surroundings& around, const Range& range, std::size_t d,
                        std::span<const IndexExpr> conditions) const {
    return holds(s, around,
                 {IndexExpr(range.max_extent) - range.extent, IndexExpr(0), range.extent - 1,
                  fmt::format("the {} elements that dimension {} is said to have at most", range.max_extent, d),
                  "largest-extent"},
                 conditions);
  }

  Broken transfer(const Stmt& s, const Surroundings& around, const Dma& dma) {
    const NestTensor& tensor = nest_.tensors[static_cast<std::size_t>(dma.nest_tensor)];
    const Shape& shape = nest_.stages.tensors[static_cast<std::size_t>(tensor.tensor)].shape;
    const Buffer& buffer = nest_.buffers[static_cast<std::size_t>(dma.buffer)];
    const std::vector<IndexExpr> conditions = extents_of(dma.region);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const Range& range = dma.region[d];
      const IndexExpr low = range.start;
      const IndexExpr high = range.start + range.extent - 1;
      if (auto broken = inside(s, around, "transfer-in-tensor", low, high, shape[d],
                               fmt::format("dimension {} of {}", d, tensor.name), conditions)) {
        return broken;
      }
      if (auto broken =
              inside(s, around, "transfer-in-buffer", low - buffer.origin[d], high - buffer.origin[d],
                     buffer.extents[d], fmt::format("dimension {} of buffer {}", d, buffer.name), conditions)) {
        return broken;
      }
      if (auto broken = largest_extent(s, around, range, d, conditions)) return broken;
    }
    if (dma.direction == DmaDirection::get) {
      provide(dma.buffer, around, dma.region, shape.size());
      return std::nullopt;
    }
    std::vector<Hull> touched;
    for (const Range& range : dma.region) touched.push_back({range.start, range.start + range.extent - 1});
    return inside_provided(s, around, dma.buffer, touched, conditions);
  }

  /// What is kept is exactly what was computed or loaded: less would be overwritten, more would not be padded.
  Broken filling(const Stmt& s, const Surroundings& around, const Fill& fill) const {
    const Provided* const provided = fill.around ? provided_here(around, fill.buffer) : nullptr;
    if (provided == nullptr) return std::nullopt;
    const std::vector<IndexExpr> conditions = extents_of(*fill.around);
    const Buffer& buffer = nest_.buffers[static_cast<std::size_t>(fill.buffer)];
    for (std::size_t d = 0; d < fill.around->size(); ++d) {
      const Range& kept = (*fill.around)[d];
      const IndexExpr last = kept.start + kept.extent - 1;
      const Hull& part = provided->part[d];
      const std::string what = fmt::format("dimension {} of buffer {}, which holds another part", d, buffer.name);
      for (const IndexExpr& distance :
           {kept.start - part.low, part.low - kept.start, last - part.high, part.high - last}) {
        if (auto broken = holds(s, around, {distance, kept.start, last, what, "padding-around-all"}, conditions)) {
          return broken;
        }
      }
    }
    return std::nullopt;
  }

  void provide(int buffer, const Surroundings& around, const std::vector<Range>& ranges, std::size_t rank) {
    Provided& provided = provided_[buffer] = {};
    for (std::size_t d = 0; d < rank; ++d) {
      const Expression low = around.expression(ranges[d].start);
      const Expression high = around.expression(ranges[d].start + ranges[d].extent - 1);
      provided.variables.insert(low.variables.begin(), low.variables.end());
      provided.variables.insert(high.variables.begin(), high.variables.end());
      provided.part.push_back({low.expr, high.expr});
    }
  }

  /// The part of a buffer that holds something, if it can be named here; null where there is none (which verify_flow()
  /// finds) or where it depends on loops that have ended.
  const Provided* provided_here(const Surroundings& around, int buffer) const {
    const auto found = provided_.find(buffer);
    if (found == provided_.end()) return nullptr;
    std::set<std::size_t> known;
    for (const CoreAxis& axis : nest_.core_grid) known.insert(axis.variable.index());
    for (const EnclosingLoop& loop : around.loops()) known.insert(loop.variable);
    const auto& needed = found->second.variables;
    return std::includes(known.begin(), known.end(), needed.begin(), needed.end()) ? &found->second : nullptr;
  }

  /// What is touched of a tensor is what was loaded or computed; beyond the tensor lies padding.
  Broken inside_provided(const Stmt& s, const Surroundings& around, int index, const std::vector<Hull>& touched,
                         std::vector<IndexExpr> conditions) const {
    const Provided* const provided = provided_here(around, index);
    if (provided == nullptr) return std::nullopt;
    const Buffer& buffer = nest_.buffers[static_cast<std::size_t>(index)];
    const StageTensor& tensor = nest_.stages.tensors[static_cast<std::size_t>(buffer.tensor)];
    std::vector<Hull> in_tensor;
    for (std::size_t d = 0; d < touched.size(); ++d) {
      in_tensor.push_back({maximum(touched[d].low, 0), minimum(touched[d].high, tensor.shape[d] - 1)});
      conditions.push_back(in_tensor[d].high - in_tensor[d].low + 1);
    }
    for (std::size_t d = 0; d < touched.size(); ++d) {
      const std::string what =
          fmt::format("dimension {} of {}, of which buffer {} holds another part", d, tensor.name, buffer.name);
      const Hull& part = provided->part[d];
      for (const IndexExpr& distance : {in_tensor[d].low - part.low, part.high - in_tensor[d].high}) {
        const Fact fact{distance, in_tensor[d].low, in_tensor[d].high, what, "touches-what-is-there"};
        if (auto broken = holds(s, around, fact, conditions)) return broken;
      }
    }
    return std::nullopt;
  }

  Broken computation(const Stmt& s, const Surroundings& around, const Compute& compute) {
    const Stage& stage = nest_.stages.stages[static_cast<std::size_t>(compute.stage)];
    const std::vector<IndexExpr> conditions = extents_of(compute.box);
    for (std::size_t a = 0; a < compute.box.size(); ++a) {
      const Range& range = compute.box[a];
      if (auto broken =
              inside(s, around, "compute-in-stage", range.start, range.start + range.extent - 1, stage.axes[a].extent,
                     fmt::format("axis {} of stage {}", stage.axes[a].name, stage.name), conditions)) {
        return broken;
      }
      if (auto broken = largest_extent(s, around, range, a, conditions)) return broken;
    }
    for (std::size_t d = 0; d < static_cast<std::size_t>(stage.spatial); ++d) {
      const Range& range = compute.box[d];
      if (auto broken = inside_buffer(s, around, compute.output_buffer, d,
                                      {range.start, range.start + range.extent - 1}, conditions)) {
        return broken;
      }
    }
    for (std::size_t r = 0; r < stage.reads.size(); ++r) {
      if (!compute.read_buffers[r]) continue;
      std::vector<Hull> touched;
      for (const IndexExpr& index : stage.reads[r].index) touched.push_back(hull(index, compute));
      for (std::size_t d = 0; d < touched.size(); ++d) {
        if (auto broken = inside_buffer(s, around, *compute.read_buffers[r], d, touched[d], conditions)) return broken;
      }
      if (auto broken = inside_provided(s, around, *compute.read_buffers[r], touched, conditions)) return broken;
    }
    provide(compute.output_buffer, around, compute.box, static_cast<std::size_t>(stage.spatial));
    return std::nullopt;
  }

  Broken inside_buffer(const Stmt& s, const Surroundings& around, int index, std::size_t d, const Hull& touched,
                       std::span<const IndexExpr> conditions) const {
    const Buffer& buffer = nest_.buffers[static_cast<std::size_t>(index)];
    return inside(s, around, "compute-in-buffer", touched.low - buffer.origin[d], touched.high - buffer.origin[d],
                  buffer.extents[d], fmt::format("dimension {} of buffer {}", d, buffer.name), conditions);
  }

  /// Values of a stage's index over the box of a computation, as expressions of the nest.
  Hull hull(const IndexExpr& e, const Compute& compute) const {
    Hull sum{e.constant(), e.constant()};
    for (const IndexTerm& term : e.terms()) {
      const Hull value = hull(term.atom, compute);
      sum.low += (term.coefficient > 0 ? value.low : value.high) * term.coefficient;
      sum.high += (term.coefficient > 0 ? value.high : value.low) * term.coefficient;
    }
    return sum;
  }

  Hull hull(const IndexAtom& atom, const Compute& compute) const {
    const auto argument = [&](std::size_t i) { return hull((*atom.args)[i], compute); };
    switch (atom.kind) {
      case IndexAtom::Kind::variable: {
        // A finish runs over the spatial axes only, and its reads use no others.
        const std::size_t axis = atom.variable.index();
        if (axis >= compute.box.size()) return {0, 0};
        return {compute.box[axis].start, compute.box[axis].start + compute.box[axis].extent - 1};
      }
      case IndexAtom::Kind::floor_div: {
        const Hull a = argument(0);
        return {floor_div(a.low, atom.number), floor_div(a.high, atom.number)};
      }
      case IndexAtom::Kind::remainder: {
        const Hull a = argument(0);
        if (a.low == a.high) return {remainder(a.low, atom.number), remainder(a.low, atom.number)};
        return {0, atom.number - 1};
      }
      case IndexAtom::Kind::minimum: {
        const Hull a = argument(0);
        const Hull b = argument(1);
        return {minimum(a.low, b.low), minimum(a.high, b.high)};
      }
      case IndexAtom::Kind::maximum: {
        const Hull a = argument(0);
        const Hull b = argument(1);
        return {maximum(a.low, b.low), maximum(a.high, b.high)};
      }
      case IndexAtom::Kind::table: {
        const Hull a = argument(0);
        if (a.low == a.high) return {lookup(atom.table, a.low), lookup(atom.table, a.low)};
        // Tables need not rise: running minima from the right and maxima from the left bound every window. The names
        // are those that lower() gives such tables, so that equal bounds cancel.
        std::vector<std::int64_t> low = atom.table->values;
        std::vector<std::int64_t> high = atom.table->values;
        for (std::size_t k = low.size() - 1; k-- > 0;) low[k] = std::min(low[k], low[k + 1]);
        for (std::size_t k = 1; k < high.size(); ++k) high[k] = std::max(high[k], high[k - 1]);
        const auto bounding = [&](std::vector<std::int64_t> values, const char* suffix) {
          const std::string name = values == atom.table->values ? atom.table->name : atom.table->name + suffix;
          return std::make_shared<const IndexTable>(IndexTable{name, std::move(values)});
        };
        return {lookup(bounding(low, "_low"), a.low), lookup(bounding(high, "_high"), a.high)};
      }
      case IndexAtom::Kind::tensor_value: {
        const auto& buffer = compute.read_buffers.at(static_cast<std::size_t>(atom.number));
        if (buffer && element_count(nest_.buffers[static_cast<std::size_t>(*buffer)].extents) == 1) {
          return {tensor_value(*buffer, atom.bound), tensor_value(*buffer, atom.bound)};
        }
        return {0, atom.bound - 1};
      }
    }
    return {0, 0};
  }

  const LoopNest& nest_;
  Prover prover_;
  std::map<int, Provided> provided_;  ///< by buffer, of the last statement that put something there
};

}  // namespace

Broken verify_bounds(const LoopNest& nest) { return BoundsCheck(nest).run(); }

}  // namespace stowage
