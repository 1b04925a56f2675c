// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/result_drawing.h"

#include <QFontMetricsF>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "core/decision_rules.h"
#include "driver/drawing/buffer_states.h"
#include "driver/report/iterations.h"
#include "driver/report/model_buffers.h"
#include "fusion/groups/group.h"
#include "inspector/draw/wrapped_text.h"
#include "lowering/model/ldm_room.h"

namespace stowage::inspector {

namespace {

/// Whether another part of a buffer's tensor is meant in every iteration of a loop.
bool moves_with_loop(const LoopNest& nest, BufferId buffer, const std::string& loop, const Target& target) {
  const GroupModel model = build_group_model(nest.stages, target);
  bool moves = false;
  visit_statements(nest.body, [&](const Stmt& statement) {
    const auto* each = std::get_if<Loop>(&statement.node);
    if (each == nullptr || name_of(nest, *each) != loop) return;
    moves = moves || moves_with(nest, model, buffer, each->iterator);
  });
  return moves;
}

constexpr double margin = 12;

QString signed_text(std::int64_t change, const QString& size) {
  if (change == 0) return QStringLiteral("–");
  return (change > 0 ? QStringLiteral("+") : QStringLiteral("−")) + size;
}

QString relative_text(double before, double after) {
  if (before == after || before <= 0) return {};
  return format("{:+.1f} %", 100 * (after / before - 1)).replace(QLatin1Char('-'), QStringLiteral("−"));
}

/// Draws downwards; y is where the next thing goes.
class Sheet {
 public:
  Sheet(const Look& look, double width) : look_(look), width_(width) {}

  void paragraph(const QString& text, const QColor& color, const QFont& font) {
    endTable();
    const double height = QFontMetricsF(font).height();
    for (const QString& line : wrapped(text, font, width_ - 2 * margin)) {
      drawing.text({margin, y, width_ - 2 * margin, height}, line, color, font);
      y += height + 1;
    }
    y += 4;
  }

  /// Columns: what, plan, edited, change, in percent. Drawn with all others by endTable().
  void row(const std::array<QString, 5>& cells, bool is_head, int gain) { rows_.push_back({cells, is_head, gain}); }

  /// Numbers are never cut: their columns are as wide as they ask. Names take what is left, in several lines where they
  /// must, or where too little is left a line of their own.
  void endTable() {
    if (rows_.empty()) return;
    const Theme& theme = look_.theme();
    const auto font_of = [&](const Row& row) { return row.is_head ? look_.smallFont() : look_.textFont(); };
    constexpr double gap = 10;
    std::array<double, 5> wide{};
    for (const Row& row : rows_) {
      for (std::size_t c = 1; c < wide.size(); ++c) {
        if (row.cells[c].isEmpty()) continue;
        wide[c] = std::max(wide[c], std::ceil(QFontMetricsF(font_of(row)).horizontalAdvance(row.cells[c])) + gap);
      }
    }
    const double numbers = wide[1] + wide[2] + wide[3] + wide[4];
    constexpr double least_name = 90;
    width_ = std::max(width_, numbers + 2 * margin);
    const double free = width_ - 2 * margin - numbers;
    const bool apart = free < least_name;
    const double height = QFontMetricsF(look_.textFont()).height() + 4;
    for (const Row& row : rows_) {
      const QFont font = font_of(row);
      const QColor color = row.is_head ? theme.muted : theme.text;
      const QStringList name = wrapped(row.cells[0], font, apart ? width_ - 2 * margin : free);
      double name_y = y;
      for (const QString& line : name) {
        drawing.text({margin, name_y, apart ? width_ - 2 * margin : free, height}, line, color, font);
        name_y += height;
      }
      if (apart) y = name_y - 3;
      double left = margin + std::max(free, 0.0);
      for (std::size_t c = 1; c < row.cells.size(); ++c) {
        drawing.text({left, y, wide[c], height}, row.cells[c], c == 4 && row.gain < 0 ? theme.error : color, font,
                     Qt::AlignRight | Qt::AlignVCenter);
        left += wide[c];
      }
      y = apart ? y + height : std::max(name_y, y + height);
      if (row.is_head) drawing.line({margin, y}, {width_ - margin, y}, theme.line);
    }
    rows_.clear();
  }

  template <class Text>
  void numbers(const QString& what, std::int64_t before, std::int64_t after, const Text& text) {
    row({what, text(before), text(after), signed_text(after - before, text(std::abs(after - before))),
         relative_text(static_cast<double>(before), static_cast<double>(after))},
        false,
        after > before   ? -1
        : after < before ? 1
                         : 0);
  }

