// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/identity.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/session/model_hash.h"

namespace stowage {

namespace {

constexpr std::string_view hash_kind = "xxh64:";

enum class Files { read, not_read };

/// Hashes of files, each read once; all alike where none is read.
class FileHashes {
 public:
  FileHashes(Files files, std::stop_token stop) : files_(files), stop_(std::move(stop)) {}

  const std::string& of(const std::string& path, bool is_model) {
    if (files_ == Files::not_read) return not_read_;
    const auto [place, is_new] = hashes_.try_emplace(path, "unreadable");
    std::error_code failure;
    // A pipe would be waited for.
    if (!is_new || !std::filesystem::is_regular_file(path, failure)) return place->second;
    Diagnostics ignored;
    const auto hash = is_model ? hash_of_model(path, ignored, stop_) : hash_of_file(path, ignored, stop_);
    if (hash) place->second = *hash;
    return place->second;
  }

 private:
  Files files_;
  std::string not_read_ = "not read";
  std::stop_token stop_;
  std::map<std::string, std::string> hashes_;
};

Json described(const Job& job, FileHashes& files) {
  const CompileRequest request = request_of(job);
  Json json;
  json["job"] = job.name;
  if (job.keys->network.empty()) {
    json["model"] = {request.model, files.of(request.model, true)};
  } else {
    json["network"] = {job.keys->network, job.keys->network_batch, job.keys->network_seed};
  }
  json["check"] = job.keys->check;
  json["target"] = {request.target, files.of(request.target, false)};
  json["settings"] = request.settings;
  if (!request.library.empty()) json["library"] = request.library;
  json["fusion"] = request.fusion;
  json["planner"] = request.planner;
  if (request.layout != given_layout) json["layout"] = request.layout;
  json["cost"] = {request.cost, request.cost_model, files.of(request.cost_model, false)};
  json["templates"] = {request.templates, files.of(request.templates, false)};
  json["dimensions"] = request.import.dimensions;
  for (const auto& [input, file] : request.bindings) json["bindings"][input] = {file, files.of(file, false)};
  json["fixed"] = job.keys->fixed;
  for (const SweptValue& swept : job.swept.values()) json["sweep"][swept.key] = swept.toml;
  return json;
}

}  // namespace

std::string text_of(Identity identity) { return fmt::format("{}{:016x}", hash_kind, identity.hash); }

Identity parse_identity(std::string_view text) {
  Identity identity;
  if (text.starts_with(hash_kind)) {
    std::from_chars(text.data() + hash_kind.size(), text.data() + text.size(), identity.hash, 16);
  }
  if (text_of(identity) != text) throw std::invalid_argument("it has an 'identity' that is none");
  return identity;
}

Result<std::vector<Identity>> identities_of(const std::vector<Job>& jobs, const std::stop_token& stop) {
  FileHashes files(Files::read, stop);
  std::vector<Identity> identities;
  identities.reserve(jobs.size());
  for (const Job& job : jobs) {
    const std::string text = dumped(described(job, files));
    if (stop.stop_requested()) return Failed{};
    identities.push_back(parse_identity(hash_of(std::as_bytes(std::span(text)))));
  }
  return identities;
}

std::string keys_hash(const Job& job) {
  FileHashes files(Files::not_read, {});
  const std::string text = dumped(described(job, files));
  return hash_of(std::as_bytes(std::span(text)));
}

}  // namespace stowage
