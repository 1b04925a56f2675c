// SPDX-License-Identifier: Apache-2.0
#include "driver/session/model_hash.h"

#include <filesystem>
#include <span>

#include "core/onnx/external_files.h"
#include "driver/files/files.h"
#include "driver/session/session.h"

namespace stowage {

Result<std::string> hash_of_model(const std::string& path, Diagnostics& diagnostics, const std::stop_token& stop) {
  const auto own = hash_of_file(path, diagnostics, stop);
  if (!own) return Failed{};
  return hash_with_external_files(*own, path, onnx_external_files(path, stop), diagnostics, stop);
}

Result<std::string> hash_with_external_files(const std::string& own, const std::string& path,
                                             const std::set<std::string>& external_files, Diagnostics& diagnostics,
                                             const std::stop_token& stop) {
  if (external_files.empty()) return own;
  std::string all = own;
  for (const std::string& location : external_files) {
    const auto file = std::filesystem::path(path).parent_path() / location;
    std::error_code failure;
    all += '\0' + location + '\0';
    if (!std::filesystem::is_regular_file(file, failure)) continue;  // the import says so where it is needed
    const auto hash = hash_of_file(file.string(), diagnostics, stop);
    if (!hash) return Failed{};
    all += *hash;
  }
  return hash_of(std::as_bytes(std::span(all)));
}

}  // namespace stowage
