// SPDX-License-Identifier: Apache-2.0
// Register communication: a box goes from the LDM of one core to one place in the LDMs of its row or column.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/athread_machine.h"
#include "emitter/athread/kernel_context.h"

namespace stowage {
namespace {

bool goes_to(const KernelContext& k, Space team) {
  return std::any_of(k.barriers.sent_at.begin(), k.barriers.sent_at.end(),
                     [&](const auto& sent) { return k.barriers.after.at(sent.first) == team; });
}

std::string function_for(Space team) { return team == Space::row ? "broadcast_along_row" : "broadcast_down_column"; }

/// Where a region begins in the box that a use is about; of what takes all of a dimension, at its first element.
std::string begin_of(KernelContext& k, const BufferUse& use, const std::vector<Range>& region) {
  const Buffer& buffer = k.nest.buffers[use.buffer];
  std::vector<std::string> local;
  bool at_origin = true;
  for (std::size_t d = 0; d < region.size(); ++d) {
    const bool all = region[d].extent == IndexExpr(buffer.extents[d]);
    const IndexExpr at = all ? IndexExpr(0) : region[d].start - origin_of(k.nest, use)[d];
    at_origin = at_origin && at == IndexExpr(0);
    local.push_back(k.index(at));
  }
  return at_origin ? k.box(use) : "&" + k.element(use, local);
}

void emit_function(CWriter& file, Space team) {
  const bool row = team == Space::row;
  const std::string name = function_for(team);
  file.comment(fmt::format("From the LDM of one core, the sender, to one place in the LDMs of all of its {}.",
                           row ? "row" : "column"));
  file.open(fmt::format("static void {}(int sends, const void *from, void *to, int bytes) {{", name));
  file.line(fmt::format("enum {{ TO_ALL = {} }};", rows_of_register_communication));
  file.line("const doublev4 *const sent = (const doublev4 *)from;");
  file.line("doublev4 *const taken = (doublev4 *)to;");
  file.line(fmt::format("const int count = (bytes + {}) / {};", bytes_of_register - 1, bytes_of_register));
  file.line("int i;");
  file.open("if (sends) {");
  file.open("for (i = 0; i < count; ++i) {");
  file.line(fmt::format("simd_put{}(sent[i], TO_ALL);", row ? "r" : "c"));
  file.line("if (taken != sent) taken[i] = sent[i];");
  file.close();
  file.else_branch("} else {");
  file.line(fmt::format("for (i = 0; i < count; ++i) taken[i] = simd_get{}(taken[i]);", row ? "r" : "c"));
  file.close();
  file.close();
  file.line("#ifdef SW_EMULATION /* at once, or as above where each register is followed */");
  file.line(fmt::format("#define {}(sends, from, to, bytes) \\", name));
  file.line(fmt::format("  swemu_{0}(SWEMU_SITE, {0}, (sends), (from), (to), (bytes))", name));
  file.line("#endif");
  file.blank();
}

}  // namespace

void emit_sent_box(KernelContext& k, StatementId statement, const SentBox& sent) {
  const int columns = k.nest.mesh->columns;
  const Buffer& buffer = k.nest.buffers[sent.to.buffer];
  const auto send = [&](Space team, const std::string& sends, const std::string& from, const std::string& to,
                        const std::string& bytes) {
    k.out.line(fmt::format("{}({}, {}, {}, {});", function_for(team), sends, from, to, bytes), statement);
  };
  if (!sent.broadcast) {
    const std::string box = k.box(sent.to);
    return send(Space::column, fmt::format("core < {}", columns), box, box, std::to_string(buffer.box_bytes()));
  }
  const Broadcast& broadcast = *sent.broadcast;
  std::vector<std::string> conditions;
  std::vector<std::string> factors;
  std::int64_t bytes = byte_size(buffer.type);
  for (const Range& range : broadcast.region) {
    if (range.extent.is_constant()) {
      bytes *= std::max<std::int64_t>(0, range.extent.constant());
      continue;
    }
    const std::string extent = k.index(range.extent);
    factors.push_back(is_name(range.extent) ? extent : fmt::format("({})", extent));
    if (k.bounds_of(range.extent).low <= 0) conditions.push_back(factors.back() + " > 0");
  }
  if (bytes == 0) return;
  factors.insert(factors.begin(), std::to_string(bytes));
  if (!conditions.empty()) k.out.open(fmt::format("if ({}) {{", fmt::join(conditions, " && ")));
  const std::string sends =
      fmt::format("core {} {} == {}", broadcast.to == Space::row ? "%" : "/", columns, k.index(broadcast.sender));
  const std::string to = begin_of(k, broadcast.buffer, broadcast.region);
  // Where the others would have what is sent, there may be nothing of their LDMs.
  std::string from = begin_of(k, broadcast.source, broadcast.region);
  if (from != k.box(broadcast.source)) from = fmt::format("{} ? {} : 0", sends, from);
  send(broadcast.to, sends, from, to, fmt::format("{}", fmt::join(factors, " * ")));
  if (!conditions.empty()) k.out.close();
}

void emit_register_broadcasts(const KernelContext& k, CWriter& file) {
  for (const Space team : {Space::row, Space::column}) {
    if (goes_to(k, team)) emit_function(file, team);
  }
}

}  // namespace stowage
