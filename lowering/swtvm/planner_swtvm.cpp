// SPDX-License-Identifier: Apache-2.0
// Planner "swtvm": the published algorithms, one after the other (parallel split, then 4/5 and 1, 2, 3).
#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/decision_rules.h"
#include "core/number_text.h"
#include "lowering/model/buffer_slots.h"
#include "lowering/model/group_trace.h"
#include "lowering/model/idle_parts.h"
#include "lowering/model/residents.h"
#include "lowering/model/sharing.h"
#include "lowering/swtvm/idle_slots.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/swtvm/read_schedule.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage {
namespace {

Decision refuse(std::string reason, std::string flip = {}) {
  return Decision::refuse(schedule_rule, std::move(reason), std::move(flip));
}

std::vector<std::string> iterator_names(const GroupModel& model) {
  std::vector<std::string> names;
  for (const ModelIterator& iterator : model.iterators) names.push_back(iterator.name);
  return names;
}

/// Whether any stage reads at places from a table.
bool looks_up(const GroupModel& model) {
  return std::any_of(model.list->stages.begin(), model.list->stages.end(), [](const Stage& stage) {
    return std::any_of(stage.reads.begin(), stage.reads.end(),
                       [](const Access& read) { return std::any_of(read.index.begin(), read.index.end(), has_table); });
  });
}

/// The parts of a reduction that is split go over the cores of a row, one each.
std::optional<Decision> check_split(const GroupModel& model, const std::vector<ParallelSplit>& parallel,
                                    const Target& target) {
  if (!model.split_sum) return std::nullopt;
  const ModelIterator& parts = model.iterators[model.split_sum->parts];
  if (!sends_along_rows(target)) {
    return refuse(
        fmt::format(
            "split_reductions: the parts of {} are added up over the cores of a row, and target {} sends nothing "
            "along rows (cores.column_broadcast)",
            parts.name, target.name),
        "split_reductions = {}");
  }
  if (parts.extent != target.cores.mesh_columns) {
    return refuse(fmt::format("split_reductions: {} has {}, one for each core of a row, which has {}", parts.name,
                              counted(parts.extent, "part"), target.cores.mesh_columns),
                  fmt::format("{} of that reduction", counted(target.cores.mesh_columns, "part")));
  }
  const ParallelSplit wanted{parts.name, parts.extent};
  if (!parallel.empty() && parallel.back() == wanted) return std::nullopt;
  return refuse(fmt::format("parallel: the grid does not end with the {} of {}, whose cores make up a row",
                            counted(parts.extent, "part"), parts.name),
                fmt::format("{{ iterator = \"{}\", parts = {} }} at the end", parts.name, parts.extent));
}

/// The most parts of each split with which a grid of `total` parts has enough cores, the others as they are.
std::string fewer_parts(const GroupModel& model, const std::vector<ParallelSplit>& parallel, std::int64_t total,
                        std::int64_t cores) {
  std::vector<std::string> changes;
  for (const ParallelSplit& split : parallel) {
    if (model.split_sum && model.split_sum->parts == model.iterator_named(split.iterator))
      continue;  // as many as a row
    const std::int64_t most = cores / (total / split.parts);
    if (most > 0) changes.push_back(fmt::format("at most {} of {}", counted(most, "part"), split.iterator));
  }
  return fmt::format("{}", fmt::join(changes, ", or "));
}

std::optional<Decision> check_parallel(const GroupModel& model, const std::vector<ParallelSplit>& parallel,
                                       const Target& target) {
  const int cores = target.cores.count;
  std::int64_t total = 1;
  std::set<std::string> seen;
  for (const ParallelSplit& split : parallel) {
    const auto iterator = model.iterator_named(split.iterator);
    if (!iterator) {
      return refuse(fmt::format("parallel: there is no iterator '{}'; {}", split.iterator,
                                suggest_name(split.iterator, iterator_names(model))));
    }
    const ModelIterator& found = model.iterators[*iterator];
    if (!found.spatial && !(model.split_sum && model.split_sum->parts == *iterator)) {
      return refuse(fmt::format("parallel: {0} is a reduction; splitting it over cores would make them write the same "
                                "elements",
                                split.iterator),
                    fmt::format("split_reductions = {{ {} = {} }}", split.iterator, target.cores.mesh_columns));
    }
    if (!seen.insert(split.iterator).second) return refuse(fmt::format("parallel: {} is split twice", split.iterator));
    const std::int64_t most = parts_in_rows(std::max<std::int64_t>(1, found.extent), cores);
    if (split.parts < 1 || split.parts > most) {
      return refuse(fmt::format("parallel: {} has {} and cannot be cut into {} parts", split.iterator,
                                counted(found.extent, "element"), split.parts),
                    "at most " + counted(most, "part"));
    }
    const std::int64_t filled = filled_parts(found.extent, split.parts);
    if (filled < split.parts && looks_up(model)) {
      return refuse(
          fmt::format("parallel: of {} parts of {} only {} have elements, and places are looked up in a table, "
                      "which has none for the others",
                      split.parts, split.iterator, filled),
          fmt::format("{} parts", filled));
    }
    total *= split.parts;
  }
  if (total > cores) {
    return refuse(
        fmt::format("parallel: the grid has {}, the target has {}", counted(total, "part"), counted(cores, "core")),
        fewer_parts(model, parallel, total, cores));
  }
  return check_split(model, parallel, target);
}

std::optional<Decision> check_buffers(const GroupModel& model, const std::map<std::string, std::int64_t>& buffers,
                                      const IteratorSizes& ranges, IteratorSizes& fixed) {
  for (const auto& [name, size] : buffers) {
    const auto iterator = model.iterator_named(name);
    if (!iterator) {
      return refuse(
          fmt::format("buffer: there is no iterator '{}'; {}", name, suggest_name(name, iterator_names(model))));
    }
    if (model.pinned.contains(*iterator) && size != 1) {
      return refuse(fmt::format("buffer: {} selects rows by the value of a tensor and can only be buffered by 1", name),
                    fmt::format("a buffer of 1 of {}", name));
    }
    if (size < 1 || size > ranges[*iterator]) {
      return refuse(fmt::format("buffer: {} is {}, its range on one core is 1..{}", name, size, ranges[*iterator]));
    }
    fixed[*iterator] = size;
  }
  return std::nullopt;
}

/// Puts the loops into the order that a person fixed, if it can hold.
std::variant<std::vector<OuterLoop>, Decision> fixed_order(const GroupModel& model, const std::vector<OuterLoop>& loops,
                                                           const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const OuterLoop& loop : loops) known.push_back(loop.name);
  std::vector<OuterLoop> order;
  for (const std::string& name : names) {
    const auto loop = std::find_if(loops.begin(), loops.end(), [&](const OuterLoop& l) { return l.name == name; });
    if (loop == loops.end()) {
      return refuse(fmt::format("order: there is no outer loop '{}' with these buffer sizes; {}", name,
                                suggest_name(name, known)));
    }
    if (std::any_of(order.begin(), order.end(), [&](const OuterLoop& l) { return l.name == name; })) {
      return refuse(fmt::format("order: {} is named twice", name));
    }
    const bool spatial = model.iterators[loop->iterator].spatial;
    if (spatial && !order.empty() && !model.iterators[order.back().iterator].spatial) {
      return refuse(
          fmt::format("order: {} iterates over the output and must stay outside of the reduction {} (swTVM "
                      "version 2, constraint 2)",
                      name, order.back().name));
    }
    order.push_back(*loop);
  }
  for (const OuterLoop& loop : loops) {
    if (std::find(names.begin(), names.end(), loop.name) == names.end())
      return refuse(fmt::format("order: the outer loop {} is missing", loop.name));
  }
  return order;
}

