// SPDX-License-Identifier: Apache-2.0
// Gets of whole boxes become gets of what of them lies inside the tensor, and fills of the padding outside.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/same_padding.h"
#include "lowering/ir/rewrite.h"
#include "lowering/nest/padding.h"
#include "lowering/nest/passes.h"

namespace stowage {
namespace {

/// Where no block out of the open ones is meant but the place right before the get.
constexpr std::size_t at_the_get = std::size_t(-1);

class ClipAndPad final : public NestRewriter {
 public:
  explicit ClipAndPad(LoopNest before) : NestRewriter(std::move(before)) {
    visit_statements(nest().body, [&](const Stmt& s) {
      if (const auto* compute = std::get_if<Compute>(&s.node)) note_reads(*compute);
      const auto* fill = std::get_if<Fill>(&s.node);
      if (fill != nullptr && fill->around) filled_.insert(fill->buffer);
    });
  }

 private:
  /// What the accesses that a buffer serves want of it.
  struct Served {
    std::optional<double> padding;
    std::vector<Interval> reach;  ///< per dimension of the tensor, over all points of their stages; only with padding
  };

  void note_reads(const Compute& compute) {
    const Stage& stage = nest().stages.stages[compute.stage];
    for (const ReadId r : compute.read_buffers.ids()) {
      if (!compute.read_buffers[r]) continue;
      const Access& access = stage.reads[r];
      const auto [entry, first] = served_.try_emplace(*compute.read_buffers[r], Served{access.padding, {}});
      Served& served = entry->second;
      // Where accesses want different things there, no fill serves them all; the verifier will say so.
      if (!same_padding(served.padding, access.padding)) served.padding.reset();
      if (!served.padding) continue;
      for (std::size_t d = 0; d < access.index.size(); ++d) {
        const Interval reach = whole_bounds(stage, access.index[d]);
        if (first) {
          served.reach.push_back(reach);
        } else {
          served.reach[d] = {std::min(served.reach[d].low, reach.low), std::max(served.reach[d].high, reach.high)};
        }
      }
    }
  }

  void visit(const StmtPtr& statement) override {
    const auto* dma = std::get_if<Dma>(&statement->node);
    // Of a buffer with padding gets end where the tensor does already, though they may begin where their box does.
    const bool done = dma != nullptr && (filled_.contains(dma->buffer) || !moves_whole_box(*dma));
    if (dma == nullptr || dma->direction != DmaDirection::get || done) return put(statement);
    const auto found = served_.find(dma->buffer);
    const Served* padded = found != served_.end() && found->second.padding ? &found->second : nullptr;
    // The box of another trip, which double-buffer makes of a get that was here before: its names are gone.
    if (!dma->buffer.origin.empty() && (padded == nullptr || !reaches_outside(*dma, *padded))) return put(statement);
    Dma clipped = *dma;
    bool changed = false;
    for (std::size_t d = 0; d < dma->region.size(); ++d) {
      Range range = clip(*dma, d, padded);
      const Range& before = dma->region[d];
      changed = changed || !(range.start == before.start) || !(range.extent == before.extent) ||
                range.max_extent != before.max_extent;
      clipped.region[d] = std::move(range);
    }
    if (padded != nullptr) fill_outside(*dma, *padded);
    put(changed ? with_node(*statement, std::move(clipped)) : statement);
  }

  [[nodiscard]] bool moves_whole_box(const Dma& dma) const {
    const std::vector<IndexExpr>& origin = origin_of(nest(), dma.buffer);
    for (std::size_t d = 0; d < dma.region.size(); ++d) {
      if (!(dma.region[d].start == origin[d])) return false;
    }
    return true;
  }

  [[nodiscard]] bool reaches_outside(const Dma& dma, const Served& served) const {
    for (std::size_t d = 0; d < served.reach.size(); ++d) {
      if (served.reach[d].low < 0 || served.reach[d].high > last_of(dma, d)) return true;
    }
    return false;
  }

  [[nodiscard]] const Buffer& buffer_of(const Dma& dma) const { return nest().buffers[dma.buffer]; }
  [[nodiscard]] std::int64_t last_of(const Dma& dma, std::size_t d) const {
    return nest().stages.tensors[buffer_of(dma).tensor].shape[d] - 1;
  }
  [[nodiscard]] static Span box_of(const Dma& dma, std::size_t d) {
    return {dma.region[d].start, dma.region[d].start + dma.region[d].extent - 1};
  }
  [[nodiscard]] std::string name_of(const Dma& dma) const {
    const std::string& name = buffer_of(dma).name;
    return name.ends_with("_ldm") ? name.substr(0, name.size() - 4) : name;
  }

