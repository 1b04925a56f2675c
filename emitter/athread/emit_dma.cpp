// SPDX-License-Identifier: Apache-2.0
// DMA statements as Athread calls. Structure and number of the calls follow lowering/time/dma_shape.h exactly, because
// the predicted counts do.
#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/athread_machine.h"
#include "core/check.h"
#include "core/index.h"
#include "emitter/athread/kernel_context.h"
#include "lowering/ir/mesh.h"
#include "lowering/time/counts.h"
#include "lowering/time/dma_shape.h"

namespace stowage {
namespace {

DmaShape shape_of_dma(const KernelContext& k, const Dma& dma) {
  std::vector<std::int64_t> full;
  for (const Range& range : dma.region) full.push_back(range.max_extent);
  return dma_shape(full, k.nest.buffers[dma.buffer].extents, k.nest.tensors[dma.nest_tensor].strides);
}

/// A product of numbers and names: "60 * n0".
struct Product {
  std::int64_t number = 1;
  std::vector<std::string> names;
  [[nodiscard]] std::string text() const {
    if (names.empty()) return std::to_string(number);
    const std::string product = fmt::format("{}", fmt::join(names, " * "));
    return number == 1 ? product : fmt::format("{} * {}", number, product);
  }
};

/// One Dma statement being written.
class DmaWriter {
 public:
  DmaWriter(KernelContext& k, const Stmt& stmt, const Dma& dma)
      : k_(k), stmt_(stmt), dma_(dma), shape_(shape_of_dma(k, dma)) {
    const DmaNames& names = names_of(k, stmt, dma);
    const std::string slot = names.slots > 0 ? k.slot(dma.buffer) : "";
    reply_ = names.reply + slot;
    if (!names.counter.empty()) counter_ = names.counter + slot;
  }

  void write() {
    k_.comment(fmt::format("{} {}{}{}", dma_.direction == DmaDirection::get ? "get" : "put", region_text(k_, dma_),
                           stmt_.note.empty() ? "" : ": ", stmt_.note));
    const bool of_team = dma_.to != Space::ldm;
    if (const auto barrier = k_.barriers.before.find(stmt_.id); barrier != k_.barriers.before.end())
      emit_barrier(k_, barrier->second, stmt_.id);
    if (of_team) open_for_team(k_, dma_.to);
    k_.out.line(fmt::format("ldm->{} = 0;", reply_));
    const bool empty = std::any_of(dma_.region.begin(), dma_.region.end(), [](const Range& range) {
      return range.extent.is_constant() && range.extent.constant() <= 0;
    });
    if (empty) {
      if (!counter_.empty()) k_.out.line(fmt::format("{} = 0;", counter_));
    } else {
      name_extents();
      write_calls_unless_empty();
    }
    if (scoped_) k_.out.close();
    if (of_team) k_.out.close();
  }

 private:
  [[nodiscard]] const IndexExpr& extent(std::size_t d) const { return dma_.region[d].extent; }

  /// Extents that are neither constant nor a variable of the nest get a name, in braces of their own.
  void name_extents() {
    for (std::size_t d = 0; d < dma_.region.size(); ++d) {
      const IndexExpr& e = extent(d);
      extent_names_.push_back(k_.index(e));
      if (e.is_constant() || is_name(e)) continue;
      if (!scoped_) k_.out.open("{");
      scoped_ = true;
      k_.out.line(fmt::format("const int n{}_ = {};", d, extent_names_.back()));
      extent_names_.back() = fmt::format("n{}_", d);
    }
  }

  void write_calls_unless_empty() {
    std::vector<std::string> conditions;
    for (std::size_t d = 0; d < dma_.region.size(); ++d) {
      if (!extent(d).is_constant() && k_.bounds_of(extent(d)).low <= 0) conditions.push_back(extent_names_[d] + " > 0");
    }
    if (!conditions.empty() && !counter_.empty()) k_.out.line(fmt::format("{} = 0;", counter_));
    if (conditions.empty()) {
      write_structures();
      return;
    }
    k_.out.open(fmt::format("if ({}) {{", fmt::join(conditions, " && ")));
    write_structures();
    k_.out.close();
  }

  void write_structures() {
    const std::vector<DmaCallsWhere> possible = calls_where(shape_, known_extents(dma_));
    const std::vector<std::string> names = extent_names_;
    for (const DmaCallsWhere& where : possible) {
      std::vector<std::string> conditions;
      for (const std::size_t d : where.full) {
        conditions.push_back(fmt::format("{} == {}", names[d], shape_.full[d]));
        extent_names_[d] = std::to_string(shape_.full[d]);  // it is known here
      }
      const std::string condition = fmt::format("{}", fmt::join(conditions, " && "));
      const bool is_first = &where == &possible.front();
      if (is_first && !conditions.empty()) k_.out.open(fmt::format("if ({}) {{", condition));
      if (!is_first) {
        k_.out.else_branch(conditions.empty() ? "} else {" : fmt::format("}} else if ({}) {{", condition));
        k_.comment(where.calls.strided_from + 1 == names.size() ? "a shorter tile: row by row"
                                                                : "a shorter tile: block by block");
      }
      write_calls(where.calls.strided_from, where.calls.strided_from, where.calls.block_from);
      extent_names_ = names;
    }
    if (possible.size() > 1) k_.out.close();
  }

