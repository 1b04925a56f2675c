// SPDX-License-Identifier: Apache-2.0
// plan.json and trace.json that were damaged by chance or on purpose: every command reads them or says what is wrong.
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>

#include <catch2/catch.hpp>

#include "driver/json/json.h"
#include "driver/page/report_page.h"
#include "driver/report/plan_reasons.h"
#include "tests/damaged_rounds.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// The longest wait for each command.
using Waits = std::map<std::string, std::chrono::duration<double>>;

/// What the command says is an answer, in time.
void check_answer(const std::vector<std::string>& arguments, Waits& waits) {
  const auto start = Clock::now();
  const ToolRun run = run_stowage(arguments);
  const Clock::duration took = Clock::now() - start;
  INFO(arguments.front() << ": " << run.code << "\n" << run.err);
  CHECK((run.code == 0 || run.code == 1));
  if (run.code == 1) CHECK(run.err.find("error: ") != std::string::npos);
  CHECK(took < longest_wait);
  auto& longest = waits[arguments.front()];
  longest = std::max(longest, std::chrono::duration<double>(took));
}

/// Every command that reads a folder and starts no other program. False: they refuse this one.
bool check_folder(const fs::path& folder, std::uint64_t seed, Waits& waits) {
  const auto start = Clock::now();
  Diagnostics diagnostics;
  const auto compilation = read_compilation(folder, diagnostics);
  INFO(format_diagnostics(diagnostics));
  CHECK(Clock::now() - start < longest_wait);
  CHECK(static_cast<bool>(compilation) != diagnostics.has_errors());
  const std::string name = folder.string();
  check_answer({"explain", name, "--steps"}, waits);
  check_answer({"report", name, "-o", "table.csv", "--table", "dma", "--force"}, waits);
  if (!compilation) return false;
  CHECK_FALSE(report_page(*compilation, {}).empty());
  const auto& operators = compilation->program.fused.graph.operators();
  const std::string& one = operators[seed % operators.size()].name;
  const std::string& other = operators[seed / operators.size() % operators.size()].name;
  check_answer({"explain", name, "--why-not", "query,key"}, waits);
  check_answer({"explain", name, "--why-not", one + "," + other, "--json"}, waits);
  check_answer({"explain", name, "--op", compilation->program.steps.front().group.name, "--json"}, waits);
  for (const char* view : {"fused", "graph", "strategy"}) {
    check_answer({"graph", name, "-o", "graph.dot", "--view", view, "--force"}, waits);
  }
  check_answer({"diff", "whole", name}, waits);
  check_answer({"diff", name, "whole", "--json"}, waits);
  return true;
}

/// Those that start Graphviz or the C compiler take longer by that.
void check_programs(const fs::path& folder, Waits& waits) {
  const std::string name = folder.string();
  check_answer({"graph", name, "-o", "graph.svg", "--force", "--layout-timeout", "1"}, waits);
  check_answer({"report", name, "-o", "page.html", "--force", "--layout-timeout", "1"}, waits);
  check_answer({"run", name, "--check"}, waits);
  check_answer({"run", name, "--changed-sources"}, waits);
  check_answer({"run", name, "--op", "softmax"}, waits);
}

// STOWAGE_PROGRAMS_EVERY says in how many rounds other programs are started once.
TEST_CASE("damaged plans and traces are diagnostics, never a crash", "[damaged]") {
  const Workplace here;
  const std::string planner = GENERATE(std::string("searched"), std::string("swtvm"));
  CAPTURE(planner);
  const DamagedFolder damaged("damaged", planner);
  fs::copy("damaged", "whole", fs::copy_options::recursive);
  const std::uint64_t programs_every = number_from("STOWAGE_PROGRAMS_EVERY", 75);
  Waits waits;
  std::uint64_t taken = 0;
  damage_by_chance(damaged, [&](std::uint64_t seed) {
    const bool is_taken = check_folder(damaged.path(), seed, waits);
    if ((is_taken ? taken++ : seed) % programs_every == 0) check_programs(damaged.path(), waits);
    return is_taken;
  });
  for (const auto& [command, longest] : waits) std::cout << command << ": " << longest.count() << " s at most\n";
}

