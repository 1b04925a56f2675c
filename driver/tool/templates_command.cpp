// SPDX-License-Identifier: Apache-2.0
// Fusion templates as a list or one in detail, and the rules of legality.
#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/json/json.h"
#include "driver/session/session.h"
#include "driver/text/text_table.h"
#include "driver/tool/commands.h"
#include "fusion/rules/legality.h"
#include "fusion/templates/pattern.h"

namespace stowage {

namespace {

/// "anchor conv: Conv; epilogue act: @element_wise, up to 3, optional".
std::string pattern_text(const FusionTemplate& row) {
  std::vector<std::string> vertices;
  if (row.branches > 1) vertices.push_back(fmt::format("2 to {} branches", row.branches));
  for (const TemplateVertex& vertex : row.vertices) {
    std::string text = fmt::format("{} {}: {}", name_of(vertex.role), vertex.name, fmt::join(vertex.kinds, " or "));
    if (vertex.repeat > 1) text += fmt::format(", up to {}", vertex.repeat);
    if (vertex.optional) text += ", optional";
    vertices.push_back(text);
  }
  return fmt::format("{}", fmt::join(vertices, "; "));
}

/// "1", "0 or 1", "1 to 3": how many copies a vertex may have.
std::string copies_text(const TemplateVertex& vertex) {
  if (vertex.repeat > 1) return fmt::format("{} to {}", vertex.optional ? 0 : 1, vertex.repeat);
  return vertex.optional ? "0 or 1" : "1";
}

std::string where_text(const TemplateVertex& vertex) {
  std::vector<std::string> conditions;
  for (const auto& [name, condition] : vertex.constraints) {
    conditions.push_back(fmt::format("{} {}", name, to_text(condition)));
  }
  return fmt::format("{}", fmt::join(conditions, "; "));
}

/// "conv -> tail (slot 0)", one of each edge.
std::vector<std::string> edge_texts(const FusionTemplate& row) {
  std::vector<std::string> edges;
  for (const TemplateEdge& edge : row.edges) {
    std::string text = fmt::format("{} -> {}", edge.from, edge.to);
    if (edge.slot) text += fmt::format(" (slot {})", *edge.slot);
    edges.push_back(text);
  }
  return edges;
}

int print_template(const FusionTemplate& row, ToolContext& context) {
  const std::size_t patterns = expand(row).size();
  const std::vector<std::string> on_chip = values_on_chip(row);
  if (context.json) {
    Json json = {{"stowage", stowage_version()}, {"name", row.name}, {"summary", row.summary}};
    json["computes"] = row.computes;
    json["on_chip"] = on_chip;
    json["patterns"] = patterns;
    if (row.branches > 1) json["branches"] = row.branches;
    json["vertices"] = Json::array();
    for (const TemplateVertex& vertex : row.vertices) {
      json["vertices"].push_back({{"name", vertex.name},
                                  {"role", name_of(vertex.role)},
                                  {"kinds", vertex.kinds},
                                  {"copies", copies_text(vertex)},
                                  {"where", where_text(vertex)}});
    }
    json["edges"] = edge_texts(row);
    context.out << dumped(json, 1);
    return exit_done;
  }
  TextTable vertices({"vertex", "role", "kinds", "copies", "where"});
  for (const TemplateVertex& vertex : row.vertices) {
    vertices.add({vertex.name, std::string(name_of(vertex.role)), fmt::format("{}", fmt::join(vertex.kinds, ", ")),
                  copies_text(vertex), where_text(vertex)});
  }
  context.out << fmt::format("stowage {} | stowage templates {}\n\n{}\n", stowage_version(), row.name, row.summary);
  if (!row.computes.empty()) context.out << fmt::format("computes: {}\n", row.computes);
  context.out << fmt::format("stays on chip: {}\n",
                             on_chip.empty() ? "nothing" : fmt::format("{}", fmt::join(on_chip, "; ")));
  if (row.branches > 1) context.out << fmt::format("branches: 2 to {} of such branches side by side\n", row.branches);
  context.out << fmt::format("expands to {} pattern{}\n\n", patterns, patterns == 1 ? "" : "s") << vertices.text();
  if (!row.edges.empty()) context.out << fmt::format("\n{}\n", fmt::join(edge_texts(row), "\n"));
  return exit_done;
}

int print_rules(ToolContext& context) {
  std::vector<std::vector<std::string>> rows;
  for (const LegalityRule& rule : legality_rules()) {
    rows.push_back({std::string(rule.name), std::string(name_of(rule.scope)), std::string(rule.sentence)});
  }
  return print_rows(context, "rules", {"rule", "about", "what must hold"}, rows, "templates --rules");
}

}  // namespace

int templates_command(const TemplatesOptions& options, ToolContext& context) {
  if (options.rules) return print_rules(context);
  Diagnostics diagnostics;
  const auto user = read_user_templates(options.file, diagnostics);
  if (!user) return failed(context, diagnostics);
  const auto templates = fusion_templates(*user, diagnostics);
  if (!templates) return failed(context, diagnostics);
  if (!options.name.empty()) {
    std::vector<std::string> names;
    for (const FusionTemplate& row : *templates) {
      if (row.name == options.name) return print_template(row, context);
      names.push_back(row.name);
    }
    if (options.file.empty()) {
      return usage_error(context, "templates", fmt::format("no template '{}'", options.name),
                         suggest_name(options.name, names));
    }
    diagnostics.error("unknown-template", {}, fmt::format("no template '{}'", options.name),
                      suggest_name(options.name, names));
    return failed(context, diagnostics);
  }
  std::vector<std::vector<std::string>> rows;
  for (const FusionTemplate& row : *templates) rows.push_back({row.name, row.summary, pattern_text(row)});
  const std::string file = options.file.empty() ? "" : " --templates " + shell_quoted(options.file);
  return print_rows(context, "templates", {"name", "summary", "pattern"}, rows, "templates" + file);
}

}  // namespace stowage
