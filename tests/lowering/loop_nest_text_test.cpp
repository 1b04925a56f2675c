// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/time/counts.h"
#include "lowering/verify/verify.h"
#include "parsed_nest.h"

namespace stowage::loop_nest_text_test {
namespace {

const std::string matmul_text = R"(nest matmul {
  input A f32[1,1024]
  input B f32[1024,1024]
  output C f32[1,1024]
  stage matmul {
    C[x < 1, y < 1024] = sum over k < 1024 of (#0 * #1)
    #0 = A[x, k]
    #1 = B[k, y]
  }
  variables x, yo, ko
  memory A = A strides [1024, 1]
  memory B = B strides [1024, 1]
  memory C = C strides [1024, 1] written
  ldm 33536 bytes
  buffer CC f32[1,128] at 0, 512 bytes = C[x, 128*yo]
  buffer AA f32[1,64] at 512, 256 bytes = A[x, 64*ko]
  buffer BB f32[64,128] at 768, 32768 bytes = B[64*ko, 128*yo]
  body {
    0  for x < 1 of x {
    1    for yo < 8 of y {
    2      fill CC with 0
    3      for ko < 16 of k {
    4        get A[x:x + 1, 64*ko:64*ko + 64] -> AA  // A inside ko
    5        wait 4
    6        get B[64*ko:64*ko + 64, 128*yo:128*yo + 128] -> BB  // B inside ko
    7        wait 6
    8        compute update CC = matmul(AA, BB) over x=x:x + 1, y=128*yo:128*yo + 128, k=64*ko:64*ko + 64 as vector lane y
           }
    9      put CC -> C[x:x + 1, 128*yo:128*yo + 128]  // C inside yo
   10      wait 9
         }
       }
  }
}
)";

std::string errors_of(const std::string& text) {
  Diagnostics diagnostics;
  CHECK_FALSE(parse_loop_nest(text, diagnostics));
  CHECK(diagnostics.has_errors());
  return format_diagnostics(diagnostics);
}

/// The text with the first occurrence of a part replaced.
std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

TEST_CASE("matmul of the paper prints as pseudo code", "[loop_nest_text]") {
  CHECK(to_text(fixtures::paper_matmul()) == matmul_text);
}

TEST_CASE("spans are the statements' places in the text", "[loop_nest_text]") {
  const SpannedText printed = to_spanned_text(fixtures::paper_matmul());
  CHECK(printed.text == matmul_text);
  std::map<std::size_t, std::string> of;
  for (const TextSpan& span : printed.spans)
    of[span.statement.index()] = printed.text.substr(span.begin, span.end - span.begin);
  REQUIRE(of.size() == 11);
  CHECK(of.at(5) == "wait 4");
  CHECK(of.at(9) == "put CC -> C[x:x + 1, 128*yo:128*yo + 128]  // C inside yo");
  CHECK(of.at(3).substr(0, 18) == "for ko < 16 of k {");
  CHECK(of.at(3).back() == '}');
  CHECK(of.at(3).find("compute update") != std::string::npos);
}

TEST_CASE("text restores a nest: it prints, verifies and counts the same", "[loop_nest_text]") {
  for (const LoopNest& nest : {fixtures::paper_matmul(), fixtures::padded_convolution(), fixtures::ragged_chain()}) {
    const LoopNest again = parsed(to_text(nest));
    CHECK(to_text(again) == to_text(nest));
    Target target;
    CHECK(verify(again, target).value_or("sound") == "sound");
    CHECK(predict_counts(again).dma == predict_counts(nest).dma);
    REQUIRE(again.variables.size() == nest.variables.size());
    for (std::size_t v = 0; v < nest.variables.size(); ++v) {
      CHECK(again.variables[v].name == nest.variables[v].name);
      CHECK(again.variables[v].kind == nest.variables[v].kind);
      CHECK(again.variables[v].range == nest.variables[v].range);
    }
  }
}

TEST_CASE("random nests print, parse and print the same", "[loop_nest_text]") {
  const unsigned seed = 23;
  for (unsigned trial = 0; trial < 400; ++trial) {
    INFO("seed " << seed << ", trial " << trial);
    std::mt19937 random(seed * 100000 + trial);
    const LoopNest nest = fixtures::random_nest(random);
    const std::string text = to_text(nest);
    const LoopNest again = parsed(text);
    REQUIRE(to_text(again) == text);
    REQUIRE(predict_counts(again).dma == predict_counts(nest).dma);
  }
}

TEST_CASE("everything a stage can say survives", "[loop_nest_text]") {
  // Names that are no identifiers, tables of one name, constants of every kind, every operation, a shared buffer.
  StageList list;
  const std::vector<std::int64_t> shape_values = {3, -1};
  list.tensors = {{"conv/1:0", ElementType::f32, {4, 4}, TensorRole::input, {}, TensorId(std::size_t{7})},
                  {"index", ElementType::i64, {2}, TensorRole::constant, Tensor::of_int64s({2}, shape_values), {}},
                  {"in", ElementType::f32, {4}, TensorRole::intermediate, {}, {}},
                  {"out", ElementType::f32, {4}, TensorRole::output, {}, {}}};
  const auto first = std::make_shared<const IndexTable>(IndexTable{"rows", {0, 1, 1, 2}});
  const auto second = std::make_shared<const IndexTable>(IndexTable{"rows", {3, 2, 1, 0}});
  Stage stage;
  stage.name = "max pool";
  stage.output = StageTensorId(2);
  stage.axes = {{"i", 4}, {"for", 2}};
  stage.spatial = 1;
  stage.reduction = Reduction::maximum;
  stage.reads = {{StageTensorId(0),
                  {lookup(first, VarId(0)), tensor_value(ReadId(1), 4)},
                  -std::numeric_limits<double>::infinity()},
                 {StageTensorId(1), {VarId(1)}, {}},
                 {StageTensorId(0), {lookup(second, VarId(0)), remainder(IndexExpr(VarId(0)) * 3 + 1, 4)}, {}}};
  const ScalarExpr a = scalar_read(ElementType::f32, ReadId(0));
  const ScalarExpr b = scalar_read(ElementType::f32, ReadId(2));
  stage.body = scalar_select(
      scalar_binary(BinaryOp::logical_or,
                    scalar_binary(BinaryOp::less_equal, a, scalar_constant(ElementType::f32, -1e-5)),
                    scalar_unary(UnaryOp::logical_not, scalar_cast(ElementType::boolean, b))),
      scalar_cast(ElementType::f32, scalar_integer(ElementType::i64, -3) +
                                        scalar_index(ElementType::i64, floor_div(IndexExpr(VarId(0)) + 2, 3))),
      scalar_binary(BinaryOp::power, scalar_unary(UnaryOp::negate, max(a, b)), scalar_constant(ElementType::f32, 0.1)));
  stage.finish = scalar_accumulator(ElementType::f32) / scalar_constant(ElementType::f32, 3);
  Stage copy;
  copy.name = "copy";
  copy.output = StageTensorId(3);
  copy.axes = {{"i", 4}};
  copy.spatial = 1;
  copy.reads = {{StageTensorId(2), {VarId(0)}, {}}};
  copy.body = scalar_cast(ElementType::f32, scalar_cast(ElementType::f64, scalar_read(ElementType::f32, ReadId(0))) *
                                                scalar_constant(ElementType::f64, 2));
  list.stages = {stage, copy};
  REQUIRE(verify(list).value_or("sound") == "sound");

  fixtures::NestBuilder build("every/thing", list);
  const VarId core = build.core("core", "i", 4, 1);
  build.buffer("fill", 2, {1}, {core});
  build.buffer("wait", 3, {1}, {value_in(BufferId(0), 4)});
  build.begin_guard({IndexExpr(core) - 1, lookup(second, core)});
  build.barrier();
  build.fill(BufferId(0), -std::numeric_limits<double>::infinity());
  Compute compute;
  compute.part = Compute::Part::finish;
  compute.output_buffer = BufferId(0);
  compute.read_buffers = {std::nullopt, std::nullopt, std::nullopt};
  build.compute(compute, {{core, 1}});
  build.end();
  LoopNest nest = std::move(build).build();
  nest.buffers[BufferId(0)].shares_with = BufferId(1);
  nest.buffers[BufferId(1)].slots = 2;
  const std::string text = to_text(nest);
  const LoopNest again = parsed(text);
  CHECK(to_text(again) == text);
  CHECK(verify(again.stages).value_or("sound") == "sound");
  CHECK(again.stages.tensors[StageTensorId(0)].source == TensorId(std::size_t{7}));
  CHECK(again.buffers[BufferId(0)].shares_with == BufferId(1));
  CHECK(text.find("table rows = [0, 1, 1, 2]") != std::string::npos);
  CHECK(text.find("table table1 = [3, 2, 1, 0]") != std::string::npos);
  CHECK(text.find("#0 = \"conv/1:0\"[rows[i], @1[4]] else -inf") != std::string::npos);
}

TEST_CASE("mistakes in a nest's text are placed", "[loop_nest_text]") {
  CHECK(errors_of(replaced(matmul_text, "get A[x:x + 1", "get A[x:z + 1")) ==
        "nest:23:22: error: there is no variable 'z' [unknown-variable]\n"
        "        4        get A[x:z + 1, 64*ko:64*ko + 64] -> AA  // A inside ko\n"
        "                         ^\n"
        "  help: known are: ko, x, yo\n");
  CHECK(errors_of(replaced(matmul_text, "f32[1,64] at 512, 256", "f32[1,64] at 512, 255")) ==
        "nest:16:31: error: the buffer has 256 bytes [other-size]\n"
        "      buffer AA f32[1,64] at 512, 255 bytes = A[x, 64*ko]\n"
        "                                  ^^^\n");
  CHECK(errors_of(replaced(matmul_text, "-> BB ", "-> BBB ")) ==
        "nest:25:62: error: there is no buffer 'BBB' [unknown-name]\n"
        "        6        get B[64*ko:64*ko + 64, 128*yo:128*yo + 128] -> BBB  // B inside ko\n"
        "                                                                 ^^^\n"
        "  help: did you mean 'BB'?\n");
  CHECK(errors_of(replaced(replaced(matmul_text, "#0 = A[x, k]", "#0 = A[x, q]"), "buffer CC f32", "buffer CC f31")) ==
        "nest:7:15: error: there is no variable 'q' [unknown-variable]\n"
        "        #0 = A[x, q]\n"
        "                  ^\n"
        "  help: known are: k, x, y\n"
        "nest:15:13: error: found 'f31', an element type was wanted [unknown-type]\n"
        "      buffer CC f31[1,128] at 0, 512 bytes = C[x, 128*yo]\n"
        "                ^^^\n"
        "  help: element types are f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool, f16 and bf16\n");
  CHECK(errors_of(replaced(matmul_text, "(#0 * #1)", "(#0 * 1:i64)")) ==
        "nest:6:51: error: operands of types f32 and i64 [type-mismatch]\n"
        "        C[x < 1, y < 1024] = sum over k < 1024 of (#0 * 1:i64)\n"
        "                                                      ^\n");
  CHECK(errors_of(replaced(matmul_text, "128*yo:128*yo + 128] -> BB", "99999999999999*yo:yo] -> BB")) ==
        "nest:25:38: error: index numbers go up to 1099511627776 [number-too-large]\n"
        "        6        get B[64*ko:64*ko + 64, 99999999999999*yo:yo] -> BB  // B inside ko\n"
        "                                         ^^^^^^^^^^^^^^\n");
}

TEST_CASE("texts that nest too deeply are refused, not followed", "[loop_nest_text]") {
  const std::string deep(100000, '(');
  CHECK_THAT(errors_of(replaced(matmul_text, "(#0 * #1)", deep)), Catch::Contains("[nested-too-deeply]"));
  CHECK_THAT(errors_of(replaced(matmul_text, "x:x + 1", deep)), Catch::Contains("[nested-too-deeply]"));
  std::string loops;
  for (int i = 0; i < 100000; ++i) loops += "if any(1) > 0 {";
  CHECK_THAT(errors_of(replaced(matmul_text, "for x < 1", loops)), Catch::Contains("[nested-too-deeply]"));
}

TEST_CASE("control characters and spaces around a note change no second print", "[loop_nest_text]") {
  const std::string plain = "get A[x:x + 1, 64*ko:64*ko + 64] -> AA  // A inside ko";
  std::string text = matmul_text;
  REQUIRE(text.find(plain) != std::string::npos);
  for (const std::string& note : {std::string("//\x01 \x02 A inside\x03"), std::string("//\0\0 A\x01 in \x02", 12),
                                  std::string("// \x01\x02 \x03")}) {
    std::string changed = text;
    changed.replace(changed.find("//", changed.find("-> AA")), std::string("// A inside ko").size(), note);
    Diagnostics diagnostics;
    const auto nest = parse_loop_nest(changed, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(nest);
    const auto again = parse_loop_nest(to_text(*nest), diagnostics);
    REQUIRE(again);
    CHECK(to_text(*again) == to_text(*nest));
  }
}

TEST_CASE("damaged nest texts are refused or read, never more", "[loop_nest_text]") {
  const std::string conv = to_text(fixtures::padded_convolution());
  for (const std::string& text : {matmul_text, conv}) {
    for (std::size_t length = 0; length < text.size(); ++length) {
      Diagnostics diagnostics;
      const auto nest = parse_loop_nest(text.substr(0, length), diagnostics);
      REQUIRE(static_cast<bool>(nest) != diagnostics.has_errors());
    }
  }
  const unsigned seed = 17;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::string alphabet = "{}()[],:=<>+-*/%@#\"\\ \n\t09azXx_.e\x01\xff";
  Target target;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = trial % 2 == 0 ? matmul_text : conv;
    for (int change = 0; change < 1 + trial % 4; ++change) {
      const std::size_t at = random() % text.size();
      const char with = alphabet[random() % alphabet.size()];
      if (trial % 3 == 0) text[at] = with;
      if (trial % 3 == 1) text.insert(at, 1, with);
      if (trial % 3 == 2) text.erase(at, 1 + random() % 9);
    }
    CAPTURE(text);
    Diagnostics diagnostics;
    const auto nest = parse_loop_nest(text, diagnostics);
    REQUIRE(static_cast<bool>(nest) != diagnostics.has_errors());
    // What could be read can be printed, read again, and judged.
    if (!nest) continue;
    Diagnostics none;
    const auto again = parse_loop_nest(to_text(*nest), none);
    INFO(format_diagnostics(none));
    REQUIRE(again);
    REQUIRE(to_text(*again) == to_text(*nest));
    CHECK_NOTHROW(verify(*nest, target));
  }
}

}  // namespace
}  // namespace stowage::loop_nest_text_test
