// SPDX-License-Identifier: Apache-2.0
#include "driver/store/pass_dump.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "driver/files/files.h"
#include "lowering/nest/passes.h"

namespace stowage {

namespace {

/// Of a fused operator's folder: operators are told apart by their numbers, and file systems end names somewhere.
constexpr std::size_t longest_name = 100;

}  // namespace

bool write_pass_dump(const Program& program, const std::filesystem::path& folder, bool force, Diagnostics& diagnostics,
                     const std::stop_token& stop) {
  auto writer = FolderWriter::open(folder, FolderContent::passes, force, diagnostics);
  if (!writer) return false;
  const std::size_t last = std::max<std::size_t>(1, program.steps.size()) - 1;
  const std::size_t digits = std::max<std::size_t>(2, std::to_string(last).size());
  for (const StepId i : program.steps.ids()) {
    const Plan* const plan = program.steps[i].plan();
    if (plan == nullptr) continue;
    const LoopNest& nest = plan->nest;
    const std::filesystem::path of_step =
        fmt::format("{:0{}}_{}", i.index(), digits, nest.name.substr(0, longest_name));
    for (const NestAfter& after : lower_pass_by_pass(nest.name, nest.stages, plan->schedule, program.target)) {
      const std::string file = fmt::format("{}_{}.nest", pass_number(after.pass), after.pass);
      if (!writer->write(of_step / file, after.text, diagnostics, stop)) return false;
    }
  }
  return !stop.stop_requested() && writer->commit(diagnostics);
}

}  // namespace stowage
