// SPDX-License-Identifier: Apache-2.0
// The main-memory map: nothing alive at the same time overlaps, views share, constants are in the parameter area.
#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include "lowering/program/program.h"

namespace stowage::memory_test {

namespace {

constexpr ElementType f32 = ElementType::f32;
constexpr int line = 128;

/// Builds groups of one operator each, and steps whose nests read and write exactly the operators' tensors.
class Network {
 public:
  Network() : builder_("network") {}

  TensorId input(Shape shape) { return builder_.add_input(name("in"), f32, std::move(shape)); }
  TensorId constant(Shape shape, float value) {
    const std::vector<float> values(static_cast<std::size_t>(element_count(shape)), value);
    return builder_.add_constant(name("c"), Tensor::of_floats(std::move(shape), values));
  }
  TensorId apply(const std::vector<TensorId>& inputs, Shape shape, std::vector<Tensor> own_constants = {}) {
    const TensorId output = add(inputs, shape);
    ProgramStep step;
    step.group = groups_.back();
    Plan plan;
    const auto add_tensor = [&](StageTensor tensor) {
      plan.nest.tensors.push_back({tensor.name, plan.nest.stages.tensors.next_id(), {}, false});
      plan.nest.stages.tensors.push_back(std::move(tensor));
    };
    for (const TensorId id : inputs) {
      const GraphTensor& tensor = builder_.tensor(id);
      add_tensor({tensor.name, f32, tensor.shape, TensorRole::input, {}, id});
    }
    for (Tensor& value : own_constants) add_tensor({"own", f32, value.shape(), TensorRole::constant, value, {}});
    add_tensor({"out", f32, std::move(shape), TensorRole::output, {}, output});
    step.work = launch_of(std::move(plan));
    steps_.push_back(std::move(step));
    return output;
  }
  TensorId view(TensorId of, Shape shape) {
    const std::optional<StorageBox> inside = builder_.tensor(of).inside;
    const std::vector<std::int64_t> strides = row_major_strides(shape);
    const TensorId output = add({of}, std::move(shape));
    builder_.place(output, StorageBox{inside ? inside->storage : of, inside ? inside->offset : 0, strides});
    groups_.back().template_name = "view";
    groups_.back().is_view = true;
    steps_.push_back({groups_.back(), ViewStep{}});
    return output;
  }
  /// A concatenation of everything so far written, whose operands lie in it from these elements on.
  TensorId join(const std::vector<std::pair<TensorId, std::int64_t>>& operands, Shape shape) {
    std::vector<TensorId> inputs;
    for (const auto& [operand, offset] : operands) inputs.push_back(operand);
    const TensorId output = add(inputs, std::move(shape));
    for (const auto& [operand, offset] : operands) {
      builder_.place(operand, StorageBox{output, offset, row_major_strides(builder_.tensor(output).shape)});
    }
    groups_.back().template_name = "view";
    groups_.back().is_view = true;
    steps_.push_back({groups_.back(), ViewStep{}});
    return output;
  }
  void output(TensorId tensor) { builder_.mark_output(tensor); }
  [[nodiscard]] Shape shape_of(TensorId tensor) const { return builder_.tensor(tensor).shape; }

  MemoryMap plan() && {
    fused_.graph = std::move(builder_).build();
    fused_.groups = groups_;
    return plan_memory(fused_, steps_, line);
  }

 private:
  std::string name(const std::string& wanted) { return builder_.unique_name(wanted); }
  TensorId add(const std::vector<TensorId>& inputs, Shape shape) {
    const std::string op = name("op");
    const OpId id =
        builder_.add_operator("Test", op, {}, {inputs.begin(), inputs.end()}, name("t"), f32, std::move(shape), {});
    FusedOperator group;
    group.name = op;
    group.template_name = "single";
    group.operators = {id};
    group.inputs = inputs;
    group.results = results_of_operator(builder_.op(id));
    groups_.push_back(group);
    return group.results.front().whole;
  }

