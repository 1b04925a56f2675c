// SPDX-License-Identifier: Apache-2.0
// What a family of targets has for itself stays with it. Athread's are the loop nest, the schedule, and what makes,
// plays and emits them; the driver outside of driver/athread, and the inspector, may know them only where it is said
// here, and why.
#include <algorithm>
#include <cstddef>
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
const std::string athread_types = R"(#include "(driver/athread|emitter/(athread|emulation)|lowering/program/plan_step)"
                                  R"(|lowering/(check|ir|model|nest|search|simulate(?!/dma_order)|swtvm|verify))\b)"
                                  R"(|\b(EmulationOptions|GroupModel|LoopNest|LostTo|Plan|Schedule)\b)";
const std::regex of_athread(athread_types + R"(|(\.|->)plan\(\))");
/// In the inspector plan() is the network that is open, of whatever family, and a step's own plan StepFacts::plan.
const std::regex of_athread_in_inspector(athread_types +
                                         R"(|\bplan->(nest|schedule|counts|time)\b|steps\[[^\]]*\]\.plan\(\))");

/// The line without what stands in quotes, unless they name a header, and without its comment.
std::string code_of(const std::string& line) {
  if (line.starts_with("#include")) return line;
  static const std::regex quoted(R"("([^"\\]|\\.)*")");
  const std::string code = std::regex_replace(line, quoted, "");
  return code.substr(0, code.find("//"));
}

/// Lines of a file that know them.
std::ptrdiff_t uses_of_athread(const SourceFile& file, const std::regex& shown_by = of_athread) {
  return std::count_if(file.lines.begin(), file.lines.end(),
                       [&](const std::string& line) { return std::regex_search(code_of(line), shown_by); });
}

// Another family's plans have no ProgramStep::plan(): what shows it says so, or stays empty.
const std::string shows = "shows Athread's plans, which ProgramStep::plan() gives: others it leaves out";
const std::string plays = "takes loop nests as text from the user or shows them: a command for Athread's nests alone";
const std::string limits = "shows Athread's losses to the limit, which totals_of() sums over what has them";

struct Exception {
  std::ptrdiff_t lines = 0;  ///< that know Athread's types, so that a new one is seen
  std::string reason;
};

/// Each file outside of driver/athread that knows Athread's types, in how many lines, and why it may. A family that is
/// to do the same needs it behind Backend or StepPlan first.
const std::map<std::string, Exception> exceptions = {
    {"driver/checking/checked_nests.cpp", {4, plays}},
    {"driver/checking/checked_nests.h", {4, plays}},
    {"driver/diff/form_changes.cpp", {1, shows}},
    {"driver/diff/form_changes.h", {2, shows}},
    {"driver/diff/plan_diff.cpp", {16, shows}},
    {"driver/diff/plan_diff.h", {1, shows}},
    {"driver/drawing/buffer_states.cpp", {3, shows}},
    {"driver/drawing/buffer_states.h", {3, shows}},
    {"driver/drawing/cost_bars.cpp", {17, limits}},
    {"driver/drawing/cost_bars.h", {1, shows}},
    {"driver/drawing/ldm_map.cpp", {4, shows}},
    {"driver/drawing/ldm_map.h", {1, shows}},
    {"driver/drawing/program_timeline.h", {1, shows}},
    {"driver/drawing/roofline.cpp", {1, shows}},
    {"driver/drawing/timeline_chart.cpp", {2, shows}},
    {"driver/drawing/timeline_chart.h", {1, shows}},
    {"driver/drawing/timeline_rows.cpp", {1, shows}},
    {"driver/drawing/timeline_rows.h", {2, shows}},
    {"driver/exercises/exercises.cpp", {1, plays}},
    {"driver/exercises/exercises.h", {1, plays}},
    {"driver/families/built_in_backends.cpp", {1, "lists the families"}},
    {"driver/json/certificate_json.cpp", {1, "compile --json prints what planner optimal has proved"}},
    {"driver/json/certificate_json.h", {1, "compile --json prints what planner optimal has proved"}},
    {"driver/json/json.cpp", {9, limits}},
    {"driver/page/group_section.cpp", {10, shows}},
    {"driver/page/report_page.cpp", {3, shows}},
    {"driver/report/iterations.cpp", {6, shows}},
    {"driver/report/iterations.h", {6, shows}},
    {"driver/report/model_buffers.cpp", {3, shows}},
    {"driver/report/model_buffers.h", {5, shows}},
    {"driver/report/nest_outline.cpp", {5, shows}},
    {"driver/report/nest_outline.h", {6, shows}},
    {"driver/report/nest_rows.cpp", {5, shows}},
    {"driver/report/nest_rows.h", {3, shows}},
    {"driver/report/plan_decisions.cpp", {4, shows}},
    {"driver/report/plan_decisions.h", {3, shows}},
    {"driver/report/plan_reasons.cpp", {9, shows}},
    {"driver/report/plan_reasons.h", {2, shows}},
    {"driver/report/plan_tables.cpp", {7, shows}},
    {"driver/report/report.cpp", {15, shows}},
    {"driver/store/pass_dump.cpp", {3, plays}},
    {"driver/store/trace_file.cpp", {2, "a record's iterators must be those of the fused operator's nest"}},
    {"driver/tool/command_table.cpp", {1, plays}},
    {"driver/tool/pass_command.cpp", {8, plays}},
    {"driver/tool/report_command.cpp", {1, shows}},
    {"driver/training/training.h", {1, "a learned evaluator is trained on plans of Athread's planners"}},
};

/// Files and folders (with a slash at the end) of the inspector that know them. Whoever opens a folder of another
/// family finds the panes of these empty, and the others full.
const std::map<std::string, std::string> inspector_exceptions = {
    {"inspector/check/", "faults of loop nests"},
    {"inspector/code/", "the loop nest beside the emitted C"},
    {"inspector/compare/compare_tables.cpp", "two loop nests, line beside line"},
    {"inspector/graph/graph_colours.cpp", "groups by what their loop nests' cycles go into"},
    {"inspector/graph/plan_graph.cpp", "what of the LDM a group takes"},
    {"inspector/ldm/", "what lies in the LDM, iteration by iteration"},
    {"inspector/panes/check_pane.cpp", "faults of loop nests"},
    {"inspector/panes/loops_pane.cpp", "the loop nest"},
    {"inspector/panes/timeline_pane.cpp", "simulated loop nests"},
    {"inspector/replay/", "how swTVM's algorithms and the search came to a loop nest"},
    {"inspector/state/loaded_plan.cpp", "a step's statements, where it has a loop nest"},
    {"inspector/state/loaded_plan.h", "a step's statements, where it has a loop nest"},
    {"inspector/state/planned_group.cpp", "a group planned anew for what if and replay"},
    {"inspector/state/planned_group.h", "a group planned anew for what if and replay"},
    {"inspector/state/time_cursor.h", "where a core of a simulated loop nest is"},
    {"inspector/timeline/", "simulated loop nests"},
    {"inspector/whatif/", "schedules as a person edits them"},
};

/// The exception that a file of the inspector falls under; "" for none.
std::string exception_of(const std::string& path) {
  for (const auto& [exception, reason] : inspector_exceptions) {
    if (path == exception || (exception.ends_with('/') && path.starts_with(exception))) return exception;
  }
  return "";
}

TEST_CASE("the driver knows Athread's types only where it is said why", "[house]") {
  std::set<std::string> known;
  int checked = 0;
  for (const SourceFile& file : source_tree()) {
    if (!file.is_cpp() || !file.path.starts_with("driver/") || file.path.starts_with("driver/athread/")) continue;
    ++checked;
    const std::ptrdiff_t lines = uses_of_athread(file);
    if (lines == 0) continue;
    known.insert(file.path);
    INFO(file.path
         << " knows Athread's types in " << lines
         << " lines: new ones belong into driver/athread, or need a reason here; of fewer the number goes down");
    const auto listed = exceptions.find(file.path);
    CHECK((listed != exceptions.end() && listed->second.lines == lines));
  }
  CHECK(checked > 150);
  for (const auto& [path, exception] : exceptions) {
    INFO(path << " knows Athread's types no more: its line goes");
    CHECK(known.contains(path));
  }
}

TEST_CASE("the inspector knows Athread's types only where it is said why", "[house]") {
  std::set<std::string> needed;
  int checked = 0;
  for (const SourceFile& file : source_tree()) {
    if (!file.is_cpp() || !file.path.starts_with("inspector/")) continue;
    ++checked;
    if (uses_of_athread(file, of_athread_in_inspector) == 0) continue;
    const std::string exception = exception_of(file.path);
    INFO(file.path << " knows Athread's types: ask Backend or StepPlan instead, or say why here");
    CHECK_FALSE(exception.empty());
    needed.insert(exception);
  }
  CHECK(checked > 150);
  for (const auto& [exception, reason] : inspector_exceptions) {
    INFO(exception << " knows Athread's types no more: its line goes");
    CHECK(needed.contains(exception));
  }
}

TEST_CASE("no family needs another one's types to be a backend", "[house]") {
  int checked = 0;
  for (const SourceFile& file : source_tree()) {
    if (!file.is_cpp() || !file.path.starts_with("tests/backend/bank_")) continue;
    ++checked;
    INFO(file.path);
    CHECK(uses_of_athread(file) == 0);
  }
  CHECK(checked == 3);
}

}  // namespace
}  // namespace stowage::test
