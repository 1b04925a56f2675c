// SPDX-License-Identifier: Apache-2.0
// A scalar expression means one thing: plain evaluation, the interpreter of loop nests and the emitted C give the same
// bits (a NaN is a NaN; library functions of float32 in C may be a stated number of ulps away). STOWAGE_SEED repeats a
// run, STOWAGE_ROUNDS lengthens it.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "core/element_dispatch.h"
#include "core/evaluate.h"
#include "core/temporary_folder.h"
#include "emitter/athread/c_expr.h"
#include "emitter/process/process.h"
#include "lowering/interpret/scalar_program.h"
#include "tests/emitter/emitted_program.h"
#include "tests/emitter/scalar_draw.h"
#include "tests/places.h"
#include "tests/random_runs.h"

namespace stowage::fixtures {
namespace {

using Bytes = std::vector<std::byte>;

std::string text_of(const ScalarExpr& e) {
  return fmt::format("{}: {}", name_of(e->type),
                     to_text(
                         e,
                         [](ReadId read) {
                           return fmt::format("{}{}", name_of(drawn_types[read.index() / 2]),
                                              read.index() % 2 == 0 ? "_a" : "_b");
                         },
                         [](const IndexExpr&) { return std::string("index"); }));
}

/// By plain evaluation; with a reduction, over each row of special_count points.
Bytes evaluated(const ScalarExpr& e, const std::vector<Tensor>& inputs, Reduction reduction) {
  StageList list;
  Stage stage;
  const auto points = static_cast<std::int64_t>(drawn_points);
  const auto row = static_cast<std::int64_t>(special_count);
  for (const Tensor& input : inputs) {
    stage.reads.push_back({list.tensors.next_id(), {}, {}});
    stage.reads.back().index = {reduction == Reduction::none ? IndexExpr(VarId(0))
                                                             : IndexExpr(VarId(0)) * row + IndexExpr(VarId(1))};
    list.tensors.push_back({"in", input.type(), input.shape(), TensorRole::input, {}, {}});
  }
  stage.name = "drawn";
  stage.output = list.tensors.next_id();
  stage.spatial = 1;
  stage.reduction = reduction;
  stage.body = e;
  stage.axes = {{"x", points}};
  if (reduction != Reduction::none) stage.axes = {{"x", row}, {"r", row}};
  list.tensors.push_back({"out", e->type, {stage.axes[0].extent}, TensorRole::output, {}, {}});
  list.stages.push_back(std::move(stage));
  const IdVector<StageTensorId, Tensor> values = evaluate(list, inputs);
  return Bytes(values.back().bytes().begin(), values.back().bytes().end());
}

void append(ElementType type, double real, std::int64_t whole, Bytes& bytes) {
  with_type(type, [&](auto sample) {
    using T = decltype(sample);
    const T element = std::is_floating_point_v<T> ? static_cast<T>(real) : static_cast<T>(whole);
    const auto* raw = reinterpret_cast<const std::byte*>(&element);
    bytes.insert(bytes.end(), raw, raw + sizeof element);
  });
}

/// By the interpreter's program, strip by strip.
Bytes interpreted(const ScalarExpr& e, const std::vector<Tensor>& inputs, Reduction reduction) {
  const ScalarProgram program(e, inputs.size(), 0);
  std::vector<Strip> registers = program.registers();
  Bytes bytes;
  const Tensor start = Tensor::scalar(e->type, identity_of(reduction, e->type));
  double real = 0;
  std::int64_t whole = 0;
  for (std::size_t first = 0; first < drawn_points; first += ScalarProgram::strip_length) {
    const std::size_t length = std::min(ScalarProgram::strip_length, drawn_points - first);
    for (const ReadId read : program.reads()) {
      const std::size_t r = read.index();
      with_type(inputs[r].type(), [&](auto sample) {
        using T = decltype(sample);
        for (std::size_t i = 0; i < length; ++i) {
          const T element = inputs[r].as<T>()[first + i];
          if constexpr (std::is_floating_point_v<T>) {
            registers[r].real[i] = element;
          } else {
            registers[r].whole[i] = static_cast<std::int64_t>(element);
          }
        }
      });
    }
    program.run(registers, length);
    const Strip& result = registers[program.result()];
    for (std::size_t i = 0; i < length; ++i) {
      if (reduction == Reduction::none) {
        append(e->type, result.real[i], result.whole[i], bytes);
        continue;
      }
      const std::size_t in_row = (first + i) % special_count;
      if (in_row == 0) real = start.as_double(0);
      if (in_row == 0) whole = start.as_int64(0);
      if (is_float(e->type)) {
        real = combined(reduction, e->type, real, result.real[i]);
      } else {
        whole = combined(reduction, e->type, whole, result.whole[i]);
      }
      if (in_row + 1 == special_count) append(e->type, real, whole, bytes);
    }
  }
  return bytes;
}

std::string c_array(ReadId read) { return fmt::format("r{}", read.index()); }

/// One C function for an expression, which writes its values.
std::string c_function(std::size_t number, const ScalarExpr& e, BinaryOp step, Reduction reduction) {
  std::string temporaries;
  int count = 0;
  ScalarNames names;
  names.read = [](ReadId read) { return c_array(read) + "[i]"; };
  names.temporary = [&](ElementType type, const std::string& text) {
    std::string name = fmt::format("t{}_", count++);
    temporaries += fmt::format("    const {} {} = {};\n", c_name_of(type), name, text);
    return name;
  };
  const std::string value = c_scalar(e, names);
  const std::string_view type = c_name_of(e->type);
  if (reduction == Reduction::none) {
    return fmt::format(
        "static void e{}(void) {{\n  static {} out[{}];\n  for (int i = 0; i < {}; i++) {{\n{}    out[i] = {};\n  }}\n"
        "  fwrite(out, 1, sizeof out, stdout);\n}}\n",
        number, type, drawn_points, drawn_points, temporaries, value);
  }
  return fmt::format(
      "static void e{0}(void) {{\n  for (int x = 0; x < {1}; x++) {{\n    {2} acc = {6};\n    for (int i = x * {1}; i "
      "< (x + 1) * {1}; "
      "i++) {{\n{3}      const {2} value = {4};\n      acc = {5};\n    }}\n    fwrite(&acc, 1, sizeof acc, stdout);\n  "
      "}}\n}}\n",
      number, special_count, type, temporaries, value, c_binary(step, e->type, "acc", "value"),
      c_constant(e->type, identity_of(reduction, e->type)));
}

struct Case {
  ScalarExpr e;
  Reduction reduction = Reduction::none;
  BinaryOp step = BinaryOp::maximum;
};

/// All expressions by one program, compiled once.
Bytes compiled(const std::vector<Case>& cases, const std::vector<Tensor>& inputs, const std::string& compiler) {
  const TemporaryFolder folder;
  std::string source = "#include <math.h>\n#include <stdio.h>\n#include \"sw_rt.h\"\n";
  std::string read;
  std::string calls;
  Bytes data;
  for (std::size_t r = 0; r < inputs.size(); ++r) {
    const std::string name = c_array(ReadId(r));
    source += fmt::format("static {} {}[{}];\n", c_name_of(inputs[r].type()), name, drawn_points);
    read += fmt::format("  if (fread({0}, 1, sizeof {0}, in) != sizeof {0}) return 1;\n", name);
    data.insert(data.end(), inputs[r].bytes().begin(), inputs[r].bytes().end());
  }
  for (std::size_t n = 0; n < cases.size(); ++n) {
    source += c_function(n, cases[n].e, cases[n].step, cases[n].reduction);
    calls += fmt::format("  e{}();\n", n);
  }
  source += fmt::format(
      "int main(void) {{\n  FILE *in = fopen(\"in.bin\", \"rb\");\n{}  if (freopen(\"out.bin\", \"wb\", stdout) == "
      "NULL) return 1;\n{}  return fclose(stdout);\n}}\n",
      read, calls);
  write_bytes(folder.path() / "drawn.c", source.data(), source.size());
  write_bytes(folder.path() / "in.bin", data.data(), data.size());
  const std::string include = (test::source_folder() / "emitter/athread/templates").string();
  // A fused multiply-add is the one liberty that emulation leaves to the compiler.
  const ProcessResult built = run_process({compiler, "-std=gnu99", "-O3", "-march=native", "-ffp-contract=off", "-I",
                                           include, "drawn.c", "-lm", "-o", "drawn"},
                                          folder.path());
  INFO(compiler << "\n" << built.output);
  REQUIRE(built.exit_code == 0);
  REQUIRE(run_process({(folder.path() / "drawn").string()}, folder.path()).exit_code == 0);
  const std::string out = read_text(folder.path() / "out.bin");
  Bytes bytes(out.size());
  std::memcpy(bytes.data(), out.data(), out.size());
  return bytes;
}

/// How many steps of float32 the emitted C may be away from plain evaluation, and from the interpreter, in the result
/// of its outermost operation. 0 but where the C library computes a float32: C calls expf or powf there, the other two
/// exp or pow and round, because they hold every float in double; of float64 all three make the same call. What is
/// rounded is half an ulp (and 2^-29 of one, the error in double) from the true value at most. For expf, logf, powf,
/// erff, sinf and cosf the GNU C Library 2.36 on x86-64 is less than 1 ulp from it, for tanhf less than 2.5: together 1
/// and 2 whole steps. So it was measured over every seventh float32, and over 2*10^8 powers: 1 step where two differ,
/// of tanhf 2. Of Sunway's library this says nothing.
std::int64_t library_steps(const ScalarExpr& e) {
  if (e->type != ElementType::f32) return 0;
  if (const auto* two = std::get_if<ScalarNode::Binary>(&e->value)) return two->op == BinaryOp::power ? 1 : 0;
  const auto* one = std::get_if<ScalarNode::Unary>(&e->value);
  if (one == nullptr || std::count(library_functions.begin(), library_functions.end(), one->op) == 0) return 0;
  return one->op == UnaryOp::tanh ? 2 : 1;
}

/// Whether there are at most so many float32 values from one to the other; infinity is the one behind the largest.
/// Signs are the same, of zeros too.
bool within_steps(float a, float b, std::int64_t steps) {
  const auto bits = [](float value) { return static_cast<std::int64_t>(std::bit_cast<std::int32_t>(value)); };
  return std::signbit(a) == std::signbit(b) && std::abs(bits(a) - bits(b)) <= steps;
}

/// The first element that differs by more than `steps` of float32, with its operands, or "".
std::string difference(const Case& c, std::span<const std::byte> expected, std::span<const std::byte> found,
                       const std::vector<Tensor>& inputs, std::int64_t steps) {
  return with_type(c.e->type, [&](auto sample) -> std::string {
    using T = decltype(sample);
    for (std::size_t at = 0; at < expected.size(); at += sizeof(T)) {
      T e;
      T f;
      std::memcpy(&e, &expected[at], sizeof(T));
      std::memcpy(&f, &found[at], sizeof(T));
      if ((e != e && f != f) || std::memcmp(&e, &f, sizeof(T)) == 0) continue;
      if constexpr (std::is_same_v<T, float>) {
        if (e == e && f == f && within_steps(e, f, steps)) continue;
      }
      std::string text =
          fmt::format("{} {}: {} instead of {}", text_of(c.e), c.reduction == Reduction::none ? "" : "reduced", f, e);
      const std::size_t point = at / sizeof(T);
      visit_nodes(c.e, [&](const ScalarNode& node) {
        const auto* read = std::get_if<ScalarNode::Read>(&node.value);
        if (read == nullptr || c.reduction != Reduction::none) return;
        with_type(node.type, [&](auto kind) {
          text += fmt::format(", r{} = {}", read->read.index(), inputs[read->read.index()].as<decltype(kind)>()[point]);
        });
      });
      return text;
    }
    return "";
  });
}

/// a + b / 256 of two bytes over `divisor`, a power of 2: a float32 that is exact, and another at
/// nearly every point, where the special values leave a function few that are neither beyond its range nor the same.
ScalarExpr spread(bool second, double divisor) {
  const ElementType f32 = ElementType::f32;
  const auto scaled = [&](ElementType type, bool other, double by) {
    const ScalarExpr read = scalar_cast(f32, scalar_read(type, read_of(type, other)));
    return scalar_binary(BinaryOp::multiply, read, scalar_constant(f32, 1 / by));
  };
  return scalar_binary(BinaryOp::add, scaled(ElementType::i8, second, divisor),
                       scaled(ElementType::u8, !second, 256 * divisor));
}

}  // namespace

TEST_CASE("an expression means the same in plain evaluation, in the interpreter and in emitted C") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261122);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 1);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1");
    std::cout << "STOWAGE_SEED=" << seed + round << "\n";
    std::mt19937_64 random(seed + round);
    const std::vector<Tensor> inputs = special_inputs(random);
    std::vector<Case> cases;
    // Each operation alone, on every pair of special values; then trees.
    for (const ElementType type : drawn_types) {
      const ScalarExpr a = scalar_read(type, read_of(type, false));
      const ScalarExpr b = scalar_read(type, read_of(type, true));
      for (const ElementType to : drawn_types) cases.push_back({scalar_cast(to, a)});
      if (type == ElementType::boolean) continue;
      for (const BinaryOp op :
           {BinaryOp::add, BinaryOp::subtract, BinaryOp::multiply, BinaryOp::divide, BinaryOp::minimum,
            BinaryOp::maximum, BinaryOp::less, BinaryOp::less_equal, BinaryOp::equal}) {
        cases.push_back({scalar_binary(op, a, b)});
      }
      cases.push_back({scalar_binary(BinaryOp::power, a, b)});
      cases.push_back({max(a, scalar_integer(type, 0))});
      cases.push_back({min(max(a, scalar_integer(type, 1)), scalar_integer(type, 100))});
      cases.push_back({b, Reduction::maximum, BinaryOp::maximum});
      cases.push_back({b, Reduction::minimum, BinaryOp::minimum});
      if (type != ElementType::f32) cases.push_back({b, Reduction::sum, BinaryOp::add});
      if (type != ElementType::f32) cases.push_back({b, Reduction::product, BinaryOp::multiply});
    }
    for (const UnaryOp function : library_functions) {
      for (const ElementType type : {ElementType::f32, ElementType::f64}) {
        cases.push_back({scalar_unary(function, scalar_read(type, read_of(type, false)))});
      }
      for (const double divisor : {1.0, 16.0}) cases.push_back({scalar_unary(function, spread(false, divisor))});
    }
    for (const double divisor : {1.0, 16.0}) {
      cases.push_back(
          {scalar_binary(BinaryOp::power, scalar_unary(UnaryOp::abs, spread(false, 1)), spread(true, divisor))});
    }
    ScalarDraw draw(seed + round);
    while (cases.size() < 700) cases.push_back({draw.draw()});

    std::map<std::string, Bytes> by_compiler;
    for (const char* compiler : {"gcc", "clang"}) by_compiler[compiler] = compiled(cases, inputs, compiler);
    std::size_t at = 0;
    std::string differences;
    for (const Case& c : cases) {
      const Bytes expected = evaluated(c.e, inputs, c.reduction);
      if (const std::string text = difference(c, expected, interpreted(c.e, inputs, c.reduction), inputs, 0);
          !text.empty()) {
        differences += "interpreted " + text + "\n";
      }
      for (const auto& [compiler, bytes] : by_compiler) {
        REQUIRE(bytes.size() >= at + expected.size());
        const std::span<const std::byte> found(bytes.data() + at, expected.size());
        if (const std::string text = difference(c, expected, found, inputs, library_steps(c.e)); !text.empty()) {
          differences += compiler + " " + text + "\n";
        }
      }
      at += expected.size();
    }
    for (const auto& [compiler, bytes] : by_compiler) CHECK(bytes.size() == at);
    CHECK(differences == "");
  }
}

}  // namespace stowage::fixtures