  /// One dimension of the region, start and extent under names of their own. `padded` is null where nothing is read
  /// outside: the access promises to stay inside, but the hull of a table or a remainder may be wider.
  Range clip(const Dma& dma, std::size_t d, const Served* padded) {
    Span box = box_of(dma, d);
    const std::int64_t last = last_of(dma, d);
    if (padded != nullptr && padded->reach[d].low < 0) box.low = maximum(box.low, 0);
    if (padded != nullptr && padded->reach[d].high > last) box.high = minimum(box.high, last);
    IndexExpr extent = box.high - box.low + 1;
    const Interval elements = range_of(extent);
    const std::int64_t most = std::min({buffer_of(dma).extents[d], last + 1, std::max<std::int64_t>(1, elements.high)});
    const auto named = [&](const IndexExpr& value, const char* suffix, const auto& range) {
      if (needs_no_name(value)) return value;
      return IndexExpr(add_let(fmt::format("{}_{}_{}", name_of(dma), d, suffix), value, range()));
    };
    IndexExpr start = named(box.low, "at", [&] { return range_of(box.low); });
    extent = named(extent, "n", [&] { return Interval{std::min(elements.low, most), std::min(elements.high, most)}; });
    return {std::move(start), std::move(extent), most};
  }

  /// Fills the padding along each dimension in the outermost block in which it is known where it lies: nothing inside
  /// overwrites it, as transfers end where the tensor does. There it stands behind the names that the box is made of,
  /// or, outside of all loops, before the one that leads to the get. Every slot gets it: the get may go to any.
  void fill_outside(const Dma& dma, const Served& served) {
    const std::size_t rank = dma.region.size();
    std::map<std::size_t, std::vector<Border>> by_block;
    for (std::size_t d = 0; d < rank; ++d) {
      const Border border = border_of(box_of(dma, d), served.reach[d], last_of(dma, d));
      std::size_t known = 0;
      for (const IndexExpr& e : border.outside) {
        known = std::max(known, tensor_values_of(e).empty() ? outermost_block(e) : at_the_get);
      }
      by_block.try_emplace(known, rank).first->second[d] = border;
    }
    for (const auto& [known, borders] : by_block) {
      auto outside = fill_of(dma.buffer, buffer_of(dma).extents, borders, *served.padding,
                             [&](const IndexExpr& e) { return range_of(e); });
      if (!outside || (known == 0 && stands_already(outside->fill))) continue;
      for (int slot = 0; slot < buffer_of(dma).slots; ++slot) {
        outside->fill.buffer.slot = slot;
        StmtPtr fill = statement_of(*outside, name_of(dma), [&](Stmt::Node node, std::string note) {
          return made(std::move(node), std::move(note));
        });
        if (known == at_the_get) {
          put(std::move(fill));
        } else if (known == 0) {
          put_into(0, std::move(fill));
        } else {
          put_behind(known, names_of_box(dma, borders), std::move(fill));
        }
      }
    }
  }

  /// Outside of all loops, where gets of several trips go to one buffer, the first one's padding serves them all.
  bool stands_already(const Fill& fill) {
    const auto same = [](const Range& a, const Range& b) { return a.start == b.start && a.extent == b.extent; };
    const bool stands = std::any_of(outermost_.begin(), outermost_.end(), [&](const Fill& other) {
      return other.buffer.buffer == fill.buffer &&
             std::equal(fill.around->begin(), fill.around->end(), other.around->begin(), same);
    });
    if (!stands) outermost_.push_back(fill);
    return stands;
  }

  /// The variables of the box along the dimensions that may lie outside.
  [[nodiscard]] static std::set<VarId> names_of_box(const Dma& dma, const std::vector<Border>& borders) {
    std::set<VarId> names;
    for (std::size_t d = 0; d < borders.size(); ++d) {
      if (borders[d].outside.empty()) continue;
      const Span box = box_of(dma, d);
      for (const IndexExpr& e : {box.low, box.high}) {
        const auto used = variables_of(e);
        names.insert(used.begin(), used.end());
      }
    }
    return names;
  }

  std::map<BufferId, Served> served_;
  std::vector<Fill> outermost_;  ///< fills that stand outside of all loops now
  std::set<BufferId> filled_;    ///< those whose padding is filled in the nest as it was
};

}  // namespace

LoopNest clip_and_pad(LoopNest nest, const Target& /*target*/) { return ClipAndPad(std::move(nest)).run(); }

}  // namespace stowage
