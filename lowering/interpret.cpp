// SPDX-License-Identifier: Apache-2.0
// The loop-nest interpreter: what a nest does to numbers, without emitting it.
//
// Every core runs to its end before the next one starts: nests do not communicate but through main memory, and what one
// core writes no other one reads (verify() checks it). LDM starts as NaN. A transfer moves its data when it is awaited,
// so that a missing wait shows in the numbers, as does overwriting the source of a put in flight.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "core/check.h"
#include "lowering/compiled_index.h"
#include "lowering/planner.h"
#include "lowering/scalar_program.h"

namespace stowage {
namespace {

using Values = std::vector<std::int64_t>;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// A tensor that is being written.
struct Writable {
  ElementType type = ElementType::f32;
  Shape shape;
  Values strides;
  std::vector<std::byte> bytes;
};

/// Calls f with a value of the C++ type that holds one element.
template <class F>
void with_type(ElementType type, F&& f) {
  switch (type) {
    case ElementType::f32: return f(float{});
    case ElementType::f64: return f(double{});
    case ElementType::i8: return f(std::int8_t{});
    case ElementType::i16: return f(std::int16_t{});
    case ElementType::i32: return f(std::int32_t{});
    case ElementType::i64: return f(std::int64_t{});
    case ElementType::u8: return f(std::uint8_t{});
    case ElementType::u16: return f(std::uint16_t{});
    case ElementType::u32: return f(std::uint32_t{});
    case ElementType::u64: return f(std::uint64_t{});
    case ElementType::boolean: return f(std::uint8_t{});
    case ElementType::f16:
    case ElementType::bf16: break;
  }
  fail_check("element type cannot be computed with");
}

/// Elements of a strip: offset(i) gives the element's offset from `base`.
template <class Offset>
void load(ElementType type, const std::byte* base, std::size_t length, Strip& strip, Offset offset) {
  with_type(type, [&](auto sample) {
    using T = decltype(sample);
    for (std::size_t i = 0; i < length; ++i) {
      T element;
      std::memcpy(&element, base + offset(i) * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
      if constexpr (std::is_floating_point_v<T>) {
        strip.real[i] = element;
      } else {
        strip.whole[i] = static_cast<std::int64_t>(element);
      }
    }
  });
}

template <class Offset>
void store(ElementType type, const Strip& strip, std::size_t length, std::byte* base, Offset offset) {
  with_type(type, [&](auto sample) {
    using T = decltype(sample);
    for (std::size_t i = 0; i < length; ++i) {
      T element;
      if constexpr (std::is_floating_point_v<T>) {
        element = static_cast<T>(strip.real[i]);
      } else {
        element = static_cast<T>(strip.whole[i]);
      }
      std::memcpy(base + offset(i) * static_cast<std::int64_t>(sizeof(T)), &element, sizeof(T));
    }
  });
}

/// An access of a Compute to a buffer, over the axes of its stage.
struct CompiledAccess {
  int buffer = 0;
  std::vector<CompiledIndex> index;   ///< tensor coordinates; values of reads from slot `axes` on
  std::vector<CompiledIndex> origin;  ///< of the buffer, over nest variables
  Values strides;                     ///< of the buffer
  bool affine = true;
  Values coefficients;  ///< by axis, of the offset in the buffer; if affine
};

struct CompiledCompute {
  std::size_t axes = 0;
  std::optional<ScalarProgram> program;
  CompiledAccess output;
  std::vector<std::pair<int, CompiledAccess>>
      reads;  ///< read number and access, in an order in which they can be loaded
  std::vector<Strip> registers;
  Values shadow_strides;  ///< by spatial axis, if the output is also recorded outside the LDM
};

struct Node {
  const Stmt* statement = nullptr;
  std::vector<CompiledIndex> first;   ///< Loop: extent, Let: value, Guard: conditions, Dma and Compute: starts
  std::vector<CompiledIndex> second;  ///< Dma and Compute: extents
  std::vector<CompiledIndex> origin;  ///< Dma: of its buffer
  std::unique_ptr<CompiledCompute> compute;
  std::vector<Node> body;
};

/// A transfer under way.
struct Transfer {
  const Dma* dma = nullptr;
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
      Writable& memory = written_[t];
      memory.type = tensor.type;
      memory.shape = tensor.shape;
      memory.strides = row_major_strides(tensor.shape);
      // All ones are a NaN of either width; integers start as zero, so that a value never computed looks harmless
      // nowhere but is at least the same every time.
      memory.bytes.assign(at(element_count(tensor.shape) * byte_size(tensor.type)),
                          is_float(tensor.type) ? std::byte{0xff} : std::byte{0});
      in_memory_[t] = written;
    }
    body_ = compiled(nest.body);
  }

