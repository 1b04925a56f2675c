// SPDX-License-Identifier: Apache-2.0
#include "driver/run/check_run.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "core/channel_blocks.h"
#include "core/evaluate.h"
#include "core/reference/reference.h"
#include "fusion/facts/views.h"
#include "lowering/program/program.h"

namespace stowage {

namespace {

ValueError compare_floats(const Tensor& value, const Tensor& reference) {
  ValueError error;
  for (std::int64_t i = 0; i < reference.size(); ++i) {
    const double got = value.as_double(i);
    const double wanted = reference.as_double(i);
    if (std::isnan(got)) ++error.nans;
    if (std::isinf(got)) ++error.infinities;
    if (std::isfinite(wanted)) error.magnitude = std::max(error.magnitude, std::abs(wanted));
    if (std::isfinite(got) && std::isfinite(wanted)) {
      const double difference = std::abs(got - wanted);
      error.largest_absolute = std::max(error.largest_absolute, difference);
      if (wanted != 0) error.largest_relative = std::max(error.largest_relative, difference / std::abs(wanted));
    } else if (!(std::isnan(got) && std::isnan(wanted)) && got != wanted) {
      ++error.misplaced;
    }
  }
  return error;
}

ValueError compare_integers(const Tensor& value, const Tensor& reference) {
  ValueError error;
  for (std::int64_t i = 0; i < reference.size(); ++i) {
    const double wanted = reference.as_double(i);
    error.magnitude = std::max(error.magnitude, std::abs(wanted));
    // Exactly, also beyond the 53 bits of a double.
    if (value.as_int64(i) == reference.as_int64(i)) continue;
    const double difference = std::max(1.0, std::abs(value.as_double(i) - wanted));
    error.largest_absolute = std::max(error.largest_absolute, difference);
    if (wanted != 0) error.largest_relative = std::max(error.largest_relative, difference / std::abs(wanted));
  }
  return error;
}

/// A tensor, and those that hold its elements under other dimensions, nearest first: what a Reshape or a Slice makes of
/// it, or it of.
std::vector<TensorId> with_same_elements(const Graph& graph, TensorId id) {
  std::vector<TensorId> same;
  const auto add = [&](TensorId more) {
    if (std::find(same.begin(), same.end(), more) == same.end()) same.push_back(more);
  };
  const auto moves = [&](OpId op) { return graph.op(op).kind == "Reshape" || graph.op(op).kind == "Slice"; };
  constexpr std::size_t most = 4;  // a transposed convolution by phases is reshaped and cut
  add(id);
  for (std::size_t i = 0; i < same.size() && i < most; ++i) {
    const GraphTensor& tensor = graph.tensor(same[i]);
    if (tensor.producer && moves(*tensor.producer)) add(*graph.op(*tensor.producer).inputs.front());
    for (const OpId reader : tensor.consumers) {
      if (moves(reader)) add(graph.op(reader).first_output());
    }
  }
  return same;
}

/// The dimensions of a value in which the reference's value of shape `to` lies in front: its own, or, of a transposed
/// convolution by phases, with each spatial dimension merged with its phases. Nothing where there are none.
std::optional<Shape> dimensions_around(const Shape& from, const Shape& to) {
  if (element_count(from) == element_count(to)) return to;
  Shape around = from;
  if (to.size() > 2 && from.size() == 2 * to.size() - 2) {
    around.resize(2);
    for (std::size_t d = 2; d < from.size(); d += 2) around.push_back(from[d] * from[d + 1]);
  }
  if (around.size() != to.size() || !std::equal(to.begin(), to.end(), around.begin(), std::less_equal<>())) return {};
  return around;
}

/// Whether `from` is the shape `to` of a picture with its channels in blocks.
bool has_channels_in_blocks(const Shape& from, const Shape& to) {
  return to.size() > 2 && from.size() == to.size() + 1 && unblocked_shape(from, 1) == to;
}

/// A value with the reference's dimensions, and its elements in that order.
Tensor as_in_reference(const Tensor& value, const Shape& shape) {
  if (has_channels_in_blocks(value.shape(), shape)) return unblocked(value, 1);
  const auto around = dimensions_around(value.shape(), shape);
  check(around.has_value(), "values of different tensors compared");
  Tensor cut = value.reshaped(*around);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != cut.shape()[d]) cut = part_of(cut, d, 0, shape[d]);
  }
  return cut;
}

