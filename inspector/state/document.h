// SPDX-License-Identifier: Apache-2.0
// What is open: a plan, perhaps another as its baseline, and the diagnostics of the last opening. Opening runs beside
// the window's thread; a failed or cancelled opening leaves what is open as it was.
#pragma once

#include <QObject>
#include <QString>

#include "inspector/state/background.h"
#include "inspector/state/checked_file.h"
#include "inspector/state/comparison.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

/// What can be opened: a compiled folder, an ONNX model, one job of a batch file; a nest, exercises.
struct Source {
  QString path;
  QString job;  ///< name of a batch file's job; empty for the others and for a batch file with one job
  friend bool operator==(const Source&, const Source&) = default;
};

/// A plan that is kept for comparing: a snapshot, or what was shown before an edit.
struct KeptPlan {
  QString name;
  PlanPtr plan;
};

/// How what is shown stands to the edits that were made of it.
enum class Staleness : std::uint8_t {
  none,
  without_edits,    ///< it has none of them
  discarded_edits,  ///< it has edits, and all are discarded since
  other_edits       ///< it has edits that are others now
};

class Document : public QObject {
  Q_OBJECT
 public:
  explicit Document(QObject* parent = nullptr);
  ~Document() override;

  [[nodiscard]] PlanPtr plan() const { return plan_; }          ///< null until something is open
  [[nodiscard]] PlanPtr baseline() const { return baseline_; }  ///< null without one
  /// Of the two; null while it is being worked out, and without a baseline.
  [[nodiscard]] const ComparisonPtr& comparison() const { return comparison_; }
  [[nodiscard]] bool comparing() const { return comparing_.busy(); }
  /// Nests that are looked at instead of the plan's; null without.
  [[nodiscard]] const CheckedPtr& checked() const { return checked_; }
  void closeChecked();
  /// The same nests, checked otherwise.
  void showChecked(CheckedPtr checked);
  [[nodiscard]] const Diagnostics& diagnostics() const { return diagnostics_; }
  [[nodiscard]] bool busy() const { return work_.busy(); }
  [[nodiscard]] const Source& opening() const { return opening_; }

  void open(const Source& source);
  /// Opens a plan and another one to compare it with.
  void open(const Source& source, const Source& baseline);
  void cancel() { work_.cancel(); }
  /// Shows a plan that is there already (an edited one, a snapshot).
  void show(PlanPtr plan);
  void showBaseline(PlanPtr plan);
  /// Opens another plan to compare what is shown with.
  void openBaseline(const Source& source);

  /// Whether what is shown is behind edits that were not planned yet.
  [[nodiscard]] bool stale() const { return staleness_ != Staleness::none; }
  [[nodiscard]] Staleness staleness() const { return staleness_; }
  void setStaleness(Staleness staleness);

  /// Plans that can be compared besides the two that are shown, oldest first.
  [[nodiscard]] const std::vector<KeptPlan>& kept() const { return kept_; }
  /// Replaces one of that name; a dozen at most, the oldest goes.
  void keep(const QString& name, PlanPtr plan);

 Q_SIGNALS:
  void planChanged();
  void baselineChanged();
  void comparisonChanged();
  void keptChanged();
  void staleChanged();
  void diagnosticsChanged();
  void busyChanged();
  void progress(const QString& stage, int done, int total);
  void opened(const Source& source);
  /// Nests came instead of a plan. The plan that was open stays.
  void checkedOpened(const Source& source);
  void checkedChanged();
  void openingFailed(const Source& source);
  /// A batch file with several jobs: one of them is to be chosen.
  void jobsFound(const QString& path, const QStringList& jobs);

 private:
  void fail(const Source& source, Diagnostics diagnostics);
  void compare();

  PlanPtr plan_;
  PlanPtr baseline_;
  CheckedPtr checked_;
  ComparisonPtr comparison_;
  std::vector<KeptPlan> kept_;
  Staleness staleness_ = Staleness::none;
  Diagnostics diagnostics_;
  Source opening_;
  Background comparing_;
  Background work_;  ///< last: its destructor joins before the rest goes
};

}  // namespace stowage::inspector
