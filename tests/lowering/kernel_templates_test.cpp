// SPDX-License-Identifier: Apache-2.0
// The built-in templates of several kernels: what each takes, that its plan is sound and computes the operators'
// values, and that nothing inside reaches main memory. And the rules of lowering that refuse a group.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "fusion/groups/group.h"
#include "fusion/groups/group_cost.h"
#include "fusion/match/match.h"
#include "fusion/rules/legality.h"
#include "fusion/strategies/strategy.h"
#include "lowering/interpret/interpret.h"
#include "lowering/model/group_model.h"
#include "lowering/nest/group_work.h"
#include "lowering/nest/plan.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "lowering/verify/verify.h"
#include "tests/fusion/random_net.h"

namespace stowage::kernel_templates_test {

using namespace stowage::testing;

namespace {

using Ints = std::vector<std::int64_t>;

const FusionTemplate& built_in(const std::string& name) {
  for (const FusionTemplate& t : built_in_templates()) {
    if (t.name == name) return t;
  }
  FAIL("there is no template " << name);
  return built_in_templates().front();
}

/// The group of a template's longest embedding; nothing where it has none.
std::optional<FusedOperator> longest_group(const GraphFacts& facts, const FusionTemplate& fusion_template) {
  const VertexCandidates candidates = find_candidates(facts, fusion_template);
  for (const Pattern& pattern : expand(fusion_template)) {
    const Embeddings embeddings = find_embeddings(facts.graph, pattern, candidates);
    if (embeddings.found.empty()) continue;
    const Embedding& embedding = embeddings.found.front();
    std::vector<Member> members;
    for (std::size_t v = 0; v < embedding.size(); ++v) {
      members.push_back({embedding[v], std::string(name_of(pattern.vertices[v].role))});
    }
    return make_group(facts, fusion_template.name, embedding[pattern.anchor], std::move(members));
  }
  return std::nullopt;
}

Target sunway(int cores = 64, std::int64_t ldm_bytes = 65536) {
  Target target;
  target.cores.count = cores;
  target.ldm.reserved = 0;
  target.ldm.bytes = ldm_bytes;
  target.dma.bandwidth = {{64, 1e10}};
  return target;
}

Plan plan_of(const Graph& graph, const FusedOperator& group, const Target& target) {
  Planned planned = plan_group(group.name, group_stages(graph, group), {}, *find_planner("swtvm"), target, {});
  if (const auto* refused = std::get_if<Decision>(&planned)) FAIL(refused->rule << ": " << refused->reason);
  return std::get<Plan>(std::move(planned));
}

/// Legal, sound, right, and of its operators' results only the last one is in memory.
void check_group(const Graph& graph, const FusedOperator& group, const Target& target) {
  const GraphFacts facts(graph);
  for (const Decision& broken : refusals(facts, group)) FAIL_CHECK(broken.rule << ": " << broken.reason);
  const Plan plan = plan_of(graph, group, target);
  INFO(to_text(plan.nest));
  REQUIRE(verify(plan.nest, target).value_or("sound") == "sound");
  for (const NestTensor& tensor : plan.nest.tensors) {
    CHECK(plan.nest.stages.tensors[tensor.tensor].role != TensorRole::intermediate);
  }
  const Values values = run_operators(graph, random_inputs(graph, 5));
  std::map<StageTensorId, Tensor> operands;
  for (const StageTensorId t : plan.nest.stages.tensors.ids()) {
    const StageTensor& tensor = plan.nest.stages.tensors[t];
    if (tensor.role == TensorRole::constant) operands[t] = *tensor.value;
    if (tensor.role == TensorRole::input) operands[t] = values.at(graph.tensor(*tensor.source).name);
  }
  const auto computed = interpret(plan.nest, operands);
  const StageTensorId output = plan.nest.stages.stages.back().output;
  CHECK(relative_difference(computed.at(output), values.at(graph.tensor(group.results.front().whole).name)) <= 1e-5);
}

Graph convolution_and_pool(const std::string& kind, bool padded) {
  Net net;
  const TensorId x = net.input("x", {1, 3, 9, 9});
  const TensorId r = net.op("Relu", "relu", {net.conv("conv", x, 4, 3)});
  Attributes attributes{{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}};
  if (padded) attributes["pads"] = Ints{1, 1, 1, 1};
  return net.done({net.op(kind, "pool", {r}, attributes)});
}

Graph two_convolutions(bool depthwise_first, std::int64_t kernel) {
  Net net;
  const TensorId x = net.input("x", {1, 6, 8, 8});
  TensorId first;
  if (depthwise_first) {
    first = net.op("Conv", "first", {x, net.constant("dw", {6, 1, 3, 3}), net.constant("b", {6})},
                   {{"pads", Ints{1, 1, 1, 1}}, {"group", std::int64_t{6}}});
  } else {
    first = net.conv("first", x, 6, 3);
  }
  const TensorId second = net.conv("second", net.op("Relu", "relu", {first}), 5, kernel);
  return net.done({net.op("Relu", "relu2", {second})});
}

Graph pool_and_convolution() {
  Net net;
  const TensorId x = net.input("x", {1, 4, 7, 7});
  const TensorId p = net.op("MaxPool", "pool", {x}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  return net.done({net.op("Relu", "relu", {net.conv("conv", p, 5, 1)})});
}

Graph attention() {
  Net net;
  const TensorId q = net.input("q", {1, 2, 8, 4});
  const TensorId k = net.input("k", {1, 2, 4, 8});
  const TensorId v = net.input("v", {1, 2, 8, 4});
  const TensorId mask = net.input("mask", {1, 1, 1, 8});
  const TensorId scores = net.op("Div", "scale", {net.op("MatMul", "scores", {q, k}), net.value("two", {1}, {2})});
  const TensorId p =
      net.op("Softmax", "softmax", {net.op("Add", "masked", {scores, mask})}, {{"axis", std::int64_t{-1}}});
  return net.done({net.op("MatMul", "values", {p, v})});
}

Graph written_out_normalisation() {
  Net net;
  const TensorId x = net.input("x", {4, 10});
  const Attributes last{{"axes", Ints{-1}}, {"keepdims", std::int64_t{1}}};
  const TensorId d = net.op("Sub", "difference", {x, net.op("ReduceMean", "mean", {x}, last)});
  const TensorId s = net.op("Pow", "square", {d, net.value("two", {1}, {2})});
  const TensorId e =
      net.op("Add", "epsilon", {net.op("ReduceMean", "variance", {s}, last), net.value("e", {1}, {1e-5F})});
  const TensorId n = net.op("Div", "quotient", {d, net.op("Sqrt", "root", {e})});
  const TensorId m = net.op("Mul", "scaled", {n, net.constant("g", {10})});
  return net.done({net.op("Add", "shifted", {m, net.constant("h", {10})})});
}

struct TemplateCase {
  std::string name;
  Graph taken;
  std::size_t operators;  ///< that it takes of it
  Graph left;             ///< something near to it that it does not take
};

}  // namespace

TEST_CASE("every kernel template takes its operators, computes them right and leaves something near alone") {
  const TemplateCase cases[] = {
      {"convolution_pool", convolution_and_pool("MaxPool", true), 3, pool_and_convolution()},
      {"convolution_pool", convolution_and_pool("AveragePool", true), 3, attention()},
      {"convolution_pool", convolution_and_pool("MaxPool", false), 3, two_convolutions(true, 1)},
      {"depthwise_pointwise", two_convolutions(true, 1), 4, two_convolutions(true, 3)},
      {"depthwise_pointwise", two_convolutions(true, 1), 4, two_convolutions(false, 1)},
      {"convolution_convolution", two_convolutions(false, 3), 4, pool_and_convolution()},
      {"pool_convolution", pool_and_convolution(), 3, convolution_and_pool("MaxPool", true)},
      {"attention", attention(), 5, written_out_normalisation()},
      {"layer_normalization", written_out_normalisation(), 9, attention()},
  };
  for (const TemplateCase& c : cases) {
    INFO(c.name << "\n" << to_text(c.taken));
    const GraphFacts facts(c.taken);
    const auto group = longest_group(facts, built_in(c.name));
    REQUIRE(group);
    CHECK(group->operators.size() == c.operators);
    for (const Target& target : {sunway(), sunway(1), sunway(3, 2048), sunway(64, 1024)}) {
      check_group(c.taken, *group, target);
    }
    CHECK_FALSE(longest_group(GraphFacts(c.left), built_in(c.name)));
  }
}

namespace {

/// Pool and 1x1 convolution as in GoogLeNet's inception_3b, or two convolutions as in ResNet-50's layer1_1.
Graph kernels(bool pool, bool activation) {
  Net net;
  const TensorId x = net.input("x", {1, pool ? 192 : 64, 28, 28});
  const TensorId first =
      pool ? net.op("MaxPool", "first", {x}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}})
           : net.op("Relu", "relu", {net.conv("first", x, 16)});
  const TensorId second = net.conv("second", first, 32, pool ? 1 : 3);
  return net.done({activation ? net.op("Relu", "activation", {second}) : second});
}

/// Buffer sizes and trips of the outer loops, by position: names follow the last operator's.
std::vector<std::int64_t> sizes_of(const Plan& plan) {
  std::vector<std::int64_t> sizes;
  for (const GroupIterator& iterator : group_iterators(plan.nest.stages)) {
    sizes.push_back(plan.schedule.buffer.at(iterator.name));
  }
  return sizes;
}

}  // namespace