/// The tensors of the same name and type in another graph with the same inputs; nothing unless all are there. They may
/// have other dimensions.
std::optional<std::vector<TensorId>> same_tensors(const Graph& graph, const Graph& other,
                                                  const std::vector<TensorId>& tensors) {
  const auto counterpart = [&](TensorId id) -> std::optional<TensorId> {
    const GraphTensor& tensor = graph.tensor(id);
    for (const TensorId same : with_same_elements(graph, id)) {
      const auto found = other.find_tensor(graph.tensor(same).name);
      if (!found || other.tensor(*found).type != tensor.type) continue;
      if (dimensions_around(tensor.shape, other.tensor(*found).shape)) return found;
    }
    return {};
  };
  std::vector<TensorId> result;
  for (const TensorId id : tensors) {
    const auto found = counterpart(id);
    if (!found) return std::nullopt;
    result.push_back(*found);
  }
  if (graph.inputs().size() != other.inputs().size()) return std::nullopt;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    if (counterpart(graph.inputs()[i]) != other.inputs()[i]) return std::nullopt;
  }
  return result;
}

/// What a step stored, by its results. `stored` are the tensors that it wrote.
std::vector<Tensor> values_of_results(const FusedOperator& group, std::span<const Tensor> stored, const Graph& graph) {
  check(stored.size() == group.results.size(), "a step stored other tensors than its own");
  std::vector<Tensor> values;
  for (std::size_t r = 0; r < stored.size(); ++r) {
    const TensorStack& result = group.results[r];
    if (!result.joins()) {
      values.push_back(stored[r]);
      continue;
    }
    std::int64_t first = 0;
    for (const TensorId part : result.parts) {
      const std::int64_t extent = graph.tensor(part).shape.at(result.axis);
      values.push_back(part_of(stored[r], result.axis, first, extent));
      first += extent;
    }
  }
  return values;
}

/// The emulated program's values, by the tensors of the graph that the reference runs.
class EmulatedValues {
 public:
  EmulatedValues(const Graph& graph, std::span<const Tensor> inputs) : graph_(graph) {
    for (std::size_t i = 0; i < inputs.size(); ++i) values_[graph.inputs()[i]] = inputs[i];
  }

  void add(TensorId tensor, Tensor value) { values_[tensor] = std::move(value); }

  /// What the reference makes of the values so far is `value`.
  [[nodiscard]] bool lead_to(TensorId tensor, const Tensor& value) const {
    try {
      const Tensor wanted = compute_from(graph_, values_, std::span(&tensor, 1), ReferenceMode::onednn).front();
      return compare_values(value, wanted, group_tolerance).agrees;
    } catch (const IndexOutOfRange&) {
      return false;  // the indices that it got are wrong, so nobody can say what is right
    }
  }

 private:
  const Graph& graph_;
  std::map<TensorId, Tensor> values_;
};

/// Graph output `id` and fused operator `name` for tables.
ValueError named(ValueError error, const Graph& graph, TensorId id, std::string name) {
  error.name = std::move(name);
  error.tensor = graph.tensor(id).name;
  return error;
}

/// The same stack in the graph of one group alone: results lie in a storage that holds nothing else.
void move_stack(const Graph& graph, TensorStack& stack, GraphBuilder& builder, std::map<TensorId, TensorId>& moved) {
  if (!stack.joins()) {
    stack.whole = stack.parts.front() = moved.at(stack.whole);
    return;
  }
  const GraphTensor& whole = graph.tensor(stack.whole);
  const TensorId storage = whole.constant ? builder.add_constant(whole.name, *whole.constant)
                                          : builder.add_storage(whole.name, whole.type, whole.shape);
  moved[stack.whole] = storage;
  stack.whole = storage;
  StorageBox box{storage, 0, row_major_strides(whole.shape)};
  for (TensorId& part : stack.parts) {
    part = moved.at(part);
    if (whole.constant) continue;
    builder.place(part, box);
    box.offset += builder.tensor(part).shape.at(stack.axis) * box.strides.at(stack.axis);
  }
}

}  // namespace

