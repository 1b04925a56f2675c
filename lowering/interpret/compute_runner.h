// SPDX-License-Identifier: Apache-2.0
// Runs one Compute statement of a nest on an LDM, for the interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lowering/interpret/scalar_program.h"
#include "lowering/ir/compiled_index.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// A tensor that is being written, row-major.
struct WrittenTensor {
  ElementType type = ElementType::f32;
  Shape shape;
  std::vector<std::byte> bytes;
};

/// A slot's number, which must be one of the buffer's; a fault names the statement.
std::int64_t checked_slot(const LoopNest& nest, BufferId buffer, std::int64_t slot, StatementId statement);

class ComputeRunner {
 public:
  /// The nest must outlive the runner. Expressions of the nest find variable v in slot v.index() and the first element
  /// of buffer b in slot variables + b.
  ComputeRunner(const LoopNest& nest, const Stmt& statement);

  [[nodiscard]] BufferId output_buffer() const { return output_.buffer; }

  /// Computes the statement's box at these values of the variables. What is computed is also written to `record` if
  /// there is one. Touching elements beyond a buffer is a fault, reported with numbers.
  void run(std::span<const std::int64_t> values, std::byte* ldm, WrittenTensor* record);

 private:
  using Values = std::vector<std::int64_t>;

  /// An access to a buffer, over the axes of the stage.
  struct Access {
    BufferId buffer;
    CompiledIndex slot;                 ///< of the buffer, over nest variables
    std::vector<CompiledIndex> index;   ///< tensor coordinates; values of reads from slot `axes` on
    std::vector<CompiledIndex> origin;  ///< of the box in the slot, over nest variables
    Values strides;                     ///< of the buffer
    bool affine = true;
    Values coefficients;  ///< by axis, of the offset in the buffer; if affine
    // Of the box that is being computed:
    Values origin_now;
    std::int64_t slot_begin = 0;  ///< bytes from the start of the LDM
    std::int64_t base = 0;        ///< offset at the box's first point; if affine
  };

  [[nodiscard]] Access access(const BufferUse& use, const std::vector<IndexExpr>& index) const;
  void add_read(ReadId read);
  void place(Access& access, std::span<const std::int64_t> values) const;
  [[nodiscard]] std::int64_t offset_at_step(const Access& access) const;
  [[nodiscard]] std::int64_t offset_at_point(const Access& access) const;
  [[nodiscard]] std::int64_t lane_step(const Access& access) const;
  [[noreturn]] void outside(const Buffer& buffer, std::size_t dimension, std::int64_t low, std::int64_t high) const;
  template <class F>
  void at_each_point(std::size_t length, const F& f);
  void load_reads(std::size_t length, const std::byte* ldm);
  void strip(std::size_t length, std::byte* ldm, WrittenTensor* record);
  void write(WrittenTensor& tensor, const Strip& values, std::size_t length) const;

  const LoopNest& nest_;
  const Compute& compute_;
  const Stage& stage_;
  StatementId statement_;
  std::size_t axes_;
  ScalarProgram program_;
  std::vector<CompiledIndex> start_of_, extent_of_;  ///< of the box, by axis
  Access output_;
  std::vector<std::pair<ReadId, Access>> reads_;  ///< in an order in which they can be loaded
  std::vector<Strip> registers_;

  // Of the box that is being computed:
  Values start_, extent_;
  Values step_;           ///< position in the box, by axis
  Values point_;          ///< the axes' values, then those of integer reads
  std::size_t lane_ = 0;  ///< the axis along which strips run
};

}  // namespace stowage
