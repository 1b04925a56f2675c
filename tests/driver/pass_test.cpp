// SPDX-License-Identifier: Apache-2.0
// `stowage passes`, `stowage pass` and `compile --dump-passes`.
#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>

#include <catch2/catch.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"
#include "tests/random_runs.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

void dump(const std::string& network, const std::string& folder) {
  REQUIRE(run_stowage({"network", network, "-o", network + ".onnx"}).code == 0);
  const ToolRun run = run_stowage({"compile", network + ".onnx", "-o", "plan", "--dump-passes", folder});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.out.find("written to " + folder + ": the nest of every kernel after each pass that changed it\n") !=
        std::string::npos);
}

/// Names of what is in a folder, sorted.
std::vector<std::string> entries_of(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("passes lists what is run, build first") {
  const ToolRun text = run_stowage({"passes"});
  CHECK(text.code == 0);
  CHECK(text.out == golden("passes.txt", text.out));
  const auto json = nlohmann::json::parse(run_stowage({"passes", "--json"}).out);
  int number = 0;
  for (const auto& row : json.at("passes")) {
    CHECK(row.at("number") == ++number);
    CHECK(text.out.find(fmt::format("| {} ", row.at("name").get<std::string>())) != std::string::npos);
  }
  CHECK(json.at("passes")[0].at("name") == "build");
  CHECK(json.at("steps")[0].at("name") == "import");
}

TEST_CASE("dumped nests lead from build to the plan, those with transfers each by the pass in its name") {
  const Workplace here;
  dump(GENERATE("lenet", "cifarnet"), "nests");  // without padding, and with
  std::map<std::string, int> numbers;
  const auto listed = nlohmann::json::parse(run_stowage({"passes", "--json"}).out);
  for (const auto& row : listed.at("passes")) {
    numbers[row.at("name")] = row.at("number");
  }
  std::size_t kernels = 0;
  std::size_t changed = 0;  // of these, by a pass on nests
  std::size_t step = 0;
  const auto plan = nlohmann::json::parse(read_text("plan/plan.json"));
  for (const auto& planned : plan.at("steps")) {
    const std::size_t number = step++;  // as the table of compile counts
    if (!planned.contains("nest")) continue;
    const fs::path folder = fmt::format("nests/{:02}_{}", number, planned.at("name").get<std::string>());
    INFO(folder);
    REQUIRE(fs::is_directory(folder));
    const std::vector<std::string> files = entries_of(folder);
    REQUIRE(files.size() >= 2);
    CHECK(files[0] == "1_build.nest");
    CHECK(read_text(folder / files[0]).find(" get ") == std::string::npos);
    CHECK(files[1] == "2_place-transfers.nest");
    changed += files.size() > 2 ? 1 : 0;
    for (std::size_t f = 2; f < files.size(); ++f) {
      INFO(files[f]);
      const std::string pass = files[f].substr(2, files[f].size() - 2 - std::string(".nest").size());
      CHECK(files[f].front() - '0' == numbers.at(pass));
      const ToolRun run = run_stowage({"pass", pass, (folder / files[f - 1]).string()});
      INFO(run.err);
      CHECK(run.code == 0);
      CHECK(run.out == read_text(folder / files[f]));
    }
    std::string last;
    for (const auto& line : planned.at("nest")) last += line.get<std::string>() + "\n";
    CHECK(read_text(folder / files.back()) == last);
    ++kernels;
  }
  CHECK(kernels > 3);
  CHECK(changed > 3);
  CHECK(entries_of("nests").size() == kernels + 1);  // and the marker
}

TEST_CASE("a pass leaves the nest alone that it made, and what later passes made of that") {
  const Workplace here;
  dump(GENERATE("lenet", "cifarnet"), "nests");
  const auto listed = nlohmann::json::parse(run_stowage({"passes", "--json"}).out);
  std::size_t tried = 0;
  for (const auto& [path, text] : files_below("nests")) {
    if (!path.ends_with(".nest")) continue;
    const int made_by = path[path.find('/') + 1] - '0';
    for (const auto& row : listed.at("passes")) {
      const int number = row.at("number");
      if (number <= 2 || number > made_by) continue;  // the first two need the schedule
      const ToolRun again = run_stowage({"pass", row.at("name").get<std::string>(), "nests/" + path});
      INFO(row.at("name") << " of " << path << "\n" << again.err);
      CHECK(again.code == 0);
      CHECK(again.out == text);
      ++tried;
    }
  }
  CHECK(tried > 15);
}

TEST_CASE("a pass writes its nest to a file, and not over another one") {
  const Workplace here;
  dump("matmul", "nests");
  const std::string built = "nests/00_matmul/2_place-transfers.nest";
  const ToolRun printed = run_stowage({"pass", "clip-and-pad", built});
  REQUIRE(printed.code == 0);
  const ToolRun written = run_stowage({"pass", "clip-and-pad", built, "-o", "after.nest"});
  CHECK(written.out == "written to after.nest\n");
  CHECK(read_text("after.nest") == printed.out);
  const ToolRun again = run_stowage({"pass", "clip-and-pad", built, "-o", "after.nest"});
  CHECK(again.code == 1);
  CHECK(again.err ==
        "after.nest: error: the file exists already [output-exists]\n  help: give --force to replace it\n");
  CHECK(run_stowage({"pass", "clip-and-pad", built, "-o", "after.nest", "--force"}).code == 0);
  const ToolRun itself = run_stowage({"pass", "clip-and-pad", built, "-o", built, "--force"});
  CHECK(itself.code == 1);
  CHECK(itself.err.find("[output-in-use]") != std::string::npos);
  const auto json = nlohmann::json::parse(run_stowage({"pass", "clip-and-pad", built, "--json"}).out);
  CHECK(json.at("pass") == "clip-and-pad");
  CHECK(json.at("nest") == printed.out);
  // The target decides: without lanes there are no forms.
  const ToolRun forms = run_stowage({"pass", "choose-forms", "after.nest"});
  const ToolRun none = run_stowage({"pass", "choose-forms", "after.nest", "--set", "target.cores.vector_lanes=1"});
  INFO(none.err);
  CHECK(forms.out.find(" as register_block") != std::string::npos);
  CHECK(none.code == 0);
  CHECK(none.out == printed.out);
}

TEST_CASE("mistakes in a pass's name, text or nest say where and what to do") {
  const Workplace here;
  dump("matmul", "nests");
  const std::string built = "nests/00_matmul/2_place-transfers.nest";
  const ToolRun name = run_stowage({"pass", "clip-and-pat", built});
  CHECK(name.code == 2);
  CHECK(name.err ==
        "error: NAME: there is no 'clip-and-pat', did you mean 'clip-and-pad'? [usage]\nsee 'stowage pass --help'\n");
  for (const std::string with_schedule : {"build", "place-transfers"}) {
    const ToolRun refused = run_stowage({"pass", with_schedule, built});
    CHECK(refused.code == 2);
    CHECK(refused.err ==
          "error: " + with_schedule +
              " needs the schedule besides the nest [usage]\n  help: what it makes is among the nests of "
              "'stowage compile MODEL.onnx --dump-passes DIR'\nsee 'stowage pass --help'\n");
  }
  const ToolRun early = run_stowage({"pass", "clip-and-pad", "nests/00_matmul/1_build.nest"});
  CHECK(early.code == 1);
  CHECK(early.err.find("[unsound-nest]\n  help: the nest moves no data yet; begin with that of place-transfers\n") !=
        std::string::npos);
  const ToolRun missing = run_stowage({"pass", "choose-forms", "no.nest"});
  CHECK(missing.code == 1);
  CHECK(missing.err.find("no.nest: error: ") == 0);

  const std::string text = read_text(built);
  const auto with = [&](const std::string& what, const std::string& instead) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    write_text("bad.nest", std::string(text).replace(at, what.size(), instead));
    return run_stowage({"pass", "clip-and-pad", "bad.nest"});
  };
  const ToolRun syntax = with("wait ", "weit ");
  CHECK(syntax.code == 1);
  CHECK(syntax.out.empty());
  CHECK(syntax.err.find("bad.nest:") == 0);
  CHECK(syntax.err.find("a statement begins with for, let, if, get, put, broadcast, wait, fill, compute or barrier") !=
        std::string::npos);
  const ToolRun unknown = with("-> A_ldm", "-> A_lmd");
  CHECK(unknown.code == 1);
  CHECK(unknown.err.find("did you mean 'A_ldm'?") != std::string::npos);
  // A number that means nothing; a nest that is sound no longer once the pass is through.
  const ToolRun wait = with("wait ", "wait 9");
  CHECK(wait.code == 1);
  CHECK(wait.err.find("bad.nest: error: structure: statement ") == 0);
  CHECK(wait.err.find("is no transfer [unsound-nest]\n  help: docs/ir.md tells what a nest keeps to\n") !=
        std::string::npos);
  const ToolRun unsound = with("fill ", "barrier //");
  CHECK(unsound.code == 1);
  CHECK(unsound.out.empty());
  CHECK(unsound.err.find("bad.nest: error: after clip-and-pad: read-before-there: statement ") == 0);
}

