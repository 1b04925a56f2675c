// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/management_plan.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "core/check.h"
#include "core/number_text.h"
#include "lowering/time/cycle_limit.h"

namespace stowage {
namespace {

/// Points of the first `axes` axes.
double points_of(const Stage& stage, std::size_t axes) {
  double points = 1;
  for (std::size_t a = 0; a < axes; ++a) points *= static_cast<double>(stage.axes[a].extent);
  return points;
}

std::int64_t functions_in(const ScalarExpr& e) {
  std::int64_t functions = 0;
  if (!e) return functions;
  visit_nodes(e, [&](const ScalarNode& node) {
    if (const auto* unary = std::get_if<ScalarNode::Unary>(&node.value)) {
      switch (unary->op) {
        case UnaryOp::exp:
        case UnaryOp::log:
        case UnaryOp::sqrt:
        case UnaryOp::erf:
        case UnaryOp::tanh:
        case UnaryOp::sin:
        case UnaryOp::cos: ++functions; break;
        default: break;
      }
    }
    const auto* binary = std::get_if<ScalarNode::Binary>(&node.value);
    if (binary != nullptr && binary->op == BinaryOp::power) ++functions;
  });
  return functions;
}

/// What one loop nest touches of a tensor.
struct Touched {
  const StageTensor& tensor;
  std::vector<IndexExpr> index;
  double times = 1;  ///< each line goes over the bus
};

std::vector<Touched> touched_by(const StageList& list, const Stage& stage) {
  std::vector<Touched> all;
  for (const Access& access : stage.reads) all.push_back({list.tensors[access.tensor], access.index, 1});
  std::vector<IndexExpr> written;
  for (const VarId axis : stage.spatial_axes()) written.emplace_back(axis);
  all.push_back({list.tensors[stage.output], std::move(written), 2});
  return all;
}

/// Bytes of the lines that are touched while axis a makes trips[a] trips.
double bytes_touched(const Touched& touched, std::span<const std::int64_t> trips, std::int64_t line_bytes) {
  const auto range = [&](VarId axis) { return Interval{0, trips[axis.index()] - 1}; };
  const Shape& shape = touched.tensor.shape;
  const std::vector<std::int64_t> strides = touched.tensor.memory_strides();
  double elements = 1;
  std::int64_t run = 1;  // elements that lie one behind the other
  for (std::size_t d = shape.size(); d-- > 0;) {
    const Interval touches = bounds(touched.index[d], range);
    const std::int64_t extent = std::min(shape[d], touches.high - touches.low + 1);
    if (strides[d] == run) run *= extent;
    elements *= static_cast<double>(std::max<std::int64_t>(extent, 1));
  }
  double points = 1;
  for (const std::int64_t count : trips) points *= static_cast<double>(count);
  const std::int64_t run_bytes = std::max<std::int64_t>(run, 1) * byte_size(touched.tensor.type);
  const auto lines_of_run = static_cast<double>((run_bytes + line_bytes - 1) / line_bytes);
  const double lines = elements / static_cast<double>(std::max<std::int64_t>(run, 1)) * lines_of_run;
  return std::min(lines, points) * static_cast<double>(line_bytes);
}

double bytes_touched(std::span<const Touched> all, std::span<const std::int64_t> trips, std::int64_t line_bytes) {
  double bytes = 0;
  for (const Touched& touched : all) bytes += bytes_touched(touched, trips, line_bytes);
  return bytes;
}

struct Work {
  double operations = 0;
  double arithmetic_cycles = 0;
  double functions = 0;
  double bytes = 0;
};

Work work_of(const StageList& list, const Target& target) {
  const ManagementCore& core = *target.management_core;
  Work work;
  for (const Stage& stage : list.stages) {
    const double points = points_of(stage, stage.axes.size());
    const double results = points_of(stage, stage.spatial);
    const std::int64_t of_point = operation_count(stage.body) + (stage.reduction == Reduction::none ? 0 : 1);
    double operations = points * static_cast<double>(std::max<std::int64_t>(1, of_point));
    work.functions += points * static_cast<double>(functions_in(stage.body));
    if (stage.finish) {
      operations += results * static_cast<double>(operation_count(stage.finish));
      work.functions += results * static_cast<double>(functions_in(stage.finish));
    }
    work.operations += operations;
    work.arithmetic_cycles += operations / core.operations_per_cycle.of(list.tensors[stage.output].type);
    work.bytes += cached_traffic(list, stage, core.cache_bytes, target.main_memory.line_bytes);
  }
  return work;
}

std::string whole(double number) { return grouped_digits(static_cast<std::int64_t>(std::min(number, 9e18))); }

}  // namespace

double cached_traffic(const StageList& list, const Stage& stage, std::int64_t cache_bytes, std::int64_t line_bytes) {
  const std::vector<Touched> all = touched_by(list, stage);
  std::vector<std::int64_t> trips(stage.axes.size(), 1);
  for (const Axis& axis : stage.axes) {
    if (axis.extent == 0) return 0;
  }
  const auto fits = [&] { return bytes_touched(all, trips, line_bytes) <= static_cast<double>(cache_bytes); };
  double outside = 1;  // trips of the loops around those
  for (std::size_t a = stage.axes.size(); a-- > 0;) {
    const std::int64_t extent = stage.axes[a].extent;
    trips[a] = extent;
    if (fits()) continue;
    // As many trips of this loop as leave everything in the cache: one at least.
    std::int64_t maximum = 1;
    for (std::int64_t above = extent; maximum + 1 < above;) {
      trips[a] = maximum + (above - maximum) / 2;
      (fits() ? maximum : above) = trips[a];
    }
    trips[a] = maximum;
    outside = static_cast<double>((extent + maximum - 1) / maximum) * points_of(stage, a);
    break;
  }
  double bytes = 0;
  for (const Touched& touched : all) bytes += touched.times * bytes_touched(touched, trips, line_bytes);
  return bytes * outside;
}

ManagementPlan::ManagementPlan(StageList stages, Decision refused, const Target& target)
    : stages_(std::move(stages)), refused_(std::move(refused)) {
  check(target.management_core.has_value(), "a plan for a management core that there is not");
  const ManagementCore& core = *target.management_core;
  const Work work = work_of(stages_, target);
  terms_ = {{"arithmetic", cycles_that_count(work.arithmetic_cycles),
             fmt::format("{} operations, a point at least one", whole(work.operations)),
             "management_core.operations_per_cycle"},
            {"functions", cycles_that_count(work.functions * core.function_cycles),
             fmt::format("{} functions of {} cycles", whole(work.functions), core.function_cycles),
             "management_core.function_cycles"},
            {"memory", cycles_that_count(work.bytes / core.bytes_per_second * target.clock_hz),
             fmt::format("{} bytes of lines past a cache of {}", whole(work.bytes), grouped_digits(core.cache_bytes)),
             "management_core.bytes_per_second"}};
}

std::int64_t ManagementPlan::cycles() const {
  std::int64_t sum = 0;
  for (const PlanTerm& term : terms_) sum += term.cycles;
  return sum;
}

std::string ManagementPlan::reason() const { return fmt::format("no plan of the LDM holds it ({})", refused_.reason); }

std::int64_t ManagementPlan::intermediate_bytes() const {
  std::int64_t bytes = 0;
  for (const StageTensor& tensor : stages_.tensors) {
    if (tensor.role == TensorRole::intermediate) bytes += element_count(tensor.shape) * byte_size(tensor.type);
  }
  return bytes;
}

std::variant<ManagementPlan, Decision> plan_without_ldm(StageList stages, Decision refused, const Target& target) {
  if (!target.management_core || refused.rule == cycle_limit_rule) return refused;
  ManagementPlan plan(std::move(stages), refused, target);
  if (plan.cycles() >= cycle_limit) return refused;
  return plan;
}

}  // namespace stowage
