// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/operators.h"
#include "core/template_names.h"
#include "core/toml_reader.h"
#include "fusion/templates/constraints.h"
#include "fusion/templates/pattern.h"
#include "fusion/templates/template.h"
#include "fusion/templates/template_checks.h"

namespace stowage {
namespace {

constexpr int max_copies = 32;
constexpr int max_slots = 64;
constexpr std::size_t max_vertices = 64;
constexpr std::int64_t max_patterns = 1024;
constexpr int max_branches = 8;

struct RoleName {
  VertexRole role;
  std::string_view name;
};
constexpr std::array<RoleName, 8> role_names = {{{VertexRole::anchor, "anchor"},
                                                 {VertexRole::producer, "producer"},
                                                 {VertexRole::prologue, "prologue"},
                                                 {VertexRole::epilogue, "epilogue"},
                                                 {VertexRole::folded, "folded"},
                                                 {VertexRole::view, "view"},
                                                 {VertexRole::context, "context"},
                                                 {VertexRole::branch, "branch"}}};

std::vector<std::string> known_kinds() {
  std::vector<std::string> kinds = kind_classes();
  for (const OperatorRow& row : operator_table()) kinds.emplace_back(row.name);
  return kinds;
}

/// Reads one [[template]]; true if it is whole and right.
class TemplateReader {
 public:
  TemplateReader(TomlTable& table, Diagnostics& diagnostics) : table_(table), diagnostics_(diagnostics) {}

  std::optional<FusionTemplate> read() {
    const std::size_t before = error_count();
    if (table_.read("name", template_.name, Need::required)) check_name(table_, template_.name);
    template_.location = table_.located("name").location;
    table_.read("summary", template_.summary);
    table_.read("computes", template_.computes);
    table_.read("branches", template_.branches, {2, max_branches});
    vertex_tables_ = table_.tables("vertex", Need::required);
    if (vertex_tables_.size() > max_vertices) {
      table_.error("too-many-vertices", "vertex",
                   fmt::format("{} vertices, at most {} make a template", vertex_tables_.size(), max_vertices));
      return std::nullopt;
    }
    for (TomlTable& vertex : vertex_tables_) read_vertex(vertex);
    for (TomlTable& edge : table_.tables("edge")) read_edge(edge);
    table_.finish();
    // Relations between vertices and edges are judged only where those are right by themselves.
    if (error_count() == before) check_whole();
    if (error_count() != before) return std::nullopt;
    return std::move(template_);
  }

 private:
  [[nodiscard]] std::size_t error_count() const { return diagnostics_.entries().size(); }

  /// Names stand in lines of text and in tables.
  static void check_name(TomlTable& table, const std::string& name) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::none_of(name.begin(), name.end(), is_control)) return;
    table.error("wrong-name", "name", "a name holds no line breaks or other control characters");
  }

  void read_vertex(TomlTable& table) {
    TemplateVertex vertex;
    if (table.read("name", vertex.name, Need::required)) {
      check_name(table, vertex.name);
      if (vertex.name.empty()) table.error("empty-name", "name", "a vertex needs a name");
      if (index_of(vertex.name)) {
        table.error("duplicate-vertex", "name", fmt::format("there is already a vertex '{}'", vertex.name));
      }
    }
    if (table.read("kinds", vertex.kinds, Need::required)) check_kinds(table, vertex.kinds);
    read_role(table, vertex.role);
    table.read("optional", vertex.optional);
    table.read("repeat", vertex.repeat, {1, max_copies});
    if (vertex.role == VertexRole::anchor && (vertex.optional || vertex.repeat > 1)) {
      table.error("anchor-not-single", vertex.optional ? "optional" : "repeat",
                  "the anchor is neither optional nor repeated");
    }
    where_tables_.push_back(table.table("where"));
    if (where_tables_.back()) read_where(*where_tables_.back(), vertex);
    table.finish();
    template_.vertices.push_back(std::move(vertex));
  }