TEST_CASE("an activation behind a group of kernels adds its own operations and nothing else") {
  for (const bool pool : {true, false}) {
    const auto plan = [&](bool activation) {
      const Graph graph = kernels(pool, activation);
      const auto group =
          longest_group(GraphFacts(graph), built_in(pool ? "pool_convolution" : "convolution_convolution"));
      REQUIRE(group);
      const Plan found = plan_of(graph, *group, sunway());
      INFO(to_text(found.nest));
      CHECK(verify(found.nest, sunway()).value_or("sound") == "sound");
      return found;
    };
    const Plan without = plan(false);
    const Plan with = plan(true);
    INFO(to_text(with.nest));
    CHECK(sizes_of(with) == sizes_of(without));
    CHECK(with.schedule.order->size() == without.schedule.order->size());
    CHECK(with.nest.ldm_bytes == without.nest.ldm_bytes);
    std::int64_t activation = 0;
    for (const TimeTerm& term : with.time.terms)
      activation += name_of(term.cost) == "compute activation" ? term.cycles : 0;
    CHECK(activation > 0);
    CHECK(with.time.cycles == without.time.cycles + activation);
  }
}

TEST_CASE("of a window over a producer's result every row is held: the producer computes none again") {
  const Graph graph = kernels(false, true);
  const auto group = longest_group(GraphFacts(graph), built_in("convolution_convolution"));
  REQUIRE(group);
  const Plan one_core = plan_of(graph, *group, sunway(1, 1 << 17));
  CHECK(one_core.schedule.buffer.at("ry_2") == 3);
  CHECK(one_core.schedule.buffer.at("rx_2") == 3);
  CHECK(one_core.schedule.buffer.at("rc_2") == 16);
}

