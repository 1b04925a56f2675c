// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/sharing.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"
#include "core/number_text.h"
#include "lowering/model/buffer_slots.h"

namespace stowage {

IdVector<BufferId, SharedBy> sharing_by_buffer(const GroupModel& model,
                                               const std::map<std::string, SharedBy>& of_tensors) {
  IdVector<BufferId, SharedBy> sharing;
  for (const ModelBuffer& buffer : model.buffers) {
    const auto found = of_tensors.find(buffer.name);
    const bool is_given = buffer.kind == ModelBuffer::Kind::input && found != of_tensors.end();
    sharing.push_back(is_given ? found->second : SharedBy::core);
  }
  return sharing;
}

namespace {

/// Cores in step make trips without elements. The hull of what a sum wants there is empty; that of a division need not.
bool boxes_of_nothing_are_empty(const GroupModel& model) {
  for (const Stage& stage : model.list->stages) {
    for (const Access& read : stage.reads) {
      if (!std::all_of(read.index.begin(), read.index.end(), [](const IndexExpr& e) { return e.is_affine(); }))
        return false;
    }
  }
  return true;
}

}  // namespace

std::string why_not_shared(const GroupModel& model, BufferId buffer, const std::vector<ParallelSplit>& parallel,
                           SharedBy wanted, const Target& target) {
  if (wanted == SharedBy::core) return {};
  const ModelBuffer& loaded = model.buffers[buffer];
  if (loaded.kind != ModelBuffer::Kind::input) return "is not loaded";
  if (wanted == SharedBy::column && !sends_down_columns(target))
    return "is sent down no column on this target (cores.column_broadcast)";
  if (wanted != SharedBy::column && !target.dma.row_broadcast)
    return "is loaded by each core for itself on this target (dma.row_broadcast)";
  if (std::string why = why_one_slot(model, buffer); !why.empty()) return why;
  const std::int64_t cores = core_parts(parallel);
  const std::int64_t columns = target.cores.mesh_columns;
  if (cores % columns != 0) {
    return fmt::format("is wanted by {}, which make up no whole rows of {}", counted(cores, "core"), columns);
  }
  if (wanted == SharedBy::column && (cores != columns * target.cores.mesh_rows || target.cores.mesh_rows == 1)) {
    return fmt::format("is wanted by {}, which make up no whole columns of {}", counted(cores, "core"),
                       target.cores.mesh_rows);
  }
  if (wanted == SharedBy::mesh && cores == columns && target.cores.mesh_rows > 1) {
    return fmt::format("is wanted by {}, which are one row", counted(cores, "core"));
  }
  for (const ParallelSplit& split : parallel) {
    const std::int64_t extent = model.iterators[*model.iterator_named(split.iterator)].extent;
    if (extent % split.parts == 0 || boxes_of_nothing_are_empty(model)) continue;
    return fmt::format(
        "is loaded in trips that some cores have nothing left for ({} of {} in {} parts), and where a stage "
        "reads follows from a division or a table there",
        split.iterator, extent, split.parts);
  }
  const std::set<IteratorId> moving = loaded.all_iterators();
  std::int64_t stride = cores;
  for (const ParallelSplit& split : parallel) {
    stride /= split.parts;
    if (split.parts == 1 || !moving.contains(*model.iterator_named(split.iterator))) continue;
    if (wanted == SharedBy::mesh) return fmt::format("moves with {}, which is split over cores", split.iterator);
    if (wanted == SharedBy::column) {
      if (columns % (stride * split.parts) == 0) continue;
      return fmt::format(
          "moves with {}, which is split over cores of one column (each row has {} cores, of which the parts of {} and "
          "of what is behind it make up {})",
          split.iterator, columns, split.iterator, stride * split.parts);
    }
    if (stride % columns != 0) {
      return fmt::format(
          "moves with {}, which is split over cores of one row (each row has {} of them, and the parts "
          "behind it make up {})",
          split.iterator, columns, stride);
    }
  }
  return {};
}

SharedBy widest_sharing(const GroupModel& model, BufferId buffer, const std::vector<ParallelSplit>& parallel,
                        const Target& target) {
  for (const SharedBy wanted : {SharedBy::mesh, SharedBy::row, SharedBy::column}) {
    if (why_not_shared(model, buffer, parallel, wanted, target).empty()) return wanted;
  }
  return SharedBy::core;
}

Target without_sharing(Target target) {
  target.dma.row_broadcast = false;
  target.cores.column_broadcast.reset();
  return target;
}

std::int64_t cores_of(SharedBy shared, std::int64_t used, const Target& target) {
  switch (shared) {
    case SharedBy::core: return 1;
    case SharedBy::row: return target.cores.mesh_columns;
    case SharedBy::column: return target.cores.mesh_rows;
    case SharedBy::mesh: return used;
  }
  fail_check("unknown sharing");
}

Space space_of(SharedBy shared) {
  switch (shared) {
    case SharedBy::core: return Space::ldm;
    case SharedBy::row: return Space::row;
    case SharedBy::column: return Space::column;
    case SharedBy::mesh: return Space::mesh;
  }
  fail_check("unknown sharing");
}

std::string_view name_of(SharedBy shared) {
  switch (shared) {
    case SharedBy::core: return "core";
    case SharedBy::row: return "row";
    case SharedBy::column: return "column";
    case SharedBy::mesh: return "mesh";
  }
  fail_check("unknown sharing");
}

std::string_view cores_text(SharedBy shared) {
  switch (shared) {
    case SharedBy::core: return "each core";
    case SharedBy::row: return "the cores of a row";
    case SharedBy::column: return "the cores of a column";
    case SharedBy::mesh: return "all cores";
  }
  fail_check("unknown sharing");
}

std::optional<SharedBy> sharing_named(std::string_view name) {
  for (const SharedBy shared : {SharedBy::core, SharedBy::row, SharedBy::column, SharedBy::mesh}) {
    if (name == name_of(shared)) return shared;
  }
  return std::nullopt;
}

}  // namespace stowage
