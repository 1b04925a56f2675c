// SPDX-License-Identifier: Apache-2.0
// Sample networks that the jobs of a batch ask for, each written once.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "core/hidden_temporary.h"
#include "driver/batch/batch.h"

namespace stowage {

class NetworkFiles {
 public:
  /// `own` are files that may be written over.
  NetworkFiles(std::filesystem::path folder, bool force, std::set<std::filesystem::path> own)
      : folder_(std::move(folder)), force_(force), own_(std::move(own)) {}

  /// A job's right to write its network: no other job has it while this lives.
  class Claim {
   public:
    /// What is to become of a file at its place; nothing where the network need not be written.
    [[nodiscard]] std::optional<Existing> existing() const { return existing_; }
    /// The network is there: others may claim it.
    void written() {
      if (!lock_.owns_lock()) return;
      files_->written_.insert(path_);
      lock_.unlock();
    }

   private:
    friend class NetworkFiles;
    NetworkFiles* files_ = nullptr;
    std::filesystem::path path_;
    std::optional<Existing> existing_;
    std::unique_lock<std::mutex> lock_;
  };

  Claim claim(const Job& job) {
    Claim claim;
    if (job.keys->network.empty()) return claim;
    claim.files_ = this;
    claim.path_ = network_path(job, folder_);
    claim.lock_ = std::unique_lock(mutex_);
    if (written_.contains(claim.path_)) {
      claim.lock_.unlock();
    } else {
      claim.existing_ = force_ || own_.contains(claim.path_) ? Existing::replace : Existing::keep;
    }
    return claim;
  }

 private:
  std::filesystem::path folder_;
  bool force_;
  std::set<std::filesystem::path> own_;
  std::mutex mutex_;
  std::set<std::filesystem::path> written_;
};

}  // namespace stowage
