// SPDX-License-Identifier: Apache-2.0
// One walk over the nest with the state of every buffer: what it holds, and which transfers are under way. A loop's
// body is walked again as long as its end leaves another state than its start had, so that what the second trip finds
// is checked too. Buffers may lie over each other: whoever writes one destroys what the others hold.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

enum class Holds : std::uint8_t {
  nothing,  ///< never written, or overwritten through another buffer
  filled,   ///< one value everywhere: where a reduction starts
  partial,  ///< a reduction that its finish has still to complete
  complete
};

std::string_view text(Holds holds) {
  static constexpr std::array<std::string_view, 4> texts = {"nothing was put there", "it is only filled",
                                                            "its reduction is not finished", "it is complete"};
  return texts[static_cast<std::size_t>(holds)];
}

struct State {
  std::vector<Holds> holds;  ///< by buffer
  std::set<int> in_flight;   ///< statement ids of transfers
  friend auto operator<=>(const State&, const State&) = default;
};

class FlowCheck {
 public:
  explicit FlowCheck(const LoopNest& nest) : nest_(nest) {
    state_.holds.assign(nest.buffers.size(), Holds::nothing);
    for (const Buffer& a : nest.buffers) {
      std::vector<bool>& row = overlap_.emplace_back();
      for (const Buffer& b : nest.buffers) {
        row.push_back(a.offset < b.offset + b.bytes() && b.offset < a.offset + a.bytes());
      }
    }
    std::map<VarId, std::set<VarId>> uses;  // of let variables: what they come from
    const auto expanded = [&](const IndexExpr& e) {
      std::set<VarId> all;
      for (const VarId v : variables_of(e)) {
        const auto definition = uses.find(v);
        if (definition == uses.end()) {
          all.insert(v);
        } else {
          all.insert(definition->second.begin(), definition->second.end());
        }
      }
      return all;
    };
    visit_statements(nest.body, [&](const Stmt& s) {
      if (std::holds_alternative<Dma>(s.node)) transfers_[s.id] = &s;
      if (const auto* let = std::get_if<Let>(&s.node)) uses[let->variable] = expanded(let->value);
    });
    for (const Buffer& buffer : nest.buffers) {
      std::set<VarId>& moves_with = moves_with_.emplace_back();
      for (const IndexExpr& origin : buffer.origin) moves_with.merge(expanded(origin));
    }
  }

  Broken run() {
    if (auto broken = block(nest_.body)) return broken;
    return none_in_flight();
  }

