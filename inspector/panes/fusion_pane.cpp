// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/fusion_pane.h"

#include <QCompleter>
#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QSplitter>
#include <QStringListModel>
#include <QVBoxLayout>
#include <algorithm>

#include "inspector/fusion/candidates.h"

namespace stowage::inspector {

namespace {

constexpr double pane_margin = 14;

QHBoxLayout* bar_layout() {
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(6, 3, 6, 3);
  bar->setSpacing(6);
  return bar;
}

/// A column of widgets without gaps.
QWidget* column_of(QWidget* parent, QHBoxLayout* bar, const QList<QWidget*>& widgets) {
  auto* page = new QWidget(parent);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  for (QWidget* widget : widgets) layout->addWidget(widget, 1);
  return page;
}

double heading(Drawing& drawing, const Look& look, double y, double width, const QString& text) {
  const double height = QFontMetricsF(look.titleFont()).height() + 4;
  drawing.text({pane_margin, y, width - 2 * pane_margin, height}, text, look.theme().text, look.titleFont());
  return height;
}

std::vector<std::string> names_of_all(const Graph& graph, const std::vector<OpId>& operators) {
  std::vector<std::string> names;
  for (const OpId op : operators) names.push_back(graph.op(op).name);
  return names;
}

}  // namespace

FusionPane::FusionPane(const PaneContext& context)
    : Pane(context),
      tabs_(new QTabBar(this)),
      stack_(new QStackedWidget(this)),
      candidates_(new TableView(look(), this)),
      fate_(new QComboBox(this)),
      filter_(new FilterLine(this)),
      around_(new QCheckBox(tr("Around the selection only"), this)),
      path_view_(new DrawingView(look(), this)),
      neighbours_(new QSpinBox(this)),
      strategies_(new TableView(look(), this)),
      differences_(new TableView(look(), this)),
      compare_(new QPushButton(tr("Compare strategies"), this)),
      bar_(new QProgressBar(this)),
      hint_(new QLabel(this)),
      first_(new QLineEdit(this)),
      second_(new QLineEdit(this)),
      answer_(new QPlainTextEdit(this)) {
  tabs_->setDocumentMode(true);
  tabs_->setExpanding(false);
  tabs_->setDrawBase(false);
  tabs_->addTab(tr("Candidates"));
  tabs_->addTab(tr("Strategy graph"));
  tabs_->addTab(tr("Strategies"));
  stack_->addWidget(makeCandidates());
  stack_->addWidget(makePath());
  stack_->addWidget(makeStrategies());
  connect(tabs_, &QTabBar::currentChanged, this, [this](int tab) {
    stack_->setCurrentIndex(tab);
    fitStack();
  });
  auto* upper = new QWidget(this);
  auto* pages = new QVBoxLayout(upper);
  pages->setContentsMargins(0, 0, 0, 0);
  pages->setSpacing(0);
  pages->addWidget(tabs_);
  pages->addWidget(stack_);
  auto* split = new QSplitter(Qt::Vertical, this);
  split->addWidget(upper);
  split->addWidget(makeQuestion());
  split->setStretchFactor(0, 2);
  split->setStretchFactor(1, 1);
  split->setSizes({400, 200});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(split);
  for (TableView* view : {candidates_, differences_}) {
    connect(view, &TableView::chosen, &selection(), &Selection::select);
  }
}

void FusionPane::fitStack() {
  // By itself each page would want as much as the largest, which is more than a small screen has.
  stack_->setMinimumHeight(look().lines(tabs_->currentIndex() == strategies_tab ? 15 : 7));
}

QWidget& FusionPane::mainView() {
  switch (tabs_->currentIndex()) {
    case path_tab: return *path_view_;
    case strategies_tab: return strategies_->view();
    default: return candidates_->view();
  }
}

QLineEdit* FusionPane::searchLine() {
  setTab(candidates_tab);
  return filter_;
}

QWidget* FusionPane::makeCandidates() {
  fate_->addItems({tr("all fates"), tr("chosen"), tr("refused"), tr("outbid")});
  fate_->setAccessibleName(tr("Fate of the candidates"));
  filter_->setAccessibleName(tr("Filter of the candidates"));
  QHBoxLayout* bar = bar_layout();
  bar->addWidget(fate_);
  bar->addWidget(around_);
  bar->addWidget(filter_, 1);
  connect(fate_, &QComboBox::currentIndexChanged, this, &FusionPane::showCandidates);
  connect(around_, &QCheckBox::toggled, this, &FusionPane::showCandidates);
  connect(filter_, &FilterLine::patternChanged, candidates_, &TableView::setPattern);
  connect(filter_, &FilterLine::refused, this, &Pane::message);
  connect(filter_, &FilterLine::accepted, this, &Pane::messageOver);
  // A row is a question too: why this group, or why not.
  connect(candidates_, &TableView::chosen, this, [this] {
    const QModelIndex row = candidates_->view().currentIndex();
    const auto& rows = candidates_->model().table()->rows;
    const auto source = static_cast<std::size_t>(candidates_->filter().mapToSource(row).row());
    if (!plan() || !row.isValid() || source >= rows.size()) return;
    const auto index = static_cast<std::size_t>(std::get<std::int64_t>(rows[source].cells.front()));
    askAbout(plan()->compilation.fusion.candidates[index].operators);
  });
  return column_of(this, bar, {candidates_});
}

QWidget* FusionPane::makePath() {
  neighbours_->setRange(1, 500);
  neighbours_->setValue(4);
  neighbours_->setAccessibleName(tr("Neighbours to show"));
  path_view_->setAccessibleName(tr("Strategy graph"));
  path_view_->setBuilder([this](QSizeF room) {
    return plan() ? strategy_drawing(*plan(), path_, subject(), neighbours_->value(), look(), room) : Drawing();
  });
  QHBoxLayout* bar = bar_layout();
  bar->addWidget(new QLabel(tr("Groups before and after the chosen one:"), this));
  bar->addWidget(neighbours_);
  bar->addStretch();
  connect(neighbours_, &QSpinBox::valueChanged, path_view_, &DrawingView::rebuild);
  connect(path_view_, &DrawingView::chosen, &selection(), &Selection::select);
  connect(path_view_, &DrawingView::hovered, &selection(), &Selection::hover);
  return column_of(this, bar, {path_view_});
}

QWidget* FusionPane::makeStrategies() {
  bar_->setTextVisible(true);
  bar_->hide();
  hint_->setText(tr("Fuses and plans the network with every strategy"));
  QHBoxLayout* bar = bar_layout();
  bar->addWidget(compare_);
  bar->addWidget(bar_, 1);
  bar->addWidget(hint_, 1);
  connect(compare_, &QPushButton::clicked, this, [this] {
    if (comparing_.busy()) {
      comparing_.cancel();
      hint_->setText(tr("Cancelled"));
    } else {
      compare();
    }
  });
  connect(&comparing_, &Background::busyChanged, this, [this] {
    compare_->setText(comparing_.busy() ? tr("Cancel") : tr("Compare strategies"));
    bar_->setVisible(comparing_.busy());
    hint_->setVisible(!comparing_.busy());
  });
  connect(&comparing_, &Background::progress, this, [this](const QString& stage, int done, int total) {
    bar_->setRange(0, total);
    bar_->setValue(done);
    bar_->setFormat(stage);
  });
  for (Background* work : {&listing_, &comparing_, &asking_})
    connect(work, &Background::fault, this, &FusionPane::message);
  return column_of(this, bar, {strategies_, differences_});
}

QWidget* FusionPane::makeQuestion() {
  QHBoxLayout* bar = bar_layout();
  bar->addWidget(new QLabel(tr("Why not fused:"), this));
  bar->addWidget(first_, 1);
  bar->addWidget(new QLabel(tr("and"), this));
  bar->addWidget(second_, 1);
  first_->setAccessibleName(tr("First operator"));
  second_->setAccessibleName(tr("Second operator"));
  for (QLineEdit* field : {first_, second_}) {
    field->setPlaceholderText(tr("operator"));
    auto* completer = new QCompleter(new QStringListModel(field), field);
    completer->setFilterMode(Qt::MatchContains);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    field->setCompleter(completer);
    connect(completer, qOverload<const QString&>(&QCompleter::activated), this, &FusionPane::ask, Qt::QueuedConnection);
    connect(field, &QLineEdit::returnPressed, this, &FusionPane::ask);
  }
  answer_->setReadOnly(true);
  answer_->setFrameShape(QFrame::NoFrame);
  answer_->setTabChangesFocus(true);
  answer_->setAccessibleName(tr("Answer"));
  return column_of(this, bar, {answer_});
}

void FusionPane::refresh(unsigned changes) {
  if ((changes & plan_changed) != 0) showNetwork();
  if ((changes & look_changed) != 0) {
    answer_->setFont(look().codeFont());
    fitStack();
    answer_->setMinimumHeight(look().lines(2));
  }
  if ((changes & selection_changed) != 0) {
    listed_ = listed_ && (changes & plan_changed) == 0 && !around_->isChecked();
    followSelection();
    differences_->setChosen(subject());
    const bool typing = first_->hasFocus() || second_->hasFocus();
    if (plan() && !typing && !candidates_->view().hasFocus()) askAbout(pair_to_ask(*plan(), before_, subject()));
    before_ = subject();
  }
  if (!listed_ && inSight()) showCandidates();
  if ((changes & ~unsigned{hover_changed | sight_changed}) != 0) path_view_->rebuild();
  path_view_->setLit(subject(), selection().hovered());
}

void FusionPane::showNetwork() {
  for (Background* work : {&listing_, &comparing_, &asking_}) work->cancel();
  path_ = plan() ? strategy_path(*plan()) : StrategyPath();
  question_.reset();
  results_.clear();
  before_ = {};
  // Rows of the plan before would be asked about as if they were of this one.
  const TablePtr& old = candidates_->model().table();
  candidates_->setTable(std::make_shared<const Table>(Table{old->title, old->columns, {}}), 1);
  strategies_->setTable(nullptr, 1);
  differences_->setTable(nullptr, 1);
  compare_->setEnabled(plan() != nullptr);
  answer_->clear();
  QStringList names;
  if (plan()) {
    for (const Operator& op : plan()->graph().operators()) names.push_back(qt(op.name));
  }
  for (QLineEdit* field : {first_, second_}) {
    field->clear();
    static_cast<QStringListModel*>(field->completer()->model())->setStringList(names);
  }
}

void FusionPane::showCandidates() {
  listed_ = true;
  listing_.cancel();
  if (!plan()) return candidates_->setTable(nullptr, 1);
  CandidateFilter filter;
  static constexpr std::array fates = {CandidateFate::chosen, CandidateFate::refused, CandidateFate::outbid};
  if (fate_->currentIndex() > 0) filter.fate = fates[static_cast<std::size_t>(fate_->currentIndex() - 1)];
  if (around_->isChecked()) filter.around = subject();
  listing_.start([this, plan = plan(), filter](const std::stop_token&, const ProgressSink&) -> Background::Deliver {
    return [this, plan, table = std::make_shared<const Table>(candidates_table(*plan, filter))] {
      candidates_->setTable(table, plan->program().target.clock_hz);
      followSelection();
    };
  });
}

void FusionPane::followSelection() {
  // A row that somebody chose stays; else it is that of the group, not of the first one that was tried.
  const QModelIndex row = candidates_->filter().mapToSource(candidates_->view().currentIndex());
  const bool there = row.isValid() &&
                     holds(candidates_->model().table()->rows[static_cast<std::size_t>(row.row())].subject, subject());
  if (!there) candidates_->setChosen(step_subject(subject().step));
}

void FusionPane::askAbout(const std::vector<OpId>& operators) {
  if (operators.size() < 2) return;
  const std::vector<std::string> names = names_of_all(plan()->graph(), operators);
  first_->setText(qt(names.front()));
  second_->setText(qt(names.back()));
  answerAbout(names);
}

void FusionPane::ask() {
  const QString first = first_->text().trimmed();
  const QString second = second_->text().trimmed();
  if (plan() && !first.isEmpty() && !second.isEmpty()) answerAbout({first.toStdString(), second.toStdString()});
}

void FusionPane::answerAbout(std::vector<std::string> names) {
  asking_.start([this, plan = plan(), question = question_, names = std::move(names)](std::stop_token,
                                                                                      const ProgressSink&) mutable {
    if (!question || question->plan() != plan) question = std::make_shared<const WhyNotQuestion>(plan);
    return [this, question, text = qt(question->ask(names))] {
      question_ = question;
      answer_->setPlainText(text.trimmed());
    };
  });
}

void FusionPane::compare() {
  if (!plan()) return;
  comparing_.start([this, plan = plan()](std::stop_token stop, const ProgressSink& progress) -> Background::Deliver {
    auto results = compare_strategies(*plan, stop, progress);
    if (results.empty()) return {};
    return [this, plan, results = std::move(results)] {
      results_ = results;
      const double clock = plan->program().target.clock_hz;
      strategies_->setTable(std::make_shared<const Table>(strategies_table(*plan, results_)), clock);
      differences_->setTable(std::make_shared<const Table>(differences_table(*plan, results_)), clock);
      hint_->setText(tr("This plan was fused by %1; cycles by %2")
                         .arg(qt(plan->program().fusion), qt(text_of(plan->program().evaluated_by))));
    };
  });
}

Drawing FusionPane::answerDrawing(double width) const {
  Drawing drawing;
  double y =
      8 + heading(drawing, look(), 8, width, tr("Why not fused: %1 and %2").arg(first_->text(), second_->text()));
  const double row = QFontMetricsF(look().codeFont()).height() + 2;
  double needed = width;
  for (const QString& line : answer_->toPlainText().split(QLatin1Char('\n'))) {
    const double room = QFontMetricsF(look().codeFont()).horizontalAdvance(line) + 2;
    drawing.text({pane_margin, y, room, row}, line, look().theme().text, look().codeFont());
    needed = std::max(needed, room + 2 * pane_margin);
    y += row;
  }
  drawing.size = QSizeF(needed, y + 12);
  return drawing;
}

/// The picture of everything: the strategy graph around what is chosen, the candidates that compete there, the answer,
/// and the strategies where they were compared.
std::vector<Drawing> FusionPane::pages(QSizeF room) {
  if (!plan()) return {};
  const auto titled = [&](const QString& title) {
    Drawing drawing;
    drawing.size = QSizeF(room.width(), 14 + heading(drawing, look(), 14, room.width(), title));
    return drawing;
  };
  const auto table = [&](Table values) {
    TableView view(look());
    view.setTable(std::make_shared<const Table>(std::move(values)), plan()->program().target.clock_hz);
    return view.drawing();
  };
  // Tables may be wide; bars as wide as they are would be hard to compare.
  const QSizeF narrow(std::min(room.width(), 1280.0), room.height());
  std::vector<Drawing> all = {strategy_drawing(*plan(), path_, subject(), neighbours_->value(), look(), narrow)};
  const bool network = operators_at(*plan(), subject()).empty();
  all.push_back(titled(network ? tr("All candidate groups") : tr("Candidate groups with its operators")));
  all.push_back(table(candidates_table(*plan(), {std::nullopt, subject()})));
  if (!results_.empty()) {
    all.push_back(titled(tr("Strategies")));
    all.push_back(table(strategies_table(*plan(), results_)));
    all.push_back(table(differences_table(*plan(), results_)));
  }
  const std::vector<OpId> asked = pair_to_ask(*plan(), {}, subject());
  if (answer_->toPlainText().isEmpty() && asked.size() == 2) {
    // Nobody waited for the worker: a picture that is made at once.
    const std::vector<std::string> names = names_of_all(plan()->graph(), asked);
    const std::string text = beside([&] {
      question_ = question_ ? question_ : std::make_shared<const WhyNotQuestion>(plan());
      return question_->ask(names);
    });
    answer_->setPlainText(qt(text).trimmed());
  }
  if (!answer_->toPlainText().isEmpty()) all.push_back(answerDrawing(room.width()));
  return all;
}

QSizeF FusionPane::exportSize(QSizeF room) {
  QSizeF size(0, 0);
  for (const Drawing& page : pages(room)) {
    size = QSizeF(std::max(size.width(), page.size.width()), size.height() + page.size.height());
  }
  return size;
}

void FusionPane::draw(QPainter& painter, QSizeF size) {
  const std::vector<Drawing> all = pages(size);
  for (const Drawing& page : all) {
    paint(painter, page);
    if (&page == &all.front()) paint_lit(painter, page, subject(), {}, theme());
    painter.translate(0, page.size.height());
  }
}

}  // namespace stowage::inspector
