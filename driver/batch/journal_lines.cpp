// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/journal_lines.h"

#include <fstream>

#include <fmt/format.h>

#include "driver/json/json.h"

namespace stowage {

namespace {

constexpr std::string_view journal_format = "stowage-batch";

}  // namespace

std::string journal_sign() { return fmt::format("{{\"format\":\"{}\"", journal_format); }

std::string first_journal_line(int version) { return dumped(Json{{"format", journal_format}, {"version", version}}); }

std::string begin_line(const std::string& job, Identity identity, const std::string* network) {
  Json json;
  json["begin"] = job;
  json["identity"] = text_of(identity);
  if (network != nullptr) json["network"] = *network;
  return dumped(json);
}

std::string end_line(const JobResult& result) { return dumped(Json{{"end", result.name}, {"result", result.json}}); }

std::string boot_now() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, boot);
  return boot;
}

std::string boot_line(const std::string& boot) { return dumped(Json{{"boot", boot}}); }

std::string synced_line(std::size_t place) { return dumped(Json{{"synced", place}}); }

std::string written_line(std::string_view name, const std::string& hash, const std::string& run) {
  return dumped(Json{{"writes", name}, {"hash", hash}, {"run", run}});
}

}  // namespace stowage
