// SPDX-License-Identifier: Apache-2.0
#include "inspector/fusion/strategy_path.h"

#include <QFontMetricsF>
#include <algorithm>
#include <set>

#include "core/number_text.h"
#include "fusion/groups/group.h"
#include "inspector/fusion/candidates.h"

namespace stowage::inspector {

namespace {

constexpr double margin = 14;

/// The state after which a group can be executed, if that is the one from which the path takes its first operator.
std::optional<int> start_of(const LoadedPlan& plan, const std::vector<OpId>& operators) {
  const Graph& graph = plan.graph();
  int first = plan.step_of_operator[operators.front().index()];
  for (const OpId op : operators) first = std::min(first, plan.step_of_operator[op.index()]);
  for (const TensorId input : outside_inputs(graph, operators)) {
    const auto& producer = graph.tensor(input).producer;
    if (producer && plan.step_of_operator[producer->index()] >= first) return std::nullopt;
  }
  return first < 0 ? std::nullopt : std::optional(first);
}

/// The state of the path in which exactly this group is executed more than in state `first`.
int rejoin_of(const LoadedPlan& plan, const std::vector<OpId>& operators, int first) {
  std::set<int> steps;
  for (const OpId op : operators) steps.insert(plan.step_of_operator[op.index()]);
  std::size_t held = 0;
  for (const int step : steps) held += plan.step(step)->step->group.operators.size();
  const int after = first + static_cast<int>(steps.size());
  return held == operators.size() && *steps.rbegin() + 1 == after ? after : -1;
}

QString cycles_text(const LoadedPlan& plan, const Look& look, std::int64_t cycles) {
  return time_text(cycles, plan.program().target.clock_hz, look.units());
}

QString loss_text(const LoadedPlan& plan, const Look& look, const CandidateRecord& candidate) {
  if (!candidate.loss) return {};
  if (*candidate.loss == 0) return QStringLiteral("±0");
  return (*candidate.loss > 0 ? QStringLiteral("+") : QString(QChar(0x2212))) +
         cycles_text(plan, look, std::abs(*candidate.loss));
}

/// What is shared while a path is drawn.
struct Pen {
  Drawing& drawing;
  const LoadedPlan& plan;
  const Look& look;
  double right = 0;       ///< of states and boxes; lanes of edges that rejoin lie beyond
  std::int64_t most = 1;  ///< cycles of the dearest group that is drawn
  double row = 0;

  [[nodiscard]] const Theme& theme() const { return look.theme(); }

  void state(double y, const QString& text, bool end) {
    Mark& bar = drawing.rect({margin, y, right - margin, row}, theme().raised, theme().line);
    bar.radius = row / 2;
    bar.tip = text;
    drawing.text({margin + 12, y, right - margin - 24, row}, text, end ? theme().text : theme().muted,
                 look.smallFont());
  }

  /// A group: its names, its cycles (and as a bar), what it would lose.
  void group(double left, double y, std::size_t index, bool is_chosen, const QString& remark) {
    const CandidateRecord& candidate = plan.compilation.fusion.candidates[index];
    const QFontMetricsF metrics(look.smallFont());
    const QRectF box(left, y + 2, right - left, row - 4);
    const bool better = candidate.loss && *candidate.loss < 0;
    drawing.rect(box, theme().base);
    const double share = static_cast<double>(candidate.cycles) / static_cast<double>(most);
    drawing.rect({box.left(), box.top(), box.width() * std::clamp(share, 0.0, 1.0), box.height()},
                 theme().category(is_chosen ? 1
                                  : better  ? 2
                                            : 5));
    Mark& frame = drawing.rect(box, {}, is_chosen ? theme().text : theme().muted);
    frame.pen = is_chosen ? Qt::SolidLine : Qt::DashLine;
    frame.place = place_of_candidate(plan, index);
    const QString names = qt(names_of(plan.graph(), candidate.operators));
    frame.tip = names + QLatin1Char('\n') +
                (candidate.templates.empty() ? QString() : qt(candidate.templates.front()) + QStringLiteral(", ")) +
                count_text(candidate.cycles) + QStringLiteral(" cycles");
    if (candidate.loss) {
      frame.tip += QStringLiteral("\nin place of what was chosen: ") + loss_text(plan, look, candidate) +
                   QStringLiteral(" for the network, the rest regrouped as well as possible");
    }
    const QString numbers =
        cycles_text(plan, look, candidate.cycles) + (remark.isEmpty() ? QString() : QStringLiteral("   ") + remark);
    const double room = metrics.horizontalAdvance(numbers) + 8;
    drawing.text({box.left() + 6, box.top(), box.width() - room - 12, box.height()}, names, theme().text,
                 look.smallFont());
    drawing.text({box.right() - room - 4, box.top(), room, box.height()}, numbers, theme().text, look.smallFont(),
                 Qt::AlignRight | Qt::AlignVCenter);
  }

