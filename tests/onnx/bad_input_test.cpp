// SPDX-License-Identifier: Apache-2.0
// Whatever a file holds, the import says what is wrong with it and neither crashes, hangs nor allocates without bound.
#include <catch2/catch.hpp>

#include <filesystem>
#include <random>

#include <fmt/format.h>

#include "tests/onnx/text_model.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

std::string relu_bytes() { return text_model("g (float[2] x) => (float[2] y) { y = Relu(x) }").SerializeAsString(); }

std::string code_of_bytes(const std::string& bytes) {
  const TemporaryFolder folder;
  const ImportOutcome outcome = import_file(folder.write("model.onnx", bytes));
  CHECK_FALSE(outcome.graph);
  return outcome.codes();
}

}  // namespace

TEST_CASE("files that are no models are refused by their kind", "[onnx][bad]") {
  const TemporaryFolder folder;
  CHECK(import_file((folder.path() / "none.onnx").string()).codes() == "no-such-file");
  CHECK(import_file(folder.path().string()).codes() == "not-a-file");
  CHECK(code_of_bytes("") == "empty-file");
  CHECK(code_of_bytes("This is a text about networks, not a network.") == "not-onnx");
  CHECK(code_of_bytes(std::string(1000, '\0')) == "not-onnx");
  CHECK(code_of_bytes("PK\x03\x04 something zipped") == "not-onnx");
  onnx::ModelProto empty;
  empty.set_ir_version(7);
  CHECK(code_of_bytes(empty.SerializeAsString()) == "not-onnx");
}

TEST_CASE("a truncated model is refused wherever it was cut", "[onnx][bad]") {
  const std::string whole = relu_bytes();
  const TemporaryFolder folder;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const ImportOutcome outcome = import_file(folder.write("model.onnx", whole.substr(0, length)));
    INFO("cut to " << length << " of " << whole.size() << " bytes: " << outcome.text());
    CHECK_FALSE(outcome.graph);
    CHECK_FALSE(outcome.codes().empty());
  }
  CHECK(code_of_bytes(whole.substr(0, whole.size() - 10)) == "truncated-model");
}

TEST_CASE("damaged models never crash the import", "[onnx][bad]") {
  auto model = text_model(
      "g (float[1,2,5,5] x) => (float[1,18] y) {"
      " w = Constant<value = float[2,2,3,3] "
      "{1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9}>()"
      " c = Conv<kernel_shape=[3,3]>(x, w) s = Shape(c) r = Relu(c) y = Flatten<axis=1>(r) }");
  *model.mutable_graph()->add_initializer() = float_tensor("unused", {2}, {1, 2});
  const std::string whole = model.SerializeAsString();
  const std::uint32_t seed = 20240601;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const TemporaryFolder folder;
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int c = 0; c < changes; ++c) bytes[random() % bytes.size()] = static_cast<char>(random());
    const ImportOutcome outcome = import_file(folder.write("model.onnx", bytes));
    if (!outcome.graph) ++refused;
    if (!outcome.graph && outcome.codes().empty()) FAIL("refused without a reason in round " << round);
  }
  CHECK(refused > 500);
}

