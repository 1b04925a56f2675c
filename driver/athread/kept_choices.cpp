// SPDX-License-Identifier: Apache-2.0
#include "driver/athread/kept_choices.h"

#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "driver/athread/stored_schedule.h"
#include "driver/json/certificate_json.h"
#include "driver/json/json.h"
#include "driver/json/trace_row.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/record_file.h"

namespace stowage {

namespace {

RecordFile file_of(const std::filesystem::path& folder, const Planner& planner, const Target& target) {
  // Without a build id nothing on disk can be believed.
  return {build_id().empty() ? std::filesystem::path() : folder, choices_of_planners,
          "choices 1\n" + planning_conditions(planner, target)};
}

/// Names that are no UTF-8 are none that a plan could have; then they are not read back as they were.
std::string one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string text_of(const PlanChoice& choice) {
  Json json = {{"schedule", to_json(choice.schedule)}, {"records", Json::array()}};
  if (choice.certificate) json["certificate"] = to_json(*choice.certificate);
  for (const TraceRecord& record : choice.records) json["records"].push_back(row_of(record.what));
  if (choice.records.empty()) return one_line(json);
  const TraceRecord& first = choice.records.front();  // subject and names are the same for all
  json["subject"] = first.subject;
  json["iterators"] = first.names->iterators;
  json["buffers"] = first.names->buffers;
  return one_line(json);
}

PlanChoice choice_of(const std::string& text) {
  const Json json = Json::parse(text);
  PlanChoice choice;
  choice.schedule = schedule_of(json.at("schedule"));
  if (json.contains("certificate")) choice.certificate = read_certificate(json.at("certificate"));
  const Json& records = json.at("records");
  if (records.empty()) return choice;
  const auto subject = json.at("subject").get<std::string>();
  const auto names = std::make_shared<const GroupNames>(
      GroupNames{IdVector<IteratorId, std::string>(json.at("iterators").get<std::vector<std::string>>()),
                 IdVector<BufferId, std::string>(json.at("buffers").get<std::vector<std::string>>())});
  for (const Json& row : records) choice.records.push_back({subject, event_of(row, names.get()), names});
  return choice;
}

void recall_choices(const std::filesystem::path& folder, const Planner& planner, const Target& target,
                    PlanChoices& choices) {
  const auto file = std::make_shared<const RecordFile>(file_of(folder, planner, target));
  choices.recall_by([file](const std::string& canonical_text) -> std::optional<PlanChoice> {
    const auto text = file->find(hash128_of(canonical_text));
    if (!text) return std::nullopt;
    try {
      return choice_of(*text);
    } catch (const std::exception&) {
      return std::nullopt;  // as if it were not there
    }
  });
}

void keep_choices(const std::filesystem::path& folder, const Planner& planner, const Target& target,
                  const PlanChoices& choices) {
  if (folder.empty()) return;
  std::optional<RecordFile> file;
  bool is_changed = false;
  for (const auto& [canonical_text, choice] : choices.all()) {
    if (choice->records.empty() || choice->cut_short) continue;
    if (!file) file.emplace(file_of(folder, planner, target));
    const std::string key = hash128_of(canonical_text);
    std::string text = text_of(*choice);
    if (file->find(key) == text) continue;  // what was recalled; one that could not be read is replaced
    file->add(key, std::move(text));
    is_changed = true;
  }
  if (is_changed) file->save();
}

}  // namespace stowage
