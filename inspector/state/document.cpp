// SPDX-License-Identifier: Apache-2.0
#include "inspector/state/document.h"

#include <algorithm>

#include "inspector/state/load.h"

namespace stowage::inspector {

Document::Document(QObject* parent) : QObject(parent) {
  connect(&work_, &Background::busyChanged, this, &Document::busyChanged);
  connect(&work_, &Background::progress, this, &Document::progress);
  connect(&work_, &Background::fault, this, [this](const QString& message) {
    Diagnostics diagnostics;
    SourceLocation location;
    location.file = opening_.path.toStdString();
    diagnostics.error("internal-error", location, message.toStdString(),
                      "this is a fault of Stowage; please report it");
    fail(opening_, std::move(diagnostics));
  });
}

Document::~Document() = default;

void Document::open(const Source& source) { open(source, {}); }

void Document::open(const Source& source, const Source& baseline) {
  opening_ = source;
  work_.start([this, source, baseline](std::stop_token stop, const ProgressSink& progress) -> Background::Deliver {
    Loading loading = load(source.path.toStdString(), source.job.toStdString(), stop, progress);
    Loading other;
    if (!baseline.path.isEmpty() && loading.plan) {
      other = load(baseline.path.toStdString(), baseline.job.toStdString(), stop, progress);
      loading.diagnostics.append(other.diagnostics);
    }
    return [this, source, baseline, loading = std::move(loading), other = std::move(other)] {
      if (!loading.jobs.empty()) {
        QStringList names;
        for (const std::string& name : loading.jobs) names.push_back(QString::fromStdString(name));
        Q_EMIT jobsFound(source.path, names);
        return;
      }
      if (loading.checked) {
        diagnostics_ = loading.diagnostics;
        checked_ = loading.checked;
        Q_EMIT diagnosticsChanged();
        Q_EMIT checkedChanged();
        Q_EMIT checkedOpened(source);
        return;
      }
      if (!loading.plan) return fail(source, loading.diagnostics);
      closeChecked();
      diagnostics_ = loading.diagnostics;
      kept_.clear();
      Q_EMIT keptChanged();
      show(loading.plan);
      showBaseline(other.plan);
      Q_EMIT diagnosticsChanged();
      Q_EMIT opened(source);
      if (!baseline.path.isEmpty() && !other.plan) Q_EMIT openingFailed(baseline);
    };
  });
}

void Document::openBaseline(const Source& source) {
  opening_ = source;
  work_.start([this, source](std::stop_token stop, const ProgressSink& progress) -> Background::Deliver {
    Loading loading = load(source.path.toStdString(), source.job.toStdString(), stop, progress);
    return [this, source, loading = std::move(loading)] {
      if (!loading.plan) return fail(source, loading.diagnostics);
      diagnostics_ = loading.diagnostics;
      Q_EMIT diagnosticsChanged();
      showBaseline(loading.plan);
    };
  });
}

void Document::showChecked(CheckedPtr checked) {
  checked_ = std::move(checked);
  Q_EMIT checkedChanged();
}

void Document::closeChecked() {
  if (!checked_) return;
  checked_.reset();
  Q_EMIT checkedChanged();
}

void Document::setStaleness(Staleness staleness) {
  if (staleness == staleness_) return;
  staleness_ = staleness;
  Q_EMIT staleChanged();
}

void Document::keep(const QString& name, PlanPtr plan) {
  const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const KeptPlan& kept) { return kept.name == name; });
  if (same != kept_.end()) {
    same->plan = std::move(plan);
  } else {
    constexpr std::size_t maximum = 12;
    if (kept_.size() == maximum) kept_.erase(kept_.begin());
    kept_.push_back({name, std::move(plan)});
  }
  Q_EMIT keptChanged();
}

void Document::show(PlanPtr plan) {
  plan_ = std::move(plan);
  comparison_.reset();
  Q_EMIT planChanged();
  compare();
}

void Document::showBaseline(PlanPtr plan) {
  if (plan == baseline_) return;
  baseline_ = std::move(plan);
  comparison_.reset();
  Q_EMIT baselineChanged();
  compare();
}

void Document::compare() {
  comparison_.reset();
  if (!plan_ || !baseline_) {
    comparing_.cancel();
    Q_EMIT comparisonChanged();
    return;
  }
  comparing_.start([this, baseline = baseline_, current = plan_](const std::stop_token& stop,
                                                                 const ProgressSink&) -> Background::Deliver {
    return [this, comparison = compare_plans(baseline, current, stop)] {
      comparison_ = comparison;
      Q_EMIT comparisonChanged();
    };
  });
}

void Document::fail(const Source& source, Diagnostics diagnostics) {
  diagnostics_ = std::move(diagnostics);
  Q_EMIT diagnosticsChanged();
  Q_EMIT openingFailed(source);
}

}  // namespace stowage::inspector