TEST_CASE("an edited step of a plan is refused with its reason", "[damaged]") {
  const Workplace here;
  write_varied_plan("plan");
  using Json = nlohmann::ordered_json;
  const Json whole = Json::parse(read_text("plan/plan.json"));
  const auto said = [&](const std::function<void(Json&)>& edit) {
    Json damaged = whole;
    edit(damaged);
    write_text("plan/plan.json", damaged.dump(1));
    const ToolRun run = run_stowage({"explain", "plan"});
    CHECK(run.code == 1);
    CHECK(run.err.starts_with("plan/plan.json: error: "));
    CHECK(run.err.find("[damaged-plan]") != std::string::npos);
    return run.err;
  };
  const auto says = [&](const std::string& reason, const std::function<void(Json&)>& edit) {
    const std::string error = said(edit);
    INFO(error);
    CHECK(error.find(reason) != std::string::npos);
  };
  const auto index_of = [&](const std::function<bool(const Json&)>& wanted) {
    std::size_t at = 0;
    while (at < whole.at("steps").size() && !wanted(whole.at("steps")[at])) ++at;
    REQUIRE(at < whole.at("steps").size());
    return at;
  };
  const std::size_t branches = index_of([](const Json& step) { return step.contains("stacks"); });
  const std::size_t view = index_of([](const Json& step) { return step.at("template") == "view"; });
  const std::size_t last = whole.at("steps").size() - 1;
  const auto step = [](Json& file, std::size_t at) -> Json& { return file.at("steps")[at]; };

  says("there is no role 'anchr'", [&](Json& file) { step(file, branches)["roles"][0] = "anchr"; });
  says(" roles for ", [&](Json& file) { step(file, branches)["roles"].erase(0); });
  says("it has no operator", [&](Json& file) {
    step(file, last)["operators"] = Json::array();
    step(file, last)["roles"] = Json::array();
  });
  says("is held twice", [&](Json& file) {
    step(file, last)["operators"] = step(file, branches)["operators"];
    step(file, last)["roles"] = step(file, branches)["roles"];
  });
  says("its graph has no operator", [&](Json& file) { step(file, last)["operators"][0] = "nobody"; });
  says("its graph has no tensor", [&](Json& file) { step(file, last)["inputs"][0] = "nothing"; });
  says("its inputs are not what it reads", [&](Json& file) { step(file, last)["inputs"].erase(0); });
  says("its output is not its last operator's", [&](Json& file) { step(file, last)["output"] = "x"; });
  says("it has stacks and no branches", [&](Json& file) {
    for (Json& role : step(file, branches)["roles"]) role = role == "branch" ? "epilogue" : role.get<std::string>();
  });
  says("stack", [&](Json& file) { step(file, branches)["stacks"].erase(0); });
  says("group ",
       [&](Json& file) { std::swap(step(file, branches)["stacks"][0]["whole"], step(file, branches)["output"]); });
  says("stack", [&](Json& file) { step(file, branches)["stacks"][0]["axis"] = 0; });
  says("whole number", [&](Json& file) { step(file, branches)["stacks"][0]["axis"] = -1; });
  says("it is a view, and not marked as one", [&](Json& file) { step(file, view)["template"] = "single"; });
  says("it is marked as a view, and is none", [&](Json& file) { step(file, branches)["template"] = "view"; });
  says("has no schedule", [&](Json& file) { step(file, last).erase("schedule"); });
  says("before a group has written it", [&](Json& file) { std::swap(step(file, 0), step(file, last)); });
  says("no group holds", [&](Json& file) { file.at("steps").erase(last); });
  says("named after none", [&](Json& file) { step(file, last)["name"] = "someone"; });
  says("is not complete", [&](Json& file) { step(file, last)["schedule"].erase("order"); });
  says("there is no iterator", [&](Json& file) { step(file, last)["schedule"]["buffer"]["nothing"] = 1; });
  says("not those that are transferred", [&](Json& file) { step(file, last)["schedule"]["dma"]["nothing"] = ""; });
  says("and 4 are the most", [&](Json& file) { step(file, last)["schedule"]["slots"].front() = 5; });
  says("its transfers do not stand where the schedule says",
       [&](Json& file) { step(file, last)["schedule"]["slots"].front() = 2; });
  says("cannot be cut into", [&](Json& file) {
    for (Json& split : step(file, last)["schedule"]["parallel"]) split["parts"] = 4096;
  });
  says("it begins by a", [&](Json& file) {
    Json& launch = step(file, last)["schedule"]["launch"];
    launch = launch == "spawn" ? "barrier" : "spawn";
  });
  says("launch: neither spawn nor barrier", [&](Json& file) { step(file, last)["schedule"]["launch"] = "never"; });
  says("the loop nest of", [&](Json& file) { step(file, last)["nest"].push_back("barrier"); });
  says("its memory map differs", [&](Json& file) { file.at("memory").at("places")[0]["first_step"] = 3; });
  says("brackets stand in more than 64 others", [&](Json& file) {
    Json deep;
    for (int level = 0; level < 65; ++level) deep = Json::array({deep});
    file["deep"] = deep;
  });
}

