// SPDX-License-Identifier: Apache-2.0
#include "lowering/simulate/request_sequences.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/check.h"
#include "core/index.h"
#include "core/overloaded.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/mesh.h"
#include "lowering/ir/team_barriers.h"
#include "lowering/time/cycle_limit.h"

namespace stowage {
namespace {

using Values = std::vector<std::int64_t>;
using Parts = std::vector<SequencePart>;

struct HashOfNumbers {
  template <class Number>
  std::size_t operator()(const std::vector<Number>& numbers) const {
    std::uint64_t hash = 0x9E3779B97F4A7C15U;
    for (const Number number : numbers) hash = (hash ^ static_cast<std::uint64_t>(number)) * 0xFF51AFD7ED558CCDU;
    return static_cast<std::size_t>(hash ^ (hash >> 32U));
  }
};

/// The longest pattern of trips that is looked for. Slots go round with it: of two loops of two slots each, four.
constexpr std::size_t longest_pattern = 4;

/// Which core and loop variables decide what happens inside of a loop, and whether its own is one of them.
struct Deciding {
  std::vector<std::size_t> outside;
  bool own = false;
};

/// What a computation or a fill touches.
std::vector<BufferUse> touched(const Stmt& statement) {
  std::vector<BufferUse> uses;
  if (std::holds_alternative<Fill>(statement.node) || std::holds_alternative<Compute>(statement.node)) {
    visit_uses(statement, [&](const BufferUse& use) { uses.push_back(use); });
  }
  return uses;
}

/// `with_uses`: also which slots a computation touches, behind the others.
std::vector<IndexExpr> deciding_expressions(const Stmt& statement, bool with_uses) {
  std::vector<IndexExpr> found;
  const auto extents = [&](const std::vector<Range>& box) {
    for (const Range& range : box) found.push_back(range.extent);
  };
  std::visit(Overloaded{[&](const Loop& loop) { found.push_back(loop.extent); },
                        [&](const Guard& guard) { found = guard.any_positive; },
                        [&](const Dma& dma) {
                          extents(dma.region);
                          found.push_back(dma.buffer.slot);
                        },
                        [&](const Wait& wait) {
                          if (wait.slot) found.push_back(wait.slot->slot);
                        },
                        [&](const Fill& fill) {
                          if (fill.around) extents(*fill.around);
                        },
                        [&](const Compute& compute) { extents(compute.box); }, [](const Let&) {}, [](const Barrier&) {},
                        [](const Broadcast&) {}},
             statement.node);
  if (!with_uses) return found;
  for (const BufferUse& use : touched(statement)) found.push_back(use.slot);
  return found;
}

/// By the loop's variable.
std::map<std::size_t, Deciding> deciding_variables(const LoopNest& nest, bool with_uses) {
  std::map<std::size_t, std::set<std::size_t>> all;
  std::map<std::size_t, std::set<std::size_t>> bound;  // around and at the loop
  std::set<std::size_t> cores;
  for (const CoreAxis& axis : nest.core_grid) cores.insert(axis.variable.index());
  visit_with_enclosing(nest, [&](const Stmt& statement, const Enclosing& around) {
    std::set<std::size_t> known = cores;
    for (const EnclosingLoop& loop : around.loops()) known.insert(loop.variable);
    std::set<std::size_t> used;
    for (const IndexExpr& e : deciding_expressions(statement, with_uses)) {
      const auto variables = around.expression(e).variables;
      used.insert(variables.begin(), variables.end());
    }
    for (const EnclosingLoop& loop : around.loops()) all[loop.variable].insert(used.begin(), used.end());
    if (const auto* loop = std::get_if<Loop>(&statement.node)) {
      all[loop->variable.index()].insert(used.begin(), used.end());
      known.insert(loop->variable.index());
      bound[loop->variable.index()] = std::move(known);
    }
  });
  std::map<std::size_t, Deciding> deciding;
  for (const auto& [loop, used] : all) {
    Deciding& of_loop = deciding[loop];
    for (const std::size_t variable : used) {
      if (variable == loop) {
        of_loop.own = true;
      } else if (bound.at(loop).contains(variable)) {
        of_loop.outside.push_back(variable);
      }
    }
  }
  return deciding;
}

/// A statement with what decides compiled, as it is walked for every core.
struct WalkedStatement {
  const Stmt* statement = nullptr;
  AskerId number;                      ///< of one that asks for something
  std::vector<CompiledIndex> numbers;  ///< Let: the value; others as deciding_expressions, but for slots
  std::optional<CompiledIndex> slot;
  const Deciding* deciding = nullptr;  ///< Loop
  std::vector<WalkedStatement> body;
};

class SequenceWriter {
 public:
  SequenceWriter(const LoopNest& nest, const ExecutionCosts& costs, Sharing sharing)
      : nest_(nest),
        costs_(costs),
        shares_(sharing != Sharing::none),
        with_uses_(sharing == Sharing::equal_slots),
        barriers_(team_barriers(nest)),
        deciding_(deciding_variables(nest, with_uses_)) {
    for (const auto* meetings : {&barriers_.waits_of, &barriers_.after}) {
      for (const auto& [statement, team] : *meetings) {
        all_.meet_in_rows = all_.meet_in_rows || team == Space::row;
        all_.meet_in_columns = all_.meet_in_columns || team == Space::column;
      }
    }
    if (all_.meet_in_rows || all_.meet_in_columns) all_.columns = nest.mesh->columns;
    SlotId next_slot;
    for (const Buffer& buffer : nest.buffers) {
      first_slot_.push_back(next_slot);
      next_slot = SlotId(next_slot.index() + at(buffer.slots));
    }
    body_ = compiled(nest.body);
    for (const std::size_t variable : variables_of_cores()) cores_deciding_.push_back(variable);
  }

