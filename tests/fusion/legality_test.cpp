// SPDX-License-Identifier: Apache-2.0
// Every rule of legality with one group that it allows and one that it refuses.
#include "fusion/rules/legality.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "core/decision_rules.h"
#include "fusion/groups/group.h"
#include "tests/fusion/net.h"
#include "tests/places.h"

using namespace stowage;
using stowage::testing::Net;

namespace {

struct Candidate {
  Graph graph;
  std::vector<std::pair<std::string, std::string>> members;  ///< name and role
};

/// x → conv → relu → sigmoid, and gap → scale behind conv for whoever asks.
Candidate chain(std::vector<std::pair<std::string, std::string>> members) {
  Net net;
  const TensorId x = net.input("x", {1, 3, 4, 4});
  const TensorId c = net.conv("conv", x, 8, 3);
  const TensorId r = net.op("Relu", "relu", {c});
  const TensorId s = net.op("Sigmoid", "sigmoid", {r});
  return {net.done({s}), std::move(members)};
}

/// conv is read by relu and by tanh (or relu by tanh); add joins them.
Candidate diamond(std::vector<std::pair<std::string, std::string>> members, bool conv_is_output = false,
                  bool tanh_reads_conv = true) {
  Net net;
  const TensorId x = net.input("x", {1, 3, 4, 4});
  const TensorId c = net.conv("conv", x, 8, 3);
  const TensorId r = net.op("Relu", "relu", {c});
  const TensorId t = net.op("Tanh", "tanh", {tanh_reads_conv ? c : r});
  const TensorId a = net.op("Add", "add", {r, t});
  std::vector<TensorId> outputs = {a};
  if (conv_is_output) outputs.push_back(c);
  return {net.done(outputs), std::move(members)};
}

/// A row computed by conv is broadcast over y by add.
Candidate broadcast(std::vector<std::pair<std::string, std::string>> members) {
  Net net;
  const TensorId x = net.input("x", {1, 3, 1, 4});
  const TensorId y = net.input("y", {1, 8, 4, 4});
  const TensorId c = net.op("Conv", "conv", {x, net.constant("w", {8, 3, 1, 1})});
  const TensorId bias = net.op("Add", "bias", {c, net.constant("b", {8, 1, 1})});
  const TensorId a = net.op("Add", "add", {bias, y});
  return {net.done({a}), std::move(members)};
}

/// max pool, relu and flatten in front of a matrix product.
Candidate prologues(std::vector<std::pair<std::string, std::string>> members) {
  Net net;
  const TensorId x = net.input("x", {1, 3, 4, 4});
  const TensorId p = net.op("MaxPool", "pool", {x}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
  const TensorId r = net.op("Relu", "relu", {p});
  const TensorId f = net.op("Flatten", "flatten", {r});
  const TensorId m = net.op("MatMul", "matmul", {f, net.constant("w", {27, 5})});
  return {net.done({m}), std::move(members)};
}

/// Rows picked by number in front of a matrix product.
Candidate gathered(std::vector<std::pair<std::string, std::string>> members) {
  GraphBuilder builder("net");
  Diagnostics diagnostics;
  const TensorId x = builder.add_input("x", ElementType::f32, {9, 4});
  const TensorId rows = builder.add_input("rows", ElementType::i64, {3});
  const TensorId w = builder.add_input("w", ElementType::f32, {4, 5});
  const auto g = append_operator(builder, "Gather", "gather", {}, {x, rows}, "gather_out", {}, {}, diagnostics);
  REQUIRE(g);
  const auto m = append_operator(builder, "MatMul", "matmul", {}, {*g, w}, "matmul_out", {}, {}, diagnostics);
  REQUIRE(m);
  builder.mark_output(*m);
  return {std::move(builder).build(), std::move(members)};
}

/// Two convolutions of one tensor; what `second` makes of the second one.
Candidate branches(const std::function<TensorId(Net&, TensorId x, TensorId first)>& second) {
  Net net;
  const TensorId x = net.op("Relu", "x", {net.input("in", {1, 3, 4, 4})});
  const TensorId a = net.conv("a", x, 8);
  const TensorId b = second(net, x, a);
  return {net.done({net.op("Relu", "ra", {a}), net.op("Relu", "rb", {b})}), {{"a", "anchor"}, {"b", "branch"}}};
}

Candidate alike_branches() {
  return branches([](Net& net, TensorId x, TensorId) { return net.conv("b", x, 5); });
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct RuleCase {
  Candidate allowed;
  Candidate refused;
  std::string reason;
};

std::map<std::string, RuleCase> rule_cases() {
  std::map<std::string, RuleCase> cases;
  cases["one-anchor"] = {chain({{"conv", "anchor"}, {"relu", "epilogue"}}),
                         chain({{"conv", "anchor"}, {"relu", "anchor"}}), "conv + relu has 2 anchors"};
  cases["one-output"] = {diamond({{"conv", "anchor"}, {"relu", "epilogue"}, {"tanh", "epilogue"}, {"add", "epilogue"}}),
                         diamond({{"conv", "anchor"}, {"relu", "epilogue"}, {"tanh", "epilogue"}}),
                         "2 results leave the group: relu + tanh"};
  cases["inner-use"] = {chain({{"conv", "anchor"}, {"relu", "epilogue"}}),
                        diamond({{"conv", "anchor"}, {"relu", "epilogue"}}),
                        "conv_out, the result of conv, is also read by tanh outside the group"};
  cases["network-output"] = {
      diamond({{"conv", "anchor"}, {"relu", "epilogue"}, {"tanh", "epilogue"}, {"add", "epilogue"}}),
      diamond({{"conv", "anchor"}, {"relu", "epilogue"}, {"tanh", "epilogue"}, {"add", "epilogue"}}, true),
      "conv_out, the result of conv, is an output of the network"};
  cases["convex"] = {diamond({{"relu", "anchor"}, {"add", "epilogue"}}),
                     diamond({{"conv", "anchor"}, {"relu", "epilogue"}, {"add", "epilogue"}}),
                     "a path leaves the group and comes back through tanh to add"};
  cases["epilogue-shape"] = {broadcast({{"conv", "anchor"}, {"bias", "epilogue"}}),
                             broadcast({{"conv", "anchor"}, {"bias", "epilogue"}, {"add", "epilogue"}}),
                             "add has shape [1,8,4,4], conv has [1,8,1,4]"};
  cases["epilogue-operands"] = {broadcast({{"conv", "anchor"}, {"bias", "epilogue"}}),
                                broadcast({{"bias", "anchor"}, {"add", "epilogue"}}),
                                "bias_out of shape [1,8,1,4], computed inside the group, is broadcast by add to "
                                "[1,8,4,4]"};
  cases["prologue-element"] = {
      prologues({{"relu", "prologue"}, {"flatten", "view"}, {"matmul", "anchor"}}),
      prologues({{"pool", "prologue"}, {"relu", "prologue"}, {"flatten", "view"}, {"matmul", "anchor"}}),
      "pool (MaxPool) reduces"};
  cases["producer-places"] = {
      prologues({{"pool", "producer"}, {"relu", "prologue"}, {"flatten", "view"}, {"matmul", "anchor"}}),
      gathered({{"gather", "producer"}, {"matmul", "anchor"}}), "gather (Gather) reads at places that depend on data"};
  cases["view-role"] = {prologues({{"relu", "prologue"}, {"flatten", "view"}, {"matmul", "anchor"}}),
                        prologues({{"relu", "view"}, {"flatten", "view"}, {"matmul", "anchor"}}),
                        "relu (Relu) moves or computes elements"};
  cases["branches-apart"] = {alike_branches(),
                             branches([](Net& net, TensorId, TensorId first) { return net.conv("b", first, 5); }),
                             "b reads a_out, the result of its branch a"};
  cases["branches-alike"] = {
      alike_branches(), branches([](Net& net, TensorId x, TensorId) {
        return net.op("Conv", "b", {x, net.constant("b_w", {5, 3, 1, 1})},
                      {{"pads", std::vector<std::int64_t>{0, 0, 0, 0}}, {"strides", std::vector<std::int64_t>{2, 2}}});
      }),
      "b has strides [2, 2], a has [1, 1]"};
  cases["branches-parameters"] = {
      alike_branches(), branches([](Net& net, TensorId x, TensorId) {
        return net.op("Conv", "b", {x, net.input("w", {5, 3, 1, 1})},
                      {{"pads", std::vector<std::int64_t>{0, 0, 0, 0}}, {"strides", std::vector<std::int64_t>{1, 1}}});
      }),
      "b reads w, which is no constant"};
  cases["branches-place"] = {alike_branches(), branches([](Net& net, TensorId x, TensorId) {
                               net.conv("between", x, 2);
                               return net.conv("b", x, 5);
                             }),
                             "a_out lies in a_out_and_branches from element 0 with strides [240, 16, 4, 1], b_out lies "
                             "in a_out_and_branches from element 160 with strides [240, 16, 4, 1]"};
  return cases;
}

FusedOperator group_of(const GraphFacts& facts, const Candidate& candidate) {
  std::vector<Member> members;
  std::optional<OpId> anchor;
  for (const auto& [name, role] : candidate.members) {
    const auto op = candidate.graph.find_operator(name);
    REQUIRE(op);
    if (role == "anchor") anchor = *op;
    members.push_back({*op, role});
  }
  return make_group(facts, "test", anchor.value_or(members[0].op), members);
}

std::optional<std::string> broken(const LegalityRule& rule, const Candidate& candidate) {
  const GraphFacts facts(candidate.graph);
  const auto found = rule.broken(facts, group_of(facts, candidate));
  return found ? std::optional(found->reason) : std::nullopt;
}

}  // namespace

TEST_CASE("every rule allows one group and refuses another") {
  const auto cases = rule_cases();
  std::size_t judged = 0;
  for (const LegalityRule& rule : legality_rules()) {
    if (rule.scope != RuleScope::structure) continue;
    ++judged;
    INFO(rule.name << ": " << rule.sentence);
    const auto found = cases.find(std::string(rule.name));
    REQUIRE(found != cases.end());
    CHECK(broken(rule, found->second.allowed) == std::nullopt);
    CHECK(broken(rule, found->second.refused) == found->second.reason);
  }
  CHECK(cases.size() == judged);
}

TEST_CASE("the change that a refusal names lifts it") {
  struct Flip {
    std::string rules;
    Candidate refused;
    std::string change;
    Candidate changed;
  };
  /// conv, read by relu within the group and by others.
  const auto crowd = [](const std::vector<std::string>& others, const std::vector<std::string>& of_relu = {}) {
    Net net;
    const TensorId x = net.input("x", {1, 3, 4, 4});
    const TensorId c = net.conv("conv", x, 8, 3);
    const TensorId r = net.op("Relu", "relu", {c});
    std::vector<TensorId> outputs = {net.op("Sigmoid", "sigmoid", {r})};
    for (const std::string& name : others) outputs.push_back(net.op("Tanh", name, {c}));
    for (const std::string& name : of_relu) outputs.push_back(net.op("Exp", name, {r}));
    return Candidate{net.done(outputs), {{"conv", "anchor"}, {"relu", "epilogue"}, {"sigmoid", "epilogue"}}};
  };
  const auto scaled = [](const Shape& factors) {
    Net net;
    const TensorId c = net.conv("conv", net.input("x", {1, 3, 4, 4}), 8, 3);
    const TensorId s = net.op("Sigmoid", "sigmoid", {net.input("y", factors)});
    return Candidate{net.done({net.op("Mul", "mul", {c, s})}),
                     {{"conv", "anchor"}, {"sigmoid", "prologue"}, {"mul", "epilogue"}}};
  };
  const auto reshaped = [](const std::vector<std::int64_t>& shape) {
    Net net;
    const TensorId c = net.conv("conv", net.input("x", {1, 3, 4, 4}), 8, 3);
    const TensorId r = net.op("Reshape", "reshape", {c}, {{"shape", shape}});
    return Candidate{net.done({net.op("Relu", "relu", {r})}),
                     {{"conv", "anchor"}, {"reshape", "view"}, {"relu", "epilogue"}}};
  };
  const auto transposed = [](const std::vector<std::int64_t>& order) {
    Net net;
    const TensorId m = net.op("MatMul", "matmul", {net.input("x", {4, 4}), net.constant("w", {4, 4})});
    return Candidate{net.done({net.op("Transpose", "transpose", {m}, {{"perm", order}})}),
                     {{"matmul", "anchor"}, {"transpose", "epilogue"}}};
  };
  const std::vector<std::pair<std::string, std::string>> two = {{"conv", "anchor"}, {"relu", "epilogue"}};
  // Behind relu two chains, of one and of two, which meet in mul.
  const auto meeting = [](std::vector<std::pair<std::string, std::string>> members) {
    Net net;
    const TensorId r = net.op("Relu", "relu", {net.conv("conv", net.input("x", {1, 3, 4, 4}), 8)});
    const TensorId s = net.op("Sigmoid", "sigmoid", {net.op("Tanh", "tanh", {r})});
    return Candidate{net.done({net.op("Mul", "mul", {net.op("Exp", "exp", {r}), s})}), std::move(members)};
  };
  const auto all_of_meeting = meeting({{"conv", "anchor"},
                                       {"relu", "epilogue"},
                                       {"tanh", "epilogue"},
                                       {"sigmoid", "epilogue"},
                                       {"exp", "epilogue"},
                                       {"mul", "epilogue"}});
  const auto chosen_rows = [](std::vector<std::pair<std::string, std::string>> members) {
    GraphBuilder builder("net");
    Diagnostics diagnostics;
    const TensorId x = builder.add_input("x", ElementType::f32, {9, 4});
    const TensorId rows = builder.add_input("rows", ElementType::i64, {3});
    const auto g = append_operator(builder, "Gather", "gather", {}, {x, rows}, "gather_out", {}, {}, diagnostics);
    REQUIRE(g);
    const auto r = append_operator(builder, "Relu", "relu", {}, {*g}, "relu_out", {}, {}, diagnostics);
    REQUIRE(r);
    builder.mark_output(*r);
    return Candidate{std::move(builder).build(), std::move(members)};
  };
  Net apart;
  const TensorId x = apart.input("x", {1, 3, 4, 4});
  const TensorId r = apart.op("Relu", "relu", {apart.conv("conv", x, 8, 3)});
  const TensorId t = apart.op("Tanh", "tanh", {apart.input("y", {1, 8, 4, 4})});
  const Candidate tanh_of_y{apart.done({apart.op("Add", "add", {r, t})}),
                            {{"conv", "anchor"}, {"relu", "epilogue"}, {"add", "epilogue"}}};
  const std::vector<std::pair<std::string, std::string>> all_of_diamond = {
      {"conv", "anchor"}, {"relu", "epilogue"}, {"tanh", "epilogue"}, {"add", "epilogue"}};
  const Flip flips[] = {
      {"one-anchor", chain({{"conv", "anchor"}, {"relu", "anchor"}}), "a template that takes relu as 'epilogue'",
       chain(two)},
      {"one-anchor epilogue-operands", chain({{"conv", "epilogue"}, {"relu", "epilogue"}}),
       "a template that takes conv as 'anchor'", chain(two)},
      {"one-output inner-use", diamond({{"conv", "anchor"}, {"relu", "epilogue"}, {"tanh", "epilogue"}}),
       "a template that takes add too", diamond(all_of_diamond)},
      {"inner-use convex", diamond({{"conv", "anchor"}, {"relu", "epilogue"}, {"add", "epilogue"}}),
       "a template that takes tanh too, or tanh not reading conv_out", diamond(all_of_diamond)},
      {"inner-use convex", diamond({{"conv", "anchor"}, {"relu", "epilogue"}, {"add", "epilogue"}}),
       "a template that takes tanh too, or tanh not reading conv_out", tanh_of_y},
      {"one-output inner-use",
       meeting({{"conv", "anchor"}, {"relu", "epilogue"}, {"tanh", "epilogue"}, {"exp", "epilogue"}}),
       "a template that takes sigmoid and mul too", all_of_meeting},
      {"one-output inner-use convex", meeting({{"conv", "anchor"}, {"relu", "epilogue"}, {"mul", "epilogue"}}),
       "a template that takes tanh, sigmoid and exp too", all_of_meeting},
      {"producer-places", chosen_rows({{"gather", "producer"}, {"relu", "anchor"}}),
       "a template that takes gather as 'anchor', relu as 'epilogue'",
       chosen_rows({{"gather", "anchor"}, {"relu", "epilogue"}})},
      {"inner-use", crowd({"a"}), "a not reading conv_out", crowd({})},
      {"inner-use", crowd({"a", "b", "c"}), "a, b and c not reading conv_out", crowd({})},
      {"inner-use", crowd({"a", "b"}, {"d"}), "a and b not reading conv_out, and d not reading relu_out", crowd({})},
      {"inner-use", diamond(two), "tanh not reading conv_out", diamond(two, false, false)},
      {"network-output",
       diamond({{"conv", "anchor"}, {"relu", "epilogue"}, {"tanh", "epilogue"}, {"add", "epilogue"}}, true),
       "conv_out not being an output of the network",
       diamond({{"conv", "anchor"}, {"relu", "epilogue"}, {"tanh", "epilogue"}, {"add", "epilogue"}})},
      {"epilogue-operands", scaled({1, 8, 1, 1}), "sigmoid_out having the shape [1,8,4,4]", scaled({1, 8, 4, 4})},
      {"epilogue-shape", reshaped({1, 1, 1, 128}), "relu having the shape [1,8,4,4]", reshaped({1, 8, 4, 4})},
      {"prologue-element",
       prologues({{"pool", "prologue"}, {"relu", "prologue"}, {"flatten", "view"}, {"matmul", "anchor"}}),
       "a template that takes pool as 'producer'",
       prologues({{"pool", "producer"}, {"relu", "prologue"}, {"flatten", "view"}, {"matmul", "anchor"}})},
      {"view-role", prologues({{"relu", "view"}, {"flatten", "view"}, {"matmul", "anchor"}}),
       "a template that takes relu as 'producer'",
       prologues({{"relu", "producer"}, {"flatten", "view"}, {"matmul", "anchor"}})},
      {"epilogue-operands", transposed({1, 0}), "transpose reading matmul_out at its own index", transposed({0, 1})},
  };
  for (const Flip& flip : flips) {
    const GraphFacts facts(flip.refused.graph);
    const std::vector<Decision> broken = refusals(facts, group_of(facts, flip.refused));
    INFO(flip.change);
    std::string rules;
    for (const Decision& refusal : broken) rules += (rules.empty() ? "" : " ") + refusal.rule;
    CHECK(rules == flip.rules);
    CHECK(change_of_structure(facts, group_of(facts, flip.refused), broken) == flip.change);
    const GraphFacts after(flip.changed.graph);
    CHECK(refusals(after, group_of(after, flip.changed)).empty());
  }
  // In front of a product rows that are picked by number can be in no role; results that meet nowhere cannot be one.
  Candidate two_ends = crowd({"a"}, {"b"});
  two_ends.members.emplace_back("b", "epilogue");
  for (const Candidate& hopeless : {gathered({{"gather", "producer"}, {"matmul", "anchor"}}),
                                    gathered({{"gather", "prologue"}, {"matmul", "anchor"}}), two_ends}) {
    const GraphFacts facts(hopeless.graph);
    const FusedOperator group = group_of(facts, hopeless);
    CHECK_FALSE(refusals(facts, group).empty());
    CHECK(change_of_structure(facts, group, refusals(facts, group)).empty());
  }
  // Of a crowd the readers are counted.
  const Candidate many = crowd({"a", "b", "c", "d", "e", "f", "g"});
  const GraphFacts facts(many.graph);
  CHECK(refusals(facts, group_of(facts, many)).at(0).flip == "7 operators not reading conv_out");
}

TEST_CASE("docs/templates.md has every rule in the table's words") {
  const std::string page = text_of(test::source_folder() / "docs/templates.md");
  std::string table = "| rule | about | what must hold |\n|---|---|---|\n";
  for (const LegalityRule& rule : legality_rules()) {
    table += "| `" + std::string(rule.name) + "` | " + std::string(name_of(rule.scope)) + " | " +
             std::string(rule.sentence) + " |\n";
  }
  INFO(table);
  CHECK(page.find(table + "\n") != std::string::npos);
}

TEST_CASE("every rule that some source refuses by is in the table, and no other") {
  const std::map<std::string, std::string> shared_names = {{"ldm_capacity_rule", ldm_capacity_rule},
                                                           {"dma_alignment_rule", dma_alignment_rule},
                                                           {"schedule_rule", schedule_rule},
                                                           {"fixed_rule", fixed_rule}};
  std::set<std::string> used;
  for (const char* folder : {"fusion", "lowering"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(test::source_folder() / folder)) {
      if (file.path().extension() != ".cpp") continue;
      const std::string text = text_of(file.path().string());
      const std::regex refusal("Decision::refuse\\(\\s*(?:\"([a-z-]+)\"|([a-z_]+_rule)\\b)");
      for (auto at = std::sregex_iterator(text.begin(), text.end(), refusal); at != std::sregex_iterator(); ++at) {
        const auto shared = shared_names.find((*at)[2]);
        if ((*at)[1].matched) used.insert((*at)[1]);
        if (shared != shared_names.end()) used.insert(shared->second);
      }
    }
  }
  std::set<std::string> known;
  for (const LegalityRule& rule : legality_rules()) {
    INFO(rule.name);
    CHECK(known.emplace(rule.name).second);
    CHECK((rule.broken != nullptr) == (rule.scope == RuleScope::structure));
    // Limits of matching are recorded without a group, so they are no Decisions.
    if (rule.scope != RuleScope::structure && rule.name != "search-limit" && rule.name != "repeat-limit") {
      CHECK(used.contains(std::string(rule.name)));
    }
  }
  for (const std::string& name : used) {
    INFO(name);
    CHECK(known.contains(name));
  }
}

TEST_CASE("an epilogue may not read at other places than its own index") {
  Net net;
  const TensorId x = net.input("x", {4, 4});
  const TensorId m = net.op("MatMul", "matmul", {x, net.constant("w", {4, 4})});
  const TensorId t = net.op("Transpose", "transpose", {m});
  const Candidate candidate{net.done({t}), {{"matmul", "anchor"}, {"transpose", "epilogue"}}};
  for (const LegalityRule& rule : legality_rules()) {
    if (rule.name != "epilogue-operands") continue;
    CHECK(broken(rule, candidate) == "transpose reads matmul_out at other places than its own index");
  }
}
