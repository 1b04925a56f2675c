// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/model_file.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/number_text.h"
#include "core/onnx/readable_name.h"
#include "core/quoting.h"

namespace stowage::onnx_import {
namespace {

namespace fs = std::filesystem;

/// Reports names that are not read, each once, by what they name: "output 0 of node 3 (Relu)", counted from 0 in the
/// file's order.
class NameCheck {
 public:
  NameCheck(const Model& model, Diagnostics& diagnostics) : model_(model), diagnostics_(diagnostics) {}

  /// Whether all were good.
  bool run() {
    graph(model_.proto.graph(), "");
    for (int f = 0; f < model_.proto.functions_size(); ++f) function(model_.proto.functions(f), f);
    if (wrong_.size() > max_told) {
      diagnostics_.error("invalid-name", model_.location(),
                         fmt::format("{} more names cannot be read", wrong_.size() - max_told), rename);
    }
    return wrong_.empty();
  }

 private:
  static constexpr std::size_t max_told = 10;
  static constexpr const char* rename = "rename it in the program that exported the model, and export it again";

  void graph(const onnx::GraphProto& graph, const std::string& inside) {
    name(graph.name(), "the graph" + inside);
    for (int i = 0; i < graph.input_size(); ++i) info(graph.input(i), fmt::format("input {}{}", i, inside));
    for (int o = 0; o < graph.output_size(); ++o) info(graph.output(o), fmt::format("output {}{}", o, inside));
    for (int t = 0; t < graph.initializer_size(); ++t) {
      name(graph.initializer(t).name(), fmt::format("weight {}{}", t, inside));
    }
    nodes(graph.node(), inside);
  }

  void function(const onnx::FunctionProto& function, int index) {
    const std::string object = fmt::format("function {}", index);
    name(function.name(), object);
    name(function.domain(), "the domain of " + object);
    for (int i = 0; i < function.input_size(); ++i) name(function.input(i), fmt::format("input {} of {}", i, object));
    for (int o = 0; o < function.output_size(); ++o)
      name(function.output(o), fmt::format("output {} of {}", o, object));
    nodes(function.node(), " of " + object);
  }

  void nodes(const Nodes& nodes, const std::string& inside) {
    for (int n = 0; n < nodes.size(); ++n) {
      const onnx::NodeProto& node = nodes[n];
      const std::string object = is_good(node.op_type()) ? fmt::format("node {} ({}){}", n, node.op_type(), inside)
                                                         : fmt::format("node {}{}", n, inside);
      name(node.name(), object);
      name(node.op_type(), "the operator of " + object);
      name(node.domain(), "the domain of " + object);
      for (int i = 0; i < node.input_size(); ++i) name(node.input(i), fmt::format("operand {} of {}", i, object));
      for (int o = 0; o < node.output_size(); ++o) name(node.output(o), fmt::format("output {} of {}", o, object));
      for (int a = 0; a < node.attribute_size(); ++a) {
        const auto& attribute = node.attribute(a);
        name(attribute.name(), fmt::format("attribute {} of {}", a, object));
        if (attribute.has_g()) graph(attribute.g(), " of " + object);
      }
    }
  }

  void info(const onnx::ValueInfoProto& value, const std::string& object) {
    name(value.name(), object);
    const auto& shape = value.type().tensor_type().shape();
    for (int d = 0; d < shape.dim_size(); ++d) {
      name(shape.dim(d).dim_param(), fmt::format("dimension {} of {}", d, object));
    }
  }

  [[nodiscard]] static bool is_good(const std::string& text) {
    return text.size() <= max_name_length && is_readable_name(text);
  }

  void name(const std::string& text, const std::string& object) {
    if (is_good(text) || !wrong_.insert(text).second || wrong_.size() > max_told) return;
    constexpr std::size_t max_shown = 60;
    std::string shown = shortened(terminal_text(text), max_shown);
    for (const auto& [from, to] : {std::pair("\n", "\\n"), std::pair("\t", "\\t")}) {
      for (std::size_t at = 0; (at = shown.find(from, at)) != std::string::npos; at += 2) shown.replace(at, 1, to);
    }
    const std::string why = text.size() > max_name_length ? fmt::format("is {} long, {} are the most that are read",
                                                                        counted(text.size(), "byte"), max_name_length)
                                                          : "is not readable text (UTF-8 without control characters)";
    diagnostics_.error("invalid-name", model_.location(object), fmt::format("its name '{}' {}", shown, why), rename);
  }

  const Model& model_;
  Diagnostics& diagnostics_;
  std::set<std::string> wrong_;
};

/// A file as protobuf reads it, piece by piece; it ends early when stopped.
class StoppableFile : public google::protobuf::io::CopyingInputStream {
 public:
  StoppableFile(const fs::path& path, const std::stop_token& stop) : stream_(path, std::ios::binary), stop_(stop) {}
  int Read(void* buffer, int size) override {
    if (stop_.stop_requested()) return -1;
    stream_.read(static_cast<char*>(buffer), size);
    return stream_.bad() ? -1 : static_cast<int>(stream_.gcount());
  }

