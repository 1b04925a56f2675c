// SPDX-License-Identifier: Apache-2.0
// Whatever --force and -o name: people's own files stay, and a folder of ours is replaced only by its like.
#include <filesystem>

#include <catch2/catch.hpp>

#include "core/onnx/model_writer.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

void make_plan() {
  REQUIRE(run_stowage({"network", "vector", "-o", "vector.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "vector.onnx", "-o", "plan"}).code == 0);
}

/// Runs a command that must be refused for `reason` and change nothing below `here`.
void check_refused(const std::vector<std::string>& command, const std::string& reason, const fs::path& here = ".") {
  const auto before = files_below(here);
  const ToolRun run = run_stowage(command);
  INFO(command[0] << ": " << run.err);
  CHECK(run.code == 1);
  CHECK(run.err.find(reason) != std::string::npos);
  CHECK(files_below(here) == before);
}

TEST_CASE("force replaces no folder that Stowage did not write") {
  const Workplace here;
  make_plan();
  fs::create_directories("mine/deep");
  write_text("mine/deep/thesis.tex", "precious");
  write_text("mine/a.c", "precious");
  write_text("jobs.toml", "[[job]]\nname = \"mine\"\nmodel = \"vector.onnx\"\n");
  const std::string found = "mine: error: holds what Stowage did not write: 'a.c', 'deep' [foreign-folder]";
  check_refused({"compile", "vector.onnx", "-o", "mine", "--force"}, found);
  check_refused({"run", "plan", "--save-outputs", "mine", "--force"}, found);
  check_refused({"batch", "jobs.toml", "-o", ".", "--force"}, found);
  // So is a plan as older versions wrote it, which did not say what they wrote.
  REQUIRE(run_stowage({"compile", "vector.onnx", "-o", "old"}).code == 0);
  fs::remove("old/.stowage");
  check_refused({"compile", "vector.onnx", "-o", "old", "--force"},
                "old: error: holds what Stowage did not write: 'plan.json', 'report.md', 'src', ... (4 in all)");
  // An empty one holds nothing that could be lost.
  fs::create_directory("empty");
  CHECK(run_stowage({"compile", "vector.onnx", "-o", "empty", "--force"}).code == 0);
}

TEST_CASE("force replaces no folder of ours that holds something foreign") {
  const Workplace here;
  make_plan();
  REQUIRE(run_stowage({"run", "plan", "--save-outputs", "outputs"}).code == 0);
  write_text("jobs.toml", "[[job]]\nname = \"one\"\nmodel = \"vector.onnx\"\n");
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "out"}).code == 0);
  for (const std::string folder : {"plan", "outputs", "out/one"}) {
    std::vector<std::string> command = {"compile", "vector.onnx", "-o", "plan", "--force"};
    if (folder == "outputs") command = {"run", "plan", "--save-outputs", "outputs", "--force"};
    if (folder == "out/one") command = {"batch", "jobs.toml", "-o", "out", "--force"};
    INFO(folder);
    CHECK(run_stowage(command).code == 0);
    const std::string reason = folder + ": error: holds what Stowage did not write: ";
    write_text(folder + "/notes.txt", "precious");
    check_refused(command, reason + "'notes.txt'");
    fs::remove(folder + "/notes.txt");
    fs::create_directory(folder + "/kept");
    check_refused(command, reason + "'kept'");
    fs::remove(folder + "/kept");
    fs::create_symlink("/", folder + "/link");
    check_refused(command, reason + "'link'");
    fs::remove(folder + "/link");
    CHECK(run_stowage(command).code == 0);
  }
  // What the inspector keeps of Graphviz's answers is no work of anybody.
  fs::create_directory("plan/layout");
  write_text("plan/layout/0123456789abcdef.plain", "graph 1 1 1");
  CHECK(run_stowage({"compile", "vector.onnx", "-o", "plan", "--force"}).code == 0);
  CHECK_FALSE(fs::exists("plan/layout"));
  fs::create_directory("plan/layout");
  write_text("plan/layout/thesis.plain", "precious");
  check_refused({"compile", "vector.onnx", "-o", "plan", "--force"}, "'layout/thesis.plain'");
  fs::remove_all("plan/layout");
  write_text("plan/src/mine.c", "precious");
  check_refused({"compile", "vector.onnx", "-o", "plan", "--force"}, "'src/mine.c'");
}

