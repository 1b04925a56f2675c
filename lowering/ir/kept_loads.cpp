// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/kept_loads.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "lowering/ir/enclosing.h"
#include "lowering/ir/trip_chain.h"

namespace stowage {
namespace {

/// What loops' variables are in the trip that a get loads for, where that is not the trip that it stands in.
using TripValues = std::map<VarId, IndexExpr>;

IndexExpr in_that_trip(const IndexExpr& e, const TripValues& values) {
  return substitute(e, [&](VarId v) {
    const auto found = values.find(v);
    return found == values.end() ? IndexExpr(v) : found->second;
  });
}

/// A get, over core and loop variables.
struct LoadOfTrip {
  StatementId id;
  const Dma* dma = nullptr;
  std::vector<IndexExpr> origin;
  std::vector<IndexExpr> starts;        ///< of its region
  std::vector<VarId> loops;             ///< around it, outermost first
  bool is_guarded = false;              ///< by whatever
  std::optional<TripChain> chain;       ///< that it loads ahead along
  TripValues by;                        ///< what loops' variables are there, by name where they have one
  std::optional<StatementId> last_let;  ///< before it, in as many guards
};

/// A window's sum and a buffer that it reads.
struct WindowRead {
  const SlidingWindow* window = nullptr;
  BufferId buffer;
  std::vector<IndexExpr> origin;  ///< of what is read
  std::vector<VarId> loops;
  std::size_t dimension = 0;  ///< that moves with the window
  IndexExpr needed;           ///< from where on, in any trip; over core and loop variables
  std::int64_t kept = 0;      ///< elements of it that are not needed, in all trips but the first
};

/// Bytes that are worth a call: a core of the SW26010 that loads by itself moves as many in the time that one takes
/// (200; where many cores load, a call is worth fewer).
constexpr std::int64_t bytes_worth_a_call = 256;

std::vector<VarId> loops_outside_of(const Enclosing& around) {
  std::vector<VarId> loops;
  for (const EnclosingLoop& loop : around.loops()) loops.emplace_back(loop.variable);
  return loops;
}

class LoadFinder {
 public:
  LoadFinder(const LoopNest& nest, const std::vector<SlidingWindow>& windows) : nest_(nest), windows_(windows) {}

  std::map<StatementId, ShorterLoad> run() {
    visit_with_enclosing(nest_, [&](const Stmt& s, const Enclosing& around) { look_at(s, around); });
    std::map<StatementId, ShorterLoad> found;
    for (const WindowRead& reading : readings_) {
      const auto gets = gets_.find(reading.buffer);
      if (gets == gets_.end() || readers_[reading.buffer] != 1 || used_otherwise_.contains(reading.buffer)) continue;
      found.merge(loads_for(reading, gets->second));
    }
    return found;
  }

 private:
  void look_at(const Stmt& s, const Enclosing& around) {
    if (const auto* let = std::get_if<Let>(&s.node)) {
      if (around.guards().empty()) names_.emplace_back(let->variable, around.expanded(let->value));
      last_let_ = {s.id, around.guards().size()};
    } else if (const auto* fill = std::get_if<Fill>(&s.node)) {
      used_otherwise_.insert(fill->buffer);
    } else if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) {
      // In place it sends what one core has loaded to those that read it as that core does.
      if (broadcast->source.buffer != broadcast->buffer.buffer)
        used_otherwise_.insert({broadcast->source.buffer, broadcast->buffer.buffer});
    } else if (const auto* dma = std::get_if<Dma>(&s.node)) {
      if (dma->direction == DmaDirection::put) {
        used_otherwise_.insert(dma->buffer);
      } else {
        add_get(s, *dma, around);
      }
    } else if (const auto* compute = std::get_if<Compute>(&s.node)) {
      used_otherwise_.insert(compute->output_buffer);
      for (const ReadId read : compute->read_buffers.ids()) {
        const auto& use = compute->read_buffers[read];
        if (use) ++readers_[use->buffer];
      }
      for (const SlidingWindow& window : windows_) {
        if (window.chain.sum->id == s.id) add_readings(window, *compute, around);
      }
    }
  }

  [[nodiscard]] std::vector<IndexExpr> expanded_origin(const BufferUse& use, const Enclosing& around) const {
    std::vector<IndexExpr> origin;
    for (const IndexExpr& e : origin_of(nest_, use)) origin.push_back(around.expanded(e));
    return origin;
  }

  void add_get(const Stmt& s, const Dma& dma, const Enclosing& around) {
    LoadOfTrip get;
    get.id = s.id;
    get.dma = &dma;
    get.origin = expanded_origin(dma.buffer, around);
    for (const Range& range : dma.region) get.starts.push_back(around.expanded(range.start));
    get.loops = loops_outside_of(around);
    get.is_guarded = !around.guards().empty();
    const std::int64_t ahead = nest_.buffers[dma.buffer].slots - 1;
    if (ahead > 0 && get.is_guarded && around.guards().back().size() == 1)
      get.chain = chain_ahead(around, around.guards().back().front().expr, ahead);
    if (get.chain) {
      for (const auto& [variable, value] : get.chain->ahead(ahead)) {
        const auto name = std::find_if(names_.begin(), names_.end(), [&](const auto& n) { return n.second == value; });
        get.by.emplace(variable, name == names_.end() || value.is_constant() ? value : IndexExpr(name->first));
      }
    }
    if (last_let_ && last_let_->second == around.guards().size()) get.last_let = last_let_->first;
    gets_[dma.buffer].push_back(std::move(get));
  }