  /// One core's LDM from left to right.
  void ldm_bar(const QString& name, const Plan& plan, const Target& target, std::int64_t scale) {
    endTable();
    const Theme& theme = look_.theme();
    const QFontMetricsF small(look_.smallFont());
    const double label = small.horizontalAdvance(QStringLiteral("edited ")) + 10;
    const double height = small.height() + 8;
    const std::int64_t room = ldm_for_buffers(plan.nest, target);
    const QRectF area(margin + label, y, width_ - 2 * margin - label, height);
    const auto x = [&](std::int64_t bytes) {
      return area.left() + area.width() * static_cast<double>(bytes) / static_cast<double>(scale);
    };
    drawing.text({margin, y, label, height}, name, theme.muted, look_.smallFont());
    drawing.rect({area.left(), y, x(target.ldm.bytes) - area.left(), height}, theme.base, theme.line);
    Mark& reserved = drawing.rect({x(room), y, x(target.ldm.bytes) - x(room), height}, theme.raised);
    reserved.pattern = Qt::DiagCrossPattern;
    reserved.tip = format("reserved: {}", size_text(target.ldm.bytes - room, look_.units()).toStdString());
    for (const BufferId b : plan.nest.buffers.ids()) {
      const Buffer& buffer = plan.nest.buffers[b];
      const QString tensor = qt(tensor_of_buffer(plan.nest, b));
      const QRectF part(x(buffer.offset), y + 1, x(buffer.offset + buffer.bytes()) - x(buffer.offset), height - 2);
      const QColor fill = theme.state(drawing::moved_by(plan.nest, b));
      drawing.rect(part, fill, theme.line).tip =
          format("{}: {} of {}", tensor.toStdString(), extents_text(buffer.extents),
                 size_text(buffer.bytes(), look_.units()).toStdString());
      if (small.horizontalAdvance(tensor) + 6 < part.width()) {
        drawing.text(part.adjusted(3, 0, -2, 0), tensor, theme.on(fill), look_.smallFont());
      }
    }
    drawing.line({x(room), y - 2}, {x(room), y + height + 2}, theme.error, 2);
    y += height + 5;
  }

  /// What was asked for at least, more where numbers need it.
  [[nodiscard]] double width() const { return width_; }

  Drawing drawing;
  double y = 10;

