// SPDX-License-Identifier: Apache-2.0
#include "core/target.h"
#include "core/check_target.h"
#include "core/target_settings.h"
#include "core/toml_reader.h"
#include "tests/places.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

namespace stowage {
namespace {

const std::string sample_folder = test::source_folder().string() + "/samples/targets/";

std::string text_of(const std::string& path) {
  std::ifstream stream(path);
  REQUIRE(stream.good());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// The small machine with one line replaced; what the reader says of it.
std::string complaint(const std::string& line, const std::string& replacement) {
  std::string text = text_of(sample_folder + "small16.toml");
  const auto at = text.find(line);
  REQUIRE(at != std::string::npos);
  text.replace(at, line.size(), replacement);
  Diagnostics diagnostics;
  const auto target = parse_target(text, "t.toml", {}, diagnostics);
  CHECK_FALSE(target);
  return format_diagnostics(diagnostics);
}

TEST_CASE("the built-in sw26010 has the published numbers") {
  Diagnostics diagnostics;
  const auto target = load_target("sw26010", {}, diagnostics);
  REQUIRE(target);
  CHECK(diagnostics.entries().empty());
  CHECK(target->cores.count == 64);
  CHECK(target->ldm.bytes == 65536);
  CHECK(target->ldm.available() == 59392);
  CHECK(target->dma.good_block_bytes == 256);
  // 64 cores of 8 flop a cycle at 1.45 GHz are the 742.4 GFLOP/s of a core group.
  CHECK(target->cores.count * target->cores.vector_flops_per_cycle.of(ElementType::f32) * target->clock_hz ==
        Approx(742.4e9));
  REQUIRE(target->dma.lines);
  CHECK(target->dma.bandwidth.empty());
  CHECK(target->dma.lines->bytes_per_second < 34.1e9);  // DDR3-2133 by 128 bits
  REQUIRE(target->cores.pipelines);
  // Every core computes in a cycle what its pipelines can.
  CHECK(target->cores.vector_flops_per_cycle.of(ElementType::f32) == 2 * target->cores.vector_lanes);
  CHECK(contradictions(*target).empty());
}

TEST_CASE("what lines take, what pipelines do and what is assumed read back as they were written") {
  Diagnostics diagnostics;
  const auto target = load_target("sw26010", {}, diagnostics);
  REQUIRE(target);
  const std::string text = to_toml(*target);
  CHECK(text.find("assumed = ['cores.pipelines', 'cores.barrier_cycles', 'cores.column_broadcast', 'dma.issue_cycles', "
                  "'dma.bandwidth.page_bytes', "
                  "'management_core.function_cycles', 'management_core.bytes_per_second', 'library.xmath.link', "
                  "'library.xmath.call_seconds', 'library.xmath.efficiency']\n") != std::string::npos);
  const auto again = parse_target(text, "again.toml", {}, diagnostics);
  REQUIRE(again);
  CHECK(settings_between(*target, *again).empty());
  CHECK(to_toml(*again) == text);
  // A curve takes the place of the lines, and back.
  const auto curve =
      load_target("sw26010", {"dma.bandwidth=[{ block_bytes = 64, bytes_per_second = 1e9 }]"}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(curve);
  CHECK_FALSE(curve->dma.lines);
  REQUIRE(curve->dma.bandwidth.size() == 1);
  const auto one = load_target("sw26010", {"dma.bandwidth.bytes_per_second=13e9"}, diagnostics);
  REQUIRE(one);
  CHECK(one->dma.lines->bytes_per_second == 13e9);
  CHECK(one->dma.lines->block_seconds == target->dma.lines->block_seconds);
}

TEST_CASE("mistakes in the tables of lines and pipelines, and in what is assumed") {
  Diagnostics none;
  const std::string whole = to_toml(*load_target("sw26010", {}, none));
  const auto complaint = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    Diagnostics diagnostics;
    CHECK_FALSE(parse_target(text.replace(at, from.size(), to), "t.toml", {}, diagnostics));
    return format_diagnostics(diagnostics);
  };
  const auto contains = [](const char* wanted) { return Catch::Contains(wanted); };
  CHECK_THAT(complaint("page_bytes = 1024", "page_byte = 1024"),
             contains("'dma.bandwidth.page_bytes' is missing") &&
                 contains("unknown key 'dma.bandwidth.page_byte' [unknown-key]") &&
                 contains("did you mean 'page_bytes'?"));
  CHECK_THAT(complaint("page_bytes = 1024", "page_bytes = 0"), contains("[out-of-range]"));
  CHECK_THAT(complaint("block_seconds = ", "block_seconds = -"), contains("[out-of-range]"));
  CHECK_THAT(complaint("divide_cycles = 17, ", ""), contains("'cores.pipelines.divide_cycles' is missing"));
  CHECK_THAT(complaint("pipelines = {", "pipelines = 3 # {"), contains("[wrong-type]"));
  CHECK_THAT(complaint("'dma.issue_cycles'", "'dma.issue_cycle'"),
             contains("'assumed' names 'dma.issue_cycle', which is no key of this target") &&
                 contains("did you mean 'dma.issue_cycles'?"));
}

TEST_CASE("contradictions of a target are found, one each") {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"cores.vector_flops_per_cycle=16",
       "cores.vector_flops_per_cycle: 16 operations a cycle, but 4 lanes do at most 8"},
      {"cores.scalar_flops_per_cycle=4",
       "cores.scalar_flops_per_cycle: 4 operations a cycle, but one multiply-add does 2"},
      {"cores.vector_flops_per_cycle=1",
       "cores.scalar_flops_per_cycle: plain loops do 2 operations a cycle, vectors 1"},
      {"cores.launch_seconds=1", "cores.launch_seconds: a launch takes 1 s"},
      {"library.xmath.call_seconds=1e-6", "library.xmath.call_seconds: a call takes 1e-06 s"},
      {"dma.issue_cycles=500", "dma.issue_cycles: a call keeps its core for 500 cycles"},
      {"dma.core_bytes_per_second=1e12",
       "dma.core_bytes_per_second: one core reaches 1e+12 bytes/s, all of them 2.63e+10"},
      {"dma.core_bytes_per_second=1e8", "dma.core_bytes_per_second: 64 cores of 1e+08 bytes/s each never reach"},
      {"dma.bandwidth.page_bytes=64", "dma.bandwidth.page_bytes: a page of 64 bytes is less than a line of 128"},
      {"dma.bandwidth.block_seconds=1e-9",
       "dma.bandwidth.block_seconds: a block takes at least 1e-09 s, but its one line"},
      {"dma.good_block_bytes=65536", "dma.good_block_bytes: a block of 65536 bytes does not fit the 59392 bytes"},
      {"dma.bandwidth=[{ block_bytes = 131072, bytes_per_second = 26e9 }]", "dma.bandwidth: blocks of 131072 bytes"},
  };
  for (const auto& [setting, message] : wrong) {
    INFO(setting);
    Diagnostics diagnostics;
    const auto target = load_target("sw26010", {setting}, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(target);
    const std::vector<Contradiction> found = contradictions(*target);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0].key + ": " + found[0].message, Catch::StartsWith(message));
    CHECK_FALSE(found[0].remedy.empty());
  }
  Diagnostics diagnostics;  // gigabytes for bytes
  const auto target = load_target("sw26010", {"dma.bandwidth.bytes_per_second=26.3"}, diagnostics);
  REQUIRE(target);
  const auto found = contradictions(*target);
  CHECK(std::any_of(found.begin(), found.end(), [](const auto& one) { return one.key == "dma.bandwidth"; }));
}

