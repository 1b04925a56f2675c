// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/cost_bars.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/report/model_comparison.h"
#include "driver/report/table_text.h"
#include "lowering/search/limit_distance.h"
#include "lowering/time/time_model.h"

namespace stowage::drawing {

namespace {

Ink ink_of(CostKind kind) {
  switch (kind) {
    case CostKind::launch:
    case CostKind::barrier:
    case CostKind::broadcast: return Ink::launch;
    case CostKind::get: return Ink::get;
    case CostKind::compute: return Ink::compute;
    case CostKind::fill: return Ink::fill;
    case CostKind::put: return Ink::put;
  }
  return Ink::compute;
}

struct Bar {
  std::string name;
  /// In columns, each to the right: what it comes to, its share, its change.
  std::array<std::string, 3> numbers;
  std::string remark;
  double share = 0;  ///< of the longest bar's whole
  Ink ink = Ink::compute;
  std::optional<Subject> subject = std::nullopt;
  std::optional<double> before = std::nullopt;  ///< the share at which a line is drawn, on the same scale
  std::string line = "the baseline's";          ///< what that is
};

/// Names, bars and numbers, each with a remark below it.
class BarList {
 public:
  BarList(Scene& scene, const Sheet& sheet, const std::vector<Bar>& bars) : scene_(scene), sheet_(sheet) {
    constexpr double least_bar = 40;
    double numbers = 0;
    for (const Bar& bar : bars) {
      names_ = std::max(names_, width_of(bar.name));
      for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c] = std::max(columns_[c], width_of(bar.numbers[c]));
    }
    for (const double column : columns_) numbers += column > 0 ? column + gap : 0;
    names_ = std::min(names_ + 6, scene.width * 0.35);
    left_ = margin + names_ + 6;
    room_ = std::max(least_bar, scene.width - left_ - numbers - 2 * margin);
  }

  /// Returns the height used.
  double add(const Bar& bar, double y) {
    const double row = sheet_.fonts.height(Font::text) + 4;
    scene_.text({margin, y, names_, row}, bar.name, Ink::text, Font::text);
    Shape& shape = scene_.box({left_, y + 3, std::max(1.0, room_ * bar.share), row - 6}, bar.ink);
    shape.subject = bar.subject;
    shape.tip = tip_of(bar);
    if (bar.before) {
      const double x = left_ + room_ * std::min(*bar.before, 1.0);
      scene_.line({x, y + 1}, {x, y + row - 1}, Ink::text, 2).tip = bar.line;
    }
    double x = left_ + room_;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c] <= 0) continue;
      x += gap + columns_[c];
      if (bar.numbers[c].empty()) continue;
      scene_.text({x - columns_[c] - 2, y, columns_[c] + 2, row}, bar.numbers[c], Ink::text, Font::text, Align::right);
    }
    return row + (bar.remark.empty() ? 0 : add_note(scene_, sheet_, left_, y + row - 1, bar.remark) + 4);
  }

 private:
  [[nodiscard]] double width_of(const std::string& text) const { return sheet_.text_width(text, Font::text); }

  static std::string tip_of(const Bar& bar) {
    std::string tip = bar.name + ":";
    for (const std::string& number : bar.numbers) tip += number.empty() ? "" : "  " + number;
    return bar.remark.empty() ? tip : tip + "\n" + bar.remark;
  }

  static constexpr double gap = 12;
  Scene& scene_;
  const Sheet& sheet_;
  double names_ = 0;
  std::array<double, 3> columns_ = {};
  double left_ = 0;
  double room_ = 0;
};

double add_bars(Scene& scene, const Sheet& sheet, double y, const std::vector<Bar>& bars) {
  BarList list(scene, sheet, bars);
  double used = 0;
  for (const Bar& bar : bars) used += list.add(bar, y + used);
  return used;
}

/// What one bar of the time shows.
struct TermBar {
  std::string name;
  CostKind kind = CostKind::compute;
  std::int64_t cycles = 0;
  std::string remark;
  std::optional<std::int64_t> before = std::nullopt;  ///< the baseline's
};

