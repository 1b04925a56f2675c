// SPDX-License-Identifier: Apache-2.0
// Weights in every form in which ONNX stores them.
#include <catch2/catch.hpp>

#include <cstring>
#include <filesystem>

#include "tests/onnx/text_model.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;
using onnx::TensorProto;

/// A model that adds the weight w to x, both of a type and of shape [2].
onnx::ModelProto adding(int type) {
  auto model = text_model("g (float[2] x) => (float[2] y) { y = Add(x, w) }", 14);
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  TensorProto& w = *model.mutable_graph()->add_initializer();
  w.set_name("w");
  w.set_data_type(type);
  w.add_dims(2);
  return model;
}

TensorProto& weight(onnx::ModelProto& model) { return *model.mutable_graph()->mutable_initializer(0); }

std::vector<double> values_of(const ImportOutcome& outcome, const std::string& name = "w") {
  INFO(outcome.text());
  REQUIRE(outcome.graph);
  const auto id = outcome.graph->find_tensor(name);
  REQUIRE(id);
  const Tensor& tensor = outcome.graph->tensor(*id).constant.value();
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.size(); ++i) values.push_back(tensor.as_double(i));
  return values;
}

template <class T>
std::string raw(T a, T b) {
  std::string bytes(2 * sizeof(T), '\0');
  std::memcpy(bytes.data(), &a, sizeof a);
  std::memcpy(bytes.data() + sizeof a, &b, sizeof b);
  return bytes;
}

void set_external(TensorProto& tensor, const std::string& location, const std::string& offset = {},
                  const std::string& length = {}) {
  tensor.set_data_location(TensorProto::EXTERNAL);
  tensor.clear_external_data();
  const auto add = [&](const std::string& key, const std::string& value) {
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", location);
  if (!offset.empty()) add("offset", offset);
  if (!length.empty()) add("length", length);
}

}  // namespace

TEST_CASE("weights are read from raw bytes and from typed fields, for every type", "[onnx][storage]") {
  const std::vector<double> expected = {1, 2};
  const auto check = [&](int type, const std::string& bytes, const std::function<void(TensorProto&)>& fill) {
    INFO("ONNX type " << type);
    auto model = adding(type);
    weight(model).set_raw_data(bytes);
    CHECK(values_of(import_model(model)) == expected);
    weight(model).clear_raw_data();
    fill(weight(model));
    CHECK(values_of(import_model(model)) == expected);
  };
  const auto as_int32 = [](TensorProto& t) { t.add_int32_data(1), t.add_int32_data(2); };
  check(TensorProto::FLOAT, raw(1.0F, 2.0F), [](TensorProto& t) { t.add_float_data(1), t.add_float_data(2); });
  check(TensorProto::DOUBLE, raw(1.0, 2.0), [](TensorProto& t) { t.add_double_data(1), t.add_double_data(2); });
  check(TensorProto::INT64, raw<std::int64_t>(1, 2), [](TensorProto& t) { t.add_int64_data(1), t.add_int64_data(2); });
  check(TensorProto::INT32, raw<std::int32_t>(1, 2), as_int32);
  check(TensorProto::INT16, raw<std::int16_t>(1, 2), as_int32);
  check(TensorProto::INT8, raw<std::int8_t>(1, 2), as_int32);
  check(TensorProto::UINT16, raw<std::uint16_t>(1, 2), as_int32);
  check(TensorProto::UINT8, raw<std::uint8_t>(1, 2), as_int32);
  const auto as_uint64 = [](TensorProto& t) { t.add_uint64_data(1), t.add_uint64_data(2); };
  check(TensorProto::UINT32, raw<std::uint32_t>(1, 2), as_uint64);
  check(TensorProto::UINT64, raw<std::uint64_t>(1, 2), as_uint64);
}

TEST_CASE("bool weights hold only 0 and 1", "[onnx][storage]") {
  auto model = text_model("g (bool[2] x) => (bool[2] y) { y = And(x, w) }");
  TensorProto& w = *model.mutable_graph()->add_initializer();
  w.set_name("w");
  w.set_data_type(TensorProto::BOOL);
  w.add_dims(2);
  w.set_raw_data(std::string("\x00\x07", 2));
  CHECK(values_of(import_model(model)) == std::vector<double>{0, 1});
  w.clear_raw_data();
  w.add_int32_data(0);
  w.add_int32_data(1);
  CHECK(values_of(import_model(model)) == std::vector<double>{0, 1});
}

TEST_CASE("weights of a wrong length are refused", "[onnx][storage]") {
  auto model = adding(TensorProto::FLOAT);
  CHECK(import_model(model).codes() == "invalid-onnx");  // ONNX's checker: not stored at all
  weight(model).add_float_data(1);
  CHECK(import_model(model).codes() == "invalid-tensor");
  weight(model).set_raw_data("123");
  CHECK(import_model(model).codes() == "invalid-onnx");  // ONNX's checker: stored twice
  weight(model).clear_float_data();
  CHECK(import_model(model).codes() == "invalid-tensor");
  weight(model).set_dims(0, -2);
  CHECK_FALSE(import_model(model).graph);
}

