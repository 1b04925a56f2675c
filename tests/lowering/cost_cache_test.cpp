// SPDX-License-Identifier: Apache-2.0
// The cache of costs on disk: damage is noticed, several may use it, and nothing of anybody else is touched.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include <unistd.h>

#include <catch2/catch.hpp>

#include "core/temporary_folder.h"
#include "lowering/program/cost_cache.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "tests/lowering/priced_groups.h"

namespace stowage::cost_cache_test {

using namespace stowage::testing;

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

fs::path only_file(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  REQUIRE(files.size() == 1);
  return files[0];
}

}  // namespace

TEST_CASE("damaged caches are as good as none") {
  const TemporaryFolder folder;
  const Target target = small_target();
  const Graph graph = repeated_blocks();
  const auto groups = allowed_groups(find_candidate_groups(graph, built_in_templates(), nullptr, {}));
  const PlannedGroupCost cost(*find_planner("swtvm"), target, {1, folder.path()});
  const auto expected = answers_of(cost, graph, groups);
  const fs::path file = only_file(folder.path());
  const std::string whole = text_of(file);
  const unsigned seed = 20261121;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    std::string text = whole;
    if (i % 2 == 0) text.resize(random() % text.size());
    for (unsigned flips = random() % 4; flips > 0 && !text.empty(); --flips) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
    }
    std::ofstream(file, std::ios::binary) << text;
    check_equal(expected, answers_of(cost, graph, groups));
  }
  fs::remove(file);
  fs::create_directories(file);  // not even a file
  check_equal(expected, answers_of(cost, graph, groups));
}

TEST_CASE("two caches share a folder") {
  const TemporaryFolder folder;
  const std::string key_a = hash128_of("a");
  const std::string key_b = hash128_of("b");
  CostCache one(folder.path(), "same");
  CostCache two(folder.path(), "same");
  one.add(key_a, {Decision::allow(), 12});
  two.add(key_b, {Decision::refuse("ldm-capacity", "needs\tmore \\ than\nthere is", "3 KiB more"), 0});
  one.save();
  two.save();
  const CostCache both(folder.path(), "same");
  REQUIRE(both.find(key_a) != nullptr);
  CHECK(both.find(key_a)->cycles == 12);
  REQUIRE(both.find(key_b) != nullptr);
  CHECK(both.find(key_b)->decision.flip == "3 KiB more");
  CHECK(both.find(key_b)->decision.reason == "needs\tmore \\ than\nthere is");
  CHECK(CostCache(folder.path(), "other").find(key_a) == nullptr);
}

TEST_CASE("records of two kinds lie side by side, whatever their texts hold") {
  const TemporaryFolder folder;
  const std::string key = hash128_of("a");
  const std::vector<std::string> texts = {"", " ", "a b", "{\"x\": [1,\n2]}\\n \\", std::string("\0\x1f\xff", 3)};
  RecordFile costs(folder.path(), costs_of_groups, "same");
  costs.add(key, "12");
  costs.save();
  RecordFile choices(folder.path(), choices_of_planners, "same");
  for (const std::string& text : texts) choices.add(hash128_of(text), text);
  choices.save();
  const RecordFile of_costs(folder.path(), costs_of_groups, "same");
  CHECK(of_costs.keys() == std::vector<std::string>{key});
  CHECK(of_costs.find(key) == "12");
  RecordFile again(folder.path(), choices_of_planners, "same");
  CHECK(again.keys().size() == texts.size());
  for (const std::string& text : texts) CHECK(again.find(hash128_of(text)) == text);
  again.add(hash128_of(texts[0]), "another one");
  CHECK(again.find(hash128_of(texts[0])) == "another one");
  again.save();
  const RecordFile last(folder.path(), choices_of_planners, "same");
  CHECK(last.keys().size() == texts.size());
  CHECK(last.find(hash128_of(texts[0])) == "another one");
  CHECK(last.find(hash128_of(texts[1])) == texts[1]);
}

