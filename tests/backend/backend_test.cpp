// SPDX-License-Identifier: Apache-2.0
// Two families of targets behind one session and one set of commands: Athread, and an invented one (bank_machine.h).
#include <map>
#include <sstream>

#include <catch2/catch.hpp>

#include "driver/run/check_run.h"
#include "driver/run/inputs.h"
#include "driver/session/session.h"
#include "driver/store/plan_file.h"
#include "driver/tool/commands.h"
#include "tests/backend/bank_machine.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

ToolRun run_both(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  Interrupt interrupt;
  ToolContext context{.out = out, .err = err, .interrupt = interrupt, .program = {}};
  context.backends = all_backends();
  const int code = run_tool(arguments, context);
  return {code, out.str(), err.str()};
}

/// LeNet as a model and the invented target, in the current folder.
void write_lenet(const std::string& target = bank16) {
  REQUIRE(run_both({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  write_text("bank16.toml", target);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string replaced(std::string text, const std::string& part, const std::string& with) {
  const auto at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), with);
}

CompileRequest lenet_request() {
  CompileRequest request;
  request.model = "lenet.onnx";
  request.target = "bank16.toml";
  request.backends = all_backends();
  return request;
}

TEST_CASE("another family compiles, explains and checks LeNet by the same commands", "[backend]") {
  const Workplace here;
  write_lenet();
  const ToolRun compiled = run_both({"compile", "lenet.onnx", "--target", "bank16.toml", "-o", "lenet"});
  INFO(compiled.err << compiled.out);
  REQUIRE(compiled.code == 0);
  CHECK(has(compiled.out, "exact, tiles"));
  CHECK(has(compiled.out, "| SRAM peak"));
  CHECK(has(compiled.out, "of 65 536"));
  CHECK_FALSE(has(compiled.out, "LDM"));
  CHECK(has(read_text("lenet/src/kernel_0.asm"), "\nstore "));
  CHECK(has(read_text("lenet/plan.json"), "\"family = 'bank-machine'\""));

  const ToolRun explained = run_both({"explain", "lenet", "--op", "ip1"});
  INFO(explained.err << explained.out);
  CHECK(explained.code == 0);
  CHECK(has(explained.out, "- SRAM: "));
  CHECK(has(explained.out, "loop 1 0 "));

  const ToolRun checked = run_both({"run", "lenet", "--check"});
  INFO(checked.err << checked.out);
  CHECK(checked.code == 0);
  CHECK(has(checked.out, "1 output agree with the reference"));
  CHECK(has(checked.out, "bytes, barriers and SRAM peaks equal the emulated ones"));
  CHECK(has(checked.out, "(the reference ran the model as it was read)"));

  CHECK(run_both({"run", "lenet", "--check", "--op", "ip2"}).code == 0);

  const ToolRun simulated = run_both({"simulate", "lenet"});
  CHECK(simulated.code == 1);
  CHECK(simulated.err ==
        "error: family 'bank-machine' has no simulator [no-simulator]\n"
        "  help: `stowage explain` tells the time that its planner predicts\n");
}

TEST_CASE("a target of another family has nothing of Athread's machines", "[backend]") {
  const Workplace here;
  write_lenet();
  Diagnostics diagnostics;
  const auto target = load_target("bank16.toml", {}, diagnostics, families_of(all_backends()));
  REQUIRE(target);
  CHECK(target->ldm.bytes == 0);
  CHECK(target->ldm.available() == 0);
  CHECK(target->cores.count == 0);
  CHECK(target->cores.mesh_rows * target->cores.mesh_columns == 0);
  CHECK(target->cores.vector_lanes == 1);
  CHECK(target->cores.vector_flops_per_cycle.of(ElementType::f32) == 0);
  CHECK(target->dma.good_block_bytes == 0);
  CHECK(target->dma.bandwidth.empty());
  CHECK(target->main_memory.line_bytes == 8);  // the largest element
  CHECK(target->own.at("sram_banks") == 16);
}

TEST_CASE("nothing that is told of another family's plan is of Athread's machines", "[backend]") {
  const Workplace here;
  write_lenet();
  // 96 KiB, which is the size of nothing that Athread has.
  const ToolRun compiled =
      run_both({"compile", "lenet.onnx", "--target", "bank16.toml", "--set", "target.sram_banks=24", "-o", "lenet"});
  REQUIRE(compiled.code == 0);
  const ToolRun explained = run_both({"explain", "lenet"});
  const ToolRun of_target = run_both({"targets", "bank16.toml"});
  REQUIRE(run_both({"report", "lenet", "-o", "groups.csv", "--table", "groups"}).code == 0);
  const std::string shown =
      compiled.out + explained.out + of_target.out + read_text("lenet/report.md") + read_text("groups.csv");
  INFO(shown);
  CHECK(has(shown, "of 98 304"));
  CHECK(has(shown, "SRAM"));
  for (const char* part : {"LDM", "Athread", "athread", "SW26010", "65 536", "65536", "59 392", "59392", "64 cores",
                           "Gflop/s", "GB/s", "physical limit"}) {
    INFO(part);
    CHECK_FALSE(has(shown, part));
  }
}

TEST_CASE("Athread compiles beside another family as it does alone", "[backend]") {
  const Workplace here;
  write_lenet();
  REQUIRE(run_both({"compile", "lenet.onnx", "-o", "beside"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "alone"}).code == 0);
  CHECK(files_below("beside") == files_below("alone"));
}

TEST_CASE("what a compilation is compared with is known to its family", "[backend]") {
  const Workplace here;
  write_lenet();
  Diagnostics diagnostics;
  const auto banks = load_target("bank16.toml", {}, diagnostics, families_of(all_backends()));
  const auto sunway = load_target("sw26010", {"cores.count=4"}, diagnostics);
  REQUIRE((banks && sunway));
  const auto alternatives_of = [](const std::string& planner, const Target& target, EvaluatedBy by) {
    std::vector<std::string> titles;
    for (const Alternative& alternative :
         find_backend(all_backends(), target.family)->alternatives({planner, target, "exact", by})) {
      titles.push_back(alternative.title + (alternative.if_faster ? ", if faster" : ""));
      CHECK(has(alternative.meaning, "planner swtvm") != has(alternative.meaning, "Planner swtvm"));
    }
    return titles;
  };
  using Titles = std::vector<std::string>;
  CHECK(alternatives_of("tiles", *banks, EvaluatedBy::closed_form).empty());
  CHECK(alternatives_of("searched", *sunway, EvaluatedBy::closed_form) == Titles{"by planner swtvm"});
  CHECK(alternatives_of("searched", *sunway, EvaluatedBy::learned) == Titles{"by planner swtvm"});
  CHECK(alternatives_of("swtvm", *sunway, EvaluatedBy::simulation) ==
        Titles{"on 2 of 4 cores, if faster", "on 1 of 4 cores, if faster"});
  CHECK(alternatives_of("swtvm", *sunway, EvaluatedBy::learned).empty());
}

TEST_CASE("what another family computes comes from the instructions that it emitted", "[backend]") {
  const Workplace here;
  write_lenet();
  Diagnostics diagnostics;
  auto compilation = compile(lenet_request(), diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(compilation);
  const auto inputs = network_inputs(compilation->program.fused.graph, {}, 0, diagnostics);
  REQUIRE(inputs);
  const auto check_of = [&](const std::string& part, const std::string& with) {
    Compilation changed = *compilation;
    std::string& text = changed.emitted.files.front().text;
    text = replaced(text, part, with);
    return run_and_check(changed, inputs->values, {}, diagnostics);
  };
  const auto as_emitted = check_of("\n+\nend\n", "\n+\nend\n");
  REQUIRE(as_emitted);
  CHECK(as_emitted->agrees());
  CHECK(as_emitted->groups.size() == compilation->program.steps.size());

  const auto most = check_of("\n+\nend\n", "\nmax\nend\n");
  REQUIRE(most);
  CHECK(most->counts.empty());
  REQUIRE(most->first_difference() != nullptr);
  CHECK(most->first_difference()->name == compilation->program.steps.front().group.name);

  const auto twice = check_of("\nnumber 0\n", "\nload 0 0 15 1 1\nnumber 0\n");
  REQUIRE(twice);
  CHECK_FALSE(twice->counts.empty());

  CHECK_FALSE(check_of("\n+\nend\n", "\nsubtract\nend\n"));
  CHECK(has(format_diagnostics(diagnostics), "no instruction 'subtract' [emulation-failed]"));
}

TEST_CASE("the memory of another family decides what may be fused", "[backend]") {
  const Workplace here;
  write_lenet();
  const auto compiled = [&](const std::string& banks) {
    return run_both(
        {"compile", "lenet.onnx", "--target", "bank16.toml", "--set", "target.sram_banks=" + banks, "-o", "b" + banks});
  };
  REQUIRE(compiled("64").code == 0);
  REQUIRE(compiled("12").code == 0);
  Diagnostics diagnostics;
  const auto large = read_compilation("b64", diagnostics, {}, all_backends());
  const auto small = read_compilation("b12", diagnostics, {}, all_backends());
  INFO(format_diagnostics(diagnostics));
  REQUIRE(large);
  REQUIRE(small);
  CHECK(large->program.steps.size() < small->program.steps.size());
  const bool by_banks = std::any_of(
      small->fusion.candidates.begin(), small->fusion.candidates.end(), [](const CandidateRecord& candidate) {
        return std::any_of(candidate.refusals.begin(), candidate.refusals.end(),
                           [](const Decision& refusal) { return refusal.rule == "sram-capacity"; });
      });
  CHECK(by_banks);

  const ToolRun refused = compiled("2");
  CHECK(refused.code == 1);
  CHECK(has(refused.err, "banks, has 2 [sram-capacity]"));
}

TEST_CASE("a folder of another family is read back as it was written", "[backend]") {
  const Workplace here;
  write_lenet();
  REQUIRE(run_both({"compile", "lenet.onnx", "--target", "bank16.toml", "-o", "lenet"}).code == 0);
  Diagnostics diagnostics;
  const auto read = read_compilation("lenet", diagnostics, {}, all_backends());
  INFO(format_diagnostics(diagnostics));
  REQUIRE(read);
  CHECK(read->changed_sources.empty());
  REQUIRE(write_compilation(*read, "again", false, diagnostics));
  CHECK(files_below("again") == files_below("lenet"));

  SECTION("but not where the family is missing") {
    const ToolRun run = run_stowage({"explain", "lenet"});
    CHECK(run.code == 1);
    CHECK(has(run.err, "no family of targets 'bank-machine' [unknown-family]"));
    CHECK(has(run.err, "[damaged-plan]"));
  }
  SECTION("nor where an instruction is another") {
    write_text("lenet/plan.json", replaced(read_text("lenet/plan.json"), "\"+\"", "\"max\""));
    const ToolRun run = run_both({"explain", "lenet"});
    CHECK(run.code == 1);
    CHECK(has(run.err, "is not what this version plans [damaged-plan]"));
  }
}

TEST_CASE("an unknown family of targets is told with its place and what there is", "[backend]") {
  const Workplace here;
  write_lenet(replaced(bank16, "bank-machine", "bank-machin"));
  const ToolRun run = run_both({"compile", "lenet.onnx", "--target", "bank16.toml"});
  CHECK(run.code == 1);
  CHECK(has(run.err, "bank16.toml:3:"));
  CHECK(has(run.err, "no family of targets 'bank-machin' [unknown-family]"));
  CHECK(has(run.err, "did you mean 'bank-machine'?"));
}

TEST_CASE("keys of another family are read, set, printed and missed like any", "[backend]") {
  const Workplace here;
  write_lenet();
  const std::vector<std::string> print = {"compile", "lenet.onnx", "--target", "bank16.toml", "--print-config"};
  std::vector<std::string> with_eight = print;
  with_eight.insert(with_eight.end(), {"--set", "target.sram_banks=8"});
  const ToolRun printed = run_both(with_eight);
  CHECK(printed.code == 0);
  CHECK(has(printed.out, "planner = tiles"));
  CHECK(has(printed.out, "family = 'bank-machine'\n"));
  CHECK(has(printed.out, "sram_banks = 8\n"));
  CHECK_FALSE(has(printed.out, "ldm_bytes"));

  write_text("bank16.toml", printed.out);
  const ToolRun again = run_both(print);
  CHECK(again.out.substr(again.out.find("name =")) == printed.out.substr(printed.out.find("name =")));

  write_text("bank16.toml", replaced(bank16, "sram_banks = 16", "sram_banks = 2.5"));
  const ToolRun part = run_both(print);
  CHECK(part.code == 1);
  CHECK(has(part.err, "'sram_banks' is a number, an integer was wanted [wrong-type]"));

  write_text("bank16.toml", replaced(bank16, "sram_banks = 16", "ldm_bytes = 16"));
  const ToolRun wrong = run_both(print);
  CHECK(has(wrong.err, "[unknown-key]"));
  CHECK(has(wrong.err, "[missing-key]"));
}

TEST_CASE("planners and schedules are those of the target's family", "[backend]") {
  const Workplace here;
  write_lenet();
  const ToolRun planner = run_both({"compile", "lenet.onnx", "--target", "bank16.toml", "--planner", "swtvm"});
  CHECK(planner.code == 2);
  CHECK(has(planner.err, "no planner 'swtvm' [unknown-planner]"));
  CHECK(run_both({"compile", "lenet.onnx", "--planner", "tiles"}).code == 2);

  write_text("fixed.toml", "[schedule.\"ip1\"]\nbuffer = { y = 1 }\n");
  const ToolRun fixed = run_both({"compile", "lenet.onnx", "--target", "bank16.toml", "--schedule", "fixed.toml"});
  CHECK(fixed.code == 1);
  CHECK(has(fixed.err, "unknown key 'schedule.ip1.buffer' [unknown-key]"));
  CHECK(has(fixed.err, "'schedule.ip1.banks' is missing"));

  write_text("fixed.toml", "[schedule.\"ip\"]\nbanks = 8\n");
  const ToolRun unknown = run_both({"compile", "lenet.onnx", "--target", "bank16.toml", "--schedule", "fixed.toml"});
  CHECK(unknown.code == 1);
  CHECK(has(unknown.err, "fixed.toml:1"));
  CHECK(has(unknown.err, "no fused operator 'ip' [unknown-fused-operator]"));

  // One of its own, which goes all the way: planned, stored and read back.
  const auto banks_of = [](const std::string& folder) {
    Diagnostics diagnostics;
    const auto compilation = read_compilation(folder, diagnostics, {}, all_backends());
    INFO(format_diagnostics(diagnostics));
    REQUIRE(compilation);
    std::map<std::string, std::int64_t> banks;
    for (const ProgramStep& step : compilation->program.steps) {
      if (step.step_plan() == nullptr) continue;
      banks[step.group.name] = step.step_plan()->scratchpad(compilation->program.target).peak_bytes / 4096;
    }
    return banks;
  };
  REQUIRE(run_both({"compile", "lenet.onnx", "--target", "bank16.toml", "-o", "free"}).code == 0);
  auto free = banks_of("free");
  REQUIRE(free.at("ip1") > 8);
  write_text("fixed.toml", "[schedule.\"ip1\"]\nbanks = 8\n");
  REQUIRE(
      run_both({"compile", "lenet.onnx", "--target", "bank16.toml", "--schedule", "fixed.toml", "-o", "eight"}).code ==
      0);
  auto eight = banks_of("eight");
  CHECK(eight.at("ip1") <= 8);
  free.erase("ip1");
  eight.erase("ip1");
  CHECK(eight == free);
  CHECK(run_both({"run", "eight", "--check"}).code == 0);
}

}  // namespace
}  // namespace stowage::test
