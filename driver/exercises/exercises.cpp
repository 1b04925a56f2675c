// SPDX-License-Identifier: Apache-2.0
#include "driver/exercises/exercises.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <random>

#include <fmt/format.h>

#include "core/check.h"
#include "lowering/ir/loop_nest_parser.h"

namespace stowage {
namespace {

constexpr std::array kinds = {
    ExerciseKind{"a wait is missing", FaultFamily::race,
                 "What does the computation read in its first iteration, and who has put it there by then?"},
    ExerciseKind{"a wait comes too early", FaultFamily::wait,
                 "Which transfer is each wait for, and has it been started?"},
    ExerciseKind{"two slots are exchanged", FaultFamily::race,
                 "Which slot is being filled while the computation runs, and which one does it read?"},
    ExerciseKind{"a row is lost", FaultFamily::uninitialised,
                 "Which rows of B does each tile need, and which ones are loaded?"},
    ExerciseKind{"two cores overlap", FaultFamily::overlap, "Which columns does each core compute?"},
    ExerciseKind{"bytes are taken for elements", FaultFamily::bounds, "In which unit does a region count?"},
    ExerciseKind{"a buffer is too long by one line", FaultFamily::capacity, "Where does each buffer end?"},
    ExerciseKind{"cores of a team load different boxes", FaultFamily::message, "What does a get for the mesh promise?"},
};

/// Sizes of the product: each core has `columns` of them; `trips` tiles of `rows` are summed up.
struct Sizes {
  int columns = 16;
  int rows = 16;
  int trips = 4;
};

Sizes drawn(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&](std::initializer_list<int> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(random() % choices.size()));
  };
  return {draw({8, 16, 32}), draw({8, 16, 32}), draw({3, 4, 5})};
}

std::string product(const Sizes& sizes, std::int64_t offset_of_result, const Target& target) {
  const int k = sizes.rows * sizes.trips;
  const int cores = target.cores.mesh_rows * target.cores.mesh_columns;
  const int n = cores * sizes.columns;
  const int tile = 4 * sizes.rows * sizes.columns;
  const int a_bytes = (4 * k + 31) / 32 * 32;
  return fmt::format(R"(nest product {{
  input A f32[1,{k}]
  input B f32[{k},{n}]
  output C f32[1,{n}]
  stage product {{
    C[x < 1, y < {n}] = sum over k < {k} of (#0 * #1)
    #0 = A[x, k]
    #1 = B[k, y]
  }}
  variables y_core, y_at, ko, k_at
  core y_core < {cores} of y stride 1
  mesh {mesh_rows} rows {mesh_columns} columns
  memory A = A strides [{k}, 1]
  memory B = B strides [{n}, 1]
  memory C = C strides [{n}, 1] written
  ldm {ldm} bytes
  buffer A_ldm f32[1,{k}] at 0, {a} bytes = A[0, 0]
  buffer B_ldm f32[{r},{c}] at {b_at}, {b} bytes = B[k_at, y_at] slots 2
  buffer C_ldm f32[1,{c}] at {c_at}, {c_bytes} bytes = C[0, y_at]
  body {{
    0  let y_at = {c}*y_core
    1  get A[0:1, 0:{k}] -> A_ldm
    2  get B[0:{r}, y_at:y_at + {c}] -> B_ldm from [0, y_at]
    3  wait 1
    4  fill C_ldm with 0
    5  for ko < {trips} of k {{
    6    let k_at = {r}*ko
    7    wait B_ldm[ko % 2]
    8    if any({last} - ko) > 0 {{
    9      get B[{r}*ko + {r}:{r}*ko + {r2}, y_at:y_at + {c}] -> B_ldm[(ko + 1) % 2] from [{r}*ko + {r}, y_at]
         }}
   10    compute update C_ldm = product(A_ldm, B_ldm[ko % 2]) over x=0:1, y=y_at:y_at + {c}, k=k_at:k_at + {r}
       }}
   11  put C_ldm -> C[0:1, y_at:y_at + {c}]
   12  wait 11
  }}
}}
)",
                     fmt::arg("k", k), fmt::arg("cores", cores), fmt::arg("mesh_rows", target.cores.mesh_rows),
                     fmt::arg("mesh_columns", target.cores.mesh_columns), fmt::arg("n", n), fmt::arg("r", sizes.rows),
                     fmt::arg("r2", 2 * sizes.rows), fmt::arg("c", sizes.columns), fmt::arg("trips", sizes.trips),
                     fmt::arg("last", sizes.trips - 1), fmt::arg("a", 4 * k), fmt::arg("b_at", a_bytes),
                     fmt::arg("b", 2 * tile), fmt::arg("c_at", offset_of_result),
                     fmt::arg("c_bytes", 4 * sizes.columns), fmt::arg("ldm", offset_of_result + 4 * sizes.columns));
}

std::string replaced_once(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  check(at != std::string::npos, "an exercise lacks what its fault is made of");
  return text.replace(at, from.size(), to);
}