  RequestSequences run() {
    std::unordered_map<Values, SequenceId, HashOfNumbers> known;  // by what decides of a core's coordinates
    for (int core = 0; core < nest_.cores_used(); ++core) {
      values_ = values_of_core(nest_, core);
      core_ = core;
      const Values key = values_at(cores_deciding_);
      const auto found = known.find(key);
      if (shares_ && found != known.end()) {
        all_.of_core.push_back(found->second);
        continue;
      }
      Parts parts;
      write(body_, parts);
      all_.of_core.push_back(sequence_of(std::move(parts)));
      known[key] = all_.of_core.back();
    }
    return std::move(all_);
  }

 private:
  [[nodiscard]] CompiledIndex compiled(const IndexExpr& e) const { return CompiledIndex(e, nest_.variables.size()); }

  std::vector<WalkedStatement> compiled(const Block& block) {
    std::vector<WalkedStatement> made;
    for (const StmtPtr& statement : block) {
      WalkedStatement walked;
      walked.statement = statement.get();
      std::vector<IndexExpr> numbers = deciding_expressions(*statement, with_uses_);
      if (const auto* let = std::get_if<Let>(&statement->node)) numbers.push_back(let->value);
      const auto* wait = std::get_if<Wait>(&statement->node);
      if (std::holds_alternative<Dma>(statement->node) || (wait != nullptr && wait->slot)) {
        walked.slot = compiled(numbers.back());
        numbers.pop_back();
      }
      for (const IndexExpr& e : numbers) walked.numbers.push_back(compiled(e));
      if (const auto* loop = std::get_if<Loop>(&statement->node)) {
        walked.deciding = &deciding_.at(loop->variable.index());
      }
      if (const Block* const body = body_of(*statement)) {
        walked.body = compiled(*body);
      } else if (!std::holds_alternative<Let>(statement->node)) {
        walked.number = all_.statements.push_back(statement.get());
        number_of_[statement->id] = walked.number;
      }
      made.push_back(std::move(walked));
    }
    return made;
  }

