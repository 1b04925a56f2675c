// SPDX-License-Identifier: Apache-2.0
// DMA moves whole units of the target's dma_alignment: transfers of narrower elements are planned so that they keep to
// them, or the compilation says which the machine would refuse. Each is checked by itself.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "core/operators.h"
#include "emitter/emulation/emulate.h"
#include "lowering/time/dma_alignment.h"
#include "tests/fusion/net.h"
#include "tests/whole_way/whole_way.h"

namespace stowage::test {
namespace {

using testing::Net;

/// Neither AND b, both of one shape.
Graph logic(const Shape& shape) {
  Net net;
  const TensorId a = net.input("a", shape, ElementType::boolean);
  const TensorId b = net.input("b", shape, ElementType::boolean);
  return net.unplaced(net.op("And", "both", {a, b}));
}

struct Compiled {
  std::optional<Compilation> compilation;
  std::string said;
};

Compiled compiled_for(const Graph& graph, const std::string& planner, const std::vector<std::string>& settings = {}) {
  CompileRequest request;
  request.planner = planner;
  request.settings = settings;
  Diagnostics diagnostics;
  auto compilation = compile_graph(graph, request, diagnostics);
  Compiled result;
  result.said = format_diagnostics(diagnostics);
  if (compilation) result.compilation = *std::move(compilation);
  return result;
}

std::size_t unaligned_in(const Compilation& compilation) {
  std::size_t count = 0;
  for (const ProgramStep& step : compilation.program.steps) {
    if (step.plan() != nullptr) count += unaligned_transfers(step.plan()->nest, compilation.program.target).size();
  }
  return count;
}

std::string complaints_of_emulation(const Compilation& compilation, const EmittedProgram& emitted,
                                    const std::vector<Tensor>& inputs) {
  Diagnostics diagnostics;
  const auto result = emulate(compilation.program, emitted, inputs, EmulationOptions{}, {}, diagnostics);
  CHECK(bool(result) != diagnostics.has_errors());
  return format_diagnostics(diagnostics);
}

}  // namespace

TEST_CASE("transfers of bool tensors keep to the machine's units, whatever the shape") {
  const std::string planner = GENERATE("swtvm", "searched");
  const Shape shape =
      GENERATE(Shape{1}, Shape{3, 5}, Shape{64, 100}, Shape{61, 5}, Shape{7, 9, 11}, Shape{1021}, Shape{300, 333});
  INFO(planner << " " << to_text(shape));
  const Graph graph = logic(shape);
  const Compiled compiled = compiled_for(graph, planner);
  CHECK(compiled.said == "");
  REQUIRE(compiled.compilation);
  CHECK(unaligned_in(*compiled.compilation) == 0);
  const std::vector<Tensor> inputs = seeded_inputs(graph, 5);
  CHECK(complaints_of_emulation(*compiled.compilation, compiled.compilation->emitted, inputs).find("misaligned") ==
        std::string::npos);
  checked(*compiled.compilation, inputs);
}

TEST_CASE("a bool tensor does not loosen the alignment of others") {
  Net net;
  const TensorId condition = net.input("condition", {64, 64}, ElementType::boolean);
  const TensorId a = net.input("a", {64, 64});
  const TensorId b = net.input("b", {64, 64});
  const Graph graph = net.unplaced(net.op("Where", "either", {condition, a, b}));
  const Compiled compiled = compiled_for(graph, "swtvm");
  CHECK(compiled.said == "");
  REQUIRE(compiled.compilation);
  EmittedProgram shifted = compiled.compilation->emitted;
  bool found = false;
  const std::string aligned = "athread_get(PE_MODE, t_a + ";
  for (EmittedFile& file : shifted.files) {
    const std::size_t at = file.text.find(aligned);
    if (at == std::string::npos) continue;
    file.text.replace(at, aligned.size(), "athread_get(PE_MODE, (char *)t_a + 2 + ");
    found = true;
  }
  REQUIRE(found);
  CHECK_THAT(complaints_of_emulation(*compiled.compilation, shifted, seeded_inputs(graph, 5)),
             Catch::Contains("error: ") && Catch::Contains("must be multiples of 4 [emulation-dma-misaligned]"));
}

TEST_CASE("transfers of narrow elements that cannot be aligned are told by compile and by run, and are no others'") {
  Net net;
  const TensorId image = net.input("image", {1, 1, 5, 5}, ElementType::u8);
  const Graph graph = net.unplaced(
      net.op("MaxPool", "largest", {image},
             {{"kernel_shape", std::vector<std::int64_t>{3, 3}}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}}));
  const std::string planner = GENERATE("swtvm", "searched");
  const Compiled compiled = compiled_for(graph, planner);
  REQUIRE(compiled.compilation);
  CHECK_THAT(compiled.said,
             Catch::StartsWith("warning: fused operator largest: ") &&
                 Catch::Contains("of narrow elements cannot be kept to multiples of 4 bytes: sw26010 would refuse") &&
                 Catch::Contains("[dma-alignment]") && Catch::Contains("note: get of image"));
  CHECK(unaligned_in(*compiled.compilation) > 0);
  const std::vector<Tensor> inputs = seeded_inputs(graph, 5);
  CHECK_THAT(complaints_of_emulation(*compiled.compilation, compiled.compilation->emitted, inputs),
             Catch::Contains("warning: ") && Catch::Contains("[emulation-dma-misaligned]") &&
                 Catch::Contains("the machine would refuse it"));
  checked(*compiled.compilation, inputs);
}