TEST_CASE("weights that a kernel has packed come back as the graph has them, or the plan is damaged", "[damaged]") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "plan"}).code == 0);
  const Json whole = Json::parse(read_text("plan/plan.json"));
  const Json& rows = whole.at("memory").at("stage_constants");
  const auto is_packed = [](const Json& row) { return row.contains("packs"); };
  const auto found = std::find_if(rows.begin(), rows.end(), is_packed);
  REQUIRE(found != rows.end());
  const auto at = static_cast<std::size_t>(found - rows.begin());
  // Stored once, packed; reading compares its hash with that of the graph.
  CHECK_FALSE(whole.at("memory").at("values").contains(found->at("packs").get<std::string>()));
  CHECK(run_stowage({"explain", "plan"}).code == 0);
  const auto says = [&](const std::string& reason, const std::function<void(Json&)>& edit) {
    Json damaged = whole;
    edit(damaged.at("memory").at("stage_constants")[at]);
    write_text("plan/plan.json", damaged.dump(1));
    const ToolRun run = run_stowage({"explain", "plan"});
    CHECK(run.code == 1);
    INFO(run.err);
    CHECK(run.err.find(reason) != std::string::npos);
    CHECK(run.err.find("[damaged-plan]") != std::string::npos);
  };
  says("'nothing' is no constant of its graph", [](Json& row) { row["packs"] = "nothing"; });
  says("a packing has four numbers", [](Json& row) { row["packing"].erase(3); });
  says("cannot be packed by 3", [](Json& row) { row["packing"][3] = 3; });
  says("whole number", [](Json& row) { row["packing"][3] = 0; });
  says("are not those of the plan", [](Json& row) { row["packing"][3] = 2; });
  says("does not fit its shape", [](Json& row) { row["bytes"] = 8; });
  says("too few for the plan's parameters", [](Json& row) { row["offset"] = std::int64_t{1} << 40; });
}

