// SPDX-License-Identifier: Apache-2.0
// Which concatenations, slices and reshapes become views: small cases by hand, and random networks run on storages.
#include "fusion/facts/views.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "core/storage_box.h"
#include "tests/fusion/run_graph.h"
#include "tests/fusion/view_net.h"

using namespace stowage;
using namespace stowage::testing;

namespace {

using Ints = std::vector<std::int64_t>;

/// The boxes and the decisions.
std::string placed_views(const Graph& graph) {
  Trace trace;
  const Graph result = place_tensors(graph, TraceSink(&trace), 4);
  CHECK(verify(result).value_or("sound") == "sound");
  std::string text;
  for (const GraphTensor& tensor : result.tensors()) {
    if (tensor.inside) text += tensor.name + " " + to_text(result, *tensor.inside) + "\n";
  }
  for (const TraceRecord& record : trace.records) {
    const TraceHeading at = heading_of(record);
    CHECK(at.algorithm == "placement");
    const auto op = result.find_operator(record.subject);
    REQUIRE(op);
    CHECK(is_in_place(result, *op) == (at.outcome == TraceOutcome::accepted));
    text += at.outcome == TraceOutcome::accepted ? "+ " : "- ";
    text += record.subject + " [" + at.rule + "] " + sentence(record) + "\n";
  }
  return text;
}

TensorId cut(Net& net, const std::string& name, TensorId x, std::int64_t axis, std::int64_t start, std::int64_t end,
             std::int64_t step = 1) {
  return net.op("Slice", name, {x},
                {{"axes", Ints{axis}}, {"starts", Ints{start}}, {"ends", Ints{end}}, {"steps", Ints{step}}});
}

TensorId concat(Net& net, const std::string& name, const std::vector<TensorId>& operands, std::int64_t axis = 1) {
  return net.op("Concat", name, {operands.begin(), operands.end()}, {{"axis", axis}});
}

}  // namespace

TEST_CASE("branches of an inception module are written straight into their concatenation") {
  Net net;
  const TensorId x = net.input("x", {2, 4, 6, 6});
  const TensorId a = net.op("Relu", "a", {net.conv("conv_a", x, 3)});
  const TensorId b = net.op("Relu", "b", {net.conv("conv_b", x, 5, 3)});
  CHECK(placed_views(net.done({net.op("Relu", "after", {concat(net, "both", {a, b})})})) ==
        R"(a_out in both_out from element 0 with strides [288, 36, 6, 1]
b_out in both_out from element 108 with strides [288, 36, 6, 1]
+ both [concat] its operands are written straight into both_out
)");
}

TEST_CASE("concatenations that grow lie in the last one, and one inside another as well") {
  Net net;
  const TensorId x0 = net.op("Relu", "x0", {net.input("x", {1, 4, 2, 2})});
  const TensorId x1 = net.conv("x1", x0, 2);
  const TensorId x2 = net.conv("x2", concat(net, "two", {x0, x1}), 2);
  const TensorId x3 = net.conv("x3", concat(net, "three", {x0, x1, x2}), 2);
  const TensorId all = concat(net, "all", {x0, x1, x2, x3});
  const TensorId outer = concat(net, "outer", {net.op("Relu", "r", {all}), all});
  CHECK(placed_views(net.done({net.op("Relu", "after", {outer})})) ==
        R"(x0_out in outer_out from element 40 with strides [80, 4, 2, 1]
x1_out in outer_out from element 56 with strides [80, 4, 2, 1]
two_out in outer_out from element 40 with strides [80, 4, 2, 1]
x2_out in outer_out from element 64 with strides [80, 4, 2, 1]
three_out in outer_out from element 40 with strides [80, 4, 2, 1]
x3_out in outer_out from element 72 with strides [80, 4, 2, 1]
all_out in outer_out from element 40 with strides [80, 4, 2, 1]
r_out in outer_out from element 0 with strides [80, 4, 2, 1]
+ two [concat] its operands lie side by side in outer_out from element 40 with strides [80, 4, 2, 1]
+ three [concat] its operands lie side by side in outer_out from element 40 with strides [80, 4, 2, 1]
+ all [concat] its operands are written straight into all_out (in outer_out from element 40 with strides [80, 4, 2, 1])
+ outer [concat] its operands are written straight into outer_out
)");
}

