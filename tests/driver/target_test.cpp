// SPDX-License-Identifier: Apache-2.0
#include "core/target.h"
#include "core/target_settings.h"
#include "core/toml_reader.h"
#include "tests/places.h"

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
  CHECK(target->cores == 64);
  CHECK(target->ldm_bytes == 65536);
  CHECK(target->ldm_available() == 59392);
  CHECK(target->good_block_bytes == 256);
  // 64 cores of 8 flop a cycle at 1.45 GHz are the 742.4 GFLOP/s of a core group.
  CHECK(target->cores * target->vector_flops_per_cycle * target->clock_hz == Approx(742.4e9));
  for (std::size_t i = 1; i < target->dma_bandwidth.size(); ++i) {
    CHECK(target->dma_bandwidth[i].block_bytes > target->dma_bandwidth[i - 1].block_bytes);
    CHECK(target->dma_bandwidth[i].bytes_per_second > target->dma_bandwidth[i - 1].bytes_per_second);
  }
  CHECK(target->dma_bandwidth.back().bytes_per_second < 34.1e9);
}

TEST_CASE("the sample targets read, and the double one differs from sw26010 in its LDM only") {
  Diagnostics diagnostics;
  const auto small = load_target(sample_folder + "small16.toml", {}, diagnostics);
  REQUIRE(small);
  CHECK(small->cores == 16);
  auto twice = load_target(sample_folder + "sw26010-double-ldm.toml", {}, diagnostics);
  const auto plain = load_target("sw26010", {}, diagnostics);
  REQUIRE(twice);
  REQUIRE(plain);
  CHECK(twice->ldm_bytes == 2 * plain->ldm_bytes);
  twice->ldm_bytes = plain->ldm_bytes;
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

TEST_CASE("settings lie over a target") {
  Diagnostics diagnostics;
  const auto target = load_target("sw26010", {"cores=1", "ldm_reserved=0", "name=\"one\""}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(target);
  CHECK(target->cores == 1);
  CHECK(target->ldm_available() == 65536);
  CHECK(target->name == "one");
}

TEST_CASE("wrong settings are named by their text") {
  Diagnostics diagnostics;
  CHECK_FALSE(load_target("sw26010", {"core=1", "ldm_bytes=\"much\"", "name=one"}, diagnostics));
  CHECK(format_diagnostics(diagnostics) ==
        "--set target.name=one:1:6: error: Error while parsing value: could not determine value type [toml-syntax]\n"
        "    name=one\n"
        "         ^\n"
        "  help: a setting is key=value in TOML syntax; strings stand in quotes\n"
        "--set target.ldm_bytes=\"much\":1:11: error: 'ldm_bytes' is a string, an integer was wanted [wrong-type]\n"
        "    ldm_bytes=\"much\"\n"
        "              ^^^^^^\n"
        "--set target.core=1:1:1: error: unknown key 'core' [unknown-key]\n"
        "    core=1\n"
        "    ^^^^\n"
        "  help: did you mean 'cores'?\n");
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
                                               }}};
  const std::string text = "name = 'one'\nsummary = ''\nfamily = 'banked'\nclock_hz = 500000000\nbanks = 4\n";
  Diagnostics diagnostics;
  const auto target = parse_target(text, "t.toml", {}, diagnostics, families);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(target);
  CHECK(target->own.at("banks") == 4);
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
  CHECK(complaint("cores        = 16", "family       = \"athred\"") ==
        "t.toml:8:16: error: no family of targets 'athred' [unknown-family]\n"
        "    family       = \"athred\"\n"
        "                   ^^^^^^^^\n"
        "  help: did you mean 'athread'?\n");
}

TEST_CASE("every mistake in a target file has its place and caret") {
  CHECK(complaint("clock_hz     = 1.0e9", "clok_hz      = 1.0e9") ==
        "t.toml: error: 'clock_hz' is missing: a number was wanted [missing-key]\n"
        "t.toml:11:1: error: unknown key 'clok_hz' [unknown-key]\n"
        "    clok_hz      = 1.0e9\n"
        "    ^^^^^^^\n"
        "  help: did you mean 'clock_hz'?\n");
  CHECK(complaint("cores        = 16", "cores        = 1.5") ==
        "t.toml:8:16: error: 'cores' is a number, an integer was wanted [wrong-type]\n"
        "    cores        = 1.5\n"
        "                   ^^^\n");
  CHECK(complaint("cores        = 16", "cores        = 17") ==
        "t.toml:8:16: error: 'cores' is 17, but the mesh of 4 x 4 has 16 [too-many-cores]\n"
        "    cores        = 17\n"
        "                   ^^\n");
  CHECK(complaint("ldm_reserved  = 4096", "ldm_reserved  = 40960") ==
        "t.toml:18:17: error: 'ldm_reserved' is 40960, which leaves nothing of the 32768 bytes of 'ldm_bytes' "
        "[no-ldm-left]\n"
        "    ldm_reserved  = 40960\n"
        "                    ^^^^^\n");
  CHECK(complaint("ldm_alignment = 32", "ldm_alignment = 33") ==
        "t.toml:19:17: error: 'ldm_alignment' is 33, a power of two was wanted [not-a-power-of-two]\n"
        "    ldm_alignment = 33\n"
        "                    ^^\n");
  CHECK(complaint("launch_seconds = 10e-6", "launch_seconds = -1") ==
        "t.toml:32:18: error: 'launch_seconds' is -1, but lies between 0 and 10 [out-of-range]\n"
        "    launch_seconds = -1\n"
        "                     ^^\n");
  CHECK(complaint("launch_seconds = 10e-6", "launch_seconds = nan") ==
        "t.toml:32:18: error: 'launch_seconds' is nan, but lies between 0 and 10 [out-of-range]\n"
        "    launch_seconds = nan\n"
        "                     ^^^\n");
  CHECK(complaint("mesh_rows    = 4", "mesh_rows    = ") ==
        "t.toml:9:16: error: Error while parsing key-value pair: expected value, saw '\\n' [toml-syntax]\n"
        "    mesh_rows    = \n"
        "                   ^\n");
  CHECK(complaint("block_bytes =   64", "block_bytes =    4") ==
        "t.toml:27:22: error: 4 follows 16, but the points of 'dma_bandwidth' ascend by block_bytes [not-ascending]\n"
        "      { block_bytes =    4, bytes_per_second = 4.0e9 },\n"
        "                         ^\n");
  CHECK(complaint("{ block_bytes =   64, bytes_per_second = 4.0e9 }", "64") ==
        "t.toml:27:3: error: 'dma_bandwidth' holds an integer, tables were wanted [wrong-type]\n"
        "      64,\n"
        "      ^^\n");
}

TEST_CASE("several mistakes are reported in one run") {
  Diagnostics diagnostics;
  CHECK_FALSE(parse_target("name = 3\ncores = 0\n", "t.toml", {}, diagnostics));
  const std::string text = format_diagnostics(diagnostics);
  CHECK(text.find("'name' is an integer, a string was wanted") != std::string::npos);
  CHECK(text.find("'cores' is 0, but lies between 1 and 4096") != std::string::npos);
  CHECK(text.find("'ldm_bytes' is missing: an integer was wanted") != std::string::npos);
}

}  // namespace
}  // namespace stowage
