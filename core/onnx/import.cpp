// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "core/number_text.h"
#include "core/onnx/cross_check.h"
#include "core/onnx/external_files.h"
#include "core/onnx/functions.h"
#include "core/onnx/import_rows.h"
#include "core/onnx/network_inputs.h"
#include "core/onnx/node_import.h"
#include "core/onnx/node_order.h"
#include "core/onnx/prune.h"
#include "core/onnx/readable_name.h"
#include "core/onnx/structure.h"
#include "core/onnx/tensor_proto.h"
#include "core/operators.h"
#include "core/out_of_memory.h"

namespace stowage {
namespace {

using namespace onnx_import;

/// The one place where exceptions of ONNX and protobuf end. Ours (InternalError) pass: they are faults of ours.
template <class T>
Result<T> guarded(const std::string& path, Diagnostics& diagnostics, const std::function<Result<T>()>& body) {
  SourceLocation location;
  location.file = path;
  try {
    return body();
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception& error) {
    if (!report_out_of_memory(error, location, diagnostics)) {
      diagnostics.error("invalid-onnx", std::move(location), fmt::format("the model cannot be read: {}", error.what()),
                        "export it anew; onnx.checker.check_model tells more");
    }
  }
  return Failed{};
}

/// The file's network as one list of nodes: functions written out, each value made before it is read.
Result<Model> read_network(const std::string& path, Diagnostics& diagnostics, const std::stop_token& stop = {},
                           std::set<std::string>* external = nullptr) {
  auto model = load_model(path, diagnostics, stop);
  if (!model) return Failed{};
  if (external != nullptr) *external = external_files(*model);  // also those of functions that nobody calls
  if (model->opset > newest_opset) {
    diagnostics.warning("newer-opset", model->location(),
                        fmt::format("the model uses opset {}, Stowage knows opsets up to {}: it is read as far as its "
                                    "operators look as they did then",
                                    model->opset, newest_opset));
  }
  Nodes& nodes = *model->proto.mutable_graph()->mutable_node();
  name_nodes(nodes);
  if (!expand_functions(*model, diagnostics)) return Failed{};
  sort_nodes(nodes);
  return model;
}

/// The first opset in which ONNX defines an operator by others, of those that Stowage does not have and that the ONNX
/// with which it is built does not write out itself.
std::optional<int> newer_function_since(const std::string& kind) {
  static const std::map<std::string, int> since = {
      {"AffineGrid", 20}, {"Attention", 23},      {"CenterCropPad", 18},      {"Elu", 18},
      {"Gelu", 20},       {"Mish", 18},           {"GroupNormalization", 18}, {"RMSNormalization", 23},
      {"Selu", 18},       {"Shrink", 18},         {"RotaryEmbedding", 23},    {"Softsign", 18},
      {"Swish", 24},      {"ThresholdedRelu", 18}};
  const auto found = since.find(kind);
  return found == since.end() ? std::nullopt : std::optional(found->second);
}

bool has_branches(const onnx::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const onnx::AttributeProto& attribute) { return attribute.has_g(); });
}

/// How to make a network of the same meaning without an operator that is missing. `row` tells what of it is.
std::string remedy_for(const Model& model, const CoverageRow& row, const onnx::NodeProto& node,
                       const std::set<std::string>& missing) {
  if (!is_onnx_domain(node.domain())) {
    return "bring its definition along as a function of the model, or export the network with ONNX's own operators";
  }
  if (has_branches(node)) return "export the network without control flow, for instance by tracing";
  const bool newer_functions = std::all_of(missing.begin(), missing.end(), [&](const std::string& kind) {
    const auto since = newer_function_since(kind);
    return since && *since <= model.opset;
  });
  if (!newer_functions) return "make it of other operators where the network is made, and export it again";
  std::vector<std::string> pairs;
  if (!missing.contains(row.operator_name)) pairs.push_back(fmt::format("(\"\", \"{}\")", row.operator_name));
  for (const std::string& kind : missing) pairs.push_back(fmt::format("(\"\", \"{}\")", kind));
  return fmt::format(
      "newer versions of ONNX define it by other operators, write these out: onnx.inliner.inline_selected_functions("
      "model, [{}], inline_schema_functions=True)",
      fmt::join(pairs, ", "));
}