TEST_CASE("a column broadcast that emitted code cannot have stays in its target, unused, and is told") {
  Diagnostics diagnostics;
  CHECK(sends_down_columns(*load_target("sw26010", {}, diagnostics)));
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{"cores.mesh_rows=16", "dma.row_broadcast=false"},
        std::vector<std::string>{"ldm.alignment=16"}}) {
    const auto target = load_target("sw26010", settings, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(target);
    CHECK_FALSE(sends_down_columns(*target));
    CHECK(to_toml(*target).find("column_broadcast = { start_cycles = 11, vector_cycles = 2 }") != std::string::npos);
    const auto found = contradictions(*target);
    REQUIRE(found.size() == 1);
    CHECK(found.front().key == "cores.column_broadcast");
    CHECK(found.front().message.find("nothing goes down columns") == 0);
  }
}

TEST_CASE("the sample targets read, and the double one differs from sw26010 in its LDM only") {
  Diagnostics diagnostics;
  const auto small = load_target(sample_folder + "small16.toml", {}, diagnostics);
  REQUIRE(small);
  CHECK(small->cores.count == 16);
  auto twice = load_target(sample_folder + "sw26010-double-ldm.toml", {}, diagnostics);
  const auto plain = load_target("sw26010", {}, diagnostics);
  REQUIRE(twice);
  REQUIRE(plain);
  CHECK(twice->ldm.bytes == 2 * plain->ldm.bytes);
  twice->ldm.bytes = plain->ldm.bytes;
  twice->name = plain->name;
  twice->summary = plain->summary;
  CHECK(to_toml(*twice) == to_toml(*plain));
}

