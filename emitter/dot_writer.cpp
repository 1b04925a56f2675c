// SPDX-License-Identifier: Apache-2.0
#include "emitter/dot_writer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emitter/markup.h"

namespace stowage {

namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string list(const DotAttributes& attributes) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : attributes) {
    parts.push_back(fmt::format("{}={}", name, value.starts_with('<') ? value : quoted(value)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

DotWriter::DotWriter(const std::string& name, const std::string& title) {
  text_ = fmt::format("digraph {} {{\n", quoted(name));
  const std::string font = "Helvetica,Arial,sans-serif";
  line(fmt::format("graph [{}];", list({{"label", dot_label({title})},
                                        {"labelloc", "t"},
                                        {"fontname", font},
                                        {"fontsize", "14"},
                                        {"bgcolor", "white"},
                                        {"pad", "0.2"},
                                        {"rankdir", "TB"},
                                        {"ranksep", "0.35"},
                                        {"nodesep", "0.3"}})));
  line(fmt::format("node [{}];", list({{"shape", "box"},
                                       {"style", "rounded,filled"},
                                       {"fillcolor", "white"},
                                       {"color", "#555555"},
                                       {"fontcolor", "#111111"},
                                       {"fontname", font},
                                       {"fontsize", "10"},
                                       {"margin", "0.12,0.05"},
                                       {"height", "0.3"}})));
  line(fmt::format("edge [{}];", list({{"color", "#555555"},
                                       {"fontcolor", "#333333"},
                                       {"fontname", font},
                                       {"fontsize", "8"},
                                       {"arrowsize", "0.6"}})));
}

void DotWriter::line(const std::string& text) { text_ += "  " + text + "\n"; }

void DotWriter::node(const std::string& id, const DotAttributes& attributes) {
  line(fmt::format("{} [{}];", id, list(attributes)));
}

void DotWriter::edge(const std::string& from, const std::string& to, const DotAttributes& attributes) {
  line(fmt::format("{} -> {} [{}];", from, to, list(attributes)));
}

void DotWriter::legend(const TemplateLook& look, const std::string& meaning) {
  legend_rows_ +=
      fmt::format(R"(<tr><td bgcolor="{}" border="1" style="{}" width="18"> </td><td align="left">{}</td></tr>)",
                  look.fill, style_of(look.border), escaped(meaning));
}

std::string DotWriter::text() const {
  std::string text = text_;
  if (!legend_rows_.empty()) {
    const DotAttributes attributes = {
        {"shape", "plain"},
        {"style", ""},
        {"class", "legend"},
        {"label", fmt::format(R"(<<table border="0" cellborder="0" cellspacing="3">{}</table>>)", legend_rows_)}};
    text += fmt::format("  legend [{}];\n", list(attributes));
  }
  return text + "}\n";
}

std::string dot_label(const std::vector<std::string>& lines) {
  std::string text = "<";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += fmt::format(fmt::runtime(i == 0 ? "<b>{}</b>" : "<br/>{}"), escaped(lines[i]));
  }
  return text + ">";
}

std::string dot_edge_label(const std::vector<std::string>& lines) {
  std::string text = "<";
  for (const std::string& line : lines) text += fmt::format("&#160;&#160;{}<br align=\"left\"/>", escaped(line));
  return text + ">";
}

std::string_view style_of(TemplateLook::Border border) {
  switch (border) {
    case TemplateLook::Border::solid: return "solid";
    case TemplateLook::Border::dashed: return "dashed";
    case TemplateLook::Border::dotted: return "dotted";
  }
  return "solid";
}

DotAttributes filled(const TemplateLook& look) {
  return {{"style", fmt::format("rounded,filled,{}", style_of(look.border))}, {"fillcolor", look.fill}};
}

std::string edge_width(std::int64_t bytes) {
  constexpr double thinnest_from = 12;  // log2: 4 KiB
  const double above = std::log2(static_cast<double>(std::max<std::int64_t>(1, bytes))) - thinnest_from;
  return fmt::format("{:.1f}", std::clamp(1 + above / 5, 1.0, 3.0));
}

std::string shape_label(const GraphTensor& tensor) {
  if (tensor.shape.empty()) return fmt::format("{} scalar", name_of(tensor.type));
  return fmt::format("{} {}", name_of(tensor.type), fmt::join(tensor.shape, "×"));
}

std::int64_t tensor_bytes(const GraphTensor& tensor) {
  return element_count(tensor.shape) * static_cast<std::int64_t>(byte_size(tensor.type));
}

}  // namespace stowage
