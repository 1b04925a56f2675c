// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/emit_management.h"

#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "emitter/athread/c_expr.h"

namespace stowage {
namespace {

/// One stage being written as loops.
class StageWriter {
 public:
  StageWriter(CWriter& out, CWriter& tables, const StageList& list, const Stage& stage, const ManagedLayer& layer,
              IdentifierPool& functions_names)
      : out_(out), tables_(tables), list_(list), stage_(stage), layer_(layer), function_names_(functions_names) {
    IdentifierPool local = function_names_;
    for (const Axis& axis : stage.axes) axes_.push_back(local.take(c_name(axis.name)));
  }

  void write() {
    for (const Axis& axis : stage_.axes) {
      if (axis.extent == 0 && &axis < stage_.axes.data() + stage_.spatial) return;
    }
    const std::size_t spatial = stage_.spatial;
    const bool scoped = open_loops(0, spatial) == 0;  // temporaries of stages must not meet
    if (scoped) out_.open("{");
    const std::string to = element(stage_.output, output_index());
    if (stage_.reduction == Reduction::none && !stage_.finish) {
      out_.line(fmt::format("{} = {};", to, value(stage_.body, "")));
    } else {
      write_reduced(to);
    }
    if (scoped) out_.close();
    close_loops(0, spatial);
  }

 private:
  [[nodiscard]] ElementType type() const { return list_.tensors[stage_.output].type; }

  void write_reduced(const std::string& to) {
    const std::size_t spatial = stage_.spatial;
    const double identity = stage_.reduction == Reduction::none ? 0 : identity_of(stage_.reduction, type());
    out_.line(fmt::format("{} acc_ = {};", c_name_of(type()), c_constant(type(), identity)));
    const bool scoped = open_loops(spatial, axes_.size()) == 0;
    if (scoped) out_.open("{");
    const std::string body = value(stage_.body, "acc_");
    const auto combined = [&](BinaryOp op) { return c_binary(op, type(), "acc_", body); };
    switch (stage_.reduction) {
      case Reduction::sum: out_.line(fmt::format("acc_ = {};", combined(BinaryOp::add))); break;
      case Reduction::product: out_.line(fmt::format("acc_ = {};", combined(BinaryOp::multiply))); break;
      case Reduction::maximum: out_.line(fmt::format("acc_ = {};", combined(BinaryOp::maximum))); break;
      case Reduction::minimum: out_.line(fmt::format("acc_ = {};", combined(BinaryOp::minimum))); break;
      case Reduction::none: out_.line(fmt::format("acc_ = {};", body)); break;
    }
    if (scoped) out_.close();
    close_loops(spatial, axes_.size());
    out_.line(fmt::format("{} = {};", to, stage_.finish ? value(stage_.finish, "acc_") : "acc_"));
  }

  /// How many there are: an axis of one point has none.
  std::size_t open_loops(std::size_t from, std::size_t to) {
    std::size_t opened = 0;
    for (std::size_t a = from; a < to; ++a) {
      if (stage_.axes[a].extent == 1) continue;
      out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", axes_[a], stage_.axes[a].extent));
      ++opened;
    }
    return opened;
  }

  void close_loops(std::size_t from, std::size_t to) {
    for (std::size_t a = from; a < to; ++a) {
      if (stage_.axes[a].extent != 1) out_.close();
    }
  }

  [[nodiscard]] IndexExpr at_point(const IndexExpr& e) const {
    return substitute(
        e, [&](VarId axis) { return stage_.axes[axis.index()].extent == 1 ? IndexExpr(0) : IndexExpr(axis); });
  }

  [[nodiscard]] std::vector<IndexExpr> output_index() const {
    std::vector<IndexExpr> index;
    for (const VarId axis : stage_.spatial_axes()) index.emplace_back(axis);
    return index;
  }

  IndexNames names() {
    IndexNames names;
    names.variable = [this](VarId axis) { return axes_.at(axis.index()); };
    names.range = [this](VarId axis) { return Interval{0, stage_.axes.at(axis.index()).extent - 1}; };
    names.read_value = [this](ReadId number) { return read(number); };
    names.table = [this](const std::shared_ptr<const IndexTable>& table) { return table_name(*table); };
    return names;
  }

  std::string table_name(const IndexTable& table) {
    for (const auto& [known, name] : known_) {
      if (known == &table) return name;
    }
    std::string name = function_names_.take_of_model(table.name);
    tables_.line(fmt::format("static const int {}[] = {{{}}};", name, fmt::join(table.values, ", ")));
    known_.emplace_back(&table, name);
    return name;
  }