TEST_CASE("queries, keys and values are boxes of one product") {
  Net net;
  const TensorId x = net.input("x", {2, 5, 8});
  const TensorId qkv = net.op("MatMul", "qkv", {x, net.constant("w", {8, 24})});
  const TensorId q = net.op("Relu", "rq", {cut(net, "q", qkv, 2, 0, 8)});
  const TensorId k = net.op("Reshape", "heads", {cut(net, "k", qkv, 2, 8, 16)}, {{"shape", Ints{2, 5, 2, 4}}});
  const TensorId v = net.op("Reshape", "rows", {cut(net, "v", qkv, 2, 16, 24)}, {{"shape", Ints{10, 8}}});
  const TensorId w = net.op("Reshape", "flat", {cut(net, "w2", qkv, 2, 0, 8)}, {{"shape", Ints{2, 40}}});
  CHECK(placed_views(net.done({q, net.op("Relu", "rk", {k}), net.op("Relu", "rv", {v}), net.op("Relu", "rw", {w})})) ==
        R"(q_out in qkv_out from element 0 with strides [120, 24, 1]
k_out in qkv_out from element 8 with strides [120, 24, 1]
heads_out in qkv_out from element 8 with strides [120, 24, 4, 1]
v_out in qkv_out from element 16 with strides [120, 24, 1]
rows_out in qkv_out from element 16 with strides [24, 1]
w2_out in qkv_out from element 0 with strides [120, 24, 1]
+ q [slice] q_out lies in qkv_out from element 0 with strides [120, 24, 1]
+ k [slice] k_out lies in qkv_out from element 8 with strides [120, 24, 1]
+ heads [reshape] heads_out lies in qkv_out from element 8 with strides [120, 24, 4, 1]
+ v [slice] v_out lies in qkv_out from element 16 with strides [120, 24, 1]
+ rows [reshape] rows_out lies in qkv_out from element 16 with strides [24, 1]
+ w2 [slice] w2_out lies in qkv_out from element 0 with strides [120, 24, 1]
- flat [merged-dimensions] copies: it merges dimensions of w2_out between which there are gaps in qkv_out from element 0 with strides [120, 24, 1]
)");
}

TEST_CASE("the half that a shuffle hands on is copied, not both halves") {
  Net net;
  const TensorId x = net.op("Relu", "x", {net.input("in", {1, 4, 2, 2})});
  const TensorId kept = cut(net, "kept", x, 1, 0, 2);
  const TensorId branch = net.conv("branch", cut(net, "given", x, 1, 2, 4), 2);
  const TensorId both = concat(net, "both", {kept, branch});
  const TensorId swapped = concat(net, "swapped", {cut(net, "s2", both, 1, 2, 4), cut(net, "s1", both, 1, 0, 2)});
  CHECK(placed_views(net.done({net.op("Relu", "after", {swapped})})) ==
        R"(kept_out in both_out from element 0 with strides [16, 4, 2, 1]
given_out in x_out from element 8 with strides [16, 4, 2, 1]
branch_out in both_out from element 8 with strides [16, 4, 2, 1]
s2_out in both_out from element 8 with strides [16, 4, 2, 1]
s1_out in both_out from element 0 with strides [16, 4, 2, 1]
- kept [one-place] copies: kept_out is wanted in both_out from element 0 with strides [16, 4, 2, 1], its operand lies in x_out from element 0 with strides [16, 4, 2, 1]
+ given [slice] given_out lies in x_out from element 8 with strides [16, 4, 2, 1]
+ both [concat] its operands are written straight into both_out; kept has to copy kept_out there
+ s2 [slice] s2_out lies in both_out from element 8 with strides [16, 4, 2, 1]
+ s1 [slice] s1_out lies in both_out from element 0 with strides [16, 4, 2, 1]
- swapped [one-copy] copies, once for all: else s2 has to copy s2_out there, and s1 has to copy s1_out there
)");
}

