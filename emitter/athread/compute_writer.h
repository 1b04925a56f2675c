// SPDX-License-Identifier: Apache-2.0
// One Compute statement being written as C loops.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emitter/athread/kernel_context.h"

namespace stowage {

/// A loop of the computation over one axis of its box, from 0.
struct LocalAxis {
  VarId variable;  ///< beyond the nest's variables
  std::string name;
  std::string end;                       ///< the extent in C
  std::optional<std::int64_t> constant;  ///< the extent where it is constant; an axis of one point has no loop
  std::int64_t max_extent = 0;
  bool spatial = true;
  bool end_is_named = false;  ///< `end` is a variable of the nest
  [[nodiscard]] bool needs_name() const { return !constant && !end_is_named; }
};

class ComputeWriter {
 public:
  ComputeWriter(KernelContext& context, const Stmt& statement, const Compute& computation);
  void write();

 private:
  void write_scalar();
  void write_vector();
  void write_assignment();
  void write_combine(const std::string& to);
  void open_loop(std::size_t axis, bool full);
  void close_loop(std::size_t axis);

  [[nodiscard]] bool can_block_registers() const;
  void write_register_block();  // emit_register_block.cpp

  // emit_gathered_lanes.cpp
  void write_gathered();

  /// The stage's coordinate along an axis: start of the range plus loop variable.
  [[nodiscard]] IndexExpr point(std::size_t axis) const;
  /// An expression of the stage (over its axes, with values of its reads) at the current point.
  [[nodiscard]] IndexExpr at_point(const IndexExpr& e) const;
  IndexNames names();
  /// Index of an access within a buffer, in nest variables and local loops.
  [[nodiscard]] std::vector<IndexExpr> local_index(const BufferUse& use, const std::vector<IndexExpr>& index) const;
  [[nodiscard]] std::vector<IndexExpr> output_index() const;
  [[nodiscard]] std::vector<IndexExpr> read_index(ReadId read) const;
  std::string element(const BufferUse& use, const std::vector<IndexExpr>& local);
  std::string read(ReadId read);
  std::string output();
  [[nodiscard]] ElementType output_type() const;
  /// A scalar expression at the current point; temporaries are written as lines before it.
  std::string value(const ScalarExpr& e, const std::string& accumulator);

  /// Element number in a buffer.
  [[nodiscard]] IndexExpr flat_index(BufferId buffer, const std::vector<IndexExpr>& local) const;
  /// True if the element is at a multiple of 16 bytes whatever the loops do. Those over `by_vectors` step by whole
  /// vectors.
  [[nodiscard]] bool begins_vector(BufferId buffer, const std::vector<IndexExpr>& local,
                                   std::span<const VarId> by_vectors) const;

  friend class RegisterBlock;
  friend class GatheredLanes;
  friend class BlockEnds;
  KernelContext& k_;
  const Stmt& stmt_;
  const Compute& compute_;
  const Stage& stage_;
  std::vector<LocalAxis> axes_;
};

/// Coefficient of a variable in a linear expression; nothing if it occurs inside another atom.
std::optional<std::int64_t> linear_in(const IndexExpr& e, VarId variable);
/// The read that a float32 expression is; null if it is something else.
const ScalarNode::Read* as_float_read(const ScalarExpr& e);

}  // namespace stowage
