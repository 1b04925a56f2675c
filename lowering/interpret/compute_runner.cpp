// SPDX-License-Identifier: Apache-2.0
#include "lowering/interpret/compute_runner.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "core/check.h"
#include "core/element_arithmetic.h"
#include "core/element_dispatch.h"
#include "core/index.h"

namespace stowage {
namespace {

std::int64_t number(std::size_t index) { return static_cast<std::int64_t>(index); }

/// Fills a strip from elements; offset(i) is the i-th one's offset from `base`.
template <class Offset>
void load(ElementType type, const std::byte* base, std::size_t length, Strip& strip, Offset offset) {
  with_type(type, [&](auto sample) {
    using T = decltype(sample);
    for (std::size_t i = 0; i < length; ++i) {
      T element;
      std::memcpy(&element, base + offset(i) * number(sizeof(T)), sizeof(T));
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
      std::memcpy(base + offset(i) * number(sizeof(T)), &element, sizeof(T));
    }
  });
}

/// accumulator[i] = accumulator[i] combined with more[i], or all of them into accumulator[0].
void combine(Reduction reduction, ElementType type, Strip& accumulator, const Strip& more, std::size_t length,
             bool into_first) {
  if (type == ElementType::f32 && reduction == Reduction::sum && !into_first) {  // what nearly all time goes to
    for (std::size_t i = 0; i < length; ++i) {
      accumulator.real[i] = static_cast<double>(static_cast<float>(accumulator.real[i] + more.real[i]));
    }
    return;
  }
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t to = into_first ? 0 : i;
    if (is_float(type)) {
      accumulator.real[to] = combined(reduction, type, accumulator.real[to], more.real[i]);
    } else {
      accumulator.whole[to] = combined(reduction, type, accumulator.whole[to], more.whole[i]);
    }
  }
}

const ScalarExpr& expression_of(const Compute& compute, const Stage& stage) {
  const bool finishing = compute.part == Compute::Part::finish;
  check(!finishing || stage.finish != nullptr, "a finish of a stage that has none");
  return finishing ? stage.finish : stage.body;
}

}  // namespace

std::int64_t checked_slot(const LoopNest& nest, BufferId buffer, std::int64_t slot, StatementId statement) {
  const Buffer& used = nest.buffers.at(buffer);
  if (slot >= 0 && slot < used.slots) return slot;
  fail_check(fmt::format("statement {} uses slot {} of buffer {}, which has {}", statement.index(), slot, used.name,
                         used.slots));
}

ComputeRunner::ComputeRunner(const LoopNest& nest, const Stmt& statement)
    : nest_(nest),
      compute_(std::get<Compute>(statement.node)),
      stage_(nest.stages.stages.at(compute_.stage)),
      statement_(statement.id),
      axes_(stage_.axes.size()),
      program_(expression_of(compute_, stage_), stage_.reads.size(), axes_),
      registers_(program_.registers()) {
  for (const Range& range : compute_.box) {
    start_of_.emplace_back(range.start, nest.variables.size());
    extent_of_.emplace_back(range.extent, nest.variables.size());
  }
  std::vector<IndexExpr> own_index;
  for (const VarId axis : stage_.spatial_axes()) own_index.emplace_back(axis);
  output_ = access(compute_.output_buffer, own_index);
  for (const ReadId read : program_.reads()) add_read(read);
  visit_nodes(expression_of(compute_, stage_), [&](const ScalarNode& node) {
    const auto* index = std::get_if<ScalarNode::Index>(&node.value);
    if (index == nullptr) return;
    for (const ReadId read : tensor_values_of(index->value)) add_read(read);
  });
}

/// A read whose value is an index of another one comes before it.
void ComputeRunner::add_read(ReadId read) {
  if (std::any_of(reads_.begin(), reads_.end(), [&](const auto& known) { return known.first == read; })) return;
  const std::vector<IndexExpr>& index = stage_.reads.at(read).index;
  for (const IndexExpr& e : index) {
    for (const ReadId other : tensor_values_of(e)) add_read(other);
  }
  const auto& buffer = compute_.read_buffers.at(read);
  check(buffer.has_value(), fmt::format("read {} of stage {} has no buffer", read.index(), stage_.name));
  reads_.emplace_back(read, access(*buffer, index));
}