  static void check_kinds(TomlTable& table, const std::vector<std::string>& kinds) {
    const std::vector<std::string> known = known_kinds();
    if (kinds.empty()) table.error("no-kind", "kinds", "'kinds' is empty, at least one operator kind was wanted");
    for (const std::string& kind : kinds) {
      if (std::find(known.begin(), known.end(), kind) != known.end()) continue;
      const auto nearest = nearest_name(kind, known);
      table.error("unknown-operator-kind", "kinds", fmt::format("there is no operator kind '{}'", kind),
                  nearest ? fmt::format("did you mean '{}'?", *nearest)
                          : "'stowage ops' lists the operators; classes of operators start with '@'");
    }
  }

  static void read_role(TomlTable& table, VertexRole& role) {
    std::string name;
    if (!table.read("role", name, Need::required)) return;
    std::vector<std::string> known;
    for (const RoleName& row : role_names) {
      if (row.role == VertexRole::folded || row.role == VertexRole::branch) continue;
      if (row.name == name) {
        role = row.role;
        return;
      }
      known.emplace_back(row.name);
    }
    const bool folded = name == name_of(VertexRole::folded);
    const bool branch = name == name_of(VertexRole::branch);
    table.error("unknown-role", "role", fmt::format("there is no role '{}' for a vertex", name),
                folded   ? "operators that fold into parameters are folded before templates are matched"
                : branch ? "'branches' of the template says how many branches there are; its vertices are one of them"
                         : suggest_name(name, known));
  }

  static void read_where(TomlTable& table, TemplateVertex& vertex) {
    const auto forms = constraint_forms(vertex.kinds);
    for (const std::string& key : table.keys()) {
      const auto form = std::find_if(forms.begin(), forms.end(), [&](const auto& entry) { return entry.first == key; });
      if (form != forms.end()) {
        if (auto condition = read_condition(table, key, form->second)) {
          check_condition(table, key, *condition, form->second);
          vertex.constraints.emplace_back(key, *std::move(condition));
        }
        continue;
      }
      TomlValue ignored;
      table.read(key, ignored);
      std::vector<std::string> known;
      for (const auto& entry : forms) known.push_back(entry.first);
      table.error("unknown-constraint", key, fmt::format("an operator here has no attribute or property '{}'", key),
                  suggest_name(key, known));
    }
    table.finish();
  }

  static void check_condition(TomlTable& table, const std::string& key, const Condition& condition,
                              const ValueForm& form) {
    if (can_hold(condition, form)) return;
    std::string remedy;
    if (form.whole) remedy = fmt::format("'{}' is made of whole numbers", key);
    if (form.whole && form.least) remedy += fmt::format(", {} or more", *form.least);
    table.error("impossible-condition", key, fmt::format("'{}' is never {}", key, to_text(condition)), remedy);
  }

  void read_edge(TomlTable& table) {
    TemplateEdge edge;
    const bool has_from = read_end(table, "from", edge.from);
    const bool has_to = read_end(table, "to", edge.to);
    if (int slot = 0; table.read("slot", slot, {0, max_slots - 1})) edge.slot = slot;
    table.finish();
    if (!has_from || !has_to) return;
    const bool doubled = std::any_of(template_.edges.begin(), template_.edges.end(), [&](const TemplateEdge& other) {
      return other.from == edge.from && other.to == edge.to && (other.slot == edge.slot || !other.slot || !edge.slot);
    });
    if (doubled) {
      table.error("duplicate-edge", "to", fmt::format("there is already an edge from '{}' to '{}'", edge.from, edge.to),
                  "two edges between the same vertices name two different slots");
    }
    edges_.push_back({*index_of(edge.from), *index_of(edge.to), edge.slot});
    edge_tables_.push_back(table);
    template_.edges.push_back(std::move(edge));
  }

  bool read_end(TomlTable& table, std::string_view key, std::string& name) {
    if (!table.read(key, name, Need::required)) return false;
    if (index_of(name)) return true;
    std::vector<std::string> known;
    for (const TemplateVertex& vertex : template_.vertices) {
      if (!vertex.name.empty() && index_of(vertex.name) == known.size()) known.push_back(vertex.name);
    }
    table.error("unknown-vertex", key, fmt::format("this template has no vertex '{}'", name),
                suggest_name(name, known));
    return false;
  }