/// The loop of the main stage that a load would stand in while the earlier stage that reads it is computed outside.
std::optional<std::string> loop_behind_reader(const GroupModel& model, const std::vector<OuterLoop>& order,
                                              const ModelBuffer& buffer, const std::vector<std::size_t>& path,
                                              std::size_t wanted, const IdVector<BufferId, std::size_t>& depth) {
  const bool before_main = buffer.stage != model.main && !model.in_tail[buffer.stage];
  if (buffer.kind != ModelBuffer::Kind::input || !before_main || wanted == 0) return std::nullopt;
  const OuterLoop& loop = order[path[wanted - 1]];
  const bool of_own_stage =
      !model.iterators[loop.iterator].spatial && model.iterators[loop.iterator].stage == buffer.stage;
  if (of_own_stage || wanted <= depth[model.buffer_of_output[buffer.stage]]) return std::nullopt;
  return loop.name;
}

std::optional<Decision> fix_places(const GroupModel& model, const std::vector<OuterLoop>& order,
                                   const std::map<std::string, std::string>& dma,
                                   IdVector<BufferId, std::size_t>& depth) {
  std::vector<std::string> names;
  for (const ModelBuffer& buffer : model.buffers) {
    if (buffer.kind != ModelBuffer::Kind::intermediate) names.push_back(buffer.name);
  }
  for (const auto& [tensor, place] : dma) {
    const auto found = std::find_if(model.buffers.begin(), model.buffers.end(), [&, t = tensor](const ModelBuffer& b) {
      return b.name == t && b.kind != ModelBuffer::Kind::intermediate;
    });
    if (found == model.buffers.end()) {
      return refuse(fmt::format("dma: there is no tensor '{}' to transfer; {}", tensor, suggest_name(tensor, names)));
    }
    const BufferId b = model.buffers.id_of(*found);
    const std::vector<std::size_t> path = path_of(model, order, *found);
    std::optional<std::size_t> wanted;
    if (place.empty()) wanted = 0;
    std::vector<std::string> loops;
    for (std::size_t p = 0; p < path.size(); ++p) {
      loops.push_back(order[path[p]].name);
      if (loops.back() == place) wanted = p + 1;
    }
    if (!wanted) {
      return refuse(fmt::format("dma: {} cannot be placed inside '{}'; loops around it are: {}", tensor, place,
                                fmt::join(loops, ", ")));
    }
    if (const auto loop = loop_behind_reader(model, order, *found, path, *wanted, depth)) {
      return refuse(
          fmt::format("dma: {} cannot be placed inside '{}'; what is computed of it is complete outside of that "
                      "loop",
                      tensor, *loop));
    }
    // Loops of one trip may be left out of what a person writes: inside of them is as good as outside.
    while (*wanted < depth[b] && order[path[*wanted]].trips == 1) {
      ++*wanted;
    }
    if (*wanted < depth[b]) {
      return refuse(fmt::format("dma: {} depends on {}, so its transfer cannot stand outside of that loop", tensor,
                                loops[depth[b] - 1]));
    }
    if (found->kind == ModelBuffer::Kind::output && *wanted != depth[b]) {
      return refuse(fmt::format("dma: the store of {} belongs inside {}", tensor, loops[depth[b] - 1]));
    }
    depth[b] = *wanted;
  }
  return std::nullopt;
}

