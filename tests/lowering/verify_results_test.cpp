// SPDX-License-Identifier: Apache-2.0
// Nests that touch nothing that they must not, and yet write something else than their stages define. STOWAGE_SEED
// repeats a run, STOWAGE_ROUNDS lengthens it.
#include <cmath>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include "core/evaluate.h"
#include "lowering/interpret/interpret.h"
#include "lowering/program/plan_group.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"
#include "operator_draw.h"
#include "parsed_nest.h"
#include "tests/lowering/relative_error.h"
#include "tests/random_runs.h"

namespace stowage::verify_results_test {
namespace {

Target machine() {
  Target target;
  target.name = "machine";
  return target;
}

/// A mean: a sum with a finish, of which one core computes 4 rows at a time.
constexpr const char* mean_text = R"(nest mean {
  input A f32[8,64]
  output M f32[8]
  stage mean {
    M[x < 8] = sum over k < 64 of #0
    #0 = A[x, k]
    finish (acc * 0.015625)
  }
  variables xo, ko
  memory A = A strides [64, 1]
  memory M = M strides [1] written
  ldm 320 bytes
  buffer AA f32[4,16] at 0, 256 bytes = A[4*xo, 16*ko]
  buffer MM f32[4] at 256, 16 bytes = M[4*xo]
  body {
    0  for xo < 2 of x {
    1    fill MM with 0
    2    for ko < 4 of k {
    3      get A[4*xo:4*xo + 4, 16*ko:16*ko + 16] -> AA
    4      wait 3
    5      compute update MM = mean(AA) over x=4*xo:4*xo + 4, k=16*ko:16*ko + 16
         }
    6    compute finish MM = mean(_) over x=4*xo:4*xo + 4
    7    put MM -> M[4*xo:4*xo + 4]
    8    wait 7
       }
  }
}
)";

std::string replaced(std::string text, const std::string& before, const std::string& after) {
  const auto at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

/// What verify_results says of a nest that verify lets pass.
std::string verdict(const std::string& text) {
  const LoopNest nest = parsed(text);
  REQUIRE(verify(nest, machine()).value_or("sound") == "sound");
  const auto broken = verify_results(nest, machine());
  return broken ? broken->substr(0, broken->find(':')) : "right";
}

std::string verdict(const std::string& before, const std::string& after) {
  INFO(before << " -> " << after);
  return verdict(replaced(mean_text, before, after));
}

TEST_CASE("a sum that is complete and finished once is right", "[verify_results]") {
  CHECK(verdict(mean_text) == "right");
  CHECK(verdict("for ko < 4 of k {", "for ko < 4 of k {  // another note") == "right");
}

TEST_CASE("a sum that begins with something else is refused", "[verify_results]") {
  CHECK(verdict("fill MM with 0", "fill MM with 1") == "sum-starts-once");
  CHECK(verdict("    8    wait 7\n", "    8    wait 7\n    9    fill MM with 0\n") == "sum-starts-once");
}

TEST_CASE("a sum without all of its terms, or with some twice, is refused", "[verify_results]") {
  CHECK(verdict("for ko < 4", "for ko < 3") == "sum-complete");
  CHECK(verdict("k=16*ko:16*ko + 16", "k=16*ko:16*ko + 15") == "sum-complete");
  std::string twice = replaced(mean_text, "variables xo, ko", "variables xo, z, ko");
  twice = replaced(twice, "    2    for ko < 4 of k {", "        for z < 2 of k {\n        for ko < 4 of k {");
  // Statements are counted on from here.
  for (const char* number : {"    3  ", "    5  ", "    6  ", "    8  "}) twice = replaced(twice, number, "       ");
  twice = replaced(replaced(twice, "    4      wait 3", "wait 4"), "    7    put", "put");
  twice = replaced(replaced(twice, "         compute finish", "}\n compute finish"), "wait 7", "wait 8");
  CHECK(verdict(twice) == "sum-complete");
}

TEST_CASE("a sum that is finished twice, in its loops or in part is refused", "[verify_results]") {
  const std::string finish = "    6    compute finish MM = mean(_) over x=4*xo:4*xo + 4\n";
  const LoopNest twice = parsed(
      replaced(replaced(replaced(mean_text, "    7    put", "    8    put"), "    8    wait 7", "    9    wait 8"),
               finish, finish + "    7    compute finish MM = mean(_) over x=4*xo:4*xo + 4\n"));
  CHECK(verify(twice, machine()) ==
        "read-before-there: statement 7 'compute finish MM = mean(_) over x=4*xo:4*xo + 4': buffer MM is finished, but "
        "it is complete");
  CHECK(verify_results(twice, machine()) ==
        "sum-finished-once: statement 7 'compute finish MM = mean(_) over x=4*xo:4*xo + 4': buffer MM is not finished "
        "once, as a whole and behind its computation");
  const LoopNest narrow = parsed(replaced(mean_text, "compute update MM = mean(AA) over x=4*xo:4*xo + 4",
                                          "compute update MM = mean(AA) over x=4*xo:4*xo + 3"));
  CHECK(verify(narrow, machine()) ==
        "touches-what-is-there: statement 6 'compute finish MM = mean(_) over x=4*xo:4*xo + 4': touches 0..3 of "
        "dimension 0 of M, of which buffer MM holds another part (xo = 0)");
  CHECK(verify_results(narrow, machine()).value_or("right").starts_with("sum-finished-once: statement 6"));
}

TEST_CASE("a sum of which a guard leaves out terms is refused", "[verify_results]") {
  // Guards that are evaluated, because a transfer is awaited in one.
  const auto guarded_by = [](const std::string& guard) {
    const std::string text = mean_text;
    return text.substr(0, text.find("    0  for")) + R"(
    0  for xo < 2 of x {
    1    if any(1) > 0 {
    2      fill MM with 0
         }
    3    for ko < 4 of k {
    4      get A[4*xo:4*xo + 4, 16*ko:16*ko + 16] -> AA
    5      wait 4
    6      if any()" +
           guard + R"() > 0 {
    7        compute update MM = mean(AA) over x=4*xo:4*xo + 4, k=16*ko:16*ko + 16
           }
         }
    8    if any(1) > 0 {
    9      compute finish MM = mean(_) over x=4*xo:4*xo + 4
         }
   10    put MM -> M[4*xo:4*xo + 4]
   11    if any(1) > 0 {
   12      wait 10
         }
       }
  }
}
)";
  };
  CHECK(verdict(guarded_by("1")) == "right");
  CHECK(verdict(guarded_by("xo, 1 - ko")) == "sum-starts-once");
}

