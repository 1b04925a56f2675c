// SPDX-License-Identifier: Apache-2.0
// What the page of a batch tells of its sweeps: the time against each key that had numbers, with what the plans do
// otherwise at the knee, and which jobs are best of time and resource together.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "driver/batch/baseline.h"
#include "driver/batch/batch.h"

namespace stowage {

/// Every key that any of the jobs was swept over, in the order in which they come.
std::vector<std::string> swept_keys(const std::vector<Job>& jobs);
/// A value in a table: a string without its quotes.
std::string value_text(const TomlValue& value);

/// Jobs whose plans are neighbours on a line, the second one at its knee: indices of jobs.
using JobPair = std::pair<std::size_t, std::size_t>;
/// What the second one's plan does otherwise, in words (step_words).
using KneeWords = std::map<JobPair, std::string>;

/// Reads the plans of the jobs at the knees of all lines, several side by side, where they are still those that the
/// results are of. What cannot be read, or not before a stop, has no words.
KneeWords knee_words(const std::vector<Job>& jobs, const std::vector<JobEnd>& results, const PlanFolder& plan_folder,
                     int threads, const Backends& backends, const std::stop_token& stop);

/// Jobs that no other job of the same network beats: none takes at most the same time with at most the same value of
/// the key, and less of one of them. Empty unless `key` is a number of the target that was swept beside another key.
std::set<std::size_t> pareto_front(const std::string& key, const std::vector<Job>& jobs,
                                   const std::vector<JobEnd>& results);

/// The part of the page about one key; "" where there is no line to draw.
std::string sweep_part(const std::string& key, const std::vector<Job>& jobs, const std::vector<JobEnd>& results,
                       const KneeWords& words);

}  // namespace stowage
