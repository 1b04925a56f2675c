// SPDX-License-Identifier: Apache-2.0
// What the pictures of graphs share: the look of nodes, edges, titles and legends in the language of dot.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph.h"
#include "emitter/template_palette.h"

namespace stowage {

/// Attributes in the order in which they are written. A value that starts with '<' is one of dot's HTML-like labels,
/// others are quoted.
using DotAttributes = std::vector<std::pair<std::string, std::string>>;

class DotWriter {
 public:
  /// Opens the graph: `name` is its identifier, `title` stands above the picture.
  DotWriter(const std::string& name, const std::string& title);
  void node(const std::string& id, const DotAttributes& attributes);
  void edge(const std::string& from, const std::string& to, const DotAttributes& attributes);
  /// A row of the legend: a filled cell, and what it means.
  void legend(const TemplateLook& look, const std::string& meaning);
  /// Text of the whole graph, with the legend.
  [[nodiscard]] std::string text() const;

 private:
  void line(const std::string& text);
  std::string text_;
  std::string legend_rows_;
};

/// An HTML-like label of lines; the first is bold.
std::string dot_label(const std::vector<std::string>& lines);
/// A label that stands clear of its edge.
std::string dot_edge_label(const std::vector<std::string>& lines);
/// "solid", "dashed" or "dotted".
std::string_view style_of(TemplateLook::Border border);
/// Style of a filled node or cluster with the look's border.
DotAttributes filled(const TemplateLook& look);
/// Width of an edge over which so many bytes go: 1 to 3 points, by the logarithm.
std::string edge_width(std::int64_t bytes);

/// "f32 1×3×224×224".
std::string shape_label(const GraphTensor& tensor);
/// Bytes of a whole tensor.
std::int64_t tensor_bytes(const GraphTensor& tensor);

}  // namespace stowage