TEST_CASE("a form that the emitter has no loops for is refused", "[verify_results]") {
  CHECK(verdict("compute finish MM = mean(_) over x=4*xo:4*xo + 4",
                "compute finish MM = mean(_) over x=4*xo:4*xo + 4 as vector lane x") == "right");
  CHECK(verdict("k=16*ko:16*ko + 16\n", "k=16*ko:16*ko + 16 as vector lane k\n") == "compute-form");
  CHECK(verdict("k=16*ko:16*ko + 16\n", "k=16*ko:16*ko + 16 as register_block lane k\n") == "compute-form");
}

TEST_CASE("a barrier, which no plan has yet, is refused", "[verify_results]") {
  CHECK(verdict("    8    wait 7\n", "    8    wait 7\n    9    barrier\n") == "no-barrier");
}

// ---- by chance ----

/// A text of a nest with a mistake behind its stages.
class Mistakes {
 public:
  Mistakes(const std::string& text, std::uint64_t seed) : random_(seed) {
    std::size_t line = 0;
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = text.find('\n', from);
      const std::string whole = text.substr(from, end - from);
      lines_.push_back(whole.substr(0, whole.find("  // ")));
      if (lines_.back().starts_with("  variables ") || lines_.back().starts_with("  memory ")) {
        first_ = first_ == 0 ? line : first_;
      }
      from = end + 1;
      ++line;
    }
    for (const std::string& each : lines_) {
      for (const std::string& word : words_of(each)) words_.push_back(word);
    }
  }

  std::string next() {
    std::vector<std::string> lines = lines_;
    const std::size_t at = first_ + random_() % (lines.size() - first_);
    switch (random_() % 6) {
      case 0: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at)); break;
      case 1: {
        const std::size_t other = first_ + random_() % (lines.size() - first_);
        if (lines[at].size() > 7 && lines[other].size() > 7) {
          const std::string kept = lines[at].substr(7);
          lines[at] = lines[at].substr(0, 7) + lines[other].substr(7);
          lines[other] = lines[other].substr(0, 7) + kept;
        }
        break;
      }
      default: {
        std::vector<std::string> words = words_of(lines[at]);
        if (words.empty()) break;
        std::string& word = words[random_() % words.size()];
        word = std::isdigit(static_cast<unsigned char>(word[0])) != 0 && random_() % 2 == 0
                   ? std::to_string(std::stoll(word.substr(0, 9)) + (random_() % 2 == 0 ? 1 : -1))
                   : words_[random_() % words_.size()];
        lines[at].clear();
        for (const std::string& each : words) lines[at] += each;
      }
    }
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }

 private:
  static std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (words.empty() || !in_word(line[i]) || !in_word(line[i - 1])) words.emplace_back();
      words.back() += line[i];
    }
    return words;
  }

  std::mt19937_64 random_;
  std::vector<std::string> lines_;
  std::vector<std::string> words_;
  std::size_t first_ = 0;
};