  /// Coordinates that some expression asks for.
  [[nodiscard]] std::set<std::size_t> variables_of_cores() const {
    std::set<std::size_t> used;
    visit_with_enclosing(nest_, [&](const Stmt& statement, const Enclosing& around) {
      for (const IndexExpr& e : deciding_expressions(statement, with_uses_)) {
        const auto variables = around.expression(e).variables;
        used.insert(variables.begin(), variables.end());
      }
    });
    std::set<std::size_t> of_cores;
    for (const CoreAxis& axis : nest_.core_grid) {
      if (used.contains(axis.variable.index())) of_cores.insert(axis.variable.index());
    }
    return of_cores;
  }

  [[nodiscard]] Values values_at(const std::vector<std::size_t>& variables) const {
    Values values;
    values.reserve(variables.size());
    for (const std::size_t variable : variables) values.push_back(values_[variable]);
    if (barriers_.any()) {
      values.push_back((is_first_of(Space::row) ? 1 : 0) + (is_first_of(Space::mesh) ? 2 : 0) +
                       (is_first_of(Space::column) ? 4 : 0));
    }
    return values;
  }

  /// One core of a team moves and waits for all of them.
  [[nodiscard]] bool is_for_this_core(const Stmt& statement) const {
    // A broadcast passes while its cores meet at the wait.
    if (std::holds_alternative<Broadcast>(statement.node) || barriers_.awaits_broadcast(statement.id)) return false;
    std::optional<Space> team = team_of(statement);
    if (const auto wait = barriers_.waits_of.find(statement.id); wait != barriers_.waits_of.end()) team = wait->second;
    return !team || is_first_of(*team);
  }

  /// Whether the core that is walked moves what its team of a space gets.
  [[nodiscard]] bool is_first_of(Space team) const { return stowage::is_first_of(nest_, team, core_); }

  void write_barrier(const WalkedStatement& walked, const std::map<StatementId, Space>& barriers, Parts& parts) {
    if (barriers.empty()) return;
    const auto found = barriers.find(walked.statement->id);
    if (found == barriers.end()) return;
    Request request;
    request.kind = Request::Kind::barrier;
    request.statement = walked.number;
    request.team = found->second;
    request.meeting_cycles = costs_.meeting_cycles(barriers_, walked.statement->id);
    constexpr std::int64_t none = -1;  // no statement's slot or extent: the key is its own
    const auto [at, is_new] =
        requests_.try_emplace({walked.number.value, none, &barriers == &barriers_.before ? 0 : 1});
    if (is_new) at->second = all_.requests.push_back(request);
    parts.push_back({at->second, {}, 1});
  }

  void write(const std::vector<WalkedStatement>& block, Parts& parts) {
    for (const WalkedStatement& walked : block) {
      if (std::holds_alternative<Loop>(walked.statement->node)) {
        const SequenceId sequence = loop(walked);
        if (!is_empty(sequence)) parts.push_back({std::nullopt, sequence, 1});
      } else if (const auto* let = std::get_if<Let>(&walked.statement->node)) {
        values_[let->variable.index()] = walked.numbers.front()(values_);
      } else if (std::holds_alternative<Guard>(walked.statement->node)) {
        const bool passes = std::any_of(walked.numbers.begin(), walked.numbers.end(),
                                        [&](const CompiledIndex& e) { return e(values_) > 0; });
        if (passes) write(walked.body, parts);
      } else {
        write_barrier(walked, barriers_.before, parts);
        const auto request = is_for_this_core(*walked.statement) ? request_of(walked) : std::nullopt;
        if (request) parts.push_back({request, {}, 1});
        write_barrier(walked, barriers_.after, parts);
      }
    }
  }