TEST_CASE("a target's TOML reads back as the same target") {
  Diagnostics diagnostics;
  for (const std::string& name : {std::string("sw26010"), sample_folder + "small16.toml"}) {
    const auto target = load_target(name, {}, diagnostics);
    REQUIRE(target);
    const auto again = parse_target(to_toml(*target), "again", {}, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(again);
    CHECK(to_toml(*again) == to_toml(*target));
  }
}

TEST_CASE("a target says of which of its keys the values are bytes, as its description does") {
  Diagnostics diagnostics;
  Target target = *load_target("sw26010", {}, diagnostics);
  target.main_memory.bytes = 1;  // said, so that the key is there
  const std::string description = text_of(test::source_folder().string() + "/docs/target.md");
  std::size_t found = 0;
  for (const auto& [key, value] : settings_of(target)) {
    INFO(key);
    const bool described = description.find("| `" + key + "` | bytes |") != std::string::npos;
    CHECK(is_in_bytes(target, key) == described);
    found += described ? 1 : 0;
  }
  CHECK(found == 8);
  CHECK(is_in_bytes(target, "dma.bandwidth.page_bytes"));
  CHECK_FALSE(is_in_bytes(target, "dma.bandwidth.block_seconds"));
  CHECK_FALSE(is_in_bytes(target, "ldm.no_such_bytes"));
  target.family = "banked";
  target.own = {{"bank_bytes", 4096}, {"banks", 4}};
  CHECK(is_in_bytes(target, "bank_bytes"));
  CHECK_FALSE(is_in_bytes(target, "banks"));
}

TEST_CASE("settings lie over a target") {
  Diagnostics diagnostics;
  const auto target = load_target("sw26010", {"cores.count=1", "ldm.reserved=0", "name=\"one\""}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(target);
  CHECK(target->cores.count == 1);
  CHECK(target->ldm.available() == 65536);
  CHECK(target->name == "one");
}

TEST_CASE("wrong settings are named by their text") {
  Diagnostics diagnostics;
  CHECK_FALSE(load_target("sw26010", {"cores.cout=1", "ldm.bytes=\"much\"", "name=one"}, diagnostics));
  CHECK(format_diagnostics(diagnostics) ==
        "--set target.name=one:1:6: error: Error while parsing value: could not determine value type [toml-syntax]\n"
        "    name=one\n"
        "         ^\n"
        "  help: a setting is key=value in TOML syntax; strings stand in quotes\n"
        "--set target.ldm.bytes=\"much\":1:11: error: 'ldm.bytes' is a string, an integer was wanted [wrong-type]\n"
        "    ldm.bytes=\"much\"\n"
        "              ^^^^^^\n"
        "--set target.cores.cout=1:1:7: error: unknown key 'cores.cout' [unknown-key]\n"
        "    cores.cout=1\n"
        "          ^^^^\n"
        "  help: did you mean 'count'?\n");
}

TEST_CASE("an unknown target gets the nearest name") {
  Diagnostics diagnostics;
  CHECK_FALSE(load_target("sw26100", {}, diagnostics));
  CHECK(format_diagnostics(diagnostics) ==
        "error: no built-in target or file 'sw26100' [unknown-target]\n  help: did you mean 'sw26010'?\n");
}

TEST_CASE("a target of another family has that family's keys and prints as a file that is read back") {
  const std::vector<TargetFamily> families = {{"banked", [](TomlTable& table, Target& target) {
                                                 table.read("banks", target.own["banks"], 1, 64, Need::required);
                                                 target.main_memory.line_bytes = 4;
                                               }}};
  const std::string text = "name = 'one'\nsummary = ''\nfamily = 'banked'\nclock_hz = 500000000\nbanks = 4\n";
  Diagnostics diagnostics;
  const auto target = parse_target(text, "t.toml", {}, diagnostics, families);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(target);
  CHECK(target->own.at("banks") == 4);
  CHECK(target->main_memory.line_bytes == 4);  // which the family has set
  CHECK(to_toml(*target) == text);
  const auto set = parse_target(text, "t.toml", {"banks=8"}, diagnostics, families);
  REQUIRE(set);
  CHECK(settings_between(*target, *set) == std::map<std::string, std::string>{{"banks", "8"}});
  // Athread's keys are unknown to it, and its own are needed.
  CHECK_FALSE(parse_target("name = \"one\"\nfamily = \"banked\"\nclock_hz = 5e8\nldm_bytes = 64\n", "t.toml", {},
                           diagnostics, families));
  CHECK(format_diagnostics(diagnostics) ==
        "t.toml: error: 'banks' is missing: a number was wanted [missing-key]\n"
        "t.toml:4:1: error: unknown key 'ldm_bytes' [unknown-key]\n"
        "    ldm_bytes = 64\n"
        "    ^^^^^^^^^\n"
        "  help: known are: banks, clock_hz, family, name, summary\n");
}

TEST_CASE("Athread is the family of a target that names none, and is not written") {
  Diagnostics diagnostics;
  const auto plain = load_target("sw26010", {}, diagnostics);
  const auto named = load_target("sw26010", {"family=\"athread\""}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(plain);
  REQUIRE(named);
  CHECK(plain->family == "athread");
  CHECK(to_toml(*plain) == to_toml(*named));
  CHECK(to_toml(*plain).find("family") == std::string::npos);
  CHECK(complaint("clock_hz = 1.0e9", "family = \"athred\"") ==
        "t.toml:7:10: error: no family of targets 'athred' [unknown-family]\n"
        "    family = \"athred\"\n"
        "             ^^^^^^^^\n"
        "  help: did you mean 'athread'?\n");
}

TEST_CASE("every mistake in a target file has its place and caret") {
  CHECK(complaint("clock_hz = 1.0e9", "clok_hz = 1.0e9") ==
        "t.toml: error: 'clock_hz' is missing: a number was wanted [missing-key]\n"
        "t.toml:7:1: error: unknown key 'clok_hz' [unknown-key]\n"
        "    clok_hz = 1.0e9\n"
        "    ^^^^^^^\n"
        "  help: did you mean 'clock_hz'?\n");
  CHECK(complaint("count = 16", "count = 1.5") ==
        "t.toml:18:9: error: 'cores.count' is a number, an integer was wanted [wrong-type]\n"
        "    count = 1.5\n"
        "            ^^^\n");
  CHECK(complaint("count = 16", "count = 17") ==
        "t.toml:18:9: error: 'cores.count' is 17, but the mesh of 4 x 4 has 16 [too-many-cores]\n"
        "    count = 17\n"
        "            ^^\n");
  CHECK(complaint("reserved = 4096", "reserved = 40960") ==
        "t.toml:14:12: error: 'ldm.reserved' is 40960, which leaves nothing of the 32768 bytes of 'ldm.bytes' "
        "[no-ldm-left]\n"
        "    reserved = 40960\n"
        "               ^^^^^\n");
  CHECK(complaint("alignment = 32", "alignment = 33") ==
        "t.toml:15:13: error: 'ldm.alignment' is 33, a power of two was wanted [not-a-power-of-two]\n"
        "    alignment = 33\n"
        "                ^^\n");
  CHECK(complaint("[main_memory]", "[memory]") ==
        "t.toml: error: 'main_memory' is missing: a table was wanted [missing-key]\n"
        "t.toml:9:2: error: unknown key 'memory' [unknown-key]\n"
        "    [memory]\n"
        "     ^^^^^^\n"
        "  help: known are: assumed, clock_hz, cores, dma, family, ldm, main_memory, name, summary, "
        "use_library\n");
  CHECK(complaint("launch_seconds = 10e-6", "launch_seconds = -1") ==
        "t.toml:24:18: error: 'cores.launch_seconds' is -1, but lies between 0 and 10 [out-of-range]\n"
        "    launch_seconds = -1\n"
        "                     ^^\n");
  CHECK(complaint("launch_seconds = 10e-6", "launch_seconds = nan") ==
        "t.toml:24:18: error: 'cores.launch_seconds' is nan, but lies between 0 and 10 [out-of-range]\n"
        "    launch_seconds = nan\n"
        "                     ^^^\n");
  CHECK(complaint("mesh_rows = 4", "mesh_rows = ") ==
        "t.toml:19:13: error: Error while parsing key-value pair: expected value, saw '\\n' [toml-syntax]\n"
        "    mesh_rows = \n"
        "                ^\n");
  CHECK(complaint("block_bytes =   64", "block_bytes =    4") ==
        "t.toml:32:22: error: 4 follows 16, but the points of 'dma.bandwidth' ascend by block_bytes [not-ascending]\n"
        "      { block_bytes =    4, bytes_per_second = 4.0e9 },\n"
        "                         ^\n");
  CHECK(complaint("{ block_bytes =   64, bytes_per_second = 4.0e9 }", "64") ==
        "t.toml:32:3: error: 'dma.bandwidth' holds an integer, tables were wanted [wrong-type]\n"
        "      64,\n"
        "      ^^\n");
}

TEST_CASE("several mistakes are reported in one run") {
  Diagnostics diagnostics;
  CHECK_FALSE(parse_target("name = 3\n[main_memory]\n[ldm]\n[cores]\ncount = 0\n[dma]\n", "t.toml", {}, diagnostics));
  const std::string text = format_diagnostics(diagnostics);
  CHECK(text.find("'name' is an integer, a string was wanted") != std::string::npos);
  CHECK(text.find("'cores.count' is 0, but lies between 1 and 4096") != std::string::npos);
  CHECK(text.find("'ldm.bytes' is missing: an integer was wanted") != std::string::npos);
  CHECK(text.find("'dma.bandwidth' is missing: an array of tables was wanted") != std::string::npos);
}

/// small16 as its file was when all keys stood side by side.
std::string small_once() {
  return "name = 'small16'\nsummary = '16 cores with 32 KiB LDM each, 8 GB/s (imagined)'\ncores = 16\nmesh_rows = 4\n"
         "mesh_columns = 4\nclock_hz = 1.0e9\nvector_lanes = 4\nvector_flops_per_cycle = 8\n"
         "scalar_flops_per_cycle = 1\nldm_bytes = 32768\nldm_reserved = 4096\nldm_alignment = 32\n"
         "good_block_bytes = 128\ndma_alignment = 4\ndram_line_bytes = 64\ndma_startup_cycles = 400\n"
         "dma_bandwidth = [{ block_bytes = 16, bytes_per_second = 1.0e9 },\n"
         "  { block_bytes = 64, bytes_per_second = 4.0e9 }, { block_bytes = 256, bytes_per_second = 7.0e9 },\n"
         "  { block_bytes = 1024, bytes_per_second = 8.0e9 }]\nlaunch_seconds = 10e-6\n";
}

TEST_CASE("keys are read under the names that they had when all stood side by side") {
  Diagnostics diagnostics;
  const auto today = load_target(sample_folder + "small16.toml", {}, diagnostics);
  const auto once = parse_target(small_once(), "once.toml", {}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(today);
  REQUIRE(once);
  CHECK(to_toml(*once) == to_toml(*today));
  // Either name over either file; the later setting counts.
  for (const std::string& text : {small_once(), text_of(sample_folder + "small16.toml")}) {
    const auto set = parse_target(text, "t.toml", {"ldm_bytes=16384", "cores=3", "ldm.bytes=8192"}, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(set);
    CHECK(set->ldm.bytes == 8192);
    CHECK(set->cores.count == 3);
    CHECK(set->cores.mesh_rows == 4);
  }
  CHECK_FALSE(parse_target(small_once() + "[ldm]\nbytes = 5000\n", "t.toml", {"mesh_rows='x'"}, diagnostics));
  CHECK(format_diagnostics(diagnostics) ==
        "t.toml:10:13: error: 'ldm_bytes' is given beside 'ldm.bytes', of which it is the earlier name [given-twice]\n"
        "    ldm_bytes = 32768\n"
        "                ^^^^^\n"
        "  help: one of them is enough\n"
        "--set target.mesh_rows='x':1:11: error: 'cores.mesh_rows' is a string, an integer was wanted [wrong-type]\n"
        "    mesh_rows='x'\n"
        "              ^^^\n");
}

TEST_CASE("what a block takes at least is read under the name that it had when blocks were called rows") {
  Diagnostics diagnostics;
  std::string once = text_of(sample_folder + "sw26010.toml");
  const std::string key = "block_seconds";
  once.replace(once.find(key), key.size(), "row_seconds");
  const auto today = load_target("sw26010", {}, diagnostics);
  const auto read = parse_target(once, "once.toml", {}, diagnostics);
  const auto set = load_target("sw26010", {"dma.bandwidth.row_seconds=2e-8"}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(today);
  REQUIRE(read);
  REQUIRE(set);
  CHECK(to_toml(*read) == to_toml(*today));
  CHECK(to_toml(*read).find("row_seconds") == std::string::npos);
  CHECK(set->dma.lines->block_seconds == 2e-8);
  const std::size_t at = once.find("row_seconds");
  CHECK_FALSE(parse_target(once.substr(0, at) + "block_seconds = 1e-9\n" + once.substr(at), "t.toml", {}, diagnostics));
  CHECK(format_diagnostics(diagnostics)
            .find("'dma.bandwidth.row_seconds' is given beside 'dma.bandwidth.block_seconds', "
                  "of which it is the earlier name [given-twice]") != std::string::npos);
  Diagnostics of_assumed;
  CHECK_FALSE(load_target("sw26010", {"assumed=['dma.bandwidth.row_seconds']"}, of_assumed));
  CHECK(format_diagnostics(of_assumed).find("did you mean 'dma.bandwidth.block_seconds'?") != std::string::npos);
}

TEST_CASE("rates are one number or numbers by element type") {
  Diagnostics diagnostics;
  const auto target = load_target(
      "sw26010", {"cores.scalar_flops_per_cycle={ i8 = 4, f64 = 0.5, other = 2 }", "cores.vector_flops_per_cycle=6"},
      diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(target);
  CHECK(target->cores.scalar_flops_per_cycle.of(ElementType::i8) == 4);
  CHECK(target->cores.scalar_flops_per_cycle.of(ElementType::f64) == 0.5);
  CHECK(target->cores.scalar_flops_per_cycle.of(ElementType::f32) == 2);
  CHECK(target->cores.vector_flops_per_cycle.of(ElementType::f64) == 6);
  const auto again = parse_target(to_toml(*target), "again", {}, diagnostics);
  REQUIRE(again);
  CHECK(to_toml(*again) == to_toml(*target));
}

}  // namespace
}  // namespace stowage