  void check_whole() {
    if (template_.name.empty() || template_.name == single_template || template_.name == view_template) {
      table_.error("reserved-name", "name", fmt::format("a template cannot be called '{}'", template_.name),
                   "groups of one operator have the names 'single' and 'view'");
    }
    if (template_.vertices.empty()) {
      table_.error("no-vertex", "vertex", "a template needs at least one vertex");
      return;
    }
    const std::size_t before = error_count();
    check_anchor();
    check_cycle();
    check_connected();
    if (template_.branches > 1) check_branches();
    if (const std::int64_t count = expansion_count(template_); count > max_patterns) {
      table_.error("too-many-patterns", "name",
                   fmt::format("its optional and repeated vertices make more than {} patterns", max_patterns),
                   "repeat less, or write several templates");
    }
    if (error_count() == before) check_possible();
  }

  void check_possible() {
    for (ImpossiblePart& part : impossible_parts(template_)) {
      constexpr std::string_view condition = "where.";
      const bool of_edge = part.of == ImpossiblePart::Of::edge;
      TomlTable* table = of_edge ? &edge_tables_[part.index] : &vertex_tables_[part.index];
      std::string key = part.key;
      if (key.starts_with(condition)) {
        key.erase(0, condition.size());
        table = &*where_tables_[part.index];
      }
      table->error(std::move(part.code), key, std::move(part.message), std::move(part.remedy));
    }
  }

  void check_anchor() {
    std::optional<std::size_t> anchor;
    for (std::size_t v = 0; v < template_.vertices.size(); ++v) {
      if (template_.vertices[v].role != VertexRole::anchor) continue;
      if (anchor) {
        vertex_tables_[v].error("several-anchors", "role",
                                fmt::format("'{}' is the anchor already", template_.vertices[*anchor].name),
                                "exactly one vertex has the role 'anchor'");
      } else {
        anchor = v;
      }
    }
    if (!anchor) table_.error("no-anchor", "name", "no vertex has the role 'anchor', exactly one was wanted");
  }

  /// The anchor itself, and what edges lead to from it.
  [[nodiscard]] bool is_behind_anchor(std::size_t vertex) const {
    std::vector<bool> behind;
    for (const TemplateVertex& v : template_.vertices) behind.push_back(v.role == VertexRole::anchor);
    for (bool grew = true; grew;) {
      grew = false;
      for (const PatternEdge& edge : edges_) {
        if (behind[edge.from] && !behind[edge.to]) behind[edge.to] = grew = true;
      }
    }
    return behind[vertex];
  }

  void check_branches() {
    bool share = false;
    for (std::size_t v = 0; v < template_.vertices.size(); ++v) {
      const TemplateVertex& vertex = template_.vertices[v];
      const bool is_context = vertex.role == VertexRole::context;
      share = share || is_context;
      if (is_context && (vertex.optional || vertex.repeat > 1)) {
        vertex_tables_[v].error("not-for-branches", vertex.optional ? "optional" : "repeat",
                                "what branches share is neither optional nor repeated");
      } else if (!is_context && vertex.role != VertexRole::anchor && vertex.role != VertexRole::epilogue) {
        vertex_tables_[v].error("not-for-branches", "role",
                                fmt::format("the role '{}' is not for branches", name_of(vertex.role)),
                                "a branch is an anchor with its epilogue, behind a vertex with role 'context'");
      } else if (!is_context && !is_behind_anchor(v)) {
        vertex_tables_[v].error("not-for-branches", "name",
                                fmt::format("'{}' does not read the anchor's result", vertex.name),
                                "a branch is an anchor with its epilogue, behind a vertex with role 'context'");
      }
    }
    if (!share) {
      table_.error("nothing-shared", "branches", "no vertex has the role 'context', so branches would share nothing",
                   "a vertex with role 'context' stands for the operator whose result they read");
    }
  }

