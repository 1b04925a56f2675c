// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/exercise_command.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <ostream>

#include <fmt/format.h>

#include "driver/exercises/exercises.h"
#include "driver/files/files.h"
#include "driver/session/session.h"

namespace stowage {

namespace {

constexpr const char* target_name = "sw26010";

int list_exercises(ToolContext& context) {
  std::vector<std::vector<std::string>> rows;
  int number = 0;
  for (const ExerciseKind& kind : exercise_kinds())
    rows.push_back({std::to_string(++number), std::string(kind.title), std::string(kind.question)});
  return print_rows(context, "exercises", {"number", "exercise", "question"}, rows, "exercise");
}

struct Answer {
  FaultFamily family = FaultFamily::bounds;
  std::optional<int> statement;
};

std::optional<Answer> read_answer(const std::string& text) {
  const std::size_t colon = text.find(':');
  Answer answer;
  bool known = false;
  for (int f = 0; f <= static_cast<int>(FaultFamily::incomplete); ++f) {
    if (text.substr(0, colon) != name_of(static_cast<FaultFamily>(f))) continue;
    answer.family = static_cast<FaultFamily>(f);
    known = true;
  }
  if (!known) return std::nullopt;
  if (colon == std::string::npos) return answer;
  int statement = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, statement);
  if (error != std::errc() || stop != end) return std::nullopt;
  answer.statement = statement;
  return answer;
}

std::string text_of(const Fault& fault) {
  std::string text = fmt::format("[{}] {}", name_of(fault.family), fault.what);
  if (fault.at.statement >= 0) text += "\n  " + text_of(fault.at);
  if (fault.other) text += "\n  " + text_of(*fault.other);
  return text + "\n";
}

bool is_meant(const Answer& answer, const Fault& fault) {
  if (answer.family != fault.family) return false;
  if (fault.at.statement < 0) return !answer.statement;
  const bool of_other = fault.other && answer.statement == fault.other->statement;
  return answer.statement == fault.at.statement || of_other;
}

int solve(const ExerciseOptions& options, const Exercise& exercise, const Target& target, ToolContext& context) {
  const auto answer = read_answer(options.solve);
  if (!answer) {
    return usage_error(context, "exercise", fmt::format("'{}' is no answer", options.solve),
                       "give FAMILY:STATEMENT, as race:10, or FAMILY where no statement is concerned");
  }
  const NestCheck found = check_exercise(exercise, target);
  const auto meant = std::find_if(found.faults.begin(), found.faults.end(),
                                  [&](const Fault& fault) { return is_meant(*answer, fault); });
  if (meant == found.faults.end()) {
    const bool family = std::any_of(found.faults.begin(), found.faults.end(),
                                    [&](const Fault& fault) { return fault.family == answer->family; });
    context.out << (family ? "No: the family is right, but it shows elsewhere.\n" : "No: there is no such fault.\n");
    return exit_failed;
  }
  context.out << "Yes.\n" << text_of(*meant) << fmt::format("  help: {}\n", remedy_of(meant->family));
  return exit_done;
}

}  // namespace

int exercise_command(const ExerciseOptions& options, ToolContext& context) {
  if (options.number == 0) return list_exercises(context);
  Diagnostics diagnostics;
  CompileRequest request;
  request.target = target_name;
  const auto target = target_of(request, diagnostics);
  if (!target) return failed(context, diagnostics);
  const Exercise exercise = make_exercise(options.number, options.seed, *target);
  if (!options.solve.empty()) return solve(options, exercise, *target, context);
  const std::filesystem::path folder = options.output.empty() ? "." : options.output;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  const std::string name = fmt::format("exercise-{}", options.number);
  const std::string nest = (folder / (name + ".nest")).string();
  const std::string sheet = (folder / (name + ".md")).string();
  const Existing existing = options.force ? Existing::replace : Existing::keep;
  if (!may_write_file(nest, options.force, {}, diagnostics) || !may_write_file(sheet, options.force, {}, diagnostics))
    return failed(context, diagnostics);
  const Interrupt::Hold hold = context.interrupt.hold();
  if (!write_file_whole(nest, exercise.nest, existing, diagnostics) ||
      !write_file_whole(sheet, exercise.sheet, existing, diagnostics))
    return failed(context, diagnostics);
  context.out << fmt::format("written: {} and {}\n", sheet, nest);
  return exit_done;
}

}  // namespace stowage
