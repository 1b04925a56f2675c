// SPDX-License-Identifier: Apache-2.0
#include "lowering/verify/verify.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/decision_rules.h"
#include "core/quoting.h"
#include "core/storage_box.h"
#include "lowering/ir/compiled_index.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/mesh.h"
#include "lowering/model/ldm_room.h"
#include "lowering/time/dma_alignment.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

bool is_identifier(const std::string& name) {
  const auto part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && part(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return part(c) || (c >= '0' && c <= '9'); });
}

class StructureCheck {
 public:
  explicit StructureCheck(const LoopNest& nest) : nest_(nest), bound_(nest.variables.size(), false) {}

  Broken run() {
    if (auto broken = verify(nest_.stages)) return of_nest("stages", *broken);
    if (auto broken = verify_names(nest_)) return broken;
    if (auto broken = tables()) return broken;
    for (const CoreAxis& axis : nest_.core_grid) {
      if (axis.variable.index() >= nest_.variables.size())
        return of_nest("structure", "a core axis binds an unknown variable");
      if (axis.parts < 1 || axis.stride < 1) return of_nest("structure", "a core axis has no parts or no stride");
      if (bound_[axis.variable.index()]) return bound_twice(axis.variable);
      bound_[axis.variable.index()] = true;
      in_scope_.insert(axis.variable);
    }
    if (nest_.mesh && (nest_.mesh->rows < 1 || nest_.mesh->columns < 1))
      return of_nest("structure", "the mesh has no cores");
    return block(nest_.body);
  }

 private:
  Broken tables() const {
    for (const NestTensor& t : nest_.tensors) {
      if (!nest_.stages.tensors.contains(t.tensor)) return of_nest("structure", "a memory tensor of no stage tensor");
      if (t.strides.size() != nest_.stages.tensors[t.tensor].shape.size())
        return of_nest("structure", fmt::format("{} has as many strides as it has no dimensions", t.name));
      if (!addresses_once(nest_.stages.tensors[t.tensor].shape, t.strides))
        return of_nest("structure", fmt::format("two elements of {} lie at one place in memory", t.name));
    }
    for (const Buffer& b : nest_.buffers) {
      if (!nest_.stages.tensors.contains(b.tensor))
        return of_nest("structure", fmt::format("buffer {} holds no tensor", b.name));
      const std::size_t rank = nest_.stages.tensors[b.tensor].shape.size();
      if (b.extents.size() != rank || b.origin.size() != rank)
        return of_nest("structure", fmt::format("buffer {} has another rank than its tensor", b.name));
      if (b.type != nest_.stages.tensors[b.tensor].type)
        return of_nest("structure",
                       fmt::format("buffer {} has another type than {}", b.name, nest_.stages.tensors[b.tensor].name));
      if (b.slots < 1) return of_nest("structure", fmt::format("buffer {} has {} slots", b.name, b.slots));
      if (std::any_of(b.extents.begin(), b.extents.end(), [](std::int64_t e) { return e < 0; }))
        return of_nest("structure", fmt::format("buffer {} has a negative extent", b.name));
      if (b.shares_with && !nest_.buffers.contains(*b.shares_with))
        return of_nest("structure", fmt::format("buffer {} shares with none", b.name));
    }
    return std::nullopt;
  }

  Broken bound_twice(VarId v) const {
    return of_nest("scope", fmt::format("variable {} is bound twice", nest_.variables[v.index()].name));
  }

  Broken bind(const Stmt& s, VarId v, NestVariable::Kind kind) {
    if (v.index() >= nest_.variables.size()) return broken_rule(nest_, "structure", s, "binds an unknown variable");
    const NestVariable& variable = nest_.variables[v.index()];
    if (bound_[v.index()]) return bound_twice(v);
    if (variable.kind != kind)
      return broken_rule(nest_, "structure", s, variable.name + " is declared as another kind");
    bound_[v.index()] = true;
    in_scope_.insert(v);
    return std::nullopt;
  }

  Broken use(const Stmt& s, const IndexExpr& e) const {
    for (const VarId v : variables_of(e)) {
      if (v.index() >= nest_.variables.size()) return broken_rule(nest_, "structure", s, "uses an unknown variable");
      if (!in_scope_.contains(v)) {
        return broken_rule(nest_, "scope", s, fmt::format("{} has no value here", nest_.variables[v.index()].name));
      }
    }
    for (const BufferId buffer : buffers_in(e)) {
      if (!nest_.buffers.contains(buffer))
        return broken_rule(nest_, "structure", s, "uses the first element of an unknown buffer");
      const Buffer& used = nest_.buffers[buffer];
      if (used.slots != 1)
        return broken_rule(nest_, "structure", s,
                           fmt::format("uses the first element of buffer {}, which has several slots", used.name));
    }
    return std::nullopt;
  }