 private:
  std::ifstream stream_;
  const std::stop_token& stop_;
};

/// Parses the file. On failure `proto` holds what came before the damage.
bool parse(const fs::path& path, onnx::ModelProto& proto, const std::stop_token& stop) {
  constexpr int piece = 1 << 20;  // bytes
  StoppableFile file(path, stop);
  google::protobuf::io::CopyingInputStreamAdaptor bytes(&file, piece);
  google::protobuf::io::CodedInputStream coded(&bytes);
  return proto.ParsePartialFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

bool read_file(Model& model, Diagnostics& diagnostics, const std::stop_token& stop) {
  const auto fail = [&](std::string code, std::string message, std::string remedy = {}) {
    diagnostics.error(std::move(code), model.location(), std::move(message), std::move(remedy));
    return false;
  };
  std::error_code error;
  const fs::file_status status = fs::status(model.path, error);
  if (error || !fs::exists(status)) return fail("no-such-file", "the file does not exist", "check the path");
  if (!fs::is_regular_file(status)) return fail("not-a-file", "this is not a file", "give the path of a .onnx file");
  const auto size = fs::file_size(model.path, error);
  if (error || !std::ifstream(model.path))
    return fail("file-unreadable", "the file cannot be read", "check its permissions");
  if (size == 0) return fail("empty-file", "the file is empty", "fetch or export the model again");
  constexpr std::uintmax_t largest = 0x7FFFFFFF;  // protobuf counts a message's bytes in a signed 32-bit integer
  if (size > largest) {
    return fail("file-too-large", fmt::format("the file has {} bytes; ONNX files end at 2 GiB", size),
                "store the weights as external data");
  }
  const bool parsed = parse(model.path, model.proto, stop);
  if (stop.stop_requested()) return false;  // what was read until then may even be a message
  if (parsed) return true;
  // An ONNX file starts with its version; bytes of another kind rarely yield a plausible one.
  const auto ir = model.proto.ir_version();
  if (ir >= 1 && ir <= 100 && (model.proto.has_graph() || !model.proto.producer_name().empty())) {
    return fail("truncated-model", fmt::format("the file is truncated or damaged ({})", counted(size, "byte")),
                "fetch or export the model again");
  }
  return fail("not-onnx", "this is not an ONNX file", "give a model that was exported as ONNX");
}

}  // namespace

bool is_onnx_domain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

Result<Model> load_model(const std::string& path, Diagnostics& diagnostics, const std::stop_token& stop) {
  Model model;
  model.path = path;
  model.folder = fs::path(path).parent_path().string();
  const auto fail = [&](std::string code, std::string message, std::string remedy = {}) -> Failed {
    diagnostics.error(std::move(code), model.location(), std::move(message), std::move(remedy));
    return {};
  };
  if (!read_file(model, diagnostics, stop)) return Failed{};
  const onnx::ModelProto& proto = model.proto;
  if (!proto.has_graph() || !proto.has_ir_version()) {
    return fail("not-onnx", "this is not an ONNX file: it holds no version or no graph",
                "give a model that was exported as ONNX");
  }
  if (proto.graph().node_size() > max_nodes) {
    return fail("model-too-large",
                fmt::format("the network has {} nodes; at most {} are read", proto.graph().node_size(), max_nodes),
                "compile it in parts");
  }
  if (!NameCheck(model, diagnostics).run()) return Failed{};
  std::int64_t opset = proto.opset_import_size() == 0 ? 1 : 0;  // files of IR version 1 and 2 name no opset
  const auto note_opset = [&](const auto& imports) {
    for (const auto& import : imports) {
      if (is_onnx_domain(import.domain())) opset = std::max(opset, import.version());
    }
  };
  note_opset(proto.opset_import());
  if (opset == 0) {  // only its functions may use ONNX's own operators
    for (const auto& function : proto.functions()) note_opset(function.opset_import());
  }
  if (opset == 0)
    return fail("no-opset", "the file does not say which version of ONNX's operators it uses",
                "export it again, with an opset_import of ONNX's own domain");
  if (opset < oldest_opset) {
    return fail("opset-too-old",
                fmt::format("the model uses opset {}; Stowage reads opsets from {} on", opset, oldest_opset),
                "convert it with onnx.version_converter, or export it again");
  }
  if (opset > 1000)
    return fail("invalid-opset", fmt::format("opset {} does not exist", opset),
                "export it again with an opset that there is");
  model.opset = static_cast<int>(opset);
  return model;
}

const Model::WrittenOut* Model::written_out_for(const onnx::NodeProto& node) const {
  for (const auto& output : node.output()) {
    if (const auto found = written_out.find(output); found != written_out.end()) return &found->second;
  }
  return nullptr;
}

int Model::opset_of(const onnx::NodeProto& node) const {
  if (other_opsets.empty() || node.output_size() == 0) return opset;
  const auto other = other_opsets.find(node.output(0));
  return other == other_opsets.end() ? opset : other->second;
}

std::vector<std::string> node_names(const Nodes& nodes, const std::string& prefix) {
  std::vector<std::string> names;
  std::map<std::string, int> count;
  for (const auto& node : nodes) {
    const int number = ++count[node.op_type()];
    names.push_back(prefix + (node.name().empty() ? fmt::format("{}_{}", node.op_type(), number) : node.name()));
  }
  return names;
}

std::string node_label(const std::string& name, const onnx::NodeProto& node) {
  return fmt::format("node {} ({})", name,
                     is_onnx_domain(node.domain()) ? node.op_type() : node.domain() + "::" + node.op_type());
}

}  // namespace stowage::onnx_import
