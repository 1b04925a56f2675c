// SPDX-License-Identifier: Apache-2.0
// `stowage batch`: jobs side by side, failures among them, and every mistake in a batch file.
#include <filesystem>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> rows;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

TEST_CASE("the sample batch of the papers' examples agrees") {
  const Workplace here;
  const std::string file = test::source_folder().string() + "/samples/batch/papers.toml";
  const ToolRun run = run_stowage({"batch", file, "-j", "2", "-o", "out"});
  INFO(run.err);
  INFO(run.out);
  CHECK(run.code == 0);
  const auto rows = json_lines(read_text("out/results.jsonl"));
  REQUIRE(rows.size() == 5);
  for (const auto& row : rows) {
    INFO(row.dump());
    CHECK(row.at("status") == "done");
    CHECK(row.at("check").at("agrees") == true);
    CHECK(row.at("check").at("against_model") == true);
    CHECK(fs::exists(fs::path("out") / row.at("job").get<std::string>() / "plan.json"));
  }
  // By hand and by algorithm, the papers' matmul is the same plan.
  CHECK(rows[1].at("dma_transfers") == 264);
  CHECK(rows[2].at("dma_transfers") == 264);
}

constexpr const char* mixed_jobs = R"([[job]]
name = "good"
network = "vector"

[[job]]
name = "bad"
model = "missing.onnx"

[[job]]
name = "tiny"
network = "matmul"
set = { target.ldm.bytes = 6200 }
[job.schedule."matmul"]
slots = { B = 1 }

[[job]]
name = "last"
network = "vector"
check = true
)";

TEST_CASE("a batch goes on after jobs that fail, and its exit code tells") {
  const Workplace here;
  write_text("jobs.toml", mixed_jobs);
  const ToolRun run = run_stowage({"batch", "jobs.toml"});
  CHECK(run.code == 1);
  const auto rows = json_lines(read_text("jobs-out/results.jsonl"));
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].at("status") == "done");
  CHECK(rows[1].at("status") == "failed");
  CHECK(rows[1].at("diagnostics")[0].at("file") == "missing.onnx");
  CHECK(rows[2].at("status") == "failed");
  CHECK(rows[3].at("status") == "done");
  CHECK(fs::exists("jobs-out/good/plan.json"));
  CHECK_FALSE(fs::exists("jobs-out/bad"));
  CHECK_FALSE(fs::exists("jobs-out/tiny"));
  CHECK(run.out.find("| bad") != std::string::npos);
  CHECK(run.err.find("missing.onnx: error: ") != std::string::npos);

  // A second run touches nothing without --force; with it one job alone can be run.
  const auto before = files_below("jobs-out");
  const ToolRun again = run_stowage({"batch", "jobs.toml"});
  CHECK(again.code == 1);
  CHECK(again.out == run.out);
  CHECK(files_below("jobs-out") == before);
  const ToolRun only = run_stowage({"batch", "jobs.toml", "--only", "last", "--force", "--json"});
  CHECK(only.code == 0);
  const auto json = nlohmann::json::parse(only.out);
  REQUIRE(json.at("jobs").size() == 1);
  CHECK(json.at("jobs")[0].at("check").at("agrees") == true);
  const ToolRun unknown = run_stowage({"batch", "jobs.toml", "--only", "lats", "--force"});
  CHECK(unknown.code == 1);
  CHECK(unknown.err == "jobs.toml: error: no job 'lats' [unknown-job]\n  help: did you mean 'last'?\n");
}

TEST_CASE("a batch writes the same results whatever the number of jobs side by side") {
  const Workplace here;
  write_text("jobs.toml", mixed_jobs);
  CHECK(run_stowage({"batch", "jobs.toml"}).code == 1);
  fs::rename("jobs-out", "one-by-one");
  CHECK(run_stowage({"batch", "jobs.toml", "-j", "4"}).code == 1);
  CHECK(files_below("one-by-one").size() > 20);
  CHECK(files_below("one-by-one") == files_below("jobs-out"));
}

TEST_CASE("a batch writes the same plans wherever they go and whoever asks for them") {
  const Workplace here;
  const fs::path top = fs::current_path();
  fs::create_directories("models");
  fs::create_directories("elsewhere/deep");
  REQUIRE(run_stowage({"network", "matmul", "-o", "models/matmul.onnx"}).code == 0);
  write_text("models/jobs.toml",
             "[[job]]\nname = \"sample\"\nnetwork = \"vector\"\n"
             "[[job]]\nname = \"file\"\nmodel = \"matmul.onnx\"\n");
  const std::string file = (top / "models/jobs.toml").string();
  REQUIRE(run_stowage({"batch", file, "-o", "one"}).code == 0);
  REQUIRE(run_stowage({"batch", file, "-o", (top / "elsewhere/two").string()}).code == 0);
  fs::current_path(top / "elsewhere/deep");
  REQUIRE(run_stowage({"batch", file}).code == 0);
  fs::current_path(top);
  const auto expected = files_below("one");
  CHECK(expected.size() > 15);
  CHECK(files_below("elsewhere/two") == expected);
  CHECK(files_below("elsewhere/deep/jobs-out") == expected);
  // The sample network is found again from the plan's folder, wherever the command is given.
  fs::current_path("/");
  const auto json =
      nlohmann::json::parse(run_stowage({"run", (top / "elsewhere/two/sample").string(), "--check", "--json"}).out);
  fs::current_path(top);
  CHECK(json.at("against_model") == true);
}