TEST_CASE("force does not replace a plan by outputs or outputs by a plan") {
  const Workplace here;
  make_plan();
  REQUIRE(run_stowage({"compile", "vector.onnx", "-o", "other"}).code == 0);
  REQUIRE(run_stowage({"run", "plan", "--save-outputs", "outputs"}).code == 0);
  check_refused({"run", "plan", "--save-outputs", "other", "--force"}, "other: error: holds a plan, not outputs");
  check_refused({"compile", "vector.onnx", "-o", "outputs", "--force"}, "outputs: error: holds outputs, not a plan");
}

TEST_CASE("force replaces no folder with an input of the command below it") {
  const Workplace here;
  fs::create_directory("model");
  REQUIRE(run_stowage({"network", "vector", "-o", "model/net.onnx"}).code == 0);
  check_refused({"compile", "model/net.onnx", "-o", "model", "--force"}, "model/net.onnx, which the command reads");
  REQUIRE(run_stowage({"compile", "model/net.onnx", "-o", "plan"}).code == 0);
  check_refused({"run", "plan", "--save-outputs", "plan", "--force"}, "plan, which the command reads");
  REQUIRE(run_stowage({"run", "plan", "--save-outputs", "outputs"}).code == 0);
  fs::create_directory_symlink("outputs", "again");
  check_refused({"run", "plan", "--input", "v1=again/v.npy", "--save-outputs", "outputs", "--force"},
                "again/v.npy, which the command reads");
  write_text("plan/edit.toml", "[schedule]\n");
  for (const std::string option : {"--schedule", "--templates", "--target"}) {
    check_refused({"compile", "model/net.onnx", option, "plan/edit.toml", "-o", "plan", "--force"},
                  "plan/edit.toml, which the command reads");
  }
  fs::remove("plan/edit.toml");
  write_text("jobs.toml", "[[job]]\nname = \"plan\"\nmodel = \"plan/plan.json\"\n");
  check_refused({"batch", "jobs.toml", "-o", ".", "--force"}, "plan/plan.json, which the command reads");
}

TEST_CASE("force replaces no file that the command reads, by whatever name it is called") {
  const Workplace here;
  make_plan();
  const fs::path top = fs::current_path();
  fs::create_directory_symlink("plan", "again");
  fs::create_symlink("plan/trace.json", "link.html");
  const std::string reason = ", which the command reads [output-in-use]";
  for (const std::string& file :
       std::vector<std::string>{"plan/plan.json", "plan/trace.json", "plan/report.md", "plan/.stowage",
                                "plan/src/main.c", "plan/../plan/src/params.bin", "./plan//plan.json",
                                "again/plan.json", "link.html", (top / "plan/plan.json").string()}) {
    INFO(file);
    check_refused({"report", "plan", "-o", file, "--force"}, reason);
    check_refused({"report", "again", "-o", file, "--force"}, reason);
  }
  fs::create_symlink("plan/plan.json", "link.dot");
  fs::create_symlink("trace.json", "plan/link.svg");
  check_refused({"graph", "plan", "-o", "link.dot", "--force"}, reason);
  check_refused({"graph", "plan", "-o", "plan/link.svg", "--force"}, reason);
  fs::remove("plan/link.svg");
  // A folder of an older version has no list of what it consists of.
  fs::rename("plan/.stowage", "kept");
  check_refused({"report", "plan", "-o", "plan/plan.json", "--force"}, reason);
  fs::rename("kept", "plan/.stowage");
  // Another plan's files are not read, and a page of one's own may lie in the plan's folder.
  CHECK(run_stowage({"report", "plan", "-o", "plan/page.html"}).code == 0);
  CHECK(run_stowage({"report", "plan", "-o", "plan/page.html", "--force"}).code == 0);

  // A batch whose sample network, or list of results, is what one of its jobs reads.
  write_text("jobs.toml", "[[job]]\nname = \"a\"\nnetwork = \"vector\"\n");
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "out"}).code == 0);
  write_text("jobs.toml",
             "[[job]]\nname = \"a\"\nnetwork = \"vector\"\n[[job]]\nname = \"b\"\nmodel = "
             "\"out/networks/vector-batch1-seed1.onnx\"\n");
  check_refused({"batch", "jobs.toml", "-o", "out", "--force"}, reason);
  fs::create_directory("own");
  fs::copy_file("jobs.toml", "own/results.jsonl");
  check_refused({"batch", "own/results.jsonl", "-o", "own", "--force"}, reason);
}