TEST_CASE("two hundred kilobytes of brackets are refused at once", "[damaged]") {
  const Workplace here;
  write_varied_plan("plan");
  for (const std::string file : {"plan/plan.json", "plan/trace.json"}) {
    const std::string whole = read_text(file);
    write_text(file, "{\"format\": " + std::string(200'000, '['));
    const auto start = Clock::now();
    const ToolRun run = run_stowage({"explain", "plan"});
    INFO(run.err);
    CHECK(Clock::now() - start < std::chrono::seconds(5));
    CHECK(run.code == 1);
    CHECK(run.err.find(file + ": error: brackets stand in more than 64 others") == 0);
    write_text(file, whole);
  }
}

TEST_CASE("a loop that counts other tensors than those beside it is no candidate", "[damaged]") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "matmul", "-o", "matmul.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "matmul.onnx", "--planner", "swtvm", "--set", "target.cores.count=1", "-o", "plan"})
              .code == 0);
  Diagnostics diagnostics;
  const auto compilation = read_compilation("plan", diagnostics);
  REQUIRE(compilation);
  const Program& program = compilation->program;
  const std::vector<TraceRecord>& records = compilation->trace.records;
  int tried = 0;
  for (std::size_t at = 0; at < records.size(); ++at) {
    const auto* const whole = std::get_if<LoopTried>(&records[at].what);
    for (std::size_t c = 0; whole != nullptr && c < whole->counts.size(); ++c) {
      std::vector<TraceRecord> damaged = records;
      auto& counts = std::get<LoopTried>(damaged[at].what).counts;
      counts.erase(counts.begin() + static_cast<std::ptrdiff_t>(c));
      const PlanReasons reasons = reasons_of(*program.steps.front().plan(), program.target, damaged);
      for (const LoopRound& round : reasons.rounds) {
        for (const LoopCandidate& candidate : round.candidates) {
          CHECK(candidate.transfers.size() == round.tensors.size());
        }
      }
      ++tried;
    }
  }
  CHECK(tried > 10);
}

TEST_CASE("records that speak of other iterators or buffers than a plan has decide nothing", "[damaged]") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "matmul", "-o", "matmul.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "matmul.onnx", "--planner", "swtvm", "--set", "target.cores.count=1", "-o", "plan"})
              .code == 0);
  Diagnostics diagnostics;
  const auto compilation = read_compilation("plan", diagnostics);
  REQUIRE(compilation);
  const Program& program = compilation->program;
  const Plan& plan = *program.steps.front().plan();
  CHECK(reasons_of(plan, program.target, compilation->trace.records).rounds.size() == 2);
  const std::vector<GroupNames> others = {{{"x", "y"}, {"A", "B", "C"}}, {{"x", "y", "k"}, {"A", "B"}}, {}};
  for (const GroupNames& other : others) {
    std::vector<TraceRecord> damaged = compilation->trace.records;
    for (TraceRecord& record : damaged) {
      if (record.names != nullptr) record.names = std::make_shared<const GroupNames>(other);
    }
    CHECK(reasons_of(plan, program.target, damaged).rounds.empty());
  }
}

TEST_CASE("why branches that a trace calls outbid are not fused is answered without a plan of them", "[damaged]") {
  const Workplace here;
  write_varied_plan("plan");
  auto trace = nlohmann::ordered_json::parse(read_text("plan/trace.json"));
  int called = 0;
  for (auto& candidate : trace.at("fusion").at("candidates")) {
    if (candidate.at("fate") != "chosen" || candidate.at("operators").size() < 4) continue;
    candidate["fate"] = "outbid";
    ++called;
  }
  REQUIRE(called > 0);
  write_text("plan/trace.json", trace.dump());
  const ToolRun run = run_stowage({"explain", "plan", "--why-not", "query,key"});
  INFO(run.err);
  CHECK(run.code == 0);
}

using Json = nlohmann::ordered_json;

/// A trace that can be edited, and what is said of it then.
class EditedTrace {
 public:
  EditedTrace() {
    write_varied_plan("plan", "swtvm");
    whole_ = Json::parse(read_text("plan/trace.json"));
  }

  ToolRun explained(const std::function<void(Json&)>& edit) const {
    Json damaged = whole_;
    edit(damaged);
    write_text("plan/trace.json", damaged.dump());
    return run_stowage({"explain", "plan", "--steps"});
  }

  void is_refused(const std::string& reason, const std::function<void(Json&)>& edit) const {
    const ToolRun run = explained(edit);
    INFO(run.err);
    CHECK(run.code == 1);
    CHECK(run.err.starts_with("plan/trace.json: error: "));
    CHECK(run.err.find(reason) != std::string::npos);
    CHECK(run.err.find("[damaged-plan]") != std::string::npos);
  }

  /// The first event of a kind, for which `wanted` holds.
  static Json& event(Json& file, const std::string& kind, const std::function<bool(const Json&)>& wanted = nullptr) {
    for (Json& record : file.at("records")) {
      if (record.contains("same_as")) continue;
      Json& event = record.at("event");
      if (event.at("kind") == kind && (!wanted || wanted(event))) return event;
    }
    FAIL("no event is " << kind);
    return file;
  }

 private:
  Json whole_;
};

