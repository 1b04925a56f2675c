// SPDX-License-Identifier: Apache-2.0
#include "core/stage.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/factors.h"

namespace stowage {

std::vector<std::int64_t> StageTensor::memory_strides() const {
  return strides.empty() ? row_major_strides(shape) : strides;
}

bool reads(const Stage& stage, StageTensorId tensor) {
  return std::any_of(stage.reads.begin(), stage.reads.end(), [&](const Access& read) { return read.tensor == tensor; });
}

double identity_of(Reduction reduction, ElementType type) {
  const bool floating = is_float(type);
  const auto integer_limit = [&](bool lowest) {
    switch (type) {
      case ElementType::i8: return lowest ? -128.0 : 127.0;
      case ElementType::i16: return lowest ? -32768.0 : 32767.0;
      case ElementType::i32: return lowest ? -2147483648.0 : 2147483647.0;
      // The largest 64-bit integers are no doubles: what is one more is converted back to them.
      case ElementType::i64: return lowest ? -9223372036854775808.0 : 9223372036854775808.0;
      case ElementType::u8: return lowest ? 0.0 : 255.0;
      case ElementType::u16: return lowest ? 0.0 : 65535.0;
      case ElementType::u32: return lowest ? 0.0 : 4294967295.0;
      case ElementType::u64: return lowest ? 0.0 : 18446744073709551616.0;
      default: return lowest ? 0.0 : 1.0;
    }
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (reduction) {
    case Reduction::none:
    case Reduction::sum: return 0;
    case Reduction::product: return 1;
    case Reduction::maximum: return floating ? -infinity : integer_limit(true);
    case Reduction::minimum: return floating ? infinity : integer_limit(false);
  }
  fail_check("unknown reduction");
}

namespace {

std::int64_t points(const Stage& stage, std::size_t from, std::size_t to) {
  std::int64_t count = 1;
  for (std::size_t a = from; a < to; ++a) count *= stage.axes[a].extent;
  return count;
}

/// Every index is exactly the axis of the same dimension.
bool reads_at_own_index(const Stage& stage, const Access& access) {
  if (access.index.size() != stage.spatial) return false;
  for (std::size_t d = 0; d < access.index.size(); ++d) {
    if (!access.index[d].is_variable(VarId(d))) return false;
  }
  return true;
}

/// Indices are zero or distinct spatial axes in ascending order.
bool reads_broadcast(const Stage& stage, const Access& access) {
  std::size_t next = 0;
  for (const IndexExpr& index : access.index) {
    if (index.is_constant()) continue;
    bool found = false;
    while (next < stage.spatial && !found) found = index.is_variable(VarId(next++));
    if (!found) return false;
  }
  return true;
}

bool is_windowed(const Stage& stage) {
  for (const Access& access : stage.reads) {
    for (const IndexExpr& index : access.index) {
      if (variables_of(index).size() > 1) return true;
    }
  }
  return false;
}

FusionKind stage_kind(const StageList& list, const Stage& stage) {
  for (const Access& access : stage.reads) {
    for (const IndexExpr& index : access.index) {
      if (!tensor_values_of(index).empty()) return FusionKind::opaque;
    }
  }
  if (stage.reduction != Reduction::none) {
    return factors_of(stage) || is_windowed(stage) ? FusionKind::anchor : FusionKind::reduction;
  }
  FusionKind kind = FusionKind::element_wise;
  for (const Access& access : stage.reads) {
    if (reads_at_own_index(stage, access) && list.tensors[access.tensor].shape == list.tensors[stage.output].shape) {
      continue;
    }
    kind = std::max(kind, reads_broadcast(stage, access) ? FusionKind::broadcast : FusionKind::injective);
  }
  return kind;
}

}  // namespace

FusionKind fusion_kind(const StageList& list) {
  FusionKind kind = FusionKind::element_wise;
  bool has_reduction = false;
  bool has_anchor = false;
  for (const Stage& stage : list.stages) {
    const FusionKind of_stage = stage_kind(list, stage);
    if (of_stage == FusionKind::opaque) return FusionKind::opaque;
    has_reduction = has_reduction || of_stage == FusionKind::reduction;
    has_anchor = has_anchor || of_stage == FusionKind::anchor;
    kind = std::max(kind, of_stage);
  }
  if (has_anchor && !has_reduction) return FusionKind::anchor;
  if (has_reduction || has_anchor) return FusionKind::reduction;
  return kind;
}

std::string_view name_of(FusionKind kind) {
  switch (kind) {
    case FusionKind::element_wise: return "element_wise";
    case FusionKind::broadcast: return "broadcast";
    case FusionKind::injective: return "injective";
    case FusionKind::reduction: return "reduction";
    case FusionKind::anchor: return "anchor";
    case FusionKind::opaque: return "opaque";
  }
  fail_check("unknown fusion kind");
}

std::int64_t flops(const StageList& list) {
  std::int64_t total = 0;
  for (const Stage& stage : list.stages) {
    const std::int64_t per_point = operation_count(stage.body) + (stage.reduction == Reduction::none ? 0 : 1);
    total += per_point * points(stage, 0, stage.axes.size());
    if (stage.finish) total += operation_count(stage.finish) * points(stage, 0, stage.spatial);
  }
  return total;
}

std::int64_t multiply_adds(const StageList& list) {
  std::int64_t total = 0;
  for (const Stage& stage : list.stages) {
    if (factors_of(stage)) total += points(stage, 0, stage.axes.size());
  }
  return total;
}

namespace {

class StageVerifier {
 public:
  explicit StageVerifier(const StageList& list) : list_(list), written_(list.tensors.size(), false) {}

  std::optional<std::string> run() {
    for (const StageTensorId t : list_.tensors.ids()) {
      const TensorRole role = list_.tensors[t].role;
      written_[t] = role == TensorRole::input || role == TensorRole::constant;
    }
    for (const Stage& stage : list_.stages) {
      if (auto problem = check_stage(stage)) return fmt::format("stage {}: {}", stage.name, *problem);
      written_[stage.output] = true;
    }
    if (list_.stages.empty()) return "no stage";
    if (list_.tensors[list_.stages.back().output].role != TensorRole::output) {
      return "the last stage does not write an output";
    }
    return check_outputs();
  }

 private:
  /// A stage writes its output wholly, and no two of them write one tensor (check_stage).
  std::optional<std::string> check_outputs() const {
    for (const StageTensorId t : list_.tensors.ids()) {
      const StageTensor& tensor = list_.tensors[t];
      if (tensor.role != TensorRole::output) continue;
      if (!written_[t]) return fmt::format("no stage writes output {}", tensor.name);
      if (list_.stages.back().output == t) continue;
      const bool is_read = std::any_of(list_.stages.begin(), list_.stages.end(), [&](const Stage& stage) {
        return std::any_of(stage.reads.begin(), stage.reads.end(),
                           [&](const Access& read) { return read.tensor == t; });
      });
      if (!is_read) return fmt::format("output {} leads to no later stage", tensor.name);
    }
    return std::nullopt;
  }

  std::optional<std::string> check_stage(const Stage& stage) {
    if (!list_.tensors.contains(stage.output)) return "no such output";
    const StageTensor& output = list_.tensors[stage.output];
    if (written_[stage.output]) return fmt::format("{} is written twice", output.name);
    if (stage.spatial != output.shape.size()) return "spatial axes are not the output's dimensions";
    if (stage.spatial > stage.axes.size()) return "fewer axes than spatial ones";
    for (std::size_t d = 0; d < output.shape.size(); ++d) {
      if (stage.axes[d].extent != output.shape[d]) {
        return fmt::format("axis {} has extent {}, dimension {} of {} has {}", stage.axes[d].name, stage.axes[d].extent,
                           d, output.name, output.shape[d]);
      }
    }
    const bool has_reduction_axes = stage.axes.size() > stage.spatial;
    if (stage.reduction == Reduction::none && has_reduction_axes) return "reduction axes without a reduction";
    const bool empty = std::any_of(stage.axes.begin(), stage.axes.end(), [](const Axis& a) { return a.extent == 0; });
    for (const ReadId r : stage.reads.ids()) {
      if (auto problem = check_access(stage, stage.reads[r], empty))
        return fmt::format("read {}: {}", r.index(), *problem);
    }
    if (!stage.body) return "no body";
    if (auto problem = check_scalar(stage, stage.body, false)) return problem;
    if (stage.finish) {
      if (auto problem = check_scalar(stage, stage.finish, true)) return problem;
    }
    const ElementType result = stage.finish ? stage.finish->type : stage.body->type;
    if (result != output.type) {
      return fmt::format("computes {}, {} is {}", name_of(result), output.name, name_of(output.type));
    }
    return std::nullopt;
  }

  std::optional<std::string> check_access(const Stage& stage, const Access& access, bool empty) {
    if (!list_.tensors.contains(access.tensor)) return "no such tensor";
    const StageTensor& tensor = list_.tensors[access.tensor];
    if (!written_[access.tensor]) return fmt::format("{} is not computed yet", tensor.name);
    if (access.index.size() != tensor.shape.size()) {
      return fmt::format("{} indices for {} dimensions of {}", access.index.size(), tensor.shape.size(), tensor.name);
    }
    const auto range = [&](VarId axis) { return Interval{0, stage.axes.at(axis.index()).extent - 1}; };
    for (std::size_t d = 0; d < access.index.size(); ++d) {
      for (const VarId variable : variables_of(access.index[d])) {
        if (variable.index() >= stage.axes.size()) return "an index uses an unknown axis";
      }
      if (empty || access.padding) continue;
      const Interval reach = bounds(access.index[d], range);
      if (reach.low < 0 || reach.high >= tensor.shape[d]) {
        return fmt::format("dimension {} of {} is read at {}..{}, it has {}", d, tensor.name, reach.low, reach.high,
                           tensor.shape[d]);
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> check_scalar(const Stage& stage, const ScalarExpr& expression, bool finish) {
    std::optional<std::string> problem;
    visit_nodes(expression, [&](const ScalarNode& node) {
      if (const auto* read = std::get_if<ScalarNode::Read>(&node.value)) {
        if (!stage.reads.contains(read->read)) {
          problem = "no such read";
          return;
        }
        const Access& access = stage.reads[read->read];
        if (list_.tensors[access.tensor].type != node.type) problem = "read of another type";
        for (const IndexExpr& index : access.index) {
          if (finish && uses_reduction_axis(stage, index)) problem = "finish reads along a reduction axis";
        }
      }
      if (const auto* index = std::get_if<ScalarNode::Index>(&node.value)) {
        if (finish && uses_reduction_axis(stage, index->value)) problem = "finish uses a reduction axis";
      }
      if (!finish && std::holds_alternative<ScalarNode::Accumulator>(node.value)) problem = "body uses the accumulator";
    });
    return problem;
  }

  static bool uses_reduction_axis(const Stage& stage, const IndexExpr& index) {
    const auto used = variables_of(index);
    return std::any_of(used.begin(), used.end(), [&](VarId v) { return v.index() >= stage.spatial; });
  }

  const StageList& list_;
  IdVector<StageTensorId, bool> written_;
};

std::string_view reduction_text(Reduction reduction) {
  switch (reduction) {
    case Reduction::none: return "";
    case Reduction::sum: return "sum";
    case Reduction::product: return "product";
    case Reduction::maximum: return "max";
    case Reduction::minimum: return "min";
  }
  fail_check("unknown reduction");
}

}  // namespace

std::optional<std::string> verify(const StageList& list) { return StageVerifier(list).run(); }

std::string to_text(const StageList& list) {
  std::string text;
  for (const StageTensor& tensor : list.tensors) {
    static constexpr std::string_view roles[] = {"input", "constant", "intermediate", "output"};
    text += fmt::format("{} {} {}{}", roles[static_cast<std::size_t>(tensor.role)], tensor.name, name_of(tensor.type),
                        to_text(tensor.shape));
    if (!tensor.strides.empty()) text += fmt::format(" strides {}", to_text(tensor.strides));
    if (tensor.packing) text += " " + to_text(*tensor.packing);
    if (tensor.exchanged) text += " exchanged";
    text += "\n";
  }
  for (const Stage& stage : list.stages) {
    const auto axis_name = [&](VarId axis) { return stage.axes[axis.index()].name; };
    const auto index_text = [&](const IndexExpr& index) { return to_text(index, axis_name); };
    const auto read_text = [&](ReadId read) {
      const Access& access = stage.reads[read];
      std::vector<std::string> indices;
      std::string joined;
      for (const IndexExpr& index : access.index) joined += (joined.empty() ? "" : ", ") + index_text(index);
      const std::string padding = access.padding ? fmt::format(" else {}", *access.padding) : "";
      return fmt::format("{}[{}{}]", list.tensors[access.tensor].name, joined, padding);
    };
    std::string spatial;
    std::string reduced;
    for (std::size_t a = 0; a < stage.axes.size(); ++a) {
      std::string& part = a < stage.spatial ? spatial : reduced;
      part += fmt::format("{}{}<{}", part.empty() ? "" : ", ", stage.axes[a].name, stage.axes[a].extent);
    }
    text += fmt::format("{}: {}[{}] = ", stage.name, list.tensors[stage.output].name, spatial);
    const std::string body = to_text(stage.body, read_text, index_text);
    if (stage.reduction == Reduction::none) {
      text += body;
    } else {
      text += fmt::format("{}_{{{}}} {}", reduction_text(stage.reduction), reduced, body);
    }
    text += "\n";
    if (stage.finish) text += fmt::format("  finish {}\n", to_text(stage.finish, read_text, index_text));
  }
  return text;
}

}  // namespace stowage