TEST_CASE("a pass that counts on a sound nest refuses one that is as it was built") {
  const Workplace here;
  dump("cifarnet", "nests");
  std::string file;
  for (const auto& [path, text] : files_below("nests")) {
    if (path.ends_with("2_place-transfers.nest") && text.find(", -2:18] -> norm1_ldm") != std::string::npos) {
      file = "nests/" + path;
    }
  }
  INFO("the window of the second convolution reaches outside");
  REQUIRE_FALSE(file.empty());
  const ToolRun refused = run_stowage({"pass", "choose-forms", file});
  CHECK(refused.code == 1);
  CHECK(refused.err.find("transfer-in-tensor: statement ") != std::string::npos);
  CHECK(refused.err.find("[unsound-nest]\n  help: of a nest as it is built, clip-and-pad comes first; docs/ir.md tells "
                         "what a nest keeps to\n") != std::string::npos);
  CHECK(run_stowage({"pass", "clip-and-pad", file}).code == 0);
}

TEST_CASE("a nest that does not fit the target is told to be run for its own") {
  const Workplace here;
  dump("matmul", "nests");
  const std::string file = "nests/" + entries_of("nests").at(1) + "/2_place-transfers.nest";
  for (const auto& [setting, rule] :
       {std::pair("target.cores.count=2", "core-grid: "), std::pair("target.ldm.bytes=16384", "ldm-capacity: ")}) {
    for (const std::string pass : {"choose-forms", "clip-and-pad"}) {
      INFO(setting << ", " << pass);
      const ToolRun refused = run_stowage({"pass", pass, file, "--set", setting});
      INFO(refused.err);
      CHECK(refused.code == 1);
      CHECK(refused.err.find(rule) != std::string::npos);
      CHECK(refused.err.find("[unsound-nest]\n  help: give the --target and --set that the nest was made for; "
                             "docs/ir.md tells what a nest keeps to\n") != std::string::npos);
    }
  }
  // What neither another target nor another pass can mend.
  std::string text = read_text(file);
  const std::size_t last_wait = text.rfind("wait ");
  REQUIRE(last_wait != std::string::npos);
  text.replace(last_wait, text.find('\n', last_wait) - last_wait, "barrier");
  write_text("bad.nest", text);
  const ToolRun broken = run_stowage({"pass", "choose-forms", "bad.nest"});
  CHECK(broken.err.find("[unsound-nest]\n  help: docs/ir.md tells what a nest keeps to\n") != std::string::npos);
}

