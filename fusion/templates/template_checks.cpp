// SPDX-License-Identifier: Apache-2.0
#include "fusion/templates/template_checks.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/operators.h"

namespace stowage {
namespace {

using Of = ImpossiblePart::Of;

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

/// Most operands that an operator of a kind has; of a class of kinds nobody knows.
std::size_t max_operands(const std::string& kind) {
  const OperatorRow* row = find_operator_row(kind);
  if (row == nullptr || row->operands.back() == "…") return any_number;
  return row->operands.size();
}

/// True if every operator of a kind, or of a class of kinds, has a reduction, whatever its attributes are.
bool always_reduces(const std::string& kind) {
  if (kind == "@anchor" || kind == "@reduction") return true;
  const OperatorRow* const row = find_operator_row(kind);
  return row != nullptr && row->reduces_over != ReducesOver::nothing;
}

/// True if an operator of a kind may be a view by its definition.
bool may_be_view(const std::string& kind) {
  static const std::set<std::string> named = {"@view", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
  return named.contains(kind);
}

class Checks {
 public:
  explicit Checks(const FusionTemplate& of) : template_(of) {
    const std::size_t count = of.vertices.size();
    behind_.assign(count, std::vector<bool>(count, false));
    for (const TemplateEdge& edge : of.edges) behind_[index_of(edge.from)][index_of(edge.to)] = true;
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < count; ++j) behind_[i][j] = behind_[i][j] || (behind_[i][k] && behind_[k][j]);
      }
    }
  }

