// SPDX-License-Identifier: Apache-2.0
// `stowage compile`: outputs, their bytes, and every kind of mistake.
#include <filesystem>
#include <regex>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/made_network.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("compile prints one JSON object with the promised keys") {
  const Workplace here;
  make_network("matmul");
  const ToolRun run =
      run_stowage({"compile", "matmul.onnx", "--planner", "swtvm", "--set", "target.cores.count=1", "--json"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto json = nlohmann::json::parse(run.out);
  for (const char* key : {"network", "target", "fusion", "planner", "groups", "flops", "dma_transfers",
                          "dma_operations", "dma_bytes", "ldm_peak_bytes", "cycles", "time_s"}) {
    INFO(key);
    CHECK(json.contains(key));
  }
  // The swTVM papers' example on one core.
  CHECK(json.at("network") == "matmul");
  CHECK(json.at("flops") == 2 * 1024 * 1024);
  CHECK(json.at("dma_transfers") == 264);
  CHECK(json.at("ldm_peak_bytes") == 32 * 1024 + 768);
  // Nothing is written without -o.
  CHECK(files_below(".").size() == 1);
}

TEST_CASE("compile says which planner and strategy were used, and what the published planner would take") {
  const Workplace here;
  make_network("lenet");
  const auto compiled = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"compile", "lenet.onnx"});
    return run_stowage(options);
  };
  const auto json_of = [&](std::vector<std::string> options) {
    options.emplace_back("--json");
    return nlohmann::json::parse(compiled(options).out);
  };
  for (const std::string fusion : {"exact", "greedy"}) {
    const auto published = json_of({"--fusion", fusion, "--planner", "swtvm"});
    const auto searched = json_of({"--fusion", fusion, "--planner", "searched"});
    CHECK(searched.at("planner") == "searched");
    CHECK(searched.at("fusion") == fusion);
    REQUIRE(searched.at("others").size() == 1);
    const auto other = searched.at("others")[0];
    CHECK(other.at("planner") == "swtvm");
    CHECK(other.at("cores") == 64);
    CHECK(other.at("cycles") == published.at("cycles"));
    CHECK(other.at("time_s") == published.at("time_s"));
    CHECK(other.at("cycles") > searched.at("cycles"));
  }
  const ToolRun text = compiled({"--planner", "searched", "-o", "out"});
  CHECK(text.out.find(" exact, searched, blocked |\n") != std::string::npos);
  CHECK(text.out.find("| by planner swtvm ") != std::string::npos);
  CHECK(text.out.find("\nPlanner swtvm, the published one, takes that with the groups that exact chooses for it, and "
                      "pictures as ONNX has them.\n") != std::string::npos);
  CHECK(
      text.out.find("\nChoice of groups: proved best of all partitions into the 13 groups that the templates allow, at "
                    "the cycles that planner searched finds for each.\n") != std::string::npos);
  // The folder keeps it.
  CHECK(read_text("out/report.md").find("| by planner swtvm ") != std::string::npos);
  const auto kept = nlohmann::json::parse(read_text("out/plan.json"));
  CHECK(kept.at("others") == json_of({"--planner", "searched"}).at("others"));

  // A fixed schedule is a plan of one's own: what another planner would make of the rest is no comparison, and the
  // choice of groups was made without it.
  write_text("fixed.toml", "[schedule.\"ip2\"]\nbuffer = { k = 10 }\n");
  const ToolRun fixed = compiled({"--planner", "searched", "--schedule", "fixed.toml"});
  INFO(fixed.err << fixed.out);
  CHECK(fixed.code == 0);
  CHECK(fixed.out.find("swtvm") == std::string::npos);
  CHECK(fixed.out.find("not proved best") != std::string::npos);
  CHECK(fixed.out.find(" proved best of all") == std::string::npos);
}