  void arrow(QPointF tip, QPointF direction, const QColor& color) {
    const QPointF side(-direction.y(), direction.x());
    drawing.polygon({tip, tip - direction * 6 + side * 3.5, tip - direction * 6 - side * 3.5}, color);
  }
};

double heading(Drawing& drawing, const LoadedPlan& plan, const Look& look, double width) {
  const FusionRecord& record = plan.compilation.fusion;
  const Theme& theme = look.theme();
  const double title = QFontMetricsF(look.titleFont()).height() + 4;
  double y = 8;
  drawing.text({margin, y, width - 2 * margin, title},
               format("What {} chose among", record.strategy.empty() ? "the strategy" : record.strategy), theme.text,
               look.titleFont());
  y += title;
  const double line = QFontMetricsF(look.smallFont()).height() + 2;
  if (!record.totals.empty()) {
    QString text = format("{}, ", counted(record.totals.front().groups, "group")) +
                   full_time_text(record.totals.front().cycles, plan.program().target.clock_hz, look.units());
    if (record.search) {
      text +=
          is_proved(record) ? QStringLiteral(": proved best of all partitions into the candidates")
          : record.search->complete
              ? QStringLiteral(": best of the partitions into the candidates, but a limit left others out")
              : QStringLiteral("; no partition takes less than ") + cycles_text(plan, look, record.search->lower_bound);
    }
    drawing.text({margin, y, width - 2 * margin, line}, text, theme.muted, look.smallFont());
    y += line;
  }
  y += 2 + add_legend(drawing, {margin, y + 2}, width - margin,
                      {{QStringLiteral("chosen, bar: cycles"), theme.category(1)},
                       {QStringLiteral("could come next instead; ± to the network"), theme.category(5)},
                       {QStringLiteral("would be faster"), theme.category(2)}},
                      theme.text, theme.line, look.smallFont());
  return y + 8;
}

}  // namespace

StrategyPath strategy_path(const LoadedPlan& plan) {
  const std::vector<CandidateRecord>& candidates = plan.compilation.fusion.candidates;
  StrategyPath path;
  path.steps.resize(plan.steps.size());
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const CandidateRecord& candidate = candidates[c];
    if (candidate.operators.empty() || candidate.fate == CandidateFate::refused) continue;
    if (candidate.fate == CandidateFate::chosen) {
      const int step = plan.step_of_operator[candidate.operators.front().index()];
      if (step >= 0) path.steps[static_cast<std::size_t>(step)].chosen = c;
      continue;
    }
    const auto start = start_of(plan, candidate.operators);
    if (!start) continue;
    path.steps[static_cast<std::size_t>(*start)].alternatives.push_back(
        {c, rejoin_of(plan, candidate.operators, *start)});
  }
  return path;
}

std::pair<int, int> shown_steps(const StrategyPath& path, const Place& chosen, int neighbours) {
  const int count = static_cast<int>(path.steps.size());
  const int middle = std::clamp(chosen.step, 0, std::max(0, count - 1));
  const int first = std::max(0, std::min(middle - neighbours, count - 2 * neighbours - 1));
  return {first, std::min(count, std::max(middle + neighbours + 1, 2 * neighbours + 1))};
}