  /// Takes vertices away whose predecessors are all gone; an edge into what remains, from what remains, is on a circle
  /// or leads away from one.
  void check_cycle() {
    std::vector<bool> gone(template_.vertices.size(), false);
    for (bool grew = true; grew;) {
      grew = false;
      for (std::size_t v = 0; v < gone.size(); ++v) {
        const bool waits = std::any_of(edges_.begin(), edges_.end(),
                                       [&](const PatternEdge& edge) { return edge.to == v && !gone[edge.from]; });
        if (!gone[v] && !waits) gone[v] = grew = true;
      }
    }
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      if (gone[edges_[e].from]) continue;
      edge_tables_[e].error("pattern-cycle", "from", "the edges lead in a circle");
      return;
    }
  }

  void check_connected() {
    std::vector<bool> reached(template_.vertices.size(), false);
    reached[0] = true;
    for (bool grew = true; grew;) {
      grew = false;
      for (const PatternEdge& edge : edges_) {
        if (reached[edge.from] != reached[edge.to]) reached[edge.from] = reached[edge.to] = grew = true;
      }
    }
    for (std::size_t v = 0; v < reached.size(); ++v) {
      if (reached[v]) continue;
      vertex_tables_[v].error(
          "disconnected-pattern", "name",
          fmt::format("no edges join '{}' to '{}'", template_.vertices[v].name, template_.vertices[0].name),
          "a pattern hangs together; a shared input is a vertex with role 'context'");
      return;
    }
  }

  [[nodiscard]] std::optional<std::size_t> index_of(const std::string& name) const {
    for (std::size_t v = 0; v < template_.vertices.size(); ++v) {
      if (template_.vertices[v].name == name) return v;
    }
    return std::nullopt;
  }

  TomlTable& table_;
  Diagnostics& diagnostics_;
  FusionTemplate template_;
  std::vector<TomlTable> vertex_tables_;                ///< of template_.vertices
  std::vector<std::optional<TomlTable>> where_tables_;  ///< of template_.vertices
  std::vector<PatternEdge> edges_;                      ///< template_.edges by index of their vertices
  std::vector<TomlTable> edge_tables_;                  ///< of template_.edges
};

}  // namespace

std::string_view name_of(VertexRole role) {
  for (const RoleName& row : role_names) {
    if (row.role == role) return row.name;
  }
  fail_check("unknown vertex role");
}

bool is_role(std::string_view name) {
  return std::any_of(role_names.begin(), role_names.end(), [&](const RoleName& row) { return row.name == name; });
}

std::vector<std::string> values_on_chip(const FusionTemplate& fusion_template) {
  std::vector<std::string> values;
  for (const TemplateVertex& vertex : fusion_template.vertices) {
    if (vertex.role == VertexRole::context) continue;
    const bool is_read = std::any_of(fusion_template.edges.begin(), fusion_template.edges.end(),
                                     [&](const TemplateEdge& edge) { return edge.from == vertex.name; });
    if (is_read) {
      values.push_back(vertex.name);
    } else if (vertex.repeat > 1) {
      values.push_back(vertex.name + ", all but the last");
    }
  }
  return values;
}

Result<std::vector<FusionTemplate>> parse_templates(std::string_view toml, const std::string& file,
                                                    Diagnostics& diagnostics, std::span<const FusionTemplate> others) {
  const std::size_t before = diagnostics.entries().size();
  Result<TomlTable> document = TomlTable::parse(toml, file, diagnostics);
  if (!document) return Failed{};
  std::vector<FusionTemplate> templates;
  for (TomlTable& table : document->tables("template", Need::required)) {
    auto fusion_template = TemplateReader(table, diagnostics).read();
    if (!fusion_template) continue;
    const auto same_name = [&](const FusionTemplate& other) { return other.name == fusion_template->name; };
    if (std::any_of(templates.begin(), templates.end(), same_name) ||
        std::any_of(others.begin(), others.end(), same_name)) {
      table.error("duplicate-template", "name", fmt::format("there is already a template '{}'", fusion_template->name));
    }
    templates.push_back(std::move(*fusion_template));
  }
  document->finish();
  if (diagnostics.entries().size() != before) return Failed{};
  return templates;
}

}  // namespace stowage