TEST_CASE("a group that computes again, or has work for few cores, takes long but is not refused: its cycles say it") {
  Net net;
  const TensorId x = net.input("x", {1, 4, 32, 32});
  const Graph twice = net.done({net.conv("second", net.conv("first", x, 4, 3), 4, 3)});
  const auto convolutions = longest_group(GraphFacts(twice), built_in("convolution_convolution"));
  REQUIRE(convolutions);
  const Target tiny = sunway(64, 512 + 48);  // four addresses and four reply words behind the buffers
  const Plan again = plan_of(twice, *convolutions, tiny);
  CHECK(work_of(again).computed == 1540224);  // on each core the rows that two tiles want are computed once
  CHECK(work_of(again).needed == 589824);
  CHECK(work_text(again, tiny) == "uses 64 of 64 cores and computes 2.61 times the operations that are needed");
  CHECK(work_text(plan_of(twice, *convolutions, sunway(4)), sunway(4)) ==
        "uses 4 of 4 cores and computes 1.09 times the operations that are needed");

  Net pooled;
  const TensorId y = pooled.input("x", {1, 4, 32, 32});
  const Graph few = pooled.done({pooled.op("GlobalAveragePool", "pool", {pooled.conv("conv", y, 4, 3)})});
  const auto pool = longest_group(GraphFacts(few), built_in("convolution_pool"));
  REQUIRE(pool);
  const Plan idle = plan_of(few, *pool, sunway());
  CHECK(work_text(idle, sunway()) == "uses 4 of 64 cores and computes 1.00 times the operations that are needed");

  for (const auto& [graph, group, plan, target] :
       {std::tuple(&twice, &*convolutions, &again, tiny), std::tuple(&few, &*pool, &idle, sunway())}) {
    const PlannedGroupCost cost(*find_planner("swtvm"), target);
    const GroupCost::Answer answer = cost.cost(*graph, *group);
    CHECK(answer.decision);
    CHECK(answer.cycles == plan->time.cycles);
    CHECK(cost.plan_text(*graph, *group) == work_text(*plan, target));
  }
}