TEST_CASE("a job named like what a batch writes itself is refused before anything is written") {
  const Workplace here;
  for (const std::string name :
       {"results.jsonl", "shard.json", "networks", ".", "..", "", ".hidden", "a\\u0000b", "a\\nb"}) {
    write_text("jobs.toml", "[[job]]\nname = \"first\"\nnetwork = \"vector\"\n[[job]]\nname = \"" + name +
                                "\"\nnetwork = \"vector\"\n");
    const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out", "--force"});
    INFO(run.err);
    CHECK(run.code == 1);
    CHECK(run.err.find("jobs.toml:5:8: error: ") == 0);
    CHECK(run.err.find("[wrong-job-name]") != std::string::npos);
    CHECK_FALSE(fs::exists("out"));
  }
  // Nor is a folder that stands where the results go found only when all jobs are done.
  write_text("jobs.toml", "[[job]]\nname = \"first\"\nnetwork = \"vector\"\n");
  fs::create_directories("out/results.jsonl");
  const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out", "--force"});
  CHECK(run.code == 1);
  CHECK(run.err.find("out/results.jsonl: error: a file is to be written, and this is a folder") == 0);
  CHECK_FALSE(fs::exists("out/first"));
}

TEST_CASE("every mistake in a batch file has its place") {
  const Workplace here;
  const auto complaint = [](const std::string& text) {
    write_text("jobs.toml", text);
    const ToolRun run = run_stowage({"batch", "jobs.toml"});
    CHECK(run.code == 1);
    CHECK_FALSE(fs::exists("jobs-out"));
    return run.err;
  };
  CHECK(complaint("") == "jobs.toml: error: 'job' is missing: an array of tables was wanted [missing-key]\n");
  CHECK(complaint("[[job]]\nnmae = \"a\"\nnetwork = \"lenett\"\n") ==
        "jobs.toml:1:1: error: 'job.name' is missing: a string was wanted [missing-key]\n"
        "    [[job]]\n"
        "    ^^^^^^^\n"
        "jobs.toml:3:11: error: no sample network 'lenett' [unknown-network]\n"
        "    network = \"lenett\"\n"
        "              ^^^^^^^^\n"
        "  help: did you mean 'lenet'?\n"
        "jobs.toml:2:1: error: unknown key 'job.nmae' [unknown-key]\n"
        "    nmae = \"a\"\n"
        "    ^^^^\n"
        "  help: did you mean 'name'?\n");
  CHECK(complaint("[[job]]\nname = \"a\"\n").find("the job has neither 'model' (a file) nor 'network'") !=
        std::string::npos);
  CHECK(complaint("[[job]]\nname = \"a\"\nmodel = \"m\"\nnetwork = \"lenet\"\n")
            .find("jobs.toml:4:11: error: a job has either 'model' or 'network' [two-models]") == 0);
  CHECK(complaint("[[job]]\nname = \"a/b\"\nnetwork = \"lenet\"\n")
            .find("jobs.toml:2:8: error: 'a/b' cannot be the name of a folder for this job: it holds a '/' "
                  "[wrong-job-name]") == 0);
  CHECK(complaint("[[job]]\nname = \"a\"\nnetwork = \"lenet\"\n[[job]]\nname = \"a\"\nnetwork = \"lenet\"\n") ==
        "jobs.toml:5:8: error: two jobs have the name 'a' [duplicate-job]\n"
        "    name = \"a\"\n"
        "           ^^^\n"
        "  help: give one of them another name\n");
  CHECK(complaint("[defaults]\nchek = true\n[[job]]\nname = \"a\"\nnetwork = \"lenet\"\ncheck = 1\n") ==
        "jobs.toml:2:1: error: unknown key 'defaults.chek' [unknown-key]\n"
        "    chek = true\n"
        "    ^^^^\n"
        "  help: did you mean 'check'?\n"
        "jobs.toml:6:9: error: 'job.check' is an integer, true or false was wanted [wrong-type]\n"
        "    check = 1\n"
        "            ^\n");
  CHECK(complaint("[[job]]\nname = \n").find("jobs.toml:2:8: error: ") == 0);
  CHECK(complaint("job = 3\n").find("'job' is an integer, an array of tables was wanted [wrong-type]") !=
        std::string::npos);
  CHECK(complaint("[[job]]\nname = \"a\"\nnetwork = \"lenet\"\ndim = { N = 0 }\nbatch = -1\n")
            .find("'job.batch' is -1, but lies between 1 and 4096 [out-of-range]") != std::string::npos);
  CHECK(run_stowage({"batch", "nowhere.toml"}).err.find("nowhere.toml: error: cannot be read") == 0);
}

}  // namespace
}  // namespace stowage::test
