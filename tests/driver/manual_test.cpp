// SPDX-License-Identifier: Apache-2.0
// What is installed beside the tool: manual pages and completions tell what help tells, and shells understand them.
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "driver/manual/completions.h"
#include "driver/manual/manual_page.h"
#include "driver/tool/command_table.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

/// Names of options as help has them: the first word of its lines, "-h,--help".
std::vector<std::string> options_in_help(const std::string& command) {
  std::vector<std::string> names;
  std::istringstream help(run_stowage({command, "--help"}).out);
  for (std::string line; std::getline(help, line);) {
    if (!line.starts_with("  -")) continue;
    std::istringstream words(line.substr(2, line.find(' ', 2) - 2));
    for (std::string name; std::getline(words, name, ',');) names.push_back(name);
  }
  return names;
}

/// "--dry-run" as roff has it.
std::string as_roff(const std::string& name) {
  std::string text = "\\fB";
  for (const char c : name) text += c == '-' ? std::string("\\-") : std::string(1, c);
  return text + "\\fR";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Output of a line of the shell in the current folder, where errors end the test.
std::string shell(const std::string& line) {
  INFO(line);
  const int status = std::system((line + " >shell.out 2>shell.err </dev/null").c_str());
  CHECK(read_text("shell.err").empty());
  CHECK(status == 0);
  return read_text("shell.out");
}

bool is_there(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

TEST_CASE("every command and option that help tells is in its manual page and in all completions") {
  const std::string main_page = run_stowage({"man"}).out;
  const std::string bash = run_stowage({"completions", "bash"}).out;
  const std::string zsh = run_stowage({"completions", "zsh"}).out;
  const std::string fish = run_stowage({"completions", "fish"}).out;
  for (const CommandRow& row : command_table()) {
    const std::string command = row.name;
    INFO(command);
    CHECK(has(main_page, as_roff(command) + "\n"));
    CHECK(has(zsh, "    " + command + ")\n"));
    CHECK(has(fish, " -n __stowage_first -a " + command + " -d "));
    const ToolRun page = run_stowage({"man", command});
    REQUIRE(page.code == 0);
    const auto bash_row = bash.find("    " + command + ")\n");
    REQUIRE(bash_row != std::string::npos);
    const std::string bash_options = bash.substr(bash_row, bash.find(";;", bash_row) - bash_row);
    const auto zsh_row = zsh.find("    " + command + ")\n");
    const std::string zsh_options = zsh.substr(zsh_row, zsh.find(";;", zsh_row) - zsh_row);
    const std::vector<std::string> options = options_in_help(command);
    CHECK(options.size() >= 3);
    for (const std::string& option : options) {
      INFO(option);
      CHECK(has(page.out, as_roff(option)));
      CHECK(has(bash_options, option));
      CHECK(has(zsh_options, option));
      const std::string in_fish = option.starts_with("--") ? " -l " + option.substr(2) : " -s " + option.substr(1);
      bool found = false;
      std::istringstream lines(fish);
      for (std::string line; std::getline(lines, line);) {
        found = found || (has(line, "'__stowage_in " + command + "'") && has(line + " ", in_fish + " "));
      }
      CHECK(found);
    }
  }
}

TEST_CASE("manual pages of one command and of all are the same") {
  const auto all = nlohmann::json::parse(run_stowage({"man", "--json"}).out).at("pages");
  CHECK(all.size() == command_table().size() + 1);
  CHECK(all[0].at("file") == "stowage.1");
  for (const auto& page : all) {
    const std::string file = page.at("file");
    std::vector<std::string> arguments = {"man"};
    if (file != "stowage.1") arguments.push_back(file.substr(8, file.size() - 10));
    CHECK(run_stowage(arguments).out == page.at("text"));
  }
  CHECK(run_stowage({"man", "complie"}).code == 2);
  CHECK(run_stowage({"man", "batch"}).out == golden("man-batch.txt", run_stowage({"man", "batch"}).out));
}

TEST_CASE("roff takes no text for a request") {
  ProgramOutline program{.name = "x", .version = "1", .summary = ".so \\n 'a-b'"};
  program.options = {{.names = {"-a"}, .summary = ".ds x"}};
  const std::string page = manual_pages(program).front().text;
  CHECK(has(page, "x \\- \\&.so \\(rsn \\(aqa\\-b\\(aq\n"));
  CHECK(has(page, "\n\\&.ds x\n"));
}

TEST_CASE("groff has nothing to say about the manual pages") {
  if (!is_there("groff")) {
    WARN("skipped, 1 case: groff is not installed");
    return;
  }
  const Workplace here;
  std::string files;
  const auto all = nlohmann::json::parse(run_stowage({"man", "--json"}).out);
  for (const auto& page : all.at("pages")) {
    write_text(page.at("file").get<std::string>(), page.at("text"));
    files += " " + page.at("file").get<std::string>();
  }
  const std::string text = shell("GROFF_NO_SGR=1 groff -man -Tascii -ww -P-c" + files);
  CHECK(has(text, "STOWAGE(1)"));
}

/// What bash offers for these words, the last of which the cursor is at the end of.
std::string bash_offers(const std::vector<std::string>& words) {
  std::string line = "COMP_WORDS=(stowage";
  for (const std::string& word : words) line += " '" + word + "'";
  write_text("ask.bash", ". ./stowage.bash\n" + line + ")\nCOMP_CWORD=" + std::to_string(words.size()) +
                             "\n_stowage 2>/dev/null\nprintf '%s ' \"${COMPREPLY[@]}\"\n");
  return shell("bash --norc --noprofile ask.bash");
}

TEST_CASE("bash completes commands, options, values and files") {
  const Workplace here;
  write_text("stowage.bash", run_stowage({"completions", "bash"}).out);
  std::filesystem::create_directory("plan");
  write_text("plan/lenet.onnx", "");
  write_text("net.onnx", "");
  write_text("mine.toml", "");
  CHECK(bash_offers({"com"}) == "compile completions ");
  CHECK(bash_offers({"--v"}) == "--version ");
  CHECK(bash_offers({"--version", "--j"}) == "--json ");
  CHECK(bash_offers({"run", "--sa"}) == "--save-outputs --sanitize ");
  CHECK(bash_offers({"run", "--level", ""}) == "count check strict ");
  CHECK(bash_offers({"run", "--level", "=", "st"}) == "strict ");
  CHECK(bash_offers({"run", "--level", "="}) == "count check strict ");
  CHECK(bash_offers({"run", "--level=ch"}) == "--level=check ");
  CHECK(bash_offers({"run", "--level", "check", ""}) == "plan ");
  CHECK(bash_offers({"run", "--check", "p"}) == "plan ");
  CHECK(bash_offers({"compile", ""}) == "plan net.onnx ");
  CHECK(bash_offers({"compile", "plan/"}) == "plan/lenet.onnx ");
  CHECK(bash_offers({"compile", "net.onnx", "--target", ""}) == "sw26010 plan mine.toml ");
  CHECK(bash_offers({"compile", "net.onnx", "--dim", ""}) == " ");
  CHECK(bash_offers({"compile", "net.onnx", ""}) == " ");
  CHECK(bash_offers({"pass", "clip"}) == "clip-and-pad ");
  CHECK(bash_offers({"pass", "clip-and-pad", ""}) == "plan ");
  CHECK(bash_offers({"completions", ""}) == "bash zsh fish ");
  CHECK(bash_offers({"man", "pas"}) == "passes pass ");
  CHECK(bash_offers({"nonsense", ""}) == " ");
}

TEST_CASE("fish completes commands, options, values and files") {
  if (!is_there("fish")) {
    WARN("skipped, 1 case: fish is not installed");
    return;
  }
  const Workplace here;
  write_text("stowage.fish", run_stowage({"completions", "fish"}).out);
  std::filesystem::create_directory("plan");
  const auto offers = [](const std::string& line) {
    // Behind a tab stands the description.
    return shell("HOME=$PWD fish --no-config -c 'source stowage.fish; complete -C \"" + line +
                 "\" | cut -f 1 | tr \"\\n\" \" \"'");
  };
  CHECK(offers("stowage com") == "compile completions ");
  CHECK(offers("stowage --v") == "--version ");
  CHECK(offers("stowage run --sa") == "--sanitize --save-outputs ");
  CHECK(offers("stowage run --level ") == "check count strict ");
  CHECK(offers("stowage run --level check ") == "plan/ ");
  CHECK(offers("stowage pass clip") == "clip-and-pad ");
  CHECK(offers("stowage completions ") == "bash fish zsh ");
}

TEST_CASE("zsh reads its completion") {
  if (!is_there("zsh")) {
    WARN("skipped, 1 case: zsh is not installed");
    return;
  }
  const Workplace here;
  write_text("_stowage", run_stowage({"completions", "zsh"}).out);
  shell("zsh -f -n _stowage");
  CHECK(has(read_text("_stowage"), ":T:{_alternative "));  // it refuses what _arguments adds to other calls
}

TEST_CASE("the version as one line and as one object") {
  const ToolRun text = run_stowage({"--version"});
  CHECK(text.code == 0);
  const auto json = nlohmann::json::parse(run_stowage({"--version", "--json"}).out);
  CHECK(text.out == "stowage " + json.at("stowage").get<std::string>() + "\n");
  CHECK(json.at("plan_version").get<int>() >= json.at("oldest_plan_version").get<int>());
  CHECK(json.at("families") == nlohmann::json::array({"athread"}));
  CHECK(run_stowage({"--json", "--version"}).out == run_stowage({"--version", "--json"}).out);
  const ToolRun more = run_stowage({"--version", "x"});
  CHECK(more.code == 2);
  CHECK(more.err == "error: 'x' was not expected beside --version [usage]\nsee 'stowage --help'\n");
}

}  // namespace
}  // namespace stowage::test
