// SPDX-License-Identifier: Apache-2.0
// From a path to a LoadedPlan: reads a compiled folder, or compiles a model or a job; or, of nests, what
// the checker says. For worker threads only.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/progress.h"
#include "inspector/state/checked_file.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

struct Loading {
  PlanPtr plan;                   ///< null after an error, a stop, or where a job is to be chosen
  CheckedPtr checked;             ///< instead of a plan: of a nest, an exercise, or a folder that is no sound plan
  std::vector<std::string> jobs;  ///< of a batch file with several, when none was named
  Diagnostics diagnostics;
};

/// `job` names a batch file's job. An InternalError on the window's thread.
Loading load(const std::string& path, const std::string& job, const std::stop_token& stop,
             const ProgressSink& progress);

}  // namespace stowage::inspector
