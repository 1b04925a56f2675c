// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "lowering/ir/compute_hull.h"
#include "lowering/ir/mesh.h"
#include "lowering/ir/prover.h"
#include "lowering/verify/followed.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

/// The part of a tensor that a buffer holds: what was last loaded or computed there, over core and loop variables.
struct Provided {
  std::vector<Hull> part;
  std::vector<EnclosingLoop> loops;  ///< around that statement
};

class BoundsCheck {
 public:
  explicit BoundsCheck(const LoopNest& nest) : nest_(nest), prover_(nest), followed_(followed_in(nest)) {}

  Broken run() {
    Broken broken;
    visit_with_enclosing(nest_, [&](const Stmt& s, const Enclosing& enclosing) {
      if (!broken) broken = statement(s, enclosing);
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

  Broken statement(const Stmt& s, const Enclosing& around) {
    if (const auto* loop = std::get_if<Loop>(&s.node)) {
      prover_.enter(*loop, around);
      const Interval range = nest_.variables[loop->variable.index()].range;
      if (auto broken = declared_trips(s, *loop, range)) return broken;
      return value_in_range(s, around, loop->variable, IndexExpr(0), loop->extent - 1, {&loop->extent, 1}, range);
    }
    if (const auto* let = std::get_if<Let>(&s.node)) {
      return value_in_range(s, around, let->variable, let->value, let->value, {},
                            nest_.variables[let->variable.index()].range);
    }
    Broken broken;
    visit_uses(s, [&](const BufferUse& use) {
      if (!broken) broken = slot_exists(s, around, use);
    });
    if (broken) return broken;
    if (const auto* dma = std::get_if<Dma>(&s.node)) return transfer(s, around, *dma);
    if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) return broadcasting(s, around, *broadcast);
    if (const auto* fill = std::get_if<Fill>(&s.node)) return filling(s, around, *fill);
    if (const auto* compute = std::get_if<Compute>(&s.node)) return computation(s, around, *compute);
    return std::nullopt;
  }

  Broken holds(const Stmt& s, const Enclosing& around, const Fact& fact, std::span<const IndexExpr> conditions) const {
    const auto violation = prover_.find_negative(around, fact.must_not_be_negative, conditions);
    if (!violation) return std::nullopt;
    if (violation->undecided) {
      return broken_rule(nest_, unchecked_rule, s,
                         fmt::format("too many values to show that it stays inside {}", fact.what));
    }
    const std::string where = prover_.text(*violation);
    return broken_rule(nest_, fact.rule, s,
                       fmt::format("touches {}..{} of {}{}", Prover::value_at(around, fact.low, *violation),
                                   Prover::value_at(around, fact.high, *violation), fact.what,
                                   where.empty() ? "" : " (" + where + ")"));
  }

  /// Pages and panes tell declared ranges as trip counts.
  Broken declared_trips(const Stmt& s, const Loop& loop, Interval range) const {
    const Interval trips = bounds(loop.extent, [&](VarId v) { return nest_.variables[v.index()].range; });
    if (range.high <= std::max<std::int64_t>(trips.high - 1, 0)) return std::nullopt;
    return broken_rule(nest_, "variable-range", s,
                       fmt::format("{} is declared up to {}, but has at most {} iterations",
                                   nest_.variables[loop.variable.index()].name, range.high, trips.high));
  }

  Broken value_in_range(const Stmt& s, const Enclosing& around, VarId variable, const IndexExpr& low,
                        const IndexExpr& high, std::span<const IndexExpr> conditions, Interval range) const {
    const std::string what =
        fmt::format("the declared range {}..{} of {}", range.low, range.high, nest_.variables[variable.index()].name);
    if (auto broken = holds(s, around, {low - range.low, low, high, what, "variable-range"}, conditions)) return broken;
    return holds(s, around, {IndexExpr(range.high) - high, low, high, what, "variable-range"}, conditions);
  }

  Broken slot_exists(const Stmt& s, const Enclosing& around, const BufferUse& use) const {
    const Buffer& buffer = nest_.buffers[use.buffer];
    if (use.slot == IndexExpr(0)) return std::nullopt;
    return inside(s, around, "slot-in-buffer", use.slot, use.slot, buffer.slots,
                  fmt::format("the slots of buffer {}", buffer.name), {});
  }

  static std::vector<IndexExpr> extents_of(const std::vector<Range>& ranges) {
    std::vector<IndexExpr> extents;
    for (const Range& range : ranges) extents.push_back(range.extent);
    return extents;
  }

  /// low..high lies inside [0, size).
  Broken inside(const Stmt& s, const Enclosing& around, std::string_view rule, const IndexExpr& low,
                const IndexExpr& high, std::int64_t size, const std::string& what,
                std::span<const IndexExpr> conditions) const {
    const std::string which = fmt::format("{}, which has {}", what, size);
    if (auto broken = holds(s, around, {low, low, high, which, rule}, conditions)) return broken;
    return holds(s, around, {IndexExpr(size - 1) - high, low, high, which, rule}, conditions);
  }

  Broken largest_extent(const Stmt& s, const Enclosing& around, const Range& range, std::size_t d,
                        std::span<const IndexExpr> conditions) const {
    return holds(s, around,
                 {IndexExpr(range.max_extent) - range.extent, IndexExpr(0), range.extent - 1,
                  fmt::format("the {} elements that dimension {} is said to have at most", range.max_extent, d),
                  "largest-extent"},
                 conditions);
  }

  Broken transfer(const Stmt& s, const Enclosing& around, const Dma& dma) {
    const NestTensor& tensor = nest_.tensors[dma.nest_tensor];
    const Shape& shape = nest_.stages.tensors[tensor.tensor].shape;
    const std::vector<IndexExpr> conditions = extents_of(dma.region);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const Range& range = dma.region[d];
      const IndexExpr low = range.start;
      const IndexExpr high = range.start + range.extent - 1;
      if (auto broken = inside(s, around, transfer_in_tensor_rule, low, high, shape[d],
                               fmt::format("dimension {} of {}", d, tensor.name), conditions)) {
        return broken;
      }
      if (auto broken = in_box(s, around, dma.buffer, d, {low, high}, conditions)) return broken;
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

  /// Of the source only what the sender has counts: on the other cores it is another box, which stays where it is.
  Broken broadcasting(const Stmt& s, const Enclosing& around, const Broadcast& broadcast) {
    static constexpr std::array<std::string_view, 3> members = {"the columns of a row", "the rows of a column",
                                                                "the cores of the mesh"};
    const Teams teams(nest_, broadcast.to);
    const auto which = static_cast<std::size_t>(broadcast.to) - static_cast<std::size_t>(Space::row);
    if (auto broken = inside(s, around, "sender-in-team", broadcast.sender, broadcast.sender, teams.size(),
                             std::string(members[which]), {})) {
      return broken;
    }
    const std::vector<IndexExpr> conditions = extents_of(broadcast.region);
    const std::vector<IndexExpr> on_sender = with_sender(conditions, nest_, broadcast);
    const StageTensor& tensor = nest_.stages.tensors[nest_.buffers[broadcast.buffer].tensor];
    std::vector<Hull> touched;
    for (std::size_t d = 0; d < broadcast.region.size(); ++d) {
      const Range& range = broadcast.region[d];
      const Hull& part = touched.emplace_back(Hull{range.start, range.start + range.extent - 1});
      if (auto broken = inside(s, around, transfer_in_tensor_rule, part.low, part.high, tensor.shape[d],
                               fmt::format("dimension {} of {}", d, tensor.name), conditions)) {
        return broken;
      }
      if (auto broken = in_box(s, around, broadcast.buffer, d, part, conditions)) return broken;
      if (auto broken = in_box(s, around, broadcast.source, d, part, on_sender)) return broken;
      if (auto broken = largest_extent(s, around, range, d, conditions)) return broken;
    }
    if (auto broken = inside_provided(s, around, broadcast.source, touched, on_sender)) return broken;
    provide(broadcast.buffer, around, broadcast.region, touched.size());
    return std::nullopt;
  }

  /// What a transfer moves of one dimension lies in the box that a use of a buffer is about.
  Broken in_box(const Stmt& s, const Enclosing& around, const BufferUse& use, std::size_t d, const Hull& part,
                std::span<const IndexExpr> conditions) const {
    const Buffer& buffer = nest_.buffers[use];
    const IndexExpr& origin = origin_of(nest_, use)[d];
    return inside(s, around, "transfer-in-buffer", part.low - origin, part.high - origin, buffer.extents[d],
                  fmt::format("dimension {} of buffer {}", d, buffer.name), conditions);
  }

  /// What a fill leaves out lies inside the buffer, and with it all that was computed or loaded.
  Broken filling(const Stmt& s, const Enclosing& around, const Fill& fill) const {
    if (!fill.around) return std::nullopt;
    const Buffer& buffer = nest_.buffers[fill.buffer];
    const auto provided = provided_here(around, fill.buffer);
    for (std::size_t d = 0; d < fill.around->size(); ++d) {
      const Range& kept = (*fill.around)[d];
      const IndexExpr end = kept.start + kept.extent;
      const std::string what = fmt::format("dimension {} of buffer {}", d, buffer.name);
      for (const IndexExpr& distance : {kept.start, kept.extent, IndexExpr(buffer.extents[d]) - end}) {
        const Fact fact{distance, kept.start, end - 1, fmt::format("{}, which has {}", what, buffer.extents[d]),
                        "fill-in-buffer"};
        if (auto broken = holds(s, around, fact, {})) return broken;
      }
      if (!provided) continue;
      const Hull part{(*provided)[d].low - buffer.origin[d], (*provided)[d].high - buffer.origin[d]};
      const std::vector<IndexExpr> conditions = {part.high - part.low + 1};
      for (const IndexExpr& distance : {part.low - kept.start, end - 1 - part.high}) {
        const Fact fact{distance, part.low, part.high, what + ", which are filled over", "fill-over-data"};
        if (auto broken = holds(s, around, fact, conditions)) return broken;
      }
    }
    return std::nullopt;
  }

  /// What the slots of a followed buffer hold says verify_flow().
  void provide(BufferId buffer, const Enclosing& around, const std::vector<Range>& ranges, std::size_t rank) {
    if (followed_.is_followed(buffer)) return;
    Provided& provided = provided_[buffer] = {{}, around.loops()};
    for (std::size_t d = 0; d < rank; ++d) {
      const Expression low = around.expression(ranges[d].start);
      const Expression high = around.expression(ranges[d].start + ranges[d].extent - 1);
      provided.part.push_back({low.expr, high.expr});
    }
  }

  /// The part of a buffer that holds something; nothing where there is none, which verify_flow() finds. Of a loop that
  /// has ended it is what the last trip put there.
  std::optional<std::vector<Hull>> provided_here(const Enclosing& around, BufferId buffer) const {
    const auto found = provided_.find(buffer);
    if (found == provided_.end()) return std::nullopt;
    std::vector<Hull> part = found->second.part;
    const auto& loops = found->second.loops;
    for (std::size_t l = loops.size(); l-- > 0;) {
      if (l < around.loops().size() && around.loops()[l].variable == loops[l].variable) break;
      const auto at_last = [&](VarId v) {
        return v.index() == loops[l].variable ? loops[l].trips.expr - 1 : IndexExpr(v);
      };
      for (Hull& hull : part) hull = {substitute(hull.low, at_last), substitute(hull.high, at_last)};
    }
    return part;
  }

  /// What is touched of a tensor is what was loaded or computed; beyond the tensor lies padding.
  Broken inside_provided(const Stmt& s, const Enclosing& around, BufferId index, const std::vector<Hull>& touched,
                         std::vector<IndexExpr> conditions) const {
    const auto provided = provided_here(around, index);
    if (!provided) return std::nullopt;
    const Buffer& buffer = nest_.buffers[index];
    const StageTensor& tensor = nest_.stages.tensors[buffer.tensor];
    std::vector<Hull> in_tensor;
    for (std::size_t d = 0; d < touched.size(); ++d) {
      in_tensor.push_back({maximum(touched[d].low, 0), minimum(touched[d].high, tensor.shape[d] - 1)});
      conditions.push_back(in_tensor[d].high - in_tensor[d].low + 1);
    }
    for (std::size_t d = 0; d < touched.size(); ++d) {
      const std::string what =
          fmt::format("dimension {} of {}, of which buffer {} holds another part", d, tensor.name, buffer.name);
      const Hull& part = (*provided)[d];
      for (const IndexExpr& distance : {in_tensor[d].low - part.low, part.high - in_tensor[d].high}) {
        const Fact fact{distance, in_tensor[d].low, in_tensor[d].high, what, "touches-what-is-there"};
        if (auto broken = holds(s, around, fact, conditions)) return broken;
      }
    }
    return std::nullopt;
  }

  Broken computation(const Stmt& s, const Enclosing& around, const Compute& compute) {
    const Stage& stage = nest_.stages.stages[compute.stage];
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
    for (std::size_t d = 0; d < stage.spatial; ++d) {
      const Range& range = compute.box[d];
      if (auto broken = inside_buffer(s, around, compute.output_buffer, d,
                                      {range.start, range.start + range.extent - 1}, conditions)) {
        return broken;
      }
    }
    for (const ReadId r : stage.reads.ids()) {
      if (!compute.read_buffers[r]) continue;
      std::vector<Hull> touched;
      for (const IndexExpr& index : stage.reads[r].index) touched.push_back(hull_of(nest_, index, compute));
      for (std::size_t d = 0; d < touched.size(); ++d) {
        if (auto broken = inside_buffer(s, around, *compute.read_buffers[r], d, touched[d], conditions)) return broken;
      }
      if (auto broken = inside_provided(s, around, *compute.read_buffers[r], touched, conditions)) return broken;
    }
    if (compute.part == Compute::Part::finish) {
      std::vector<Hull> summed;
      for (const Range& range : compute.box) summed.push_back({range.start, range.start + range.extent - 1});
      if (auto broken = inside_provided(s, around, compute.output_buffer, summed, conditions)) return broken;
    }
    provide(compute.output_buffer, around, compute.box, stage.spatial);
    return std::nullopt;
  }

  Broken inside_buffer(const Stmt& s, const Enclosing& around, const BufferUse& use, std::size_t d, const Hull& touched,
                       std::span<const IndexExpr> conditions) const {
    const Buffer& buffer = nest_.buffers[use.buffer];
    const IndexExpr& origin = origin_of(nest_, use)[d];
    return inside(s, around, "compute-in-buffer", touched.low - origin, touched.high - origin, buffer.extents[d],
                  fmt::format("dimension {} of buffer {}", d, buffer.name), conditions);
  }

  const LoopNest& nest_;
  Prover prover_;
  Followed followed_;
  std::map<BufferId, Provided> provided_;  ///< of the last statement that put something there
};

}  // namespace

Broken verify_bounds(const LoopNest& nest) { return BoundsCheck(nest).run(); }

}  // namespace stowage