/// `then` is what all of the baseline takes, on whose scale the bars are drawn too.
std::vector<Bar> term_bars(const std::vector<TermBar>& terms, std::int64_t cycles, std::optional<std::int64_t> then,
                           double clock, const Sheet& sheet) {
  std::vector<Bar> bars;
  const auto now = static_cast<double>(std::max<std::int64_t>(1, cycles));
  const double whole = std::max(now, static_cast<double>(then.value_or(0)));  // one scale for both
  for (const TermBar& term : terms) {
    const auto size = static_cast<double>(term.cycles);
    Bar bar{term.name,
            {shown_time(term.cycles, clock, sheet.units), shown_share(size / now), ""},
            term.remark,
            size / whole,
            ink_of(term.kind)};
    if (term.before) {
      const std::int64_t change = term.cycles - *term.before;
      bar.numbers[2] = shown_change(change, shown_time(std::abs(change), clock, sheet.units));
      bar.before = static_cast<double>(*term.before) / whole;
    }
    bars.push_back(std::move(bar));
  }
  return bars;
}

std::map<std::string, std::int64_t> bytes_by_tensor(const Plan* plan) {
  std::map<std::string, std::int64_t> bytes;
  if (plan == nullptr) return bytes;
  for (const auto& [id, totals] : plan->counts.dma) {
    const auto& dma = std::get<Dma>(find_statement(plan->nest, id)->node);
    bytes[plan->nest.tensors[dma.nest_tensor].name] += totals.bytes;
  }
  return bytes;
}

/// DMA bytes of each tensor of a group, the largest first.
std::vector<Bar> tensor_bars(StepId step, const Plan& plan, const std::optional<CostBaseline>& baseline,
                             const Sheet& sheet) {
  const auto now = bytes_by_tensor(&plan);
  const auto before = bytes_by_tensor(baseline ? baseline->plan : nullptr);
  std::map<NestTensorId, StatementId> statement;  // the first that moves a tensor
  for (const auto& [id, totals] : plan.counts.dma) {
    statement.emplace(std::get<Dma>(find_statement(plan.nest, id)->node).nest_tensor, id);
  }
  std::int64_t most = 1;
  for (const auto* side : {&now, &before}) {
    for (const auto& [tensor, moved] : *side) most = std::max(most, moved);
  }
  const auto scaled = [&](std::int64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(most); };
  std::vector<Bar> bars;
  for (const auto& [tensor, id] : statement) {
    const NestTensor& nest_tensor = plan.nest.tensors[tensor];
    const StageTensor& held = plan.nest.stages.tensors[nest_tensor.tensor];
    const std::int64_t moved = now.at(nest_tensor.name);
    const std::int64_t size = element_count(held.shape) * byte_size(held.type);
    const std::string times =
        size > 0 ? fmt::format("moved {:.2f} times its {}", static_cast<double>(moved) / static_cast<double>(size),
                               sheet.size(size))
                 : "";
    Bar bar{
        nest_tensor.name, {sheet.size(moved), "", ""}, times, scaled(moved), nest_tensor.written ? Ink::put : Ink::get};
    bar.subject = Subject{.step = step, .statement = id};
    if (baseline && baseline->plan != nullptr) {
      const auto found = before.find(nest_tensor.name);
      const std::int64_t then = found != before.end() ? found->second : 0;
      bar.numbers[2] = shown_change(moved - then, sheet.size(std::abs(moved - then)));
      bar.before = scaled(then);
    }
    bars.push_back(std::move(bar));
  }
  std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.share > b.share; });
  return bars;
}

Ink ink_of(LostTo cause) {
  switch (cause) {
    case LostTo::inner_loop: return Ink::compute;
    case LostTo::capacity:
    case LostTo::overlap: return Ink::get;
    case LostTo::layout: return Ink::issue;
    case LostTo::barriers:
    case LostTo::launch: return Ink::launch;
  }
  return Ink::compute;
}

