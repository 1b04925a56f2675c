// SPDX-License-Identifier: Apache-2.0
// The loop-nest interpreter: what a nest does to numbers, without emitting it.
//
// Cores communicate through main memory, where none reads what another one writes (verify() checks it), and by
// transfers of teams. A nest without these is run by one core after the other. Else all cores run together: a statement
// with no transfer of a team inside is run by each core that comes to it, to its end; of a loop with one inside, every
// trip is run by all cores that have so many. A core of a team that is not among them would keep the others waiting for
// ever, which is a fault that is reported. LDM starts as NaN. A transfer moves its data when it is awaited, so that a
// missing wait shows in the numbers, as does overwriting the source of a put in flight. Each slot of a buffer is memory
// of its own.
#include "lowering/interpret/interpret.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/index.h"
#include "lowering/interpret/compiled_body.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/mesh.h"

namespace stowage {
namespace {

using Values = std::vector<std::int64_t>;

/// A box in a slot of a buffer.
struct SlotBox {
  BufferUse buffer;
  std::int64_t slot = 0;
  Values start, extent, origin;  ///< start and origin in coordinates of the tensor
};

/// A transfer under way.
struct Transfer {
  const Stmt* statement = nullptr;
  SlotBox box;                     ///< in the LDM of the core that awaits it
  std::optional<Space> team;       ///< if it is one of a team
  int sender = -1;                 ///< Broadcast: core
  SlotBox source;                  ///< Broadcast: in the sender's LDM
  std::vector<std::byte> carried;  ///< Broadcast: the sender's box, from when it is awaited on
};

/// A core on its way through the nest.
struct Core {
  int number = 0;
  Values values;  ///< by variable, then first elements of buffers
  std::vector<std::byte> ldm;
  std::vector<Transfer> pending;  ///< in the order in which they were started
};

/// Copies a box row by row; strides in elements.
void copy_box(const Values& extent, std::int64_t size, const std::byte* from, const Values& from_strides, std::byte* to,
              const Values& to_strides) {
  const std::size_t rank = extent.size();
  const std::int64_t row = rank == 0 ? 1 : extent[rank - 1];
  Values index(rank, 0);
  for (;;) {
    std::int64_t read = 0;
    std::int64_t written = 0;
    for (std::size_t d = 0; d + 1 < rank; ++d) {
      read += index[d] * from_strides[d];
      written += index[d] * to_strides[d];
    }
    std::memcpy(to + written * size, from + read * size, at(row * size));
    std::size_t d = rank == 0 ? 0 : rank - 1;
    while (d > 0 && ++index[d - 1] == extent[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

bool is_empty(const Values& extent) {
  return std::any_of(extent.begin(), extent.end(), [](std::int64_t e) { return e <= 0; });
}

class Interpreter {
 public:
  Interpreter(const LoopNest& nest, const std::map<StageTensorId, Tensor>& inputs) : nest_(nest), inputs_(inputs) {
    for (const StageTensorId t : nest.stages.tensors.ids()) {
      const StageTensor& tensor = nest.stages.tensors[t];
      const bool written = std::any_of(nest.tensors.begin(), nest.tensors.end(),
                                       [&](const NestTensor& n) { return n.tensor == t && n.written; });
      const bool computed = std::any_of(nest.stages.stages.begin(), nest.stages.stages.end(),
                                        [&](const Stage& s) { return s.output == t; });
      if (!written && !computed) continue;
      WrittenTensor& memory = written_[t];
      memory.type = tensor.type;
      memory.shape = tensor.shape;
      // All ones are a NaN of either width; integers start as zero, so that a value never computed looks harmless
      // nowhere but is at least the same every time.
      memory.bytes.assign(at(element_count(tensor.shape) * byte_size(tensor.type)),
                          is_float(tensor.type) ? std::byte{0xff} : std::byte{0});
      in_memory_[t] = written;
    }
    together_ = first_of_team(nest) != nullptr;
    body_ = compiled_body(nest);
  }

  std::map<StageTensorId, Tensor> run() {
    std::size_t ldm_bytes = at(nest_.ldm_bytes);
    for (const Buffer& buffer : nest_.buffers) ldm_bytes = std::max(ldm_bytes, at(buffer.offset + buffer.bytes()));
    const auto begin = [&](int number) {
      return Core{number, values_of_core(nest_, number), std::vector<std::byte>(ldm_bytes, std::byte{0xff}), {}};
    };
    std::vector<int> all;
    for (int number = 0; number < nest_.cores_used(); ++number) {
      all.push_back(number);
      if (together_) {
        cores_.push_back(begin(number));
      } else {
        Core core = begin(number);
        run(body_, core);
      }
    }
    if (together_) run_together(body_, all);
    std::map<StageTensorId, Tensor> results;
    for (auto& [t, memory] : written_) {
      results.emplace(t, Tensor(memory.type, memory.shape, std::move(memory.bytes)));
    }
    return results;
  }

 private:
  // Execution by one core.

  static Values evaluated(const std::vector<CompiledIndex>& expressions, const Core& core) {
    Values results;
    for (const CompiledIndex& e : expressions) results.push_back(e(core.values));
    return results;
  }

  void run(const std::vector<CompiledStatement>& nodes, Core& core) {
    for (const CompiledStatement& node : nodes) run(node, core);
  }

  static bool passes(const CompiledStatement& node, const Core& core) {
    return std::any_of(node.first.begin(), node.first.end(),
                       [&](const CompiledIndex& e) { return e(core.values) > 0; });
  }

  void run(const CompiledStatement& node, Core& core) {
    const Stmt::Node& statement = node.statement->node;
    if (const auto* loop = std::get_if<Loop>(&statement)) {
      const std::int64_t trips = node.first[0](core.values);
      for (std::int64_t trip = 0; trip < trips; ++trip) {
        core.values[loop->variable.index()] = trip;
        run(node.body, core);
      }
    } else if (const auto* let = std::get_if<Let>(&statement)) {
      core.values[let->variable.index()] = node.first[0](core.values);
    } else if (std::holds_alternative<Guard>(statement)) {
      if (passes(node, core)) run(node.body, core);
    } else if (const auto* dma = std::get_if<Dma>(&statement)) {
      core.pending.push_back({node.statement, box_of(node, dma->buffer, core), {}, -1, {}, {}});
    } else if (std::holds_alternative<Wait>(statement)) {
      for (const Transfer& transfer : taken(node, core)) complete(transfer, core);
    } else if (const auto* fill = std::get_if<Fill>(&statement)) {
      filling(node, *fill, core);
    } else if (std::holds_alternative<Compute>(statement)) {
      compute(node, core);
    }
  }

  void filling(const CompiledStatement& node, const Fill& fill, Core& core) const {
    const Buffer& buffer = nest_.buffers.at(fill.buffer);
    const int size = byte_size(buffer.type);
    std::byte* const base = core.ldm.data() + buffer.offset + slot_of(node, fill.buffer, core) * buffer.slot_bytes();
    const std::int64_t elements = element_count(buffer.extents);
    Values low, high;  // of the elements that stay as they are
    for (std::size_t d = 0; d < node.first.size(); ++d) {
      low.push_back(node.first[d](core.values));
      high.push_back(low.back() + node.second[d](core.values) - 1);
    }
    for (std::int64_t i = 0; i < elements; ++i) {
      if (!fill.around || !is_inside(i, buffer.extents, low, high)) {
        store_element(buffer.type, fill.value, base + i * size);
      }
    }
    note_first_element(fill.buffer, core);
  }

  [[nodiscard]] std::int64_t slot_of(const CompiledStatement& node, BufferId buffer, const Core& core) const {
    return checked_slot(nest_, buffer, node.slot(core.values), node.statement->id);
  }

  /// What a transfer moves, where it is in this core's LDM.
  [[nodiscard]] SlotBox box_of(const CompiledStatement& node, const BufferUse& use, const Core& core) const {
    return {use, slot_of(node, use, core), evaluated(node.first, core), evaluated(node.second, core),
            evaluated(node.origin, core)};
  }

  /// The transfers that a wait ends, in the order in which they were started; they are pending no more.
  [[nodiscard]] std::vector<Transfer> taken(const CompiledStatement& node, Core& core) const {
    const auto& wait = std::get<Wait>(node.statement->node);
    const std::int64_t slot = wait.slot ? slot_of(node, *wait.slot, core) : 0;
    const auto is_in_slot = [&](const SlotBox& box) {
      return box.buffer.buffer == wait.slot->buffer && box.slot == slot;
    };
    std::vector<Transfer> ended, rest;
    for (Transfer& transfer : std::exchange(core.pending, {})) {
      const bool is_awaited = wait.slot
                                  ? is_in_slot(transfer.box) || (transfer.sender >= 0 && is_in_slot(transfer.source))
                                  : transfer.statement->id == wait.dma;
      (is_awaited ? ended : rest).push_back(std::move(transfer));
    }
    core.pending = std::move(rest);
    return ended;
  }

  /// Whether element i of a row-major box of `extents` lies in low..high in every dimension.
  static bool is_inside(std::int64_t i, const Values& extents, const Values& low, const Values& high) {
    for (std::size_t d = extents.size(); d-- > 0; i /= extents[d]) {
      const std::int64_t index = i % extents[d];
      if (index < low[d] || index > high[d]) return false;
    }
    return true;
  }

  /// Expressions of the nest may refer to the first element of an integer buffer (a gathered index) of one slot.
  void note_first_element(BufferId number, Core& core) const {
    const Buffer& buffer = nest_.buffers[number];
    if (!is_integer(buffer.type) || element_count(buffer.extents) == 0) return;
    const auto first = core.ldm.begin() + buffer.offset;
    const Tensor element(buffer.type, {1}, std::vector<std::byte>(first, first + byte_size(buffer.type)));
    core.values[nest_.variables.size() + number.index()] = element.as_int64(0);
  }

  /// Bytes from the start of the LDM.
  [[nodiscard]] std::int64_t ldm_offset(const SlotBox& box, const Stmt& statement) const {
    const Buffer& buffer = nest_.buffers.at(box.buffer);
    const Values strides = row_major_strides(buffer.extents);
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < box.extent.size(); ++d) {
      const std::int64_t local = box.start[d] - box.origin[d];
      check(local >= 0 && local + box.extent[d] <= buffer.extents[d],
            fmt::format("statement {} moves elements {}..{} of dimension {} of buffer {}, which has {}",
                        statement.id.index(), local, local + box.extent[d] - 1, d, buffer.name, buffer.extents[d]));
      offset += local * strides[d];
    }
    return buffer.offset + box.slot * buffer.slot_bytes() + offset * byte_size(buffer.type);
  }

  /// The data of a transfer move.
  void complete(const Transfer& transfer, Core& core) {
    const SlotBox& box = transfer.box;
    const Buffer& buffer = nest_.buffers.at(box.buffer);
    const auto* dma = std::get_if<Dma>(&transfer.statement->node);
    if (!is_empty(box.extent)) {
      std::byte* const ldm = core.ldm.data() + ldm_offset(box, *transfer.statement);
      const Values strides = row_major_strides(buffer.extents);
      const std::int64_t size = byte_size(buffer.type);
      if (dma != nullptr) {
        move(*dma, box, *transfer.statement, ldm, strides);
      } else {
        copy_box(box.extent, size, transfer.carried.data(), row_major_strides(box.extent), ldm, strides);
      }
    }
    if (dma == nullptr || dma->direction == DmaDirection::get) note_first_element(box.buffer, core);
  }

  /// Between main memory and the LDM.
  void move(const Dma& dma, const SlotBox& box, const Stmt& statement, std::byte* ldm, const Values& strides) {
    const NestTensor& nest_tensor = nest_.tensors.at(dma.nest_tensor);
    const StageTensor& tensor = nest_.stages.tensors.at(nest_tensor.tensor);
    const auto size = static_cast<std::int64_t>(byte_size(tensor.type));
    const Values memory_strides = row_major_strides(tensor.shape);
    std::int64_t in_memory = 0;
    for (std::size_t d = 0; d < box.extent.size(); ++d) {
      const bool inside = box.start[d] >= 0 && box.start[d] + box.extent[d] <= tensor.shape[d];
      check(inside,
            fmt::format("statement {} moves elements {}..{} of dimension {} of {}, which has {}", statement.id.index(),
                        box.start[d], box.start[d] + box.extent[d] - 1, d, nest_tensor.name, tensor.shape[d]));
      in_memory += box.start[d] * memory_strides[d];
    }
    if (dma.direction == DmaDirection::get) {
      copy_box(box.extent, size, memory_of(nest_tensor.tensor) + in_memory * size, memory_strides, ldm, strides);
    } else {
      std::byte* const written = written_.at(nest_tensor.tensor).bytes.data();
      copy_box(box.extent, size, ldm, strides, written + in_memory * size, memory_strides);
    }
  }

  const std::byte* memory_of(StageTensorId tensor) const {
    if (const auto given = inputs_.find(tensor); given != inputs_.end()) return given->second.bytes().data();
    if (const auto written = written_.find(tensor); written != written_.end()) return written->second.bytes.data();
    const StageTensor& constant = nest_.stages.tensors.at(tensor);
    check(constant.value.has_value(), fmt::format("no value was given for tensor {}", constant.name));
    return constant.value->bytes().data();
  }

  void compute(const CompiledStatement& node, Core& core) {
    const StageTensorId output = nest_.stages.stages[std::get<Compute>(node.statement->node).stage].output;
    // Elements that transfers bring to main memory are not recorded on the way.
    node.runner->run(core.values, core.ldm.data(), in_memory_.at(output) ? nullptr : &written_.at(output));
    note_first_element(node.runner->output_buffer(), core);
  }

  // Execution by all cores together.

  /// By those cores that come to the statements; their numbers ascend.
  void run_together(const std::vector<CompiledStatement>& nodes, const std::vector<int>& coming) {
    for (const CompiledStatement& node : nodes) run_together(node, coming);
  }

  void run_together(const CompiledStatement& node, const std::vector<int>& coming) {
    if (!node.together) {
      for (const int number : coming) run(node, cores_[at(number)]);
    } else if (const auto* loop = std::get_if<Loop>(&node.statement->node)) {
      Values trips(cores_.size(), 0);
      for (const int number : coming) trips[at(number)] = node.first[0](cores_[at(number)].values);
      std::vector<int> left = coming;
      for (std::int64_t trip = 0;; ++trip) {
        std::erase_if(left, [&](int number) { return trip >= trips[at(number)]; });
        if (left.empty()) return;
        for (const int number : left) cores_[at(number)].values[loop->variable.index()] = trip;
        run_together(node.body, left);
      }
    } else if (std::holds_alternative<Guard>(node.statement->node)) {
      std::vector<int> passing = coming;
      std::erase_if(passing, [&](int number) { return !passes(node, cores_[at(number)]); });
      if (!passing.empty()) run_together(node.body, passing);
    } else if (std::holds_alternative<Wait>(node.statement->node)) {
      await_together(node, coming);
    } else {
      start_together(node, coming);
    }
  }

  [[noreturn]] void waits_for_ever(const Stmt& statement, int waiting, int missing, std::string_view why) const {
    fail_check(fmt::format("statement {}: {} waits for ever for {}, which {}", statement.id.index(),
                           core_text(nest_, waiting), core_text(nest_, missing), why));
  }

  /// What the first core of a team asks for is what all of it get.
  void start_together(const CompiledStatement& node, const std::vector<int>& coming) {
    const Teams teams(nest_, *team_of(*node.statement));
    for (const int number : coming) {
      const int team = teams.team_of(number);
      for (int place = 0; place < teams.size(); ++place) {
        const int other = teams.core_at(team, place);
        if (!std::binary_search(coming.begin(), coming.end(), other)) {
          waits_for_ever(*node.statement, number, other, "does not come");
        }
      }
      Core& core = cores_[at(number)];
      if (const auto* broadcast = std::get_if<Broadcast>(&node.statement->node)) {
        core.pending.push_back(received(node, *broadcast, teams, core));
      } else {
        const BufferUse& use = std::get<Dma>(node.statement->node).buffer;
        SlotBox box = box_of(node, use, cores_[at(teams.core_at(team, 0))]);
        core.pending.push_back({node.statement, std::move(box), team_of(*node.statement), -1, {}, {}});
      }
    }
  }

  /// What a core expects of a broadcast, if its sender sends it.
  [[nodiscard]] Transfer received(const CompiledStatement& node, const Broadcast& broadcast, const Teams& teams,
                                  const Core& core) const {
    const int team = teams.team_of(core.number);
    const std::int64_t place = node.sender(core.values);
    check(place >= 0 && place < teams.size(),
          fmt::format("statement {}: {} waits for ever for a sender that there is not", node.statement->id.index(),
                      core_text(nest_, core.number)));
    const Core& sender = cores_[at(teams.core_at(team, static_cast<int>(place)))];
    const Core& first = cores_[at(teams.core_at(team, 0))];
    check(
        node.sender(first.values) == place,
        fmt::format("statement {}: all wait for ever: {} is to send for {}, but not for {}", node.statement->id.index(),
                    core_text(nest_, sender.number), core_text(nest_, core.number), core_text(nest_, first.number)));
    SlotBox source{
        broadcast.source, checked_slot(nest_, broadcast.source, node.source_slot(sender.values), node.statement->id),
        evaluated(node.first, sender), evaluated(node.second, sender), evaluated(node.source_origin, sender)};
    SlotBox box = box_of(node, broadcast.buffer, core);
    check(box.extent == source.extent,
          fmt::format("statement {}: {} takes a box of another size than {} sends", node.statement->id.index(),
                      core_text(nest_, core.number), core_text(nest_, sender.number)));
    return {node.statement, std::move(box), broadcast.to, sender.number, std::move(source), {}};
  }

  void await_together(const CompiledStatement& node, const std::vector<int>& coming) {
    std::map<int, std::vector<Transfer>> ended;  // by core
    for (const int number : coming) ended[number] = taken(node, cores_[at(number)]);
    for (auto& [number, transfers] : ended) {
      for (Transfer& transfer : transfers) {
        if (!transfer.team) continue;
        all_await(node, transfer, number, ended);
        if (transfer.sender < 0 || is_empty(transfer.source.extent)) continue;
        const Buffer& buffer = nest_.buffers.at(transfer.source.buffer);
        const std::byte* const from =
            cores_[at(transfer.sender)].ldm.data() + ldm_offset(transfer.source, *node.statement);
        transfer.carried.resize(at(element_count(transfer.source.extent) * byte_size(buffer.type)));
        copy_box(transfer.source.extent, byte_size(buffer.type), from, row_major_strides(buffer.extents),
                 transfer.carried.data(), row_major_strides(transfer.source.extent));
      }
    }
    for (auto& [number, transfers] : ended) {
      for (const Transfer& transfer : transfers) complete(transfer, cores_[at(number)]);
    }
  }

  /// A transfer of a team is complete for all of it at once.
  void all_await(const CompiledStatement& node, const Transfer& transfer, int number,
                 const std::map<int, std::vector<Transfer>>& ended) const {
    const Teams teams(nest_, *transfer.team);
    for (int place = 0; place < teams.size(); ++place) {
      const int other = teams.core_at(teams.team_of(number), place);
      const auto found = ended.find(other);
      const bool awaits =
          found != ended.end() && std::any_of(found->second.begin(), found->second.end(),
                                              [&](const Transfer& t) { return t.statement == transfer.statement; });
      if (awaits) continue;
      waits_for_ever(*node.statement, number, other,
                     fmt::format("does not wait for transfer {}", transfer.statement->id.index()));
    }
  }

  const LoopNest& nest_;
  const std::map<StageTensorId, Tensor>& inputs_;
  std::map<StageTensorId, WrittenTensor> written_;
  std::map<StageTensorId, bool> in_memory_;  ///< of those: true if transfers write it, false if it stays in the LDM
  std::vector<CompiledStatement> body_;
  bool together_ = false;    ///< cores of teams meet somewhere
  std::vector<Core> cores_;  ///< by number, where they run together
};

}  // namespace

std::map<StageTensorId, Tensor> interpret(const LoopNest& nest, const std::map<StageTensorId, Tensor>& inputs) {
  return Interpreter(nest, inputs).run();
}

}  // namespace stowage