ValueError compare_values(const Tensor& value, const Tensor& reference, double tolerance) {
  check(value.type() == reference.type() && value.shape() == reference.shape(), "values of different tensors compared");
  ValueError error = is_float(value.type()) ? compare_floats(value, reference) : compare_integers(value, reference);
  error.type = value.type();
  error.elements = value.size();
  error.tolerance = is_float(value.type()) ? tolerance : 0;
  error.agrees = error.misplaced == 0 && error.largest_absolute <= error.tolerance * error.magnitude;
  return error;
}

bool CheckResult::agrees() const { return counts.empty() && first_difference() == nullptr; }

std::size_t CheckResult::amplified_operators() const {
  std::set<std::string> names;  // branches have several rows
  for (const ValueError& error : groups) {
    if (error.amplified) names.insert(error.name);
  }
  return names.size();
}

std::size_t CheckResult::amplified_outputs() const {
  return static_cast<std::size_t>(
      std::count_if(outputs.begin(), outputs.end(), [](const ValueError& error) { return error.amplified; }));
}

const ValueError* CheckResult::first_difference() const {
  for (const std::vector<ValueError>* rows : {&groups, &outputs}) {
    for (const ValueError& error : *rows) {
      if (error.is_wrong()) return &error;
    }
  }
  return nullptr;
}

Result<std::vector<Tensor>> reference_values(const Graph& graph, std::span<const Tensor> inputs,
                                             std::span<const TensorId> wanted, std::stop_token stop,
                                             const ProgressSink& progress) {
  std::map<TensorId, Tensor> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i]] = inputs[i];
  for (const TensorId id : wanted) {
    if (graph.tensor(id).constant) values[id] = *graph.tensor(id).constant;
  }
  run_reference(
      graph, inputs, ReferenceMode::onednn,
      [&](TensorId id, const Tensor& value) {
        if (std::find(wanted.begin(), wanted.end(), id) != wanted.end()) values[id] = value;
      },
      stop, progress);
  if (stop.stop_requested()) return Failed{};
  std::vector<Tensor> result;
  for (const TensorId id : wanted) result.push_back(values.at(id));
  return result;
}

Result<CheckResult> run_and_check(const Compilation& compilation, std::span<const Tensor> inputs,
                                  const RunSettings& asked, Diagnostics& diagnostics, std::stop_token stop,
                                  const ProgressSink& progress) {
  const Program& program = compilation.program;
  const Graph& graph = program.fused.graph;
  CheckResult result;
  result.fused_operators = program.steps.size();
  // Every fused operator's results, then the network's outputs (one of these may be an input or a constant).
  std::vector<TensorId> wanted;
  IdVector<StepId, std::size_t> first_of_step;
  for (const ProgramStep& step : program.steps) {
    first_of_step.push_back(wanted.size());
    const std::vector<TensorId> results = results_of(step.group);
    wanted.insert(wanted.end(), results.begin(), results.end());
  }
  const std::size_t first_output = wanted.size();
  wanted.insert(wanted.end(), graph.outputs().begin(), graph.outputs().end());
  const auto in_model = compilation.imported ? same_tensors(graph, *compilation.imported, wanted) : std::nullopt;
  result.against_model = in_model.has_value();
  auto reference = in_model ? reference_values(*compilation.imported, inputs, *in_model, stop, progress)
                            : reference_values(graph, inputs, wanted, stop, progress);
  if (!reference) return Failed{};
  const std::vector<TensorId>& of_reference = in_model ? *in_model : wanted;
  EmulatedValues emulated_values(in_model ? *compilation.imported : graph, inputs);

  const auto on_output = [&](StepId step, std::span<const Tensor> stored) {
    const FusedOperator& group = program.steps[step].group;
    const std::vector<TensorId> results = results_of(group);
    std::vector<Tensor> values = values_of_results(group, stored, graph);
    for (std::size_t r = 0; r < results.size(); ++r) {
      const std::size_t at = first_of_step[step] + r;
      Tensor& wanted_value = (*reference)[at];
      values[r] = as_in_reference(values[r], wanted_value.shape());
      ValueError error = compare_values(values[r], wanted_value, group_tolerance);
      error.amplified = !error.agrees && emulated_values.lead_to(of_reference[at], values[r]);
      result.groups.push_back(named(std::move(error), graph, results[r], group.name));
      wanted_value = Tensor();  // compared, so its memory is free
    }
    for (std::size_t r = 0; r < results.size(); ++r) {
      emulated_values.add(of_reference[first_of_step[step] + r], values[r]);
    }
    if (progress) progress("emulate", step.index() + 1, program.steps.size());
  };
  RunSettings settings = asked;
  settings.changed_sources = asked.changed_sources || !compilation.changed_sources.empty();
  auto run = backend_of(compilation)
                 .run(program, compilation.emitted, inputs, settings, on_output, {diagnostics, stop, progress});
  if (!run) return Failed{};
  result.emulation = std::move(run->emulation);
  result.counts = std::move(run->counts);
  const bool all_right = result.first_difference() == nullptr;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const TensorId id = graph.outputs()[i];
    const Tensor& value = result.emulation.outputs.at(i);
    ValueError error = compare_values(value, (*reference)[first_output + i], output_tolerance);
    error.amplified = !error.agrees && all_right && emulated_values.lead_to(of_reference[first_output + i], value);
    result.outputs.push_back(named(std::move(error), graph, id, "output " + graph.tensor(id).name));
  }
  return result;
}

