// SPDX-License-Identifier: Apache-2.0
#include "inspector/fusion/strategy_path.h"

#include <QFontMetricsF>
#include <algorithm>
#include <set>

#include "core/index.h"
#include "core/number_text.h"
#include "fusion/groups/group.h"
#include "inspector/fusion/candidates.h"

namespace stowage::inspector {

namespace {

constexpr double path_margin = 14;

/// The state after which a group can be executed, if that is the one from which the path takes its first operator.
std::optional<StepId> start_of(const LoadedPlan& plan, const std::vector<OpId>& operators) {
  const Graph& graph = plan.graph();
  StepId first = plan.step_of_operator[operators.front()];
  for (const OpId op : operators) first = std::min(first, plan.step_of_operator[op]);
  for (const TensorId input : outside_inputs(graph, operators)) {
    const auto& producer = graph.tensor(input).producer;
    if (producer && plan.step_of_operator[*producer] >= first) return std::nullopt;
  }
  return first;
}

/// The state of the path in which exactly this group is executed more than in state `first`.
std::optional<int> rejoin_of(const LoadedPlan& plan, const std::vector<OpId>& operators, StepId first) {
  std::set<StepId> steps;
  for (const OpId op : operators) steps.insert(plan.step_of_operator[op]);
  std::size_t held = 0;
  for (const StepId step : steps) held += plan.step(step)->step->group.operators.size();
  const std::size_t after = first.index() + steps.size();
  const bool passes = held == operators.size() && steps.rbegin()->index() + 1 == after;
  return passes ? std::optional(static_cast<int>(after)) : std::nullopt;
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
  double right = 0;          ///< of states and boxes; lanes of edges that rejoin lie beyond
  std::int64_t maximum = 1;  ///< cycles of the most expensive group that is drawn
  double row = 0;

  [[nodiscard]] const Theme& theme() const { return look.theme(); }

  void state(double y, const QString& text, bool end) {
    Mark& bar = drawing.rect({path_margin, y, right - path_margin, row}, theme().raised, theme().line);
    bar.radius = row / 2;
    bar.tip = text;
    drawing.text({path_margin + 12, y, right - path_margin - 24, row}, text, end ? theme().text : theme().muted,
                 look.smallFont());
  }

  /// A group: its names, its cycles (and as a bar), what it would lose.
  void group(double left, double y, std::size_t index, bool is_chosen, const QString& remark) {
    const CandidateRecord& candidate = plan.compilation.fusion.candidates[index];
    const QFontMetricsF metrics(look.smallFont());
    const QRectF box(left, y + 2, right - left, row - 4);
    const bool better = candidate.loss && *candidate.loss < 0;
    drawing.rect(box, theme().base);
    const double share = static_cast<double>(candidate.cycles) / static_cast<double>(maximum);
    drawing.rect({box.left(), box.top(), box.width() * std::clamp(share, 0.0, 1.0), box.height()},
                 theme().category(is_chosen ? 1
                                  : better  ? 2
                                            : 5));
    Mark& frame = drawing.rect(box, {}, is_chosen ? theme().text : theme().muted);
    frame.pen = is_chosen ? Qt::SolidLine : Qt::DashLine;
    frame.subject = subject_of_candidate(plan, index);
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
  drawing.text({path_margin, y, width - 2 * path_margin, title},
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
    drawing.text({path_margin, y, width - 2 * path_margin, line}, text, theme.muted, look.smallFont());
    y += line;
  }
  y += 2 + add_legend(drawing, {path_margin, y + 2}, width - path_margin,
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
  path.steps.assign(plan.steps.size(), {});
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const CandidateRecord& candidate = candidates[c];
    if (candidate.operators.empty() || candidate.fate == CandidateFate::refused) continue;
    if (candidate.fate == CandidateFate::chosen) {
      path.steps[plan.step_of_operator[candidate.operators.front()]].chosen = c;
      continue;
    }
    const auto start = start_of(plan, candidate.operators);
    if (!start) continue;
    path.steps[*start].alternatives.push_back({c, rejoin_of(plan, candidate.operators, *start)});
  }
  return path;
}

std::pair<int, int> shown_steps(const StrategyPath& path, const Subject& chosen, int neighbours) {
  const int count = static_cast<int>(path.steps.size());
  const int middle = std::clamp(chosen.step ? static_cast<int>(chosen.step->index()) : 0, 0, std::max(0, count - 1));
  const int first = std::max(0, std::min(middle - neighbours, count - 2 * neighbours - 1));
  return {first, std::min(count, std::max(middle + neighbours + 1, 2 * neighbours + 1))};
}

namespace {

/// The states that are drawn, one below the other, with what leads from each to the next and past others.
class PathPicture {
 public:
  PathPicture(const LoadedPlan& plan, const StrategyPath& path, std::pair<int, int> shown, const Look& look,
              double width)
      : plan_(plan),
        path_(path),
        shown_(shown),
        look_(look),
        width_(width),
        candidates_(plan.compilation.fusion.candidates),
        pen_{drawing_, plan, look},
        state_y_(path.steps.size() + 1, -1) {
    int rejoining = 0;
    for (int i = shown.first; i < shown.second; ++i) {
      int here = 0;
      const StrategyPath::Step& step = step_at(i);
      if (step.chosen) pen_.maximum = std::max(pen_.maximum, candidates_[*step.chosen].cycles);
      for (const StrategyPath::Alternative& other : step.alternatives) {
        pen_.maximum = std::max(pen_.maximum, candidates_[other.candidate].cycles);
        if (other.rejoins) ++here;
      }
      rejoining = std::max(rejoining, here);
    }
    // Lanes are shared by steps in turn, so that those of neighbouring states do not lie on each other.
    lanes_ = std::min(2 * rejoining, 12);
    pen_.right = width - path_margin - (lanes_ + 1) * lane;
    pen_.row = QFontMetricsF(look.smallFont()).height() + 8;
  }

  Drawing run() {
    const auto [first, last] = shown_;
    y_ = heading(drawing_, plan_, look_, width_);
    if (first > 0) note(format("… {} before", counted(first, "group")));
    for (int i = 0; i < first; ++i) spend(step_at(i));
    for (int i = first;; ++i) {
      const double below = state(i);
      if (i == last) break;
      alternatives(step_at(i), below);
      chosen(i, below);
    }
    y_ += 4;
    const std::size_t behind = path_.steps.size() - static_cast<std::size_t>(last);
    if (behind > 0) note(format("… {} after", counted(behind, "group")));
    for (const Return& back : returns_) rejoin(back);
    drawing_.size = QSizeF(width_, y_ + 8);
    return std::move(drawing_);
  }

 private:
  static constexpr double lane = 9;
  /// An edge from beside the path back to one of its states.
  struct Return {
    double from;
    int to;
    double x;
  };

  [[nodiscard]] const Theme& theme() const { return look_.theme(); }
  [[nodiscard]] const StrategyPath::Step& step_at(int i) const { return path_.steps[StepId(at(i))]; }
  [[nodiscard]] QString group_name(int i) const { return qt(plan_.steps[StepId(at(i))].step->group.name); }

  void spend(const StrategyPath::Step& step) {
    if (step.chosen) spent_ += candidates_[*step.chosen].cycles;
  }

  void note(const QString& text) {
    drawing_.text({path_margin + 12, y_, width_ - 2 * path_margin, pen_.row}, text, theme().muted, look_.smallFont());
    y_ += pen_.row;
  }

  /// Its lower edge.
  double state(int i) {
    state_y_[static_cast<std::size_t>(i)] = y_;
    const bool is_end = i == static_cast<int>(path_.steps.size());
    const QString after = i == 0 ? QStringLiteral("start") : QStringLiteral("after ") + group_name(i - 1);
    pen_.state(y_,
               format("{}: ", i) + after + QStringLiteral(", ") + cycles_text(plan_, look_, spent_) +
                   (is_end ? QStringLiteral(" in all") : QStringLiteral(" so far")),
               i == 0 || is_end);
    const double below = y_ + pen_.row;
    y_ = below + 4;
    return below;
  }

  void alternatives(const StrategyPath::Step& step, double below) {
    const double trunk = path_margin + 36;
    for (const StrategyPath::Alternative& other : step.alternatives) {
      const double middle = y_ + pen_.row / 2;
      drawing_.polyline({{trunk, below}, {trunk, middle}, {trunk + 14, middle}}, theme().muted).pen = Qt::DashLine;
      pen_.arrow({trunk + 16, middle}, {1, 0}, theme().muted);
      pen_.group(trunk + 16, y_, other.candidate, false, loss_text(plan_, look_, candidates_[other.candidate]));
      if (other.rejoins && lanes_ > 0) {
        const int used = static_cast<int>(returns_.size());
        returns_.push_back({middle, *other.rejoins, pen_.right + lane * (1 + used % lanes_)});
      }
      y_ += pen_.row;
    }
  }

  void chosen(int i, double below) {
    const StrategyPath::Step& step = step_at(i);
    if (step.chosen) {
      pen_.group(path_margin + 26, y_, *step.chosen, true, {});
      spend(step);
    } else {
      drawing_.text({path_margin + 32, y_, pen_.right - path_margin - 32, pen_.row}, group_name(i), theme().text,
                    look_.smallFont());
    }
    y_ += pen_.row + 4;
    drawing_.line({path_margin + 14, below}, {path_margin + 14, y_ - 5}, theme().text, 3);
    pen_.arrow({path_margin + 14, y_}, {0, 1}, theme().text);
  }

  void rejoin(const Return& back) {
    const double target = state_y_[static_cast<std::size_t>(back.to)];
    if (target < 0) {  // its state is not drawn
      drawing_.polyline({{pen_.right, back.from}, {back.x, back.from}, {back.x, y_}}, theme().muted).pen = Qt::DashLine;
      return;
    }
    const double end = target + pen_.row / 2;
    drawing_
        .polyline({{pen_.right, back.from}, {back.x, back.from}, {back.x, end}, {pen_.right + 3, end}}, theme().muted)
        .pen = Qt::DashLine;
    pen_.arrow({pen_.right + 1, end}, {-1, 0}, theme().muted);
  }

  const LoadedPlan& plan_;
  const StrategyPath& path_;
  std::pair<int, int> shown_;
  const Look& look_;
  double width_;
  const std::vector<CandidateRecord>& candidates_;
  Drawing drawing_;
  Pen pen_;
  std::vector<double> state_y_;  ///< upper edge of each state; -1 of those that are not drawn
  std::vector<Return> returns_;
  int lanes_ = 0;
  std::int64_t spent_ = 0;  ///< cycles up to here
  double y_ = 0;
};

}  // namespace

Drawing strategy_drawing(const LoadedPlan& plan, const StrategyPath& path, const Subject& chosen, int neighbours,
                         const Look& look, QSizeF room) {
  return PathPicture(plan, path, shown_steps(path, chosen, neighbours), look, std::max(room.width(), 380.0)).run();
}

}  // namespace stowage::inspector
