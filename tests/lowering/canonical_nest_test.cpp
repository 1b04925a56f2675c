// SPDX-License-Identifier: Apache-2.0
// Which nests have one canonical text. STOWAGE_SEED repeats a run, STOWAGE_ROUNDS lengthens it.
#include <iostream>
#include <map>
#include <random>
#include <regex>

#include <catch2/catch.hpp>

#include "lowering/ir/loop_nest_parser.h"
#include "lowering/ir/rewrite.h"
#include "lowering/model/folded_stages.h"
#include "lowering/program/canonical_nest.h"
#include "lowering/time/time_model.h"
#include "lowering/verify/verify.h"
#include "tests/lowering/plain_counts.h"
#include "tests/lowering/program_draw.h"
#include "tests/random_runs.h"

namespace stowage::canonical_nest_test {
namespace {

constexpr std::uint64_t usual_rounds = 60;

std::string renamed(const std::string& name) { return "other_" + name; }

Block renamed(const Block& block) {
  return rewritten(block, [](const Stmt& statement) -> Replacement {
    Stmt::Node node = statement.node;
    if (auto* const loop = std::get_if<Loop>(&node)) loop->iterator = renamed(loop->iterator);
    return Block{std::make_shared<const Stmt>(Stmt{statement.id, std::move(node), "as " + statement.note})};
  });
}

/// The nest with other names and notes, of other tensors of a graph with other values.
LoopNest elsewhere(LoopNest nest) {
  nest.name = renamed(nest.name);
  for (StageTensor& tensor : nest.stages.tensors) {
    tensor.name = renamed(tensor.name);
    tensor.source = TensorId(tensor.source ? tensor.source->index() + 7 : 3);
    if (tensor.value && !literal_of(tensor)) {
      const std::size_t bytes = tensor.value->bytes().size();
      tensor.value = Tensor(tensor.value->type(), tensor.value->shape(), std::vector<std::byte>(bytes));
    }
  }
  for (Stage& stage : nest.stages.stages) {
    stage.name = renamed(stage.name);
    for (Axis& axis : stage.axes) axis.name = renamed(axis.name);
  }
  for (NestVariable& variable : nest.variables) variable.name = renamed(variable.name);
  for (CoreAxis& axis : nest.core_grid) axis.iterator = renamed(axis.iterator);
  for (NestTensor& tensor : nest.tensors) tensor.name = renamed(tensor.name);
  for (Buffer& buffer : nest.buffers) buffer.name = renamed(buffer.name);
  nest.body = renamed(nest.body);
  return nest;
}

std::string without_notes(const std::string& text) { return std::regex_replace(text, std::regex("  // [^\n]*"), ""); }

/// The text with one of its numbers, which is neither a statement's nor of a name, larger by one; empty where there is
/// none in a line drawn by chance. Of a constant only its shape counts.
std::string with_other_number(const std::string& text, std::mt19937& random) {
  const std::regex number("[^A-Za-z0-9_#.\"]([0-9]+)");
  std::vector<std::pair<std::size_t, std::size_t>> found;
  std::size_t from = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; from = end + 1, end = text.find('\n', from)) {
    const std::string line = text.substr(from, end - from);
    if (line.find(" source ") != std::string::npos || line.find("  constant ") != std::string::npos) continue;
    const std::size_t behind_id = line.find_first_not_of("0123456789 ");
    for (std::sregex_iterator n(line.begin(), line.end(), number), none; n != none; ++n) {
      const auto at = static_cast<std::size_t>(n->position(1));
      if (at >= behind_id) found.emplace_back(from + at, static_cast<std::size_t>(n->length(1)));
    }
  }
  if (found.empty()) return "";
  const auto [at, length] = found[random() % found.size()];
  std::string other = text;
  return other.replace(at, length, std::to_string(std::stoll(text.substr(at, length)) + 1));
}

/// The text with two neighbouring statements exchanged, or with another word for one.
std::string with_other_statement(const std::string& text, std::mt19937& random) {
  static const std::pair<const char*, const char*> words[] = {
      {" * ", " + "},           {" + ", " * "},         {"max(", "min("},
      {" update ", " map "},    {" as vector", ""},     {" in registers", ""},
      {" written", ""},         {" of row", ""},        {" of column", " of row"},
      {" else 0", ""},          {"launch barrier", ""}, {"f32", "f64"},
      {"sum over", "max over"}, {" exchanged", ""},     {" sharing ", " sharing x"}};
  const auto& [before, after] = words[random() % std::size(words)];
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return "";
  std::string other = text;
  return other.replace(at, std::string(before).size(), after);
}

template <class Visit>
void visit_drawn_nests(const Visit& visit) {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261129);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", usual_rounds);
  std::cout << "STOWAGE_SEED=" << seed << " STOWAGE_ROUNDS=" << rounds << "\n";
  for (std::uint64_t round = 0; round < rounds; ++round) {
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1");
    fixtures::OperatorDraw draw(seed + round);
    const Target target = fixtures::drawn_target(draw, false);
    const auto program = fixtures::drawn_program(draw, target, /*weights=*/false);
    std::mt19937 random(static_cast<unsigned>(seed + round));
    if (program) visit(program->plan.nest, target, random);
  }
}

