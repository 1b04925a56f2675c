// SPDX-License-Identifier: Apache-2.0
// Which folders may be written or replaced. A folder of ours says in its file ".stowage" what it holds and which files
// were written; with any other file in it, it is not replaced whatever the user forces, so that nobody's work is lost.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "core/diagnostics.h"

namespace stowage {

enum class FolderContent { plan, outputs, passes };

/// Name of the file that says what a folder of ours holds (docs/plan-format.md).
inline constexpr std::string_view folder_marker = ".stowage";

/// Text of that file for a folder whose files are all written.
std::string marker_text(const std::filesystem::path& folder, FolderContent content);

/// "out/" and "out" are the same folder; its parent is what must be writable.
std::filesystem::path without_slash(const std::filesystem::path& folder);

/// What of the files and folders that a command reads a file written at `wanted` would replace, by whatever names and
/// links: a file, or one that we wrote of a folder. Nothing where it replaces none of them.
std::optional<std::filesystem::path> input_replaced_by(const std::filesystem::path& wanted,
                                                       std::span<const std::filesystem::path> inputs);

/// True if the folder may be written: there is none, or with `force` an empty one, or one of ours with the same content
/// and nothing foreign in it, that is not above the working directory or one of `inputs`, the files and folders that
/// the command reads. Else that is reported: output-exists, output-in-use, foreign-folder.
bool may_write_folder(const std::filesystem::path& wanted, FolderContent content, bool force,
                      std::span<const std::filesystem::path> inputs, Diagnostics& diagnostics);

}  // namespace stowage