TEST_CASE("a file of records that is read is one that is in use") {
  const TemporaryFolder folder;
  RecordFile costs(folder.path(), costs_of_groups, "same");
  costs.add(hash128_of("a"), "12");
  costs.save();
  const fs::path file = only_file(folder.path());
  const auto day_ago = fs::file_time_type::clock::now() - std::chrono::hours(24);
  fs::last_write_time(file, day_ago);
  CHECK(RecordFile(folder.path(), costs_of_groups, "same").find(hash128_of("a")) == "12");
  CHECK(fs::last_write_time(file) > day_ago + std::chrono::hours(23));
}

TEST_CASE("a cache of costs is written under a name that nobody can guess") {
  const TemporaryFolder folder;
  const auto precious = folder.path() / "precious";
  std::ofstream(precious) << "a thesis";
  const auto cache = folder.path() / "cache";
  std::filesystem::create_directory(cache);
  const std::string file = hash128_of("same") + ".costs";
  // What stands at a name that could be guessed, a link to somebody's file, is neither followed nor taken.
  std::filesystem::create_symlink(precious, cache / (file + "." + std::to_string(::getpid()) + ".tmp"));
  CostCache costs(cache, "same");
  costs.add(hash128_of("a"), {Decision::allow(), 12});
  costs.save();
  std::ifstream stream(precious);
  std::string text;
  std::getline(stream, text);
  CHECK(text == "a thesis");
  CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(cache / file)));
  CHECK(CostCache(cache, "same").find(hash128_of("a")) != nullptr);
}

TEST_CASE("what a killed process left of a cache of costs goes with the next one") {
  const TemporaryFolder folder;
  const std::string file = hash128_of("same") + ".costs";
  const auto left = folder.path() / ("." + file + ".stowage-0123456789abcdef");
  std::ofstream(left) << "half";
  CostCache costs(folder.path(), "same");
  costs.add(hash128_of("a"), {Decision::allow(), 12});
  costs.save();
  CHECK_FALSE(std::filesystem::exists(left));
}

TEST_CASE("a folder of costs is tidied of our own files only") {
  const TemporaryFolder folder;
  const std::string ours = hash128_of("same") + ".costs";
  const auto write = [&](const std::string& name, int hours_old) {
    std::ofstream(folder.path() / name) << "text";
    fs::last_write_time(folder.path() / name, fs::file_time_type::clock::now() - std::chrono::hours(hours_old));
  };
  const std::vector<std::string> of_others = {"thesis.costs.txt",
                                              "my.costs.bak",
                                              "my.costs",
                                              ".costs",
                                              "." + ours + ".stowage-notes",
                                              ".my.costs.stowage-0123456789abcdef",
                                              ours + ".stowage-0123456789abcdef",
                                              ours + ".bak",
                                              ours + ".tmp",
                                              ours + ".mine.tmp",
                                              hash128_of("x").substr(1) + ".costs"};
  for (const std::string& name : of_others) write(name, 200);
  const std::string other = hash128_of("other") + ".costs";
  const std::vector<std::string> left = {other + ".1234.tmp", "." + other + ".stowage-0123456789abcdef"};
  for (const std::string& name : left) write(name, 2);
  const std::string fresh = "." + other + ".stowage-fedcba9876543210";
  write(fresh, 0);
  constexpr int conditions = 70;  // more than are kept
  for (int i = 0; i < conditions; ++i) write(hash128_of(std::to_string(i)) + ".costs", 1 + i);
  CostCache costs(folder.path(), "same");
  costs.add(hash128_of("a"), {Decision::allow(), 12});
  costs.save();

  const auto is_there = [&](const std::string& name) { return fs::exists(folder.path() / name); };
  for (const std::string& name : of_others) {
    INFO(name);
    CHECK(is_there(name));
  }
  for (const std::string& name : left) {
    INFO(name);
    CHECK_FALSE(is_there(name));
  }
  CHECK(is_there(fresh));
  CHECK(is_there(ours));
  int kept = 0;
  for (int i = 0; i < conditions; ++i) kept += is_there(hash128_of(std::to_string(i)) + ".costs") ? 1 : 0;
  CHECK(kept == 63);
  CHECK(is_there(hash128_of("0") + ".costs"));
  CHECK_FALSE(is_there(hash128_of("69") + ".costs"));
}

}  // namespace stowage::cost_cache_test
