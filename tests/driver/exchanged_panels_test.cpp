// SPDX-License-Identifier: Apache-2.0
// A nest by hand in a plan's folder: a matrix product whose cores exchange their panels by register communication, the
// example of docs/ir.md. The folder's commands take it as they take any other.
#include <string>

#include <catch2/catch.hpp>

#include "core/onnx/model_writer.h"
#include "driver/json/json.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

/// C[128,128] = A[128,256] * B[256,128], planned by a schedule with the loops of the nest below.
void compile_product() {
  ModelWriter model("product", 13, "a test");
  model.add_input("A", ElementType::f32, Shape{128, 256});
  model.add_input("B", ElementType::f32, Shape{256, 128});
  model.add_output("C", ElementType::f32, Shape{128, 128});
  model.add_node("MatMul", "matmul", {"A", "B"}, {"C"});
  Diagnostics diagnostics;
  REQUIRE(model.save("product.onnx", diagnostics));
  write_text("panels.toml",
             "[schedule.matmul]\n"
             "parallel = [{ iterator = \"x\", parts = 8 }, { iterator = \"y\", parts = 8 }]\n"
             "buffer = { x = 16, y = 16, k = 32 }\norder = [\"ko\"]\ndma = { A = \"\", B = \"\", C = \"\" }\n"
             "slots = { A = 1, B = 1, C = 1 }\nresident = { A = [\"k\"], B = [\"k\"] }\n"
             "sharing = { A = \"core\", B = \"core\" }\nmerged = []\nlanes = {}\ncopied = []\nfolded = false\n"
             "launch = \"spawn\"\n");
  const ToolRun run = run_stowage({"compile", "product.onnx", "--schedule", "panels.toml", "-o", "out"});
  INFO(run.err);
  REQUIRE(run.code == 0);
}

/// Core (cx, cy) loads one tile of each operand; in step s the others get theirs from those that have them.
const char* const exchanging =
    R"(  variables cx, cy, s
  core cx < 8 of x stride 8
  core cy < 8 of y stride 1
  mesh 8 rows 8 columns
  memory A = A strides [256, 1]
  memory B = B strides [128, 1]
  memory C = C strides [128, 1] written
  ldm 9216 bytes
  buffer AA f32[16,32] at 0, 2048 bytes = A[16*cx, 32*cy]
  buffer BB f32[32,16] at 2048, 2048 bytes = B[32*cx, 16*cy]
  buffer AR f32[16,32] at 4096, 2048 bytes = A[16*cx, 32*s]
  buffer BR f32[32,16] at 6144, 2048 bytes = B[32*s, 16*cy]
  buffer CC f32[16,16] at 8192, 1024 bytes = C[16*cx, 16*cy]
  body {
    0  get A[16*cx:16*cx + 16, 32*cy:32*cy + 32] -> AA
    1  get B[32*cx:32*cx + 32, 16*cy:16*cy + 16] -> BB
    2  wait 0
    3  wait 1
    4  fill CC with 0
    5  for s < 8 of k {
    6    broadcast AA of column s -> AR of row over [16*cx:16*cx + 16, 32*s:32*s + 32]
    7    broadcast BB of row s -> BR of column over [32*s:32*s + 32, 16*cy:16*cy + 16]
    8    wait 6
    9    wait 7
   10    compute update CC = matmul(AR, BR) over x=16*cx:16*cx + 16, y=16*cy:16*cy + 16, k=32*s:32*s + 32 as register_block lane y block x
       }
   11  put CC -> C[16*cx:16*cx + 16, 16*cy:16*cy + 16]
   12  wait 11
  }
}
)";

/// Puts a body in the place of the nest's own, behind its stages.
void replace_nest(const std::string& body) {
  Json plan = Json::parse(read_text("out/plan.json"));
  Json& lines = plan.at("steps")[0].at("nest");
  Json kept = Json::array();
  for (const Json& line : lines) {
    if (line.get<std::string>().starts_with("  variables")) break;
    kept.push_back(line);
  }
  for (std::size_t from = 0; from < body.size();) {
    const std::size_t end = body.find('\n', from);
    kept.push_back(body.substr(from, end - from));
    from = end + 1;
  }
  lines = kept;
  write_text("out/plan.json", plan.dump(1));
}

std::string changed(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

TEST_CASE("a product by hand whose cores exchange panels is checked, timed, run and traced") {
  const Workplace here;
  compile_product();
  replace_nest(exchanging);
  const ToolRun checked = run_stowage({"check", "out"});
  INFO(checked.out << checked.err);
  CHECK(checked.code == 0);
  CHECK(checked.out.find("not looked at") == std::string::npos);

  const ToolRun explained = run_stowage({"explain", "out", "--op", "matmul"});
  INFO(explained.err);
  REQUIRE(explained.code == 0);
  CHECK(explained.out.find("8 broadcasts along each row * 11 cycles + 512 registers * 3 cycles") != std::string::npos);
  CHECK(explained.out.find("8 broadcasts down each column * 11 cycles + 512 registers * 3 cycles") !=
        std::string::npos);

  const ToolRun simulated = run_stowage({"simulate", "out", "--json", "--trace", "out.trace.json"});
  INFO(simulated.err);
  REQUIRE(simulated.code == 0);
  const Json time = Json::parse(simulated.out);
  CHECK(time.at("fused_operators_within_5_percent") == 1);
  // Every element of A and B leaves main memory once.
  CHECK(time.at("dma_bytes") == 4 * (128 * 256 + 256 * 128 + 128 * 128));

  const ToolRun run = run_stowage({"run", "out", "--check", "--op", "matmul"});
  INFO(run.out << run.err);
  CHECK(run.code == 0);
  CHECK(run.out.find("DIFFERS") == std::string::npos);
  CHECK(run.out.find("agrees") != std::string::npos);
}

TEST_CASE("faults of exchanged panels are found, with what they collide with") {
  const Workplace here;
  compile_product();
  const auto faults = [](const std::string& body) {
    replace_nest(body);
    const ToolRun run = run_stowage({"check", "out"});
    CHECK(run.code == 1);
    CHECK(run_stowage({"explain", "out"}).code == 1);
    return run.out;
  };
  // Cores of a row that name different senders, a sender that there is not, and one that has another part.
  CHECK(faults(changed(exchanging, "of column s ->", "of column cy ->")).find("[message]") != std::string::npos);
  CHECK(faults(changed(exchanging, "of column s ->", "of column s + 1 ->")).find("[message]") != std::string::npos);
  CHECK(faults(changed(exchanging, "of column s ->", "of column cx ->")).find("[uninitialised]") != std::string::npos);
  CHECK(faults(changed(exchanging, "    8    wait 6\n", "")).find("[race]") != std::string::npos);
  CHECK(faults(changed(exchanging, "    2  wait 0\n", "")).find("[race]") != std::string::npos);
  CHECK(faults(changed(exchanging, "AR of row over [16*cx:16*cx + 16, 32*s:32*s + 32]",
                       "AR of row over [16*cx:16*cx + 15, 32*s:32*s + 32]"))
            .find("[uninitialised]") != std::string::npos);
  CHECK(faults(changed(exchanging, "BB of row s", "BB of row 0")).find("[uninitialised]") != std::string::npos);
}

}  // namespace
}  // namespace stowage::test
