// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/node_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/evaluate.h"
#include "core/onnx/structure.h"
#include "core/onnx/tensor_proto.h"
#include "core/operators.h"
#include "core/tensor_limits.h"
#include "core/usual_remedy.h"

namespace stowage::onnx_import {
namespace {

constexpr std::int64_t max_folded_bytes = std::int64_t{64} << 20;  ///< unless the operands were as large
constexpr std::int64_t max_folded_points = std::int64_t{1} << 26;  ///< of one operator

/// Bytes of a tensor, or nothing where it is larger than Stowage plans.
std::optional<std::int64_t> bytes_of(ElementType type, const Shape& shape) {
  const auto count = count_within_limit(shape);
  if (!count) return std::nullopt;
  return *count * byte_size(type);
}

/// Points that plain evaluation visits; nothing where they cannot be counted.
std::optional<std::int64_t> points_of(const StageList& list) {
  std::int64_t points = 0;
  for (const Stage& stage : list.stages) {
    Shape extents;
    for (const Axis& axis : stage.axes) extents.push_back(axis.extent);
    const auto count = checked_element_count(extents);
    if (!count || __builtin_add_overflow(points, *count, &points)) return std::nullopt;
  }
  return points;
}

/// Network inputs that a tensor is computed from.
void collect_inputs(const GraphBuilder& builder, TensorId tensor, std::set<std::string>& inputs) {
  std::vector<TensorId> pending{tensor};
  std::set<TensorId> seen{tensor};
  while (!pending.empty()) {
    const GraphTensor& current = builder.tensor(pending.back());
    pending.pop_back();
    if (current.is_input) inputs.insert(current.name);
    if (!current.producer) continue;
    for (const auto& operand : builder.op(*current.producer).inputs) {
      if (operand && seen.insert(*operand).second) pending.push_back(*operand);
    }
  }
}

/// Integer division by zero has no value, and must not reach the evaluation.
bool divides_by_zero(const std::string& kind, const std::vector<ValueRef>& operands) {
  if ((kind != "Div" && kind != "Mod") || operands.size() != 2 || !is_integer(operands[1]->type)) return false;
  const auto divisors = operands[1]->constant->to_int64s();
  return std::find(divisors.begin(), divisors.end(), 0) != divisors.end();
}

}  // namespace

TensorId ImportState::id_of(Value& value) {
  if (!value.id) {
    check(value.constant.has_value(), "a value is neither constant nor in the graph");
    std::string name = value.name;
    if (reserved_names.contains(name)) name += "/constant";
    value.id = builder.add_constant(builder.unique_name(std::move(name)), *value.constant);
  }
  return *value.id;
}

ValueRef Scope::find(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
    if (const auto at = scope->values.find(name); at != scope->values.end()) return at->second;
  }
  return nullptr;
}

bool Scope::has_failed(const std::string& name) const {
  return failed.contains(name) || (outer != nullptr && !values.contains(name) && outer->has_failed(name));
}

NodeImport::NodeImport(ImportState& state, Scope& scope, const onnx::NodeProto& node, std::string name,
                       int branch_depth)
    : state_(state), scope_(scope), node_(node), name_(std::move(name)), branch_depth_(branch_depth) {}

SourceLocation NodeImport::location() const { return state_.model.location(node_label(name_, node_)); }

void NodeImport::refuse(std::string code, std::string message, std::string remedy) {
  if (remedy.empty()) remedy = usual_remedy(code, node_.op_type());
  state_.diagnostics.error(std::move(code), location(), std::move(message), std::move(remedy));
  throw Refused{};
}

bool NodeImport::has_operand(int slot) const { return slot < node_.input_size() && !node_.input(slot).empty(); }

ValueRef NodeImport::operand_or_null(int slot) {
  if (!has_operand(slot)) return nullptr;
  ValueRef value = scope_.find(node_.input(slot));
  if (!value)
    refuse("missing-input", fmt::format("reads '{}', which nothing before it defines", node_.input(slot)),
           "give the value a node that makes it, or make it an input of the network");
  return value;
}

ValueRef NodeImport::operand(int slot) {
  ValueRef value = operand_or_null(slot);
  if (!value) refuse("missing-input", fmt::format("operand {} is missing", slot));
  return value;
}

std::vector<ValueRef> NodeImport::operands() {
  std::vector<ValueRef> all;
  for (int slot = 0; slot < node_.input_size(); ++slot) all.push_back(operand_or_null(slot));
  while (!all.empty() && !all.back()) all.pop_back();
  return all;
}