TEST_CASE("many mistakes and many equal names take no more than a moment", "[onnx][bad]") {
  const int many = 20'000;
  auto missing = text_model("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  auto equal = missing;
  for (int i = 0; i < many; ++i) {
    auto& reads_nothing = *missing.mutable_graph()->add_node();
    reads_nothing.set_op_type("Relu");
    reads_nothing.add_input("none" + std::to_string(i));
    reads_nothing.add_output("a" + std::to_string(i));
    auto& same_name = *equal.mutable_graph()->add_node();
    same_name = equal.graph().node(0);
    same_name.set_name("same");
    same_name.set_output(0, "a" + std::to_string(i));
  }
  CHECK(import_model(missing).codes().starts_with("missing-input missing-input"));
  CHECK(import_model(equal).graph);
  auto wide = text_model("g (float[2] x) => (float[2] y) { y = Max(x) }");
  for (int i = 0; i < many; ++i) wide.mutable_graph()->mutable_node(0)->add_input("x");
  CHECK(import_model(wide).codes() == "wrong-operand-count");
}

TEST_CASE("opsets older than 7 are refused, and files that name none", "[onnx][bad]") {
  CHECK(import_text("g (float[2] x) => (float[2] y) { y = Relu(x) }", 6).codes() == "opset-too-old");
  auto model = text_model("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  model.mutable_opset_import(0)->set_domain("com.example");
  CHECK(import_model(model).codes() == "no-opset");
  model.clear_opset_import();
  CHECK(import_model(model).codes() == "opset-too-old");
}

TEST_CASE("a cycle is shown node by node", "[onnx][bad]") {
  const auto outcome =
      import_text("g (float[2] x) => (float[2] y) { a = Add(x, c) b = Relu(a) c = Relu(b) y = Relu(x) }");
  CHECK(outcome.codes() == "cycle");
  CHECK(outcome.text().find("Add_1 -> Relu_1 -> Relu_2 -> Add_1") != std::string::npos);
}

TEST_CASE("missing values and doubly made ones are named", "[onnx][bad]") {
  const auto missing = import_text("g (float[2] signal) => (float[2] y) { y = Relu(signl) }");
  CHECK(missing.codes() == "missing-input");
  CHECK(missing.text().find("did you mean 'signal'?") != std::string::npos);
  CHECK(import_text("g (float[2] x) => (float[2] z) { y = Relu(x) }").codes() == "missing-output");
  CHECK(import_text("g (float[2] x) => (float[2] y) { y = Relu(x) y = Exp(x) }").codes() == "duplicate-value");
  CHECK(
      import_text("g (float[2] x) => (float[2] y) { x = Relu(x) y = Exp(x) }").codes().starts_with("duplicate-value"));
}

TEST_CASE("shapes that do not fit are refused at their node", "[onnx][bad]") {
  const auto outcome = import_text("g (float[2,3] x, float[4,5] z) => (float[2,3] y) { y = Add(x, z) }");
  CHECK_FALSE(outcome.graph);
  CHECK(outcome.text().find("node Add_1 (Add)") != std::string::npos);
  CHECK_FALSE(import_text("g (float[2,3] x, float[4,5] z) => (float[2,5] y) { y = MatMul(x, z) }").graph);
  CHECK(import_text("g (float[2,3] x) => (float[7] y) { s = Constant<value = int64[1] {7}>() y = Reshape(x, s) }")
            .codes() == "shape-mismatch");
  CHECK_FALSE(import_text("g (float[1,3,8,8] x, float[4,2,3,3] w) => (float[1,4,6,6] y) { y = Conv(x, w) }").graph);
  CHECK(import_text("g (float[2,3] x) => (float[2,3] y) { y = Softmax<axis = 5>(x) }").codes() == "axis-out-of-range");
}

TEST_CASE("several mistakes are reported in one run", "[onnx][bad]") {
  const auto outcome = import_text(
      "g (float[2,3] x) => (float[2,3] y, float[2,3] z) { y = Softmax<axis = 5>(x) z = Softmax<axis = -9>(x) }");
  CHECK(outcome.codes() == "axis-out-of-range axis-out-of-range");
}

TEST_CASE("wrong types are refused", "[onnx][bad]") {
  CHECK_FALSE(import_text("g (float[2] x, int64[2] z) => (float[2] y) { y = Add(x, z) }").graph);
  CHECK_FALSE(import_text("g (int64[1,1,4,4] x, float[1,1,3,3] w) => (float[1,1,2,2] y) { y = Conv(x, w) }").graph);
}

TEST_CASE("a tensor of 2^62 elements is refused without allocating it", "[onnx][bad]") {
  SECTION("as an input") {
    const auto outcome = import_text("g (float[2147483648,2147483648] x) => (float[1] y) { y = Relu(x) }");
    CHECK(outcome.codes() == "tensor-too-large");
  }
  SECTION("as a weight") {
    auto model = text_model("g (float[2] x) => (float[2] y) { y = Add(x, w) }");
    auto tensor = float_tensor("w", {std::int64_t{1} << 31, std::int64_t{1} << 31}, {1});
    *model.mutable_graph()->add_initializer() = tensor;
    CHECK(import_model(model).codes() == "tensor-too-large");
    model.mutable_graph()->mutable_initializer(0)->set_dims(0, 1000);
    CHECK(import_model(model).codes() == "invalid-tensor");
    model.mutable_graph()->mutable_initializer(0)->set_dims(0, std::int64_t{1} << 62);
    CHECK(import_model(model).codes() == "tensor-too-large");
  }
  SECTION("out of ConstantOfShape") {
    CHECK(import_text("g (float[2] x) => (float[2] y) { s = Constant<value = int64[2] {2147483648, 2147483648}>()"
                      " w = ConstantOfShape(s) y = Add(x, w) }")
              .codes() == "tensor-too-large");
  }
  SECTION("out of Expand, Tile, Pad and Range") {
    CHECK(import_text("g (float[1] x) => (float[1] y) { s = Constant<value = int64[2] {2147483648, 2147483648}>()"
                      " y = Expand(x, s) }")
              .codes() == "tensor-too-large");
    CHECK_FALSE(import_text("g (float[4] x) => (float[1] y) { s = Constant<value = int64[1] {4611686018427387904}>()"
                            " y = Tile(x, s) }")
                    .graph);
    CHECK_FALSE(import_text("g (float[4] x) => (float[1] y) { s = Constant<value = int64[2] {4611686018427387904, "
                            "4611686018427387904}>()"
                            " y = Pad(x, s) }")
                    .graph);
    CHECK_FALSE(import_text("g (int64[4] x) => (int64[1] y) { a = Constant<value_int = 0>() b = Constant<value_int = "
                            "4611686018427387904>()"
                            " d = Constant<value_int = 1>() r = Range(a, b, d) y = Add(x, r) }")
                    .graph);
  }
}

TEST_CASE("attributes that are unknown, missing or of another type are refused", "[onnx][bad]") {
  // Beyond opset 17 ONNX's checker of this version cannot help.
  const auto unknown = import_text("g (float[2,3] x) => (float[2,3] y) { y = Softmax<axes = 1>(x) }", 21);
  CHECK(unknown.codes() == "unknown-attribute");
  CHECK(unknown.text().find("did you mean 'axis'?") != std::string::npos);
  CHECK(import_text("g (float[2,3] x) => (float[2,3] y) { y = Softmax<axis = 1.5>(x) }", 21).codes() == "wrong-type");
  CHECK(import_text("g (float[2,3] x) => (float[2,3] y) { y = Concat(x, x) }", 21).codes() == "missing-attribute");
  CHECK(import_text("g (float[2,3] x) => (float[2,3] y) { y = Relu(x, x) }", 21).codes() == "wrong-operand-count");
  CHECK(import_text("g (float[2,3] x) => (float[2,3] y) { y = Softmax<axes = 1>(x) }", 13).codes() == "invalid-onnx");
}

TEST_CASE("unsupported operators are listed together, each with its nodes", "[onnx][bad]") {
  const auto outcome = import_text(
      "g (float[2,3] x) => (float[2,3] y) { a = Foo(x) b = Bar(a) c = Foo(b) d = com.example.Fancy(c) y = Softmax<axis "
      "= 7>(d) }");
  CHECK(outcome.codes() == "unsupported-operator unsupported-operator custom-domain");
  CHECK(outcome.text().find("used by Foo_1, Foo_2") != std::string::npos);
  CHECK(outcome.text().find("operator com.example::Fancy") != std::string::npos);
}

TEST_CASE("float16 and strings are refused by their names", "[onnx][bad]") {
  const auto half = import_text("g (float16[2] x) => (float16[2] y) { y = Relu(x) }");
  CHECK(half.codes() == "unsupported-type");
  CHECK(half.text().find("float16") != std::string::npos);
  CHECK(import_text("g (float[2] x) => (float16[2] y) { y = Cast<to = 10>(x) }").codes() == "unsupported-type");
  CHECK(import_text("g (string[2] x) => (string[2] y) { y = Identity(x) }").codes() == "unsupported-type");
}

TEST_CASE("training mode and outputs that only training needs are refused", "[onnx][bad]") {
  CHECK(import_text("g (float[1,2,3,3] x, float[2] s) => (float[1,2,3,3] y) {"
                    " y, m, v = BatchNormalization<training_mode = 1>(x, s, s, s, s) }",
                    15)
            .codes() == "training-mode");
  CHECK(import_text("g (float[1,2,3,3] x, float[2] s) => (float[1,2,3,3] y, float[2] m) {"
                    " y, m, v, a, b = BatchNormalization(x, s, s, s, s) }",
                    9)
            .codes() == "unsupported-output");
}

TEST_CASE("whole numbers divided by zero on import are refused", "[onnx][bad]") {
  CHECK(import_text("g (int64[2] x) => (int64[2] y) { a = Constant<value = int64[2] {4, 6}>() b = Constant<value = "
                    "int64[2] {2, 0}>()"
                    " c = Div(a, b) y = Add(x, c) }")
            .codes() == "division-by-zero");
}

TEST_CASE("names that are no text are refused", "[onnx][bad]") {
  auto model = text_model("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  // What is wrong, where it is and which name: with codes(), the whole message.
  const auto said = [&](std::string_view place, std::string_view message) {
    const auto outcome = import_model(model);
    INFO(outcome.text());
    CHECK(outcome.codes() == "invalid-name");
    CHECK(outcome.text().find(fmt::format("error: {}: its name {} [invalid-name]", place, message)) !=
          std::string::npos);
    CHECK(outcome.text().find("help: rename it") != std::string::npos);
  };
  auto& node = *model.mutable_graph()->mutable_node(0);
  node.set_name("\xff\xfe");
  said("node 0 (Relu)", "'\\xff\\xfe' is not readable text (UTF-8 without control characters)");
  node.set_name("line\nbreak");
  said("node 0 (Relu)", "'line\\nbreak' is not readable text (UTF-8 without control characters)");
  node.set_name(std::string(100'000, 'x'));
  const auto outcome = import_model(model);
  CHECK(outcome.text().find("is 100 000 bytes long, 2048 are the most that are read") != std::string::npos);
  CHECK(outcome.text().size() < 1000);
  node.set_name("good");
  model.mutable_graph()->mutable_input(0)->set_name("a\x01");
  node.set_input(0, "a\x01");
  said("input 0", "'a\\u0001' is not readable text (UTF-8 without control characters)");
}

TEST_CASE("a stopped import fails and says nothing", "[onnx][bad]") {
  const TemporaryFolder folder;
  const std::string whole = text_model("agraph (float[2] x) => (float[2] y) { y = Relu(x) }").SerializeAsString();
  std::stop_source source;
  source.request_stop();
  for (const std::string& bytes : {whole, whole.substr(0, whole.size() / 2)}) {
    Diagnostics diagnostics;
    CHECK_FALSE(import_onnx(folder.write("model.onnx", bytes), {}, diagnostics, source.get_token()));
    CHECK(format_diagnostics(diagnostics).empty());
  }
}

}  // namespace stowage::test