  Broken use_ranges(const Stmt& s, const std::vector<Range>& ranges) const {
    for (const Range& range : ranges) {
      if (auto broken = use(s, range.start)) return broken;
      if (auto broken = use(s, range.extent)) return broken;
    }
    return std::nullopt;
  }

  /// A slot counts: it comes from variables alone, so that every walk of the nest finds the same one.
  Broken use_slot(const Stmt& s, const BufferUse& used) const {
    if (!nest_.buffers.contains(used.buffer)) return broken_rule(nest_, "structure", s, "uses an unknown buffer");
    if (has_table(used.slot) || !tensor_values_of(used.slot).empty())
      return broken_rule(nest_, "structure", s, "a slot comes from a table or a tensor");
    return use(s, used.slot);
  }

  Broken use_buffer(const Stmt& s, const BufferUse& used) const {
    if (auto broken = use_slot(s, used)) return broken;
    const Buffer& buffer = nest_.buffers[used.buffer];
    if (!used.origin.empty() && used.origin.size() != buffer.extents.size())
      return broken_rule(nest_, "structure", s,
                         fmt::format("the box in buffer {} begins at a place of another rank", buffer.name));
    for (const IndexExpr& origin : origin_of(nest_, used)) {
      if (auto broken = use(s, origin)) return broken;
    }
    return std::nullopt;
  }

  /// Of statements that are not about where the box in the slot lies.
  Broken use_slot_only(const Stmt& s, const BufferUse& used) const {
    if (!used.origin.empty()) return broken_rule(nest_, "structure", s, "says where a box begins that does not matter");
    return use_slot(s, used);
  }

  Broken block(const Block& statements) {
    const std::set<VarId> outside = in_scope_;
    for (const StmtPtr& s : statements) {
      if (last_ && s->id <= *last_)
        return of_nest("structure",
                       fmt::format("statement {} comes after statement {}", s->id.index(), last_->index()));
      last_ = s->id;
      if (auto broken = statement(*s)) return broken;
    }
    in_scope_ = outside;
    return std::nullopt;
  }

