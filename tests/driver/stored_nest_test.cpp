// SPDX-License-Identifier: Apache-2.0
// Loop nests of plan.json whose text was edited: another nest of the same operators is read and shown, anything else is
// refused with its reason.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "driver/json/json.h"
#include "driver/store/plan_json.h"
#include "tests/driver/equal_products.h"
#include "tests/driver/tool_runner.h"
#include "tests/mutated_plan.h"

namespace stowage::test {
namespace {

/// The varied plan for a small LDM, where loops have trips.
class EditedNest {
 public:
  EditedNest() {
    write_varied_plan("plan", "swtvm");
    whole_ = read_text("plan/plan.json");
  }
  /// Of the plan that is there.
  explicit EditedNest(std::string whole) : whole_(std::move(whole)) {}

  using Edits = std::vector<std::pair<std::string, std::string>>;

  /// Writes the plan with another text of a nest.
  void write(const std::string& name, const std::function<std::string(std::string, Json& step)>& edit) const {
    Json plan = Json::parse(whole_);
    for (Json& step : plan.at("steps")) {
      if (step.at("name") != name) continue;
      std::string text;
      for (const Json& line : step.at("nest")) text += line.get<std::string>() + "\n";
      text = edit(std::move(text), step);
      step.at("nest") = Json::array();
      for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = text.find('\n', from);
        step.at("nest").push_back(text.substr(from, end - from));
        from = end + 1;
      }
    }
    write_text("plan/plan.json", plan.dump(1));
  }

  /// What `explain` says after texts were replaced in a nest, wherever they stand there.
  [[nodiscard]] ToolRun explained(const std::string& name, const Edits& edits, bool rename_in_schedule = false) const {
    write(name, [&](std::string text, Json& step) {
      for (const auto& [before, after] : edits) replace_all(text, before, after);
      if (rename_in_schedule) {
        std::string schedule = step.at("schedule").dump();
        for (const auto& [before, after] : edits) replace_all(schedule, before, after);
        step.at("schedule") = Json::parse(schedule);
      }
      return text;
    });
    return run_stowage({"explain", "plan"});
  }

  void taken(const std::string& name, const Edits& edits, bool rename_in_schedule = false) const {
    const ToolRun run = explained(name, edits, rename_in_schedule);
    INFO(edits.front().first << " -> " << edits.front().second << "\n" << run.err);
    CHECK(run.code == 0);
  }

  void refused(const std::string& name, const std::string& reason, const Edits& edits) const {
    const ToolRun run = explained(name, edits);
    INFO(edits.front().first << " -> " << edits.front().second << "\n" << run.err);
    CHECK(run.code == 1);
    CHECK(run.err.starts_with("plan/plan.json: error: the loop nest of '" + name + "'"));
    CHECK(run.err.find(reason) != std::string::npos);
    CHECK(run.err.find("[damaged-plan]\n  help: compile the model again") != std::string::npos);
  }

 private:
  static void replace_all(std::string& text, const std::string& before, const std::string& after) {
    INFO(before);
    auto at = text.find(before);
    REQUIRE(at != std::string::npos);
    for (; at != std::string::npos; at = text.find(before, at + after.size())) text.replace(at, before.size(), after);
  }

