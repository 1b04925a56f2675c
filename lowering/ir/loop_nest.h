// SPDX-License-Identifier: Apache-2.0
// The loop-nest IR: what one kernel launch does on every core.
//
// A LoopNest is run by all cores of `core_grid` at once, each with its own LDM holding `buffers`. Its body is an
// immutable tree of statements. Semantics:
//
//  - Integer variables are bound by the core grid, by Loop (0 … extent-1) and by Let (for the rest of its block).
//  - A region is, per tensor dimension, [start, start+extent); an extent <= 0 in any dimension makes the statement a
//    no-op. Regions of DMA are in tensor coordinates and lie inside the tensor.
//  - A buffer holds a box of a tensor: LDM element (i0, i1, …) is tensor element origin + i, the box having
//    `extents` allocated elements per dimension, row-major without gaps. `origin` is evaluated where the buffer is
//    used; all variables in it are bound there. Origins may lie outside the tensor (padding).
//  - Dma starts a transfer; Wait(dma) ends it. Between the two the buffer's box must not be touched (get) or
//    written (put).
//  - Compute runs part of a stage for every point of a box of its axes.
//  - tensor_value(b, bound) in an expression of the nest is the first element of buffer b (negative values count from
//    the end, see IndexExpr). In an access of a stage, tensor_value(r) is the value of that stage's read r; where read
//    r is served from a buffer of one element the two are the same, so that access index minus origin cancels.
//
// Predicted counts (lowering/time/counts.h), the interpreter, the emitter, the time model and the inspector all read
// this.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/index_expr.h"
#include "core/stage.h"

namespace stowage {

struct NestVariable {
  enum class Kind : std::uint8_t { core, loop, let };
  std::string name;  ///< unique in the nest, a valid C identifier
  Kind kind = Kind::let;
  Interval range;  ///< static bounds over all trips and cores
};

/// One dimension of the core grid: the core's coordinate is (core_id / stride) % parts.
struct CoreAxis {
  VarId variable;
  std::string iterator;  ///< spatial iterator that it splits
  int parts = 1;
  int stride = 1;
};

/// A tensor in main memory as the nest sees it.
struct NestTensor {
  std::string name;                   ///< a valid C identifier, unique in the nest
  int tensor = 0;                     ///< index into StageList::tensors
  std::vector<std::int64_t> strides;  ///< elements, per dimension, highest first
  bool written = false;
};

struct Buffer {
  std::string name;  ///< a valid C identifier, unique in the nest
  int tensor = 0;    ///< index into StageList::tensors: what it holds a box of
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> extents;  ///< allocated elements per tensor dimension, highest first
  std::vector<IndexExpr> origin;      ///< tensor coordinate of its first element, in nest variables
  std::int64_t offset = 0;            ///< bytes from the start of the LDM arena
  int slots = 1;
  std::optional<int> shares_with;  ///< buffer at the same offset that it overwrites in place
  [[nodiscard]] std::int64_t bytes() const;
};

struct Range {
  IndexExpr start;
  IndexExpr extent;
  std::int64_t max_extent = 0;  ///< largest extent over all trips and cores
};

struct Stmt;
using StmtPtr = std::shared_ptr<const Stmt>;
using Block = std::vector<StmtPtr>;

struct Loop {
  VarId variable;
  IndexExpr extent;      ///< trips; may depend on the core's coordinates
  std::string iterator;  ///< iterator whose outer loop it is
  Block body;
};

struct Let {
  VarId variable;
  IndexExpr value;
};

/// Runs its body if any of the expressions is > 0.
struct Guard {
  std::vector<IndexExpr> any_positive;
  Block body;
};

enum class DmaDirection : std::uint8_t { get, put };

struct Dma {
  DmaDirection direction = DmaDirection::get;
  int nest_tensor = 0;        ///< index into LoopNest::tensors
  int buffer = 0;             ///< index into LoopNest::buffers
  std::vector<Range> region;  ///< tensor coordinates, already clipped to the tensor
  /// Bytes in whose multiples a contiguous call moves: rounded up past the end of the tensor and of its place in the
  /// buffer, where the target's DMA moves wider units than the elements (lowering/time/dma_alignment.h).
  int unit_bytes = 1;
};

/// Waits until the transfer that statement `dma` started is complete.
struct Wait {
  int dma = 0;  ///< Stmt::id of the Dma
};

/// Sets every allocated element of a buffer, or only those outside of a box: the padding around what is in the tensor.
/// The box counts in elements of the buffer, so it may stand where the buffer's origin is not known yet.
struct Fill {
  int buffer = 0;
  double value = 0;
  std::optional<std::vector<Range>> around = std::nullopt;
};

/// Form of the emitted inner loops; the time model charges their rate.
enum class ComputeForm : std::uint8_t {
  scalar,         ///< plain loops, not contiguous
  vector,         ///< innermost loop over `lane_axis`, contiguous in the output
  register_block  ///< sum of products in named vector accumulators: 4 of block_axis x 4 vectors of lane_axis
};

struct Compute {
  enum class Part : std::uint8_t {
    map,     ///< out = body (no reduction)
    update,  ///< out = combine(out, body) over the reduction axes' box
    finish   ///< out = finish(out), over spatial axes only
  };
  Part part = Part::map;
  int stage = 0;  ///< index into StageList::stages
  int output_buffer = 0;
  std::vector<std::optional<int>> read_buffers;  ///< per read of the stage; nullopt where this part does not read it
  std::vector<Range> box;                        ///< per axis of the stage (for finish: spatial axes only)
  ComputeForm form = ComputeForm::scalar;
  int lane_axis = -1;   ///< stage axis, for vector and register_block
  int block_axis = -1;  ///< stage axis, for register_block (-1: blocks of one)
};

struct Barrier {};  ///< all cores of the launch

struct Stmt {
  using Node = std::variant<Loop, Let, Guard, Dma, Wait, Fill, Compute, Barrier>;
  int id = 0;  ///< unique in the nest, in program order
  Node node;
  std::string note;  ///< one line for the reader of IR and emitted code, for instance "A inside ko"
};

struct LoopNest {
  std::string name;  ///< of the fused operator; a valid C identifier
  StageList stages;
  std::vector<NestVariable> variables;  ///< by VarId
  std::vector<CoreAxis> core_grid;
  std::vector<NestTensor> tensors;  ///< tensors in main memory, in the order of the kernel's parameters
  std::vector<Buffer> buffers;
  std::int64_t ldm_bytes = 0;  ///< of all buffers at their offsets
  Block body;
  [[nodiscard]] int cores_used() const;
};

/// The block inside a Loop or Guard; nullptr for a statement without one.
const Block* body_of(const Stmt& statement);
/// Calls `visit` for every statement in program order (a Loop before its body).
void visit_statements(const Block& block, const std::function<void(const Stmt&)>& visit);
const Stmt* find_statement(const LoopNest& nest, int id);

/// Text of the nest (grammar in docs/ir.md) together with the span of every statement.
struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  int statement = 0;
};
struct SpannedText {
  std::string text;
  std::vector<TextSpan> spans;
};
SpannedText to_spanned_text(const LoopNest& nest);
std::string to_text(const LoopNest& nest);

}  // namespace stowage
