// SPDX-License-Identifier: Apache-2.0
// Help texts, usage errors and lists: what a person sees who learns the tool.
#include <cstdlib>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

TEST_CASE("help of every command") {
  const ToolRun overview = run_stowage({"--help"});
  CHECK(overview.code == 0);
  CHECK(overview.out == golden("help.txt", overview.out));
  for (const std::string command :
       {"compile", "batch", "run", "explain", "simulate", "diff", "sensitivity", "graph", "report", "network",
        "coverage", "targets", "templates", "ops", "passes", "pass", "completions", "man"}) {
    const ToolRun help = run_stowage({command, "--help"});
    INFO(command);
    CHECK(help.code == 0);
    CHECK(help.err.empty());
    CHECK(help.out == golden("help-" + command + ".txt", help.out));
    CHECK(help.out.find("Examples:\n  stowage " + command) != std::string::npos);
  }
}

TEST_CASE("without arguments the overview and exit code 2") {
  const ToolRun run = run_stowage({});
  CHECK(run.code == 2);
  CHECK(run.out.empty());
  CHECK(run.err == run_stowage({"--help"}).out);
}

TEST_CASE("misspelt commands and options get a suggestion") {
  const ToolRun command = run_stowage({"complie", "x.onnx"});
  CHECK(command.code == 2);
  CHECK(command.err ==
        "error: unknown command 'complie' [usage]\n  help: did you mean 'compile'?\nsee 'stowage --help'\n");
  const ToolRun option = run_stowage({"compile", "x.onnx", "--tagret", "sw26010"});
  CHECK(option.code == 2);
  CHECK(option.err ==
        "error: unknown option '--tagret' [usage]\n  help: did you mean '--target'?\nsee 'stowage compile --help'\n");
  const ToolRun extra = run_stowage({"targets", "sw26010", "all"});
  CHECK(extra.code == 2);
  CHECK(extra.err == "error: 'all' was not expected [usage]\nsee 'stowage targets --help'\n");
  const ToolRun missing = run_stowage({"compile"});
  CHECK(missing.code == 2);
  CHECK(missing.err == "error: MODEL.onnx is required [usage]\nsee 'stowage compile --help'\n");
  const ToolRun level = run_stowage({"run", "x", "--level", "hard"});
  CHECK(level.code == 2);
  CHECK(level.err ==
        "error: --level: there is no 'hard', known are: count, check, strict [usage]\nsee 'stowage run --help'\n");
}

