// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/junit.h"

#include <map>
#include <string_view>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/quoting.h"

namespace stowage {

namespace {

/// A value of an attribute: line breaks would become spaces there, and characters that XML does not have would vanish.
std::string attribute(std::string_view text) { return escaped(line_text(text)); }

enum class Verdict : std::uint8_t { passed, skipped, failure, error };

/// A job as a test case.
struct Case {
  std::string name;
  Verdict verdict = Verdict::passed;
  std::string type;     ///< of what went wrong: "failed", "slower, larger"
  std::string message;  ///< one line
  std::string details;  ///< all that there is
};

std::string numbers_text(const JobTotals& totals) {
  return fmt::format("{} cycles, {}, {} of DMA, LDM peak {} bytes\n", grouped_digits(totals.cycles),
                     seconds_text(totals.seconds), counted(totals.dma_bytes, "byte"),
                     grouped_digits(totals.ldm_peak_bytes));
}

/// What the job alone says.
Case case_of(const JobResult& result) {
  Case job{result.name, Verdict::passed, std::string(name_of(result.state)), result.summary, ""};
  switch (result.state) {
    case JobState::done: break;
    case JobState::failed: job.verdict = Verdict::failure; break;
    case JobState::fault: job.verdict = Verdict::error; break;
    case JobState::interrupted:
      job.verdict = Verdict::error;
      job.message = result.json.empty() ? "the batch was interrupted before this job" : "interrupted";
      break;
  }
  if (job.verdict == Verdict::passed) job.details = result.summary + "\n";
  if (result.totals) job.details += numbers_text(*result.totals);
  // A line of results has as many of them as are shown, and how many more there were.
  for (const Diagnostic& diagnostic : result.diagnostics.entries()) job.details += format_diagnostic(diagnostic);
  return job;
}

/// What the baseline says of it besides.
void compare(Case& job, const JobComparison& with) {
  const std::string words = words_of(with);
  if (!with.marks.empty() || !words.empty()) {
    const std::string marks = marks_text(with);
    job.details =
        fmt::format("beside the baseline: {}{}{}\n", marks, marks.empty() || words.empty() ? "" : "; ", words) +
        job.details;
  }
  if (job.verdict == Verdict::error) return;
  if (with.has(Mark::still_failing) && !with.is_worse()) {
    job.verdict = Verdict::skipped;
    job.message = "fails in the baseline too: " + job.message;
  } else if (with.is_worse()) {
    job.verdict = Verdict::failure;
    job.type = marks_text(with);
    job.message = fmt::format("{}: {}", job.type, words);
  }
}

std::string element(const Case& job, const std::string& suite) {
  const std::string open =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\">\n", attribute(suite), attribute(job.name));
  const std::string details = escaped(terminal_text(job.details));
  std::string inside;
  switch (job.verdict) {
    case Verdict::passed: inside = fmt::format("      <system-out>{}</system-out>\n", details); break;
    case Verdict::skipped:
      inside = fmt::format("      <skipped message=\"{}\"/>\n", attribute(job.message));
      if (!details.empty()) inside += fmt::format("      <system-out>{}</system-out>\n", details);
      break;
    case Verdict::failure:
    case Verdict::error:
      inside = fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n",
                           job.verdict == Verdict::error ? "error" : "failure", attribute(job.type),
                           attribute(job.message), details);
  }
  return open + inside + "    </testcase>\n";
}

}  // namespace

std::string junit_xml(const std::string& suite, const std::vector<JobResult>& results, const Comparison* comparison) {
  std::map<std::string_view, const JobComparison*> compared;
  if (comparison != nullptr) {
    for (const JobComparison& job : comparison->jobs) compared.emplace(job.job, &job);
  }
  std::vector<Case> cases;
  for (const JobResult& result : results) {
    cases.push_back(case_of(result));
    if (const auto found = compared.find(result.name); found != compared.end()) compare(cases.back(), *found->second);
  }
  for (const auto& [name, job] : compared) {
    if (job->has(Mark::gone)) {
      cases.push_back({std::string(name), Verdict::skipped, "", "in the baseline, but not in this batch", ""});
    }
  }
  std::map<Verdict, std::size_t> counts;
  std::string rows;
  for (const Case& job : cases) {
    ++counts[job.verdict];
    rows += element(job, suite);
  }
  const std::string counted = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", cases.size(),
                                          counts[Verdict::failure], counts[Verdict::error], counts[Verdict::skipped]);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"stowage batch\" {0}>\n"
      "  <testsuite name=\"{1}\" {0}>\n{2}  </testsuite>\n</testsuites>\n",
      counted, attribute(suite), rows);
}

}  // namespace stowage
