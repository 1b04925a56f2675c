// SPDX-License-Identifier: Apache-2.0
// Every mistake in a file of templates, told at its place.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "fusion/templates/template.h"
#include "tests/fusion/one_template.h"

using namespace stowage;
using stowage::testing::read_one;

namespace {

std::string mistakes(const std::string& toml) {
  Diagnostics diagnostics;
  const auto templates = parse_templates(toml, "t.toml", diagnostics);
  CHECK(!templates);
  return format_diagnostics(diagnostics);
}

/// A template of `vertices` (name, role, kinds and what follows them) and `edges` (from, to and what follows them).
std::string template_of(const std::vector<std::vector<std::string>>& vertices,
                        const std::vector<std::vector<std::string>>& edges = {}) {
  std::string toml = "[[template]]\nname = \"t\"\n";
  for (const auto& v : vertices) {
    toml += "[[template.vertex]]\nname = \"" + v[0] + "\"\nrole = \"" + v[1] + "\"\nkinds = [\"" + v[2] + "\"]\n";
    if (v.size() > 3) toml += v[3] + "\n";
  }
  for (const auto& e : edges) {
    toml += "[[template.edge]]\nfrom = \"" + e[0] + "\"\nto = \"" + e[1] + "\"\n";
    if (e.size() > 2) toml += e[2] + "\n";
  }
  return toml;
}

}  // namespace

TEST_CASE("syntax errors have a place and a caret") {
  CHECK(
      mistakes("[[template]]\nname = \"x\nsummary = 1\n") ==
      R"(t.toml:2:10: error: Error while parsing string: unescaped control characters other than TAB (U+0009) are explicitly prohibited [toml-syntax]
    name = "x
             ^
)");
}

