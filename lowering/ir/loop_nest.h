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
//  - A buffer may have several slots, boxes of its extents one behind another. Every use names one by an expression.
//    What a slot holds begins at the buffer's origin, or where the use says: of a get for the next trip, say, which is
//    `BB[(ko + 1) % 2] from [64*ko + 64, y]`, or of a computation behind the loop.
//  - Dma starts a transfer; Wait ends it, by its statement or by its slot. Between the two the slot must not be touched
//    (get) or written (put). A wait for a statement ends the one execution of it that is under way; a wait for a slot
//    ends everything that is under way there, whichever statements started it and in whichever trip: what one counter
//    per slot can tell.
//  - A team is the cores that a space belongs to: a row of the mesh, a column, or all of it. A get into such a space
//    and a broadcast are transfers of the whole team: they start when the last core of the team has come to the
//    statement, and are complete for all of it when the last one has come to the wait. A get moves one box, which is
//    the same on all cores of the team, from main memory to the same place in each of their LDMs. A broadcast copies a
//    box from the LDM of one core, its sender, into those of all cores of the team, the sender's own included. Between
//    start and wait no core of the team may touch what its own LDM is filled at, nor write what is sent.
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
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/id_vector.h"
#include "core/ids.h"
#include "core/index_expr.h"
#include "core/stage.h"
#include "lowering/ir/launched_by.h"

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

/// The cores of the nest as rows and columns: core `id` is in row id / columns, column id % columns. All rows are full.
struct Mesh {
  int rows = 1;
  int columns = 1;
};

/// What a transfer goes from and to: main memory, the core's own LDM, or the LDMs of all cores of its row, of its
/// column, of the mesh.
enum class Space : std::uint8_t { main_memory, ldm, row, column, mesh };
/// "main memory", "LDM", "row", "column", "mesh".
std::string_view name_of(Space space);

/// A tensor in main memory as the nest sees it.
struct NestTensor {
  std::string name;  ///< a valid C identifier, unique in the nest
  StageTensorId tensor;
  std::vector<std::int64_t> strides;  ///< elements, per dimension, highest first
  bool written = false;
};

struct Buffer {
  std::string name;      ///< a valid C identifier, unique in the nest
  StageTensorId tensor;  ///< what it holds a box of
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> extents;              ///< allocated elements per tensor dimension, highest first
  std::vector<IndexExpr> origin;                  ///< tensor coordinate of its first element, in nest variables
  std::int64_t offset = 0;                        ///< bytes from the start of the LDM arena
  int slots = 1;                                  ///< boxes one behind another
  std::int64_t pitch = 0;                         ///< bytes from slot to slot, where these are more than a box takes
  std::optional<BufferId> shares_with;            ///< buffer at the same offset that it overwrites in place
  [[nodiscard]] std::int64_t box_bytes() const;   ///< of the elements of one box
  [[nodiscard]] std::int64_t slot_bytes() const;  ///< from slot to slot
  [[nodiscard]] std::int64_t bytes() const;       ///< of all slots
};

/// Whether there is a byte of the LDM that belongs to both.
bool share_bytes(const Buffer& a, const Buffer& b);

/// A use of a buffer: one of its slots, and the box that is there.
struct BufferUse {
  BufferId buffer;
  IndexExpr slot;                 ///< from 0
  std::vector<IndexExpr> origin;  ///< where the box in the slot begins; empty: at the buffer's origin

  BufferUse() = default;
  /// Of the first slot, the only one of most.
  BufferUse(BufferId of) : buffer(of) {}  // NOLINT(google-explicit-constructor)
  BufferUse(BufferId of, IndexExpr which, std::vector<IndexExpr> begin = {})
      : buffer(of), slot(std::move(which)), origin(std::move(begin)) {}
  operator BufferId() const { return buffer; }  // NOLINT(google-explicit-constructor)
  /// True if nothing but the buffer has to be said: its first slot, its own origin.
  [[nodiscard]] bool is_plain() const { return origin.empty() && slot == IndexExpr(0); }
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
  NestTensorId nest_tensor;
  BufferUse buffer;
  std::vector<Range> region;  ///< tensor coordinates, already clipped to the tensor
  /// Bytes in whose multiples a contiguous call moves: rounded up past the end of the tensor and of its place in the
  /// buffer, where the target's DMA moves wider units than the elements (lowering/time/dma_alignment.h).
  int unit_bytes = 1;
  Space to = Space::ldm;  ///< of a get: ldm, row, column or mesh
};

/// Starts to copy a box from the LDM of one core of a team into those of all of them.
struct Broadcast {
  Space to = Space::row;      ///< row, column or mesh
  IndexExpr sender;           ///< its index in the team: of a row the column, of a column the row, of the mesh the core
  BufferUse source;           ///< where the sender has the box; each core names the one that it would send from
  BufferUse buffer;           ///< where each core gets it
  std::vector<Range> region;  ///< coordinates of the tensor that both buffers hold a box of
};

/// Waits until the transfer that statement `dma` started is complete, or until none is under way in a slot.
struct Wait {
  std::optional<StatementId> dma = std::nullopt;  ///< the Dma or Broadcast; nothing where a slot is named
  std::optional<BufferUse> slot = std::nullopt;   ///< without an origin
};