 private:
  struct Row {
    std::array<QString, 5> cells;
    bool is_head = false;
    int gain = 0;
  };
  const Look& look_;
  double width_;
  std::vector<Row> rows_;
};

/// "y 64, k 128", the fixed ones marked.
std::vector<std::pair<QString, QString>> schedule_lines(const Schedule& all, const Schedule& fixed,
                                                        const GroupControls& controls) {
  const auto mark = [](const std::string& text, bool is_fixed) { return is_fixed ? text + " (fixed)" : text; };
  std::vector<std::string> parts;
  std::vector<std::pair<QString, QString>> lines;
  const auto add = [&](const QString& what, const std::string& none) {
    lines.emplace_back(what, parts.empty() ? qt(none) : qt(fmt::format("{}", fmt::join(parts, ", "))));
    parts.clear();
  };
  for (const ParallelSplit& split : *all.parallel)
    parts.push_back(fmt::format("{} over {}", split.iterator, split.parts));
  if (fixed.parallel && !parts.empty()) parts.back() = mark(parts.back(), true);
  add(QStringLiteral("cores"), fixed.parallel ? "one (fixed)" : "one");
  for (const auto& [name, size] : all.buffer) {
    parts.push_back(mark(fmt::format("{} {}", name, size), fixed.buffer.contains(name)));
  }
  add(QStringLiteral("buffers"), "none");
  parts = *all.order;
  if (fixed.order && !parts.empty()) parts.back() = mark(parts.back(), true);
  add(QStringLiteral("loops"), "none");
  for (const auto& [tensor, loop] : all.dma) {
    // What is written leaves when the loops are done.
    const bool written =
        std::any_of(controls.places.begin(), controls.places.end(),
                    [&, &moved = tensor](const PlaceControl& place) { return place.tensor == moved && place.written; });
    const std::string where = !loop.empty() ? " in " + loop : written ? " after the loops" : " before the loops";
    parts.push_back(mark(tensor + where, fixed.dma.contains(tensor)));
  }
  add(QStringLiteral("transfers"), "none");
  // Of the rest what is other than where a schedule says nothing, or fixed.
  std::map<ChosenPart, std::vector<std::string>> chosen;
  for (const ChoiceControl& control : controls.choices) {
    const bool is_fixed = part_of(fixed, control) != Schedule{};
    if (control.chosen == 0 && !is_fixed) continue;
    const std::string text = option_text(control, control.options[control.chosen]);
    chosen[control.part].push_back(mark(control.tensor.empty() ? text : control.tensor + " " + text, is_fixed));
  }
  for (auto& [part, texts] : chosen) {
    parts = std::move(texts);
    add(qt(title_of(part)), "none");
  }
  return lines;
}

/// The smallest change that lifts a refusal, where it is known, and the rule's name.
QString refusal_details(const Decision& refusal) {
  QString text = QStringLiteral("Rule: %1.").arg(qt(refusal.rule));
  if (!refusal.flip.empty()) text += QStringLiteral(" It would take %1.").arg(qt(refusal.flip));
  return text;
}

/// What was asked for and cannot be, with the statement, the buffer and the iteration that stand against it.
QStringList asked_lines(const Evaluation& asked, const Evaluation& legal, const std::string& group) {
  QStringList lines;
  const auto edited = asked.edit.schedules.find(group);
  if (edited == asked.edit.schedules.end()) return lines;
  const Plan& plan = legal.plan();
  const std::vector<LoopControl>& loops = legal.controls.loops;
  const auto depth_of = [&](const std::string& name) {
    const auto loop =
        std::find_if(loops.begin(), loops.end(), [&](const LoopControl& control) { return control.name == name; });
    return loop == loops.end() ? std::ptrdiff_t{0} : loop - loops.begin() + 1;
  };
  const auto inside = [](const std::string& loop) { return loop.empty() ? "outside of all loops" : "inside " + loop; };
  for (const auto& [tensor, loop] : edited->second.dma) {
    const auto now = plan.schedule.dma.find(tensor);
    if (now == plan.schedule.dma.end() || now->second == loop) continue;
    for (const StatementFacts& facts : legal.result->steps[legal.shown].statements) {
      const auto* dma = facts.statement != nullptr ? std::get_if<Dma>(&facts.statement->node) : nullptr;
      if (dma == nullptr || tensor_of_buffer(plan.nest, dma->buffer) != tensor) continue;
      const Buffer& buffer = plan.nest.buffers[dma->buffer];
      const bool is_get = dma->direction == DmaDirection::get;
      QString line = format("Asked for: {} {} (statement {}, buffer {} of {}) {}; it stands {}.",
                            is_get ? "get" : "put", tensor, facts.statement->id.index(), buffer.name,
                            extents_text(buffer.extents), inside(loop), inside(now->second));
      // Outside of a loop whose every iteration needs another part.
      const std::ptrdiff_t depth = depth_of(now->second);
      const std::string moving = depth > 0 ? loops[static_cast<std::size_t>(depth - 1)].name : std::string();
      if (depth > depth_of(loop) && asked.refusal.rule == schedule_rule &&
          moves_with_loop(plan.nest, dma->buffer, moving, legal.target())) {
        const auto moves = static_cast<std::size_t>(depth - 1);
        line += format(
            " There the buffer would hold what iteration {0} = 0 {1} for all {2} iterations of {0}; {0} = 1 "
            "{1} another part of {3}.",
            loops[moves].name, is_get ? "needs" : "makes", loops[moves].trips, tensor);
      }
      lines.push_back(line);
      break;
    }
  }
  if (edited->second.order && edited->second.order != plan.schedule.order) {
    const std::vector<std::string> order = plan.schedule.order.value_or(std::vector<std::string>());
    lines.push_back(qt(fmt::format("Asked for: the loops {}, outermost first; they stand {}.",
                                   fmt::join(*edited->second.order, ", "), fmt::join(order, ", "))));
  }
  return lines;
}

/// The kernels before and after, each with its time; the one that is shown below is marked.
template <class Text>
void regrouped_kernels(Sheet& sheet, const ResultInput& input, const Look& look, const Text& time) {
  const Theme& theme = look.theme();
  const auto line = [&](const std::string& group, bool is_work, std::int64_t cycles, bool shown) {
    const QString cost = is_work ? time(cycles) : QStringLiteral("a view, nothing is launched");
    sheet.paragraph(QStringLiteral("%1 %2: %3").arg(shown ? QStringLiteral("▸") : QStringLiteral("•"), qt(group), cost),
                    theme.text, look.textFont());
    sheet.y -= 3;
  };
  sheet.y += 8;
  sheet.paragraph(QStringLiteral("Groups of the plan"), theme.muted, look.smallFont());
  for (const StepId index : input.legal->steps) {
    const StepFacts& step = input.base->steps[index];
    line(names_of(input.base->graph(), step.step->group.operators), step.step->step_plan() != nullptr, step.cycles,
         index == input.step);
  }
  sheet.y += 6;
  sheet.paragraph(QStringLiteral("Groups as edited"), theme.muted, look.smallFont());
  for (std::size_t g = 0; g < input.legal->groups.size(); ++g) {
    const StepFacts& step = input.legal->result->steps[StepId(g)];
    line(input.legal->groups[g], step.step->step_plan() != nullptr, step.cycles, StepId(g) == input.legal->shown);
  }
}

/// The rule that stands against the newest edit, and what of it.
void add_refusal(Sheet& sheet, const ResultInput& input, const Look& look) {
  sheet.paragraph(QStringLiteral("This edit is not possible: %1.").arg(qt(input.latest->refusal.reason)),
                  look.theme().error, look.titleFont());
  if (input.legal != nullptr) {
    for (const QString& line : asked_lines(*input.latest, *input.legal, input.legal->name)) {
      sheet.paragraph(line, look.theme().text, look.textFont());
    }
  }
  sheet.paragraph(refusal_details(input.latest->refusal), look.theme().muted, look.textFont());
  const bool has_edit = input.legal != nullptr && !input.legal->edit.empty();
  sheet.paragraph(has_edit ? QStringLiteral("The last possible edit:") : QStringLiteral("The plan without it:"),
                  look.theme().muted, look.smallFont());
}

/// Steps on the target that they are planned for.
struct PlannedOn {
  const std::vector<const StepPlan*>& plans;
  const Target& target;
};

/// A row for each number and for each term of the edited time.
template <class Text>
void add_numbers(Sheet& sheet, const PlannedOn& plan, const PlannedOn& edited, const Look& look, const Text& time) {
  const GroupNumbers a = numbers_of(plan.plans, plan.target);
  const GroupNumbers b = numbers_of(edited.plans, edited.target);
  const auto size = [&](std::int64_t bytes) { return size_text(bytes, look.units()); };
  sheet.numbers(QStringLiteral("transfers"), a.transfers, b.transfers, count_text);
  sheet.numbers(QStringLiteral("operations"), a.operations, b.operations, count_text);
  sheet.numbers(QStringLiteral("DMA bytes"), a.bytes, b.bytes, size);
  sheet.numbers(QStringLiteral("LDM peak"), a.ldm_bytes, b.ldm_bytes, size);
  const QString unit = look.units().time == TimeUnit::cycles ? QStringLiteral("cycles") : QStringLiteral("time");
  sheet.numbers(unit, a.cycles, b.cycles, time);
  const auto nests_of = [](const std::vector<const StepPlan*>& steps) {
    std::vector<const Plan*> nests;
    for (const StepPlan* each : steps) {
      if (const Plan* nest = plan_of(each)) nests.push_back(nest);
    }
    return nests;
  };
  const std::vector<const Plan*> nests_before = nests_of(plan.plans);
  const std::vector<const Plan*> nests_after = nests_of(edited.plans);
  const auto term_of = [](const std::vector<const Plan*>& plans, const CostFormula& term) {
    std::int64_t cycles = 0;
    for (const Plan* each : plans) cycles += cycles_of_term(each->time, term);
    return cycles;
  };
  std::vector<const CostFormula*> terms;
  for (const auto* plans : {&nests_after, &nests_before}) {
    for (const Plan* each : *plans) {
      for (const TimeTerm& term : each->time.terms) {
        const auto is_same = [&](const CostFormula* other) { return same_term(*other, term.cost); };
        if (std::none_of(terms.begin(), terms.end(), is_same)) terms.push_back(&term.cost);
      }
    }
  }
  for (const CostFormula* term : terms) {
    sheet.numbers(QStringLiteral("\u00a0\u00a0") + qt(name_of(*term)), term_of(nests_before, *term),
                  term_of(nests_after, *term), time);
  }
}

/// What one core holds, before and after; nothing of steps that no loop nest stands for.
void add_ldm_bars(Sheet& sheet, const ResultInput& input, const StepFacts& step, const Look& look) {
  if (step.plan == nullptr && input.legal == nullptr) return;
  const Theme& theme = look.theme();
  const Target& before = input.base->program().target;
  const Target& target = input.legal != nullptr ? input.legal->target() : before;
  sheet.y += 10;
  sheet.paragraph(QStringLiteral("One core's LDM"), theme.muted, look.smallFont());
  const std::int64_t scale = std::max(target.ldm.bytes, before.ldm.bytes);
  if (step.plan != nullptr) sheet.ldm_bar(QStringLiteral("plan"), *step.plan, before, scale);
  if (input.legal != nullptr) sheet.ldm_bar(QStringLiteral("edited"), input.legal->plan(), target, scale);
  sheet.y += add_legend(sheet.drawing, {margin, sheet.y}, sheet.width() - margin,
                        {{QStringLiteral("fetched"), theme.state(BufferState::filling)},
                         {QStringLiteral("computed and used here only"), theme.state(BufferState::in_use)},
                         {QStringLiteral("computed and stored"), theme.state(BufferState::draining)},
                         {QStringLiteral("reserved"), theme.raised, Qt::DiagCrossPattern}},
                        theme.muted, theme.line, look.smallFont());
  sheet.y += 8;
}

/// What the planner or the person chose; what is fixed is marked.
void add_schedule(Sheet& sheet, const Evaluation& legal, const Look& look) {
  const auto entry = legal.edit.schedules.find(legal.name);
  const Schedule& fixed = entry != legal.edit.schedules.end() ? entry->second : legal.start;
  sheet.paragraph(legal.regrouped ? QStringLiteral("Schedule of %1").arg(qt(legal.name)) : QStringLiteral("Schedule"),
                  look.theme().muted, look.smallFont());
  for (const auto& [what, text] : schedule_lines(legal.plan().schedule, fixed, legal.controls)) {
    sheet.paragraph(what + QStringLiteral(": ") + text, look.theme().text, look.textFont());
    sheet.y -= 3;
  }
}

}  // namespace

Drawing result_drawing(const ResultInput& input, const Look& look, QSizeF room) {
  const Theme& theme = look.theme();
  const double width = std::max(room.width(), 240.0);
  Sheet sheet(look, width);
  const StepFacts* step = input.base != nullptr ? input.base->step(input.step) : nullptr;
  const bool refused = input.latest != nullptr && !input.latest->refusal.allowed;
  if (step == nullptr || (input.legal == nullptr && step->plan == nullptr && !refused)) {
    sheet.paragraph(QStringLiteral("Choose a group to ask what if."), theme.muted, look.textFont());
    sheet.drawing.size = {width, sheet.y};
    return std::move(sheet.drawing);
  }
  const Target& target_before = input.base->program().target;
  const Target& target = input.legal != nullptr ? input.legal->target() : target_before;
  std::vector<const StepPlan*> planned;
  if (input.legal != nullptr) {
    planned = input.legal->plans_before(*input.base);
  } else if (const StepPlan* plan = step->step->step_plan()) {
    planned = {plan};
  }
  const std::vector<const StepPlan*> edited = input.legal != nullptr ? input.legal->plans_after() : planned;
  if (refused) add_refusal(sheet, input, look);
  sheet.paragraph(
      input.legal != nullptr ? qt(verdict(*input.base, *input.legal, look.units())) : QStringLiteral("The plan:"),
      input.pending ? theme.muted : theme.text, look.titleFont());
  const QString name = input.legal != nullptr ? qt(input.legal->name) : qt(step->step->group.name);
  const bool regrouped = input.legal != nullptr && input.legal->regrouped;
  sheet.row({regrouped ? QStringLiteral("these groups") : name, QStringLiteral("plan"), QStringLiteral("edited"),
             QStringLiteral("change"), QString()},
            true, 0);
  const auto time = [&](std::int64_t cycles) { return time_text(cycles, target.clock_hz, look.units()); };
  add_numbers(sheet, {planned, target_before}, {edited, target}, look, time);
  if (regrouped) regrouped_kernels(sheet, input, look, time);
  sheet.endTable();
  add_ldm_bars(sheet, input, *step, look);
  if (input.legal != nullptr) add_schedule(sheet, *input.legal, look);
  sheet.drawing.size = {sheet.width(), sheet.y + 8};
  return std::move(sheet.drawing);
}

}  // namespace stowage::inspector