TEST_CASE("limits of kernels, and what they lose, add up to those of the program") {
  const Workplace here;
  make_network("lenet");
  const auto json = nlohmann::json::parse(run_stowage({"compile", "lenet.onnx", "--json"}).out);
  REQUIRE(json.at("limits").size() == json.at("kernels"));
  std::int64_t cycles = 0, bytes = 0, least_bytes = 0;
  double least = 0, lost_to_overlap = 0;
  for (const auto& row : json.at("limits")) {
    INFO(row.dump());
    double together = row.at("time_bound_s");
    for (const auto& [cause, seconds] : row.at("time_lost_s").items()) together += seconds.get<double>();
    CHECK(together == Approx(row.at("time_s").get<double>()).margin(1e-9));
    CHECK(row.at("time_bound_s") == std::max({row.at("moving_s").get<double>(), row.at("computing_s").get<double>(),
                                              row.at("critical_path_s").get<double>()}));
    CHECK(row.at("dma_bytes_bound") <= row.at("dma_bytes"));
    cycles += row.at("cycles").get<std::int64_t>();
    bytes += row.at("dma_bytes").get<std::int64_t>();
    least_bytes += row.at("dma_bytes_bound").get<std::int64_t>();
    least += row.at("time_bound_s").get<double>();
    lost_to_overlap += row.at("time_lost_s").at("overlap").get<double>();
  }
  CHECK(cycles == json.at("cycles"));
  CHECK(bytes == json.at("dma_bytes"));
  CHECK(least_bytes == json.at("dma_bytes_bound"));
  CHECK(lost_to_overlap == Approx(json.at("time_lost_s").at("overlap").get<double>()).margin(1e-9));
  CHECK(json.at("time_bound_s").get<double>() > least);  // by one launch
}

TEST_CASE("compile by the published planner says where fewer cores are faster") {
  const Workplace here;
  make_network("cifarnet");
  const auto all = nlohmann::json::parse(run_stowage({"compile", "cifarnet.onnx", "--planner", "swtvm", "--json"}).out);
  std::int64_t least = all.at("cycles");
  for (const int cores : {32, 16, 8}) {
    const std::string setting = "target.cores.count=" + std::to_string(cores);
    const auto fewer = nlohmann::json::parse(
        run_stowage({"compile", "cifarnet.onnx", "--planner", "swtvm", "--set", setting, "--json"}).out);
    least = std::min(least, fewer.at("cycles").get<std::int64_t>());
  }
  REQUIRE(least < all.at("cycles"));
  REQUIRE(all.at("others").size() == 1);
  CHECK(all.at("others")[0].at("planner") == "swtvm");
  CHECK(all.at("others")[0].at("cores") < 64);
  CHECK(all.at("others")[0].at("cycles") == least);
  const ToolRun text = run_stowage({"compile", "cifarnet.onnx", "--planner", "swtvm"});
  CHECK(text.out.find("| on 16 of 64 cores ") != std::string::npos);
  CHECK(text.out.find("\nOn fewer cores planner swtvm is faster, because more cores load more in all; ") !=
        std::string::npos);
}

TEST_CASE("compile writes the same bytes for the same input, wherever they go") {
  const Workplace here;
  make_network("lenet");
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "one"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "other/two"}).code == 0);
  CHECK(files_below("one") == files_below("other/two"));
  for (const char* file : {"plan.json", "trace.json", "report.md", "src/main.c", "src/layers.c", "src/params.bin"}) {
    INFO(file);
    CHECK(fs::exists(fs::path("one") / file));
  }
  // Every output says how to make it again.
  CHECK(read_text("one/report.md").find("`stowage 0.1.0 | stowage compile lenet.onnx") == 0);
  CHECK(read_text("one/src/main.c").find("/* stowage 0.1.0 | stowage compile lenet.onnx") == 0);
  CHECK(read_text("one/src/Makefile").find("# stowage 0.1.0 | stowage compile lenet.onnx") == 0);
  CHECK(read_text("one/plan.json").find("{\n \"command\": \"stowage compile lenet.onnx") == 0);
  CHECK(read_text("one/trace.json").find("{\"command\": \"stowage compile lenet.onnx") == 0);
}

TEST_CASE("an output folder that exists needs --force and is replaced whole") {
  const Workplace here;
  make_network("vector");
  REQUIRE(run_stowage({"compile", "vector.onnx", "-o", "out", "--planner", "swtvm"}).code == 0);
  const auto before = files_below("out");
  const ToolRun refused = run_stowage({"compile", "vector.onnx", "-o", "out"});
  CHECK(refused.code == 1);
  CHECK(refused.err ==
        "out: error: the output folder exists already [output-exists]\n  help: give --force to replace it\n");
  CHECK(files_below("out") == before);
  CHECK(run_stowage({"compile", "vector.onnx", "-o", "out", "--force"}).code == 0);
  CHECK(files_below("out") != before);
  CHECK(fs::exists("out/plan.json"));
  // Nothing but the model and the folder remains.
  CHECK(std::distance(fs::directory_iterator("."), fs::directory_iterator{}) == 2);
}

TEST_CASE("a compilation that fails leaves what was there") {
  const Workplace here;
  make_network("lenet");
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "out"}).code == 0);
  const auto before = files_below("out");
  CHECK(
      run_stowage({"compile", "lenet.onnx", "-o", "out", "--force", "--set", "target.main_memory.bytes=100000"}).code ==
      1);
  CHECK(files_below("out") == before);
  CHECK(std::distance(fs::directory_iterator("."), fs::directory_iterator{}) == 2);
}