/// What a person or a search wants of slots, looked at before anything is sized.
std::optional<Decision> check_slots(const GroupModel& model, const std::map<std::string, int>& slots) {
  for (const auto& [tensor, wanted] : slots) {
    const auto found = std::find_if(model.buffers.begin(), model.buffers.end(), [&, t = tensor](const ModelBuffer& b) {
      return b.name == t && b.kind != ModelBuffer::Kind::intermediate;
    });
    if (found == model.buffers.end()) return refuse(fmt::format("slots: there is no tensor '{}' to transfer", tensor));
    if (wanted < 1 || wanted > max_slots) {
      return refuse(fmt::format("slots: {} asks for {} slots; a buffer has one, or two to {} to be moved while "
                                "something is computed",
                                tensor, wanted, max_slots),
                    fmt::format("{} of {}", counted(wanted < 1 ? 1 : max_slots, "slot"), tensor));
    }
    const std::string why = why_one_slot(model, model.buffers.id_of(*found));
    if (wanted > 1 && !why.empty()) {
      return refuse(fmt::format("slots: {} has one slot, as it {}", tensor, why), "one slot of " + tensor);
    }
  }
  return std::nullopt;
}

/// What a person or a search wants of sharing, on the grid that there is.
std::optional<Decision> check_sharing(const GroupModel& model, const std::map<std::string, SharedBy>& sharing,
                                      const std::vector<ParallelSplit>& parallel, const Target& target) {
  for (const auto& [tensor, wanted] : sharing) {
    const auto found = std::find_if(model.buffers.begin(), model.buffers.end(), [&, t = tensor](const ModelBuffer& b) {
      return b.name == t && b.kind == ModelBuffer::Kind::input;
    });
    if (found == model.buffers.end()) return refuse(fmt::format("sharing: there is no input '{}' to load", tensor));
    const BufferId buffer = model.buffers.id_of(*found);
    const std::string why = why_not_shared(model, buffer, parallel, wanted, target);
    if (why.empty()) continue;
    return refuse(fmt::format("sharing: {} cannot be loaded by {} together, as it {}; at most by the {}", tensor,
                              cores_text(wanted), why, name_of(widest_sharing(model, buffer, parallel, target))));
  }
  return std::nullopt;
}