  Broken statement(const Stmt& s) {
    if (const auto* loop = std::get_if<Loop>(&s.node)) {
      if (auto broken = use(s, loop->extent)) return broken;
      if (auto broken = bind(s, loop->variable, NestVariable::Kind::loop)) return broken;
      auto broken = block(loop->body);
      in_scope_.erase(loop->variable);
      return broken;
    }
    if (const auto* let = std::get_if<Let>(&s.node)) {
      if (auto broken = use(s, let->value)) return broken;
      return bind(s, let->variable, NestVariable::Kind::let);
    }
    if (const auto* guard = std::get_if<Guard>(&s.node)) {
      for (const IndexExpr& e : guard->any_positive) {
        if (auto broken = use(s, e)) return broken;
      }
      return block(guard->body);
    }
    if (const auto* dma = std::get_if<Dma>(&s.node)) return transfer(s, *dma);
    if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) return broadcasting(s, *broadcast);
    if (const auto* wait = std::get_if<Wait>(&s.node)) {
      if (wait->slot) return use_slot_only(s, *wait->slot);
      const Stmt* awaited = find_statement(nest_, *wait->dma);
      if (awaited == nullptr || !route_of(*awaited))
        return broken_rule(nest_, "structure", s, fmt::format("statement {} is no transfer", wait->dma->index()));
      return std::nullopt;
    }
    if (const auto* fill = std::get_if<Fill>(&s.node)) {
      if (!nest_.buffers.contains(fill->buffer)) return broken_rule(nest_, "structure", s, "fills an unknown buffer");
      if (auto broken = use_slot_only(s, fill->buffer)) return broken;
      if (fill->slides_along && (fill->around || fill->slides_along->index() >= nest_.variables.size()))
        return broken_rule(nest_, "structure", s, "slides along no variable, or around a box");
      if (!fill->around) return std::nullopt;
      if (fill->around->size() != nest_.buffers[fill->buffer].extents.size())
        return broken_rule(nest_, "structure", s, "the box has another rank than the buffer");
      return use_ranges(s, *fill->around);
    }
    if (const auto* compute = std::get_if<Compute>(&s.node)) return computation(s, *compute);
    return std::nullopt;
  }

  Broken transfer(const Stmt& s, const Dma& dma) const {
    if (!nest_.tensors.contains(dma.nest_tensor)) return broken_rule(nest_, "structure", s, "moves an unknown tensor");
    if (auto broken = use_buffer(s, dma.buffer)) return broken;
    const NestTensor& tensor = nest_.tensors[dma.nest_tensor];
    const Buffer& buffer = nest_.buffers[dma.buffer];
    const StageTensor& type = nest_.stages.tensors[tensor.tensor];
    if (buffer.tensor != tensor.tensor)
      return broken_rule(nest_, "structure", s, fmt::format("buffer {} holds another tensor", buffer.name));
    if (dma.region.size() != type.shape.size())
      return broken_rule(nest_, "structure", s, "the region has another rank than the tensor");
    if (dma.direction == DmaDirection::put && !tensor.written)
      return broken_rule(nest_, "structure", s, fmt::format("{} is not declared as written", tensor.name));
    const bool own = dma.to == Space::ldm;
    if (dma.to == Space::main_memory || (dma.direction == DmaDirection::put && !own))
      return broken_rule(nest_, "structure", s, "a get fills LDMs, a put stores from the core's own one");
    if (!own && !nest_.mesh) return broken_rule(nest_, "structure", s, "the nest has no mesh");
    return use_ranges(s, dma.region);
  }

  Broken broadcasting(const Stmt& s, const Broadcast& broadcast) const {
    if (!team_of(s)) return broken_rule(nest_, "structure", s, "a broadcast goes to a row, a column or the mesh");
    if (!nest_.mesh) return broken_rule(nest_, "structure", s, "the nest has no mesh");
    if (auto broken = use_buffer(s, broadcast.source)) return broken;
    if (auto broken = use_buffer(s, broadcast.buffer)) return broken;
    const Buffer& from = nest_.buffers[broadcast.source];
    const Buffer& to = nest_.buffers[broadcast.buffer];
    if (from.tensor != to.tensor || from.type != to.type)
      return broken_rule(nest_, "structure", s,
                         fmt::format("buffer {} holds another tensor than {}, or another type", to.name, from.name));
    if (broadcast.region.size() != to.extents.size())
      return broken_rule(nest_, "structure", s, "the region has another rank than the tensor");
    if (auto broken = use(s, broadcast.sender)) return broken;
    return use_ranges(s, broadcast.region);
  }

  Broken computation(const Stmt& s, const Compute& compute) const {
    if (!nest_.stages.stages.contains(compute.stage))
      return broken_rule(nest_, "structure", s, "computes an unknown stage");
    const Stage& stage = nest_.stages.stages[compute.stage];
    const bool finishing = compute.part == Compute::Part::finish;
    if (finishing && !stage.finish) return broken_rule(nest_, "structure", s, "the stage has nothing to finish");
    if ((compute.part == Compute::Part::update) != (stage.reduction != Reduction::none) && !finishing)
      return broken_rule(nest_, "structure", s, "a reduction is updated, anything else is mapped");
    const std::size_t axes = finishing ? stage.spatial : stage.axes.size();
    if (compute.box.size() != axes)
      return broken_rule(nest_, "structure", s,
                         fmt::format("the box has {} ranges for {} axes", compute.box.size(), axes));
    if (compute.read_buffers.size() != stage.reads.size())
      return broken_rule(nest_, "structure", s, "as many buffers as the stage has no reads");
    const auto is_outside = [&](std::optional<VarId> axis) { return axis && axis->index() >= axes; };
    if (is_outside(compute.lane_axis) || is_outside(compute.block_axis))
      return broken_rule(nest_, "structure", s, "the form names an axis that the box has not");
    if (auto broken = use_buffer(s, compute.output_buffer)) return broken;
    if (nest_.buffers[compute.output_buffer].tensor != stage.output)
      return broken_rule(nest_, "structure", s, "the result goes to a buffer of another tensor");
    for (const ReadId r : stage.reads.ids()) {
      if (!compute.read_buffers[r]) continue;
      if (auto broken = use_buffer(s, *compute.read_buffers[r])) return broken;
      if (nest_.buffers[*compute.read_buffers[r]].tensor != stage.reads[r].tensor)
        return broken_rule(nest_, "structure", s,
                           fmt::format("read {} comes from a buffer of another tensor", r.index()));
    }
    Broken missing;
    visit_nodes(finishing ? stage.finish : stage.body, [&](const ScalarNode& node) {
      const auto* read = std::get_if<ScalarNode::Read>(&node.value);
      if (read != nullptr && !compute.read_buffers[read->read])
        missing = broken_rule(nest_, "structure", s, fmt::format("read {} has no buffer", read->read.index()));
    });
    if (missing) return missing;
    return use_ranges(s, compute.box);
  }

  const LoopNest& nest_;
  std::vector<bool> bound_;
  std::set<VarId> in_scope_;
  std::optional<StatementId> last_;
};

}  // namespace