  std::vector<ImpossiblePart> run() {
    for (std::size_t v = 0; v < template_.vertices.size(); ++v) {
      check_place(v);
      check_kinds(v);
      check_operands(v);
      check_readers(v);
      check_rank(v);
    }
    for (std::size_t e = 0; e < template_.edges.size(); ++e) check_slot(e);
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::size_t index_of(const std::string& name) const {
    const auto found = std::find_if(template_.vertices.begin(), template_.vertices.end(),
                                    [&](const TemplateVertex& vertex) { return vertex.name == name; });
    return static_cast<std::size_t>(found - template_.vertices.begin());
  }

  [[nodiscard]] const TemplateVertex& vertex(std::size_t v) const { return template_.vertices[v]; }

  void report(Of of, std::size_t index, std::string key, std::string code, std::string message, std::string remedy) {
    found_.push_back({of, index, std::move(key), std::move(code), std::move(message), std::move(remedy)});
  }

  void check_place(std::size_t v) {
    const auto anchor = static_cast<std::size_t>(
        std::find_if(template_.vertices.begin(), template_.vertices.end(),
                     [](const TemplateVertex& other) { return other.role == VertexRole::anchor; }) -
        template_.vertices.begin());
    const VertexRole role = vertex(v).role;
    if (role == VertexRole::epilogue && behind_[v][anchor]) {
      report(Of::vertex, v, "role", "role-and-place",
             fmt::format("'{}' is an epilogue, but the anchor '{}' reads it: an epilogue comes behind its anchor",
                         vertex(v).name, vertex(anchor).name),
             "turn its edges round, or give it the role 'prologue' (element by element) or 'producer'");
    }
    if ((role == VertexRole::producer || role == VertexRole::prologue) && behind_[anchor][v]) {
      report(Of::vertex, v, "role", "role-and-place",
             fmt::format("'{}' is a {}, but it reads the anchor '{}': a {} comes in front of its anchor",
                         vertex(v).name, name_of(role), vertex(anchor).name, name_of(role)),
             "turn its edges round, or give it the role 'epilogue', or make it the anchor");
    }
  }

  void check_kinds(std::size_t v) {
    const TemplateVertex& of = vertex(v);
    const std::string kinds = fmt::format("{}", fmt::join(of.kinds, ", "));
    const bool element_by_element = of.role == VertexRole::epilogue || of.role == VertexRole::prologue;
    if (element_by_element && std::all_of(of.kinds.begin(), of.kinds.end(), always_reduces)) {
      report(Of::vertex, v, "role", "role-and-kind",
             fmt::format("{} computes element by element, {} always reduces",
                         of.role == VertexRole::epilogue ? "an epilogue" : "a prologue", kinds),
             of.role == VertexRole::prologue
                 ? "the role 'producer' is for what reduces in front of the anchor"
                 : "make it the anchor; what stands in front of the anchor is a 'producer' or 'prologue'");
    }
    if (of.role == VertexRole::view && std::none_of(of.kinds.begin(), of.kinds.end(), may_be_view)) {
      report(Of::vertex, v, "role", "role-and-kind", fmt::format("a view only re-indexes, {} never does", kinds),
             "'@view' stands for Reshape, Flatten, Squeeze, Unsqueeze and Identity");
    }
  }

  /// Vertices that are in every pattern: an edge between two such is in every pattern as well.
  [[nodiscard]] bool is_always_there(const std::string& name) const { return !vertex(index_of(name)).optional; }

  void check_slot(std::size_t e) {
    const TemplateEdge& edge = template_.edges[e];
    const TemplateVertex& reader = vertex(index_of(edge.to));
    std::size_t operands = 0;
    for (const std::string& kind : reader.kinds) operands = std::max(operands, max_operands(kind));
    if (edge.slot && static_cast<std::size_t>(*edge.slot) >= operands) {
      const std::string slots =
          operands == 1 ? "its only slot is 0" : fmt::format("its slots are 0 to {}", operands - 1);
      report(Of::edge, e, "slot", "no-such-slot",
             fmt::format("{} has no operand in slot {}", fmt::join(reader.kinds, " or "), *edge.slot), slots);
    }
    if (!edge.slot || !is_always_there(edge.from) || !is_always_there(edge.to)) return;
    for (std::size_t other = 0; other < e; ++other) {
      const TemplateEdge& before = template_.edges[other];
      if (before.to != edge.to || before.slot != edge.slot || !is_always_there(before.from)) continue;
      report(Of::edge, e, "slot", "taken-slot",
             fmt::format("slot {} of '{}' is the operand that '{}' computes already", *edge.slot, edge.to, before.from),
             "an operand has one producer");
      return;
    }
  }

  void check_operands(std::size_t v) {
    std::size_t operands = 0;
    for (const std::string& kind : vertex(v).kinds) operands = std::max(operands, max_operands(kind));
    std::set<std::string> producers;
    for (std::size_t e = 0; e < template_.edges.size(); ++e) {
      const TemplateEdge& edge = template_.edges[e];
      if (index_of(edge.to) != v || !is_always_there(edge.from)) continue;
      if (!producers.insert(edge.from).second || producers.size() != operands + 1) continue;
      report(Of::edge, e, "to", "too-many-operands",
             fmt::format("{} has {} operand{}, but more vertices lead to '{}'", fmt::join(vertex(v).kinds, " or "),
                         operands, operands == 1 ? "" : "s", vertex(v).name),
             {});
    }
  }

  [[nodiscard]] const Condition* condition_on(std::size_t v, const std::string& name) const {
    for (const auto& [key, condition] : vertex(v).constraints) {
      if (key == name) return &condition;
    }
    return nullptr;
  }

  /// What is read by so many vertices is read by so many operators.
  void check_readers(std::size_t v) {
    const Condition* condition = condition_on(v, "fan_out");
    if (condition == nullptr || vertex(v).optional) return;
    std::set<std::string> readers;
    for (const TemplateEdge& edge : template_.edges) {
      if (index_of(edge.from) == v && is_always_there(edge.to)) readers.insert(edge.to);
    }
    const auto least = static_cast<double>(readers.size());
    if (readers.empty() || can_hold(*condition, {ValueKind::number, {}, true, least})) return;
    report(Of::vertex, v, "where.fan_out", "impossible-condition",
           fmt::format("'fan_out' is never {} here: {} read{} '{}' in the template", to_text(*condition),
                       fmt::join(readers, ", "), readers.size() == 1 ? "s" : "", vertex(v).name),
           {});
  }

  void check_rank(std::size_t v) {
    const Condition* rank = condition_on(v, "rank");
    const Condition* shape = condition_on(v, "shape");
    if (rank == nullptr || shape == nullptr) return;
    constexpr std::size_t max_dimensions = 8;
    for (std::size_t length = 0; length <= max_dimensions; ++length) {
      const bool fits = holds(*rank, PropertyValue(static_cast<double>(length)));
      if (fits && can_hold(*shape, {ValueKind::numbers, {}, true, 0.0}, length)) return;
    }
    report(Of::vertex, v, "where.rank", "impossible-condition",
           fmt::format("'rank' {} and 'shape' {} never hold together", to_text(*rank), to_text(*shape)),
           "'rank' is the number of elements of 'shape'");
  }

  const FusionTemplate& template_;
  std::vector<std::vector<bool>> behind_;  ///< [i][j]: j reads i, directly or not
  std::vector<ImpossiblePart> found_;
};

}  // namespace

std::vector<ImpossiblePart> impossible_parts(const FusionTemplate& fusion_template) {
  return Checks(fusion_template).run();
}

}  // namespace stowage