TEST_CASE("a trace with the largest numbers is read, and no larger ones", "[damaged]") {
  const Workplace here;
  const EditedTrace trace;
  const auto set_all = [](Json& file, const Json& number) {
    for (Json& record : file.at("records")) {
      if (record.contains("same_as")) continue;
      Json& event = record.at("event");
      if (event.at("kind") != "loop-tried") continue;
      event["operations"] = event["transfers"] = number;
      for (Json& count : event.at("counts")) count["count"] = number;
    }
  };
  const ToolRun run = trace.explained([&](Json& file) { set_all(file, max_cycles); });
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(run.out.find("1125899906842624 operations inside the group") != std::string::npos);
  CHECK(run_stowage({"report", "plan", "-o", "page.html", "--force", "--layout-timeout", "1"}).code == 0);
  trace.is_refused("a whole number", [&](Json& file) { set_all(file, max_cycles + 1); });
}

TEST_CASE("a trace whose numbers are none is refused", "[damaged]") {
  const Workplace here;
  const EditedTrace trace;
  const auto with_size = [](const Json& number) {
    return [number](Json& file) { EditedTrace::event(file, "size-tried").at("state").at("sizes")[0] = number; };
  };
  for (const char* number : {"\"many\"", "-1", "1e3", "1.5", "99999999999999999999", "null", "[1]", "{}"}) {
    INFO(number);
    trace.is_refused("stands where a whole number", with_size(Json::parse(number)));
  }
  trace.is_refused("a buffer size is 0", with_size(0));
  trace.is_refused("the buffer size of iterator ", with_size(1'000'000));
}

TEST_CASE("a trace whose typed fields do not fit each other is refused", "[damaged]") {
  const Workplace here;
  const EditedTrace trace;
  const auto event = [](Json& file, const char* kind) -> Json& { return EditedTrace::event(file, kind); };
  const auto group = [](Json& file) -> Json& { return file.at("groups")[0]; };
  // Kinds, fields and names.
  trace.is_refused("'sizes' is no kind of event", [&](Json& file) { event(file, "size-tried")["kind"] = "sizes"; });
  trace.is_refused("", [&](Json& file) { event(file, "size-tried").erase("room"); });
  trace.is_refused("is none of num, size, comp, whole",
                   [&](Json& file) { event(file, "sizes-chosen").at("state").at("classes")[0] = "large"; });
  trace.is_refused("is named twice", [&](Json& file) { file["groups"].push_back(group(file)); });
  trace.is_refused("has other iterators", [&](Json& file) { group(file)["iterators"][0] = "someone"; });
  // Numbers by iterator.
  trace.is_refused(" numbers for ", [&](Json& file) { event(file, "sizes-chosen").at("state")["sizes"].erase(0); });
  trace.is_refused(" numbers for ", [&](Json& file) { event(file, "sizes-chosen").at("state")["classes"].erase(0); });
  trace.is_refused(" numbers for ", [&](Json& file) { event(file, "cores-split")["ranges"].erase(0); });
  trace.is_refused("the range of iterator ", [&](Json& file) { event(file, "cores-split")["ranges"][0] = 1'000'000; });
  // Ids.
  trace.is_refused("a whole number from 0 to ", [&](Json& file) { event(file, "size-tried")["iterator"] = 99; });
  trace.is_refused("a whole number from 0 to ", [&](Json& file) { event(file, "transfer-placed")["buffer"] = 99; });
  trace.is_refused("a whole number from 0 to ",
                   [&](Json& file) { event(file, "loop-tried")["loop"]["iterator"] = -1; });
  trace.is_refused("stands for one of nothing", [&](Json& file) { file["groups"] = Json::array(); });
  // The split over the cores.
  const auto is_split = [](const Json& split) { return !split.at("split").empty(); };
  for (const std::int64_t parts : {std::int64_t{0}, std::int64_t{4096}, std::int64_t{1} << 40}) {
    trace.is_refused("the split of iterator ", [&](Json& file) {
      EditedTrace::event(file, "cores-split", is_split)["split"][0]["parts"] = parts;
    });
  }
}

}  // namespace
}  // namespace stowage::test