  /// The sequence of all trips.
  SequenceId loop(const WalkedStatement& walked) {
    auto& known = of_loop_[walked.statement->id];
    const Values key = values_at(walked.deciding->outside);
    if (const auto found = known.find(key); shares_ && found != known.end()) return found->second;
    const std::int64_t trips = std::max<std::int64_t>(0, walked.numbers.front()(values_));
    const std::size_t variable = std::get<Loop>(walked.statement->node).variable.index();
    const bool alike = shares_ && !walked.deciding->own;
    std::vector<SequenceId> bodies;
    for (std::int64_t trip = 0; trip < (alike ? std::min<std::int64_t>(trips, 1) : trips); ++trip) {
      values_[variable] = trip;
      Parts parts;
      parts.reserve(walked.body.size());
      write(walked.body, parts);
      bodies.push_back(sequence_of(std::move(parts)));
    }
    Parts parts;
    if (alike && trips > 0) {
      if (!is_empty(bodies.front())) parts.push_back({std::nullopt, bodies.front(), trips});
    } else {
      parts = repeated(bodies);
    }
    const SequenceId sequence = sequence_of(std::move(parts));
    known[key] = sequence;
    return sequence;
  }

  [[nodiscard]] bool is_empty(SequenceId sequence) const { return all_.sequences[sequence].parts.empty(); }

  /// Trips one behind another, with what repeats written once.
  Parts repeated(const std::vector<SequenceId>& bodies) {
    Parts parts;
    for (std::size_t at = 0; at < bodies.size();) {
      std::size_t length = 1;
      std::size_t covered = 1;
      for (std::size_t pattern = 1; shares_ && pattern <= longest_pattern; ++pattern) {
        std::size_t same = 0;  // trips behind the first pattern that repeat it
        while (at + pattern + same < bodies.size() && bodies[at + pattern + same] == bodies[at + same]) ++same;
        const std::size_t whole = pattern * (1 + same / pattern);
        if (whole > covered && whole > pattern) {
          length = pattern;
          covered = whole;
        }
      }
      const auto times = static_cast<std::int64_t>(covered / length);
      if (length == 1) {
        if (!is_empty(bodies[at])) parts.push_back({std::nullopt, bodies[at], times});
      } else {
        Parts pattern;
        for (std::size_t i = 0; i < length; ++i) {
          if (!is_empty(bodies[at + i])) pattern.push_back({std::nullopt, bodies[at + i], 1});
        }
        parts.push_back({std::nullopt, sequence_of(std::move(pattern)), times});
      }
      at += covered;
    }
    return parts;
  }

  SequenceId sequence_of(Parts parts) {
    if (shares_) {
      if (parts.size() == 1 && !parts[0].request && parts[0].times == 1) return parts[0].sequence;
      key_.clear();
      for (const SequencePart& part : parts) {
        const std::int64_t number = part.request ? part.request->value : part.sequence.value;
        key_.insert(key_.end(), {part.request ? 1 : 0, number, part.times});
      }
      const auto found = sequences_.find(key_);
      if (found != sequences_.end()) return found->second;
    }
    RequestSequence made;
    made.only_computes = true;
    for (const SequencePart& part : parts) {
      const bool is_request = part.request.has_value();
      const Request* const request = is_request ? &all_.requests[*part.request] : nullptr;
      const RequestSequence* const inner = is_request ? nullptr : &all_.sequences[part.sequence];
      const auto computes = is_request ? part.request : inner->computes;
      if (&part == &parts.front()) made.computes = computes;
      if (!are_alike(made.computes, computes)) made.computes.reset();
      made.only_computes =
          made.only_computes && (is_request ? request->kind == Request::Kind::compute : inner->only_computes);
      std::int64_t cycles = is_request ? request->cycles : inner->cycles;
      if (__builtin_mul_overflow(cycles, part.times, &cycles)) cycles = cycle_limit;
      made.cycles = std::min(cycle_limit, made.cycles + std::min(cycles, cycle_limit));
    }
    if (!made.only_computes) made.computes.reset();
    made.parts = std::move(parts);
    const SequenceId sequence = all_.sequences.push_back(std::move(made));
    if (shares_) sequences_.emplace(key_, sequence);
    return sequence;
  }

  /// Whether two requests, where there are two, are of one statement and touch the same slots.
  [[nodiscard]] bool are_alike(std::optional<RequestId> a, std::optional<RequestId> b) const {
    if (!a || !b) return false;
    const Request& left = all_.requests[*a];
    const Request& right = all_.requests[*b];
    return left.statement == right.statement && left.uses == right.uses;
  }