/// Sets every allocated element of a buffer, or only those outside of a box: the padding around what is in the tensor.
/// The box counts in elements of the buffer, so it may stand where the buffer's origin is not known yet.
struct Fill {
  BufferUse buffer;  ///< without an origin
  double value = 0;
  std::optional<std::vector<Range>> around = std::nullopt;
  bool in_registers = false;  ///< where a sum's accumulators begin, not stored (lowering/ir/register_chains.h)
  /// Loop whose trips keep what of the box the trip before has computed (lowering/ir/sliding_windows.h).
  std::optional<VarId> slides_along = std::nullopt;
};

/// Form of the emitted inner loops; the time model charges their rate.
enum class ComputeForm : std::uint8_t {
  scalar,         ///< plain loops, not contiguous
  vector,         ///< innermost loop over `lane_axis`, contiguous in the output
  register_block  ///< sum of products in named vector accumulators: rows of block_axis x vectors of lane_axis; a map
                  ///< in the accumulators of the sum before it (lowering/ir/register_chains.h)
};

struct Compute {
  enum class Part : std::uint8_t {
    map,     ///< out = body (no reduction)
    update,  ///< out = combine(out, body) over the reduction axes' box
    finish   ///< out = finish(out), over spatial axes only
  };
  Part part = Part::map;
  StageId stage;
  BufferUse output_buffer;
  /// Per read of the stage; nullopt where this part does not read it.
  IdVector<ReadId, std::optional<BufferUse>> read_buffers;
  std::vector<Range> box;  ///< per axis of the stage (for finish: spatial axes only)
  ComputeForm form = ComputeForm::scalar;
  std::optional<VarId> lane_axis;   ///< of the stage, for vector and register_block
  std::optional<VarId> block_axis;  ///< of the stage, for register_block (none: blocks of one)
};

struct Barrier {};  ///< all cores of the launch

struct Stmt {
  using Node = std::variant<Loop, Let, Guard, Dma, Wait, Fill, Compute, Barrier, Broadcast>;
  StatementId id;  ///< unique in the nest, in program order
  Node node;
  std::string note;  ///< one line for the reader of IR and emitted code, for instance "A inside ko"
};

struct LoopNest {
  std::string name;  ///< of the fused operator; a valid C identifier
  StageList stages;
  std::vector<NestVariable> variables;  ///< by VarId
  std::vector<CoreAxis> core_grid;
  std::optional<Mesh> mesh;                    ///< where transfers go to rows, columns or all of it
  IdVector<NestTensorId, NestTensor> tensors;  ///< tensors in main memory, in the order of the kernel's parameters
  IdVector<BufferId, Buffer> buffers;
  std::int64_t ldm_bytes = 0;  ///< of all buffers at their offsets
  Block body;
  LaunchedBy launch = LaunchedBy::spawn;
  [[nodiscard]] int cores_used() const;
};

/// In an expression of the nest, the value of a buffer's first element.
IndexExpr value_in(BufferId buffer, std::int64_t bound);
/// The buffers of which an expression of the nest has such values.
std::set<BufferId> buffers_in(const IndexExpr& e);
/// Where the box that a use is about begins.
const std::vector<IndexExpr>& origin_of(const LoopNest& nest, const BufferUse& use);
/// Calls `visit` for every use of a buffer in a statement itself: of a Compute the output first, of a Broadcast the
/// buffer that it fills.
void visit_uses(const Stmt& statement, const std::function<void(const BufferUse&)>& visit);

/// The block inside a Loop or Guard; nullptr for a statement without one.
const Block* body_of(const Stmt& statement);
/// Calls `visit` for every statement in program order (a Loop before its body).
void visit_statements(const Block& block, const std::function<void(const Stmt&)>& visit);
const Stmt* find_statement(const LoopNest& nest, StatementId id);
/// The first statement that names another slot than a buffer's first, a slot to wait for, or where the box in one
/// begins; nullptr in a nest of blocking transfers.
const Stmt* first_use_of_slots(const LoopNest& nest);

/// From where to where a transfer moves. A broadcast comes from an LDM.
struct Route {
  Space from = Space::main_memory;
  Space to = Space::ldm;
};
/// Nothing of a statement that is no transfer.
std::optional<Route> route_of(const Stmt& statement);
/// The space of a transfer that a team of cores makes together; nothing of any other statement.
std::optional<Space> team_of(const Stmt& statement);
/// The first transfer of a team; nullptr where every core moves for itself.
const Stmt* first_of_team(const LoopNest& nest);

/// Text of the nest (grammar in docs/ir.md) together with the span of every statement.
struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  StatementId statement;
};
struct SpannedText {
  std::string text;
  std::vector<TextSpan> spans;
};
SpannedText to_spanned_text(const LoopNest& nest);
std::string to_text(const LoopNest& nest);
/// To be compared, not read back: with letters and numbers for names, without notes, sources and values of constants.
std::string to_text_by_position(const LoopNest& nest);

}  // namespace stowage