TEST_CASE("a pass takes a nest whose cores share what they load, on their mesh") {
  const Workplace here;
  write_text("teams.nest", R"(nest twice {
  input X f32[512]
  output Y f32[64]
  stage sum {
    Y[y < 64] = sum over k < 512 of (#0 + 0.0)
    #0 = X[k]
  }
  variables cy, ko
  core cy < 64 of y stride 1
  mesh 8 rows 8 columns
  memory X = X strides [1]
  memory Y = Y strides [1] written
  ldm 1024 bytes
  buffer XX f32[64] at 0, 256 bytes = X[64*ko]
  buffer XR f32[64] at 256, 256 bytes = X[64*ko]
  buffer YY f32[1] at 512, 4 bytes = Y[cy]
  body {
    0  fill YY with 0
    1  for ko < 8 of k {
    2    get X[64*ko:64*ko + 64] -> XX of column
    3    wait 2
    4    broadcast XX of column ko -> XR of row over [64*ko:64*ko + 64]
    5    wait 4
    6    compute update YY = sum(XR) over y=cy:cy + 1, k=64*ko:64*ko + 64
       }
    7  put YY -> Y[cy:cy + 1]
    8  wait 7
  }
}
)");
  const ToolRun taken = run_stowage({"pass", "choose-forms", "teams.nest"});
  INFO(taken.err);
  CHECK(taken.code == 0);
  CHECK(taken.out.find("broadcast XX of column ko -> XR of row over [64*ko:64*ko + 64]\n") != std::string::npos);
  const ToolRun refused = run_stowage({"pass", "clip-and-pad", "teams.nest", "--set", "target.cores.mesh_columns=16",
                                       "--set", "target.cores.mesh_rows=4", "--set", "target.dma.row_broadcast=false"});
  CHECK(refused.code == 1);
  CHECK(refused.err ==
        "teams.nest: error: after clip-and-pad: mesh: the nest is for 8 rows of 8 columns, sw26010 has 4 "
        "rows of 16 [unsound-nest]\n  help: give the --target and --set that the nest was made for; "
        "docs/ir.md tells what a nest keeps to\n");
}

