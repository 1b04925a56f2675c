// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/library_plan.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/check.h"
#include "core/factors.h"
#include "core/number_text.h"
#include "lowering/time/cycle_limit.h"
#include "lowering/time/rates.h"

namespace stowage {
namespace {

// A group keeps its loop nest by these, and is not refused: they are no rules of legality.
constexpr const char* form_rule = "library-form";
constexpr const char* group_rule = "library-group";

/// Elements that one step along each axis of a stage moves in a tensor; nothing where an index is no sum of axes.
std::optional<std::vector<std::int64_t>> steps_in(const StageTensor& tensor, const std::vector<IndexExpr>& index,
                                                  std::size_t axes) {
  const std::vector<std::int64_t> strides = tensor.memory_strides();
  IndexExpr place;
  for (std::size_t d = 0; d < index.size(); ++d) place += index[d] * strides[d];
  if (!place.is_affine() || place.constant() != 0) return std::nullopt;
  std::vector<std::int64_t> steps;
  for (std::size_t a = 0; a < axes; ++a) steps.push_back(place.coefficient_of(VarId(a)));
  return steps;
}

/// Axes that are run through as one: the extents of all, and what a step of the innermost moves in each tensor.
struct Run {
  std::int64_t extent = 1;
  std::int64_t in_a = 0;
  std::int64_t in_b = 0;
  std::int64_t in_c = 0;
};

/// Puts an axis inside of a run; false where the tensors do not go on as the run does.
bool extend(Run& run, const Run& inner) {
  const auto goes_on = [&](std::int64_t outer_step, std::int64_t inner_step) {
    return outer_step == inner_step * inner.extent;
  };
  if (run.extent != 1 &&
      !(goes_on(run.in_a, inner.in_a) && goes_on(run.in_b, inner.in_b) && goes_on(run.in_c, inner.in_c))) {
    return false;
  }
  run = {run.extent * inner.extent, inner.in_a, inner.in_b, inner.in_c};
  return true;
}

/// A matrix with `rows` and `columns`, one of which lies without gaps.
std::optional<MatrixProduct::Operand> operand(StageTensorId tensor, std::int64_t rows, std::int64_t row_step,
                                              std::int64_t columns, std::int64_t column_step) {
  if (columns == 1 || column_step == 1) {
    const std::int64_t row = rows == 1 ? columns : row_step;
    if (row >= columns) return MatrixProduct::Operand{tensor, false, row};
  }
  if (rows == 1 || row_step == 1) {
    const std::int64_t row = columns == 1 ? rows : column_step;
    if (row >= rows) return MatrixProduct::Operand{tensor, true, row};
  }
  return std::nullopt;
}

/// A stage's operand, and what a step along each axis moves in it.
struct Factor {
  const Access* access = nullptr;
  std::vector<std::int64_t> steps;
};

Decision no_product(std::string why) { return Decision::refuse(form_rule, std::move(why)); }

/// The product whose rows are the axes of the left factor.
std::variant<MatrixProduct, Decision> product_of(const Stage& stage, const Factor& left, const Factor& right,
                                                 const std::vector<std::int64_t>& in_c) {
  Run rows;     // of C and of its left operand
  Run columns;  // of C and of its right operand
  Run depth;
  for (std::size_t a = 0; a < stage.axes.size(); ++a) {
    const Axis& axis = stage.axes[a];
    if (axis.extent == 0) return no_product("it computes nothing");
    if (axis.extent == 1) continue;
    const Run run{axis.extent, left.steps[a], right.steps[a], in_c[a]};
    Run* part = nullptr;
    if (run.in_a != 0 && run.in_b == 0 && run.in_c != 0) part = &rows;
    if (run.in_a == 0 && run.in_b != 0 && run.in_c != 0) part = &columns;
    if (run.in_a != 0 && run.in_b != 0 && run.in_c == 0) part = &depth;
    if (part == nullptr)
      return no_product(fmt::format("axis {} runs through other operands than a product's do", axis.name));
    if (!extend(*part, run)) return no_product(fmt::format("axis {} leaves gaps in an operand", axis.name));
  }
  MatrixProduct product{rows.extent, columns.extent, depth.extent, {}, {}, {}};
  const auto a = operand(left.access->tensor, product.m, rows.in_a, product.k, depth.in_a);
  const auto b = operand(right.access->tensor, product.k, depth.in_b, product.n, columns.in_b);
  const auto c = operand(stage.output, product.m, rows.in_c, product.n, columns.in_c);
  if (!a || !b || !c || c->transposed) return no_product("a matrix lies neither by rows nor by columns");
  constexpr std::int64_t maximum = std::numeric_limits<int>::max();
  if (std::max({product.m, product.n, product.k, a->row, b->row, c->row}) > maximum)
    return no_product("an extent is no int");
  product.a = *a;
  product.b = *b;
  product.c = *c;
  return product;
}

/// Linear between points, constant beyond the last, proportional below the first.
double share_at(const std::vector<LibraryPoint>& points, std::int64_t extent) {
  const auto above =
      std::find_if(points.begin(), points.end(), [&](const LibraryPoint& point) { return point.extent >= extent; });
  if (above == points.end()) return points.back().share;
  const LibraryPoint below = above == points.begin() ? LibraryPoint{0, 0} : *(above - 1);
  const double part = static_cast<double>(extent - below.extent) / static_cast<double>(above->extent - below.extent);
  return below.share + part * (above->share - below.share);
}

std::vector<PlanTerm> terms_of(const MatrixProduct& product, const Library& library, const Target& target) {
  const auto m = static_cast<double>(product.m);
  const auto n = static_cast<double>(product.n);
  const auto k = static_cast<double>(product.k);
  const std::int64_t smallest = std::min({product.m, product.n, product.k});
  const double share = share_at(library.efficiency, smallest);
  const double peak = target.cores.count * target.cores.vector_flops_per_cycle.of(ElementType::f32);
  const std::int64_t arithmetic = cycles_that_count(2 * m * n * k / (peak * share));
  const double bytes = 4 * (m * k + k * n + m * n);
  const std::int64_t moved = cycles_that_count(bytes / peak_dma_bandwidth(target) * target.clock_hz);
  const std::string table = "library." + library.name;
  return {{"call", cycles_that_count(library.call_seconds * target.clock_hz),
           fmt::format("{} s from the call to the return", library.call_seconds), table + ".call_seconds"},
          {"product", arithmetic,
           fmt::format("2 * {} * {} * {} operations at {:.2f} % of the cores' peak, smallest extent {}", product.m,
                       product.n, product.k, 100 * share, smallest),
           table + ".efficiency"},
          {"main memory", std::max<std::int64_t>(0, moved - arithmetic),
           fmt::format("{} cycles for {} bytes of the three matrices, as far as the product takes less",
                       grouped_digits(moved), grouped_digits(static_cast<std::int64_t>(std::min(bytes, 9e18)))),
           "dma.bandwidth"}};
}

}  // namespace

std::variant<MatrixProduct, Decision> matrix_product(const StageList& list) {
  if (list.stages.size() != 1)
    return no_product(fmt::format("it has {} stages, a product alone has one", list.stages.size()));
  const Stage& stage = *list.stages.begin();
  const auto factors = factors_of(stage);
  if (!factors || stage.finish || stage.reads.size() != 2)
    return no_product("it is no sum of products of two operands alone");
  const Access& left = stage.reads[factors->first];
  const Access& right = stage.reads[factors->second];
  for (const StageTensorId t : {left.tensor, right.tensor, stage.output}) {
    const StageTensor& tensor = list.tensors[t];
    if (tensor.type != ElementType::f32)
      return no_product(fmt::format("'{}' is of {}, the library's of f32", tensor.name, name_of(tensor.type)));
  }
  if (left.padding || right.padding) return no_product("it reads beyond the edges of an operand");
  std::vector<IndexExpr> written;
  for (const VarId axis : stage.spatial_axes()) written.emplace_back(axis);
  const std::size_t axes = stage.axes.size();
  auto in_left = steps_in(list.tensors[left.tensor], left.index, axes);
  auto in_right = steps_in(list.tensors[right.tensor], right.index, axes);
  const auto in_c = steps_in(list.tensors[stage.output], written, axes);
  if (!in_left || !in_right || !in_c) return no_product("an operand's index is no sum of axes");
  const Factor first{&left, *std::move(in_left)};
  const Factor second{&right, *std::move(in_right)};
  auto product = product_of(stage, first, second, *in_c);
  // A convolution of one point writes its channels by rows, whichever operand its definition names first.
  if (std::holds_alternative<Decision>(product)) {
    auto exchanged = product_of(stage, second, first, *in_c);
    if (std::holds_alternative<MatrixProduct>(exchanged)) return exchanged;
  }
  return product;
}

LibraryPlan::LibraryPlan(StageList stages, MatrixProduct product, Library library,
                         std::optional<std::int64_t> nest_cycles, const Target& target)
    : stages_(std::move(stages)), product_(product), library_(std::move(library)), nest_cycles_(nest_cycles) {
  check(!library_.efficiency.empty(), "a library without a rate");
  terms_ = terms_of(product_, library_, target);
}

std::int64_t LibraryPlan::cycles() const {
  std::int64_t sum = 0;
  for (const PlanTerm& term : terms_) sum += term.cycles;
  return std::min(sum, cycle_limit);
}

std::string LibraryPlan::text() const {
  const auto name = [&](const MatrixProduct::Operand& of) {
    return stages_.tensors[of.tensor].name + (of.transposed ? "^T" : "");
  };
  return fmt::format("{} of {}: {}[{}, {}] = {} {}, depth {}\n{}", library_.sgemm, library_.name, name(product_.c),
                     product_.m, product_.n, name(product_.a), name(product_.b), product_.k, to_text(stages_));
}

std::string LibraryPlan::reason() const {
  if (!nest_cycles_) return fmt::format("{} does it, and no plan of the LDM holds it", library_.name);
  return fmt::format("{} does it in {} cycles, its loop nest would take {}", library_.name, grouped_digits(cycles()),
                     grouped_digits(*nest_cycles_));
}

std::optional<std::int64_t> cycles_of_nest(const Planned& planned) {
  const auto* plan = std::get_if<Plan>(&planned);
  return plan == nullptr ? std::nullopt : std::optional(plan->time.cycles);
}

std::variant<LibraryPlan, Decision> plan_by_library(StageList stages, std::optional<std::int64_t> nest_cycles,
                                                    std::int64_t launch_cycles, const Target& target) {
  const Library* const library = find_library(target, target.use_library);
  check(library != nullptr, "a plan by a library that there is not");
  auto product = matrix_product(stages);
  if (auto* refused = std::get_if<Decision>(&product)) return *std::move(refused);
  LibraryPlan plan(std::move(stages), std::get<MatrixProduct>(product), *library, nest_cycles, target);
  if (plan.cycles() + launch_cycles < nest_cycles.value_or(cycle_limit)) return plan;
  const std::string launch =
      launch_cycles == 0 ? "" : fmt::format(" and {} to spawn the kernel behind it", grouped_digits(launch_cycles));
  return Decision::refuse(
      std::string(library_cost_rule),
      fmt::format("{} would take {} cycles{}, {}", library->name, grouped_digits(plan.cycles()), launch,
                  nest_cycles ? fmt::format("its loop nest takes {}", grouped_digits(*nest_cycles))
                              : "more than any step may"));
}

std::variant<LibraryCall, Decision> library_call(const Graph& graph, const FusedOperator& group, const Planned& planned,
                                                 std::int64_t launch_cycles, const Target& target) {
  if (group.operators.size() > 1) {
    return Decision::refuse(group_rule,
                            fmt::format("it is fused of {} operators, a library computes one", group.operators.size()));
  }
  auto call = plan_by_library(group_stages(graph, group), cycles_of_nest(planned), launch_cycles, target);
  if (auto* refused = std::get_if<Decision>(&call)) return *std::move(refused);
  return LibraryCall{std::make_shared<const LibraryPlan>(std::get<LibraryPlan>(std::move(call)))};
}

}  // namespace stowage