Drawing strategy_drawing(const LoadedPlan& plan, const StrategyPath& path, const Place& chosen, int neighbours,
                         const Look& look, QSizeF room) {
  Drawing drawing;
  const Theme& theme = look.theme();
  const double width = std::max(room.width(), 380.0);
  const auto [first, last] = shown_steps(path, chosen, neighbours);
  const std::vector<CandidateRecord>& candidates = plan.compilation.fusion.candidates;
  constexpr double lane = 9;
  int rejoining = 0;
  Pen pen{drawing, plan, look};
  for (int i = first; i < last; ++i) {
    const StrategyPath::Step& step = path.steps[static_cast<std::size_t>(i)];
    if (step.chosen) pen.most = std::max(pen.most, candidates[*step.chosen].cycles);
    int here = 0;
    for (const StrategyPath::Alternative& other : step.alternatives) {
      pen.most = std::max(pen.most, candidates[other.candidate].cycles);
      if (other.rejoins >= 0) ++here;
    }
    rejoining = std::max(rejoining, here);
  }
  // Lanes are shared by steps in turn, so that those of neighbouring states do not lie on each other.
  const int lanes = std::min(2 * rejoining, 12);
  pen.right = width - margin - (lanes + 1) * lane;
  pen.row = QFontMetricsF(look.smallFont()).height() + 8;
  double y = heading(drawing, plan, look, width);
  const auto note = [&](const QString& text) {
    drawing.text({margin + 12, y, width - 2 * margin, pen.row}, text, theme.muted, look.smallFont());
    y += pen.row;
  };
  if (first > 0) note(format("… {} before", counted(first, "group")));
  std::int64_t spent = 0;
  for (int i = 0; i < first; ++i) {
    if (const auto taken = path.steps[static_cast<std::size_t>(i)].chosen) spent += candidates[*taken].cycles;
  }
  struct Return {
    double from;
    int to;
    double x;
  };
  std::vector<Return> returns;
  std::vector<double> state_y(path.steps.size() + 1, -1);
  int next_lane = 0;
  for (int i = first;; ++i) {
    state_y[static_cast<std::size_t>(i)] = y;
    const bool is_end = i == static_cast<int>(path.steps.size());
    const QString after =
        i == 0 ? QStringLiteral("start")
               : QStringLiteral("after ") + qt(plan.steps[static_cast<std::size_t>(i - 1)].step->group.name);
    pen.state(y,
              format("{}: ", i) + after + QStringLiteral(", ") + cycles_text(plan, look, spent) +
                  (is_end ? QStringLiteral(" in all") : QStringLiteral(" so far")),
              i == 0 || is_end);
    const double below = y + pen.row;
    y = below + 4;
    if (i == last) break;
    const StrategyPath::Step& step = path.steps[static_cast<std::size_t>(i)];
    const double trunk = margin + 36;
    for (const StrategyPath::Alternative& other : step.alternatives) {
      const double middle = y + pen.row / 2;
      drawing.polyline({{trunk, below}, {trunk, middle}, {trunk + 14, middle}}, theme.muted).pen = Qt::DashLine;
      pen.arrow({trunk + 16, middle}, {1, 0}, theme.muted);
      pen.group(trunk + 16, y, other.candidate, false, loss_text(plan, look, candidates[other.candidate]));
      if (other.rejoins >= 0 && lanes > 0) {
        returns.push_back({middle, other.rejoins, pen.right + lane * (1 + next_lane % lanes)});
        ++next_lane;
      }
      y += pen.row;
    }
    if (step.chosen) {
      pen.group(margin + 26, y, *step.chosen, true, {});
      spent += candidates[*step.chosen].cycles;
    } else {
      drawing.text({margin + 32, y, pen.right - margin - 32, pen.row},
                   qt(plan.steps[static_cast<std::size_t>(i)].step->group.name), theme.text, look.smallFont());
    }
    y += pen.row + 4;
    drawing.line({margin + 14, below}, {margin + 14, y - 5}, theme.text, 3);
    pen.arrow({margin + 14, y}, {0, 1}, theme.text);
  }
  y += 4;
  if (last < static_cast<int>(path.steps.size()))
    note(format("… {} after", counted(path.steps.size() - static_cast<std::size_t>(last), "group")));
  for (const Return& back : returns) {
    const double target = state_y[static_cast<std::size_t>(back.to)];
    if (target < 0) {  // its state is not drawn
      drawing.polyline({{pen.right, back.from}, {back.x, back.from}, {back.x, y}}, theme.muted).pen = Qt::DashLine;
      continue;
    }
    const double end = target + pen.row / 2;
    drawing.polyline({{pen.right, back.from}, {back.x, back.from}, {back.x, end}, {pen.right + 3, end}}, theme.muted)
        .pen = Qt::DashLine;
    pen.arrow({pen.right + 1, end}, {-1, 0}, theme.muted);
  }
  drawing.size = QSizeF(width, y + 8);
  return drawing;
}

}  // namespace stowage::inspector