/// What a person or a search wants to stay in the LDM, looked at before anything is sized.
std::optional<Decision> check_resident(const GroupModel& model, const ResidentInputs& resident) {
  for (const auto& [tensor, iterators] : resident) {
    const auto found = std::find_if(model.buffers.begin(), model.buffers.end(), [&, t = tensor](const ModelBuffer& b) {
      return b.name == t && b.kind == ModelBuffer::Kind::input;
    });
    if (found == model.buffers.end()) return refuse(fmt::format("resident: there is no input '{}' to load", tensor));
    for (const std::string& name : iterators) {
      const auto iterator = model.iterator_named(name);
      if (!iterator) {
        return refuse(
            fmt::format("resident: there is no iterator '{}'; {}", name, suggest_name(name, iterator_names(model))));
      }
      const std::string why = why_not_resident(model, model.buffers.id_of(*found), *iterator);
      if (!why.empty()) {
        return refuse(fmt::format("resident: {} cannot stay along {}, as it {}", tensor, name, why));
      }
    }
  }
  return std::nullopt;
}

/// Without what stays anyway, where an iterator has no loop.
ResidentInputs staying(const GroupModel& model, const ResidentInputs& wanted, const std::vector<OuterLoop>& order) {
  ResidentInputs resident;
  for (const OuterLoop& loop : order) {
    const std::string& iterator = model.iterators[loop.iterator].name;
    for (const auto& [tensor, along] : wanted) {
      if (loop.trips > 1 && along.contains(iterator)) resident[tensor].insert(iterator);
    }
  }
  return resident;
}

/// What stays along an iterator has to be loaded outside of its loop.
std::optional<Decision> check_places_of_residents(const GroupModel& model, const std::vector<OuterLoop>& order,
                                                  const IdVector<BufferId, std::size_t>& depth,
                                                  const Residents& residents) {
  const auto moved = moved_resident(model, order, depth, residents);
  if (!moved) return std::nullopt;
  const ModelBuffer& buffer = model.buffers[*moved];
  const std::vector<std::size_t> path = path_of(model, order, buffer);
  const auto& inside = order[path[depth[*moved] - 1]];
  return refuse(
      fmt::format("resident: {} is loaded again inside {}, and a loop along which it is to stay is around that",
                  buffer.name, inside.name),
      fmt::format("resident along {} too, or other loops outside", model.iterators[inside.iterator].name));
}

}  // namespace

Scheduled SwtvmPlanner::complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                 const Target& target, TraceSink trace) const {
  const GroupModel model = build_group_model(stages, target);
  Scheduled scheduled = run_algorithms(subject, model, fixed, target, trace);
  return refusing_idle_slots(model, std::move(scheduled));
}

namespace {

void tell_correlation(const GroupModel& model, const GroupTrace& trace) {
  if (!trace.listening()) return;
  for (const BufferId b : model.buffers.ids()) {
    BufferCorrelated correlated{BufferId(b), {}};
    for (const std::set<IteratorId>& of_dimension : model.buffers[b].iterators) {
      auto& dimension = correlated.dimensions.emplace_back();
      dimension.assign(of_dimension.begin(), of_dimension.end());
    }
    trace.add(std::move(correlated));
  }
}

void tell_split(const GroupModel& model, SplitBy by, const std::vector<ParallelSplit>& parallel,
                const IteratorSizes& ranges, const GroupTrace& trace) {
  if (!trace.listening()) return;
  CoresSplit split{by, traced(model, parallel), {}, ranges};
  for (const ModelIterator& iterator : model.iterators) split.extents.push_back(iterator.extent);
  trace.add(std::move(split));
}

/// Where a person gives the loops, those of one trip are only the ones that are named, so that a complete schedule
/// gives the plan that it is of. Else an iterator of which one element is buffered has its loop, as published.
void leave_out_single_trips(const GroupModel& model, const IteratorSizes& ranges, const std::vector<std::string>& order,
                            LdmSizes& sizes) {
  for (const OuterLoop& loop : outer_loops(model, ranges, sizes)) {
    const bool is_named = std::find(order.begin(), order.end(), loop.name) != order.end();
    if (loop.trips == 1 && !is_named) sizes.whole[loop.iterator] = true;
  }
}

}  // namespace

