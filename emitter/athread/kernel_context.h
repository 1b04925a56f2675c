// SPDX-License-Identifier: Apache-2.0
// What the parts of a kernel's emission share: the nest, the names of its things in C, and the text so far.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/target.h"
#include "emitter/athread/c_expr.h"
#include "emitter/athread/c_writer.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/ir/sliding_windows.h"
#include "lowering/ir/team_barriers.h"
#include "lowering/time/known_rows.h"

namespace stowage {

/// How one Dma statement, or all of a buffer that is awaited by its slots, count operations and are waited for.
struct DmaNames {
  std::string reply;    ///< member of the LDM struct
  std::string counter;  ///< C variable with the number of operations issued; empty where that is a constant
  std::int64_t constant_operations = 0;
  bool wait_elsewhere = false;  ///< the Wait is not in the block of the Dma, so the counter outlives it
  int slots = 0;                ///< reply and counter are arrays by slot; 0: they are not
};

struct KernelContext {
  /// Of a nest with the boxes that are computed (ComputedBoxes).
  KernelContext(const LoopNest& nest, const Target& target, bool canonical);

  const LoopNest& nest;
  const Target& target;
  /// Names by position and no comments: two nests that differ in names only give the same text.
  bool canonical;
  CWriter out;
  IdentifierPool pool;                          ///< of the function's scope
  std::vector<std::string> variables;           ///< by VarId
  IdVector<NestTensorId, std::string> tensors;  ///< pointers into main memory
  IdVector<BufferId, std::string> buffers;      ///< members of the LDM struct
  std::string para;                             ///< member of the LDM struct: the parameters
  std::string para_reply;
  TeamBarriers barriers;
  std::map<StatementId, DmaNames> dma;           ///< of transfers that are awaited by their statement
  std::map<BufferId, DmaNames> by_slots;         ///< of those whose transfers are awaited by slot
  std::map<StatementId, KnownRows> rows;         ///< of computations in register blocks
  std::map<StatementId, RegisterChain> chains;   ///< by their sums
  std::map<StatementId, SlidingWindow> windows;  ///< by their fills
  std::vector<std::shared_ptr<const IndexTable>> tables;
  std::vector<std::string> table_names;

  [[nodiscard]] Interval range(VarId variable) const;
  std::string table(const std::shared_ptr<const IndexTable>& table);
  /// An expression in nest variables.
  std::string index(const IndexExpr& e, bool wide = false);
  [[nodiscard]] Interval bounds_of(const IndexExpr& e) const;
  /// Size of a buffer's dimension in C: no array has none.
  [[nodiscard]] static std::int64_t allocated(std::int64_t extent) { return extent > 0 ? extent : 1; }
  /// "[ko % 2]"
  [[nodiscard]] std::string slot(const BufferUse& use);
  /// The box in a buffer's slot.
  [[nodiscard]] std::string box(const BufferUse& use);
  /// Element of a box at an index that counts from the box's first element.
  [[nodiscard]] std::string element(const BufferUse& use, const std::vector<std::string>& local);
  /// What tensor_value(b) means in an expression of the nest.
  [[nodiscard]] std::string first_element(BufferId buffer);
  void comment(std::string_view text) {
    if (!canonical) out.comment(text);
  }
  [[nodiscard]] const StageTensor& stage_tensor(NestTensorId nest_tensor) const;
};

/// Names and wait counts of all Dma statements of the nest.
void name_dma(KernelContext& k);
const DmaNames& names_of(const KernelContext& k, const Stmt& stmt, const Dma& dma);
void emit_dma(KernelContext& k, const Stmt& stmt, const Dma& dma);
void emit_wait(KernelContext& k, const Stmt& stmt, const Wait& wait);
/// What a team's cores do at a wait: one of them sends, the others take.
void emit_sent_box(KernelContext& k, StatementId statement, const SentBox& sent);
/// The functions that kernels call there, those that they need.
void emit_register_broadcasts(const KernelContext& k, CWriter& file);
/// All cores of a team wait for each other.
void emit_barrier(KernelContext& k, Space team, StatementId statement);
/// Begins what one core of a team does for all of it.
void open_for_team(KernelContext& k, Space team);
/// "A[x .. +1][64*ko .. +64]"
std::string region_text(KernelContext& k, const Dma& dma);

/// Moves what stays of a sliding window's box to where it belongs in this trip.
void emit_window(KernelContext& k, const Stmt& stmt, const SlidingWindow& window);
void emit_compute(KernelContext& k, const Stmt& stmt, const Compute& compute);

}  // namespace stowage
