// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/canonical_stages.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/overloaded.h"
#include "lowering/model/folded_stages.h"

namespace stowage {
namespace {

/// Names that no message contains by chance, so that they can be put back: "zq" number kind.
constexpr std::string_view mark = "zq";

/// What to_text leaves out of stages but planners may look at: tables by value, types of single operations.
class Details {
 public:
  void add(const IndexExpr& index) {
    for (const IndexTerm& term : index.terms()) {
      if (term.atom.kind == IndexAtom::Kind::tensor_value) text += fmt::format("bound {}\n", term.atom.bound);
      if (term.atom.table) text += fmt::format("table {}\n", fmt::join(term.atom.table->values, " "));
      if (!term.atom.args) continue;
      for (const IndexExpr& argument : *term.atom.args) add(argument);
    }
  }

  void add(const ScalarExpr& scalar) {
    if (!scalar) return;
    text += fmt::format("{} ", name_of(scalar->type));
    std::visit(Overloaded{[&](const ScalarNode::Index& node) { add(node.value); },
                          [&](const ScalarNode::Unary& node) { add(node.a); },
                          [&](const ScalarNode::Cast& node) { add(node.a); },
                          [&](const ScalarNode::Binary& node) {
                            add(node.a);
                            add(node.b);
                          },
                          [&](const ScalarNode::Select& node) {
                            add(node.condition);
                            add(node.a);
                            add(node.b);
                          },
                          [](const auto&) {}},
               scalar->value);
  }

  std::string text;
};

}  // namespace

CanonicalStages canonical_stages(StageList list) {
  CanonicalStages canonical;
  Details details;
  for (StageTensor& tensor : list.tensors) {
    canonical.tensors.push_back(tensor.name);
    tensor.name = fmt::format("{}{}t", mark, canonical.tensors.size() - 1);
    tensor.source.reset();
    // What may become a part of what is computed.
    if (const ScalarExpr literal = literal_of(tensor)) {
      details.text += fmt::format("{} is {}\n", tensor.name, to_text(literal, {}, {}));
    } else {
      tensor.value.reset();
    }
  }
  for (Stage& stage : list.stages) {
    canonical.names.push_back(stage.name);
    stage.name = fmt::format("{}{}s", mark, canonical.names.size() - 1);
    for (Axis& axis : stage.axes) {
      // Axes of one name are one iterator of the group.
      const auto known = std::find(canonical.axes.begin(), canonical.axes.end(), axis.name);
      const auto number = known - canonical.axes.begin();
      if (known == canonical.axes.end()) canonical.axes.push_back(axis.name);
      axis.name = fmt::format("{}{}a", mark, number);
    }
    for (const Access& access : stage.reads) {
      for (const IndexExpr& index : access.index) details.add(index);
    }
    details.add(stage.body);
    details.add(stage.finish);
  }
  canonical.stages = std::move(list);
  canonical.text = to_text(canonical.stages) + details.text;
  return canonical;
}

std::string with_original_names(const std::string& message, const CanonicalStages& canonical) {
  std::string text;
  for (std::size_t at = 0; at < message.size();) {
    std::size_t end = at + mark.size();
    if (message.compare(at, mark.size(), mark) == 0) {
      std::size_t number = 0;
      while (end < message.size() && std::isdigit(static_cast<unsigned char>(message[end])) != 0) {
        number = 10 * number + static_cast<std::size_t>(message[end++] - '0');
      }
      const char kind = end < message.size() ? message[end] : '\0';
      const std::vector<std::string>& names = kind == 't'   ? canonical.tensors
                                              : kind == 'a' ? canonical.axes
                                                            : canonical.names;
      if ((kind == 't' || kind == 'a' || kind == 's') && end > at + mark.size() && number < names.size()) {
        text += names[number];
        at = end + 1;
        continue;
      }
    }
    text += message[at++];
  }
  return text;
}

}  // namespace stowage