Result<IsolatedOperator> isolate(const Compilation& compilation, const std::string& name, Diagnostics& diagnostics) {
  const Program& whole = compilation.program;
  const Graph& graph = whole.fused.graph;
  std::vector<std::string> names;
  for (const ProgramStep& step : whole.steps) names.push_back(step.group.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    diagnostics.error("unknown-fused-operator", {}, fmt::format("no fused operator '{}'", name),
                      suggest_name(name, names));
    return Failed{};
  }
  const ProgramStep& step = whole.steps[StepId(static_cast<std::size_t>(found - names.begin()))];

  // A graph of the group alone: its operands first, then its operators.
  IsolatedOperator isolated;
  GraphBuilder builder(graph.name() + "/" + name);
  std::map<TensorId, TensorId> moved;
  for (const TensorId id : step.group.inputs) {
    const GraphTensor& tensor = graph.tensor(id);
    if (tensor.constant) {
      moved[id] = builder.add_constant(tensor.name, *tensor.constant);
    } else {
      moved[id] = builder.add_input(tensor.name, tensor.type, tensor.shape);
      isolated.inputs.push_back(id);
    }
  }
  ProgramStep alone;
  alone.group = step.group;
  alone.group.operators.clear();
  for (const OpId id : step.group.operators) {
    const Operator& op = graph.op(id);
    std::vector<std::optional<TensorId>> operands;
    for (const auto& operand : op.inputs) {
      operands.push_back(operand ? std::optional(moved.at(*operand)) : std::nullopt);
    }
    const OpId copy =
        builder.add_operator(op.kind, op.name, op.attributes, operands, output_tensors(graph, op), op.origins);
    for (std::size_t slot = 0; slot < op.outputs.size(); ++slot) {
      if (op.outputs[slot]) moved[*op.outputs[slot]] = builder.op(copy).outputs[slot].value();
    }
    alone.group.operators.push_back(copy);
  }
  for (const TensorId id : results_of(step.group)) builder.mark_output(moved.at(id));
  for (auto* stacks : {&alone.group.parameters, &alone.group.results}) {
    for (TensorStack& stack : *stacks) move_stack(graph, stack, builder, moved);
  }
  for (TensorId& id : alone.group.inputs) id = moved.at(id);

  Compilation& result = isolated.compilation;
  result.backend = compilation.backend;
  result.command_line = compilation.command_line;
  result.model = compilation.model;
  result.network = compilation.network;
  Program& program = result.program;
  program.target = whole.target;
  program.fusion = whole.fusion;
  program.planner = whole.planner;
  program.layout = whole.layout;
  program.fused.graph = std::move(builder).build();
  program.fused.groups = {alone.group};
  if (step.step_plan() == nullptr) {
    // Inputs and outputs of a network have no gaps, so what is a view in the network need not be one alone.
    program.fused.graph = place_tensors(program.fused.graph, {}, program.target.dma.alignment);
    if (!is_in_place(program.fused.graph, alone.group.operators.front())) {
      diagnostics.error("nothing-to-run", {}, fmt::format("'{}' is a view: no kernel is launched for it", name),
                        "name a fused operator that is launched");
      return Failed{};
    }
  }
  alone.work = backend_of(compilation).moved(step.work, program.fused.graph, alone.group, program.target);
  program.steps = {alone};
  program.memory = plan_memory(program.fused, program.steps, program.target.main_memory.line_bytes);
  result.emitted = backend_of(result).emit(program, "");
  return isolated;
}

}  // namespace stowage