  std::string whole_;
};

TEST_CASE("a nest with other notes and names is the plan's nest", "[damaged]") {
  const Workplace here;
  const EditedNest nest;
  nest.taken("mix", {{"  // initialisation of mix_out", ""}});
  nest.taken("mix", {{"mix_out", "total"}});
  nest.taken("query", {{"query_w_stack", "weights"}}, /*rename_in_schedule=*/true);
  nest.taken("mix", {{"ldm 2016 bytes", "ldm 2048 bytes"}});
  const ToolRun noted = nest.explained("mix", {{"  // initialisation of mix_out", "  // here the sum begins"}});
  CHECK(noted.code == 0);
  const ToolRun shown = run_stowage({"explain", "plan", "--op", "mix"});
  INFO(shown.err);
  CHECK(shown.out.find("here the sum begins") != std::string::npos);
  // It is another plan, whose sources are not those in the folder.
  const ToolRun run = run_stowage({"run", "plan"});
  CHECK(run.code == 1);
  CHECK(run.err.find("[source-changed]") != std::string::npos);
  const ToolRun changed = run_stowage({"run", "plan", "--check", "--op", "mix"});
  INFO(changed.err);
  CHECK(changed.code == 0);
}

TEST_CASE("a nest that computes something else is refused", "[damaged]") {
  const Workplace here;
  const EditedNest nest;
  nest.refused("softmax", "it computes something else", {{"exp(", "log("}});
  nest.refused("mix", "join_out is another tensor of the graph", {{"source 10", "source 12"}});
  nest.refused("mix", "bias_b has another value", {{"[-3, -2", "[-3, -1"}});
  nest.refused("mix", "the value given for 'mix_w' is not the one meant", {{"71da2ed0ff5a791a", "71da2ed0ff5a791b"}});
  nest.refused("mix", "tensors in memory", {{"bias_out strides [8, 1]", "bias_out strides [16, 1]"}});
  nest.refused("query", "sum-complete", {{"for ko < 2 of k", "for ko < 1 of k"}});
  nest.refused("mix", "sum-starts-once", {{"fill mix_out_ldm with 0", "fill mix_out_ldm with 1"}});
  nest.refused("mix", "it is called mixture", {{"nest mix", "nest mixture"}});
  nest.refused("mix", "\"sum of it\" is no identifier",
               {{"mix_out f32[8,8]", "\"sum of it\" f32[8,8]"},
                {"    mix_out[", "    \"sum of it\"["},
                {"#0 = mix_out[", "#0 = \"sum of it\"["},
                {"= mix_out[x_at", "= \"sum of it\"[x_at"}});
}

TEST_CASE("a nest that is not its schedule's is refused", "[damaged]") {
  const Workplace here;
  const EditedNest nest;
  nest.refused("mix", "its loop xo has 4 trips, the schedule 2",
               {{"for xo < 2", "for xo < 4"}, {"2*xo", "xo"}, {"x_at + 2", "x_at + 1"}});
  nest.refused("mix", "its transfers do not stand where the schedule says",
               {{"    1  get bias_b[0:8] -> bias_b_ldm  // bias_b before the first loop\n", ""},
                {"    3  wait 1\n", ""},
                {"    6    get join", "         get bias_b[0:8] -> bias_b_ldm\n         wait 6\n         get join"},
                {"    7    wait 6\n    8    fill", "         wait 8\n         fill"},
                {"    9    compute", "         compute"},
                {"   10    compute", "         compute"},
                {"   11    put", "         put"},
                {"   12    wait 11", "         wait 13"}});
}

TEST_CASE("a sound nest with slots is refused, because nothing emits them", "[damaged]") {
  const Workplace here;
  const EditedNest nest;
  nest.refused("mix", "one-slot", {{"    3  wait 1\n", "    3  wait bias_b_ldm\n"}});
}

/// Sentences of a page that say where a tensor is moved.
std::vector<std::string> reasons_of(const std::string& page) {
  std::vector<std::string> found;
  for (const char* word : {" is loaded ", " is stored "}) {
    for (auto at = page.find(word); at != std::string::npos; at = page.find(word, at + 1)) {
      const std::size_t from = page.rfind('>', at) + 1;
      found.push_back(page.substr(from, page.find('<', at) - from));
    }
  }
  return found;
}

TEST_CASE("a nest whose buffers stand in another order is told of and run as it is", "[damaged]") {
  const Workplace here;
  const EditedNest nest;
  REQUIRE(run_stowage({"report", "plan", "-o", "page.html"}).code == 0);
  const std::vector<std::string> before = reasons_of(read_text("page.html"));
  REQUIRE(before.size() >= 4);
  nest.write("mix", [](std::string text, Json&) {
    std::vector<std::string> buffers;
    const std::size_t first = text.find("  buffer ");
    std::size_t end = first;
    while (text.compare(end, 9, "  buffer ") == 0) {
      const std::size_t next = text.find('\n', end) + 1;
      buffers.insert(buffers.begin(), text.substr(end, next - end));
      end = next;
    }
    REQUIRE(buffers.size() >= 3);
    std::string reversed;
    for (const std::string& line : buffers) reversed += line;
    return text.substr(0, first) + reversed + text.substr(end);
  });
  const ToolRun report = run_stowage({"report", "plan", "-o", "reversed.html"});
  INFO(report.err);
  REQUIRE(report.code == 0);
  CHECK(reasons_of(read_text("reversed.html")) == before);
  // Its kernel has another name, so the folder lacks a source, and all are emitted anew.
  CHECK(report.err.find("[source-missing]") != std::string::npos);
  const ToolRun run = run_stowage({"run", "plan", "--check"});
  INFO(run.out << run.err);
  CHECK(run.code == 0);
  CHECK(run.out.find("agree with the reference") != std::string::npos);
}

TEST_CASE("a constant that its operators have not is refused before it takes memory", "[damaged]") {
  const Workplace here;
  const EditedNest nest;
  nest.refused("mix", "too large to be made up as zeros",
               {{"  output ", "  constant large f32[600000000] hash \"00\"\n  output "}});
}

TEST_CASE("a nest that would be large is refused as it is read", "[damaged]") {
  const Workplace here;
  const EditedNest nest;
  nest.refused("mix", "size: statement 100000000 is one of", {{"   12    wait 11", "   100000000    wait 11"}});
}

TEST_CASE("a nest whose cores share what they load needs a mesh, full of cores", "[damaged]") {
  const Workplace here;
  const EditedNest nest;
  const std::pair<std::string, std::string> of_row = {"-> bias_b_ldm  //", "-> bias_b_ldm of row  //"};
  nest.refused("mix", "structure: statement 1: the nest has no mesh", {of_row});
  nest.refused("mix", "mesh: 1 rows of 8 columns are not the 2 cores that the nest runs on",
               {{"  ldm 2016 bytes", "  mesh 1 rows 8 columns\n  ldm 2016 bytes"}, of_row});
}

TEST_CASE("of steps with equal nests each is judged as it stands", "[damaged]") {
  const Workplace here;
  const Compilation compilation = compile_equal_products();
  Diagnostics diagnostics;
  REQUIRE(compilation.emitted.kernel_of_step[StepId(0)] == compilation.emitted.kernel_of_step[StepId(2)]);
  REQUIRE(write_compilation(compilation, "plan", false, diagnostics));
  // What it says of its own stages it says when it is read.
  const auto read = read_compilation("plan", diagnostics, {}, built_in_backends());
  INFO(format_diagnostics(diagnostics));
  REQUIRE(read);
  CHECK(plan_json(*read) == read_text("plan/plan.json"));
  const EditedNest nest(read_text("plan/plan.json"));
  for (const std::string name : {"first", "second", "third"}) {
    nest.taken(name, {{"  // initialisation", "  // where it begins: initialisation"}});
    nest.refused(name, "sum-starts-once", {{"_ldm with 0", "_ldm with 1"}});
    nest.refused(name, "tensors in memory", {{"_out strides [16, 1]", "_out strides [32, 1]"}});
    nest.refused(name, "buffer name 'a b' is taken or no identifier", {{name + "_out_ldm", "\"a b\""}});
    nest.refused(name, "there is a buffer", {{name + "_out_ldm", name + "_w_ldm"}});
    nest.refused(name, "is no transfer", {{"  wait ", "  wait 10000000"}});
  }
}

TEST_CASE("a nest that cannot be read is refused at its line", "[damaged]") {
  const Workplace here;
  const EditedNest nest;
  nest.refused("rest", "line 19: a line here begins with", {{"  body {", "  bdy {"}});
}

}  // namespace
}  // namespace stowage::test