  void multiply(Product& product, std::size_t d) const {
    const std::string& name = extent_names_[d];
    if (std::isdigit(static_cast<unsigned char>(name[0])) != 0) {
      product.number *= std::stoll(name);
    } else {
      product.names.push_back(name);
    }
  }

  /// Calls in loops over dimensions [0, loops), each moving dimensions [strided, block) as blocks of [block, rank).
  void write_calls(std::size_t loops, std::size_t strided, std::size_t block) {
    const std::size_t rank = dma_.region.size();
    check(rank == 0 || shape_.memory_strides.back() == 1, "a tensor whose last dimension is not contiguous");
    Product operations;
    std::vector<IndexExpr> loop_variable(rank);
    std::vector<std::pair<VarId, std::string>> loop_names;
    for (std::size_t i = 0; i < loops; ++i) {
      multiply(operations, i);
      if (extent_names_[i] == "1") continue;
      const VarId variable(k_.nest.variables.size() + i);
      loop_variable[i] = IndexExpr(variable);
      loop_names.emplace_back(variable, fmt::format("i{}_", i));
    }
    if (!counter_.empty()) k_.out.line(fmt::format("{} = {};", counter_, operations.text()));
    for (const auto& [variable, name] : loop_names) {
      const std::size_t d = variable.index() - k_.nest.variables.size();
      k_.out.open(fmt::format("for (int {0} = 0; {0} < {1}; {0}++) {{", name, extent_names_[d]));
    }
    write_call(loop_variable, loop_names, strided, block);
    for (std::size_t i = 0; i < loop_names.size(); ++i) k_.out.close();
  }

  void write_call(const std::vector<IndexExpr>& loop_variable,
                  const std::vector<std::pair<VarId, std::string>>& loop_names, std::size_t strided,
                  std::size_t block) {
    const NestTensor& tensor = k_.nest.tensors[dma_.nest_tensor];
    const Buffer& buffer = k_.nest.buffers[dma_.buffer];
    const StageTensor& stage_tensor = k_.stage_tensor(dma_.nest_tensor);
    const std::int64_t size = byte_size(buffer.type);
    const std::size_t rank = dma_.region.size();

    IndexNames names;
    names.variable = [&](VarId v) {
      for (const auto& [variable, name] : loop_names) {
        if (variable == v) return name;
      }
      return k_.variables.at(v.index());
    };
    names.range = [&](VarId v) {
      if (v.index() < k_.nest.variables.size()) return k_.range(v);
      return Interval{0, dma_.region[v.index() - k_.nest.variables.size()].max_extent - 1};
    };
    names.read_value = [&](ReadId number) { return k_.first_element(BufferId(number.index())); };
    names.table = [&](const std::shared_ptr<const IndexTable>& table) { return k_.table(table); };

    IndexExpr offset;
    std::vector<std::string> local;
    bool at_origin = true;
    for (std::size_t d = 0; d < rank; ++d) {
      const IndexExpr coordinate = dma_.region[d].start + loop_variable[d];
      offset += coordinate * tensor.strides[d];
      const IndexExpr in_buffer =
          buffer.extents[d] == 1 ? IndexExpr(0) : coordinate - origin_of(k_.nest, dma_.buffer)[d];
      local.push_back(c_index(in_buffer, names));
      at_origin = at_origin && in_buffer == IndexExpr(0);
    }
    const bool wide = element_count(stage_tensor.shape) > 0x7fffffff;
    const std::string pointer = k_.tensors[dma_.nest_tensor];
    const std::string memory =
        offset == IndexExpr(0) ? pointer : fmt::format("{} + {}", pointer, c_index(offset, names, wide));
    const std::string ldm = at_origin ? k_.box(dma_.buffer) : "&" + k_.element(dma_.buffer, local);

    Product bytes;
    Product block_bytes;
    bytes.number = block_bytes.number = size;
    for (std::size_t d = std::min(strided, block); d < rank; ++d) {
      multiply(bytes, d);
      if (d >= block) multiply(block_bytes, d);
    }
    const bool is_strided = strided < block;
    std::string length = bytes.text();
    const std::int64_t unit = dma_.unit_bytes;
    if (!is_strided && bytes.names.empty()) {
      length = std::to_string((bytes.number + unit - 1) / unit * unit);
    } else if (!is_strided && bytes.number % unit != 0) {
      length = fmt::format("({} + {}) / {} * {}", length, unit - 1, unit, unit);
    }
    const std::string gap = is_strided ? fmt::format("{}, {}", shape_.gap * size, block_bytes.text()) : "0, 0";
    if (dma_.direction == DmaDirection::get) {
      k_.out.line(
          fmt::format("athread_get({}, {}, {}, {}, (void *)&ldm->{}, {}, {});", is_own_get() ? "PE_MODE" : "BCAST_MODE",
                      memory, ldm, length, reply_, mask_of_rows(), gap),
          stmt_.id);
    } else {
      k_.out.line(
          fmt::format("athread_put(PE_MODE, {}, {}, {}, (void *)&ldm->{}, {});", ldm, memory, length, reply_, gap),
          stmt_.id);
    }
  }

