// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/exercise_command.h"

#include <filesystem>
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

int solve(const ExerciseOptions& options, const Exercise& exercise, const Target& target, ToolContext& context) {
  const auto answer = read_answer(options.solve);
  if (!answer) {
    return usage_error(context, "exercise", fmt::format("'{}' is no answer", options.solve),
                       "give FAMILY:STATEMENT, as race:10, or FAMILY where no statement is concerned");
  }
  const Judgement judgement = judge_answer(*answer, check_exercise(exercise, target));
  context.out << judgement.text;
  return judgement.fault ? exit_done : exit_failed;
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
