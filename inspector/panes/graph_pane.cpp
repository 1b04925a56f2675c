// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/graph_pane.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QRegularExpression>
#include <QSplitter>
#include <QStandardPaths>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <thread>

#include "emitter/pictures/graphviz.h"
#include "inspector/graph/dot_layout.h"
#include "inspector/tables/filter_line.h"

namespace stowage::inspector {

namespace {

QString search_tip() { return GraphPane::tr("Kind, name, shape or template. Enter: next, Shift+Enter: previous"); }

}  // namespace

struct GraphPane::Laid {
  struct One {
    GraphKind kind;
    std::shared_ptr<const GraphSketch> sketch;
    PicturePtr picture;
  };
  std::vector<One> graphs;
  bool has_dot = false;  ///< Graphviz is installed
  [[nodiscard]] bool wants_dot() const {
    return std::any_of(graphs.begin(), graphs.end(), [](const One& one) {
      return !one.picture->by_dot && one.sketch->input.nodes.size() <= max_nodes_for_dot;
    });
  }
};

GraphPane::GraphPane(const PaneContext& context)
    : Pane(context),
      mode_(new QComboBox(this)),
      metric_(new QComboBox(this)),
      search_(new QLineEdit(this)),
      count_(new QLabel(this)),
      remark_(new QLabel(this)),
      computation_(new GraphView(look(), this)),
      fused_(new GraphView(look(), this)),
      legend_(new DrawingView(look(), this)) {
  mode_->addItems({tr("Fused graph"), tr("Computation graph"), tr("Side by side")});
  mode_->setAccessibleName(tr("Which graph"));
  metric_->addItems({tr("by template"), tr("by time"), tr("by DMA bytes"), tr("by LDM use"), tr("by gain and loss")});
  metric_->setAccessibleName(tr("Colours"));
  metric_->setToolTip(tr("What fused operators are coloured by"));
  search_->setPlaceholderText(tr("Find (regular expression)"));
  search_->setClearButtonEnabled(true);
  search_->setAccessibleName(tr("Find in the graph"));
  search_->setToolTip(search_tip());
  computation_->setAccessibleName(tr("Computation graph"));
  fused_->setAccessibleName(tr("Fused graph"));
  legend_->setAccessibleName(tr("Legend"));
  legend_->setFocusPolicy(Qt::NoFocus);
  legend_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  legend_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  remark_->setContentsMargins(8, 0, 8, 3);
  remark_->setWordWrap(true);
  remark_->hide();

  // Two rows, because a search of a few letters is none.
  auto* bar = new QHBoxLayout;
  auto* search_bar = new QHBoxLayout;
  bar->setContentsMargins(4, 4, 4, 2);
  search_bar->setContentsMargins(4, 0, 4, 4);
  bar->addWidget(mode_);
  bar->addWidget(metric_);
  bar->addStretch(1);
  search_bar->addWidget(search_, 1);
  search_bar->addWidget(count_);
  const auto add_button = [&](QHBoxLayout* to, const QString& text, const QString& tip, auto action) {
    auto* button = new QToolButton(this);
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    connect(button, &QToolButton::clicked, this, action);
    to->addWidget(button);
  };
  add_button(search_bar, QStringLiteral("‹"), tr("Previous match"), [this] { goToMatch(-1); });
  add_button(search_bar, QStringLiteral("›"), tr("Next match"), [this] { goToMatch(1); });
  const auto each = [this](auto action) {
    for (GraphView* view : {computation_, fused_}) {
      if (view->isVisibleTo(this)) action(*view);
    }
  };
  add_button(bar, tr("Fit"), tr("The whole graph (F)"), [each] { each([](GraphView& view) { view.fit(); }); });
  add_button(bar, tr("100 %"), tr("Full size, around what is chosen (1)"),
             [each] { each([](GraphView& view) { view.setActualSize(); }); });

  auto* split = new QSplitter(Qt::Horizontal, this);
  split->addWidget(computation_);
  split->addWidget(fused_);
  split->setChildrenCollapsible(false);
  computation_->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addLayout(search_bar);
  layout->addWidget(split, 1);
  layout->addWidget(remark_);
  layout->addWidget(legend_);
  connectParts();
}

void GraphPane::connectParts() {
  legend_->setBuilder([this](QSizeF room) {
    return plan() ? graph_legend(*plan(), static_cast<GraphMetric>(metric_->currentIndex()), look(), room.width(),
                                 comparison())
                  : Drawing();
  });
  for (GraphView* view : {computation_, fused_}) {
    connect(view, &GraphView::chosen, &selection(), &Selection::select);
    connect(view, &GraphView::hovered, &selection(), &Selection::hover);
    connect(view, &GraphView::flipped, this, &GraphPane::flip);
  }
  connect(mode_, &QComboBox::currentIndexChanged, this, [this](int index) { setMode(static_cast<Mode>(index)); });
  connect(metric_, &QComboBox::currentIndexChanged, this, [this] { recolour(); });
  connect(search_, &QLineEdit::textChanged, this, [this] { showMatches(true); });
  search_->installEventFilter(this);
  connect(&work_, &Background::fault, this, &Pane::message);
}

std::vector<GraphKind> GraphPane::kinds() const {
  switch (static_cast<Mode>(mode_->currentIndex())) {
    case Mode::fused: return {GraphKind::fused};
    case Mode::computation: return {GraphKind::computation};
    case Mode::both: return {GraphKind::computation, GraphKind::fused};
  }
  return {};
}

std::vector<GraphWish> GraphPane::wishes() const {
  QFont title = look().textFont();
  title.setBold(true);
  std::vector<GraphWish> wishes;
  for (const GraphKind kind : kinds()) {
    wishes.push_back({kind, flipped_, TextMeasure(title), TextMeasure(look().smallFont()), look().units()});
  }
  return wishes;
}

std::vector<std::string> GraphPane::folders() const {
  std::vector<std::string> folders;
  if (!plan()->folder.empty()) folders.push_back(plan()->folder + "/layout");
  const QString cache = QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation);
  if (!cache.isEmpty()) folders.push_back(cache.toStdString() + "/stowage/layout");
  return folders;
}