/// Operators as the file names them: nodes that were written out count as the one that they stand for.
std::vector<CoverageRow> coverage_of(const Model& model) {
  const onnx::GraphProto& graph = model.proto.graph();
  const auto names = node_names(graph.node());
  struct Row {
    CoverageRow row;
    const onnx::NodeProto* first_missing = nullptr;
    std::set<std::string> missing;  ///< operators of ONNX's own that Stowage does not have
  };
  std::map<std::string, Row> rows;
  std::set<int> told;  // calls that were written out
  for (int n = 0; n < graph.node_size(); ++n) {
    const onnx::NodeProto& node = graph.node(n);
    const bool own = is_onnx_domain(node.domain());
    const std::string kind = own ? node.op_type() : node.domain() + "::" + node.op_type();
    const Model::WrittenOut* outer = model.written_out_for(node);
    const auto [at, is_new] = rows.try_emplace(outer != nullptr ? outer->kind : kind);
    auto& [row, first_missing, missing] = at->second;
    if (is_new) {
      row.operator_name = at->first;
      row.supported = true;
    }
    if (outer == nullptr) {
      row.nodes.push_back(names[static_cast<std::size_t>(n)]);
    } else if (told.insert(outer->call).second) {
      row.nodes.push_back(outer->node);
    }
    const std::string reason = own ? why_unsupported(kind, model.opset_of(node))
                                   : fmt::format("belongs to the domain {}, which is not ONNX's own", node.domain());
    if (reason.empty()) continue;
    missing.insert(kind);
    if (!row.supported) continue;
    row.supported = false;
    first_missing = &node;
    row.reason = outer != nullptr ? fmt::format("ONNX defines it by {}: {}", kind, reason) : reason;
  }
  std::vector<CoverageRow> sorted;
  for (auto& [kind, found] : rows) {
    auto& [row, first_missing, missing] = found;
    if (!row.supported) row.remedy = remedy_for(model, row, *first_missing, missing);
    sorted.push_back(std::move(row));
  }
  return sorted;
}

/// One diagnostic for each kind of operator that is missing, with all its nodes.
bool report_unsupported(const Model& model, Diagnostics& diagnostics) {
  bool good = true;
  for (const CoverageRow& row : coverage_of(model)) {
    if (row.supported) continue;
    good = false;
    Diagnostic diagnostic;
    diagnostic.code = row.operator_name.find("::") == std::string::npos ? "unsupported-operator" : "custom-domain";
    diagnostic.location = model.location(fmt::format("operator {}", row.operator_name));
    diagnostic.message = fmt::format("is not supported ({}): {}", counted(row.nodes.size(), "node"), row.reason);
    constexpr std::size_t max_named = 20;
    const auto named = std::span(row.nodes).first(std::min(max_named, row.nodes.size()));
    diagnostic.notes.push_back(
        fmt::format("used by {}{}", fmt::join(named, ", "),
                    row.nodes.size() > max_named ? fmt::format(" and {} more", row.nodes.size() - max_named) : ""));
    diagnostic.remedy = row.remedy;
    diagnostics.add(std::move(diagnostic));
  }
  return good;
}

/// Names that somebody reads, in branches too.
void collect_used_names(const onnx::GraphProto& graph, std::set<std::string>& used) {
  for (const auto& output : graph.output()) used.insert(output.name());
  for (const auto& node : graph.node()) {
    used.insert(node.input().begin(), node.input().end());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) collect_used_names(attribute.g(), used);
    }
  }
}

/// Marks the network's outputs. Each is made by an operator of its own: an output that is a constant, an input or the
/// alias of another tensor gets an Identity, so that it has its name and its own memory.
bool mark_outputs(ImportState& state, const Scope& scope) {
  for (const auto& output : state.model.proto.graph().output()) {
    const ValueRef value = scope.find(output.name());
    check(value != nullptr, "a network output was not imported");
    if (value->id && value->name == output.name() && state.builder.tensor(*value->id).producer) {
      state.builder.mark_output(*value->id);
      continue;
    }
    const auto copy =
        append_operator(state.builder, "Identity", output.name() + "/output", {}, {state.id_of(*value)}, output.name(),
                        {}, state.model.location(fmt::format("output {}", output.name())), state.diagnostics);
    if (!copy) return false;
    state.builder.mark_output(*copy);
  }
  return true;
}

/// All checks that need no shapes.
struct ModelCheck {
  bool good = true;
  bool is_readable = true;  ///< importing it makes sense, be it to find more that is wrong
};

ModelCheck check_model(const Model& model, Diagnostics& diagnostics) {
  const bool supported = report_unsupported(model, diagnostics);
  const bool computable = check_types(model, diagnostics);
  ModelCheck result;
  result.good = supported && computable;
  result.is_readable = check_structure(model, diagnostics) && (!result.good || check_with_onnx(model, diagnostics));
  return result;
}

