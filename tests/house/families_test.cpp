// SPDX-License-Identifier: Apache-2.0
// What a family of targets has for itself stays with it. Athread's are the loop nest, the schedule, and what makes,
// plays and emits them; the driver outside of driver/athread may know them only where it is said here, and why.
#include <map>
#include <regex>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "tests/house/source_tree.h"

namespace stowage::test {
namespace {

/// Headers that declare Athread's types (dma_order.h declares an option of every family's simulation), and what shows
/// that a file knows types which come along with other headers.
const std::regex of_athread(R"(#include "(driver/athread|emitter/(athread|emulation)|lowering/program/plan_step)"
                            R"(|lowering/(check|ir|model|nest|search|simulate(?!/dma_order)|swtvm|verify))\b)"
                            R"(|\b(EmulationOptions|GroupModel|LoopNest|LostTo|Plan|Schedule)\b|(\.|->)plan\(\))");

/// The line without what stands in quotes, unless they name a header, and without its comment.
std::string code_of(const std::string& line) {
  if (line.starts_with("#include")) return line;
  static const std::regex quoted(R"("([^"\\]|\\.)*")");
  const std::string code = std::regex_replace(line, quoted, "");
  return code.substr(0, code.find("//"));
}

bool knows_athread(const SourceFile& file) {
  for (const std::string& line : file.lines) {
    if (std::regex_search(code_of(line), of_athread)) return true;
  }
  return false;
}

// Another family's plans have no ProgramStep::plan(): what shows it says so, or stays empty.
const std::string shows = "shows Athread's plans, which ProgramStep::plan() gives: others it leaves out";
const std::string plays = "takes loop nests as text from the user or shows them: a command for Athread's nests alone";
const std::string limits = "shows Athread's losses to the limit, which totals_of() sums over what has them";

/// Each file outside of driver/athread that knows Athread's types, and why it may. A family that is to do the same
/// needs it behind Backend or StepPlan first.
const std::map<std::string, std::string> exceptions = {
    {"driver/checking/checked_nests.cpp", plays},
    {"driver/checking/checked_nests.h", plays},
    {"driver/diff/form_changes.cpp", shows},
    {"driver/diff/form_changes.h", shows},
    {"driver/diff/plan_diff.cpp", shows},
    {"driver/diff/plan_diff.h", shows},
    {"driver/drawing/buffer_states.cpp", shows},
    {"driver/drawing/buffer_states.h", shows},
    {"driver/drawing/cost_bars.cpp", limits},
    {"driver/drawing/cost_bars.h", shows},
    {"driver/drawing/ldm_map.cpp", shows},
    {"driver/drawing/ldm_map.h", shows},
    {"driver/drawing/program_timeline.h", shows},
    {"driver/drawing/roofline.cpp", shows},
    {"driver/drawing/timeline_chart.cpp", shows},
    {"driver/drawing/timeline_chart.h", shows},
    {"driver/drawing/timeline_rows.h", shows},
    {"driver/exercises/exercises.cpp", plays},
    {"driver/exercises/exercises.h", plays},
    {"driver/families/built_in_backends.cpp", "lists the families"},
    {"driver/json/certificate_json.cpp", "compile --json prints what planner optimal has proved"},
    {"driver/json/certificate_json.h", "compile --json prints what planner optimal has proved"},
    {"driver/json/json.cpp", limits},
    {"driver/page/group_section.cpp", shows},
    {"driver/page/report_page.cpp", shows},
    {"driver/report/iterations.cpp", shows},
    {"driver/report/iterations.h", shows},
    {"driver/report/model_buffers.cpp", shows},
    {"driver/report/model_buffers.h", shows},
    {"driver/report/nest_outline.cpp", shows},
    {"driver/report/nest_outline.h", shows},
    {"driver/report/nest_rows.cpp", shows},
    {"driver/report/nest_rows.h", shows},
    {"driver/report/plan_decisions.cpp", shows},
    {"driver/report/plan_decisions.h", shows},
    {"driver/report/plan_reasons.cpp", shows},
    {"driver/report/plan_reasons.h", shows},
    {"driver/report/plan_tables.cpp", shows},
    {"driver/report/report.cpp", shows},
    {"driver/store/pass_dump.cpp", plays},
    {"driver/store/trace_file.cpp", "a record's iterators must be those of the fused operator's nest"},
    {"driver/tool/command_table.cpp", plays},
    {"driver/tool/pass_command.cpp", plays},
    {"driver/tool/report_command.cpp", shows},
    {"driver/training/training.h", "a learned evaluator is trained on plans of Athread's planners"},
};

TEST_CASE("the driver knows Athread's types only where it is said why", "[house]") {
  std::set<std::string> known;
  int checked = 0;
  for (const SourceFile& file : source_tree()) {
    if (!file.is_cpp() || !file.path.starts_with("driver/") || file.path.starts_with("driver/athread/")) continue;
    ++checked;
    if (!knows_athread(file)) continue;
    known.insert(file.path);
    INFO(file.path << " knows Athread's types: that belongs into driver/athread, or needs its reason here");
    CHECK(exceptions.contains(file.path));
  }
  CHECK(checked > 150);
  for (const auto& [path, reason] : exceptions) {
    INFO(path << " knows Athread's types no more: its line goes");
    CHECK(known.contains(path));
  }
}

TEST_CASE("no family needs another one's types to be a backend", "[house]") {
  int checked = 0;
  for (const SourceFile& file : source_tree()) {
    if (!file.is_cpp() || !file.path.starts_with("tests/backend/bank_")) continue;
    ++checked;
    INFO(file.path);
    CHECK_FALSE(knows_athread(file));
  }
  CHECK(checked >= 4);
}

}  // namespace
}  // namespace stowage::test