/// The physical limit and what is lost beside it, which together are the time, on one scale.
double add_distance(Scene& scene, const Sheet& sheet, double y, const LimitDistance& distance, std::int64_t cycles,
                    double clock) {
  const double heading = sheet.fonts.height(Font::title) + 4;
  scene.text({margin, y, scene.width - 2 * margin, heading},
             fmt::format("{:.2f} times the physical limit: what is lost",
                         static_cast<double>(cycles) / static_cast<double>(std::max<std::int64_t>(1, distance.limit))),
             Ink::text, Font::title);
  std::vector<Bar> bars;
  const auto add = [&](std::string name, std::int64_t part, Ink ink, std::string remark) {
    const double share = static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, cycles));
    bars.push_back({std::move(name),
                    {shown_time(part, clock, sheet.units), shown_share(share), ""},
                    std::move(remark),
                    share,
                    ink});
  };
  add("physical limit", distance.limit, Ink::idle,
      "moved or computed as fast as can be, or a load and then a store, whichever takes longest; and a launch");
  for (std::size_t i = 0; i < losses; ++i) {
    const auto cause = static_cast<LostTo>(i);
    if (distance.of(cause) > 0) add(std::string(name_of(cause)), distance.of(cause), ink_of(cause), "");
  }
  return heading + 2 + add_bars(scene, sheet, y + heading + 2, bars);
}

Ink ink_of_term(const std::string& term) {
  if (term == "loads") return Ink::get;
  if (term == "stores") return Ink::put;
  return term == "launch" ? Ink::launch : Ink::compute;
}

/// The closed form's terms with the simulated ones as a line across each, and by how much they differ.
double add_simulated(Scene& scene, const Sheet& sheet, double y, const SimulatedTerms& simulated, double clock) {
  if (simulated.empty()) return 0;
  const PlanTable table = terms_table(simulated);
  const std::vector<std::size_t> columns =
      columns_by_key(table.columns, {"term", "closed_form_cycles", "simulated_cycles", "error"});
  const auto cycles = [&](const PlanRow& row, std::size_t c) { return std::get<std::int64_t>(row.cells[columns[c]]); };
  const auto error = [&](const PlanRow& row) { return shown_text(row.cells[columns[3]], table.columns[columns[3]]); };
  const PlanRow& all = table.rows.back();
  const double heading = sheet.fonts.height(Font::title) + 4;
  scene.text({margin, y, scene.width - 2 * margin, heading},
             fmt::format("Beside the simulation, which takes {}: error {}",
                         shown_time(cycles(all, 2), clock, sheet.units), error(all)),
             Ink::text, Font::title);
  const auto whole = static_cast<double>(std::max<std::int64_t>(1, std::max(cycles(all, 1), cycles(all, 2))));
  std::vector<Bar> bars;
  for (const PlanRow& row : table.rows) {
    if (&row == &all || (cycles(row, 1) == 0 && cycles(row, 2) == 0)) continue;
    Bar bar{
        row.name,
        {shown_time(cycles(row, 1), clock, sheet.units), shown_time(cycles(row, 2), clock, sheet.units), error(row)},
        "",
        static_cast<double>(cycles(row, 1)) / whole,
        ink_of_term(row.name)};
    bar.before = static_cast<double>(cycles(row, 2)) / whole;
    bar.line = "as simulated";
    bars.push_back(std::move(bar));
  }
  double used = heading + 2;
  used += add_bars(scene, sheet, y + used, bars);
  used += add_note(scene, sheet, margin, y + used + 2,
                   "Columns: closed form, simulated, error. The line across a bar is the simulation.");
  return used + 8;
}

/// Of one kernel, its launch in the limit.
LimitDistance distance_of(const Plan& plan, const Target& target) {
  LimitDistance distance = distance_to_limit(plan, physical_limit(plan.nest.stages, target), target);
  distance.limit += std::exchange(distance.lost[static_cast<std::size_t>(LostTo::launch)], 0);
  return distance;
}

std::map<CostKind, std::int64_t> cycles_by_kind(const Program& program) {
  std::map<CostKind, std::int64_t> sums;
  for (const ProgramStep& step : program.steps) {
    if (step.plan() == nullptr) continue;
    for (const auto& [kind, cycles] : stowage::cycles_by_kind(step.plan()->time)) sums[kind] += cycles;
  }
  return sums;
}

std::int64_t sum_of(const std::map<CostKind, std::int64_t>& parts) {
  std::int64_t sum = 0;
  for (const auto& [kind, cycles] : parts) sum += cycles;
  return sum;
}

