// SPDX-License-Identifier: Apache-2.0
// Exercises for people who learn to place DMA: a small nest that is good but for one fault, and a sheet that asks for
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/target.h"
#include "lowering/check/check_nest.h"

namespace stowage {

/// A kind of fault, as it is made by hand.
struct ExerciseKind {
  std::string_view title;     ///< "a wait is missing"
  FaultFamily family;         ///< of the first fault that the checker finds
  std::string_view question;  ///< what to think about, one sentence
};

/// Exercise N is the N-th of these, from 1 on.
std::span<const ExerciseKind> exercise_kinds();

struct Exercise {
  int number = 1;
  std::string nest;   ///< text, with the fault
  std::string sound;  ///< text, without it
  std::string sheet;  ///< Markdown
};

/// A product C = A B on all cores of a mesh; `seed` draws its sizes, equal ones the same exercise. For a target with as
/// much LDM as the SW26010.
Exercise make_exercise(int number, std::uint64_t seed, const Target& target);

/// What is wrong with an exercise, by the checker.
NestCheck check_exercise(const Exercise& exercise, const Target& target);

/// What a learner says is wrong, and at which statement that shows; none for faults of no statement.
struct Answer {
  FaultFamily family = FaultFamily::bounds;
  std::optional<StatementId> statement;
};
/// "race:10" or "capacity".
std::optional<Answer> read_answer(const std::string& text);

struct Judgement {
  std::optional<std::size_t> fault;  ///< of the check, that was meant; nothing: the answer is wrong
  std::string text;                  ///< "Yes." with the counter-example, or what is wrong with it; ends its last line
};
Judgement judge_answer(const Answer& answer, const NestCheck& check);

}  // namespace stowage
