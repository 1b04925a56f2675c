// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/whole_faults.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage {

namespace {

/// Whether cores take part in a transfer or broadcast of a space.
bool has_team(const LoopNest& nest, bool (*is_meant)(Space)) {
  bool found = false;
  visit_statements(nest.body, [&](const Stmt& s) {
    const auto team = team_of(s);
    found = found || (team && is_meant(*team));
  });
  return found;
}

/// What is wrong with the cores that the nest runs on, so that it runs nowhere on this target.
std::optional<std::string> unfit_cores(const LoopNest& nest, const Target& target) {
  const std::int64_t cores = nest.cores_used();
  if (cores > target.cores.count)
    return fmt::format("the nest runs on {} cores, {} has {}", cores, target.name, target.cores.count);
  if (!nest.mesh) {
    if (!has_team(nest, [](Space) { return true; })) return std::nullopt;
    return "cores load together, and the nest does not say in which rows and columns they are";
  }
  const std::int64_t rows = nest.mesh->rows;
  const std::int64_t columns = nest.mesh->columns;
  if (columns != target.cores.mesh_columns || rows > target.cores.mesh_rows)
    return fmt::format("the nest's cores are in {} rows of {}, those of {} in {} of {}", rows, columns, target.name,
                       target.cores.mesh_rows, target.cores.mesh_columns);
  if (rows * columns != cores)
    return fmt::format("the nest runs on {} cores, which are not {} rows of {}", cores, rows, columns);
  if (rows == target.cores.mesh_rows || !has_team(nest, [](Space team) { return team == Space::column; }))
    return std::nullopt;
  return fmt::format("columns load together in {} rows of {}, and the others are sent what they never take", rows,
                     target.cores.mesh_rows);
}

class ScopeFaults {
 public:
  explicit ScopeFaults(const LoopNest& nest) : nest_(nest) {
    for (const CoreAxis& axis : nest.core_grid) known_.insert(axis.variable);
  }

  std::vector<Fault> run() {
    walk(nest_.body);
    return std::move(faults_);
  }

 private:
  void walk(const Block& block) {
    const std::set<VarId> outside = known_;
    for (const StmtPtr& s : block) {
      used_.clear();
      std::visit([&](const auto& node) { use(node); }, s->node);
      for (const VarId v : used_) {
        if (known_.contains(v)) continue;
        faults_.push_back({FaultFamily::uninitialised, Execution{s->id, 0, {}}, std::nullopt,
                           fmt::format("{} has no value here", nest_.variables[v.index()].name)});
      }
      if (const auto* let = std::get_if<Let>(&s->node)) known_.insert(let->variable);
      if (const auto* loop = std::get_if<Loop>(&s->node)) known_.insert(loop->variable);
      if (const Block* body = body_of(*s)) walk(*body);
      if (const auto* loop = std::get_if<Loop>(&s->node)) known_.erase(loop->variable);
    }
    known_ = outside;
  }

  void use(const IndexExpr& e) { used_.merge(variables_of(e)); }
  void use(const std::vector<IndexExpr>& all) {
    for (const IndexExpr& e : all) use(e);
  }
  void use(const std::vector<Range>& ranges) {
    for (const Range& range : ranges) use({range.start, range.extent});
  }
  /// With where the box in the slot begins.
  void use(const BufferUse& box) {
    use(box.slot);
    use(origin_of(nest_, box));
  }
  void use(const Loop& loop) { use(loop.extent); }
  void use(const Let& let) { use(let.value); }
  void use(const Guard& guard) { use(guard.any_positive); }
  void use(const Dma& dma) {
    use(dma.buffer);
    use(dma.region);
  }
  void use(const Broadcast& broadcast) {
    use(broadcast.sender);
    use(broadcast.source);
    use(broadcast.buffer);
    use(broadcast.region);
  }
  void use(const Wait& wait) {
    if (wait.slot) use(wait.slot->slot);
  }
  void use(const Fill& fill) {
    use(fill.buffer.slot);
    if (fill.around) use(*fill.around);
  }
  void use(const Compute& compute) {
    use(compute.output_buffer);
    for (const std::optional<BufferUse>& read : compute.read_buffers) {
      if (read) use(*read);
    }
    use(compute.box);
  }
  void use(const Barrier& /*barrier*/) {}

  const LoopNest& nest_;
  std::set<VarId> known_;
  std::set<VarId> used_;  ///< by the statement that is looked at
  std::vector<Fault> faults_;
};

}  // namespace

std::vector<Fault> scope_faults(const LoopNest& nest) { return ScopeFaults(nest).run(); }

std::vector<Fault> capacity_faults(const LoopNest& nest, const Target& target) {
  std::vector<Fault> faults;
  const auto fault = [&](std::string what) {
    faults.push_back({FaultFamily::capacity, std::nullopt, std::nullopt, std::move(what)});
  };
  if (auto unfit = unfit_cores(nest, target)) fault(*std::move(unfit));
  const std::int64_t room = target.ldm.available();
  for (const Buffer& buffer : nest.buffers) {
    if (buffer.offset < 0 || buffer.offset + buffer.bytes() > room)
      fault(fmt::format("buffer {} takes bytes {} to {} of the LDM, which has {} for buffers", buffer.name,
                        buffer.offset, buffer.offset + buffer.bytes(), room));
    if (buffer.offset % target.ldm.alignment != 0)
      fault(fmt::format("buffer {} begins at byte {}, no multiple of {}", buffer.name, buffer.offset,
                        target.ldm.alignment));
  }
  return faults;
}

std::vector<Fault> incomplete_faults(const LoopNest& nest, const TensorWriters& writers) {
  std::vector<Fault> faults;
  for (const TensorWriters::Missing& missing : writers.missing()) {
    faults.push_back({FaultFamily::incomplete, std::nullopt, std::nullopt,
                      fmt::format("no core writes {} of {} elements of {}, the first of them [{}]", missing.elements,
                                  missing.of, nest.tensors[missing.nest_tensor].name, fmt::join(missing.first, ", "))});
  }
  return faults;
}

}  // namespace stowage