/// The file's name stands for a network without one. One that is no text could not be written into plan files.
std::string network_name(const Model& model, Diagnostics& diagnostics) {
  if (!model.proto.graph().name().empty()) return model.proto.graph().name();
  std::string stem = std::filesystem::path(model.path).stem().string();
  if (is_readable_name(stem)) return stem;
  diagnostics.warning("unreadable-file-name", model.location(),
                      "the network has no name, and the file's is not readable text: it is called 'network'");
  return "network";
}

/// The import of a model that passed the checks. `inputs_to_bind` gets the inputs whose values decide shapes.
Result<Graph> import_model(Model& model, const ImportOptions& options, Diagnostics& diagnostics,
                           std::set<std::string>& inputs_to_bind, std::stop_token stop = {}) {
  const onnx::GraphProto& graph = model.proto.graph();
  ImportState state{model, options, diagnostics, GraphBuilder(network_name(model, diagnostics))};
  state.stop = std::move(stop);
  state.generated_bytes_left = options.max_generated_bytes;
  collect_used_names(graph, state.used_names);
  for (const auto& output : graph.output()) state.reserved_names.insert(output.name());
  Scope scope;
  const bool good_inputs = add_inputs_and_weights(state, scope);
  const bool good = import_nodes(state, scope, graph, {}, 0) && good_inputs;
  inputs_to_bind = state.inputs_to_bind;
  if (!good || !mark_outputs(state, scope)) return Failed{};
  compare_shapes(state, scope, diagnostics);
  return without_unused(std::move(state.builder).build());
}

}  // namespace

Result<Graph> import_onnx(const std::string& path, const ImportOptions& options, Diagnostics& diagnostics,
                          std::stop_token stop, std::set<std::string>* external_files) {
  return guarded<Graph>(path, diagnostics, [&]() -> Result<Graph> {
    auto model = read_network(path, diagnostics, stop, external_files);
    if (!model) return Failed{};
    const ModelCheck checked = check_model(*model, diagnostics);
    if (!checked.is_readable) return Failed{};
    std::set<std::string> inputs_to_bind;
    auto graph = import_model(*model, options, diagnostics, inputs_to_bind, std::move(stop));
    if (!checked.good) return Failed{};
    return graph;
  });
}

Result<std::vector<NetworkInput>> onnx_inputs(const std::string& path, Diagnostics& diagnostics) {
  return guarded<std::vector<NetworkInput>>(path, diagnostics, [&]() -> Result<std::vector<NetworkInput>> {
    const auto model = load_model(path, diagnostics);
    if (!model) return Failed{};
    return declared_inputs(*model, diagnostics);
  });
}

Result<std::vector<std::string>> onnx_inputs_to_bind(const std::string& path, const ImportOptions& options,
                                                     Diagnostics& diagnostics) {
  return guarded<std::vector<std::string>>(path, diagnostics, [&]() -> Result<std::vector<std::string>> {
    auto model = read_network(path, diagnostics);
    if (!model) return Failed{};
    const ModelCheck checked = check_model(*model, diagnostics);
    if (!checked.good || !checked.is_readable) return Failed{};
    std::set<std::string> inputs;
    Diagnostics ignored;  // that the inputs are missing is the answer here, not a mistake
    (void)import_model(*model, options, ignored, inputs);
    return std::vector<std::string>(inputs.begin(), inputs.end());
  });
}

Result<std::vector<CoverageRow>> onnx_coverage(const std::string& path, Diagnostics& diagnostics) {
  return guarded<std::vector<CoverageRow>>(path, diagnostics, [&]() -> Result<std::vector<CoverageRow>> {
    const auto model = read_network(path, diagnostics);
    if (!model) return Failed{};
    return coverage_of(*model);
  });
}

Result<Tensor> read_tensor_proto(const std::string& path, Diagnostics& diagnostics) {
  return guarded<Tensor>(path, diagnostics, [&]() -> Result<Tensor> {
    SourceLocation location;
    location.file = path;
    onnx::TensorProto proto;
    std::ifstream stream(path, std::ios::binary);
    if (!stream || !proto.ParseFromIstream(&stream)) {
      diagnostics.error("not-a-tensor", location, "this is not a file with an ONNX tensor",
                        "give a TensorProto in a .pb file");
      return Failed{};
    }
    return read_tensor(proto, std::filesystem::path(path).parent_path().string(), location, diagnostics);
  });
}

}  // namespace stowage