TEST_CASE("operators that make unaligned transfers alone may be fused where these are all") {
  Net net;
  const TensorId image = net.input("image", {1, 1, 5, 5}, ElementType::u8);
  const TensorId largest =
      net.op("MaxPool", "largest", {image},
             {{"kernel_shape", std::vector<std::int64_t>{3, 3}}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  const Graph graph = net.unplaced(net.op("Cast", "widened", {largest}, {{"to", std::string("f32")}}));
  const std::string planner = GENERATE("swtvm", "searched");
  INFO(planner);
  const Compiled compiled = compiled_for(graph, planner);
  INFO(compiled.said);
  REQUIRE(compiled.compilation);
  CHECK(compiled.compilation->program.steps.size() == 1);
  CHECK_THAT(compiled.said, Catch::StartsWith("warning: fused operator ") && Catch::Contains("[dma-alignment]") &&
                                Catch::Contains("note: get of image"));
  checked(*compiled.compilation, seeded_inputs(graph, 5));
}

TEST_CASE("operators whose transfers a target's dma_alignment does not allow are named, and given to another core") {
  Net net;
  const TensorId x = net.input("x", {37, 50});
  const TensorId y = net.input("y", {37, 50});
  const Graph rows = net.unplaced(net.op("Softmax", "shares", {net.op("Add", "sum", {x, y})}, {{"axis", 1}}));
  const std::vector<std::string> wide = {"target.dma.alignment=512", "target.ldm.alignment=512",
                                         "target.main_memory.line_bytes=512", "target.ldm.bytes=4096",
                                         "target.ldm.reserved=1024"};
  for (const char* planner : {"swtvm", "searched"}) {
    INFO(planner);
    const Compiled given_away = compiled_for(rows, planner, wide);
    REQUIRE(given_away.compilation);
    CHECK_THAT(given_away.said, Catch::Contains("the management core computes") && Catch::Contains("note: shares, ") &&
                                    Catch::Contains("sw26010 moves multiples of 512 bytes ('dma.alignment')") &&
                                    Catch::Contains("[dma-alignment]"));
    for (const ProgramStep& step : given_away.compilation->program.steps) {
      if (step.group.name == "shares") CHECK(step.plan() == nullptr);
    }
  }
  // Rows of 128 floats are 512 bytes.
  Net other;
  const TensorId z = other.input("z", {64, 128});
  const Graph aligned = other.unplaced(other.op("Relu", "positive", {z}));
  const Compiled compiled = compiled_for(aligned, "swtvm", {wide[0], wide[1], wide[2]});
  CHECK(compiled.said == "");
  REQUIRE(compiled.compilation);
  checked(*compiled.compilation, seeded_inputs(aligned, 5));
}

TEST_CASE("no unit of main memory holds elements of two bool tensors") {
  const std::int64_t rows = GENERATE(3, 4);
  INFO(rows << " rows of 5");
  Net net;
  const TensorId a = net.input("a", {rows, 5}, ElementType::boolean);
  const TensorId b = net.input("b", {rows, 5}, ElementType::boolean);
  const TensorId both =
      net.op("Concat", "both", {net.op("Not", "not_a", {a}), net.op("Not", "not_b", {b})}, {{"axis", 0}});
  const Graph graph = net.unplaced(net.op("Not", "again", {both}));
  const Compiled compiled = compiled_for(graph, "swtvm");
  REQUIRE(compiled.compilation);
  // 15 bytes are no whole units: they are copied side by side, by transfers that cannot be aligned. 20 bytes are.
  CHECK((compiled.said == "") == (rows == 4));
  if (rows == 3)
    CHECK_THAT(compiled.said, Catch::Contains("fused operator both: ") && Catch::Contains("[dma-alignment]"));
  for (const MemoryAllocation& place : compiled.compilation->program.memory.allocations) CHECK(place.offset % 4 == 0);
  checked(*compiled.compilation, seeded_inputs(graph, 5));
}

}  // namespace stowage::test