Scene titled_scene(const std::string& what, std::int64_t cycles, double clock, const Sheet& sheet) {
  Scene scene;
  scene.title = fmt::format("Time of {}: {} cycles, {}", what, shown_count(cycles), shown_seconds(cycles, clock));
  scene.width = std::max(sheet.width, 360.0);
  return scene;
}

}  // namespace

Scene cost_bars(const Program& program, StepId step, const std::optional<CostBaseline>& baseline, const Sheet& sheet,
                const SimulatedTerms& simulated) {
  const ProgramStep& shown = program.steps[step];
  const Plan& plan = *shown.plan();
  const Plan* const before = baseline ? baseline->plan : nullptr;
  const double clock = program.target.clock_hz;
  Scene scene = titled_scene(shown.group.name, plan.time.cycles, clock, sheet);
  std::vector<TermBar> terms;
  for (const TimeTerm& term : plan.time.terms) {
    TermBar bar{name_of(term.cost), kind_of(term.cost), term.cycles,
                fmt::format("{}    [{}]", formula_text(term.cost), source_of(term.cost))};
    if (before != nullptr) bar.before = cycles_of_term(before->time, term.cost);
    terms.push_back(std::move(bar));
  }
  if (before != nullptr) {
    for (const TimeTerm* gone : terms_gone(before->time, plan.time)) {
      terms.push_back({name_of(gone->cost), kind_of(gone->cost), 0, "only in the baseline", gone->cycles});
    }
  }
  double y = 8;
  y += add_title(scene, sheet, y, "");
  const std::optional<std::int64_t> then = before != nullptr ? std::optional(before->time.cycles) : std::nullopt;
  y += add_bars(scene, sheet, y, term_bars(terms, plan.time.cycles, then, clock, sheet)) + 8;
  y += add_simulated(scene, sheet, y, simulated, clock);
  const double heading = sheet.fonts.height(Font::title) + 4;
  scene.text({margin, y, scene.width - 2 * margin, heading}, "Bytes moved per tensor, all cores", Ink::text,
             Font::title);
  y += heading + 2;
  y += add_bars(scene, sheet, y, tensor_bars(step, plan, baseline, sheet)) + 8;
  y += add_distance(scene, sheet, y, distance_of(plan, program.target), plan.time.cycles, clock);
  if (baseline) {
    y += 4;
    y += add_note(scene, sheet, margin, y,
                  then ? "The line across a bar is the baseline; Δ is now minus before."
                       : "The baseline has these operators in other groups: see the change in the tables.");
  }
  scene.height = y + 8;
  return scene;
}

Scene cost_bars(const Program& program, const std::string& network, const Program* baseline, const Sheet& sheet,
                const SimulatedTerms& simulated) {
  const std::map<CostKind, std::int64_t> now = cycles_by_kind(program);
  const std::map<CostKind, std::int64_t> before =
      baseline != nullptr ? cycles_by_kind(*baseline) : std::map<CostKind, std::int64_t>();
  const double clock = program.target.clock_hz;
  Scene scene = titled_scene(network, sum_of(now), clock, sheet);
  std::vector<TermBar> terms;
  std::map<CostKind, std::int64_t> of_either = now;
  for (const auto& [kind, cycles] : before) of_either.emplace(kind, 0);
  for (const auto& [kind, cycles] : of_either) {
    TermBar bar{std::string(name_of(kind)), kind, cycles, ""};
    const auto found = before.find(kind);
    if (baseline != nullptr) bar.before = found != before.end() ? found->second : 0;
    terms.push_back(std::move(bar));
  }
  double y = 8;
  y += add_title(scene, sheet, y, "");
  const std::optional<std::int64_t> then = baseline != nullptr ? std::optional(sum_of(before)) : std::nullopt;
  y += add_bars(scene, sheet, y, term_bars(terms, sum_of(now), then, clock, sheet)) + 8;
  y += add_simulated(scene, sheet, y, simulated, clock);
  if (const ProgramTotals totals = totals_of(program); totals.least_seconds > 0) {
    y += add_distance(scene, sheet, y, totals.distance, totals.cycles, clock) + 8;
  }
  if (baseline != nullptr) {
    y += 4 + add_note(scene, sheet, margin, y + 4, "The line across a bar is the baseline; Δ is now minus before.");
  }
  scene.height = y + 8;
  return scene;
}

}  // namespace stowage::drawing