TEST_CASE("what would be ignored is refused") {
  const Workplace here;
  const auto mistake = [](const std::vector<std::string>& arguments) {
    const ToolRun run = run_stowage(arguments);
    CHECK(run.code == 2);
    CHECK(run.out.empty());
    return run.err.substr(0, run.err.find(" [usage]\n"));
  };
  CHECK(mistake({"compile", "x.onnx", "--force"}) == "error: --force has no meaning without -o or --dump-passes");
  CHECK(run_stowage({"compile", "x.onnx", "--force"})
            .err.find("[usage]\n  help: name a folder to write to, or leave "
                      "--force out\n") != std::string::npos);
  CHECK(mistake({"compile", "x.onnx", "-o", "x", "--print-config"}) == "error: -o does not go with --print-config");
  CHECK(mistake({"run", "x", "--force"}) == "error: --force has no meaning without --save-outputs");
  CHECK(mistake({"explain", "x", "--why-not", "a,b", "--op", "a"}) == "error: --op does not go with --why-not");
  CHECK(mistake({"explain", "x", "--why-not", "a,b", "--steps"}) == "error: --steps does not go with --why-not");
  CHECK(mistake({"run", "x", "--sanitize", "--level", "count"}) == "error: --sanitize does not go with --level count");
  CHECK(mistake({"report", "x", "-o", "x.html", "--table", "dma"}) ==
        "error: --table has no meaning without a file that ends in .csv");
  for (const std::vector<std::string>& option :
       {std::vector<std::string>{"-o", "x.onnx"}, {"--seed", "1"}, {"--batch", "2"}, {"--force"}}) {
    std::vector<std::string> arguments = {"network"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    CHECK(mistake(arguments) == "error: " + option[0] + " has no meaning without NAME");
  }
  CHECK(mistake({"network", "lenet", "-o", "x.onnx", "--batch", "0"}).find("error: --batch: ") == 0);
  CHECK(mistake({"compile", "x.onnx", "-o", ""}) == "error: the value of -o is empty");
  CHECK(mistake({"explain", "x", "--op", ""}) == "error: the value of --op is empty");
  CHECK(mistake({"compile", ""}) == "error: the value of MODEL.onnx is empty");
  CHECK(mistake({"templates", "--rules", "matmul"}) == "error: NAME does not go with --rules");
  CHECK(mistake({"templates", "--rules", "--templates", "x.toml"}) == "error: --templates does not go with --rules");
}

TEST_CASE("what is no number of seconds is told what is wanted") {
  const auto mistake = [](const std::vector<std::string>& arguments) {
    const ToolRun run = run_stowage(arguments);
    CHECK(run.code == 2);
    return run.err.substr(0, run.err.find(" [usage]\n"));
  };
  for (const std::string text : {"abc", "nan", "inf", "-1", "1s", "86401"}) {
    INFO(text);
    const std::string expected = "error: --layout-timeout: '" + text + "' is no number of seconds from 0 to 86400";
    CHECK(mistake({"graph", "x", "-o", "x.svg", "--layout-timeout=" + text}) == expected);
    CHECK(mistake({"report", "x", "-o", "x.html", "--layout-timeout=" + text}) == expected);
  }
  for (const std::string text : {"abc", "nan", "0", "2e9"}) {
    CHECK(mistake({"run", "x", "--time-limit=" + text}) ==
          "error: --time-limit: '" + text + "' is no number of seconds from 0.001 to 1000000000");
  }
}

TEST_CASE("what is no whole number in the range is told what is wanted") {
  const auto mistake = [](const std::vector<std::string>& arguments) {
    const ToolRun run = run_stowage(arguments);
    CHECK(run.code == 2);
    return run.err.substr(0, run.err.find(" [usage]\n"));
  };
  for (const std::string text : {"abc", "-1", "4097", "1.5", "1e3", "99999999999999999999"}) {
    INFO(text);
    CHECK(mistake({"compile", "x.onnx", "-j", text}) == "error: -j: '" + text + "' is no whole number from 0 to 4096");
    CHECK(mistake({"run", "x", "--workers=" + text}) ==
          "error: --workers: '" + text + "' is no whole number from 0 to 4096");
  }
  CHECK(mistake({"batch", "x.toml", "-j", "0"}) == "error: -j: '0' is no whole number from 1 to 1024");
  CHECK(
      mistake({"batch", "x.toml", "--memory-per-job", "1"}) ==
      "error: --memory-per-job: '1' is no size of memory: a number with K, M, G or T was wanted, for instance 512M or "
      "1.5G");
  CHECK(mistake({"batch", "x.toml", "--memory-per-job", "1K"}) ==
        "error: --memory-per-job: '1K' is no memory that a job can have: 32M to 1024T was wanted");
}

TEST_CASE("mistakes on the command line come as JSON where that was asked for") {
  const ToolRun run = run_stowage({"compile", "x.onnx", "--tagret", "sw26010", "--json"});
  CHECK(run.code == 2);
  CHECK(nlohmann::json::parse(run.out).at("diagnostics")[0].at("message") == "unknown option '--tagret'");
  CHECK(run_stowage({"help", "compile"}).out == run_stowage({"compile", "--help"}).out);
}

TEST_CASE("lists print as tables and as one JSON object") {
  for (const std::string command : {"targets", "templates", "ops", "network"}) {
    INFO(command);
    const ToolRun text = run_stowage({command});
    CHECK(text.code == 0);
    CHECK(text.out.find("stowage 0.1.0 | stowage " + command + "\n\n| name") == 0);
    const ToolRun json = run_stowage({command, "--json"});
    CHECK(json.code == 0);
    const auto parsed = nlohmann::json::parse(json.out);
    REQUIRE(parsed.at(command).is_array());
    REQUIRE_FALSE(parsed.at(command).empty());
    CHECK_FALSE(parsed.at(command)[0].at("name").get<std::string>().empty());
    CHECK_FALSE(parsed.at(command)[0].at("summary").get<std::string>().empty());
  }
}

TEST_CASE("a sample network is written whole, and not over another file") {
  const Workplace here;
  CHECK(run_stowage({"network", "vector"}).code == 2);
  CHECK(run_stowage({"network", "vector", "-o", "v.onnx"}).code == 0);
  const ToolRun again = run_stowage({"network", "vector", "-o", "v.onnx"});
  CHECK(again.code == 1);
  CHECK(again.err == "v.onnx: error: the file exists already [output-exists]\n  help: give --force to replace it\n");
  const ToolRun unknown = run_stowage({"network", "resnet5", "-o", "r.onnx"});
  CHECK(unknown.code == 2);
  CHECK(unknown.err.find("did you mean 'resnet50'?") != std::string::npos);
  CHECK(files_below(".").size() == 1);
}

TEST_CASE("a seed is a number of 64 bits, and nothing else becomes one") {
  const Workplace here;
  for (const std::string seed : {"-1", "100000000000000000000", "1x", "0.5"}) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"network", "vector", "-o", "v.onnx"}, {"run", "x"}}) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"--seed", seed});
      const ToolRun run = run_stowage(arguments);
      CHECK(run.code == 2);
      CHECK(run.err.find("'" + seed + "' is no seed, a whole number from 0 to 18446744073709551615 was wanted") !=
            std::string::npos);
    }
  }
  CHECK(run_stowage({"network", "vector", "-o", "v.onnx", "--seed", "18446744073709551615"}).code == 0);
}

