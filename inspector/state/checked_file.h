// SPDX-License-Identifier: Apache-2.0
// Nests that are played through by the checker without being shown as a plan: the text of one, an exercise with its
// sheet, a folder whose plan was edited so that nothing else takes it.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/diagnostics.h"
#include "driver/checking/checked_nests.h"

namespace stowage::inspector {

/// A nest as it is written, and what the checker says of it.
struct FileNest {
  CheckedNest checked;
  std::string text;
  int exercise = 0;   ///< number of the exercise that it is; 0: none
  std::string sheet;  ///< of an exercise, without the nest
};

struct CheckedFile {
  std::string path;
  std::string target;           ///< name or TOML file; empty of a compiled folder, which has its own
  std::vector<FileNest> nests;  ///< at least one
};
using CheckedPtr = std::shared_ptr<const CheckedFile>;

/// Whether `folder` is one that `stowage exercise` wrote to. For worker threads.
bool holds_exercises(const std::string& folder);

/// Of a nest's text or of a folder with exercises, for a target by name or TOML file, or of a compiled folder; null
/// after an error or a stop. For worker threads.
CheckedPtr check_file(const std::string& path, Diagnostics& diagnostics, const std::stop_token& stop,
                      const std::string& target = "sw26010");

}  // namespace stowage::inspector
