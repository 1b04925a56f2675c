// SPDX-License-Identifier: Apache-2.0
// The loop-nest interpreter: what a nest does to numbers, without emitting it.
//
// Every core runs to its end before the next one starts: nests do not communicate but through main memory, and what one
// core writes no other one reads (verify() checks it). LDM starts as NaN. A transfer moves its data when it is awaited,
// so that a missing wait shows in the numbers, as does overwriting the source of a put in flight. Each slot of a buffer
// is memory of its own.
#include "lowering/interpret/interpret.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "lowering/interpret/compute_runner.h"
#include "lowering/ir/compiled_index.h"
#include "lowering/ir/enclosing.h"
#include "lowering/verify/verify.h"

namespace stowage {
namespace {

using Values = std::vector<std::int64_t>;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

struct Node {
  const Stmt* statement = nullptr;
  std::vector<CompiledIndex> first;       ///< Loop: extent, Let: value, Guard: conditions, Dma and Fill: starts
  std::vector<CompiledIndex> second;      ///< Dma and Fill: extents
  CompiledIndex slot;                     ///< Dma, Fill, Wait for a slot
  std::vector<CompiledIndex> origin;      ///< Dma: of the box in the slot
  std::unique_ptr<ComputeRunner> runner;  ///< Compute
  std::vector<Node> body;
};

/// A transfer under way.
struct Transfer {
  int statement = 0;
  const Dma* dma = nullptr;
  std::int64_t slot = 0;
  Values start, extent, origin;
};

class Interpreter {
 public:
  Interpreter(const LoopNest& nest, const std::map<int, Tensor>& inputs) : nest_(nest), inputs_(inputs) {
    for (int t = 0; t < static_cast<int>(nest.stages.tensors.size()); ++t) {
      const StageTensor& tensor = nest.stages.tensors[at(t)];
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
    body_ = compiled(nest.body);
  }

  std::map<int, Tensor> run() {
    std::size_t ldm_bytes = at(nest_.ldm_bytes);
    for (const Buffer& buffer : nest_.buffers) ldm_bytes = std::max(ldm_bytes, at(buffer.offset + buffer.bytes()));
    for (int core = 0; core < nest_.cores_used(); ++core) {
      values_ = values_of_core(nest_, core);
      ldm_.assign(ldm_bytes, std::byte{0xff});
      pending_.clear();
      run(body_);
    }
    std::map<int, Tensor> results;
    for (auto& [t, memory] : written_) {
      results.emplace(t, Tensor(memory.type, memory.shape, std::move(memory.bytes)));
    }
    return results;
  }

 private:
  // Compilation.

  /// Over nest variables, then the first elements of buffers.
  [[nodiscard]] CompiledIndex compiled(const IndexExpr& e) const { return CompiledIndex(e, nest_.variables.size()); }

  [[nodiscard]] std::vector<CompiledIndex> compiled(const std::vector<IndexExpr>& expressions) const {
    std::vector<CompiledIndex> result;
    for (const IndexExpr& e : expressions) result.push_back(compiled(e));
    return result;
  }

  void add_box(Node& node, const std::vector<Range>& box) const {
    for (const Range& range : box) {
      node.first.push_back(compiled(range.start));
      node.second.push_back(compiled(range.extent));
    }
  }

  std::vector<Node> compiled(const Block& block) const {
    std::vector<Node> nodes;
    for (const StmtPtr& statement : block) {
      Node node;
      node.statement = statement.get();
      if (const auto* loop = std::get_if<Loop>(&statement->node)) node.first.push_back(compiled(loop->extent));
      if (const auto* let = std::get_if<Let>(&statement->node)) node.first.push_back(compiled(let->value));
      if (const auto* guard = std::get_if<Guard>(&statement->node)) node.first = compiled(guard->any_positive);
      if (const auto* dma = std::get_if<Dma>(&statement->node)) {
        add_box(node, dma->region);
        node.slot = compiled(dma->buffer.slot);
        node.origin = compiled(origin_of(nest_, dma->buffer));
      }
      if (const auto* wait = std::get_if<Wait>(&statement->node); wait != nullptr && wait->slot) {
        node.slot = compiled(wait->slot->slot);
      }
      if (const auto* fill = std::get_if<Fill>(&statement->node)) {
        node.slot = compiled(fill->buffer.slot);
        if (fill->around) add_box(node, *fill->around);
      }
      if (std::holds_alternative<Compute>(statement->node)) {
        node.runner = std::make_unique<ComputeRunner>(nest_, *statement);
      }
      if (const Block* body = body_of(*statement)) node.body = compiled(*body);
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  // Execution.

  Values evaluated(const std::vector<CompiledIndex>& expressions) const {
    Values results;
    for (const CompiledIndex& e : expressions) results.push_back(e(values_));
    return results;
  }

  void run(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) run(node);
  }

  void run(const Node& node) {
    const Stmt::Node& statement = node.statement->node;
    if (const auto* loop = std::get_if<Loop>(&statement)) {
      const std::int64_t trips = node.first[0](values_);
      for (std::int64_t trip = 0; trip < trips; ++trip) {
        values_[loop->variable.index()] = trip;
        run(node.body);
      }
    } else if (const auto* let = std::get_if<Let>(&statement)) {
      values_[let->variable.index()] = node.first[0](values_);
    } else if (std::holds_alternative<Guard>(statement)) {
      if (std::any_of(node.first.begin(), node.first.end(), [&](const CompiledIndex& e) { return e(values_) > 0; })) {
        run(node.body);
      }
    } else if (const auto* dma = std::get_if<Dma>(&statement)) {
      pending_.push_back({node.statement->id, dma, slot_of(node, dma->buffer), evaluated(node.first),
                          evaluated(node.second), evaluated(node.origin)});
    } else if (const auto* wait = std::get_if<Wait>(&statement)) {
      await(node, *wait);
    } else if (const auto* fill = std::get_if<Fill>(&statement)) {
      const Buffer& buffer = nest_.buffers.at(at(fill->buffer));
      const int size = byte_size(buffer.type);
      std::byte* const base = ldm_.data() + buffer.offset + slot_of(node, fill->buffer) * buffer.slot_bytes();
      const std::int64_t elements = element_count(buffer.extents);
      Values low, high;  // of the elements that stay as they are
      for (std::size_t d = 0; d < node.first.size(); ++d) {
        low.push_back(node.first[d](values_));
        high.push_back(low.back() + node.second[d](values_) - 1);
      }
      for (std::int64_t i = 0; i < elements; ++i) {
        if (!fill->around || !is_inside(i, buffer.extents, low, high)) {
          store_element(buffer.type, fill->value, base + i * size);
        }
      }
      note_first_element(fill->buffer);
    } else if (std::holds_alternative<Compute>(statement)) {
      compute(node);
    }
  }

  [[nodiscard]] std::int64_t slot_of(const Node& node, int buffer) const {
    return checked_slot(nest_, buffer, node.slot(values_), node.statement->id);
  }

  /// What is awaited moves in the order in which it was started.
  void await(const Node& node, const Wait& wait) {
    const std::int64_t slot = wait.slot ? slot_of(node, *wait.slot) : 0;
    std::vector<Transfer> rest;
    for (Transfer& transfer : std::exchange(pending_, {})) {
      const bool is_awaited = wait.slot ? transfer.dma->buffer == wait.slot->buffer && transfer.slot == slot
                                        : transfer.statement == wait.dma;
      if (!is_awaited) {
        rest.push_back(std::move(transfer));
        continue;
      }
      move(transfer, transfer.statement);
      if (transfer.dma->direction == DmaDirection::get) note_first_element(transfer.dma->buffer);
    }
    pending_ = std::move(rest);
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
  void note_first_element(int index) {
    const Buffer& buffer = nest_.buffers[at(index)];
    if (!is_integer(buffer.type) || element_count(buffer.extents) == 0) return;
    const auto first = ldm_.begin() + buffer.offset;
    const Tensor element(buffer.type, {1}, std::vector<std::byte>(first, first + byte_size(buffer.type)));
    values_[nest_.variables.size() + at(index)] = element.as_int64(0);
  }

  /// Copies a transfer's box row by row.
  void move(const Transfer& transfer, int statement) {
    const Dma& dma = *transfer.dma;
    const std::size_t rank = transfer.extent.size();
    if (std::any_of(transfer.extent.begin(), transfer.extent.end(), [](std::int64_t e) { return e <= 0; })) return;
    const Buffer& buffer = nest_.buffers.at(at(dma.buffer));
    const NestTensor& nest_tensor = nest_.tensors.at(at(dma.nest_tensor));
    const StageTensor& tensor = nest_.stages.tensors.at(at(nest_tensor.tensor));
    const auto size = static_cast<std::int64_t>(byte_size(buffer.type));
    const Values memory_strides = row_major_strides(tensor.shape);
    const Values buffer_strides = row_major_strides(buffer.extents);
    std::int64_t in_memory = 0;
    std::int64_t in_buffer = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t local = transfer.start[d] - transfer.origin[d];
      const bool inside = transfer.start[d] >= 0 && transfer.start[d] + transfer.extent[d] <= tensor.shape[d];
      check(inside, fmt::format("statement {} moves elements {}..{} of dimension {} of {}, which has {}", statement,
                                transfer.start[d], transfer.start[d] + transfer.extent[d] - 1, d, nest_tensor.name,
                                tensor.shape[d]));
      check(local >= 0 && local + transfer.extent[d] <= buffer.extents[d],
            fmt::format("statement {} moves elements {}..{} of dimension {} of buffer {}, which has {}", statement,
                        local, local + transfer.extent[d] - 1, d, buffer.name, buffer.extents[d]));
      in_memory += transfer.start[d] * memory_strides[d];
      in_buffer += local * buffer_strides[d];
    }
    const std::int64_t row = rank == 0 ? 1 : transfer.extent[rank - 1];
    const bool is_get = dma.direction == DmaDirection::get;
    std::byte* const written = is_get ? nullptr : written_.at(nest_tensor.tensor).bytes.data();
    const std::byte* const read = is_get ? memory_of(nest_tensor.tensor) : nullptr;
    Values index(rank, 0);
    for (;;) {
      std::int64_t memory = in_memory;
      std::int64_t local = in_buffer;
      for (std::size_t d = 0; d + 1 < rank; ++d) {
        memory += index[d] * memory_strides[d];
        local += index[d] * buffer_strides[d];
      }
      std::byte* const ldm = ldm_.data() + buffer.offset + transfer.slot * buffer.slot_bytes() + local * size;
      if (is_get) {
        std::memcpy(ldm, read + memory * size, at(row * size));
      } else {
        std::memcpy(written + memory * size, ldm, at(row * size));
      }
      std::size_t d = rank == 0 ? 0 : rank - 1;
      while (d > 0 && ++index[d - 1] == transfer.extent[d - 1]) index[--d] = 0;
      if (d == 0) return;
    }
  }

  const std::byte* memory_of(int tensor) const {
    if (const auto given = inputs_.find(tensor); given != inputs_.end()) return given->second.bytes().data();
    if (const auto written = written_.find(tensor); written != written_.end()) return written->second.bytes.data();
    const StageTensor& constant = nest_.stages.tensors.at(at(tensor));
    check(constant.value.has_value(), fmt::format("no value was given for tensor {}", constant.name));
    return constant.value->bytes().data();
  }

  void compute(const Node& node) {
    const int output = nest_.stages.stages[at(std::get<Compute>(node.statement->node).stage)].output;
    // Elements that transfers bring to main memory are not recorded on the way.
    node.runner->run(values_, ldm_.data(), in_memory_.at(output) ? nullptr : &written_.at(output));
    note_first_element(node.runner->output_buffer());
  }

  const LoopNest& nest_;
  const std::map<int, Tensor>& inputs_;
  std::map<int, WrittenTensor> written_;  ///< by StageList tensor
  std::map<int, bool> in_memory_;         ///< of those: true if transfers write it, false if it stays in the LDM
  std::vector<Node> body_;
  Values values_;                  ///< by variable, then first elements of buffers, of the running core
  std::vector<std::byte> ldm_;     ///< of the running core
  std::vector<Transfer> pending_;  ///< in the order in which they were started
};

}  // namespace

std::map<int, Tensor> interpret(const LoopNest& nest, const std::map<int, Tensor>& inputs) {
  return Interpreter(nest, inputs).run();
}

}  // namespace stowage