std::string text_of(const BrokenPromise& broken) { return broken.rule + ": " + broken.reason; }

BrokenPromise of_nest(std::string_view rule, std::string reason) {
  return {std::string(rule), std::nullopt, std::move(reason)};
}

BrokenPromise broken_rule(const LoopNest& nest, std::string_view rule, const Stmt& statement,
                          std::string_view message) {
  // The text may not exist while references are broken; then the number alone has to do.
  std::string line;
  if (rule != "structure") {
    const SpannedText printed = to_spanned_text(nest);
    for (const TextSpan& span : printed.spans) {
      if (span.statement != statement.id) continue;
      line = printed.text.substr(span.begin, span.end - span.begin);
      line = line.substr(0, std::min(line.find('\n'), line.find("  //")));
    }
  }
  constexpr std::size_t readable = 240;  // a hostile text has lines of thousands of characters
  if (!line.empty()) line = fmt::format(" '{}'", shortened(line, readable));
  return {std::string(rule), statement.id, fmt::format("statement {}{}: {}", statement.id.index(), line, message)};
}

Broken verify_structure(const LoopNest& nest) { return StructureCheck(nest).run(); }

namespace {

/// A nest with a mesh runs on whole rows of the target's, and what goes down a column on all of them: an idle core
/// would be sent what it never takes.
Broken verify_mesh(const LoopNest& nest, const Target& target) {
  const Mesh& mesh = *nest.mesh;
  if (mesh.columns != target.cores.mesh_columns || mesh.rows > target.cores.mesh_rows) {
    return of_nest(mesh_rule,
                   fmt::format("the nest is for {} rows of {} columns, {} has {} rows of {}", mesh.rows, mesh.columns,
                               target.name, target.cores.mesh_rows, target.cores.mesh_columns));
  }
  if (nest.cores_used() != static_cast<std::int64_t>(mesh.rows) * mesh.columns) {
    return of_nest(mesh_rule, fmt::format("{} rows of {} columns are not the {} cores that the nest runs on", mesh.rows,
                                          mesh.columns, nest.cores_used()));
  }
  if (!core_number(nest)) return of_nest(mesh_rule, "the coordinates of a core do not count its number");
  Broken broken;
  visit_statements(nest.body, [&](const Stmt& s) {
    const auto team = team_of(s);
    // A get can go to the rows that there are.
    const bool is_get = std::holds_alternative<Dma>(s.node) && team == Space::mesh;
    if (broken || !team || *team == Space::row || is_get || mesh.rows == target.cores.mesh_rows) return;
    broken = broken_rule(nest, mesh_rule, s,
                         fmt::format("goes down columns, {} has {} rows, of which the nest takes {}", target.name,
                                     target.cores.mesh_rows, mesh.rows));
  });
  return broken;
}

}  // namespace

Broken verify_memory(const LoopNest& nest, const Target& target) {
  if (const std::int64_t room = ldm_for_buffers(nest, target); nest.ldm_bytes > room) {
    return of_nest(ldm_capacity_rule, fmt::format("the buffers need {} bytes of LDM, {} has {} beside {} {}",
                                                  nest.ldm_bytes, target.name, room, target.ldm.bytes - room,
                                                  room < target.ldm.available() ? "for parameters" : "reserved"));
  }
  for (const Buffer& buffer : nest.buffers) {
    if (buffer.offset < 0 || buffer.offset + buffer.bytes() > nest.ldm_bytes) {
      return of_nest(ldm_capacity_rule, fmt::format("buffer {} takes bytes {}..{} of an LDM arena of {}", buffer.name,
                                                    buffer.offset, buffer.offset + buffer.bytes() - 1, nest.ldm_bytes));
    }
    if (buffer.offset % target.ldm.alignment != 0) {
      return of_nest(ldm_alignment_rule, fmt::format("buffer {} begins at byte {}, no multiple of {}", buffer.name,
                                                     buffer.offset, target.ldm.alignment));
    }
    if (buffer.slots > 1 && buffer.slot_bytes() % target.ldm.alignment != 0) {
      return of_nest(ldm_alignment_rule,
                     fmt::format("slots of {} bytes of buffer {} do not all begin at multiples of {}",
                                 buffer.slot_bytes(), buffer.name, target.ldm.alignment));
    }
    if (buffer.shares_with && nest.buffers[*buffer.shares_with].offset != buffer.offset) {
      return of_nest("ldm-sharing", fmt::format("buffer {} shares with {} but begins elsewhere", buffer.name,
                                                nest.buffers[*buffer.shares_with].name));
    }
  }
  if (nest.cores_used() > target.cores.count) {
    return of_nest(core_grid_rule,
                   fmt::format("the grid has {} cores, {} has {}", nest.cores_used(), target.name, target.cores.count));
  }
  std::set<std::vector<std::int64_t>> coordinates;
  for (int core = 0; core < nest.cores_used(); ++core) {
    if (!coordinates.insert(values_of_core(nest, core)).second) {
      return of_nest(core_grid_rule, fmt::format("core {} has the same coordinates as an earlier one", core));
    }
  }
  return nest.mesh ? verify_mesh(nest, target) : std::nullopt;
}