Tensor NodeImport::known(int slot, std::string_view what) {
  const ValueRef value = operand(slot);
  if (value->constant) return *value->constant;
  std::set<std::string> inputs;
  collect_inputs(state_.builder, *value->id, inputs);
  if (inputs.empty() && state_.has_stand_ins) throw Refused{};  // it would come from a node that was refused
  state_.inputs_to_bind.insert(inputs.begin(), inputs.end());
  std::string remedy;
  for (const std::string& input : inputs)
    remedy += fmt::format("{}--bind {}=FILE.npy", remedy.empty() ? "" : " ", input);
  refuse("run-time-shape",
         fmt::format("{} ('{}') must be known when compiling, but is computed from {}", what, node_.input(slot),
                     fmt::join(inputs, ", ")),
         remedy.empty() ? "make it a constant of the network" : "give its value: " + remedy);
}

void NodeImport::refuse_too_large(std::string_view what, const Shape& shape) {
  refuse("tensor-too-large", fmt::format("{} {} has more than {} elements", what, to_text(shape), max_elements_text),
         std::string(too_large_remedy));
}

std::vector<std::int64_t> NodeImport::known_ints(int slot, std::string_view what) {
  const Tensor value = known(slot, what);
  if (!is_integer(value.type()) || value.shape().size() > 1) {
    refuse("wrong-type", fmt::format("{} must be a list of integers, not {} {}", what, name_of(value.type()),
                                     to_text(value.shape())));
  }
  return value.to_int64s();
}

std::vector<double> NodeImport::known_reals(int slot, std::string_view what) {
  const Tensor value = known(slot, what);
  if (value.type() == ElementType::boolean || value.shape().size() > 1) {
    refuse("wrong-type",
           fmt::format("{} must be a list of numbers, not {} {}", what, name_of(value.type()), to_text(value.shape())));
  }
  std::vector<double> reals;
  for (std::int64_t i = 0; i < value.size(); ++i) reals.push_back(value.as_double(i));
  return reals;
}

double NodeImport::known_real(int slot, std::string_view what) {
  const auto reals = known_reals(slot, what);
  if (reals.size() != 1) refuse("shape-mismatch", fmt::format("{} must be one number, not {}", what, reals.size()));
  return reals[0];
}

std::int64_t NodeImport::known_int(int slot, std::string_view what) {
  const auto ints = known_ints(slot, what);
  if (ints.size() != 1) refuse("shape-mismatch", fmt::format("{} must be one integer, not {}", what, ints.size()));
  return ints[0];
}