TEST_CASE("the largest batch that help promises is written, and a larger one is a usage error") {
  const Workplace here;
  CHECK(run_stowage({"network", "--help"}).out.find("[1 - 4096]") != std::string::npos);
  CHECK(run_stowage({"network", "vector", "-o", "v.onnx", "--batch", "4096"}).code == 0);
  CHECK(run_stowage({"network", "vector", "-o", "w.onnx", "--batch", "4097"}).code == 2);
  write_text("jobs.toml", "[[job]]\nname = \"large\"\nnetwork = \"vector\"\nbatch = 4097\n");
  const ToolRun batch = run_stowage({"batch", "jobs.toml"});
  CHECK(batch.code == 1);
  CHECK(batch.err.find("4096") != std::string::npos);
}

TEST_CASE("a compiler that CC names and that is not there is an error that names CC") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "vector", "-o", "v.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "v.onnx", "-o", "plan"}).code == 0);
  const char* const before = std::getenv("CC");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("CC", "nonsense", 1);
  const ToolRun run = run_stowage({"run", "plan"});
  before != nullptr ? ::setenv("CC", kept.c_str(), 1) : ::unsetenv("CC");
  CHECK(run.code == 1);
  CHECK(run.err ==
        "error: the C compiler 'nonsense' that CC names was not found [no-c-compiler]\n"
        "  help: let CC name one that is installed, or unset it\n");
}

TEST_CASE("coverage lists operators") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  const ToolRun text = run_stowage({"coverage", "lenet.onnx"});
  CHECK(text.code == 0);
  CHECK(text.out == golden("coverage-lenet.txt", text.out));
  const auto json = nlohmann::json::parse(run_stowage({"coverage", "lenet.onnx", "--json"}).out);
  CHECK(json.at("supported") == true);
  CHECK(json.at("operators").size() == 6);
  CHECK(run_stowage({"coverage", "missing.onnx"}).code == 1);
}

}  // namespace
}  // namespace stowage::test