/// A number, a line or a name of a text, changed at random.
std::string damaged(const std::string& text, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::string& line = lines[below(lines.size())];
  switch (below(4)) {
    case 0: line = lines[below(lines.size())]; break;
    case 1: line.clear(); break;
    case 2: std::swap(line, lines[below(lines.size())]); break;
    default: {
      static constexpr const char* numbers[] = {"0", "1", "2", "-1", "7", "64", "65", "1000000007"};
      const std::size_t from = line.find_first_of("0123456789", below(line.size() + 1));
      if (from == std::string::npos) break;
      const std::size_t to = std::min(line.size(), line.find_first_not_of("0123456789", from));
      line.replace(from, to - from, numbers[below(std::size(numbers))]);
    }
  }
  std::string result;
  for (const std::string& kept : lines) result += kept + "\n";
  return result;
}

TEST_CASE("a damaged nest is a diagnostic or a sound nest for every pass, never a fault") {
  const Workplace here;
  dump("cifarnet", "nests");
  std::vector<std::string> texts;
  for (const auto& [path, text] : files_below("nests")) {
    if (path.ends_with(".nest")) texts.push_back(text);
  }
  const std::uint64_t seed = number_from("STOWAGE_SEED", 1);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 400);
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  const std::vector<std::string> passes = {"clip-and-pad", "double-buffer", "choose-forms", "dma-units"};
  std::map<int, int> codes;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::string text = texts[random() % texts.size()];
    for (std::size_t times = 1 + random() % 2; times > 0; --times) text = damaged(text, random);
    write_text("damaged.nest", text);
    const ToolRun run = run_stowage({"pass", passes[random() % passes.size()], "damaged.nest"});
    INFO("seed " << seed << ", round " << round << "\n" << run.err << text);
    CHECK((run.code == 0 || run.code == 1));
    CHECK(run.err.empty() == (run.code == 0));
    if (run.code == 0) CHECK(run.out.starts_with("nest "));
    ++codes[run.code];
  }
  // Both occur, or nothing was tried.
  CHECK(codes[0] > 0);
  CHECK(codes[1] > 0);
}

TEST_CASE("dumped passes do not go into the plan's folder by way of a link") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "vector", "-o", "v.onnx"}).code == 0);
  fs::create_directory("real");
  fs::create_directory_symlink("real", "link");
  for (const std::string dump_folder : {"link/plan", "link/plan/nests", "link"}) {
    INFO(dump_folder);
    const ToolRun both = run_stowage({"compile", "v.onnx", "-o", "real/plan", "--dump-passes", dump_folder, "--force"});
    CHECK(both.code == 1);
    CHECK(both.err.find("error: the plan's folder is 'real/plan' [output-in-use]") != std::string::npos);
  }
  CHECK(fs::is_empty("real"));
  CHECK(run_stowage({"compile", "v.onnx", "-o", "real/plan", "--dump-passes", "link/nests"}).code == 0);
}

TEST_CASE("the folder of dumped passes keeps to the rules of output folders") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "vector", "-o", "v.onnx"}).code == 0);
  const auto compiled = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"compile", "v.onnx"});
    return run_stowage(options);
  };
  REQUIRE(compiled({"--dump-passes", "nests"}).code == 0);
  CHECK(read_text("nests/.stowage").find("stowage-folder 1 passes\n00_") == 0);
  const ToolRun exists = compiled({"--dump-passes", "nests"});
  CHECK(exists.code == 1);
  CHECK(exists.err.find("nests: error: the output folder exists already [output-exists]") == 0);
  CHECK(compiled({"--dump-passes", "nests", "--force"}).code == 0);
  write_text("nests/mine.txt", "work");
  const ToolRun foreign = compiled({"--dump-passes", "nests", "--force"});
  CHECK(foreign.code == 1);
  CHECK(foreign.err.find("[foreign-folder]") != std::string::npos);
  CHECK(read_text("nests/mine.txt") == "work");
  fs::remove("nests/mine.txt");
  // A plan does not replace nests, nor the other way round, and neither lies in the other.
  const ToolRun other = compiled({"-o", "nests", "--force"});
  CHECK(other.err.find("holds nests after each pass, not a plan") != std::string::npos);
  REQUIRE(compiled({"-o", "plan"}).code == 0);
  CHECK(compiled({"--dump-passes", "plan", "--force"}).err.find("holds a plan, not nests after each pass") !=
        std::string::npos);
  for (const std::string inside : {"new", "new/nests", "./new/", "."}) {
    INFO(inside);
    const ToolRun both = compiled({"-o", "new", "--dump-passes", inside});
    CHECK(both.code == 1);
    CHECK(both.err.find("error: the plan's folder is 'new' [output-in-use]") != std::string::npos);
  }
  CHECK_FALSE(fs::exists("new"));
  const ToolRun config = compiled({"--print-config", "--dump-passes", "x"});
  CHECK(config.code == 2);
}

}  // namespace
}  // namespace stowage::test