TEST_CASE("a nest has the same canonical text under other names, with other notes, of other tensors") {
  int seen = 0;
  visit_drawn_nests([&](const LoopNest& nest, const Target& target, std::mt19937&) {
    const LoopNest other = elsewhere(nest);
    REQUIRE(to_text(other) != to_text(nest));
    REQUIRE(canonical_text(other) == canonical_text(nest));
    test::compare(predict_counts(other), predict_counts(nest));
    CHECK_FALSE(verify_names(other));
    CHECK(verify(other, target) == verify(nest, target));
    CHECK(estimate_time(other, predict_counts(other), target).cycles ==
          estimate_time(nest, predict_counts(nest), target).cycles);
    ++seen;
  });
  CHECK(seen > 0);
}

TEST_CASE("a nest in which anything else is different has another canonical text") {
  int numbers = 0, statements = 0;
  visit_drawn_nests([&](const LoopNest& nest, const Target&, std::mt19937& random) {
    const std::string text = to_text(nest);
    const std::string canonical = canonical_text(nest);
    std::map<std::string, Tensor> constants;
    for (const StageTensor& tensor : nest.stages.tensors) {
      if (tensor.value) constants.emplace(tensor.name, *tensor.value);
    }
    for (int change = 0; change < 40; ++change) {
      const bool of_number = change % 2 == 0;
      const std::string changed = of_number ? with_other_number(text, random) : with_other_statement(text, random);
      Diagnostics diagnostics;
      const auto other = parse_loop_nest(changed, diagnostics, constants);
      if (!other || without_notes(to_text(*other)) == without_notes(text)) continue;
      INFO(text << "\nand\n" << changed);
      REQUIRE(canonical_text(*other) != canonical);
      ++(of_number ? numbers : statements);
    }
  });
  INFO(numbers << " numbers, " << statements << " words");
  if (test::number_from("STOWAGE_ROUNDS", usual_rounds) < usual_rounds) return;
  CHECK(numbers > 300);
  CHECK(statements > 100);
}

TEST_CASE("where a tensor lies in memory is part of the canonical text") {
  fixtures::OperatorDraw draw(20261129);
  const Target target = fixtures::drawn_target(draw, false);
  const auto program = fixtures::drawn_program(draw, target, false);
  REQUIRE(program);
  LoopNest nest = program->plan.nest;
  StageTensor& tensor = nest.stages.tensors[StageTensorId(0)];
  tensor.strides = tensor.memory_strides();
  const std::string before = canonical_text(nest);
  REQUIRE_FALSE(tensor.strides.empty());
  tensor.strides.front() += 16;
  CHECK(canonical_text(nest) != before);
}

}  // namespace
}  // namespace stowage::canonical_nest_test