  void add_readings(const SlidingWindow& window, const Compute& sum, const Enclosing& around) {
    const Stage& stage = nest_.stages.stages[sum.stage];
    const IndexExpr kept_from = around.expanded(origin_of(nest_, sum.output_buffer)[window.dimension]) +
                                minimum(IndexExpr(window.along), 1) * window.kept;
    for (const ReadId read : sum.read_buffers.ids()) {
      const auto& use = sum.read_buffers[read];
      if (!use) continue;
      const auto motion = motion_of(stage.reads[read].index, VarId(window.dimension));
      if (!motion || !tensor_values_of(stage.reads[read].index[motion->dimension]).empty()) continue;
      const auto& [dimension, step] = *motion;
      // Of all that one element asks for, the first.
      const IndexExpr rest = stage.reads[read].index[dimension] - IndexExpr(VarId(window.dimension)) * step;
      const Interval first = bounds(rest, [&](VarId axis) {
        const Range& range = sum.box[axis.index()];
        const auto of_nest = [&](VarId v) { return nest_.variables[v.index()].range; };
        return Interval{bounds(range.start, of_nest).low, bounds(range.start + range.extent - 1, of_nest).high};
      });
      readings_.push_back({&window, use->buffer, expanded_origin(*use, around), loops_outside_of(around), dimension,
                           kept_from * step + first.low, window.kept * step});
    }
  }

  /// The loads for what is read, if each of them is known to be for a trip of its own.
  [[nodiscard]] std::map<StatementId, ShorterLoad> loads_for(const WindowRead& reading,
                                                             const std::vector<LoadOfTrip>& gets) const {
    const std::int64_t slots = nest_.buffers[reading.buffer].slots;
    if (std::ssize(gets) != slots) return {};
    std::map<StatementId, ShorterLoad> found;
    for (const LoadOfTrip& get : gets) {
      if (byte_size(nest_.buffers[reading.buffer].type) % get.dma->unit_bytes != 0) return {};
      TripValues values, named;
      if (slots == 1) {
        if (!is_in_trip(reading, get)) return {};
      } else if (&get == &gets.back()) {
        if (!get.chain || !get.chain->has(reading.window->along)) return {};
        values = get.chain->ahead(slots - 1);
        named = get.by;
      } else {
        if (!gets.back().chain) return {};
        for (const auto& [variable, at] : gets.back().chain->at(&get - gets.data())) values.emplace(variable, at);
        named = values;
      }
      for (std::size_t d = 0; d < get.origin.size(); ++d) {
        if (!(get.origin[d] == in_that_trip(reading.origin[d], values))) return {};
      }
      const IndexExpr& start = get.starts[reading.dimension];
      const IndexExpr more = in_that_trip(reading.needed, values) - start;
      const Interval skipped = bounds(more, [&](VarId v) { return nest_.variables[v.index()].range; });
      const bool is_shorter = skipped.high > 0 && !(maximum(start, start + more) == start);
      if (!is_shorter || !is_worth_its_calls(reading, *get.dma)) continue;
      const IndexExpr needed = in_that_trip(reading.needed, named);
      const IndexExpr from = skipped.low >= 0 ? needed : maximum(get.dma->region[reading.dimension].start, needed);
      found.emplace(get.id, ShorterLoad{reading.dimension, from, get.last_let});
    }
    return found;
  }

  /// What lies one behind the other in the buffer may be moved by one call, a part of it by one for each of the outer
  /// dimensions' elements.
  [[nodiscard]] bool is_worth_its_calls(const WindowRead& reading, const Dma& dma) const {
    std::int64_t outer = 1, inner = byte_size(nest_.buffers[reading.buffer].type);
    for (std::size_t d = 0; d < dma.region.size(); ++d) {
      if (d < reading.dimension) outer *= dma.region[d].max_extent;
      if (d > reading.dimension) inner *= dma.region[d].max_extent;
    }
    return outer == 1 || reading.kept * inner >= bytes_worth_a_call;
  }

  /// Whether every trip loads by this get what it reads itself.
  [[nodiscard]] static bool is_in_trip(const WindowRead& reading, const LoadOfTrip& get) {
    const bool is_around = std::find(get.loops.begin(), get.loops.end(), reading.window->along) != get.loops.end();
    return is_around && !get.is_guarded && get.dma->buffer.origin.empty() && get.id < reading.window->chain.sum->id &&
           get.loops.size() <= reading.loops.size() &&
           std::equal(get.loops.begin(), get.loops.end(), reading.loops.begin());
  }

  const LoopNest& nest_;
  const std::vector<SlidingWindow>& windows_;
  std::vector<std::pair<VarId, IndexExpr>> names_;               ///< lets so far, with their values
  std::optional<std::pair<StatementId, std::size_t>> last_let_;  ///< and the number of guards around it
  std::map<BufferId, std::vector<LoadOfTrip>> gets_;             ///< in program order
  std::map<BufferId, int> readers_;
  std::set<BufferId> used_otherwise_;
  std::vector<WindowRead> readings_;
};

}  // namespace

std::map<StatementId, ShorterLoad> shorter_loads(const LoopNest& nest, const std::vector<SlidingWindow>& windows) {
  return LoadFinder(nest, windows).run();
}

std::map<StatementId, ShorterLoad> shorter_loads(const LoopNest& nest) {
  return shorter_loads(nest, sliding_windows(nest));
}

}  // namespace stowage