const onnx::AttributeProto* NodeImport::attribute(std::string_view name) const {
  for (const auto& attribute : node_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

std::int64_t NodeImport::int_attribute(std::string_view name, std::int64_t fallback) const {
  const auto* found = attribute(name);
  return found ? found->i() : fallback;
}

double NodeImport::float_attribute(std::string_view name, double fallback) const {
  const auto* found = attribute(name);
  return found ? static_cast<double>(found->f()) : fallback;
}

std::string NodeImport::string_attribute(std::string_view name, std::string fallback) const {
  const auto* found = attribute(name);
  return found ? found->s() : fallback;
}

std::vector<std::int64_t> NodeImport::ints_attribute(std::string_view name, std::vector<std::int64_t> fallback) const {
  const auto* found = attribute(name);
  if (!found) return fallback;
  return {found->ints().begin(), found->ints().end()};
}

Attributes NodeImport::attributes() const {
  Attributes all;
  for (const auto& attribute : node_.attribute()) {
    switch (attribute.type()) {
      case onnx::AttributeProto::INT: all[attribute.name()] = static_cast<std::int64_t>(attribute.i()); break;
      case onnx::AttributeProto::FLOAT: all[attribute.name()] = static_cast<double>(attribute.f()); break;
      case onnx::AttributeProto::STRING: all[attribute.name()] = attribute.s(); break;
      case onnx::AttributeProto::INTS:
        all[attribute.name()] = std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
        break;
      case onnx::AttributeProto::FLOATS:
        all[attribute.name()] = std::vector<double>(attribute.floats().begin(), attribute.floats().end());
        break;
      default: break;
    }
  }
  return all;
}

std::int64_t NodeImport::checked_axis(std::int64_t axis, std::size_t rank) {
  const auto extent = static_cast<std::int64_t>(rank);
  if (axis < -extent || axis >= extent) {
    refuse("axis-out-of-range", fmt::format("axis {} does not exist in a tensor of {} dimensions", axis, rank),
           rank == 0 ? "give it a tensor of one dimension or more"
                     : fmt::format("give an axis from -{} to {}", rank, rank - 1));
  }
  return axis < 0 ? axis + extent : axis;
}

bool NodeImport::wants(int slot) const {
  return slot < node_.output_size() && !node_.output(slot).empty() && state_.used_names.contains(node_.output(slot));
}

std::optional<std::vector<std::optional<Tensor>>> NodeImport::fold(const std::string& kind,
                                                                   const Attributes& attributes,
                                                                   const std::vector<ValueRef>& operands,
                                                                   const std::string& name,
                                                                   const std::vector<bool>& wanted) {
  Operator op;
  op.kind = kind;
  op.name = name;
  op.attributes = attributes;
  for (const bool is_wanted : wanted) {
    op.outputs.push_back(is_wanted ? std::optional<TensorId>(TensorId(op.outputs.size())) : std::nullopt);
  }
  std::vector<std::optional<StageTensor>> inputs;
  std::vector<Tensor> values;
  std::int64_t operand_bytes = 0;
  for (const ValueRef& operand : operands) {
    op.inputs.push_back(operand ? std::optional<TensorId>(TensorId(values.size())) : std::nullopt);
    inputs.emplace_back();
    if (!operand) continue;
    StageTensor tensor;
    tensor.name = operand->name;
    tensor.type = operand->type;
    tensor.shape = operand->shape;
    inputs.back() = std::move(tensor);
    values.push_back(*operand->constant);
    operand_bytes += static_cast<std::int64_t>(operand->constant->bytes().size());
  }
  if (values.empty()) return std::nullopt;
  const auto definition = define_operator(op, inputs, location(), state_.diagnostics);
  if (!definition) throw Refused{};
  std::int64_t result_bytes = 0;
  for (std::size_t slot = 0; slot < wanted.size(); ++slot) {
    if (!wanted[slot]) continue;
    const StageTensor& output = result_tensor(*definition, slot);
    const auto bytes = bytes_of(output.type, output.shape);
    if (!bytes) refuse_too_large("its result", output.shape);
    result_bytes += *bytes;
  }
  const StageTensor& first = result_tensor(*definition, 0);
  if (definition->is_view && first.type == values[0].type())
    return std::vector{std::optional(values[0].reshaped(first.shape))};
  const auto points = points_of(definition->list);
  if (result_bytes > std::max(max_folded_bytes, operand_bytes) || result_bytes > state_.generated_bytes_left ||
      !points || *points > std::min(max_folded_points, state_.folding_points_left)) {
    return std::nullopt;
  }
  if (divides_by_zero(kind, operands))
    refuse("division-by-zero", "divides whole numbers by zero", "give a divisor without zeros");
  state_.folding_points_left -= *points;
  state_.generated_bytes_left -= result_bytes;
  IdVector<StageTensorId, Tensor> computed = evaluate(definition->list, values);
  std::vector<std::optional<Tensor>> results(wanted.size());
  for (std::size_t slot = 0; slot < wanted.size(); ++slot) {
    if (wanted[slot]) results[slot] = std::move(computed[*definition->results[slot]]);
  }
  return results;
}

ValueRef NodeImport::append(const std::string& kind, Attributes attributes, const std::vector<ValueRef>& operands,
                            const std::string& name, const std::string& output_name) {
  return append(kind, std::move(attributes), operands, name, std::vector{std::optional(output_name)}).front();
}

std::vector<ValueRef> NodeImport::append(const std::string& kind, Attributes attributes,
                                         const std::vector<ValueRef>& operands, const std::string& name,
                                         const std::vector<std::optional<std::string>>& output_names) {
  if (find_operator_row(kind) == nullptr) {
    refuse("unsupported-operator", fmt::format("needs the operator {}, which Stowage does not have", kind));
  }
  std::vector<std::shared_ptr<Value>> values;
  std::vector<bool> wanted;
  for (const auto& output_name : output_names) {
    wanted.push_back(output_name.has_value());
    values.push_back(output_name ? std::make_shared<Value>() : nullptr);
    if (output_name) values.back()->name = *output_name;
  }
  const bool all_known = std::all_of(operands.begin(), operands.end(),
                                     [](const ValueRef& operand) { return !operand || operand->constant; });
  if (all_known) {
    if (auto folded = fold(kind, attributes, operands, name, wanted)) {
      for (std::size_t slot = 0; slot < values.size(); ++slot) {
        if (!values[slot]) continue;
        values[slot]->type = (*folded)[slot]->type();
        values[slot]->shape = (*folded)[slot]->shape();
        values[slot]->constant = std::move((*folded)[slot]);
      }
      return {values.begin(), values.end()};
    }
  }
  std::vector<std::optional<TensorId>> ids;
  for (const ValueRef& operand : operands) {
    ids.push_back(operand ? std::optional<TensorId>(state_.id_of(*operand)) : std::nullopt);
  }
  // Names of network outputs are kept for them: an operator of the same name steps aside.
  const bool is_output = std::find(output_names.begin(), output_names.end(), name) != output_names.end();
  std::string op_name = state_.reserved_names.contains(name) && !is_output ? name + "/operator" : name;
  // Counted here: searching for a free number anew for each of many nodes of one name would take for ever.
  if (const int times = ++state_.times_named[op_name]; times > 1) op_name += fmt::format("_{}", times);
  const auto added = append_operator(state_.builder, kind, op_name, std::move(attributes), std::move(ids), output_names,
                                     {name_}, location(), state_.diagnostics);
  if (!added) throw Refused{};
  for (std::size_t slot = 0; slot < values.size(); ++slot) {
    if (!values[slot]) continue;
    const TensorId id = state_.builder.op(*added).outputs[slot].value();
    const GraphTensor& tensor = state_.builder.tensor(id);
    if (!bytes_of(tensor.type, tensor.shape)) refuse_too_large("its result", tensor.shape);
    values[slot]->type = tensor.type;
    values[slot]->shape = tensor.shape;
    values[slot]->id = id;
  }
  return {values.begin(), values.end()};
}

void NodeImport::emit_outputs(const std::string& kind, Attributes attributes, const std::vector<ValueRef>& operands) {
  std::vector<std::optional<std::string>> names;
  for (int slot = 0; slot < node_.output_size(); ++slot) {
    names.push_back(slot == 0 || wants(slot) ? std::optional(node_.output(slot)) : std::nullopt);
  }
  while (!names.back()) names.pop_back();
  if (names.front()->empty()) names.front() = fmt::format("{}/0", name_);
  const std::vector<ValueRef> values = append(kind, std::move(attributes), operands, name_, names);
  for (std::size_t slot = 0; slot < values.size(); ++slot) {
    if (values[slot]) set_output(static_cast<int>(slot), values[slot]);
  }
}

ValueRef NodeImport::emit(int slot, const std::string& kind, Attributes attributes,
                          const std::vector<ValueRef>& operands) {
  const bool named = slot < node_.output_size() && !node_.output(slot).empty();
  const std::string output = named ? node_.output(slot) : fmt::format("{}/{}", name_, slot);
  const std::string name = slot == 0 ? name_ : fmt::format("{}/{}", name_, slot);
  ValueRef value = append(kind, std::move(attributes), operands, name, output);
  if (named) scope_.values[output] = value;
  return value;
}

ValueRef NodeImport::part(std::string_view part, const std::string& kind, Attributes attributes,
                          const std::vector<ValueRef>& operands) {
  const std::string name = fmt::format("{}/{}", name_, part);
  return append(kind, std::move(attributes), operands, name, name);
}

ValueRef NodeImport::constant(std::string_view part, Tensor value) {
  auto result = std::make_shared<Value>();
  result->name = fmt::format("{}/{}", name_, part);
  result->type = value.type();
  result->shape = value.shape();
  result->constant = std::move(value);
  return result;
}

void NodeImport::set_output(int slot, ValueRef value) {
  if (slot < node_.output_size() && !node_.output(slot).empty()) scope_.values[node_.output(slot)] = std::move(value);
}

void NodeImport::set_constant(int slot, Tensor value) {
  ValueRef result = constant(std::to_string(slot), std::move(value));
  if (slot < node_.output_size() && !node_.output(slot).empty()) result->name = node_.output(slot);
  set_output(slot, std::move(result));
}

void NodeImport::reserve(ElementType type, const Shape& shape) {
  const auto bytes = bytes_of(type, shape);
  if (!bytes || *bytes > state_.generated_bytes_left) {
    refuse("tensor-too-large",
           fmt::format("its result {} is larger than all that Stowage makes of one file on import", to_text(shape)),
           "store it in the file as a weight, or make it an input of the network");
  }
  state_.generated_bytes_left -= *bytes;
}

}  // namespace stowage::onnx_import
