// SPDX-License-Identifier: Apache-2.0
// A graph as a picture shows it, as a value and in the language of Graphviz's dot; the look that all pictures share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/graph.h"
#include "emitter/pictures/template_palette.h"

namespace stowage {

/// A label in the HTML-like language of Graphviz. Made here only, from escaped names: a name is a string whatever it
/// starts with.
struct DotMarkup {
  std::string text;
};

/// Attributes in the order in which they are written.
using DotAttributes = std::vector<std::pair<std::string, std::variant<std::string, DotMarkup>>>;

struct DotNode {
  std::string id;  ///< letters, digits and _
  DotAttributes attributes;
};

struct DotEdge {
  std::string from;  ///< id of a node, and where it begins: "group3:s"
  std::string to;
  int bundle = 0;  ///< edges of one bundle from one node carry the same
  DotAttributes attributes;
};

class DotGraph {
 public:
  /// `name` is its identifier, the lines of `title` stand above the picture.
  DotGraph(std::string name, std::vector<std::string> title) : name_(std::move(name)), title_(std::move(title)) {}

  void node(std::string id, DotAttributes attributes);
  void edge(std::string from, std::string to, int bundle, DotAttributes attributes);
  /// A row of the legend: a filled cell, and what it means.
  void legend(const TemplateLook& look, const std::string& meaning);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<std::string>& title() const { return title_; }
  /// The legend, if there is one, is the last.
  [[nodiscard]] std::vector<DotNode> nodes() const;
  [[nodiscard]] const std::vector<DotEdge>& edges() const { return edges_; }

  /// The whole graph in the language of dot.
  [[nodiscard]] std::string text() const;

 private:
  std::string name_;
  std::vector<std::string> title_;
  std::vector<DotNode> nodes_;
  std::vector<DotEdge> edges_;
  std::string legend_rows_;
};

/// A name in a label: escaped, on one line, control characters to be seen.
std::string label_text(std::string_view name);
/// A label of lines; the first is bold.
DotMarkup dot_label(const std::vector<std::string>& lines);
/// A label that stands clear of its edge.
DotMarkup dot_edge_label(const std::vector<std::string>& lines);
/// "solid", "dashed" or "dotted".
std::string_view style_of(TemplateLook::Border border);
/// Width of an edge over which these bytes go: 1 to 3 points, by the logarithm.
std::string edge_width(std::int64_t bytes);

/// "f32 1×3×224×224".
std::string shape_label(const GraphTensor& tensor);
/// Bytes of a whole tensor.
std::int64_t tensor_bytes(const GraphTensor& tensor);

}  // namespace stowage
