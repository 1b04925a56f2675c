// SPDX-License-Identifier: Apache-2.0
// Transfers of teams: gets into the LDMs of a whole row or column of cores, and broadcasts from one core's LDM to them.
#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/mesh.h"
#include "lowering/ir/renumber.h"
#include "lowering/time/cost_table.h"
#include "lowering/verify/verify_results.h"
#include "team_nests.h"

namespace stowage::teams_test {
namespace {

using namespace team_nests;

/// In step s of row cx sends column (s + cx) % 2, so that no core sends to its row and its column in one step.
std::string skewed() {
  std::string text = replaced(with_broadcasts(), "= A[2*cx, 8*cy]", "= A[2*cx, 8*((cy + cx) % 2)]");
  text = replaced(text, "get A[2*cx:2*cx + 2, 8*cy:8*cy + 8]",
                  "get A[2*cx:2*cx + 2, 8*((cy + cx) % 2):8*((cy + cx) % 2) + 8]");
  return replaced(text, "of column s ", "of column (s + cx) % 2 ");
}

TEST_CASE("products with operands of teams are sound and compute the product", "[teams]") {
  for (const std::string& text : {with_shared_gets(), with_broadcasts(), with_broadcasts_ahead(), skewed()}) {
    INFO(text);
    const LoopNest nest = parsed(text);
    CHECK(verdict(nest) == "sound");
    CHECK(wrong_elements_of(nest) == 0);
  }
}

TEST_CASE("transfers of teams print as they are read", "[teams]") {
  for (const std::string& text : {with_shared_gets(), with_broadcasts(), with_broadcasts_ahead()}) {
    // The body's first line is empty for the reader of this file only.
    CHECK(to_text(parsed(text)) == replaced(text, "body {\n\n", "body {\n"));
  }
  const auto printed = [](const std::string& part, const std::string& by) {
    return to_text(parsed(replaced(with_shared_gets(), part, by)));
  };
  CHECK_THAT(printed("-> AA of row", "-> AA of row by 4 bytes"), Catch::Contains("-> AA of row by 4 bytes\n"));
  CHECK_THAT(printed("-> AA of row", "-> AA of mesh // all"), Catch::Contains("-> AA of mesh  // all\n"));
  const std::string to_mesh = "broadcast AA of core 3*s -> AR of mesh over [0:2, 0:8]";
  CHECK_THAT(
      to_text(parsed(replaced(with_broadcasts(),
                              "broadcast AA of column s -> AR of row over [2*cx:2*cx + 2, 8*s:8*s + 8]", to_mesh))),
      Catch::Contains(to_mesh));
}

TEST_CASE("wrong words for teams are diagnostics", "[teams]") {
  const auto message = [](const std::string& part, const std::string& by) {
    Diagnostics diagnostics;
    CHECK_FALSE(parse_loop_nest(replaced(with_broadcasts(), part, by), diagnostics));
    return diagnostics.entries().empty() ? "" : diagnostics.entries().front().message;
  };
  CHECK(message("-> AR of row", "-> AR of column") == "who sends is named by its column, which is one in a row");
  CHECK(message("-> AR of row", "-> AR of rows") == "there is no team of cores 'rows'");
  CHECK(message("AA of column s", "AA of lane s") == "there is no place in a team 'lane'");
  CHECK(message("-> AR of row over [2*cx:2*cx + 2, 8*s:8*s + 8]", "-> AR of row") == "found '70', 'over' was wanted");
  CHECK(message("-> AR of row", "-> AR") == "found 'over', 'of' was wanted");
  CHECK(message("mesh 2 rows", "mesh 0 rows") == "a number of rows lies between 1 and 1048576");
  CHECK(message("mesh 2 rows 2 columns", "mesh 2 rows 2 columns\n  mesh 2 rows 2 columns") ==
        "the nest has a mesh already");
}

TEST_CASE("a nest keeps its teams when its variables are numbered anew", "[teams]") {
  const LoopNest nest = parsed(with_broadcasts());
  const LoopNest swapped = renumbered(nest, {2, 1, 0});
  CHECK(to_text(renumbered(swapped, {2, 1, 0})) == to_text(renumbered(nest, {0, 1, 2})));
  CHECK_THAT(to_text(swapped),
             Catch::Contains("variables s, cy, cx") &&
                 Catch::Contains("broadcast BB of row s -> BR of column over [8*s:8*s + 8, 8*cy:8*cy + 8]"));
  CHECK(first_of_team(nest)->id == StatementId(60));
  CHECK(first_of_team(fixtures::paper_matmul()) == nullptr);
}

TEST_CASE("teams are rows, columns and the mesh", "[teams]") {
  const LoopNest nest = parsed(R"(nest two {
  input X f32[6]
  output Y f32[6]
  stage twice {
    Y[x < 6] = (#0 + #0)
    #0 = X[x]
  }
  variables a, b
  core a < 2 of x stride 3
  core b < 3 of x stride 1
  mesh 2 rows 3 columns
  memory X = X strides [1]
  memory Y = Y strides [1] written
  ldm 64 bytes
  buffer XX f32[1] at 0, 4 bytes = X[3*a + b]
  buffer YY f32[1] at 32, 4 bytes = Y[3*a + b]
  body {
    0  get X[3*a + b:3*a + b + 1] -> XX
    1  wait 0
    2  compute map YY = twice(XX) over x=3*a + b:3*a + b + 1
    3  put YY -> Y[3*a + b:3*a + b + 1]
    4  wait 3
  }
}
)");
  CHECK(verdict(nest, machine(2, 3)) == "sound");
  const Teams rows(nest, Space::row), columns(nest, Space::column), mesh(nest, Space::mesh);
  CHECK(rows.size() == 3);
  CHECK(columns.size() == 2);
  CHECK(mesh.size() == 6);
  for (int core = 0; core < 6; ++core) {
    for (const Teams& teams : {rows, columns, mesh}) {
      CHECK(teams.core_at(teams.team_of(core), teams.index_in_team(core)) == core);
      const auto values = values_of_core(nest, core);
      CHECK(evaluate(*teams.index_in_team(), [&](VarId v) { return values[v.index()]; }) == teams.index_in_team(core));
    }
    CHECK(rows.team_of(core) == core / 3);
    CHECK(columns.team_of(core) == core % 3);
  }
  CHECK(core_text(nest, 5) == "core 5 (row 1, column 2)");
  // Digits that count rows and columns in one leave a division.
  const LoopNest one = parsed(replaced(replaced(to_text(nest), "core a < 2 of x stride 3", "core a < 1 of x stride 1"),
                                       "core b < 3", "core b < 6"));
  for (int core = 0; core < 6; ++core) {
    const auto values = values_of_core(one, core);
    const auto place = [&](Space space) {
      return evaluate(*Teams(one, space).index_in_team(), [&](VarId v) { return values[v.index()]; });
    };
    CHECK(place(Space::row) == core % 3);
    CHECK(place(Space::column) == core / 3);
  }
}

TEST_CASE("a mesh is the target's, full, and counted by the coordinates", "[teams]") {
  const std::string text = with_shared_gets();
  CHECK(verdict(text, machine(2, 4)) == "mesh: the nest is for 2 rows of 2 columns, machine has 2 rows of 4");
  CHECK(verdict(text, machine(1, 4)) == "mesh: the nest is for 2 rows of 2 columns, machine has 1 rows of 4");
  CHECK(verdict(text, machine(3, 2)) ==
        "mesh: statement 30 'get B[8*ko:8*ko + 8, 8*cy:8*cy + 8] -> BB of column': goes down columns, machine has 3 "
        "rows, of which the nest takes 2");
  CHECK(verdict(replaced(text, "-> BB of column", "-> BB"), machine(3, 2)) == "sound");
  CHECK(verdict(replaced(text, "mesh 2 rows", "mesh 1 rows")) ==
        "mesh: 1 rows of 2 columns are not the 4 cores that the nest runs on");
  CHECK(verdict(replaced(text, "  mesh 2 rows 2 columns\n", "")) == "structure: statement 20: the nest has no mesh");
  // Remainders by 2 and by 3 tell six cores apart, but are no digits of their numbers.
  std::string odd = replaced(text, "core cx < 2 of x stride 2", "core cx < 2 of x stride 1");
  odd = replaced(replaced(odd, "core cy < 2", "core cy < 3"), "mesh 2 rows 2", "mesh 2 rows 3");
  CHECK(verdict(odd, machine(2, 3)) == "mesh: the coordinates of a core do not count its number");
}

struct Fault {
  std::string part, by, verdict;
  bool in_numbers = true;  ///< the interpreter shows it too
};

void check_faults(const std::string& sound, const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    INFO(fault.part << " -> " << fault.by);
    const LoopNest nest = parsed(replaced(sound, fault.part, fault.by));
    CHECK_THAT(verdict(nest), Catch::Contains(fault.verdict));
    CHECK((wrong_elements(nest) > 0) == fault.in_numbers);
  }
}

const std::string get_a = "   20    get A[2*cx:2*cx + 2, 8*ko:8*ko + 8] -> AA of row\n";
TEST_CASE("faults of gets into several LDMs are refused by name", "[teams]") {
  check_faults(
      with_shared_gets(),
      {{"AA of row", "AA of column",
        "team-same-box: statement 20 'get A[2*cx:2*cx + 2, 8*ko:8*ko + 8] -> AA of column': the start in dimension 0 "
        "is "
        "0 on core 0 (row 0, column 0) and 2 on core 2 (row 1, column 0), which are of one column"},
       {"BB of column", "BB of mesh",
        "team-same-box: statement 30 'get B[8*ko:8*ko + 8, 8*cy:8*cy + 8] -> BB of mesh': the start in dimension 1 is "
        "0 "
        "on core 0 (row 0, column 0) and 8 on core 1 (row 0, column 1), which are of one mesh"},
       {"8*ko:8*ko + 8] -> AA", "8*ko:8*ko + 8 - cy] -> AA",
        "the extent in dimension 1 is 8 on core 0 (row 0, column 0) and 7 on core 1 (row 0, column 1)", false},
       {"for ko < 2 of", "for ko < 2 - cy of",
        "team-in-step: statement 10 'for ko < 2 - cy of k {': the number of trips is 2 on core 0 (row 0, column 0) "
        "and "
        "1 on core 1 (row 0, column 1), which are of one row"},
       {"for ko < 2 of", "for ko < 2 - cx of",
        "the number of trips is 2 on core 0 (row 0, column 0) and 1 on core 2 (row 1, column 0), which are of one "
        "column"},
       {"   40    wait 20\n",
        "         if any(cy) > 0 {\n      wait 20\n   }\n   if any(-cy + 1) > 0 {\n   wait 20\n   }\n",
        "team-in-step: statement 31 'if any(cy) > 0 {': whether it passes (1) or not (0) is 0 on core 0 (row 0, column "
        "0) and 1 on core 1 (row 0, column 1), which are of one row"},
       {"   40    wait 20\n", "", "buffer-in-flight: statement 60"},
       {"   50    wait 30\n", "   50    wait 30\n         wait 30\n",
        "transfer-awaited: statement 51 'wait 30': transfer 30 is not under way on this path", false},
       {"   40    wait 20\n", "         fill AA with 0\n         wait 20\n",
        "buffer-in-flight: statement 31 'fill AA with 0': buffer AA is overwritten while transfer 20 of AA is under "
        "way",
        false},
       {get_a, get_a + get_a.substr(9), "buffer AA is overwritten while transfer 20 of AA is under way", false}});
}

TEST_CASE("the same box comes to the same place in every LDM", "[teams]") {
  // The box of core cy begins cy elements further on in a buffer that is so much longer.
  const std::string text = replaced(with_shared_gets(), "AA f32[2,8] at 0, 64 bytes = A[2*cx, 8*ko]",
                                    "AA f32[2,16] at 832, 128 bytes = A[2*cx, 8*ko - cy]");
  CHECK_THAT(verdict(text), Catch::Contains("team-same-box") &&
                                Catch::Contains("the place in the buffer in dimension 1 is 0 on core 0 (row 0, column "
                                                "0) and 1 on core 1 (row 0, column 1), which are of one row"));
  CHECK(wrong_elements(parsed(text)) > 0);
  CHECK(wrong_elements(parsed(replaced(text, "AA of row", "AA"))) == 0);
  const std::string slots =
      replaced(replaced(replaced(replaced(with_shared_gets(), "AA f32[2,8] at 0, 64 bytes = A[2*cx, 8*ko]",
                                          "AA f32[2,8] at 832, 128 bytes = A[2*cx, 8*ko] slots 2"),
                                 "-> AA of row", "-> AA[cy] of row"),
                        "wait 20", "wait AA[cy]"),
               "matmul(AA,", "matmul(AA[cy],");
  CHECK_THAT(verdict(slots), Catch::Contains("team-same-box: statement 20") &&
                                 Catch::Contains("the slot is 0 on core 0 (row 0, column 0) and 1 on core 1"));
  CHECK(wrong_elements(parsed(slots)) > 0);
  CHECK(verdict(replaced(slots, "-> AA[cy] of row", "-> AA[cy]")) == "sound");
}

TEST_CASE("faults of broadcasts are refused by name", "[teams]") {
  check_faults(
      with_broadcasts(),
      {{"of column s ", "of column 0 ",
        "transfer-in-buffer: statement 60 'broadcast AA of column 0 -> AR of row over [2*cx:2*cx + 2, 8*s:8*s + 8]': "
        "touches 8..15 of dimension 1 of buffer AA, which has 8 (cy = 0, s = 1)"},
       {"of column s ", "of column s + 1 ",
        "sender-in-team: statement 60 'broadcast AA of column s + 1 -> AR of row over [2*cx:2*cx + 2, 8*s:8*s + 8]': "
        "touches 2..2 of the columns of a row, which has 2 (s = 1)"},
       {"of row s ", "of row cx ",
        "team-same-sender: statement 70 'broadcast BB of row cx -> BR of column over [8*s:8*s + 8, 8*cy:8*cy + 8]': "
        "the "
        "sender is 0 on core 0 (row 0, column 0) and 1 on core 2 (row 1, column 0), which are of one column"},
       {"8*s:8*s + 8]\n   70", "0:8]\n   70", "transfer-in-buffer: statement 60"},
       {"8*s:8*s + 8]\n   70", "8*s:8*s + 7]\n   70", "touches-what-is-there: statement 100"},
       {"8*cy:8*cy + 8] -> AA", "8*cy:8*cy + 7] -> AA", "touches-what-is-there: statement 60"},
       {"   30  wait 0\n", "", "buffer AA is read while transfer 0 of AA is under way"},
       {"   80    wait 60\n", "", "buffer-in-flight: statement 100"},
       {"   90    wait 70\n", "   90    wait 70\n    wait 70\n", "transfer 70 is not under way on this path", false},
       {"   80    wait 60\n", "         fill AA with 0\n         wait 60\n",
        "buffer-in-flight: statement 71 'fill AA with 0': buffer AA is overwritten while transfer 60 of AA is under "
        "way"},
       {"   80    wait 60\n", "         fill AR with 0\n         wait 60\n",
        "buffer-in-flight: statement 71 'fill AR with 0': buffer AR is overwritten while transfer 60 of AR is under "
        "way",
        false},
       {"AR f32[2,8] at 320", "AR f32[2,8] at 0",
        "buffer-in-flight: statement 60 'broadcast AA of column s -> AR of row over [2*cx:2*cx + 2, 8*s:8*s + 8]': "
        "buffer AA is read while transfer 60 of AR is under way"},
       {"for s < 2 of", "for s < 2 - cx of", "team-in-step: statement 50"}});
}

TEST_CASE("faults of broadcasts ahead of their use are refused by name", "[teams]") {
  check_faults(
      with_broadcasts_ahead(),
      {{"of column s + 1 -> AR[(s + 1) % 2]", "of column s + 1 -> AR[s % 2]", "buffer-in-flight: statement 90"},
       {"  110    wait AR[s % 2]\n", "", "buffer-in-flight: statement 130"},
       {"  110    wait AR[s % 2]\n", "  110    wait AR[(s + 1) % 2]\n",
        "slot 0 of buffer AR is read while transfer 50 of slot 0 of buffer AR is under way"},
       {"of column s + 1 -> AR[(s + 1) % 2] from [2*cx, 8*s + 8] of row over [2*cx:2*cx + 2, 8*s + 8:8*s + 16]",
        "of column s -> AR[(s + 1) % 2] from [2*cx, 8*s] of row over [2*cx:2*cx + 2, 8*s:8*s + 8]",
        "box-in-slot: statement 130"},
       {"if any(1 - s) > 0", "if any(1 - s - cy) > 0", "team-in-step: statement 80"},
       {"if any(1 - s) > 0", "if any(2 - s) > 0", "sender-in-team: statement 90"},
       {"  110    wait AR[s % 2]\n", "  110    wait AR[(s + cy) % 2]\n",
        "team-in-step: statement 110 'wait AR[(cy + s) % 2]': the slot is 0 on core 0 (row 0, column 0) and 1 on core "
        "1 "
        "(row 0, column 1), which are of one row (s = 0)"},
       {"   30  wait AA\n", "", "buffer AA is read while transfer 0 of AA is under way"},
       // A slot's wait ends a broadcast whichever of its two slots is named.
       {"  110    wait AR[s % 2]\n", "  110    wait AA\n",
        "transfer-awaited: statement 110 'wait AA': no transfer of buffer AA is under way on this path (s = 1)",
        false}});
}

TEST_CASE("who waits for a core that does not come is told", "[teams]") {
  const auto fault = [](const std::string& text) -> std::string {
    try {
      return std::to_string(wrong_elements_of(parsed(text))) + " wrong elements";
    } catch (const InternalError& error) {
      return error.what();
    }
  };
  CHECK_THAT(
      fault(replaced(with_shared_gets(), "for ko < 2 of", "for ko < 2 - cy of")),
      Catch::Contains("statement 20: core 0 (row 0, column 0) waits for ever for core 1 (row 0, column 1), which "
                      "does not come"));
  CHECK_THAT(fault(replaced(with_broadcasts(), "of row s ", "of row cx ")),
             Catch::Contains("statement 70: all wait for ever: core 2 (row 1, column 0) is to send for core 2 (row 1, "
                             "column 0), but not for core 0 (row 0, column 0)"));
  CHECK_THAT(fault(replaced(with_broadcasts(), "of row s ", "of row s + 5 ")),
             Catch::Contains("statement 70: core 0 (row 0, column 0) waits for ever for a sender that there is not"));
  CHECK_THAT(
      fault(replaced(with_shared_gets(), "   40    wait 20\n", "   40  if any(cy) > 0 {\n    wait 20\n  }\n")),
      Catch::Contains("core 1 (row 0, column 1) waits for ever for core 0 (row 0, column 0), which does not wait "
                      "for transfer 20"));
  CHECK_THAT(fault(replaced(with_broadcasts(), "[2*cx:2*cx + 2, 8*s:8*s + 8]", "[2*cx:2*cx + 2, 8*s:8*s + 8 - cy]")),
             Catch::Contains("takes a box of another size than core 0 (row 0, column 0) sends"));
}

TEST_CASE("all cores come to a barrier", "[teams]") {
  const std::string text = replaced(with_shared_gets(), "   40    wait 20\n", "   40    wait 20\n    barrier\n");
  CHECK(verdict(text) == "sound");
  CHECK(wrong_elements(parsed(text)) == 0);
  const std::string inside = replaced(
      replaced(replaced(with_shared_gets(), "  mesh 2 rows 2 columns\n", ""), "AA of row", "AA"), "BB of column", "BB");
  const auto guarded = [&](const std::string& guard) {
    return verdict(replaced(inside, "   70  put", "   if any(" + guard + ") > 0 {\n   barrier\n   }\n   70  put"));
  };
  CHECK(guarded("1") == "sound");
  CHECK(guarded("cx + 1") == "sound");
  CHECK_THAT(guarded("cx"), Catch::Contains("team-in-step") &&
                                Catch::Contains("is 0 on core 0 and 1 on core 2, which are of one launch"));
}

TEST_CASE("what a tensor says is not known to be the same on all cores", "[teams]") {
  std::string text = replaced(with_shared_gets(), "  output C f32[4,16]\n", "  output C f32[4,16]\n  input N i32[1]\n");
  text = replaced(text, "  memory C", "  memory N = N strides [1]\n  memory C");
  text = replaced(text, "  buffer CC", "  buffer NN i32[1] at 512, 4 bytes = N[0]\n  buffer CC");
  text = replaced(text, "body {\n", "body {\n  get N[0:1] -> NN\n  wait 0\n");
  text = replaced(text, "    0  fill", "    5  fill");
  CHECK(verdict(text) == "sound");
  CHECK_THAT(verdict(replaced(text, "for ko < 2 of", "for ko < @2[2] of")),
             Catch::StartsWith("team-in-step: statement 10 'for ko < @2[2] of k {': the number of trips comes from a "
                               "tensor, and may differ from core to core"));
}

TEST_CASE("what a team gets leaves main memory once", "[teams]") {
  const LoopNest shared = parsed(with_shared_gets());
  const LoopNest own = parsed(replaced(replaced(with_shared_gets(), " of row", ""), " of column", ""));
  const NestCounts once = predict_counts(shared);
  const NestCounts each = predict_counts(own);
  for (const StatementId get : {StatementId(20), StatementId(30)}) {
    CHECK(each.dma.at(get).transfers == 8);  // 4 cores, 2 trips
    CHECK(once.dma.at(get).transfers == 4);
    CHECK(once.dma.at(get).operations * 2 == each.dma.at(get).operations);
    CHECK(once.dma.at(get).bytes * 2 == each.dma.at(get).bytes);
  }
  CHECK(once.dma.at(StatementId(70)) == each.dma.at(StatementId(70)));
  const NestCounts sent = predict_counts(parsed(with_broadcasts()));
  CHECK(sent.dma.size() == 3);
  CHECK(sent.dma.at(StatementId(0)).transfers == 4);
}

TEST_CASE("what goes down columns of cores that send none, or from LDM to LDM, has no rate", "[teams]") {
  const LoopNest nest = parsed(with_shared_gets());
  CHECK(without_rate(nest, machine()) ==
        "no-rate: statement 30: nothing says how fast this transfer from main memory to a column is");
  CHECK(without_rate(parsed(replaced(with_shared_gets(), "BB of column", "BB")), machine()) == std::nullopt);
  CHECK(without_rate(parsed(with_broadcasts()), machine()) ==
        "no-rate: statement 60: nothing says how fast this transfer from LDM to a row is: nothing is sent along a row "
        "(cores.column_broadcast)");
  CHECK(without_rate(fixtures::paper_matmul(), machine()) == std::nullopt);
  Target columns = machine();
  columns.cores.column_broadcast = ColumnBroadcast{11, 2};
  CHECK(without_rate(nest, columns) == std::nullopt);
  CHECK_THROWS_WITH(cost_table(nest, predict_counts(nest), machine()), Catch::Contains("no-rate: statement 30"));
  CHECK(verify_results(nest, machine()) ==
        "own-ldm: statement 20 'get A[2*cx:2*cx + 2, 8*ko:8*ko + 8] -> AA of row': what a core loads goes to its own "
        "LDM alone (dma.row_broadcast)");
  Target rows = machine();
  rows.dma.row_broadcast = true;
  CHECK(verify_results(nest, rows) ==
        "own-ldm: statement 30 'get B[8*ko:8*ko + 8, 8*cy:8*cy + 8] -> BB of column': nothing is sent down a column "
        "(cores.column_broadcast)");
  CHECK(verify_results(parsed(replaced(with_shared_gets(), "BB of column", "BB")), rows).value_or("sound") == "sound");
  CHECK_THAT(verify_results(parsed(with_broadcasts()), rows).value_or(""), Catch::StartsWith("own-ldm: statement 60"));
}

TEST_CASE("what a broadcast brings leaves the padding as it is", "[teams]") {
  const std::string text = R"(nest sums {
  input X f32[16]
  output Y f32[16]
  stage sum3 {
    Y[x < 16] = sum over r < 3 of (#0 + 0.0)
    #0 = X[x + r - 1] else 0
  }
  variables cx
  core cx < 2 of x stride 1
  mesh 1 rows 2 columns
  memory X = X strides [1]
  memory Y = Y strides [1] written
  ldm 256 bytes
  buffer XO f32[16] at 0, 64 bytes = X[0]
  buffer XX f32[18] at 64, 72 bytes = X[-1]
  buffer XZ f32[16] at 64, 64 bytes = X[0]
  buffer YY f32[8] at 160, 32 bytes = Y[8*cx]
  body {
    0  get X[0:16] -> XO
    1  wait 0
    2  fill XX around [1:17] with 0
   10  broadcast XO of column 1 -> XX of row over [0:16]
   11  wait 10
   12  fill YY with 0
   13  compute update YY = sum3(XX) over x=8*cx:8*cx + 8, r=0:3
   14  put YY -> Y[8*cx:8*cx + 8]
   15  wait 14
  }
}
)";
  CHECK(verdict(text, machine(1, 2)) == "sound");
  std::mt19937 random(7);
  const Tensor x = whole_numbers(random, {16});
  const Tensor y = interpret(parsed(text), {{StageTensorId(0), x}}).at(StageTensorId(1));
  for (std::int64_t i = 0; i < 16; ++i) {
    CHECK(y.as_double(i) == (i > 0 ? x.as_double(i - 1) : 0) + x.as_double(i) + (i < 15 ? x.as_double(i + 1) : 0));
  }
  const auto changed = [&](const std::string& part, const std::string& by) {
    return verdict(replaced(text, part, by), machine(1, 2));
  };
  CHECK_THAT(changed("    2  fill XX around [1:17] with 0\n", ""), Catch::StartsWith("padding-is-there: statement 13"));
  CHECK_THAT(changed("around [1:17]", "around [2:17]"),
             Catch::StartsWith("padding-is-there: statement 10") &&
                 Catch::Contains("overwrites padding in dimension 0 of buffer XX"));
  const std::string over_it =
      "    3  broadcast XO of column 0 -> XZ of row over [0:16]\n    4  wait 3\n   10  broadcast";
  CHECK_THAT(changed("   10  broadcast", over_it), Catch::StartsWith("padding-is-there: statement 13"));
  // In a second trip the padding is what the first one left of it.
  std::string trips = replaced(text, "variables cx", "variables cx, t");
  trips = replaced(trips, "   10  broadcast", "    3  for t < 2 of x {\n   10  broadcast");
  trips = replaced(trips, "   14  put", "       }\n   14  put");
  CHECK(verdict(trips, machine(1, 2)) == "sound");
  trips = replaced(trips, "       }\n   14",
                   "       broadcast XO of column 0 -> XZ of row over [0:16]\n       wait XZ\n       }\n   20");
  trips = replaced(trips, "   15  wait 14", "   21  wait 20");
  CHECK_THAT(verdict(trips, machine(1, 2)), Catch::StartsWith("padding-is-there: statement 13"));
}

TEST_CASE("tables of senders and of boxes are looked up where they have an entry", "[teams]") {
  const std::string ahead =
      replaced(with_broadcasts_ahead(), "  stage", "  table t = [0, 8]\n  table who = [0, 1]\n  stage");
  CHECK(verdict(replaced(ahead, "of row s + 1 ", "of row who[s + 1] ")) == "sound");
  CHECK_THAT(verdict(replaced(ahead, "of row s + 1 ", "of row who[s + 2] ")),
             Catch::StartsWith("table-lookup: statement 100"));
  CHECK_THAT(verdict(replaced(ahead, "from [2*cx, 8*s + 8]", "from [2*cx, t[s + 2]]")),
             Catch::StartsWith("table-lookup: statement 90"));
}

}  // namespace
}  // namespace stowage::teams_test
