// SPDX-License-Identifier: Apache-2.0
// A batch on a cluster that Slurm manages: the shards of the batch (driver/batch/shard.h) as tasks of an array job.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/toml_reader.h"
#include "driver/batch/shard.h"

namespace stowage {

/// The table [slurm] of a batch file. Empty texts and zeros: the site's own default.
struct SlurmSettings {
  int shards = 0;         ///< tasks in all; 0: one a job, at most usual_slurm_shards
  int max_array = 1000;   ///< most tasks of one array, and the largest number of one: Slurm's MaxArraySize less 1
  int limit = 0;          ///< tasks that may run at once
  int cpus = 0;           ///< of a task, and jobs that it runs side by side
  std::string partition;  ///< names, without characters that end a line of the script or begin a pattern
  std::string account;
  std::string qos;
  std::string time;                  ///< as Slurm has it: "30", "2:00:00", "1-12"
  std::string memory;                ///< of a task: "4G"
  std::vector<std::string> options;  ///< more options of sbatch, each with "--" in front
};
inline constexpr int usual_slurm_shards = 100;

/// Reads the table over what is there; mistakes are placed, among them unknown keys (slurm-value, out-of-range, …).
void read_slurm(TomlTable& table, SlurmSettings& settings);

/// The number of shards into which that number of jobs is divided.
int slurm_shards(const SlurmSettings& settings, std::size_t jobs);

/// Why no line of a script can hold this text, which names a file or folder; empty where one can.
std::string why_no_slurm_text(std::string_view text);

/// "1-3,7,9-12" of ascending numbers.
std::string ranges_text(const std::vector<int>& numbers);

/// An array job for some shards.
struct SlurmArray {
  std::vector<int> shards;  ///< ascending, none beyond offset + max_array
  int offset = 0;           ///< a task's number is its shard's less this
};
/// As many arrays as are needed, for a site where a task's number is at most `max_array`.
std::vector<SlurmArray> slurm_arrays(const std::vector<int>& shards, int max_array);

/// What a task runs.
struct SlurmWork {
  std::string name;                  ///< of the array job
  std::string working_folder;        ///< absolute
  std::string program;               ///< absolute
  std::vector<std::string> command;  ///< arguments; a shard's own follow
  int of = 1;                        ///< shards in all
  std::string shards_folder;         ///< as the command names it; gets a folder "I-of-N" for each
  std::string logs_folder;           ///< the same; gets a file "I.log" for each, and what Slurm says
};
/// The script that sbatch reads. Its last line is a hash of the others (is_own_script).
std::string slurm_script(const SlurmSettings& settings, const SlurmArray& array, const SlurmWork& work);
/// True of what slurm_script() made and nobody has edited.
bool is_own_script(std::string_view text);

/// The folder of a shard in `shards_folder`: "2-of-4".
std::string shard_folder_name(const Shard& shard);

}  // namespace stowage
