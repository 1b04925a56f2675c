// SPDX-License-Identifier: Apache-2.0
// The checker beside the emulation: good nests whose transfers or waits were changed by chance, or whose schedule was
// edited, are emitted, compiled and run. Whatever the emulation refuses, or gives other results, the checker has found,
// and it says where. STOWAGE_SEED repeats a run, STOWAGE_ROUNDS lengthens it: 400 are more than 500 changes that do
// harm.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "core/check.h"
#include "emitted_program.h"
#include "emitter/emulation/emulate.h"
#include "lowering/check/check_nest.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/loop_nest_parser.h"
#include "tests/lowering/changed_nest.h"
#include "tests/random_runs.h"

namespace stowage {
namespace {

struct Emulated {
  bool refused = false;
  bool unwritten = false;  ///< there are no sources that could do this
  std::string said;
  std::set<StatementId> statements;  ///< that the refusal names, by the lines of the source
  std::vector<Tensor> outputs;
};

Emulated emulated(const LoopNest& nest, const Target& target, const std::map<StageTensorId, Tensor>& inputs) {
  Emulated made;
  std::set<std::vector<std::int64_t>> places;
  for (int core = 0; core < nest.cores_used(); ++core) places.insert(values_of_core(nest, core));
  if (places.size() < static_cast<std::size_t>(nest.cores_used())) {
    made.refused = made.unwritten = true;
    made.said = "two cores have the same place in the grid";
    return made;
  }
  std::optional<EmittedProgram> written;
  std::optional<Program> planned;
  try {
    planned = fixtures::program_of(nest, target);
    written = emit_athread(*planned);
  } catch (const InternalError& failure) {
    // It gets verified nests only: a wait for no transfer, say, has no C.
    made.refused = made.unwritten = true;
    made.said = failure.what();
    return made;
  }
  const Program& program = *planned;
  const EmittedProgram& emitted = *written;
  std::vector<Tensor> values;
  for (const StageTensorId t : nest.stages.tensors.ids()) {
    if (nest.stages.tensors[t].role == TensorRole::input) values.push_back(inputs.at(t));
  }
  EmulationOptions options;
  options.changed_sources = true;
  options.workers = 1;
  options.time_limit = std::chrono::seconds(20);
  Diagnostics diagnostics;
  auto result = emulate(program, emitted, values, options, {}, diagnostics);
  made.said = format_diagnostics(diagnostics);
  made.refused = !result;
  if (result) made.outputs = std::move(result->outputs);
  for (const Diagnostic& one : diagnostics.entries()) {
    if (one.severity != Severity::error) continue;
    for (const EmittedFile& file : emitted.files) {
      if (!one.location.file.ends_with(file.path)) continue;
      for (const LineOrigin& origin : file.origins) {
        if (origin.line == one.location.line) made.statements.insert(origin.statement);
      }
    }
  }
  return made;
}

bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& one, const Tensor& other) {
    return std::equal(one.bytes().begin(), one.bytes().end(), other.bytes().begin(), other.bytes().end());
  });
}

/// Whether a fault of the check is about one of these statements.
bool names_one_of(const NestCheck& check, const std::set<StatementId>& statements) {
  return std::any_of(check.faults.begin(), check.faults.end(), [&](const Fault& fault) {
    return (fault.at && statements.contains(fault.at->statement)) ||
           (fault.other && statements.contains(fault.other->statement));
  });
}

}  // namespace

TEST_CASE("what the emulation refuses of a changed nest, or gives other results, the checker has found, and where") {
  const std::uint64_t seed = test::number_from("STOWAGE_SEED", 20261125);
  const std::uint64_t rounds = test::number_from("STOWAGE_ROUNDS", 8);
  int harmful = 0, named = 0, unseen = 0, unwritten = 0;
  std::map<std::string_view, int> families;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto sample = fixtures::drawn_sample(seed + round);
    if (!sample) continue;
    const std::string text = to_text(sample->nest);
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1\n" << text);
    REQUIRE(check_nest(sample->nest, sample->target).faults.empty());
    const Emulated good = emulated(sample->nest, sample->target, sample->inputs);
    INFO(good.said);
    REQUIRE_FALSE(good.refused);
    std::mt19937 random(static_cast<unsigned>(seed + round));
    for (int change = 0; change < 4; ++change) {
      const std::string edited =
          change % 2 == 1 ? fixtures::with_edited_schedule(text, random) : fixtures::changed(text, random);
      Diagnostics diagnostics;
      const auto nest =
          edited.empty() ? Result<LoopNest>(Failed{}) : parse_loop_nest(edited, diagnostics, sample->constants);
      if (!nest || edited == text) continue;
      INFO(edited);
      const NestCheck check = check_nest(*nest, sample->target);
      const Emulated run = emulated(*nest, sample->target, sample->inputs);
      INFO(run.said);
      if (!run.refused && same(run.outputs, good.outputs)) {
        // Luck, or what the emulation does not look at.
        unseen += check.faults.empty() ? 0 : 1;
        continue;
      }
      (run.unwritten ? unwritten : harmful) += 1;
      if (check.not_looked_at > 0 && check.faults.empty()) continue;
      REQUIRE_FALSE(check.faults.empty());
      ++families[name_of(check.faults.front().family)];
      for (const Fault& fault : check.faults) INFO(name_of(fault.family) << ": " << fault.what);
      // A core that asks a table for an entry that it does not have is followed no further.
      if (!run.statements.empty() && check.complete) {
        CHECK(names_one_of(check, run.statements));
        ++named;
      }
    }
  }
  std::string all;
  for (const auto& [family, count] : families) all += fmt::format(" {} {}", family, count);
  INFO(harmful << " harmful changes, of " << named << " the emulation names a statement;" << all << "; " << unseen
               << " with faults that did no harm");
  if (rounds > 100)
    WARN(harmful << " harmful changes, " << named << " at a statement;" << all << "; unseen " << unseen
                 << ", without sources " << unwritten);
  CHECK(harmful >= static_cast<int>(rounds));
}

}  // namespace stowage