  std::string element(StageTensorId tensor, const std::vector<IndexExpr>& index) {
    const StageTensor& of = list_.tensors[tensor];
    const std::vector<std::int64_t> strides = of.memory_strides();
    IndexExpr flat;
    std::int64_t reach = 1;
    for (std::size_t d = 0; d < index.size(); ++d) {
      flat += at_point(index[d]) * strides[d];
      reach += strides[d] * of.shape[d];
    }
    const bool wide = reach > std::numeric_limits<int>::max();
    return fmt::format("{}[{}]", layer_.tensors[tensor], c_index(flat, names(), wide));
  }

  std::string read(ReadId number) {
    const Access& access = stage_.reads.at(number);
    std::string text = element(access.tensor, access.index);
    if (!access.padding) return text;
    const StageTensor& tensor = list_.tensors[access.tensor];
    std::vector<std::string> inside;
    for (std::size_t d = 0; d < access.index.size(); ++d) {
      const IndexExpr e = at_point(access.index[d]);
      const Interval range = bounds(e, names().range);
      const std::string index = c_index(e, names());
      if (range.low < 0) inside.push_back(fmt::format("{} >= 0", index));
      if (range.high >= tensor.shape[d]) inside.push_back(fmt::format("{} < {}", index, tensor.shape[d]));
    }
    if (inside.empty()) return text;
    return fmt::format("({} ? {} : {})", fmt::join(inside, " && "), text, c_constant(tensor.type, *access.padding));
  }

  std::string value(const ScalarExpr& e, const std::string& accumulator) {
    ScalarNames with;
    with.read = [this](ReadId number) { return read(number); };
    with.accumulator = accumulator;
    with.index = [this](const IndexExpr& index) { return c_index(at_point(index), names()); };
    with.temporary = [&](ElementType type, const std::string& text) {
      std::string name = fmt::format("t{}_", temporaries_++);
      out_.line(fmt::format("const {} {} = {};", c_name_of(type), name, text));
      return name;
    };
    return c_scalar(e, with);
  }

  CWriter& out_;
  CWriter& tables_;
  const StageList& list_;
  const Stage& stage_;
  const ManagedLayer& layer_;
  IdentifierPool& function_names_;
  std::vector<std::string> axes_;
  std::vector<std::pair<const IndexTable*, std::string>> known_;
  int temporaries_ = 0;
};

}  // namespace

ManagedLayer managed_layer(StepId step, std::string function, const StepPlan& plan) {
  ManagedLayer layer;
  layer.step = step;
  layer.function = std::move(function);
  layer.parameters = plan.memory_tensors();
  for (const StageTensor& tensor : plan.stages().tensors)
    layer.tensors.push_back(layer.names.take_of_model(tensor.name));
  return layer;
}

std::string prototype_of(const ManagedLayer& layer, const StepPlan& plan) {
  std::vector<std::string> arguments;
  for (const StageTensorId t : layer.parameters)
    arguments.push_back(fmt::format("{} *{}", c_name_of(plan.stages().tensors[t].type), layer.tensors[t]));
  return fmt::format("void {}({})", layer.function, fmt::join(arguments, ", "));
}

void write_managed_layer(CWriter& out, const ManagedLayer& layer, const ManagementPlan& plan) {
  const StageList& list = plan.stages();
  CWriter storage;  // tables, and what one stage leaves to the next
  CWriter loops;
  IdentifierPool names = layer.names;
  for (const StageTensorId t : list.tensors.ids()) {
    const StageTensor& tensor = list.tensors[t];
    if (tensor.role != TensorRole::intermediate) continue;
    storage.line(fmt::format("static {} {}[{}];", c_name_of(tensor.type), layer.tensors[t],
                             std::max<std::int64_t>(1, element_count(tensor.shape))));
  }
  for (const Stage& stage : list.stages) {
    loops.comment(stage.name);
    StageWriter(loops, storage, list, stage, layer, names).write();
  }
  out.comment(fmt::format("No plan of the LDM holds it: {}", plan.refused().reason));
  out.open(prototype_of(layer, plan) + " {");
  out.append(storage);
  out.append(loops);
  out.line(fmt::format("LAYER_DONE({});", layer.function));
  out.close();
}

}  // namespace stowage