TEST_CASE("every mistake in a template file is reported at its place") {
  CHECK(mistakes(R"([[template]]
name = 7
sumary = "?"
[[template.vertex]]
name = "conv"
kinds = ["Convv", "@anker"]
role = "anchor"
repeat = 2
where = { stridess = [1, 1] }
[[template.vertex]]
name = "conv"
kinds = []
role = "folded"
optional = "yes"
[[template.vertex]]
kinds = "Relu"
role = "epilog"
[[template.edge]]
from = "conv"
to = "relu"
slot = 64
via = 1
)") == R"(t.toml:2:8: error: 'template.name' is an integer, a string was wanted [wrong-type]
    name = 7
           ^
t.toml:6:9: error: there is no operator kind 'Convv' [unknown-operator-kind]
    kinds = ["Convv", "@anker"]
            ^^^^^^^^^^^^^^^^^^^
  help: did you mean 'Conv'?
t.toml:6:9: error: there is no operator kind '@anker' [unknown-operator-kind]
    kinds = ["Convv", "@anker"]
            ^^^^^^^^^^^^^^^^^^^
  help: 'stowage ops' lists the operators; classes of operators start with '@'
t.toml:8:10: error: the anchor is neither optional nor repeated [anchor-not-single]
    repeat = 2
             ^
t.toml:9:22: error: an operator here has no attribute or property 'stridess' [unknown-constraint]
    where = { stridess = [1, 1] }
                         ^^^^^^
  help: did you mean 'strides'?
t.toml:11:8: error: there is already a vertex 'conv' [duplicate-vertex]
    name = "conv"
           ^^^^^^
t.toml:12:9: error: 'kinds' is empty, at least one operator kind was wanted [no-kind]
    kinds = []
            ^^
t.toml:13:8: error: there is no role 'folded' for a vertex [unknown-role]
    role = "folded"
           ^^^^^^^^
  help: operators that fold into parameters are folded before templates are matched
t.toml:14:12: error: 'template.vertex.optional' is a string, true or false was wanted [wrong-type]
    optional = "yes"
               ^^^^^
t.toml:15:1: error: 'template.vertex.name' is missing: a string was wanted [missing-key]
    [[template.vertex]]
    ^^^^^^^^^^^^^^^^^^^
t.toml:16:9: error: 'template.vertex.kinds' is a string, an array of strings was wanted [wrong-type]
    kinds = "Relu"
            ^^^^^^
t.toml:17:8: error: there is no role 'epilog' for a vertex [unknown-role]
    role = "epilog"
           ^^^^^^^^
  help: did you mean 'epilogue'?
t.toml:20:6: error: this template has no vertex 'relu' [unknown-vertex]
    to = "relu"
         ^^^^^^
  help: known are: conv
t.toml:21:8: error: 'template.edge.slot' is 64, but lies between 0 and 63 [out-of-range]
    slot = 64
           ^^
t.toml:22:1: error: unknown key 'template.edge.via' [unknown-key]
    via = 1
    ^^^
  help: known are: from, slot, to
t.toml:3:1: error: unknown key 'template.sumary' [unknown-key]
    sumary = "?"
    ^^^^^^
  help: did you mean 'summary'?
)");
}

TEST_CASE("relations between vertices are checked") {
  const auto vertices = [](const std::string& roles_and_edges) {
    return "[[template]]\nname = \"t\"\n" + roles_and_edges;
  };
  const auto vertex = [](const std::string& name, const std::string& role) {
    return "[[template.vertex]]\nname = \"" + name + "\"\nkinds = [\"Relu\"]\nrole = \"" + role + "\"\n";
  };
  const auto edge = [](const std::string& from, const std::string& to) {
    return "[[template.edge]]\nfrom = \"" + from + "\"\nto = \"" + to + "\"\n";
  };
  CHECK(mistakes(vertices(vertex("a", "epilogue"))) ==
        R"(t.toml:2:8: error: no vertex has the role 'anchor', exactly one was wanted [no-anchor]
    name = "t"
           ^^^
)");
  CHECK(mistakes(vertices(vertex("a", "anchor") + vertex("b", "anchor") + edge("a", "b"))) ==
        R"(t.toml:10:8: error: 'a' is the anchor already [several-anchors]
    role = "anchor"
           ^^^^^^^^
  help: exactly one vertex has the role 'anchor'
)");
  CHECK(mistakes(vertices(vertex("a", "anchor") + vertex("b", "epilogue"))) ==
        R"(t.toml:8:8: error: no edges join 'b' to 'a' [disconnected-pattern]
    name = "b"
           ^^^
  help: a pattern hangs together; a shared input is a vertex with role 'context'
)");
  CHECK(mistakes(vertices(vertex("a", "anchor") + vertex("b", "epilogue") + vertex("c", "epilogue") + edge("a", "b") +
                          edge("b", "c") + edge("c", "b"))) ==
        R"(t.toml:19:8: error: the edges lead in a circle [pattern-cycle]
    from = "b"
           ^^^
)");
  CHECK(mistakes(vertices(vertex("a", "anchor") + vertex("b", "epilogue") + edge("a", "b") + edge("a", "b"))) ==
        R"(t.toml:16:6: error: there is already an edge from 'a' to 'b' [duplicate-edge]
    to = "b"
         ^^^
  help: two edges between the same vertices name two different slots
)");
  CHECK(mistakes("[[template]]\nname = \"single\"\n" + vertex("a", "anchor")) ==
        R"(t.toml:2:8: error: a template cannot be called 'single' [reserved-name]
    name = "single"
           ^^^^^^^^
  help: groups of one operator have the names 'single' and 'view'
)");
  CHECK(mistakes("[[template]]\nname = \"t\"\n" + vertex("a", "anchor") + "[[template]]\nname = \"t\"\n" +
                 vertex("a", "anchor")) == R"(t.toml:8:8: error: there is already a template 't' [duplicate-template]
    name = "t"
           ^^^
)");
  CHECK(mistakes("[[template]]\nname = \"t\"\nvertex = []\n") ==
        R"(t.toml:3:10: error: a template needs at least one vertex [no-vertex]
    vertex = []
             ^^
)");
  CHECK(mistakes("# nothing\n") == R"(t.toml: error: 'template' is missing: an array of tables was wanted [missing-key]
)");
  std::string crowd = "[[template]]\nname = \"t\"\n";
  for (int i = 0; i < 65; ++i) crowd += vertex("v" + std::to_string(i), "epilogue");
  CHECK(mistakes(crowd) == R"(t.toml:3:1: error: 65 vertices, at most 64 make a template [too-many-vertices]
    [[template.vertex]]
    ^
)");
  std::string many = "[[template]]\nname = \"t\"\n" + vertex("v0", "anchor");
  for (int i = 1; i < 4; ++i) {
    many += vertex("v" + std::to_string(i), "epilogue") + "repeat = 32\n" +
            edge("v" + std::to_string(i - 1), "v" + std::to_string(i));
  }
  CHECK(mistakes(many) ==
        R"(t.toml:2:8: error: its optional and repeated vertices make more than 1024 patterns [too-many-patterns]
    name = "t"
           ^^^
  help: repeat less, or write several templates
)");
}

TEST_CASE("a part of a template that can never match is a mistake with a place") {
  SECTION("an epilogue in front of its anchor, a producer and a prologue behind it") {
    CHECK(
        mistakes(template_of({{"act", "epilogue", "Relu"}, {"conv", "anchor", "Conv"}}, {{"act", "conv"}})) ==
        R"(t.toml:5:8: error: 'act' is an epilogue, but the anchor 'conv' reads it: an epilogue comes behind its anchor [role-and-place]
    role = "epilogue"
           ^^^^^^^^^^
  help: turn its edges round, or give it the role 'prologue' (element by element) or 'producer'
)");
    const std::string behind =
        mistakes(template_of({{"conv", "anchor", "Conv"}, {"act", "prologue", "Relu"}, {"next", "producer", "Conv"}},
                             {{"conv", "act"}, {"act", "next"}}));
    CHECK(
        behind ==
        R"(t.toml:9:8: error: 'act' is a prologue, but it reads the anchor 'conv': a prologue comes in front of its anchor [role-and-place]
    role = "prologue"
           ^^^^^^^^^^
  help: turn its edges round, or give it the role 'epilogue', or make it the anchor
t.toml:13:8: error: 'next' is a producer, but it reads the anchor 'conv': a producer comes in front of its anchor [role-and-place]
    role = "producer"
           ^^^^^^^^^^
  help: turn its edges round, or give it the role 'epilogue', or make it the anchor
)");
  }
  SECTION("roles that no operator of these kinds can have") {
    CHECK(mistakes(template_of({{"conv", "anchor", "Conv"}, {"pool", "epilogue", "MaxPool"}}, {{"conv", "pool"}})) ==
          R"(t.toml:9:8: error: an epilogue computes element by element, MaxPool always reduces [role-and-kind]
    role = "epilogue"
           ^^^^^^^^^^
  help: make it the anchor; what stands in front of the anchor is a 'producer' or 'prologue'
)");
    CHECK(mistakes(template_of({{"sum", "prologue", "@reduction"}, {"conv", "anchor", "Conv"}}, {{"sum", "conv"}}))
              .find("a prologue computes element by element, @reduction always reduces [role-and-kind]") !=
          std::string::npos);
    CHECK(mistakes(template_of({{"v", "view", "Relu"}, {"conv", "anchor", "Conv"}}, {{"v", "conv"}}))
              .find("a view only re-indexes, Relu never does [role-and-kind]") != std::string::npos);
    // One of several kinds that can is enough.
    read_one(template_of({{"conv", "anchor", "Conv"}, {"tail", "epilogue", "MaxPool\", \"Relu"}}, {{"conv", "tail"}}));
  }
  SECTION("slots and operands that there are not") {
    CHECK(mistakes(
              template_of({{"conv", "anchor", "Conv"}, {"act", "epilogue", "Relu"}}, {{"conv", "act", "slot = 7"}})) ==
          R"(t.toml:14:8: error: Relu has no operand in slot 7 [no-such-slot]
    slot = 7
           ^
  help: its only slot is 0
)");
    CHECK(mistakes(template_of({{"conv", "anchor", "Conv"}, {"act", "epilogue", "Relu\", \"Add"}},
                               {{"conv", "act", "slot = 2"}}))
              .find("Relu or Add has no operand in slot 2 [no-such-slot]") != std::string::npos);
    // A class may have any, and so may a concatenation.
    read_one(template_of({{"conv", "anchor", "Conv"}, {"tail", "epilogue", "@element_wise"}},
                         {{"conv", "tail", "slot = 7"}}));
    CHECK(mistakes(template_of({{"a", "prologue", "Relu"}, {"b", "prologue", "Exp"}, {"act", "anchor", "Sigmoid"}},
                               {{"a", "act"}, {"b", "act"}})) ==
          R"(t.toml:20:6: error: Sigmoid has 1 operand, but more vertices lead to 'act' [too-many-operands]
    to = "act"
         ^^^^^
)");
    CHECK(mistakes(template_of({{"a", "prologue", "Relu"}, {"b", "prologue", "Exp"}, {"add", "anchor", "Add"}},
                               {{"a", "add", "slot = 1"}, {"b", "add", "slot = 1"}})) ==
          R"(t.toml:22:8: error: slot 1 of 'add' is the operand that 'a' computes already [taken-slot]
    slot = 1
           ^
  help: an operand has one producer
)");
    // Of two vertices one may be there without the other.
    read_one(template_of({{"a", "prologue", "Relu", "optional = true"},
                          {"b", "prologue", "Exp", "optional = true"},
                          {"add", "anchor", "Add"}},
                         {{"a", "add", "slot = 1"}, {"b", "add", "slot = 1"}}));
  }
  SECTION("names of several lines") {
    CHECK(mistakes(template_of({{"a\\nb", "anchor", "Conv"}})) ==
          R"(t.toml:4:8: error: a name holds no line breaks or other control characters [wrong-name]
    name = "a\nb"
           ^^^^^^
)");
    CHECK(mistakes("[[template]]\nname = \"t\\tu\"\n[[template.vertex]]\nname = \"a\"\nrole = \"anchor\"\nkinds = "
                   "[\"Conv\"]\n")
              .find("t.toml:2:8: error: a name holds no line breaks or other control characters [wrong-name]") !=
          std::string::npos);
  }
  SECTION("conditions that nothing meets") {
    const auto never = [](const std::string& where) {
      const std::string text = mistakes(template_of({{"conv", "anchor", "Conv", "where = { " + where + " }"}}));
      CHECK(text.starts_with("t.toml:7:"));
      CHECK(text.find(" [impossible-condition]\n") != std::string::npos);
      return text.substr(text.find("error: ") + 7, text.find(" [impossible") - text.find("error: ") - 7);
    };
    CHECK(never("strides = 0") == "'strides' is never 0");
    CHECK(never("strides = 1.5") == "'strides' is never 1.5");
    CHECK(never("strides = [1, { max = 0 }]") == "'strides' is never [1,at most 0]");
    CHECK(never("group = { min = 3, max = 4, not = { one_of = [3, 4] } }") == "'group' is never 3 to 4 and not 3 or 4");
    CHECK(never("kernel_shape = { min = 3, one_of = [1, [2, 2]] }") ==
          "'kernel_shape' is never at least 3 and 1 or [2,2]");
    CHECK(never("fan_out = { max = -1 }") == "'fan_out' is never at most -1");
    CHECK(never("rank = { not = \"*\" }") == "'rank' is never not anything");
    CHECK(never("depthwise = { not = { one_of = [true, false] } }") == "'depthwise' is never not true or false");
    CHECK(never("type = { not = \"f32\", one_of = [\"f32\"] }") == "'type' is never not f32 and f32");
    CHECK(never("shape = { one_of = [[1, 2], [3, 4]], not = { max = 9 } }") ==
          "'shape' is never not at most 9 and [1,2] or [3,4]");
    CHECK(never("rank = 3, shape = [1, \"*\"]") == "'rank' 3 and 'shape' [1,anything] never hold together");
    CHECK(mistakes(template_of({{"conv", "anchor", "Conv", "where = { fan_out = 0 }"}, {"act", "epilogue", "Relu"}},
                               {{"conv", "act"}})) ==
          R"(t.toml:7:21: error: 'fan_out' is never 0 here: act reads 'conv' in the template [impossible-condition]
    where = { fan_out = 0 }
                        ^
)");
    for (const std::string where :
         {"strides = [1, 2]", "strides = { one_of = [1, [2, 1]] }", "fan_out = 0", "rank = 4, shape = [1, \"*\", 7, 7]",
          "group = { min = 2, not = 3 }", "kernel_shape = { min = 2, max = 2 }", "type = { not = \"f32\" }",
          "shape = { not = [1, 2] }", "scalar = 0.5", "auto_pad = \"VALID\"", "auto_pad = { not = \"VALID\" }",
          "shape = [1,1,1,1,1,1,1,1,{ max = 1, min = 1 }]"}) {
      INFO(where);
      read_one(template_of({{"conv", "anchor", "Conv", "where = { " + where + " }"}}));
    }
  }
}

TEST_CASE("a template of branches has something that they share, and anchors with epilogues only") {
  const auto branch = [](const std::string& vertices, const std::string& edges) {
    return mistakes("[[template]]\nname = \"t\"\nbranches = 4\n" + vertices + edges);
  };
  const auto vertex = [](const std::string& name, const std::string& role, const std::string& more = "") {
    return "[[template.vertex]]\nname = \"" + name + "\"\nrole = \"" + role + "\"\nkinds = [\"@any\"]\n" + more;
  };
  const auto edge = [](const std::string& from, const std::string& to) {
    return "[[template.edge]]\nfrom = \"" + from + "\"\nto = \"" + to + "\"\n";
  };
  const std::string shared = vertex("x", "context");
  const std::string anchor = vertex("a", "anchor");
  CHECK(read_one("[[template]]\nname = \"t\"\nbranches = 4\n" + shared + anchor + edge("x", "a")).branches == 4);
  CHECK(branch(anchor, "") ==
        R"(t.toml:3:12: error: no vertex has the role 'context', so branches would share nothing [nothing-shared]
    branches = 4
               ^
  help: a vertex with role 'context' stands for the operator whose result they read
)");
  CHECK(branch(vertex("x", "context", "optional = true\n") + anchor, edge("x", "a")) ==
        R"(t.toml:8:12: error: what branches share is neither optional nor repeated [not-for-branches]
    optional = true
               ^^^^
)");
  CHECK(branch(shared + vertex("p", "producer") + anchor, edge("x", "p") + edge("p", "a")) ==
        R"(t.toml:10:8: error: the role 'producer' is not for branches [not-for-branches]
    role = "producer"
           ^^^^^^^^^^
  help: a branch is an anchor with its epilogue, behind a vertex with role 'context'
)");
  CHECK(branch(shared + anchor + vertex("e", "epilogue"), edge("x", "a") + edge("x", "e")) ==
        R"(t.toml:13:8: error: 'e' does not read the anchor's result [not-for-branches]
    name = "e"
           ^^^
  help: a branch is an anchor with its epilogue, behind a vertex with role 'context'
)");
  CHECK(mistakes("[[template]]\nname = \"t\"\nbranches = 1\n" + shared + anchor + edge("x", "a")) ==
        R"(t.toml:3:12: error: 'template.branches' is 1, but lies between 2 and 8 [out-of-range]
    branches = 1
               ^
)");
  CHECK(mistakes("[[template]]\nname = \"t\"\n" + anchor + vertex("b", "branch") + edge("a", "b")) ==
        R"(t.toml:9:8: error: there is no role 'branch' for a vertex [unknown-role]
    role = "branch"
           ^^^^^^^^
  help: 'branches' of the template says how many branches there are; its vertices are one of them
)");
}