  std::map<int, Tensor> run() {
    for (int core = 0; core < nest_.cores_used(); ++core) {
      values_.assign(nest_.variables.size() + nest_.buffers.size(), 0);
      for (const CoreAxis& axis : nest_.core_grid) values_[axis.variable.index()] = core / axis.stride % axis.parts;
      std::size_t ldm_bytes = at(nest_.ldm_bytes);
      for (const Buffer& buffer : nest_.buffers) ldm_bytes = std::max(ldm_bytes, at(buffer.offset + buffer.bytes()));
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

  std::vector<Node> compiled(const Block& block) const {
    std::vector<Node> nodes;
    for (const StmtPtr& statement : block) {
      Node node;
      node.statement = statement.get();
      const auto ranges = [&](const std::vector<Range>& box) {
        for (const Range& range : box) {
          node.first.push_back(compiled(range.start));
          node.second.push_back(compiled(range.extent));
        }
      };
      if (const auto* loop = std::get_if<Loop>(&statement->node)) node.first.push_back(compiled(loop->extent));
      if (const auto* let = std::get_if<Let>(&statement->node)) node.first.push_back(compiled(let->value));
      if (const auto* guard = std::get_if<Guard>(&statement->node)) node.first = compiled(guard->any_positive);
      if (const auto* dma = std::get_if<Dma>(&statement->node)) {
        ranges(dma->region);
        node.origin = compiled(nest_.buffers.at(at(dma->buffer)).origin);
      }
      if (const auto* compute = std::get_if<Compute>(&statement->node)) {
        ranges(compute->box);
        node.compute = compiled(*compute);
      }
      if (const Block* body = body_of(*statement)) node.body = compiled(*body);
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  CompiledAccess compiled_access(int buffer_index, const std::vector<IndexExpr>& index, std::size_t axes) const {
    const Buffer& buffer = nest_.buffers.at(at(buffer_index));
    CompiledAccess access;
    access.buffer = buffer_index;
    access.origin = compiled(buffer.origin);
    access.strides = row_major_strides(buffer.extents);
    check(index.size() == buffer.extents.size(), "access of another rank than its buffer");
    access.coefficients.assign(axes, 0);
    for (std::size_t d = 0; d < index.size(); ++d) {
      access.index.emplace_back(index[d], axes);
      access.affine = access.affine && access.index[d].is_affine();
      for (const CompiledIndex::Linear& term : access.index[d].linear()) {
        access.coefficients[term.slot] += access.strides[d] * term.coefficient;
      }
    }
    return access;
  }

  std::unique_ptr<CompiledCompute> compiled(const Compute& compute) const {
    const Stage& stage = nest_.stages.stages.at(at(compute.stage));
    auto result = std::make_unique<CompiledCompute>();
    result->axes = stage.axes.size();
    const bool finishing = compute.part == Compute::Part::finish;
    check(!finishing || stage.finish != nullptr, "a finish of a stage that has none");
    result->program.emplace(finishing ? stage.finish : stage.body, stage.reads.size(), result->axes);
    result->registers = result->program->registers();

    std::vector<IndexExpr> own_index;
    for (std::size_t d = 0; d < at(stage.spatial); ++d) own_index.emplace_back(VarId(d));
    result->output = compiled_access(compute.output_buffer, own_index, result->axes);

    // A read whose value is an index of another one is loaded before it.
    std::vector<bool> added(stage.reads.size(), false);
    const std::function<void(int)> add = [&](int read) {
      if (added.at(at(read))) return;
      added[at(read)] = true;
      for (const IndexExpr& index : stage.reads[at(read)].index) {
        for (const int other : tensor_values_of(index)) add(other);
      }
      const auto& buffer = compute.read_buffers.at(at(read));
      check(buffer.has_value(), fmt::format("read {} of stage {} has no buffer", read, stage.name));
      result->reads.emplace_back(read, compiled_access(*buffer, stage.reads[at(read)].index, result->axes));
    };
    for (const int read : result->program->reads()) add(read);
    visit_nodes(finishing ? stage.finish : stage.body, [&](const ScalarNode& node) {
      if (const auto* index = std::get_if<ScalarNode::Index>(&node.value)) {
        for (const int other : tensor_values_of(index->value)) add(other);
      }
    });
    if (!in_memory_.at(stage.output)) {
      result->shadow_strides = row_major_strides(nest_.stages.tensors[at(stage.output)].shape);
    }
    return result;
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
      pending_[node.statement->id] = {dma, evaluated(node.first), evaluated(node.second), evaluated(node.origin)};
    } else if (const auto* wait = std::get_if<Wait>(&statement)) {
      const auto transfer = pending_.find(wait->dma);
      if (transfer == pending_.end()) return;
      move(transfer->second, transfer->first);
      if (transfer->second.dma->direction == DmaDirection::get) note_first_element(transfer->second.dma->buffer);
      pending_.erase(transfer);
    } else if (const auto* fill = std::get_if<Fill>(&statement)) {
      const Buffer& buffer = nest_.buffers.at(at(fill->buffer));
      const int size = byte_size(buffer.type);
      std::byte* const base = ldm_.data() + buffer.offset;
      const std::int64_t elements = element_count(buffer.extents);
      for (std::int64_t i = 0; i < elements; ++i) store_element(buffer.type, fill->value, base + i * size);
      note_first_element(fill->buffer);
    } else if (std::holds_alternative<Compute>(statement)) {
      compute(node);
      note_first_element(node.compute->output.buffer);
    }
  }

  /// Expressions of the nest may refer to the first element of an integer buffer (a gathered index).
  void note_first_element(int index) {
    const Buffer& buffer = nest_.buffers[at(index)];
    if (!is_integer(buffer.type) || element_count(buffer.extents) == 0) return;
    Strip strip;
    strip.whole.resize(1);
    load(buffer.type, ldm_.data() + buffer.offset, 1, strip, [](std::size_t) { return std::int64_t{0}; });
    values_[nest_.variables.size() + at(index)] = strip.whole[0];
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
      std::byte* const ldm = ldm_.data() + buffer.offset + local * size;
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

  [[noreturn]] void outside(const Node& node, const Buffer& buffer, std::size_t d, std::int64_t low,
                            std::int64_t high) const {
    fail_check(fmt::format("statement {} touches elements {}..{} of dimension {} of buffer {}, which has {}",
                           node.statement->id, low, high, d, buffer.name, buffer.extents[d]));
  }

  /// Offset in the buffer at the box's first point, relative to which the axes' coefficients count. Affine accesses are
  /// checked for the whole box at once.
  std::int64_t base_of(const Node& node, const CompiledAccess& access, const Values& start, const Values& extent,
                       Values& origin) const {
    const Buffer& buffer = nest_.buffers[at(access.buffer)];
    origin = evaluated(access.origin);
    if (!access.affine) return 0;
    std::int64_t base = 0;
    for (std::size_t d = 0; d < origin.size(); ++d) {
      std::int64_t first = access.index[d].constant() - origin[d];
      Interval reach;
      for (const CompiledIndex::Linear& term : access.index[d].linear()) {
        first += term.coefficient * start[term.slot];
        const std::int64_t span = term.coefficient * (extent[term.slot] - 1);
        (span < 0 ? reach.low : reach.high) += span;
      }
      if (first + reach.low < 0 || first + reach.high >= buffer.extents[d]) {
        outside(node, buffer, d, first + reach.low, first + reach.high);
      }
      base += first * access.strides[d];
    }
    return base;
  }

  /// Offset in the buffer of one point of a data-dependent or quasi-affine access.
  std::int64_t offset_at(const Node& node, const CompiledAccess& access, const Values& origin,
                         const Values& point) const {
    const Buffer& buffer = nest_.buffers[at(access.buffer)];
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < origin.size(); ++d) {
      const std::int64_t local = access.index[d](point) - origin[d];
      if (local < 0 || local >= buffer.extents[d]) outside(node, buffer, d, local, local);
      offset += local * access.strides[d];
    }
    return offset;
  }

  void compute(const Node& node) {
    const auto& statement = std::get<Compute>(node.statement->node);
    const Stage& stage = nest_.stages.stages[at(statement.stage)];
    CompiledCompute& compiled = *node.compute;
    Values start = evaluated(node.first);
    Values extent = evaluated(node.second);
    if (std::any_of(extent.begin(), extent.end(), [](std::int64_t e) { return e <= 0; })) return;
    start.resize(compiled.axes, 0);  // a finish has no reduction axes
    extent.resize(compiled.axes, 1);

    // Strips run along the longest axis.
    std::size_t lane = 0;
    for (std::size_t a = 0; a < compiled.axes; ++a) {
      if (extent[a] >= extent[lane]) lane = a;
    }
    const std::int64_t lane_extent = compiled.axes == 0 ? 1 : extent[lane];

    Values output_origin;
    const std::int64_t output_base = base_of(node, compiled.output, start, extent, output_origin);
    std::vector<std::int64_t> read_bases;
    std::vector<Values> read_origins(compiled.reads.size());
    for (std::size_t r = 0; r < compiled.reads.size(); ++r) {
      read_bases.push_back(base_of(node, compiled.reads[r].second, start, extent, read_origins[r]));
    }

    std::vector<std::size_t> outer;
    for (std::size_t a = 0; a < compiled.axes; ++a) {
      if (a != lane) outer.push_back(a);
    }
    Values step(compiled.axes, 0);  // position in the box
    Values point(compiled.axes + stage.reads.size(), 0);
    for (;;) {
      for (std::int64_t from = 0; from < lane_extent; from += static_cast<std::int64_t>(ScalarProgram::strip_length)) {
        const auto length = std::min(at(lane_extent - from), ScalarProgram::strip_length);
        if (compiled.axes > 0) step[lane] = from;
        for (std::size_t a = 0; a < compiled.axes; ++a) point[a] = start[a] + step[a];
        strip(node, statement, stage, lane, length, step, point, output_base, read_bases, read_origins);
      }
      std::size_t next = outer.size();
      while (next > 0 && ++step[outer[next - 1]] == extent[outer[next - 1]]) step[outer[--next]] = 0;
      if (next == 0) return;
    }
  }

  void strip(const Node& node, const Compute& statement, const Stage& stage, std::size_t lane, std::size_t length,
             const Values& step, Values& point, std::int64_t output_base, const std::vector<std::int64_t>& read_bases,
             const std::vector<Values>& read_origins) {
    CompiledCompute& compiled = *node.compute;
    std::vector<Strip>& registers = compiled.registers;
    const auto offset_of = [&](const CompiledAccess& access, std::int64_t base) {
      for (std::size_t a = 0; a < compiled.axes; ++a) base += access.coefficients[a] * step[a];
      return base;
    };
    const auto lane_step = [&](const CompiledAccess& access) {
      return compiled.axes == 0 ? 0 : access.coefficients[lane];
    };
    /// Runs f(i) with the point's axes, and the values of integer reads, in `point`.
    const auto at_each_point = [&](const auto& f) {
      const std::int64_t first = compiled.axes == 0 ? 0 : point[lane];
      for (std::size_t i = 0; i < length; ++i) {
        if (compiled.axes > 0) point[lane] = first + static_cast<std::int64_t>(i);
        for (std::size_t r = 0; r < stage.reads.size(); ++r) point[compiled.axes + r] = registers[r].whole[i];
        f(i);
      }
      if (compiled.axes > 0) point[lane] = first;
    };

    std::array<std::int64_t, ScalarProgram::strip_length> offsets{};
    for (std::size_t r = 0; r < compiled.reads.size(); ++r) {
      const auto& [read, access] = compiled.reads[r];
      const Buffer& buffer = nest_.buffers[at(access.buffer)];
      const std::byte* const base = ldm_.data() + buffer.offset;
      if (access.affine) {
        const std::int64_t first = offset_of(access, read_bases[r]);
        const std::int64_t by = lane_step(access);
        load(buffer.type, base, length, registers[at(read)],
             [&](std::size_t i) { return first + by * static_cast<std::int64_t>(i); });
      } else {
        const CompiledAccess& indirect = access;
        at_each_point([&](std::size_t i) { offsets[i] = offset_at(node, indirect, read_origins[r], point); });
        load(buffer.type, base, length, registers[at(read)], [&](std::size_t i) { return offsets[i]; });
      }
    }
    for (const ScalarProgram::IndexInput& input : compiled.program->index_inputs()) {
      at_each_point([&](std::size_t i) {
        const std::int64_t value = input.value(point);
        registers[input.target].real[i] = rounded(input.type, static_cast<double>(value));
        registers[input.target].whole[i] = wrapped(input.type, value);
      });
    }

    const Buffer& output = nest_.buffers[at(compiled.output.buffer)];
    std::byte* const output_bytes = ldm_.data() + output.offset;
    const std::int64_t output_first = offset_of(compiled.output, output_base);
    const std::int64_t output_step = lane_step(compiled.output);
    const auto output_offset = [&](std::size_t i) { return output_first + output_step * static_cast<std::int64_t>(i); };
    Strip& accumulator = registers[stage.reads.size()];
    if (statement.part == Compute::Part::finish) load(output.type, output_bytes, length, accumulator, output_offset);
    compiled.program->run(registers, length);
    Strip& result = registers[compiled.program->result()];

    if (statement.part != Compute::Part::update) {
      store(output.type, result, length, output_bytes, output_offset);
      record(compiled, stage, lane, length, point, result, compiled.program->result_type());
      return;
    }
    if (output_step != 0) {  // every point has an element of its own
      load(output.type, output_bytes, length, accumulator, output_offset);
      combine(stage.reduction, output.type, accumulator, result, length);
      store(output.type, accumulator, length, output_bytes, output_offset);
      record(compiled, stage, lane, length, point, accumulator, output.type);
    } else {
      const auto only = [&](std::size_t) { return output_first; };
      load(output.type, output_bytes, 1, accumulator, only);
      for (std::size_t i = 0; i < length; ++i) {
        if (is_float(output.type)) {
          accumulator.real[0] = combined(stage.reduction, output.type, accumulator.real[0], result.real[i]);
        } else {
          accumulator.whole[0] = combined(stage.reduction, output.type, accumulator.whole[0], result.whole[i]);
        }
      }
      store(output.type, accumulator, 1, output_bytes, only);
      record(compiled, stage, lane, 1, point, accumulator, output.type);
    }
  }

  static void combine(Reduction reduction, ElementType type, Strip& accumulator, const Strip& more,
                      std::size_t length) {
    if (type == ElementType::f32 && reduction == Reduction::sum) {
      for (std::size_t i = 0; i < length; ++i) {
        accumulator.real[i] = static_cast<double>(static_cast<float>(accumulator.real[i] + more.real[i]));
      }
      return;
    }
    for (std::size_t i = 0; i < length; ++i) {
      if (is_float(type)) {
        accumulator.real[i] = combined(reduction, type, accumulator.real[i], more.real[i]);
      } else {
        accumulator.whole[i] = combined(reduction, type, accumulator.whole[i], more.whole[i]);
      }
    }
  }

  /// Keeps what was computed of a tensor that never reaches main memory.
  void record(const CompiledCompute& compiled, const Stage& stage, std::size_t lane, std::size_t length,
              const Values& point, const Strip& values, ElementType type) {
    if (in_memory_.at(stage.output)) return;
    Writable& memory = written_.at(stage.output);
    check(is_float(memory.type) == is_float(type), "a buffer holds another kind of number than its tensor");
    std::int64_t first = 0;
    auto from = std::int64_t{0};
    auto to = static_cast<std::int64_t>(length);
    for (std::size_t d = 0; d < at(stage.spatial); ++d) {
      first += point[d] * compiled.shadow_strides[d];
      // What a tile computes beyond the tensor's edge is not part of it.
      if (d == lane) {
        from = std::max(from, -point[d]);
        to = std::min(to, memory.shape[d] - point[d]);
      } else if (point[d] < 0 || point[d] >= memory.shape[d]) {
        return;
      }
    }
    const std::int64_t by = lane < at(stage.spatial) ? compiled.shadow_strides[lane] : 0;
    if (from >= to) return;
    check(from == 0 || by == 0, "a strip begins before its tensor");
    store(memory.type, values, at(to), memory.bytes.data(),
          [&](std::size_t i) { return first + by * static_cast<std::int64_t>(i); });
  }

  const LoopNest& nest_;
  const std::map<int, Tensor>& inputs_;
  std::map<int, Writable> written_;  ///< by StageList tensor
  std::map<int, bool> in_memory_;    ///< of those: true if transfers write it, false if it stays in the LDM
  std::vector<Node> body_;
  Values values_;                    ///< by variable, then first elements of buffers, of the running core
  std::vector<std::byte> ldm_;       ///< of the running core
  std::map<int, Transfer> pending_;  ///< by statement
};

}  // namespace

std::map<int, Tensor> interpret(const LoopNest& nest, const std::map<int, Tensor>& inputs) {
  return Interpreter(nest, inputs).run();
}

}  // namespace stowage