TEST_CASE("a reshape in front of a concatenation hands the box on to what it re-indexes") {
  Net net;
  const TensorId x = net.input("x", {2, 4, 3, 3});
  const TensorId a = net.op("Reshape", "a", {net.conv("conv_a", x, 2)}, {{"shape", Ints{2, 18}}});
  const TensorId b = net.op("Flatten", "b", {net.conv("conv_b", net.input("y", {2, 4, 3, 3}), 1)});
  CHECK(placed_views(net.done({net.op("Relu", "after", {concat(net, "both", {a, b})})})) ==
        R"(conv_a_out in both_out from element 0 with strides [27, 9, 3, 1]
a_out in both_out from element 0 with strides [27, 1]
conv_b_out in both_out from element 18 with strides [27, 9, 3, 1]
b_out in both_out from element 18 with strides [27, 1]
+ a [reshape] a_out lies in both_out from element 0 with strides [27, 1]
+ b [reshape] b_out lies in both_out from element 18 with strides [27, 1]
+ both [concat] its operands are written straight into both_out
)");
}

TEST_CASE("why a concatenation copies") {
  Net net;
  const TensorId x = net.input("x", {2, 2, 3, 3});
  const TensorId r = net.op("Relu", "r", {x});
  const TensorId s = net.op("Tanh", "s", {x});
  const TensorId shared = net.op("Exp", "shared", {x});
  const TensorId needed = net.op("Abs", "needed", {x});
  const TensorId flat = net.op("Reshape", "flat", {needed}, {{"shape", Ints{36}}});
  const TensorId column = net.op("Relu", "column", {net.input("y", {4, 1})});
  const std::vector<TensorId> outputs = {
      concat(net, "of_input", {net.op("Neg", "n", {r}), x}),
      concat(net, "of_output", {r, net.op("Neg", "n2", {r})}),
      concat(net, "of_constant", {net.op("Neg", "n3", {r}), net.constant("c", {2, 1, 3, 3})}),
      concat(net, "twice", {s, s}),
      concat(net, "last", {shared, net.op("Neg", "n4", {r})}),
      concat(net, "first", {net.op("Neg", "n5", {r}), shared}),
      concat(net, "gaps", {needed, net.op("Neg", "n6", {r})}),
      concat(net, "columns", {column, net.op("Tanh", "column2", {column})}),
      flat,
      r,
  };
  CHECK(placed_views(net.done(outputs)) ==
        R"(shared_out in first_out from element 18 with strides [36, 9, 3, 1]
flat_out in needed_out from element 0 with strides [1]
n5_out in first_out from element 0 with strides [36, 9, 3, 1]
+ flat [reshape] flat_out is all of needed_out
- of_input [dense-boundary] copies: x is an input of the network, which lies in memory without gaps
- of_output [dense-boundary] copies: r_out is an output of the network, which lies in memory without gaps
- of_constant [constant] copies: c is a constant, among the parameters
- twice [one-place] copies: s_out would be in two places of it
- last [one-place] copies: shared_out lies in first_out from element 18 with strides [36, 9, 3, 1] already
+ first [concat] its operands are written straight into first_out
- gaps [needed-dense] copies: flat re-indexes needed_out, which it cannot with gaps
- columns [contiguous-rows] copies: no two elements of column_out would lie side by side: DMA would move each by itself
)");
}

TEST_CASE("inputs and outputs of a network may lie in a box without gaps") {
  Net net;
  const TensorId x = net.input("x", {1, 2, 3, 3});
  const TensorId r = net.op("Relu", "r", {x});
  CHECK(placed_views(net.done({concat(net, "both", {x, r}), r, cut(net, "part", r, 1, 0, 1)})) ==
        R"(x in both_out from element 0 with strides [36, 9, 3, 1]
r_out in both_out from element 18 with strides [36, 9, 3, 1]
part_out in both_out from element 18 with strides [36, 9, 3, 1]
+ both [concat] its operands are written straight into both_out
+ part [slice] part_out lies in both_out from element 18 with strides [36, 9, 3, 1]
)");
}