Scheduled run_algorithms(const std::string& subject, const GroupModel& model, const Schedule& fixed,
                         const Target& target, TraceSink sink, SplitBy fixed_by) {
  const GroupTrace trace = group_trace(sink, subject, model);
  tell_correlation(model, trace);
  Schedule schedule;
  schedule.launch = fixed.launch.value_or(LaunchedBy::spawn);
  schedule.parallel = fixed.parallel ? *fixed.parallel : split_over_cores(model, target.cores.count);
  if (auto refused = check_parallel(model, *schedule.parallel, target)) return *refused;
  const IteratorSizes ranges = core_ranges(model, *schedule.parallel);
  tell_split(model, fixed.parallel ? fixed_by : SplitBy::published, *schedule.parallel, ranges, trace);

  IteratorSizes fixed_sizes(model.iterators.size(), 0);
  if (auto refused = check_buffers(model, fixed.buffer, ranges, fixed_sizes)) return *refused;
  if (auto refused = check_slots(model, fixed.slots)) return *refused;
  if (auto refused = check_sharing(model, fixed.sharing, *schedule.parallel, target)) return *refused;
  if (auto refused = check_resident(model, fixed.resident)) return *refused;
  const IdVector<BufferId, int> slots = slots_by_buffer(model, fixed.slots);
  const Residents residents(model, fixed.resident, ranges);
  auto sized = manage_ldm(model, ranges, fixed_sizes, target, trace, slots, residents);
  if (const auto* refused = std::get_if<Decision>(&sized)) return *refused;
  LdmSizes& sizes = std::get<LdmSizes>(sized);
  if (fixed.order) leave_out_single_trips(model, ranges, *fixed.order, sizes);
  for (const IteratorId i : model.iterators.ids()) schedule.buffer[model.iterators[i].name] = sizes.size[i];

  const std::vector<OuterLoop> loops = outer_loops(model, ranges, sizes);
  std::vector<OuterLoop> order;
  if (fixed.order) {
    auto arranged = fixed_order(model, loops, *fixed.order);
    if (const auto* refused = std::get_if<Decision>(&arranged)) return *refused;
    order = std::get<std::vector<OuterLoop>>(std::move(arranged));
  } else {
    order = reorder_loops(model, loops, sizes.size, trace, residents);
  }
  schedule.order.emplace();
  for (const OuterLoop& loop : order) schedule.order->push_back(loop.name);
  schedule.resident = staying(model, fixed.resident, order);

  const IdVector<BufferId, SharedBy> sharing = sharing_by_buffer(model, fixed.sharing);
  const Residents stay(model, schedule.resident, ranges);
  IdVector<BufferId, std::size_t> depth = insert_dma(model, order, trace, stay);
  if (auto refused = fix_places(model, order, fixed.dma, depth)) return *refused;
  if (auto refused = check_places_of_residents(model, order, depth, stay)) return *refused;
  for (const BufferId b : model.buffers.ids()) {
    const ModelBuffer& buffer = model.buffers[b];
    if (buffer.kind == ModelBuffer::Kind::intermediate) continue;
    const std::vector<std::size_t> path = path_of(model, order, buffer);
    schedule.dma[buffer.name] = depth[b] == 0 ? "" : order[path[depth[b] - 1]].name;
    schedule.slots[buffer.name] = slots[b];
    if (buffer.kind == ModelBuffer::Kind::input) schedule.sharing[buffer.name] = sharing[b];
  }
  return schedule;
}

}  // namespace stowage