TEST_CASE("force replaces neither the working directory nor one above it") {
  const Workplace here;
  make_plan();
  const fs::path top = fs::current_path();
  for (const fs::path inside : {"plan", "plan/src"}) {
    fs::current_path(top / inside);
    const std::string model = (top / "vector.onnx").string();
    const std::string reason = "the working directory";
    check_refused({"compile", model, "-o", (top / "plan").string(), "--force"}, reason, top);
    if (inside == "plan") check_refused({"compile", model, "-o", ".", "--force"}, reason, top);
    if (inside == "plan/src") check_refused({"compile", model, "-o", "..", "--force"}, reason, top);
  }
  fs::current_path(top);
  check_refused({"compile", "vector.onnx", "-o", ".", "--force"}, "the working directory");
  CHECK(run_stowage({"compile", "vector.onnx", "-o", "plan", "--force"}).code == 0);
}

TEST_CASE("outputs whose names differ land in files that differ") {
  const Workplace here;
  const std::string name(300, 'n');
  const std::vector<std::string> names = {"a/b", "a_b", "a%2Fb", ".stowage", "../a", name + "1", name + "2"};
  ModelWriter model("outputs", 13, "outputs with names that are no names of files");
  model.add_input("x", ElementType::f32, Shape{4});
  for (const std::string& output : names) {
    model.add_output(output, ElementType::f32, Shape{4});
    model.add_node("Relu", "to " + output, {"x"}, {output});
  }
  Diagnostics diagnostics;
  REQUIRE(model.save("outputs.onnx", diagnostics));
  REQUIRE(run_stowage({"compile", "outputs.onnx", "-o", "plan"}).code == 0);
  const ToolRun run = run_stowage({"run", "plan", "--save-outputs", "out"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto files = files_below("out");
  CHECK(files.size() == names.size() + 1);
  for (const std::string file : {"a%2Fb.npy", "a_b.npy", "a%252Fb.npy", "%2Estowage.npy", "%2E.%2Fa.npy"}) {
    INFO(file);
    CHECK(fs::exists("out/" + file));
  }
  CHECK_FALSE(fs::exists("a.npy"));
}

TEST_CASE("a folder for outputs that may not be replaced is refused before the emulation") {
  const Workplace here;
  make_plan();
  fs::create_directory("out");
  write_text("plan/src/main.c", "#error this is not to be compiled");
  const ToolRun run = run_stowage({"run", "plan", "--save-outputs", "out"});
  CHECK(run.code == 1);
  CHECK(run.err ==
        "out: error: the output folder exists already [output-exists]\n  help: give --force to replace it\n");
}

TEST_CASE("commands that read a plan do not mind the list of what was written") {
  const Workplace here;
  make_plan();
  CHECK(read_text("plan/.stowage").find("stowage-folder 1 plan\nplan.json\nreport.md\nsrc/") == 0);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"explain", "plan"}, {"diff", "plan", "plan"}, {"run", "plan"}}) {
    const ToolRun with = run_stowage(command);
    fs::rename("plan/.stowage", "kept");
    CHECK(with.code == 0);
    CHECK(run_stowage(command).out == with.out);
    fs::rename("kept", "plan/.stowage");
  }
}

}  // namespace
}  // namespace stowage::test