TEST_CASE("why a slice copies") {
  Net net;
  const TensorId x = net.input("x", {2, 4, 6});
  const TensorId backwards = cut(net, "backwards", x, 0, 2, -5, -1);
  const TensorId every_second = cut(net, "every_second", x, 2, 0, 6, 2);
  const TensorId output = cut(net, "output", x, 1, 0, 2);
  const TensorId rows = cut(net, "rows", x, 1, 1, 4, 2);
  CHECK(placed_views(net.done({net.op("Relu", "a", {backwards}), net.op("Relu", "b", {every_second}), output,
                               net.op("Relu", "c", {rows})})) ==
        R"(rows_out in x from element 6 with strides [24, 12, 1]
- backwards [backwards] copies: a step is negative, and DMA goes forwards only
- every_second [contiguous-rows] copies: no two elements of every_second_out would lie side by side: DMA would move each by itself
- output [dense-boundary] copies: output_out is an output of the network, which lies in memory without gaps
+ rows [slice] rows_out lies in x from element 6 with strides [24, 12, 1]
)");
}

TEST_CASE("a transpose that moves nothing is a view, among reshapes, in boxes and beside a product") {
  const auto transpose = [](Net& net, const std::string& name, TensorId x, const Ints& perm) {
    return net.op("Transpose", name, {x}, {{"perm", perm}});
  };
  Net chain;
  const TensorId x = chain.op("Relu", "before", {chain.input("x", {1, 32, 8})});
  const TensorId rows = chain.op("Reshape", "rows", {transpose(chain, "turn", x, {1, 0, 2})}, {{"shape", Ints{32, 8}}});
  const TensorId product = chain.op("MatMul", "product", {rows, chain.constant("w", {8, 4})});
  const TensorId back =
      transpose(chain, "back", chain.op("Reshape", "taken_apart", {product}, {{"shape", Ints{32, 1, 4}}}), {1, 0, 2});
  CHECK(placed_views(chain.done({chain.op("Relu", "after", {back})})) ==
        R"(turn_out in before_out from element 0 with strides [8, 8, 1]
rows_out in before_out from element 0 with strides [8, 1]
taken_apart_out in product_out from element 0 with strides [4, 4, 1]
back_out in product_out from element 0 with strides [128, 4, 1]
+ turn [reshape] turn_out is all of before_out
+ rows [reshape] rows_out is all of before_out
+ taken_apart [reshape] taken_apart_out is all of product_out
+ back [reshape] back_out is all of product_out
)");

  Net boxes;
  const TensorId both = boxes.op("Relu", "both", {boxes.input("y", {3, 1, 8})});
  const TensorId half = transpose(boxes, "turn", cut(boxes, "half", both, 2, 4, 8), {1, 0, 2});
  const TensorId moved = transpose(boxes, "moved", both, {2, 1, 0});
  CHECK(placed_views(boxes.done({boxes.op("Relu", "a", {half}), boxes.op("Relu", "b", {moved})})) ==
        R"(half_out in both_out from element 4 with strides [8, 8, 1]
turn_out in both_out from element 4 with strides [24, 8, 1]
+ half [slice] half_out lies in both_out from element 4 with strides [8, 8, 1]
+ turn [reshape] turn_out lies in both_out from element 4 with strides [24, 8, 1]
)");
}

TEST_CASE("a reshaped box has its elements in the same order, and is refused only where no strides give that") {
  std::mt19937 random(7);
  const auto pick = [&](std::size_t count) { return static_cast<std::int64_t>(random() % count); };
  const auto address = [](std::int64_t element, const Shape& shape, const Ints& strides) {
    std::int64_t at = 0;
    for (std::size_t d = shape.size(); d-- > 0; element /= shape[d]) at += element % shape[d] * strides[d];
    return at;
  };
  int given = 0;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    // Factors, grouped in two ways.
    std::vector<std::int64_t> factors;
    for (std::int64_t i = pick(5); i >= 0; --i) factors.push_back(1 + pick(3));
    const auto grouped = [&] {
      Shape shape = {1};
      for (const std::int64_t factor : factors) {
        if (pick(2) == 0) shape.push_back(1);
        shape.back() *= factor;
      }
      return shape;
    };
    const Shape from = grouped();
    const Shape to = grouped();
    StorageBox box{TensorId(0), 5, row_major_strides(from)};
    for (std::size_t d = from.size(); d-- > 0;) {
      if (pick(4) == 0) {
        const std::int64_t times = 2 + pick(2);
        for (std::size_t outer = 0; outer <= d; ++outer) box.strides[outer] *= times;
      }
    }
    INFO(to_text(from) << " with strides " << to_text(box.strides) << " to " << to_text(to));
    const auto reshaped = reshaped_box(box, from, to);
    // Strides, if there are any, are what a step along one dimension changes.
    Ints strides = row_major_strides(to);
    std::int64_t step = 1;
    for (std::size_t d = to.size(); d-- > 0; step *= to[d]) {
      if (to[d] > 1) strides[d] = address(step, from, box.strides);
    }
    bool possible = true;
    for (std::int64_t i = 0; i < element_count(from); ++i) {
      possible = possible && address(i, from, box.strides) == address(i, to, strides);
    }
    REQUIRE(reshaped.has_value() == possible);
    ++(possible ? given : refused);
    if (possible) REQUIRE(same_box(to, *reshaped, {TensorId(0), 5, strides}));
  }
  CHECK(given > 5000);
  CHECK(refused > 500);
}