  /// None of a statement that does nothing here.
  std::optional<RequestId> request_of(const WalkedStatement& walked) {
    key_ = {walked.number.value};
    if (walked.slot) key_.push_back((*walked.slot)(values_));
    for (const CompiledIndex& e : walked.numbers) key_.push_back(e(values_));
    if (const auto found = requests_.find(key_); found != requests_.end()) return found->second;
    const auto at = requests_.emplace(key_, std::nullopt).first;
    const Values& known = at->first;
    const std::span<const std::int64_t> extents = std::span(known).subspan(walked.slot ? 2 : 1);
    const std::optional<Request> request = made_request(walked, walked.slot ? known[1] : 0, extents);
    if (request) at->second = all_.requests.push_back(*request);
    return at->second;
  }

  [[nodiscard]] std::optional<Request> made_request(const WalkedStatement& walked, std::int64_t slot,
                                                    std::span<const std::int64_t> extents) const {
    const Stmt& statement = *walked.statement;
    Request request;
    request.statement = walked.number;
    if (const auto* dma = std::get_if<Dma>(&statement.node)) {
      request.kind = Request::Kind::transfer;
      request.slot = slot_id(dma->buffer, slot);
      request.direction = dma->direction;
      request.execution = costs_.transfer(statement, extents);
      if (request.execution.operations == 0) return std::nullopt;
    } else if (const auto* wait = std::get_if<Wait>(&statement.node)) {
      request.kind = wait->slot ? Request::Kind::await_slot : Request::Kind::await_statement;
      if (wait->slot) {
        request.slot = slot_id(*wait->slot, slot);
      } else {
        request.awaited = number_of_.at(*wait->dma);
      }
    } else if (std::holds_alternative<Barrier>(statement.node)) {
      request.kind = Request::Kind::barrier;
    } else {
      const bool fills = std::holds_alternative<Fill>(statement.node);
      const std::vector<BufferUse> uses = with_uses_ ? touched(statement) : std::vector<BufferUse>();
      const std::span<const std::int64_t> slots = extents.last(uses.size());
      extents = extents.first(extents.size() - uses.size());
      for (std::size_t i = 0; i < uses.size(); ++i) request.uses.push_back(slot_id(uses[i], slots[i]));
      request.cycles = fills ? costs_.fill_cycles(statement, extents) : costs_.compute_cycles(statement, extents);
      if (request.cycles == 0) return std::nullopt;
    }
    return request;
  }

  [[nodiscard]] SlotId slot_id(const BufferUse& use, std::int64_t slot) const {
    const BufferId buffer = use.buffer;
    check(slot >= 0 && slot < nest_.buffers[buffer].slots, "a nest that is simulated names slots that there are");
    return SlotId(first_slot_[buffer].index() + at(slot));
  }

  const LoopNest& nest_;
  const ExecutionCosts& costs_;
  bool shares_;
  bool with_uses_;
  TeamBarriers barriers_;
  int core_ = 0;  ///< that is walked
  std::map<std::size_t, Deciding> deciding_;
  IdVector<BufferId, SlotId> first_slot_;
  std::map<StatementId, AskerId> number_of_;
  std::vector<WalkedStatement> body_;
  std::vector<std::size_t> cores_deciding_;
  Values values_;
  Values key_;  ///< of what is looked for; one for all, as most is there
  RequestSequences all_;
  std::map<StatementId, std::unordered_map<Values, SequenceId, HashOfNumbers>> of_loop_;  ///< then by what decides
  std::unordered_map<Values, std::optional<RequestId>, HashOfNumbers> requests_;
  std::unordered_map<Values, SequenceId, HashOfNumbers> sequences_;
};

}  // namespace

RequestSequences request_sequences(const LoopNest& nest, const ExecutionCosts& costs, Sharing sharing) {
  return SequenceWriter(nest, costs, sharing).run();
}

}  // namespace stowage