TEST_CASE("an output folder that cannot be made is reported") {
  const Workplace here;
  make_network("vector");
  write_text("file", "");
  const ToolRun run = run_stowage({"compile", "vector.onnx", "-o", "file/out"});
  CHECK(run.code == 1);
  CHECK(run.err.find("file/out: error: the folder above it cannot be made: Not a directory [file-error]") == 0);
  const ToolRun onto = run_stowage({"compile", "vector.onnx", "-o", "file", "--force"});
  CHECK(onto.code == 1);
  CHECK(onto.err == "file: error: exists and is not a folder [output-exists]\n  help: choose another place\n");
  const ToolRun unwritable = run_stowage({"compile", "vector.onnx", "-o", "/proc/out"});
  CHECK(unwritable.code == 1);
  CHECK(unwritable.err.find("/proc/out: error: the output folder cannot be made") == 0);
}

TEST_CASE("several mistakes before the model is read are reported together") {
  const Workplace here;
  const ToolRun run =
      run_stowage({"compile", "x.onnx", "--target", "sw2610", "--fusion", "gredy", "--planner", "swtwm"});
  CHECK(run.code == 2);
  CHECK(run.err ==
        "error: no built-in target or file 'sw2610' [unknown-target]\n  help: did you mean 'sw26010'?\n"
        "error: no fusion 'gredy' [unknown-fusion]\n  help: did you mean 'greedy'?\n"
        "error: no planner 'swtwm' [unknown-planner]\n  help: did you mean 'swtvm'?\n");
}

TEST_CASE("a misspelt target is usage, a file that is not there is an input") {
  const Workplace here;
  CHECK(run_stowage({"compile", "x.onnx", "--target", "sw26100"}).code == 2);
  const ToolRun missing = run_stowage({"compile", "x.onnx", "--target", "mine.toml"});
  CHECK(missing.code == 1);
  CHECK(missing.err == "mine.toml: error: there is no such file, a target in TOML was wanted [unreadable-file]\n");
  CHECK(run_stowage({"compile", "missing.onnx"}).code == 1);
}

TEST_CASE("wrong option values are named") {
  const Workplace here;
  const ToolRun run = run_stowage(
      {"compile", "x.onnx", "--dim", "N", "--dim", "M=-1", "--dim", "K=two", "--dim", "B=1", "--dim", "B=2"});
  CHECK(run.code == 2);
  CHECK(run.err ==
        "--dim N: error: NAME=VALUE was wanted [wrong-option]\n"
        "--dim B=2: error: 'B' is given for the second time [wrong-option]\n"
        "--dim K=two: error: 'two' is no size, an integer of at least 0 was wanted [wrong-option]\n"
        "--dim M=-1: error: '-1' is no size, an integer of at least 0 was wanted [wrong-option]\n");
  const ToolRun setting = run_stowage({"compile", "x.onnx", "--set", "machine.cores.count=1"});
  CHECK(setting.code == 2);
  CHECK(setting.err ==
        "--set machine.cores.count=1: error: a setting is TABLE.KEY=VALUE, and the only table is 'target' "
        "[unknown-setting]\n  help: for instance --set target.cores.count=1\n");
}

TEST_CASE("a setting that no target could have is a mistake of usage, one that this target refuses is not") {
  const Workplace here;
  for (const char* wrong : {"target.cores.count", "target.=1", "target.cores.count=abc", "target.cores.count=1=2",
                            "target.corse=1", "target.cores.count=0", "target.cores.count='8'", "cores.count=1", "x"}) {
    INFO(wrong);
    const ToolRun run = run_stowage({"compile", "x.onnx", "--set", wrong});
    CHECK(run.code == 2);
    CHECK(run.err.starts_with(std::string("--set ") + wrong));
  }
  CHECK(run_stowage({"compile", "x.onnx", "--set", "target.ldm.reserved=65536"}).code == 1);
  CHECK(run_stowage({"compile", "x.onnx", "--set", "target.cores.count=65"}).code == 1);
  // In a batch file it is the file that is wrong.
  write_text("jobs.toml", "[[job]]\nnetwork = \"matmul\"\nset = { \"target.corse\" = 1 }\n");
  CHECK(run_stowage({"batch", "jobs.toml"}).code == 1);
}

TEST_CASE("files that are no models are refused") {
  const Workplace here;
  write_text("empty.onnx", "");
  write_text("text.onnx", "this is not a model");
  fs::create_directory("folder.onnx");
  for (const char* file : {"missing.onnx", "empty.onnx", "text.onnx", "folder.onnx"}) {
    const ToolRun run = run_stowage({"compile", file, "-o", "out"});
    INFO(file << ": " << run.err);
    CHECK(run.code == 1);
    CHECK(run.err.find(std::string(file) + ": error: ") == 0);
    CHECK_FALSE(fs::exists("out"));
  }
}

