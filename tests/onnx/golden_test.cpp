// SPDX-License-Identifier: Apache-2.0
// The comparison with golden outputs is itself a thing that may be wrong.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <string>

#include "tests/onnx/shared_networks.h"
#include "tests/onnx/text_model.h"

namespace stowage::test {
namespace {

Tensor floats(const Shape& shape, const std::vector<float>& values) { return Tensor::of_floats(shape, values); }

/// Points STOWAGE_SHARED elsewhere while it lives.
class SharedFolder {
 public:
  explicit SharedFolder(const std::string& path) {
    if (const char* before = std::getenv("STOWAGE_SHARED")) before_ = before;
    ::setenv("STOWAGE_SHARED", path.c_str(), 1);
  }
  ~SharedFolder() {
    if (before_) {
      ::setenv("STOWAGE_SHARED", before_->c_str(), 1);
    } else {
      ::unsetenv("STOWAGE_SHARED");
    }
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

 private:
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("a NaN, an infinity, another shape or another type is no agreement with a golden output", "[onnx][golden]") {
  const Tensor golden = floats({2, 2}, {1, -2, 3, 1000});
  CHECK(golden_difference(golden, golden) == "");
  CHECK(golden_difference(golden, floats({2, 2}, {1.5, -2, 3, 1000})) == "");
  CHECK(golden_difference(golden, floats({2, 2}, {1, -2, 5, 1000})) ==
        "element 2 is 5 instead of 3, the largest magnitude is 1000");
  CHECK(golden_difference(golden, floats({2, 2}, {1, NAN, 3, 1000})) == "element 1 is nan instead of -2");
  CHECK(golden_difference(golden, floats({2, 2}, {1, -2, 3, INFINITY})) == "element 3 is inf instead of 1000");
  CHECK(golden_difference(floats({1}, {NAN}), floats({1}, {0})) == "element 0 is 0 instead of nan");
  CHECK(golden_difference(floats({1}, {INFINITY}), floats({1}, {-INFINITY})) == "element 0 is -inf instead of inf");
  CHECK(golden_difference(floats({2}, {NAN, INFINITY}), floats({2}, {NAN, INFINITY})) == "");
  CHECK(golden_difference(golden, floats({4}, {1, -2, 3, 1000})) == "shape [4] instead of [2,2]");
  CHECK(golden_difference(golden, floats({2, 2, 1}, {1, -2, 3, 1000})) == "shape [2,2,1] instead of [2,2]");
  CHECK(golden_difference(golden, Tensor::from<std::int32_t>(ElementType::i32, {2, 2}, std::vector{1, -2, 3, 1000})) ==
        "type i32 instead of f32");
}

TEST_CASE("golden values that cannot be read are an error, not another test", "[onnx][golden]") {
  const TemporaryFolder folder;
  const std::string model = folder.write(
      "models/real/relu.onnx", text_model("agraph (float[2] x) => (float[2] y) { y = Relu(x) }").SerializeAsString());
  const SharedFolder shared(folder.path().string());
  CHECK_FALSE(golden_of(model));
  const std::string meta =
      folder.write("models/golden/relu/meta.json", R"({"inputs": [{"name": "x", "file": "x.npy"}], "outputs": []})");
  CHECK_THROWS_WITH(golden_of(model), Catch::Contains("x.npy") && Catch::Contains("does not exist"));
  const std::string input = folder.write("models/golden/relu/x.npy", "no array");
  CHECK_THROWS_WITH(golden_of(model), Catch::Contains("not a NumPy .npy file"));
}

TEST_CASE("what the shared folder lacks is counted", "[onnx][golden]") {
  const TemporaryFolder folder;
  const SharedFolder shared((folder.path() / "nowhere").string());
  const SharedNetworks none = networks_in("light");
  CHECK(none.here.empty());
  CHECK(none.skipped() ==
        "skipped, 5 cases: no light_bvlc_alexnet, light_inception_v1, light_resnet50, light_squeezenet, light_vgg19 in "
        "the "
        "shared folder");
  const SharedFolder some(folder.path().string());
  const std::string one = folder.write("models/light/light_vgg19.onnx", "");
  CHECK(networks_in("light").here.size() == 1);
  CHECK(networks_in("light").missing.size() == 4);
}

}  // namespace stowage::test
