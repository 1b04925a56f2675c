// SPDX-License-Identifier: Apache-2.0
#include "driver/store/old_words.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>

namespace stowage {

namespace {

struct Renamed {
  std::string_view before;
  std::string_view today;
};

/// Of version 1. Horizontal fusion called its branches siblings.
constexpr Renamed renamed[] = {
    {"sibling", "branch"},                              // a role
    {"siblings", "branches"},                           // an algorithm of the trace
    {"sibling_convolutions", "parallel_convolutions"},  // templates
    {"sibling_products", "parallel_products"},          //
    {"siblings-alike", "branches-alike"},               // rules
    {"siblings-apart", "branches-apart"},               //
    {"siblings-parameters", "branches-parameters"},     //
    {"siblings-place", "branches-place"},
};

void take(std::string& word) {
  const auto* const found =
      std::find_if(std::begin(renamed), std::end(renamed), [&](const Renamed& row) { return row.before == word; });
  if (found != std::end(renamed)) word = found->today;
}

}  // namespace

void take_words_of_today(StoredStep& step) {
  take(step.template_name);
  for (std::string& role : step.roles) take(role);
}

void take_words_of_today(Trace& trace, FusionRecord& fusion) {
  for (TraceRecord& record : trace.records) {
    auto* text = std::get_if<TextRecord>(&record.what);  // all that a trace of then has
    if (text == nullptr) continue;
    take(text->algorithm);
    take(text->rule);
  }
  for (SearchLimit& limit : fusion.limits) take(limit.template_name);
  for (CandidateRecord& candidate : fusion.candidates) {
    for (std::string& name : candidate.templates) take(name);
    for (Decision& refusal : candidate.refusals) take(refusal.rule);
  }
}

}  // namespace stowage