TEST_CASE("rule padded-intermediate: all that look outside of a result see the same value there") {
  const auto decision = [](const std::string& pool) {
    Net net;
    const TensorId x = net.input("x", {1, 4, 6, 6});
    const TensorId c = net.conv("conv", x, 4, 1);
    const TensorId p = net.op(pool, "pool", {c}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
    const Graph graph = net.done({net.op("Add", "add", {p, net.conv("other", c, 4, 3)})});
    const GraphFacts facts(graph);
    std::vector<Member> members;
    for (const OpId op : facts.order) members.push_back({op, "producer"});
    const FusedOperator group = make_group(facts, "test", facts.order.back(), members);
    const Planned planned = plan_group("group", group_stages(graph, group), {}, *find_planner("swtvm"), sunway(), {});
    const auto* refused = std::get_if<Decision>(&planned);
    return refused == nullptr ? Decision::allow() : *refused;
  };
  CHECK(decision("AveragePool"));
  CHECK(decision("MaxPool").rule == "padded-intermediate");
  CHECK(decision("MaxPool").reason == "outside of conv_out one reader sees 0, another one -inf");
}

TEST_CASE("rule table-in-window: what reads at places from a table is not computed for a reader that looks outside") {
  const auto decision = [](std::int64_t pad) {
    Net net;
    const TensorId x = net.input("x", {1, 4, 6, 6});
    const TensorId r = net.op("Resize", "resize", {x},
                              {{"mode", std::string("linear")},
                               {"scales", std::vector<double>{1, 1, 2, 2}},
                               {"coordinate_transformation_mode", std::string("half_pixel")}});
    const Graph graph =
        net.done({net.op("MaxPool", "pool", {r}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{pad, pad, pad, pad}}})});
    const GraphFacts facts(graph);
    std::vector<Member> members;
    for (const OpId op : facts.order) members.push_back({op, "producer"});
    const FusedOperator group = make_group(facts, "test", facts.order.back(), members);
    const Planned planned = plan_group("group", group_stages(graph, group), {}, *find_planner("swtvm"), sunway(), {});
    const auto* refused = std::get_if<Decision>(&planned);
    return refused == nullptr ? Decision::allow() : *refused;
  };
  CHECK(decision(0));
  CHECK(decision(1).rule == "table-in-window");
}

namespace {

/// Bytes (at `element_bytes`) of the feature maps that groups read and write; parameters are none.
std::int64_t boundary_bytes(const FusedGraph& fused, std::int64_t element_bytes) {
  std::int64_t elements = 0;
  for (const FusedOperator& group : fused.groups) {
    for (const TensorId input : group.inputs) {
      const GraphTensor& tensor = fused.graph.tensor(input);
      if (!tensor.constant) elements += element_count(tensor.shape);
    }
    elements += element_count(fused.graph.tensor(group.results.front().whole).shape);
  }
  return elements * element_bytes;
}

}  // namespace