 private:
  [[nodiscard]] const Buffer& buffer(int index) const { return nest_.buffers[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const Dma& dma(int statement) const { return std::get<Dma>(transfers_.at(statement)->node); }
  [[nodiscard]] Holds& holds(int index) { return state_.holds[static_cast<std::size_t>(index)]; }

  [[nodiscard]] bool overlap(int a, int b) const {
    return overlap_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  }

  Broken none_in_flight() const {
    if (state_.in_flight.empty()) return std::nullopt;
    const Stmt& s = *transfers_.at(*state_.in_flight.begin());
    return broken_rule(nest_, "transfer-awaited", s, "the transfer is never awaited");
  }

  Broken block(const Block& statements) {
    for (const StmtPtr& s : statements) {
      if (auto broken = statement(*s)) return broken;
    }
    return std::nullopt;
  }

  /// Transfers started inside must end inside: the body may run once more, or never.
  Broken same_in_flight(const Stmt& s, const State& before) const {
    for (const int id : state_.in_flight) {
      if (!before.in_flight.contains(id)) {
        return broken_rule(nest_, "transfer-awaited", *transfers_.at(id),
                           fmt::format("the transfer is not awaited before statement {} ends or begins again", s.id));
      }
    }
    for (const int id : before.in_flight) {
      if (!state_.in_flight.contains(id)) {
        return broken_rule(
            nest_, "transfer-awaited", *transfers_.at(id),
            fmt::format("the transfer is awaited inside statement {}, which may not run or run again", s.id));
      }
    }
    return std::nullopt;
  }

  Broken statement(const Stmt& s) {
    if (const auto* loop = std::get_if<Loop>(&s.node)) {
      const auto known = after_loop_.find({s.id, state_});
      if (known != after_loop_.end()) {
        state_ = known->second;
        return std::nullopt;
      }
      const State entered = state_;
      // Trips are walked until one begins as an earlier one did; it can show nothing new.
      for (std::set<State> begun;;) {
        const State after_trip = state_;
        // What a buffer holds belongs to its origin; the next trip's is another one.
        for (std::size_t b = 0; b < state_.holds.size(); ++b) {
          if (moves_with_[b].contains(loop->variable)) state_.holds[b] = Holds::nothing;
        }
        if (!begun.insert(state_).second) {
          state_ = after_trip;
          break;
        }
        const State before = state_;
        if (auto broken = block(loop->body)) return broken;
        if (auto broken = same_in_flight(s, before)) return broken;
      }
      after_loop_.emplace(std::pair{s.id, entered}, state_);
      return std::nullopt;
    }
    if (const auto* guard = std::get_if<Guard>(&s.node)) {
      const State before = state_;
      if (auto broken = block(guard->body)) return broken;
      if (auto broken = same_in_flight(s, before)) return broken;
      for (std::size_t b = 0; b < state_.holds.size(); ++b) {
        state_.holds[b] = std::min(state_.holds[b], before.holds[b]);
      }
      return std::nullopt;
    }
    if (const auto* transfer = std::get_if<Dma>(&s.node)) return start(s, *transfer);
    if (const auto* wait = std::get_if<Wait>(&s.node)) {
      if (state_.in_flight.erase(wait->dma) == 0) {
        return broken_rule(nest_, "transfer-awaited", s,
                           fmt::format("transfer {} is not under way on this path", wait->dma));
      }
      if (dma(wait->dma).direction == DmaDirection::get) return write(s, dma(wait->dma).buffer, Holds::complete);
      return std::nullopt;
    }
    if (const auto* fill = std::get_if<Fill>(&s.node)) return filling(s, *fill);
    if (const auto* compute = std::get_if<Compute>(&s.node)) return computation(s, *compute);
    return std::nullopt;
  }

  Broken start(const Stmt& s, const Dma& transfer) {
    const NestTensor& tensor = nest_.tensors[static_cast<std::size_t>(transfer.nest_tensor)];
    if (state_.in_flight.contains(s.id)) {
      return broken_rule(nest_, "transfer-awaited", s, "the transfer starts again before it was awaited");
    }
    if (transfer.direction == DmaDirection::put) {
      if (auto broken = read(s, transfer.buffer)) return broken;
    } else {
      if (tensor.written) {
        return broken_rule(nest_, "get-of-written", s,
                           fmt::format("{} is written in this launch, by other cores too", tensor.name));
      }
      if (auto broken = untouched_in_flight(s, transfer.buffer, true)) return broken;
    }
    state_.in_flight.insert(s.id);
    return std::nullopt;
  }

  /// No transfer under way uses these bytes; a put may go on while its source is only read.
  Broken untouched_in_flight(const Stmt& s, int index, bool written) const {
    for (const int id : state_.in_flight) {
      const Dma& other = dma(id);
      if (!overlap(other.buffer, index)) continue;
      if (!written && other.direction == DmaDirection::put) continue;
      return broken_rule(nest_, "buffer-in-flight", s,
                         fmt::format("buffer {} is {} while transfer {} of {} is under way", buffer(index).name,
                                     written ? "overwritten" : "read", id, buffer(other.buffer).name));
    }
    return std::nullopt;
  }

  Broken read(const Stmt& s, int index) {
    if (auto broken = untouched_in_flight(s, index, false)) return broken;
    if (holds(index) == Holds::complete) return std::nullopt;
    return broken_rule(nest_, "read-before-there", s,
                       fmt::format("buffer {} is read, but {}", buffer(index).name, text(holds(index))));
  }

  Broken write(const Stmt& s, int index, Holds now) {
    if (auto broken = untouched_in_flight(s, index, true)) return broken;
    for (int other = 0; other < static_cast<int>(nest_.buffers.size()); ++other) {
      if (other != index && overlap(other, index)) holds(other) = Holds::nothing;
    }
    holds(index) = now;
    return std::nullopt;
  }

  /// What a fill leaves out stays what it was.
  Broken filling(const Stmt& s, const Fill& fill) {
    return write(s, fill.buffer, fill.around ? holds(fill.buffer) : Holds::filled);
  }

  Broken computation(const Stmt& s, const Compute& compute) {
    const Stage& stage = nest_.stages.stages[static_cast<std::size_t>(compute.stage)];
    const int output = compute.output_buffer;
    for (std::size_t r = 0; r < stage.reads.size(); ++r) {
      if (!compute.read_buffers[r]) continue;
      const int input = *compute.read_buffers[r];
      if (auto broken = read(s, input)) return broken;
      if (!overlap(input, output)) continue;
      if (!in_place(stage, compute, r)) {
        return broken_rule(nest_, "ldm-sharing", s,
                           fmt::format("buffer {} is read while the result overwrites it in {}", buffer(input).name,
                                       buffer(output).name));
      }
    }
    const bool continues = compute.part != Compute::Part::map;
    if (continues && holds(output) == Holds::nothing) {
      return broken_rule(
          nest_, "read-before-there", s,
          fmt::format("buffer {} is accumulated into, but {}", buffer(output).name, text(holds(output))));
    }
    const bool to_be_finished = compute.part != Compute::Part::finish && stage.finish != nullptr;
    return write(s, output, to_be_finished ? Holds::partial : Holds::complete);
  }

  /// Every element is read before the very same bytes are written.
  [[nodiscard]] bool in_place(const Stage& stage, const Compute& compute, std::size_t r) const {
    const Buffer& input = buffer(*compute.read_buffers[r]);
    const Buffer& output = buffer(compute.output_buffer);
    if (compute.part == Compute::Part::update || input.offset != output.offset) return false;
    if (input.extents != output.extents || byte_size(input.type) != byte_size(output.type)) return false;
    const auto& index = stage.reads[r].index;
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (!index[d].is_variable(VarId(d)) || !(input.origin[d] == output.origin[d])) return false;
    }
    return true;
  }

  const LoopNest& nest_;
  std::map<int, const Stmt*> transfers_;
  std::vector<std::set<VarId>> moves_with_;  ///< by buffer: core and loop variables that its origin depends on
  std::map<std::pair<int, State>, State> after_loop_;  ///< loop and state before it → state after it
  std::vector<std::vector<bool>> overlap_;             ///< by pair of buffers: whether they share bytes
  State state_;
};

}  // namespace

Broken verify_flow(const LoopNest& nest) { return FlowCheck(nest).run(); }

}  // namespace stowage