TEST_CASE("an LDM too small for any plan names the binding buffer and what it needs") {
  const Workplace here;
  make_network("matmul");
  const std::string why =
      "even one element of every iterator needs 96 bytes of LDM, the target has 56 bytes (6.05 KiB - 6 KiB reserved); "
      "the binding buffer is A with 32 bytes ([1 x 1] elements) [ldm-capacity]";
  const ToolRun given_away = run_stowage({"compile", "matmul.onnx", "--set", "target.ldm.bytes=6200"});
  CHECK(given_away.code == 0);  // to the management core
  INFO(given_away.err);
  CHECK(given_away.err.find(why) != std::string::npos);

  // That core has no schedules, so that of a person is refused.
  write_text("mine.toml", "[schedule.\"matmul\"]\nslots = { B = 1 }\n");
  const ToolRun run =
      run_stowage({"compile", "matmul.onnx", "--set", "target.ldm.bytes=6200", "--schedule", "mine.toml"});
  CHECK(run.code == 1);
  CHECK(run.out.empty());
  INFO(run.err);
  CHECK(run.err.find("fused operator matmul: " + why) != std::string::npos);
}

TEST_CASE("a target that reserves no LDM leaves the parameters their room") {
  const Workplace here;
  make_network("matmul");
  const std::regex peak("LDM peak ([0-9 ]+) bytes");
  for (const std::string planner : {"searched", "swtvm"}) {
    // Of the last, 33,536 bytes of buffers leave 20.
    for (const int bytes : {1024, 4096, 33'556}) {
      INFO(planner << " on " << bytes << " bytes");
      const ToolRun compiled = run_stowage({"compile", "matmul.onnx", "-o", "m", "--force", "--planner", planner,
                                            "--set", "target.cores.count=1", "--set", "target.ldm.reserved=0", "--set",
                                            "target.ldm.bytes=" + std::to_string(bytes)});
      INFO(compiled.err);
      REQUIRE(compiled.code == 0);
      const ToolRun run = run_stowage({"run", "m"});
      REQUIRE(run.code == 0);
      std::smatch found;
      const std::string text = run.out + run.err;
      INFO(text);
      REQUIRE(std::regex_search(text, found, peak));
      std::string digits = found[1];
      std::erase(digits, ' ');
      CHECK(std::stoi(digits) <= bytes);
    }
  }
  const ToolRun given_away =
      run_stowage({"compile", "matmul.onnx", "--planner", "swtvm", "--set", "target.cores.count=1", "--set",
                   "target.ldm.reserved=0", "--set", "target.ldm.bytes=128"});
  CHECK(given_away.code == 0);
  CHECK(given_away.err.find("for parameters)") != std::string::npos);
  CHECK(given_away.err.find("[management-core]") != std::string::npos);

  write_text("mine.toml", "[schedule.\"matmul\"]\nslots = { B = 1 }\n");
  const ToolRun refused =
      run_stowage({"compile", "matmul.onnx", "--planner", "swtvm", "--set", "target.cores.count=1", "--set",
                   "target.ldm.reserved=0", "--set", "target.ldm.bytes=128", "--schedule", "mine.toml"});
  CHECK(refused.code == 1);
  CHECK(refused.err.find("for parameters)") != std::string::npos);
}

TEST_CASE("failures print as JSON too") {
  const Workplace here;
  const ToolRun run = run_stowage({"compile", "missing.onnx", "--json"});
  CHECK(run.code == 1);
  const auto json = nlohmann::json::parse(run.out);
  REQUIRE(json.at("diagnostics").size() == 1);
  CHECK(json.at("diagnostics")[0].at("severity") == "error");
  CHECK(json.at("diagnostics")[0].at("file") == "missing.onnx");
}

TEST_CASE("what --print-config prints reads back as the same target") {
  const Workplace here;
  const ToolRun run = run_stowage({"compile", "x.onnx", "--set", "target.cores.count=7", "--print-config"});
  REQUIRE(run.code == 0);
  CHECK(run.out.find("\ncount = 7\n") != std::string::npos);
  write_text("mine.toml", run.out);
  const ToolRun again = run_stowage({"compile", "x.onnx", "--target", "mine.toml", "--print-config"});
  INFO(again.err);
  REQUIRE(again.code == 0);
  const auto body = [](const std::string& text) { return text.substr(text.find("name =")); };
  CHECK(body(again.out) == body(run.out));
}

}  // namespace
}  // namespace stowage::test