ComputeRunner::Access ComputeRunner::access(const BufferUse& use, const std::vector<IndexExpr>& index) const {
  const Buffer& buffer = nest_.buffers.at(use.buffer);
  check(index.size() == buffer.extents.size(), "access of another rank than its buffer");
  Access result;
  result.buffer = use.buffer;
  result.slot = CompiledIndex(use.slot, nest_.variables.size());
  result.strides = row_major_strides(buffer.extents);
  result.coefficients.assign(axes_, 0);
  for (std::size_t d = 0; d < index.size(); ++d) {
    result.origin.emplace_back(origin_of(nest_, use)[d], nest_.variables.size());
    result.index.emplace_back(index[d], axes_);
    result.affine = result.affine && result.index[d].is_affine();
    for (const CompiledIndex::Linear& term : result.index[d].linear()) {
      result.coefficients[term.slot] += result.strides[d] * term.coefficient;
    }
  }
  return result;
}

void ComputeRunner::outside(const Buffer& buffer, std::size_t d, std::int64_t low, std::int64_t high) const {
  fail_check(fmt::format("statement {} touches elements {}..{} of dimension {} of buffer {}, which has {}",
                         statement_.index(), low, high, d, buffer.name, buffer.extents[d]));
}

/// Fixes where an access finds the box's elements. Affine accesses are checked for the whole box at once.
void ComputeRunner::place(Access& access, std::span<const std::int64_t> values) const {
  const Buffer& buffer = nest_.buffers[access.buffer];
  access.origin_now.clear();
  for (const CompiledIndex& origin : access.origin) access.origin_now.push_back(origin(values));
  access.slot_begin =
      buffer.offset + checked_slot(nest_, access.buffer, access.slot(values), statement_) * buffer.slot_bytes();
  access.base = 0;
  if (!access.affine) return;
  for (std::size_t d = 0; d < access.index.size(); ++d) {
    std::int64_t first = access.index[d].constant() - access.origin_now[d];
    Interval reach;
    for (const CompiledIndex::Linear& term : access.index[d].linear()) {
      first += term.coefficient * start_[term.slot];
      const std::int64_t span = term.coefficient * (extent_[term.slot] - 1);
      (span < 0 ? reach.low : reach.high) += span;
    }
    if (first + reach.low < 0 || first + reach.high >= buffer.extents[d]) {
      outside(buffer, d, first + reach.low, first + reach.high);
    }
    access.base += first * access.strides[d];
  }
}

std::int64_t ComputeRunner::offset_at_step(const Access& access) const {
  std::int64_t offset = access.base;
  for (std::size_t a = 0; a < axes_; ++a) offset += access.coefficients[a] * step_[a];
  return offset;
}

/// Of a data-dependent or quasi-affine access.
std::int64_t ComputeRunner::offset_at_point(const Access& access) const {
  const Buffer& buffer = nest_.buffers[access.buffer];
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < access.index.size(); ++d) {
    const std::int64_t local = access.index[d](point_) - access.origin_now[d];
    if (local < 0 || local >= buffer.extents[d]) outside(buffer, d, local, local);
    offset += local * access.strides[d];
  }
  return offset;
}

std::int64_t ComputeRunner::lane_step(const Access& access) const {
  return axes_ == 0 ? 0 : access.coefficients[lane_];
}

/// Calls f(i) with the axes and the values of the reads at the strip's i-th point in point_.
template <class F>
void ComputeRunner::at_each_point(std::size_t length, const F& f) {
  const std::int64_t first = axes_ == 0 ? 0 : point_[lane_];
  for (std::size_t i = 0; i < length; ++i) {
    if (axes_ > 0) point_[lane_] = first + number(i);
    for (const ReadId r : stage_.reads.ids()) point_[axes_ + r.index()] = registers_[r.index()].whole[i];
    f(i);
  }
  if (axes_ > 0) point_[lane_] = first;
}