std::shared_ptr<const GraphPane::Laid> GraphPane::lay_out(const PlanPtr& plan, const std::vector<GraphWish>& wishes,
                                                          const std::vector<std::string>& folders,
                                                          std::stop_token stop) {
  auto laid = std::make_shared<Laid>();
  laid->has_dot = has_graphviz();
  for (const GraphWish& wish : wishes) {
    auto sketch = sketch_graph(*plan, wish, stop);
    if (!sketch) return nullptr;
    auto shared = std::make_shared<const GraphSketch>(std::move(*sketch));
    if (shared->input.nodes.size() <= max_nodes_for_dot) {
      if (const auto kept = kept_dot_layout(shared->input, folders)) {
        laid->graphs.push_back({wish.kind, shared, finish_picture(*shared, *kept, true)});
        continue;
      }
    }
    const auto layout = layered_layout(shared->input, stop);
    if (!layout) return nullptr;
    laid->graphs.push_back({wish.kind, shared, finish_picture(*shared, *layout, false)});
  }
  return laid;
}

void GraphPane::layOut() {
  dirty_ = true;
  if (!plan()) {
    work_.cancel();
    for (GraphView* view : {computation_, fused_}) view->setPicture(nullptr, false);
    laid_plan_ = nullptr;
    return;
  }
  work_.start([this, plan = plan(), wishes = wishes(), folders = folders()](
                  std::stop_token stop, const ProgressSink&) -> Background::Deliver {
    const auto laid = lay_out(plan, wishes, folders, stop);
    if (!laid) return {};
    return [this, laid] {
      showLaid(*laid);
      askDot(laid);
    };
  });
}

void GraphPane::askDot(const std::shared_ptr<const Laid>& laid) {
  remark_->hide();
  if (!laid->wants_dot()) return;
  if (!laid->has_dot) {
    remark_->setText(
        tr("This is our own simple layout: Graphviz is not installed (Debian: apt-get install graphviz)."));
    remark_->show();
    return;
  }
  work_.start([this, laid, folders = folders()](std::stop_token stop, const ProgressSink&) -> Background::Deliver {
    auto better = std::make_shared<Laid>(*laid);
    auto diagnostics = std::make_shared<Diagnostics>();
    for (Laid::One& one : better->graphs) {
      if (one.picture->by_dot || one.sketch->input.nodes.size() > max_nodes_for_dot) continue;
      if (const auto layout = dot_layout(one.sketch->input, folders, *diagnostics, stop)) {
        one.picture = finish_picture(*one.sketch, *layout, true);
      }
    }
    return [this, better, diagnostics] {
      showLaid(*better);
      if (diagnostics->entries().empty()) return;
      remark_->setText(tr("This is our own simple layout: %1.").arg(qt(diagnostics->entries().front().message)));
      remark_->show();
    };
  });
}

