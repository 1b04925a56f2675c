// SPDX-License-Identifier: Apache-2.0
// What the command line must be told to make the opened plan again, with the edits: model, target, options. A plan
// names files as they were called where it was compiled; here they are found again, so that what is written works
// anywhere.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inspector/state/loaded_plan.h"
#include "inspector/whatif/edit.h"

namespace stowage::inspector {

struct JobForm {
  std::string name = "what-if";
  std::string model;                            ///< absolute path
  std::optional<SampleNetwork> network;         ///< instead of a file
  std::string target;                           ///< a built-in one
  std::map<std::string, std::string> settings;  ///< key of the target's file → value as TOML, where it is another
  std::string fusion;
  std::string planner;
  std::string layout;      ///< how pictures lie; empty: as ONNX has them
  std::string cost;        ///< evaluator; empty: the closed form
  std::string cost_model;  ///< absolute path of what a learned one has learned; empty: none
  std::string templates;   ///< absolute path; empty: none
  std::map<std::string, std::int64_t> dimensions;
  std::map<std::string, std::string> bindings;  ///< input → absolute path
  std::vector<std::string> missing;             ///< files that were not found, or are others now
};
/// Reads the files that it names, to know that they are the plan's; for worker threads.
JobForm job_form(const LoadedPlan& plan, const PlanEdit& edit);

/// The command line without edits' schedules.
std::string command_of(const JobForm& job);
/// The command line that reads the schedules of `file`.
std::string command_of(const JobForm& job, const std::string& file);

/// For `stowage compile --schedule FILE`, with that command line as a comment.
std::string schedule_file(const PlanEdit& edit, const JobForm& job, const std::string& file);
/// For `stowage batch FILE`: one job.
std::string batch_file(const PlanEdit& edit, const JobForm& job);

}  // namespace stowage::inspector
