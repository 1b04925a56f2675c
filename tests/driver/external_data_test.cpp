// SPDX-License-Identifier: Apache-2.0
// Models whose weights lie in a file beside them.
#include <catch2/catch.hpp>
#include <cstring>

#include "driver/session/model_hash.h"
#include "driver/store/plan_file.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

/// A message of protobuf, field by field.
class Message {
 public:
  Message& number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3U);
    varint(value);
    return *this;
  }
  Message& text(int field, const std::string& value) {
    varint((static_cast<std::uint64_t>(field) << 3U) | 2U);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return text(field, value.bytes_); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>((value & 0x7FU) | 0x80U);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

Message vector_of_four(const std::string& name) {
  const Message shape = Message().message(1, Message().number(1, 4));
  return Message().text(1, name).message(2, Message().message(1, Message().number(1, 1).message(2, shape)));
}

/// y = x + w of four elements; w lies in `location`, nowhere where that is empty.
std::string added(const std::string& location, const std::string& node = "add", const std::string& network = "added") {
  Message weight = Message().number(1, 4).number(2, 1).text(8, "w");
  if (location.empty()) {
    weight.text(9, std::string(16, '\0'));
  } else {
    weight.message(13, Message().text(1, "location").text(2, location)).number(14, 1);
  }
  const Message add = Message().text(1, "x").text(1, "w").text(2, "y").text(3, node).text(4, "Add");
  const Message graph = Message()
                            .message(1, add)
                            .text(2, network)
                            .message(5, weight)
                            .message(11, vector_of_four("x"))
                            .message(12, vector_of_four("y"));
  return Message().number(1, 8).message(7, graph).message(8, Message().number(2, 13)).bytes();
}

std::string floats(float value) {
  std::string bytes(16, '\0');
  for (std::size_t i = 0; i < 4; ++i) std::memcpy(bytes.data() + 4 * i, &value, sizeof value);
  return bytes;
}

TEST_CASE("the hash of a model covers its external data") {
  const Workplace here;
  write_text("model.onnx", added("weights.bin"));
  write_text("weights.bin", floats(1));
  REQUIRE(run_stowage({"compile", "model.onnx", "-o", "out"}).code == 0);
  Diagnostics diagnostics;
  auto plan = read_compilation("out", diagnostics);
  REQUIRE(plan);
  const auto before = hash_of_model("model.onnx", diagnostics);
  REQUIRE(before);
  CHECK(plan->model.hash == *before);
  read_model_again(*plan, "out");
  CHECK(plan->imported.has_value());

  write_text("weights.bin", floats(2));
  const auto after = hash_of_model("model.onnx", diagnostics);
  REQUIRE(after);
  CHECK(*after != *before);
  plan->imported.reset();
  read_model_again(*plan, "out");  // another network now
  CHECK_FALSE(plan->imported.has_value());
}

TEST_CASE("names that are no UTF-8 are refused, and a file's name that is none is written otherwise") {
  const Workplace here;
  for (const std::string name :
       {"\xed\xa0\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80", "\xf0\x80\x80\x80", "\xff", "\xc3"}) {
    write_text("model.onnx", added("", name));
    const ToolRun run = run_stowage({"compile", "model.onnx", "-o", "out", "--force"});
    INFO(run.err);
    CHECK(run.code == 1);
    CHECK(run.err.find("[invalid-name]") != std::string::npos);
  }
  write_text("model.onnx", added("", "\xf0\x9f\x9a\xa2"));
  CHECK(run_stowage({"compile", "model.onnx", "-o", "good"}).code == 0);
  CHECK(run_stowage({"explain", "good"}).code == 0);

  write_text("\xff.onnx", added("", "add", ""));
  const ToolRun run = run_stowage({"compile", "\xff.onnx", "-o", "network"});
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(run.err.find("it is called 'network' [unreadable-file-name]") != std::string::npos);
  CHECK(run_stowage({"explain", "network"}).code == 0);
}

}  // namespace
}  // namespace stowage::test