TEST_CASE("weights that are listed as inputs too, behind Identity and in Constant nodes are weights",
          "[onnx][storage]") {
  SECTION("listed as inputs (IR version 3)") {
    auto model = text_model("g (float[2] x, float[2] w) => (float[2] y) { y = Add(x, w) }", 8);
    model.set_ir_version(3);
    *model.mutable_graph()->add_initializer() = float_tensor("w", {2}, {1, 2});
    const auto outcome = import_model(model);
    CHECK(values_of(outcome) == std::vector<double>{1, 2});
    CHECK(outcome.graph->inputs().size() == 1);
    Diagnostics diagnostics;
    const TemporaryFolder folder;
    const auto inputs = onnx_inputs(folder.write("m.onnx", model.SerializeAsString()), diagnostics);
    REQUIRE(inputs);
    CHECK(inputs->size() == 1);
  }
  SECTION("behind Identity, shared by two names") {
    auto model = text_model("g (float[2] x) => (float[2] y) { v = Identity(w) a = Add(x, v) y = Add(a, w) }");
    *model.mutable_graph()->add_initializer() = float_tensor("w", {2}, {1, 2});
    const auto outcome = import_model(model);
    REQUIRE(outcome.graph);
    CHECK(outline(*outcome.graph) == "Add[x,w] Add[a,w]");
  }
  SECTION("in Constant nodes of every form") {
    const auto constant = [](const std::string& attribute) {
      return values_of(
          import_text("g (float[2] x) => (float[2] y) { w = Constant<" + attribute + ">() y = Add(x, w) }"));
    };
    CHECK(constant("value = float[2] {1, 2}") == std::vector<double>{1, 2});
    CHECK(constant("value_float = 3.0") == std::vector<double>{3});
    CHECK(constant("value_floats = [1.0, 2.0]") == std::vector<double>{1, 2});
    CHECK(
        import_text("g (float[2] x) => (float[2] y) { w = Constant<value_string = \"a\">() y = Add(x, w) }").codes() ==
        "unsupported-type");
  }
}

TEST_CASE("sparse weights are refused by name", "[onnx][storage]") {
  auto model = text_model("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  auto& sparse = *model.mutable_graph()->add_sparse_initializer();
  *sparse.mutable_values() = float_tensor("thin", {1}, {1});
  const auto outcome = import_model(model);
  CHECK(outcome.codes() == "sparse-tensor");
  CHECK(outcome.text().find("tensor thin") != std::string::npos);
}

TEST_CASE("external data is read at its offset", "[onnx][storage]") {
  const TemporaryFolder folder;
  (void)folder.write("weights/data.bin", "skip" + raw(1.0F, 2.0F) + raw(3.0F, 4.0F));
  auto model = adding(TensorProto::FLOAT);
  const auto with = [&](const std::string& offset, const std::string& length) {
    set_external(weight(model), "weights/data.bin", offset, length);
    return import_file(folder.write("model.onnx", model.SerializeAsString()));
  };
  CHECK(values_of(with("4", "8")) == std::vector<double>{1, 2});
  CHECK(values_of(with("12", "")) == std::vector<double>{3, 4});
  CHECK(with("16", "8").codes() == "external-data");
  CHECK(with("4000000000000000000", "8").codes() == "external-data");
  CHECK(with("9223372036854775807", "8").codes() == "external-data");
  CHECK(with("-4", "8").codes() == "external-data");
  CHECK(with("four", "8").codes() == "external-data");
  CHECK(with("4", "12").codes() == "invalid-tensor");
}

TEST_CASE("external data stays inside the model's folder", "[onnx][storage]") {
  const TemporaryFolder folder;
  (void)folder.write("secret.bin", raw(1.0F, 2.0F));
  (void)folder.write("models/inside.bin", raw(1.0F, 2.0F));
  auto model = adding(TensorProto::FLOAT);
  const auto from = [&](const std::string& location) {
    set_external(weight(model), location);
    return import_file(folder.write("models/model.onnx", model.SerializeAsString()));
  };
  CHECK(values_of(from("inside.bin")) == std::vector<double>{1, 2});
  fs::create_symlink("inside.bin", folder.path() / "models" / "link.bin");
  CHECK(values_of(from("link.bin")) == std::vector<double>{1, 2});
  fs::create_symlink("../secret.bin", folder.path() / "models" / "leak.bin");
  fs::create_directory_symlink("..", folder.path() / "models" / "up");
  const std::vector<std::string> locations{"../secret.bin",
                                           (folder.path() / "secret.bin").string(),
                                           "inside/../../secret.bin",
                                           "leak.bin",
                                           "up/secret.bin",
                                           "missing.bin",
                                           "",
                                           "."};
  for (const std::string& location : locations) {
    const auto outcome = from(location);
    INFO(location << ": " << outcome.text());
    CHECK(outcome.codes() == "external-data");
    CHECK(outcome.text().find("tensor w") != std::string::npos);
  }
}

}  // namespace stowage::test