TEST_CASE("random networks compute the same on storages, where views do nothing") {
  int views = 0;
  int turned = 0;  // views that are transposes
  int copies = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    const Graph graph = ViewNet(seed).make(4 + static_cast<int>(seed % 20));
    INFO(to_text(graph));
    REQUIRE(verify(graph).value_or("sound") == "sound");
    Net random("inputs", seed);
    Values values;
    std::map<TensorId, std::vector<float>> storages;
    const auto place_of = [&](TensorId id) -> std::pair<StorageBox, std::vector<float>*> {
      const StorageBox box = box_of(graph, id);
      auto& storage = storages[box.storage];
      storage.resize(static_cast<std::size_t>(element_count(graph.tensor(box.storage).shape)), -1000);
      return {box, &storage};
    };
    const auto store = [&](TensorId id, const Tensor& value) {
      const auto [box, storage] = place_of(id);
      for (std::int64_t i = 0; i < value.size(); ++i) {
        std::int64_t at = box.offset;
        std::int64_t rest = i;
        for (std::size_t d = value.shape().size(); d-- > 0; rest /= value.shape()[d]) {
          at += rest % value.shape()[d] * box.strides[d];
        }
        storage->at(static_cast<std::size_t>(at)) = value.as<float>()[static_cast<std::size_t>(i)];
      }
    };
    const auto load = [&](TensorId id) {
      const auto [box, storage] = place_of(id);
      const auto bytes = std::as_bytes(std::span(*storage)).subspan(static_cast<std::size_t>(box.offset) * 4);
      return gathered(ElementType::f32, graph.tensor(id).shape, box.strides, bytes);
    };
    for (const TensorId input : graph.inputs()) {
      values[graph.tensor(input).name] = random.random_tensor(graph.tensor(input).shape);
      store(input, values[graph.tensor(input).name]);
    }
    const Values expected = run_operators(graph, values);
    for (const OpId id : topological_order(graph)) {
      const Operator& op = graph.op(id);
      const bool moves = op.kind == "Concat" || op.kind == "Slice" || op.kind == "Reshape" || op.kind == "Transpose";
      if (is_in_place(graph, id)) {
        ++views;
        if (op.kind == "Transpose") ++turned;
      } else {
        if (moves) ++copies;
        Values operands;
        for (const auto& operand : op.inputs) {
          if (operand && !graph.tensor(*operand).constant) operands[graph.tensor(*operand).name] = load(*operand);
        }
        run_list(graph, define_operator(graph, id).list, operands);
        store(op.first_output(), operands.at(graph.tensor(op.first_output()).name));
      }
    }
    // At the end: nothing was overwritten by what came later.
    for (const Operator& op : graph.operators()) {
      INFO(op.name);
      const Tensor value = load(op.first_output());
      const Tensor& wanted = expected.at(graph.tensor(op.first_output()).name);
      REQUIRE(value.shape() == wanted.shape());
      REQUIRE(std::equal(value.bytes().begin(), value.bytes().end(), wanted.bytes().begin(), wanted.bytes().end()));
    }
  }
  CHECK(views > 1000);
  CHECK(turned > 100);
  CHECK(copies > 300);
}