bool same_memory(const LoopNest& a, const LoopNest& b) {
  return std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                    [](const NestTensor& x, const NestTensor& y) {
                      return x.tensor == y.tensor && x.strides == y.strides && x.written == y.written;
                    });
}

TEST_CASE("what passes verify and verify_results computes its stages, however its text was changed",
          "[verify_results]") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261122);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 400);
  int sound = 0;
  int right = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    fixtures::OperatorDraw draw(seed + round);
    const auto drawn = draw.draw();
    if (!drawn) continue;
    const Target target = draw.machine();
    const Planned plan = plan_group("op", drawn->stages, {}, SwtvmPlanner(), target, {});
    if (std::holds_alternative<Decision>(plan)) continue;
    const LoopNest& nest = std::get<Plan>(plan).nest;
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1: " << drawn->text);
    REQUIRE(verify_results(nest, target).value_or("right") == "right");
    std::map<StageTensorId, Tensor> inputs;
    std::map<std::string, Tensor> constants;
    std::size_t next = 0;
    for (const StageTensorId t : drawn->stages.tensors.ids()) {
      const StageTensor& tensor = drawn->stages.tensors[t];
      if (tensor.role == TensorRole::input) inputs[t] = drawn->inputs[next++];
      if (tensor.role == TensorRole::constant) inputs[t] = *tensor.value;
      if (tensor.value) constants.emplace(tensor.name, *tensor.value);
    }
    const StageTensorId output = drawn->stages.stages.back().output;
    const auto expected = evaluate(drawn->stages, drawn->inputs);
    Mistakes mistakes(to_text(nest), seed + round);
    for (int mistake = 0; mistake < 25; ++mistake) {
      const std::string text = mistakes.next();
      Diagnostics ignored;
      const auto changed = parse_loop_nest(text, ignored, constants);
      if (!changed || to_text(changed->stages) != to_text(nest.stages) || !same_memory(*changed, nest) ||
          verify(*changed, target)) {
        continue;
      }
      ++sound;
      if (verify_results(*changed, target)) continue;
      ++right;
      INFO(text);
      REQUIRE(test::relative_error(expected[output], interpret(*changed, inputs).at(output)) < 2e-5);
    }
  }
  INFO(right << " of " << sound << " sound nests with a mistake were let pass");
  // Most of those are changes that change nothing: names, largest extents, offsets in the LDM.
  CHECK((rounds < 100 || (right > 20 && sound > right)));
}

/// Y[x, i] = X[8*x + i] + X[8*x + i]; the body says which part of X is loaded.
std::string rows_text(const std::string& body) {
  return "nest rows {\n  input X f32[16]\n  output Y f32[2,8]\n  table t = [0, 0]\n"
         "  stage twice {\n    Y[x < 2, i < 8] = (#0 + #0)\n    #0 = X[8*x + i]\n  }\n"
         "  variables c, ko\n  core c < 2 of x stride 1\n"
         "  memory X = X strides [1]\n  memory Y = Y strides [8, 1] written\n"
         "  ldm 96 bytes\n"
         "  buffer XX f32[8] at 0, 32 bytes = X[0]\n  buffer YY f32[1,8] at 64, 32 bytes = Y[c, 0]\n"
         "  body {\n" +
         body + "    put YY -> Y[c:c + 1, 0:8]\n    wait YY\n  }\n}\n";
}