std::string with_fault(const std::string& sound, int number, const Sizes& sizes, std::int64_t lowest,
                       const Target& target) {
  const int c = sizes.columns, r = sizes.rows;
  switch (number) {
    case 1: return replaced_once(sound, "    3  wait 1\n", "");
    case 2: return replaced_once(sound, "wait B_ldm[ko % 2]", "wait B_ldm[(ko + 1) % 2]");
    case 3: return replaced_once(sound, "product(A_ldm, B_ldm[ko % 2])", "product(A_ldm, B_ldm[(ko + 1) % 2])");
    case 4:
      return replaced_once(sound, fmt::format("{}*ko + {}, y_at:", r, 2 * r),
                           fmt::format("{}*ko + {}, y_at:", r, 2 * r - 1));
    case 5: return replaced_once(sound, fmt::format("y_at = {}*y_core", c), fmt::format("y_at = {}*y_core", c / 2));
    case 6:
      return replaced_once(sound, fmt::format("get B[0:{}, y_at:y_at + {}]", r, c),
                           fmt::format("get B[0:{}, y_at:y_at + {}]", r, 4 * c));
    case 7: {
      const std::int64_t line = target.ldm.alignment;
      const std::int64_t last = (target.ldm.available() - 4 * c) / line * line;
      return product(sizes, std::max(lowest, last + line), target);
    }
    default: return replaced_once(sound, "-> B_ldm from [0, y_at]\n", "-> B_ldm from [0, y_at] of mesh\n");
  }
}

std::string sheet_of(int number, const std::string& nest, const Target& target) {
  const ExerciseKind& kind = kinds[static_cast<std::size_t>(number - 1)];
  std::string families;
  for (int family = 0; family <= static_cast<int>(FaultFamily::incomplete); ++family)
    families += fmt::format("{}{}", family == 0 ? "" : ", ", name_of(static_cast<FaultFamily>(family)));
  return fmt::format(
      R"(# Exercise {0}: {1}

A row times a matrix, C = A B, on all cores of {2}. Each core has its columns of B and C. )"
      R"(B comes in tiles of some rows, in turn into two slots: while one tile is computed with, the next )"
      R"(one is loaded. In this nest one thing is wrong.

{3}

```
{4}```

Say which family the fault is of ({5}) and which statement it shows at, by its number (of `capacity` and `incomplete` none):

    stowage exercise {0} --solve FAMILY:STATEMENT

Then mend `exercise-{0}.nest`, and see what the checker says of it:

    stowage check exercise-{0}.nest
)",
      number, kind.title, target.name, kind.question, nest, families);
}

std::string text_of(const Fault& fault) {
  std::string text = fmt::format("[{}] {}", name_of(fault.family), fault.what);
  if (fault.at) text += "\n  " + text_of(*fault.at);
  if (fault.other) text += "\n  " + text_of(*fault.other);
  return text + "\n";
}

bool is_meant(const Answer& answer, const Fault& fault) {
  if (answer.family != fault.family) return false;
  if (!fault.at) return !answer.statement;
  const bool of_other = fault.other && answer.statement == fault.other->statement;
  return answer.statement == fault.at->statement || of_other;
}

}  // namespace

std::span<const ExerciseKind> exercise_kinds() { return kinds; }

Exercise make_exercise(int number, std::uint64_t seed, const Target& target) {
  check(number >= 1 && number <= static_cast<int>(kinds.size()), "there is no such exercise");
  const Sizes sizes = drawn(seed);
  const std::int64_t behind_a = (4 * sizes.rows * sizes.trips + 31) / 32 * 32;
  const std::int64_t lowest = behind_a + 8 * sizes.rows * sizes.columns;
  Exercise made;
  made.number = number;
  made.sound = product(sizes, lowest, target);
  made.nest = with_fault(made.sound, number, sizes, lowest, target);
  made.sheet = sheet_of(number, made.nest, target);
  return made;
}

NestCheck check_exercise(const Exercise& exercise, const Target& target) {
  Diagnostics diagnostics;
  const auto nest = parse_loop_nest(exercise.nest, diagnostics);
  check(static_cast<bool>(nest), "an exercise cannot be read");
  return check_nest(*nest, target);
}

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
  std::uint32_t statement = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, statement);
  if (error != std::errc() || stop != end) return std::nullopt;
  answer.statement = StatementId(statement);
  return answer;
}

Judgement judge_answer(const Answer& answer, const NestCheck& check) {
  const auto meant = std::find_if(check.faults.begin(), check.faults.end(),
                                  [&](const Fault& fault) { return is_meant(answer, fault); });
  if (meant != check.faults.end()) {
    return {static_cast<std::size_t>(meant - check.faults.begin()),
            fmt::format("Yes.\n{}  help: {}\n", text_of(*meant), remedy_of(meant->family))};
  }
  const bool family = std::any_of(check.faults.begin(), check.faults.end(),
                                  [&](const Fault& fault) { return fault.family == answer.family; });
  return {std::nullopt,
          family ? "No: the family is right, but it shows elsewhere.\n" : "No: there is no such fault.\n"};
}

}  // namespace stowage
