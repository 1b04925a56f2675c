// SPDX-License-Identifier: Apache-2.0
#include "emitter/pictures/graph_picture.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "core/operators.h"
#include "core/quoting.h"
#include "core/template_names.h"
#include "emitter/pictures/dot_graph.h"
#include "fusion/facts/views.h"

namespace stowage {

namespace {

/// Names in labels; tooltips have them whole.
constexpr std::size_t longest_name = 28;
/// Edges of larger graphs carry bytes only, the tensor's name being the tooltip: the picture stays half as wide.
constexpr std::size_t max_operators_with_tensor_names = 60;

std::string group_id(StepId step) { return fmt::format("group{}", step.index()); }
std::string operator_id(OpId op) { return fmt::format("op{}", op.index()); }
std::string tensor_id(TensorId tensor) { return fmt::format("tensor{}", tensor.index()); }

/// Fills by what an operator is to fusion.
std::string fill_of(FusionKind kind, bool is_view) {
  if (is_view) return "#DDDDDD";
  switch (kind) {
    case FusionKind::anchor: return "#77AADD";
    case FusionKind::element_wise: return "#EEDD88";
    case FusionKind::broadcast: return "#FFAABB";
    case FusionKind::injective: return "#BBCC33";
    case FusionKind::reduction: return "#EE8866";
    case FusionKind::opaque: return "#AAAA00";
  }
  return "#DDDDDD";
}

std::string kind_meaning(FusionKind kind) {
  switch (kind) {
    case FusionKind::anchor: return "sum of products or window";
    case FusionKind::element_wise: return "element-wise";
    case FusionKind::broadcast: return "element-wise with broadcast";
    case FusionKind::injective: return "re-indexing copy";
    case FusionKind::reduction: return "reduction";
    case FusionKind::opaque: return "data-dependent index";
  }
  return "";
}

std::string tensor_tooltip(const GraphTensor& tensor) {
  return fmt::format("{} {} {}", tensor.name, shape_label(tensor), bytes_text(tensor_bytes(tensor)));
}

/// Inputs of the network that somebody reads, and outputs.
void add_ends(DotGraph& dot, const Graph& graph) {
  for (const TensorId id : graph.inputs()) {
    const GraphTensor& tensor = graph.tensor(id);
    dot.node(tensor_id(id), {{"shape", "ellipse"},
                             {"label", dot_label({shortened(tensor.name, longest_name), shape_label(tensor)})},
                             {"tooltip", "input " + tensor_tooltip(tensor)}});
  }
  for (const TensorId id : graph.outputs()) {
    const GraphTensor& tensor = graph.tensor(id);
    dot.node("output_" + tensor_id(id),
             {{"shape", "ellipse"},
              {"label", dot_label({"output", shortened(tensor.name, longest_name), shape_label(tensor)})},
              {"tooltip", "output " + tensor_tooltip(tensor)}});
  }
}

std::string operator_tooltip(const Graph& graph, const Operator& op) {
  std::string text = fmt::format("{} {}", op.kind, op.name);
  for (const TensorId output : outputs_of(op)) text += "\noutput " + tensor_tooltip(graph.tensor(output));
  for (const auto& input : op.inputs) {
    if (input)
      text += fmt::format("\n{} {}", graph.tensor(*input).constant ? "parameter" : "input",
                          tensor_tooltip(graph.tensor(*input)));
  }
  return text;
}

DotAttributes edge_attributes(const GraphTensor& tensor, bool with_name) {
  const std::string bytes = bytes_text(tensor_bytes(tensor));
  std::vector<std::string> lines = {bytes};
  if (with_name) lines.insert(lines.begin(), shortened(tensor.name, longest_name));
  return {{"label", dot_edge_label(lines)},
          {"edgetooltip", tensor_tooltip(tensor)},
          {"labeltooltip", tensor_tooltip(tensor)},
          {"penwidth", edge_width(tensor_bytes(tensor))}};
}

/// Edges from producers and inputs to operators and outputs. A tensor has one edge to each operator that reads it,
/// however often it does, and one for all that read it at the same port. `from_id` and `to_id` name the node (and port)
/// at which an operator's edges begin and end; edges between two operators of one node are left out.
template <class FromId, class ToId>
void add_edges(DotGraph& dot, const Graph& graph, bool with_name, const FromId& from_id, const ToId& to_id) {
  const auto source_of = [&](TensorId id) -> std::string {
    const GraphTensor& tensor = graph.tensor(id);
    if (tensor.producer) return from_id(*tensor.producer);
    return tensor.is_input ? tensor_id(id) : "";
  };
  const auto bundle_of = [](TensorId id) { return static_cast<int>(id.index()); };
  const auto node_of = [](const std::string& id) { return id.substr(0, id.find(':')); };
  std::set<std::pair<TensorId, std::string>> drawn;
  for (std::size_t i = 0; i < graph.operators().size(); ++i) {
    for (const auto& input : graph.operators()[i].inputs) {
      if (!input) continue;
      const std::string from = source_of(*input);
      const std::string to = to_id(OpId(i));
      if (from.empty() || node_of(from) == node_of(to) || !drawn.emplace(*input, to).second) continue;
      dot.edge(from, to, bundle_of(*input), edge_attributes(graph.tensor(*input), with_name));
    }
  }
  for (const TensorId id : graph.outputs()) {
    const std::string from = source_of(id);
    if (from.empty()) continue;
    dot.edge(from, "output_" + tensor_id(id), bundle_of(id), edge_attributes(graph.tensor(id), with_name));
  }
}

/// Bytes of a program's DMA and cycles of its kernels.
struct Cost {
  std::int64_t bytes = 0;
  std::int64_t cycles = 0;
};

Cost cost_of(const ProgramStep& step) {
  Cost cost;
  const StepPlan* const planned = step.step_plan();
  if (planned == nullptr) return cost;
  cost.bytes = planned->traffic().bytes;
  cost.cycles = planned->cycles();
  return cost;
}

/// Lines that say what a fused operator costs.
std::vector<std::string> cost_lines(const ProgramStep& step, std::int64_t all_cycles, const Target& target) {
  if (step.step_plan() == nullptr) return {"a view: no kernel"};  // which alone has nothing that runs
  const Cost cost = cost_of(step);
  const double share = all_cycles > 0 ? 100.0 * static_cast<double>(cost.cycles) / static_cast<double>(all_cycles) : 0;
  const std::string where =
      step.kind().is_kernel ? fmt::format("DMA {}", bytes_text(cost.bytes)) : std::string(step.kind().by);
  return {fmt::format("{} ({:.1f} %)", seconds_text(static_cast<double>(cost.cycles) / target.clock_hz), share), where};
}

/// Operators of the group that one of them reads, where that is not just the one above it; "" else.
std::string reads_inside(const Graph& graph, const FusedOperator& group, std::size_t member) {
  if (group.roles[member] == "branch") return "branch";
  std::vector<std::string> names;
  bool only_above = true;
  for (std::size_t earlier = 0; earlier < member; ++earlier) {
    const std::vector<OpId> consumers = readers_of(graph, group.operators[earlier]);
    if (std::find(consumers.begin(), consumers.end(), group.operators[member]) == consumers.end()) continue;
    names.push_back(shortened(graph.op(group.operators[earlier]).name, longest_name));
    only_above = only_above && earlier + 1 == member;
  }
  if (member == 0 || (only_above && names.size() == 1)) return "";
  return names.empty() ? "reads none of these" : fmt::format("reads {}", fmt::join(names, ", "));
}

/// A fused operator is one node: a box in its template's colour, with a white cell for each operator inside, at which
/// the edges end.
void add_group(DotGraph& dot, const Program& program, StepId number, std::int64_t all_cycles) {
  const Graph& graph = program.fused.graph;
  const ProgramStep& step = program.steps[number];
  const FusedOperator& group = step.group;
  const TemplateLook look = look_of_template(group.template_name);
  std::string tooltip = fmt::format("step {}: {} (template {})", number.index(), group.name, group.template_name);
  std::string rows = fmt::format("<tr><td><font point-size=\"11\">&#160;{}&#160;</font></td></tr>",
                                 label_text(shortened(group.name, longest_name)));
  for (const std::string& text : cost_lines(step, all_cycles, program.target))
    rows += fmt::format("<tr><td>&#160;{}&#160;</td></tr>", text);
  for (std::size_t i = 0; i < group.operators.size(); ++i) {
    const Operator& op = graph.op(group.operators[i]);
    tooltip += fmt::format("\n{} {}", op.kind, op.name);
    std::string cell = fmt::format("<b>{}</b>", label_text(op.kind));
    if (op.name != group.name) cell += fmt::format("&#160;{}", label_text(shortened(op.name, longest_name)));
    if (const std::string reads = reads_inside(graph, group, i); !reads.empty()) {
      cell += fmt::format("<br/>{}", label_text(reads));
    }
    rows += fmt::format(R"(<tr><td port="op{}" border="1" bgcolor="white" cellpadding="3">&#160;{}&#160;</td></tr>)",
                        group.operators[i].index(), cell);
  }
  dot.node(
      group_id(number),
      {{"shape", "plain"},
       {"style", ""},
       {"label",
        DotMarkup{fmt::format(
            R"(<table border="1" style="{}" bgcolor="{}" cellborder="0" cellspacing="2" cellpadding="0">{}</table>)",
            style_of(look.border), look.fill, rows)}},
       {"tooltip", tooltip}});
}

}  // namespace

DotGraph graph_picture(const Graph& graph) {
  const bool with_name = graph.operators().size() <= max_operators_with_tensor_names;
  DotGraph dot(graph.name(),
               {fmt::format("{}: computation graph, {}", graph.name(), counted(graph.operators().size(), "operator"))});
  std::set<FusionKind> kinds;
  bool views = false;
  add_ends(dot, graph);
  for (std::size_t i = 0; i < graph.operators().size(); ++i) {
    const Operator& op = graph.operators()[i];
    const OperatorDefinition definition = define_operator(graph, OpId(i));
    const FusionKind kind = fusion_kind(definition.list);
    const bool in_place = is_in_place(graph, OpId(i));
    if (in_place) {
      views = true;
    } else {
      kinds.insert(kind);
    }
    std::vector<std::string> lines = {op.kind, shortened(op.name, longest_name),
                                      shape_label(graph.tensor(op.first_output()))};
    std::int64_t parameters = 0;
    for (const auto& input : op.inputs) {
      if (input && graph.tensor(*input).constant) parameters += tensor_bytes(graph.tensor(*input));
    }
    if (parameters > 0) lines.push_back("parameters " + bytes_text(parameters));
    dot.node(operator_id(OpId(i)), {{"label", dot_label(lines)},
                                    {"fillcolor", fill_of(kind, in_place)},
                                    {"tooltip", operator_tooltip(graph, op)}});
  }
  add_edges(dot, graph, with_name, operator_id, operator_id);
  const auto legend = [&](const std::string& fill, const std::string& meaning) {
    dot.legend({TemplateLook::Border::solid, fill}, meaning);
  };
  for (const FusionKind kind : kinds) legend(fill_of(kind, false), kind_meaning(kind));
  if (views) legend(fill_of(FusionKind::injective, true), "view: same memory, nothing to do");
  return dot;
}

DotGraph fused_picture(const Program& program) {
  const Graph& graph = program.fused.graph;
  const bool with_name = graph.operators().size() <= max_operators_with_tensor_names;
  std::int64_t all_cycles = 0;
  for (const ProgramStep& step : program.steps) all_cycles += cost_of(step).cycles;
  DotGraph dot(
      graph.name(),
      {fmt::format("{}: {} in {}, fusion {}, on {}", graph.name(), counted(graph.operators().size(), "operator"),
                   counted(program.steps.size(), "fused operator"), program.fusion, program.target.name)});
  add_ends(dot, graph);
  IdVector<OpId, StepId> step_of(graph.operators().size());
  std::vector<std::string> templates;  // in the order in which they appear
  for (const StepId i : program.steps.ids()) {
    const FusedOperator& group = program.steps[i].group;
    for (const OpId op : group.operators) step_of[op] = i;
    add_group(dot, program, i, all_cycles);
    if (std::find(templates.begin(), templates.end(), group.template_name) == templates.end()) {
      templates.push_back(group.template_name);
    }
  }
  // At the top of the box for its first operator and for branches, which share what they read, out at the bottom;
  // operators between have their cells' sides.
  const auto from_id = [&](OpId op) { return group_id(step_of[op]) + ":s"; };
  const auto to_id = [&](OpId op) {
    const FusedOperator& group = program.steps[step_of[op]].group;
    const auto member = static_cast<std::size_t>(std::find(group.operators.begin(), group.operators.end(), op) -
                                                 group.operators.begin());
    const bool at_top = member == 0 || group.roles[member] == "branch";
    return fmt::format("{}:{}", group_id(step_of[op]), at_top ? "n" : operator_id(op));
  };
  add_edges(dot, graph, with_name, from_id, to_id);
  for (const std::string& name : templates) {
    dot.legend(look_of_template(name), name == single_template ? "alone"
                                       : name == view_template ? "view"
                                                               : "template " + name);
  }
  return dot;
}

}  // namespace stowage
