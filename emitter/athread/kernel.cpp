// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/kernel.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/athread_machine.h"
#include "core/check.h"
#include "core/quoting.h"
#include "emitter/athread/kernel_context.h"
#include "lowering/ir/compute_form.h"
#include "lowering/ir/register_broadcasts.h"
#include "lowering/model/ldm_room.h"
#include "lowering/time/rates.h"

namespace stowage {
namespace {

void emit_block(KernelContext& k, const Block& block);

/// The whole buffer as one row, in vectors where they begin aligned. Around a box: for each dimension that it does not
/// span, and each index of the dimensions before it that lies inside, what comes before and what comes after the box is
/// one row each.
void emit_fill(KernelContext& k, const Stmt& stmt, const Fill& fill) {
  const Buffer& buffer = k.nest.buffers[fill.buffer];
  const std::string value = c_constant(buffer.type, fill.value);
  if (!stmt.note.empty()) k.comment(stmt.note);
  IdentifierPool local = k.pool;
  const std::string i = fill.around ? local.take("i") : "i";
  const auto row = [&](const IndexExpr& first, const IndexExpr& end, const std::string& before) {
    if (first == end) return;
    k.out.line(fmt::format("for (int {0} = {1}; {0} < {2}; {0}++) (({3} *){4})[{5}{0}] = {6};", i, k.index(first),
                           k.index(end), c_name_of(buffer.type), k.box(fill.buffer), before, value),
               stmt.id);
  };
  if (!fill.around) {
    const std::int64_t all = element_count(buffer.extents);
    const bool vectors = fills_in_vectors(k.nest, fill, k.target);
    const std::int64_t in_vectors = vectors ? all - all % lanes_of_floatv4 : 0;
    if (in_vectors > 0) {
      k.out.open("{");
      k.out.line(fmt::format("floatv4 v_ = simd_set_floatv4({0}, {0}, {0}, {0});", value));
      k.out.line(fmt::format("for (int i = 0; i < {}; i += {}) simd_store(v_, &(({} *){})[i]);", in_vectors,
                             lanes_of_floatv4, c_name_of(buffer.type), k.box(fill.buffer)),
                 stmt.id);
      k.out.close();
    }
    row(in_vectors, all, "");
    return;
  }
  const auto spans = [&](std::size_t d) {
    const Range& kept = (*fill.around)[d];
    return kept.start == IndexExpr(0) && kept.extent == IndexExpr(buffer.extents[d]);
  };
  std::size_t last = buffer.extents.size();
  while (last > 0 && spans(last - 1)) --last;
  const std::vector<std::int64_t> strides = row_major_strides(buffer.extents);
  std::string before;  // where the row of the indices so far begins
  int open = 0;
  for (std::size_t d = 0; d < last; ++d) {
    const Range& kept = (*fill.around)[d];
    const IndexExpr end = kept.start + kept.extent;
    if (!spans(d)) {
      row(0, kept.start * strides[d], before);
      row(end * strides[d], buffer.extents[d] * strides[d], before);
    }
    if (d + 1 == last) break;
    if (kept.start == IndexExpr(0) && kept.extent == IndexExpr(1)) continue;
    const std::string index = local.take(fmt::format("i{}", d));
    k.out.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0}++) {{", index, k.index(kept.start), k.index(end)));
    before += fmt::format("{} * {} + ", strides[d], index);
    ++open;
  }
  for (; open > 0; --open) k.out.close();
}

/// What a sum carries in its registers is written with it (block_ends.h).
void emit_in_registers(KernelContext& k, const Stmt& stmt) {
  const auto* compute = std::get_if<Compute>(&stmt.node);
  const std::string what = compute != nullptr ? k.nest.stages.stages[compute->stage].name : stmt.note;
  k.comment(fmt::format("{}: in the registers of the sum", what));
  if (const auto window = k.windows.find(stmt.id); window != k.windows.end()) emit_window(k, stmt, window->second);
}

void emit_statement(KernelContext& k, const Stmt& stmt) {
  if (is_marked_as_in_registers(stmt)) return emit_in_registers(k, stmt);
  if (const auto* loop = std::get_if<Loop>(&stmt.node)) {
    if (!stmt.note.empty()) k.comment(stmt.note);
    const std::string& variable = k.variables[loop->variable.index()];
    k.out.open(fmt::format("for (int {0} = 0; {0} < {1}; {0}++) {{", variable, k.index(loop->extent)));
    emit_block(k, loop->body);
    k.out.close();
  } else if (const auto* let = std::get_if<Let>(&stmt.node)) {
    const std::string& variable = k.variables[let->variable.index()];
    k.out.define(variable, fmt::format("const int {} = {};", variable, k.index(let->value)));
  } else if (const auto* guard = std::get_if<Guard>(&stmt.node)) {
    if (!stmt.note.empty()) k.comment(stmt.note);
    std::vector<std::string> conditions;
    for (const IndexExpr& e : guard->any_positive) conditions.push_back(k.index(e) + " > 0");
    k.out.open(fmt::format("if ({}) {{", conditions.empty() ? "0" : fmt::format("{}", fmt::join(conditions, " || "))));
    emit_block(k, guard->body);
    k.out.close();
  } else if (const auto* dma = std::get_if<Dma>(&stmt.node)) {
    emit_dma(k, stmt, *dma);
  } else if (const auto* wait = std::get_if<Wait>(&stmt.node)) {
    emit_wait(k, stmt, *wait);
  } else if (const auto* fill = std::get_if<Fill>(&stmt.node)) {
    emit_fill(k, stmt, *fill);
  } else if (const auto* compute = std::get_if<Compute>(&stmt.node)) {
    emit_compute(k, stmt, *compute);
  } else if (const auto* broadcast = std::get_if<Broadcast>(&stmt.node)) {
    k.comment(fmt::format("broadcast of {} to the {}, where it is awaited{}{}",
                          k.nest.stages.tensors[k.nest.buffers[broadcast->buffer].tensor].name, name_of(broadcast->to),
                          stmt.note.empty() ? "" : ": ", stmt.note));
  } else {
    k.out.line(fmt::format("{};", barrier_of_all_cores), stmt.id);
  }
}

void emit_block(KernelContext& k, const Block& block) {
  for (const StmtPtr& stmt : block) {
    const std::optional<StatementId> around = k.out.write_for(stmt->id);
    emit_statement(k, *stmt);
    k.out.write_for(around);
  }
}

// ---- the struct of the LDM ----

std::string dimensions(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (const std::int64_t extent : extents) text += fmt::format("[{}]", KernelContext::allocated(extent));
  return text.empty() ? "[1]" : text;
}

std::int64_t allocated_bytes(const Buffer& buffer) {
  const std::int64_t of_box =
      std::accumulate(buffer.extents.begin(), buffer.extents.end(), std::int64_t{byte_size(buffer.type)},
                      [](std::int64_t bytes, std::int64_t extent) { return bytes * KernelContext::allocated(extent); });
  return std::max(of_box, buffer.pitch) * buffer.slots;
}

void emit_member(const KernelContext& k, CWriter& out, BufferId b) {
  const Buffer& buffer = k.nest.buffers[b];
  const std::string slots = buffer.slots > 1 ? fmt::format("[{}]", buffer.slots) : "";
  std::string line =
      buffer.pitch == 0
          ? fmt::format("{} {}{}{};", c_name_of(buffer.type), k.buffers[b], slots, dimensions(buffer.extents))
          : fmt::format("struct {{ {} box{}; char gap_[{}]; }} {}{};", c_name_of(buffer.type),
                        dimensions(buffer.extents), buffer.pitch - buffer.box_bytes(), k.buffers[b], slots);
  if (!k.canonical) {
    line += fmt::format("  /* {}: {} bytes at {} */", c_comment_text(k.nest.stages.tensors[buffer.tensor].name),
                        buffer.bytes(), buffer.offset);
  }
  out.line(std::move(line));
}

/// Whether what begins at an offset, or behind it, is sent register by register.
bool is_sent_from(const KernelContext& k, std::int64_t offset) {
  return std::any_of(k.barriers.sent_at.begin(), k.barriers.sent_at.end(), [&](const auto& sent) {
    return k.nest.buffers[sent.second.from.buffer].offset >= offset ||
           k.nest.buffers[sent.second.to.buffer].offset >= offset;
  });
}

/// Buffers at their planned offsets, gaps named; buffers that share memory become a union. Returns the bytes. Where
/// the last is sent register by register, its last register is whole.
std::int64_t emit_buffers(const KernelContext& k, CWriter& out) {
  const auto ids = k.nest.buffers.ids();
  std::vector<BufferId> order(ids.begin(), ids.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](BufferId a, BufferId b) { return k.nest.buffers[a].offset < k.nest.buffers[b].offset; });
  std::int64_t end = 0;
  std::int64_t last = 0;
  int gaps = 0;
  const auto gap_to = [&](std::int64_t from, std::int64_t offset) {
    check(offset >= from, "LDM buffers out of order");
    if (offset > from) out.line(fmt::format("char gap{}_[{}];", gaps++, offset - from));
  };
  for (std::size_t i = 0; i < order.size();) {
    // All that overlap with what came before them in this cluster.
    const std::int64_t begin = k.nest.buffers[order[i]].offset;
    std::int64_t cluster_end = begin + allocated_bytes(k.nest.buffers[order[i]]);
    std::size_t j = i + 1;
    for (; j < order.size() && k.nest.buffers[order[j]].offset < cluster_end; ++j) {
      cluster_end = std::max(cluster_end, k.nest.buffers[order[j]].offset + allocated_bytes(k.nest.buffers[order[j]]));
    }
    gap_to(end, begin);
    if (j - i == 1) {
      emit_member(k, out, order[i]);
    } else {
      out.open("union {");
      for (std::size_t m = i; m < j; ++m) {
        const std::int64_t offset = k.nest.buffers[order[m]].offset;
        if (offset == begin) {
          emit_member(k, out, order[m]);
        } else {
          out.open("struct {");
          gap_to(begin, offset);
          emit_member(k, out, order[m]);
          out.close("};");
        }
      }
      out.close("};");
    }
    end = cluster_end;
    last = begin;
    i = j;
  }
  if (!is_sent_from(k, last)) return end;
  const std::int64_t whole = ceil_div(end, std::int64_t{bytes_of_register}) * bytes_of_register;
  gap_to(end, whole);
  return whole;
}

/// The struct of the LDM and its compile-time checks. Returns its size as C lays it out.
std::int64_t emit_ldm_struct(const KernelContext& k, CWriter& out, const std::string& name) {
  out.open(fmt::format("struct {}_ldm {{", name));
  const std::int64_t buffer_bytes = emit_buffers(k, out);
  out.line(fmt::format("struct {}_para para;", name));
  std::vector<std::string> replies{k.para_reply};
  for (const auto& [id, dma] : k.dma) replies.push_back(dma.reply);
  for (const auto& [buffer, dma] : k.by_slots) replies.push_back(fmt::format("{}[{}]", dma.reply, dma.slots));
  out.line(fmt::format("volatile unsigned {};", fmt::join(replies, ", ")));
  out.close("};");
  for (const BufferId b : k.nest.buffers.ids()) {
    out.line(fmt::format("SW_CHECK({0}_{1}_is_in_place, offsetof(struct {0}_ldm, {1}) == {2});", name, k.buffers[b],
                         k.nest.buffers[b].offset));
  }
  out.line(fmt::format("SW_CHECK({0}_buffers_fit, {1} <= SW_LDM_BYTES - SW_LDM_RESERVED);", name, buffer_bytes));
  out.line(fmt::format("SW_CHECK({0}_all_fits, sizeof(struct {0}_ldm) <= SW_ARENA_BYTES);", name));

  const std::int64_t alignment = alignment_of_parameters(k.target);
  return ceil_div(buffer_bytes, alignment) * alignment +
         parameter_bytes(k.nest.tensors.size(), reply_words(k.nest), k.target);
}

// ---- the header comment ----

void emit_header(KernelContext& k, CWriter& out, const std::string& name, const std::vector<KernelUser>& users) {
  const auto line = [&](std::string_view text) {
    out.line(text.empty() ? " *" : fmt::format(" * {}", c_comment_text(text)));
  };
  out.line("/*");
  line(fmt::format("{}: compute-core function of layer {}", name, users.empty() ? k.nest.name : users.front().layer));
  line("");
  const std::string stages = to_text(k.nest.stages);
  for (std::size_t from = 0; from < stages.size();) {
    const std::size_t end = std::min(stages.find('\n', from), stages.size());
    if (end > from) line("  " + stages.substr(from, end - from));
    from = end + 1;
  }
  line("");
  std::vector<std::string> parts;
  for (const CoreAxis& axis : k.nest.core_grid)
    parts.push_back(fmt::format("{} in {} parts", axis.iterator, axis.parts));
  line(fmt::format("cores    {}{}", k.nest.cores_used(),
                   parts.empty() ? "" : fmt::format(": {}", fmt::join(parts, ", "))));
  std::string title = "buffers";
  for (const BufferId b : k.nest.buffers.ids()) {
    const Buffer& buffer = k.nest.buffers[b];
    line(fmt::format("{:<8} {} of {}: {}{}, {} bytes at {}", title, k.buffers[b],
                     k.nest.stages.tensors[buffer.tensor].name,
                     buffer.slots > 1 ? fmt::format("{} slots of ", buffer.slots) : "", to_text(Shape(buffer.extents)),
                     buffer.bytes(), buffer.offset));
    title.clear();
  }
  line(fmt::format("LDM      {} bytes of buffers", k.nest.ldm_bytes));
  std::vector<std::string> loops;
  std::vector<std::string> transfers;
  std::vector<std::string> inside;
  const std::function<void(const Block&)> collect = [&](const Block& block) {
    for (const StmtPtr& stmt : block) {
      if (const auto* loop = std::get_if<Loop>(&stmt->node)) {
        loops.push_back(k.variables[loop->variable.index()]);
        inside.push_back(loops.back());
        collect(loop->body);
        inside.pop_back();
      } else if (const auto* guard = std::get_if<Guard>(&stmt->node)) {
        collect(guard->body);
      } else if (const auto* dma = std::get_if<Dma>(&stmt->node)) {
        transfers.push_back(fmt::format("{} {} {}", dma->direction == DmaDirection::get ? "get" : "put",
                                        k.nest.tensors[dma->nest_tensor].name,
                                        inside.empty() ? "outside all loops" : "inside " + inside.back()));
      }
    }
  };
  collect(k.nest.body);
  line(fmt::format("loops    {}", loops.empty() ? "none" : fmt::format("{}", fmt::join(loops, ", "))));
  title = "DMA";
  for (const std::string& transfer : transfers) {
    line(fmt::format("{:<8} {}", title, transfer));
    title.clear();
  }
  if (users.size() > 1) {
    line("");
    line("Equal plans share this function. In the other layers the tensors are:");
    for (std::size_t u = 1; u < users.size(); ++u) {
      std::vector<std::string> pairs;
      for (const NestTensorId t : k.tensors.ids()) {
        pairs.push_back(fmt::format("{} = {}", k.tensors[t], users[u].tensors[t]));
      }
      line(fmt::format("  {}: {}", users[u].layer, fmt::join(pairs, ", ")));
    }
  }
  out.line(" */");
}

// ---- the function ----

/// Idle cores must take part in barriers, or the others would wait for ever.
int top_level_barriers(const LoopNest& nest) {
  int all = 0;
  visit_statements(nest.body, [&](const Stmt& stmt) { all += std::holds_alternative<Barrier>(stmt.node) ? 1 : 0; });
  const auto top = std::count_if(nest.body.begin(), nest.body.end(),
                                 [](const StmtPtr& stmt) { return std::holds_alternative<Barrier>(stmt->node); });
  check(all == top, "a barrier inside a loop is not emitted yet");
  return all;
}

void emit_function(KernelContext& k, const std::string& name) {
  CWriter& out = k.out;
  out.open(fmt::format("void {}(void *arg) {{", name));
  out.define("core", "const int core = athread_get_id(-1);");
  const int used = k.nest.cores_used();
  if (used < threads_of_launch(k.target)) {
    std::string idle = fmt::format("if (core >= {}) ", used);
    const int barriers = top_level_barriers(k.nest);
    if (barriers == 0) {
      out.line(idle + "return;");
    } else {
      out.open(idle + "{");
      for (int i = 0; i < barriers; ++i) out.line(fmt::format("{};", barrier_of_all_cores));
      out.line("return;");
      out.close();
    }
  }
  out.line(fmt::format("struct {0}_ldm *ldm = LDM_OF(struct {0}_ldm);", name));
  out.blank();
  k.comment("the parameters: where the tensors are in main memory");
  out.line(fmt::format("ldm->{} = 0;", k.para_reply));
  out.line(
      fmt::format("athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->{}, 0, 0, 0);", k.para_reply));
  out.line(fmt::format("dma_wait(&ldm->{}, 1);", k.para_reply));
  for (const NestTensorId t : k.tensors.ids()) {
    const std::string type(c_name_of(k.stage_tensor(t).type));
    out.define(k.tensors[t], fmt::format("{0} *{1} = ldm->para.{1};", type, k.tensors[t]));
  }
  out.blank();
  for (const CoreAxis& axis : k.nest.core_grid) {
    const std::string& variable = k.variables[axis.variable.index()];
    std::string value = axis.stride == 1 ? "core" : fmt::format("core / {}", axis.stride);
    // The outermost part needs no remainder: cores beyond the last part have returned.
    if (static_cast<std::int64_t>(axis.stride) * axis.parts < used) value += fmt::format(" % {}", axis.parts);
    out.define(variable, fmt::format("const int {} = {};", variable, value));
  }
  for (const auto& [id, dma] : k.dma) {
    if (!dma.counter.empty()) out.line(fmt::format("int {} = 0;", dma.counter));
  }
  for (const auto& [buffer, dma] : k.by_slots) {
    if (!dma.counter.empty()) out.line(fmt::format("int {}[{}] = {{0}};", dma.counter, dma.slots));
  }
  emit_block(k, k.nest.body);
  out.close();
}

KernelText emit(KernelContext& k, const std::string& name, const std::vector<KernelUser>& users) {
  for (const auto& [statement, why] : broadcasts_not_by_registers(k.nest, k.target))
    fail_check(fmt::format("broadcast {} is not emitted: {}", statement.index(), why));
  KernelText text;
  emit_function(k, name);
  CWriter file;
  if (!k.canonical) {
    emit_header(k, file, name, users);
    for (const char* header : {"<math.h>", "<stddef.h>", "<stdint.h>"}) file.line(fmt::format("#include {}", header));
    file.blank();
    for (const char* header : {"slave.h", "dma.h"}) file.line(fmt::format("#include \"{}\"", header));
    const bool sends = !k.barriers.sent_at.empty();
    if (k.target.cores.vector_lanes > 1 || sends) file.line("#include \"simd.h\"");
    for (const char* header : {"layers_mix.h", "sw_rt.h"}) file.line(fmt::format("#include \"{}\"", header));
    if (k.target.cores.vector_lanes > 1) file.line("#include \"sw_vectors.h\"");
    file.blank();
    emit_register_broadcasts(k, file);
  }
  for (std::size_t t = 0; t < k.tables.size(); ++t) {
    file.line(fmt::format("static const int {}[] = {{{}}};", k.table_names[t], fmt::join(k.tables[t]->values, ", ")));
  }
  text.ldm_bytes = emit_ldm_struct(k, file, name);
  file.blank();
  file.append(k.out);
  text.lines = file.lines();
  for (const NestTensorId t : k.tensors.ids()) {
    text.parameters.push_back({k.tensors[t], std::string(c_name_of(k.stage_tensor(t).type))});
  }
  return text;
}

}  // namespace

int threads_of_launch(const Target& target) { return target.cores.mesh_rows * target.cores.mesh_columns; }

KernelText emit_kernel(const LoopNest& nest, const Target& target, const std::string& name,
                       const std::vector<KernelUser>& users) {
  const ComputedBoxes computed(nest);
  KernelContext k(computed.nest(), target, false);
  return emit(k, name, users);
}

std::string canonical_kernel(const LoopNest& nest, const Target& target) {
  const ComputedBoxes computed(nest);
  KernelContext k(computed.nest(), target, true);
  const KernelText text = emit(k, "kernel", {});
  std::string canonical;
  for (const KernelParameter& parameter : text.parameters) canonical += parameter.type + "\n";
  // Statements are part of it: counts are told apart by them.
  for (const CLine& line : text.lines) {
    canonical += fmt::format("{} {}\n", line.statement ? std::to_string(line.statement->index()) : "-1", line.text);
  }
  return canonical;
}

}  // namespace stowage