  GraphBuilder builder_;
  std::vector<FusedOperator> groups_;
  IdVector<StepId, ProgramStep> steps_;
  FusedGraph fused_;
};

void check_map(const MemoryMap& map) {
  for (std::size_t i = 0; i < map.allocations.size(); ++i) {
    const MemoryAllocation& a = map.allocations[i];
    CHECK(a.offset % line == 0);
    const bool parameter = a.area == MemoryAllocation::Area::parameters;
    CHECK(a.offset + a.bytes <= (parameter ? map.parameter_bytes : map.activation_bytes));
    for (std::size_t j = i + 1; j < map.allocations.size(); ++j) {
      const MemoryAllocation& b = map.allocations[j];
      if (a.area != b.area || a.shares_with.value_or(a.tensor) == b.shares_with.value_or(b.tensor)) continue;
      const bool live_together = parameter || (a.first_step <= b.last_step && b.first_step <= a.last_step);
      const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      INFO("tensors " << a.tensor.value << " and " << b.tensor.value);
      CHECK_FALSE((live_together && overlap));
    }
  }
}

}  // namespace

TEST_CASE("a chain of equal tensors needs two places and the input's is used again") {
  Network network;
  TensorId last = network.input({64});
  for (int i = 0; i < 5; ++i) last = network.apply({last}, {64});
  network.output(last);
  const MemoryMap map = std::move(network).plan();
  check_map(map);
  CHECK(map.activation_bytes == 2 * 256);
  CHECK(map.parameter_bytes == 0);
  CHECK(map.find(last)->last_step == 5);
}

TEST_CASE("views share memory and keep it alive, up to an output that is a view of an input") {
  Network network;
  const TensorId in = network.input({8, 8});
  const TensorId flat = network.view(in, {64});
  const TensorId again = network.view(flat, {4, 16});
  TensorId other = network.apply({in}, {64});
  other = network.apply({other}, {64});
  network.output(again);
  network.output(other);
  const MemoryMap map = std::move(network).plan();
  check_map(map);
  CHECK(map.find(again)->offset == map.find(in)->offset);
  CHECK(map.find(again)->shares_with == in);
  CHECK(map.find(in)->last_step == 4);
}

TEST_CASE("a concatenation lives from its first writer to its last reader, and what is written into it lies in it") {
  Network network;
  const TensorId in = network.input({2, 100});
  const TensorId a = network.apply({in}, {2, 30});
  const TensorId between = network.apply({in}, {1000});
  const TensorId b = network.apply({between}, {2, 50});
  const TensorId both = network.join({{a, 0}, {b, 30}}, {2, 80});
  network.output(network.apply({both}, {4}));
  network.output(network.apply({a}, {4}));
  const MemoryMap map = std::move(network).plan();
  CHECK(map.find(both)->first_step == 0);
  CHECK(map.find(both)->last_step == 5);
  CHECK(map.find(both)->bytes == 640);
  CHECK(map.find(a)->shares_with == both);
  CHECK(map.find(a)->offset == map.find(both)->offset);
  CHECK(map.find(a)->bytes == (80 + 30) * 4);
  CHECK(map.find(b)->offset == map.find(both)->offset + 120);
  CHECK(map.find(b)->bytes == (80 + 50) * 4);
  // While it lives nobody else has its memory.
  const std::int64_t end = map.find(both)->offset + 640;
  CHECK((map.find(between)->offset >= end || map.find(between)->offset + 4000 <= map.find(both)->offset));
}

TEST_CASE("an output that is a view of a constant lies among the parameters") {
  Network network;
  const TensorId weights = network.constant({4}, 1);
  const TensorId out = network.view(weights, {2, 2});
  network.output(out);
  const MemoryMap map = std::move(network).plan();
  check_map(map);
  CHECK(map.find(out)->area == MemoryAllocation::Area::parameters);
  CHECK(map.find(out)->offset == map.find(weights)->offset);
  CHECK(map.activation_bytes == 0);
}

TEST_CASE("constants of the stages themselves go to the parameters, equal ones once") {
  Network network;
  const Tensor same = Tensor::of_floats({3}, std::vector<float>{1, 2, 3});
  const Tensor other = Tensor::of_floats({3}, std::vector<float>{1, 2, 4});
  const TensorId weights = network.constant({40}, 1);
  TensorId last = network.apply({network.input({8}), weights}, {8}, {same});
  last = network.apply({last}, {8}, {other, same});
  network.output(last);
  const MemoryMap map = std::move(network).plan();
  check_map(map);
  REQUIRE(map.stage_constants.size() == 3);
  CHECK(map.find_stage_constant(StepId(0), StageTensorId(2))->offset == 256);
  CHECK(map.find_stage_constant(StepId(1), StageTensorId(1))->offset == 384);
  CHECK(map.find_stage_constant(StepId(1), StageTensorId(2))->offset == 256);
  CHECK(map.find_stage_constant(StepId(1), StageTensorId(0)) == nullptr);
  CHECK(map.parameter_bytes == 512);
}

TEST_CASE("no two live tensors overlap in random networks, and equal networks get equal maps") {
  const unsigned seed = GENERATE(range(1U, 60U));
  INFO("seed " << seed);
  const auto plan = [&] {
    std::mt19937 random(seed);
    Network network;
    const auto any_shape = [&] { return Shape{static_cast<std::int64_t>(random() % 300)}; };
    std::vector<TensorId> tensors = {network.input(any_shape()), network.input(any_shape())};
    const std::size_t operators = 1 + random() % 30;
    for (std::size_t i = 0; i < operators; ++i) {
      const auto any = [&] { return tensors[random() % tensors.size()]; };
      if (random() % 4 == 0) {
        const TensorId of = any();
        tensors.push_back(network.view(of, network.shape_of(of)));
      } else {
        std::vector<TensorId> inputs = {any()};
        if (random() % 2 == 0) inputs.push_back(any());
        if (random() % 3 == 0) inputs.push_back(network.constant(any_shape(), static_cast<float>(i)));
        tensors.push_back(network.apply(inputs, any_shape()));
      }
    }
    network.output(tensors.back());
    network.output(tensors[tensors.size() / 2]);
    return std::move(network).plan();
  };
  const MemoryMap map = plan();
  check_map(map);
  const MemoryMap again = plan();
  REQUIRE(map.allocations.size() == again.allocations.size());
  for (std::size_t i = 0; i < map.allocations.size(); ++i)
    CHECK(map.allocations[i].offset == again.allocations[i].offset);
}

}  // namespace stowage::memory_test