void ComputeRunner::run(std::span<const std::int64_t> values, std::byte* ldm, WrittenTensor* record) {
  start_.clear();
  extent_.clear();
  for (const CompiledIndex& start : start_of_) start_.push_back(start(values));
  for (const CompiledIndex& extent : extent_of_) extent_.push_back(extent(values));
  if (std::any_of(extent_.begin(), extent_.end(), [](std::int64_t e) { return e <= 0; })) return;
  start_.resize(axes_, 0);  // a finish has no reduction axes
  extent_.resize(axes_, 1);
  place(output_, values);
  for (auto& [read, access] : reads_) place(access, values);

  // Strips run along the longest axis.
  lane_ = 0;
  for (std::size_t a = 0; a < axes_; ++a) {
    if (extent_[a] >= extent_[lane_]) lane_ = a;
  }
  std::vector<std::size_t> outer;
  for (std::size_t a = 0; a < axes_; ++a) {
    if (a != lane_) outer.push_back(a);
  }
  const std::int64_t lane_extent = axes_ == 0 ? 1 : extent_[lane_];
  step_.assign(axes_, 0);
  point_.assign(axes_ + stage_.reads.size(), 0);
  for (;;) {
    for (std::int64_t from = 0; from < lane_extent; from += number(ScalarProgram::strip_length)) {
      if (axes_ > 0) step_[lane_] = from;
      for (std::size_t a = 0; a < axes_; ++a) point_[a] = start_[a] + step_[a];
      strip(std::min(at(lane_extent - from), ScalarProgram::strip_length), ldm, record);
    }
    std::size_t next = outer.size();
    while (next > 0 && ++step_[outer[next - 1]] == extent_[outer[next - 1]]) step_[outer[--next]] = 0;
    if (next == 0) return;
  }
}

void ComputeRunner::load_reads(std::size_t length, const std::byte* ldm) {
  std::array<std::int64_t, ScalarProgram::strip_length> offsets{};
  for (const auto& [read, access] : reads_) {
    const Buffer& buffer = nest_.buffers[access.buffer];
    Strip& strip = registers_[read.index()];
    if (access.affine) {
      const std::int64_t first = offset_at_step(access);
      const std::int64_t by = lane_step(access);
      load(buffer.type, ldm + access.slot_begin, length, strip, [&](std::size_t i) { return first + by * number(i); });
    } else {
      const Access& indirect = access;
      at_each_point(length, [&](std::size_t i) { offsets[i] = offset_at_point(indirect); });
      load(buffer.type, ldm + access.slot_begin, length, strip, [&](std::size_t i) { return offsets[i]; });
    }
  }
  for (const ScalarProgram::IndexInput& input : program_.index_inputs()) {
    at_each_point(length, [&](std::size_t i) {
      const std::int64_t value = input.value(point_);
      registers_[input.target].real[i] = to_float(input.type, ElementType::i64, value);
      registers_[input.target].whole[i] = wrapped(input.type, value);
    });
  }
}

void ComputeRunner::strip(std::size_t length, std::byte* ldm, WrittenTensor* record) {
  load_reads(length, ldm);
  const Buffer& output = nest_.buffers[output_.buffer];
  std::byte* const elements = ldm + output_.slot_begin;
  const std::int64_t first = offset_at_step(output_);
  const std::int64_t by = lane_step(output_);
  const auto offset = [&](std::size_t i) { return first + by * number(i); };
  Strip& accumulator = registers_[stage_.reads.size()];

  if (compute_.part == Compute::Part::finish) load(output.type, elements, length, accumulator, offset);
  program_.run(registers_, length);
  const Strip& result = registers_[program_.result()];
  if (compute_.part != Compute::Part::update) {
    store(output.type, result, length, elements, offset);
    if (record != nullptr) write(*record, result, length);
    return;
  }
  // Along a reduction axis all points of the strip have one element of the result.
  const bool into_first = by == 0;
  const std::size_t results = into_first ? 1 : length;
  load(output.type, elements, results, accumulator, offset);
  combine(stage_.reduction, output.type, accumulator, result, length, into_first);
  store(output.type, accumulator, results, elements, offset);
  if (record != nullptr) write(*record, accumulator, results);
}

/// Writes the strip's results, the first of which belongs to point_, to a whole tensor.
void ComputeRunner::write(WrittenTensor& tensor, const Strip& values, std::size_t length) const {
  check(is_float(tensor.type) == is_float(nest_.buffers[output_.buffer].type),
        "a buffer holds another kind of number than its tensor");
  const Values strides = row_major_strides(tensor.shape);
  std::int64_t first = 0;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    const std::int64_t last = point_[d] + (d == lane_ ? number(length) - 1 : 0);
    check(point_[d] >= 0 && last < tensor.shape[d],
          fmt::format("statement {} computes beyond its tensor", statement_.index()));
    first += point_[d] * strides[d];
  }
  const std::int64_t by = lane_ < strides.size() ? strides[lane_] : 0;
  store(tensor.type, values, length, tensor.bytes.data(), [&](std::size_t i) { return first + by * number(i); });
}

}  // namespace stowage