  /// Of a column the first core loads for itself; what the others get of it goes down the column behind the wait.
  [[nodiscard]] bool is_own_get() const { return dma_.to == Space::ldm || dma_.to == Space::column; }

  /// Rows of the mesh whose cores a get fills the LDMs of; none: its own.
  [[nodiscard]] std::string mask_of_rows() const {
    if (is_own_get()) return "0";
    if (dma_.to == Space::row) return fmt::format("(char)(1 << core / {})", k_.nest.mesh->columns);
    return fmt::format("(char){:#x}", (1 << k_.nest.mesh->rows) - 1);
  }

  KernelContext& k_;
  const Stmt& stmt_;
  const Dma& dma_;
  std::string reply_;    ///< member of the LDM struct
  std::string counter_;  ///< empty where the number of operations is a constant
  DmaShape shape_;
  std::vector<std::string> extent_names_;  ///< of every dimension in C, here a number or a name
  bool scoped_ = false;
};

/// The number of operations if it is the same for every execution of the statement, else nothing.
std::optional<std::int64_t> constant_operations(const KernelContext& k, const Dma& dma) {
  const DmaShape shape = shape_of_dma(k, dma);
  std::vector<std::int64_t> extents;
  std::vector<bool> constant;
  for (const Range& range : dma.region) {
    constant.push_back(range.extent.is_constant());
    extents.push_back(range.extent.is_constant() ? range.extent.constant() : range.max_extent);
    if (!constant.back() && k.bounds_of(range.extent).low <= 0) return std::nullopt;
  }
  if (calls_where(shape, known_extents(dma)).size() > 1) return std::nullopt;
  const std::int64_t operations = count_operations(shape, extents).operations;
  for (std::size_t d = 0; d < calls_of(shape, extents).strided_from; ++d) {
    if (!constant[d]) return std::nullopt;
  }
  return operations;
}

void visit_blocks(const Block& block, const std::function<void(const Block&)>& visit) {
  visit(block);
  for (const StmtPtr& stmt : block) {
    if (const auto* loop = std::get_if<Loop>(&stmt->node)) visit_blocks(loop->body, visit);
    if (const auto* guard = std::get_if<Guard>(&stmt->node)) visit_blocks(guard->body, visit);
  }
}

/// Our own words are in front, so the tensor's prefix need not be.
std::string tensor_word(const KernelContext& k, const Dma& dma) {
  return k.canonical ? k.tensors[dma.nest_tensor] : c_name(k.nest.tensors[dma.nest_tensor].name);
}

/// One reply word for every slot of the buffers that are awaited by slots, whichever statements move them.
void name_slots(KernelContext& k) {
  std::set<BufferId> awaited;
  visit_statements(k.nest.body, [&](const Stmt& stmt) {
    const auto* wait = std::get_if<Wait>(&stmt.node);
    if (wait != nullptr && wait->slot) awaited.insert(wait->slot->buffer);
  });
  std::map<BufferId, std::set<std::int64_t>> operations;  // -1: they vary
  visit_statements(k.nest.body, [&](const Stmt& stmt) {
    const auto* dma = std::get_if<Dma>(&stmt.node);
    if (dma == nullptr || !awaited.contains(dma->buffer)) return;
    DmaNames& names = k.by_slots[dma->buffer];
    names.reply = "reply_" + tensor_word(k, *dma);
    names.slots = k.nest.buffers[dma->buffer].slots;
    operations[dma->buffer].insert(constant_operations(k, *dma).value_or(-1));
    if (operations[dma->buffer].size() == 1 && !operations[dma->buffer].contains(-1)) {
      names.constant_operations = *operations[dma->buffer].begin();
    } else if (names.counter.empty()) {
      names.counter = k.pool.take("issued_" + tensor_word(k, *dma));
    }
  });
}

}  // namespace

const DmaNames& names_of(const KernelContext& k, const Stmt& stmt, const Dma& dma) {
  const auto by_slots = k.by_slots.find(dma.buffer);
  return by_slots == k.by_slots.end() ? k.dma.at(stmt.id) : by_slots->second;
}

void name_dma(KernelContext& k) {
  name_slots(k);
  visit_blocks(k.nest.body, [&](const Block& block) {
    for (auto here = block.begin(); here != block.end(); ++here) {
      const auto* dma = std::get_if<Dma>(&(*here)->node);
      if (dma == nullptr || k.by_slots.contains(dma->buffer)) continue;
      const StatementId id = (*here)->id;
      const bool waited_here = std::any_of(here, block.end(), [&](const StmtPtr& later) {
        const auto* wait = std::get_if<Wait>(&later->node);
        return wait != nullptr && wait->dma == id;
      });
      const std::string tensor = tensor_word(k, *dma);
      DmaNames names;
      names.reply = "reply_" + tensor;
      names.wait_elsewhere = !waited_here;
      const auto operations = constant_operations(k, *dma);
      if (operations && waited_here) {
        names.constant_operations = *operations;
      } else {
        names.counter = k.pool.take("issued_" + tensor);
      }
      k.dma.emplace(id, std::move(names));
    }
  });
}

std::string region_text(KernelContext& k, const Dma& dma) {
  std::string text = k.nest.tensors[dma.nest_tensor].name;
  for (const Range& range : dma.region) {
    text += fmt::format("[{} .. +{}]", k.index(range.start), k.index(range.extent));
  }
  return text;
}

void emit_barrier(KernelContext& k, Space team, StatementId statement) {
  const auto of_rows = [](int rows) { return (1 << rows) - 1; };
  if (team == Space::row || leaves_rows(k.nest, k.target)) {
    // Of the rows that take part: those of each column, and then of each row.
    if (team == Space::mesh)
      k.out.line(fmt::format("athread_syn(COL_SCOPE, {:#x});", of_rows(k.nest.mesh->rows)), statement);
    k.out.line(fmt::format("athread_syn(ROW_SCOPE, {:#x});", of_rows(k.nest.mesh->columns)), statement);
  } else {
    k.out.line(fmt::format("{};", barrier_of_all_cores), statement);
  }
}

void open_for_team(KernelContext& k, Space team) {
  const int columns = team == Space::mesh ? 0 : k.nest.mesh->columns;
  k.out.open(team == Space::row      ? fmt::format("if (core % {} == 0) {{", columns)
             : team == Space::column ? fmt::format("if (core < {}) {{", columns)
                                     : std::string("if (core == 0) {"));
}

void emit_dma(KernelContext& k, const Stmt& stmt, const Dma& dma) { DmaWriter(k, stmt, dma).write(); }

namespace {

/// What was issued is awaited once: a wait in a later trip counts anew.
void emit_slot_wait(KernelContext& k, const Stmt& stmt, const BufferUse& slot) {
  const auto found = k.by_slots.find(slot.buffer);
  check(found != k.by_slots.end(), "a wait for a slot that nothing is moved in");
  const DmaNames& names = found->second;
  const std::string which = k.slot(slot);
  const std::string count = names.counter.empty() ? std::to_string(names.constant_operations) : names.counter + which;
  k.out.line(fmt::format("dma_wait(&ldm->{}{}, {});", names.reply, which, count), stmt.id);
}

void emit_own_wait(KernelContext& k, const Stmt& stmt, const Wait& wait) {
  if (wait.slot) return emit_slot_wait(k, stmt, *wait.slot);
  const auto found = k.dma.find(*wait.dma);
  check(found != k.dma.end(), "a wait for a transfer that the nest does not have");
  const DmaNames& names = found->second;
  const std::string count = names.counter.empty() ? std::to_string(names.constant_operations) : names.counter;
  k.out.line(fmt::format("dma_wait(&ldm->{}, {});", names.reply, count), stmt.id);
  if (names.wait_elsewhere) k.out.line(fmt::format("{} = 0;", names.counter));
}

}  // namespace

/// For a team waits the core that has started the transfer, and the others for that core.
void emit_wait(KernelContext& k, const Stmt& stmt, const Wait& wait) {
  const auto sent = k.barriers.sent_at.find(stmt.id);
  if (k.barriers.awaits_broadcast(stmt.id)) return emit_sent_box(k, stmt.id, sent->second);
  const auto team = k.barriers.waits_of.find(stmt.id);
  if (team == k.barriers.waits_of.end()) return emit_own_wait(k, stmt, wait);
  open_for_team(k, team->second);
  emit_own_wait(k, stmt, wait);
  k.out.close();
  if (sent != k.barriers.sent_at.end()) {
    emit_sent_box(k, stmt.id, sent->second);
  } else if (k.barriers.after.contains(stmt.id)) {
    emit_barrier(k, team->second, stmt.id);
  }
}

}  // namespace stowage