void GraphPane::showLaid(const Laid& laid) {
  for (const Laid::One& one : laid.graphs) view(one.kind).setPicture(one.picture, keep_sight_);
  keep_sight_ = true;
  dirty_ = false;
  showMatches(false);
}

void GraphPane::finishNow() {
  if (!plan()) return;
  if (!dirty_ && !work_.busy()) return;
  // Whoever exports waits; the work is done elsewhere all the same.
  work_.cancel();
  const auto laid = beside([&, wishes = wishes(), folders = folders()]() -> std::shared_ptr<const Laid> {
    const auto own = lay_out(plan(), wishes, folders, {});
    if (!own->wants_dot() || !own->has_dot) return own;
    auto better = std::make_shared<Laid>(*own);
    Diagnostics diagnostics;
    for (Laid::One& one : better->graphs) {
      if (one.picture->by_dot || one.sketch->input.nodes.size() > max_nodes_for_dot) continue;
      if (const auto layout = dot_layout(one.sketch->input, folders, diagnostics)) {
        one.picture = finish_picture(*one.sketch, *layout, true);
      }
    }
    return better;
  });
  showLaid(*laid);
}

void GraphPane::setMode(Mode mode) {
  mode_->setCurrentIndex(static_cast<int>(mode));
  computation_->setVisible(mode != Mode::fused);
  fused_->setVisible(mode != Mode::computation);
  if (computation_->isHidden()) computation_->setPicture(nullptr, false);
  if (fused_->isHidden()) fused_->setPicture(nullptr, false);
  layOut();
}

/// Two plans that are compared are coloured by what they gain and lose, until somebody wants other colours.
void GraphPane::followComparison() {
  const auto change = static_cast<int>(GraphMetric::change);
  const bool compares = comparison() != nullptr;
  if (compares == follows_comparison_) return;
  follows_comparison_ = compares;
  if (compares && metric_->currentIndex() != change) {
    metric_before_ = metric_->currentIndex();
    metric_->setCurrentIndex(change);
  } else if (!compares && metric_->currentIndex() == change) {
    metric_->setCurrentIndex(metric_before_);
  }
}

void GraphPane::setMetric(GraphMetric metric) { metric_->setCurrentIndex(static_cast<int>(metric)); }

void GraphPane::flip(StepId step) {
  if (!flipped_.erase(step)) flipped_.insert(step);
  layOut();
}

void GraphPane::recolour() {
  if (plan()) {
    const auto colours =
        graph_colours(*plan(), static_cast<GraphMetric>(metric_->currentIndex()), theme(), comparison());
    for (GraphView* view : {computation_, fused_}) view->setColours(colours);
  }
  placeLegend();
}

void GraphPane::placeLegend() {
  legend_->setVisible(plan() != nullptr);
  // Before it is shown a pane has no width worth breaking lines for.
  const double wide = isVisible() ? width() : 600;
  legend_->setFixedHeight(std::max(20, static_cast<int>(legend_->build(QSizeF(wide, 0)).size.height())));
  legend_->rebuild();
}

void GraphPane::resizeEvent(QResizeEvent* event) {
  Pane::resizeEvent(event);
  placeLegend();
}

void GraphPane::search(const QString& expression) { search_->setText(expression); }