/// C[x] = sum over k of A[x] * B[k], in the second of two trips.
constexpr const char* late_sum_text = R"(nest late {
  input A f32[8]
  input B f32[8]
  output C f32[8]
  stage s {
    C[x < 8] = sum over k < 8 of (#0 * #1)
    #0 = A[x]
    #1 = B[k]
  }
  variables ko
  memory A = A strides [1]
  memory B = B strides [1]
  memory C = C strides [1] written
  ldm 128 bytes
  buffer AA f32[8] at 0, 32 bytes = A[0]
  buffer BB f32[8] at 32, 64 bytes = B[0] slots 2
  buffer CC f32[8] at 96, 32 bytes = C[0]
  body {
    fill CC with 0
    get A[0:8] -> AA
    wait AA
    for ko < 2 of k {
      get B[0:8] -> BB[ko]
      wait BB[ko]
      compute update CC = s(AA, BB[ko]) over x=0:8, k=0:8*ko
    }
    put CC -> C[0:8]
    wait CC
  }
}
)";

TEST_CASE("what passes verify reads what is there, with tables, trips of each core's own and boxes without points",
          "[verify_results]") {
  const std::string compute = "    compute map YY = twice(XX from [8*c]) over x=c:c + 1, i=0:8\n";
  const std::vector<std::string> texts = {
      rows_text("    for ko < c + 1 of k {\n      get X[8*ko:8*ko + 8] -> XX from [8*ko]\n      wait XX\n    }\n" +
                compute),
      rows_text("    for ko < 2 of k {\n      get X[0:8] -> XX from [t[ko]]\n      wait XX\n    }\n"
                "    get X[8*c:8*c + 8] -> XX from [8*c]\n    wait XX\n" +
                compute),
      late_sum_text};
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261122);
  const std::uint64_t mistakes = 4 * test::number_from("STOWAGE_ROUNDS", 400);
  for (std::size_t which = 0; which < texts.size(); ++which) {
    const LoopNest nest = parsed(texts[which]);
    INFO(texts[which]);
    CHECK(verify(nest, machine()).value_or("sound") == "sound");
    std::map<StageTensorId, Tensor> inputs;
    StageTensorId output;
    std::vector<Tensor> operands;
    for (const StageTensorId t : nest.stages.tensors.ids()) {
      const StageTensor& tensor = nest.stages.tensors[t];
      if (tensor.role == TensorRole::output) output = t;
      if (tensor.role != TensorRole::input) continue;
      std::vector<float> values(static_cast<std::size_t>(element_count(tensor.shape)));
      for (std::size_t v = 0; v < values.size(); ++v) values[v] = static_cast<float>(v + 1);
      operands.push_back(Tensor::of_floats(tensor.shape, values));
      inputs.emplace(t, operands.back());
    }
    const Tensor expected = evaluate(nest.stages, operands)[output];
    CHECK(test::relative_error(expected, interpret(nest, inputs).at(output)) < 2e-5);
    Mistakes mistaken(texts[which], seed + which);
    int sound = 0;
    for (std::uint64_t mistake = 0; mistake < mistakes; ++mistake) {
      const std::string text = mistaken.next();
      Diagnostics ignored;
      const auto changed = parse_loop_nest(text, ignored);
      INFO("STOWAGE_SEED=" << seed << ", mistake " << mistake << ": " << text);
      if (!changed || to_text(changed->stages) != to_text(nest.stages) || !same_memory(*changed, nest) ||
          verify(*changed, machine())) {
        continue;
      }
      ++sound;
      const Tensor actual = interpret(*changed, inputs).at(output);
      // A sum may lack terms, which verify does not look at; the LDM holds NaN where nothing was put.
      const bool sums = nest.stages.stages[StageId(0)].reduction != Reduction::none;
      for (std::int64_t i = 0; i < actual.size(); ++i) {
        REQUIRE((sums ? !std::isnan(actual.as_double(i)) : actual.as_double(i) == expected.as_double(i)));
      }
    }
    CHECK(sound > 0);
  }
}

}  // namespace
}  // namespace stowage::verify_results_test
