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

struct Obstacle {
  enum class Kind : std::uint8_t {
    not_loaded,
    no_column_broadcast,
    no_row_broadcast,
    needs_one_slot,
    no_whole_rows,
    no_whole_columns,
    is_one_row,
    trips_of_nothing,
    split_of_mesh,
    split_in_columns,
    split_in_rows
  };
  Kind kind;
  std::size_t split = 0;    ///< which of the splits, of the last four kinds
  std::int64_t stride = 0;  ///< of the parts of that split
};

std::string text_of(const Obstacle& obstacle, const GroupModel& model, BufferId buffer,
                    const std::vector<ParallelSplit>& parallel, const Target& target) {
  using Kind = Obstacle::Kind;
  const auto cores = [&] { return counted(core_parts(parallel), "core"); };
  const auto split = [&] { return parallel[obstacle.split]; };
  const std::int64_t columns = target.cores.mesh_columns;
  switch (obstacle.kind) {
    case Kind::not_loaded: return "is not loaded";
    case Kind::no_column_broadcast: return "is sent down no column on this target (cores.column_broadcast)";
    case Kind::no_row_broadcast: return "is loaded by each core for itself on this target (dma.row_broadcast)";
    case Kind::needs_one_slot: return why_one_slot(model, buffer);
    case Kind::no_whole_rows:
      return fmt::format("is wanted by {}, which make up no whole rows of {}", cores(), columns);
    case Kind::no_whole_columns:
      return fmt::format("is wanted by {}, which make up no whole columns of {}", cores(), target.cores.mesh_rows);
    case Kind::is_one_row: return fmt::format("is wanted by {}, which are one row", cores());
    case Kind::trips_of_nothing:
      return fmt::format(
          "is loaded in trips that some cores have nothing left for ({} of {} in {} parts), and where a stage "
          "reads follows from a division or a table there",
          split().iterator, model.iterators[*model.iterator_named(split().iterator)].extent, split().parts);
    case Kind::split_of_mesh: return fmt::format("moves with {}, which is split over cores", split().iterator);
    case Kind::split_in_columns:
      return fmt::format(
          "moves with {}, which is split over cores of one column (each row has {} cores, of which the parts of {} and "
          "of what is behind it make up {})",
          split().iterator, columns, split().iterator, obstacle.stride * split().parts);
    case Kind::split_in_rows:
      return fmt::format(
          "moves with {}, which is split over cores of one row (each row has {} of them, and the parts "
          "behind it make up {})",
          split().iterator, columns, obstacle.stride);
  }
  fail_check("unknown obstacle");
}

std::optional<Obstacle> obstacle_to(const GroupModel& model, BufferId buffer,
                                    const std::vector<ParallelSplit>& parallel, SharedBy wanted, const Target& target) {
  using Kind = Obstacle::Kind;
  if (wanted == SharedBy::core) return std::nullopt;
  const ModelBuffer& loaded = model.buffers[buffer];
  if (loaded.kind != ModelBuffer::Kind::input) return Obstacle{Kind::not_loaded};
  if (wanted == SharedBy::column && !sends_down_columns(target)) return Obstacle{Kind::no_column_broadcast};
  if (wanted != SharedBy::column && !target.dma.row_broadcast) return Obstacle{Kind::no_row_broadcast};
  if (loaded.gathered || loaded.gives_index) return Obstacle{Kind::needs_one_slot};
  const std::int64_t cores = core_parts(parallel);
  const std::int64_t columns = target.cores.mesh_columns;
  const std::int64_t rows = target.cores.mesh_rows;
  if (cores % columns != 0) return Obstacle{Kind::no_whole_rows};
  if (wanted == SharedBy::column && (cores != columns * rows || rows == 1)) return Obstacle{Kind::no_whole_columns};
  if (wanted == SharedBy::mesh && cores == columns && rows > 1) return Obstacle{Kind::is_one_row};
  std::int64_t stride = cores;
  std::optional<Obstacle> found;
  for (std::size_t i = 0; i < parallel.size(); ++i) {
    const std::int64_t parts = parallel[i].parts;
    const IteratorId iterator = *model.iterator_named(parallel[i].iterator);
    // Cores in step make trips without elements. The hull of what a sum wants there is empty; that of a division need
    // not. That is said before what follows from how the cores are counted.
    if (!model.reads_sums_only && model.iterators[iterator].extent % parts != 0)
      return Obstacle{Kind::trips_of_nothing, i};
    stride /= parts;
    if (found || parts == 1 || !loaded.moved_by.contains(iterator)) continue;
    if (wanted == SharedBy::mesh) {
      found = Obstacle{Kind::split_of_mesh, i};
    } else if (wanted == SharedBy::column) {
      if (columns % (stride * parts) != 0) found = Obstacle{Kind::split_in_columns, i, stride};
    } else if (stride % columns != 0) {
      found = Obstacle{Kind::split_in_rows, i, stride};
    }
  }
  return found;
}

}  // namespace

std::string why_not_shared(const GroupModel& model, BufferId buffer, const std::vector<ParallelSplit>& parallel,
                           SharedBy wanted, const Target& target) {
  const auto obstacle = obstacle_to(model, buffer, parallel, wanted, target);
  return obstacle ? text_of(*obstacle, model, buffer, parallel, target) : std::string();
}

SharedBy widest_sharing(const GroupModel& model, BufferId buffer, const std::vector<ParallelSplit>& parallel,
                        const Target& target) {
  for (const SharedBy wanted : {SharedBy::mesh, SharedBy::row, SharedBy::column}) {
    if (!obstacle_to(model, buffer, parallel, wanted, target)) return wanted;
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