TEST_CASE("ResNet-50 res2a, convolution + element-wise add: 36.4 % fewer boundary bytes (8/22), at one byte") {
  Net net;
  const TensorId pool1 = net.input("pool1", {1, 64, 56, 56});
  const TensorId branch2b = net.input("res2a_branch2b", {1, 64, 56, 56});
  const TensorId branch1 = net.conv("res2a_branch1", pool1, 256, 1);
  const TensorId branch2c = net.conv("res2a_branch2c", branch2b, 256, 1);
  const Graph graph = net.done({net.op("Add", "res2a", {branch1, branch2c})});
  const FusedGraph alone = find_strategy("none")->fuse(graph, built_in_templates(), nullptr, {});
  const FusedGraph fused = find_strategy("greedy")->fuse(graph, built_in_templates(), nullptr, {});
  constexpr std::int64_t u = 56 * 56 * 64;
  CHECK(boundary_bytes(alone, 1) == 22 * u);
  CHECK(boundary_bytes(fused, 1) == 14 * u);
  CHECK(fmt::format("{:.1f} %", 100.0 * static_cast<double>(22 * u - boundary_bytes(fused, 1)) / (22 * u)) == "36.4 %");
}

TEST_CASE("the first five VGG-19 convolutions as one group: boundary bytes of input and output are 3.637 MiB") {
  Net net;
  TensorId x = net.input("image", {1, 3, 224, 224});
  std::string toml = "[[template]]\nname = \"vgg\"\nsummary = \"five convolutions with their ReLUs and pools\"\n";
  std::string last;
  const auto add = [&](const std::string& kind, const std::string& name, const std::string& role,
                       std::int64_t features) {
    x = kind == "Conv"   ? net.conv(name, x, features, 3)
        : kind == "Relu" ? net.op("Relu", name, {x})
                         : net.op("MaxPool", name, {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
    toml += fmt::format("[[template.vertex]]\nname = \"{}\"\nkinds = [\"{}\"]\nrole = \"{}\"\n", name, kind, role);
    if (!last.empty()) toml += fmt::format("[[template.edge]]\nfrom = \"{}\"\nto = \"{}\"\n", last, name);
    last = name;
  };
  const std::pair<const char*, std::int64_t> convolutions[] = {
      {"1_1", 64}, {"1_2", 64}, {"2_1", 128}, {"2_2", 128}, {"3_1", 256}};
  for (const auto& [number, features] : convolutions) {
    const bool is_last = features == 256;
    add("Conv", fmt::format("conv{}", number), is_last ? "anchor" : "producer", features);
    add("Relu", fmt::format("relu{}", number), is_last ? "epilogue" : "prologue", 0);
    if (std::string(number).back() == '2') add("MaxPool", fmt::format("pool{}", number[0]), "producer", 0);
  }
  const Graph graph = net.done({x});
  Diagnostics diagnostics;
  const auto templates = parse_templates(toml, "vgg.toml", diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(templates);
  const GraphFacts facts(graph);
  const auto group = longest_group(facts, templates->front());
  REQUIRE(group);
  CHECK(group->operators.size() == 12);
  CHECK(refusals(facts, *group).empty());
  const Target large = sunway(1, std::int64_t{1} << 28);
  const Plan plan = plan_of(graph, *group, large);
  CHECK(verify(plan.nest, large).value_or("sound") == "sound");
  CHECK(work_of(plan).factor() == 1.0);
  const std::int64_t boundary = boundary_bytes({graph, {*group}}, 4);
  CHECK(boundary == 4 * (3 * 224 * 224 + 256 * 56 * 56));
  CHECK(fmt::format("{:.3f} MiB", static_cast<double>(boundary) / (1 << 20)) == "3.637 MiB");
  // And it is what the plan moves of feature maps: each once.
  std::int64_t moved = 0;
  for (const auto& [id, totals] : plan.counts.dma) {
    const auto& dma = std::get<Dma>(find_statement(plan.nest, id)->node);
    const StageTensorId tensor = plan.nest.tensors[dma.nest_tensor].tensor;
    const TensorRole role = plan.nest.stages.tensors[tensor].role;
    if (role == TensorRole::input || role == TensorRole::output) moved += totals.bytes;
  }
  CHECK(moved == boundary);
}

}  // namespace stowage::kernel_templates_test