Broken verify_units(const LoopNest& nest, const Target& target) {
  const auto unaligned = unaligned_transfers(nest, target);
  Broken broken;
  visit_statements(nest.body, [&](const Stmt& stmt) {
    const auto* dma = std::get_if<Dma>(&stmt.node);
    if (broken || dma == nullptr || dma->unit_bytes == 1) return;
    const int bytes = byte_size(nest.buffers[dma->buffer].type);
    if (dma->unit_bytes != target.dma.alignment || bytes >= target.dma.alignment) {
      broken = broken_rule(nest, dma_unit_rule, stmt,
                           fmt::format("moves units of {} bytes, where {} moves {} of elements of {}", dma->unit_bytes,
                                       target.name, std::max(1, target.dma.alignment), bytes));
      return;
    }
    const auto found = std::find_if(unaligned.begin(), unaligned.end(),
                                    [&](const UnalignedTransfer& transfer) { return transfer.statement == stmt.id; });
    if (found != unaligned.end()) broken = broken_rule(nest, dma_unit_rule, stmt, "is not aligned: " + found->reason);
  });
  return broken;
}

namespace {

/// In the order in which they may rely on each other.
Broken first_broken(const LoopNest& nest, const Target& target) {
  if (auto broken = verify_structure(nest)) return broken;
  if (auto broken = verify_size(nest)) return broken;
  if (auto broken = verify_memory(nest, target)) return broken;
  if (auto broken = verify_expansion(nest)) return broken;
  if (auto broken = verify_lookups(nest)) return broken;
  if (auto broken = verify_teams(nest)) return broken;
  if (auto broken = verify_bounds(nest)) return broken;
  if (auto broken = verify_int(nest)) return broken;
  if (auto broken = verify_units(nest, target)) return broken;
  if (auto broken = verify_flow(nest)) return broken;
  if (auto broken = verify_padding(nest)) return broken;
  if (auto broken = verify_registers(nest, target)) return broken;
  if (auto broken = verify_windows(nest)) return broken;
  return verify_writes(nest);
}

}  // namespace

Broken verify_names(const LoopNest& nest) {
  std::set<std::string> variables, tensors, buffers;
  for (const NestVariable& v : nest.variables) {
    if (!is_identifier(v.name) || !variables.insert(v.name).second)
      return of_nest("structure", fmt::format("variable name '{}' is taken or no identifier", v.name));
  }
  for (const NestTensor& t : nest.tensors) {
    if (!is_identifier(t.name) || !tensors.insert(t.name).second)
      return of_nest("structure", fmt::format("tensor name '{}' is taken or no identifier", t.name));
  }
  for (const Buffer& b : nest.buffers) {
    if (!is_identifier(b.name) || !buffers.insert(b.name).second)
      return of_nest("structure", fmt::format("buffer name '{}' is taken or no identifier", b.name));
  }
  return std::nullopt;
}

Broken broken_promise(const LoopNest& nest, const Target& target) {
  try {
    return first_broken(nest, target);
  } catch (const LookupOutside& lookup) {
    // verify_lookups has seen that guards keep it from there; a rule behind it has tried more values than they let
    // pass.
    return of_nest(unchecked_rule,
                   fmt::format("only guards keep it from asking for what is not there: {}", lookup.text));
  }
}

std::optional<std::string> verify(const LoopNest& nest, const Target& target) {
  const auto broken = broken_promise(nest, target);
  return broken ? std::optional(text_of(*broken)) : std::nullopt;
}

}  // namespace stowage