void GraphPane::showMatches(bool go) {
  matches_.clear();
  match_ = -1;
  const QRegularExpression expression(search_->text(), QRegularExpression::CaseInsensitiveOption);
  const bool wanted = !search_->text().isEmpty();
  for (GraphView* view : {computation_, fused_}) {
    std::vector<int> found;
    if (wanted && expression.isValid() && view->picture()) {
      for (std::size_t i = 0; i < view->picture()->nodes.size(); ++i) {
        const GraphNode& node = view->picture()->nodes[i];
        // An open group is found by its operators.
        const auto matches = [&](const QString& name) { return expression.match(name).hasMatch(); };
        if (node.open || std::none_of(node.names.begin(), node.names.end(), matches)) continue;
        found.push_back(static_cast<int>(i));
        matches_.emplace_back(view, found.back());
      }
    }
    view->setMatches(found, -1);
  }
  const bool broken = wanted && !expression.isValid();
  mark_invalid(*search_, broken);
  count_->setText(!wanted  ? QString()
                  : broken ? tr("not an expression")
                           : tr("%n found", nullptr, static_cast<int>(matches_.size())));
  // The whole sentence would make the pane grow.
  count_->setToolTip(broken ? expression.errorString() : QString());
  search_->setToolTip(broken ? tr("not an expression: %1").arg(expression.errorString()) : search_tip());
  if (go && !matches_.empty()) goToMatch(1);
}

void GraphPane::goToMatch(int step) {
  if (matches_.empty()) return;
  const int count = static_cast<int>(matches_.size());
  match_ = match_ < 0 ? (step > 0 ? 0 : count - 1) : (match_ + step + count) % count;
  for (GraphView* view : {computation_, fused_}) {
    std::vector<int> nodes;
    int current = -1;
    for (int i = 0; i < count; ++i) {
      const auto& [owner, node] = matches_[static_cast<std::size_t>(i)];
      if (owner != view) continue;
      nodes.push_back(node);
      if (i == match_) current = node;
    }
    view->setMatches(nodes, current);
  }
  const auto& [view, node] = matches_[static_cast<std::size_t>(match_)];
  view->reveal(node);
  if (const Subject& found = view->picture()->nodes[static_cast<std::size_t>(node)].subject; found != Subject{}) {
    selection().select(found);
  }
  count_->setText(tr("%1 of %2").arg(match_ + 1).arg(count));
}

bool GraphPane::eventFilter(QObject* object, QEvent* event) {
  if (object == search_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
      goToMatch(key->modifiers().testFlag(Qt::ShiftModifier) ? -1 : 1);
      return true;
    }
    if (key->key() == Qt::Key_Escape) {
      search_->clear();
      takeKeyboard();
      return true;
    }
  }
  return Pane::eventFilter(object, event);
}

void GraphPane::refresh(unsigned changes) {
  if ((changes & plan_changed) != 0 && plan() != laid_plan_) {
    laid_plan_ = plan();
    flipped_.clear();
    keep_sight_ = false;
    for (GraphView* view : {computation_, fused_}) view->setPicture(nullptr, false);
    layOut();
  } else if ((changes & look_changed) != 0) {
    layOut();  // text has another size, or says something else
  }
  if ((changes & look_changed) != 0) search_->setMinimumWidth(look().characters(16));
  if ((changes & (plan_changed | comparison_changed)) != 0) followComparison();
  if ((changes & (plan_changed | comparison_changed | look_changed)) != 0) recolour();
  for (GraphView* view : {computation_, fused_}) view->setLit(subject(), selection().hovered());
}

QSizeF GraphPane::exportSize(QSizeF room) {
  finishNow();
  QSizeF size(0, 0);
  for (const GraphKind kind : kinds()) {
    if (!view(kind).picture()) continue;
    const QSizeF one = view(kind).picture()->bounds.size() + QSizeF(32, 32);
    size = {size.width() + one.width(), std::max(size.height(), one.height())};
  }
  size.setWidth(std::max(size.width(), std::min(room.width(), 600.0)));
  return {size.width(), size.height() + legend_->build({size.width(), 0}).size.height()};
}

void GraphPane::draw(QPainter& painter, QSizeF size) {
  finishNow();
  if (!plan()) return;
  const Drawing legend = legend_->build({size.width(), 0});
  painter.save();
  paint(painter, legend);
  painter.restore();
  double wide = 0;
  for (const GraphKind kind : kinds()) wide += view(kind).picture()->bounds.width() + 32;
  painter.translate(std::max(0.0, (size.width() - wide) / 2), legend.size.height());
  for (const GraphKind kind : kinds()) {
    painter.save();
    painter.translate(16, 16);
    view(kind).paintAll(painter);
    painter.restore();
    painter.translate(view(kind).picture()->bounds.width() + 32, 0);
  }
}

}  // namespace stowage::inspector
