// SPDX-License-Identifier: Apache-2.0
// What is seen while nothing is open: open, samples that open without compiling, recent files; and the progress of the
// first opening.
#pragma once

#include <QLabel>
#include <QListWidget>
#include <QProgressBar>
#include <QPushButton>
#include <QWidget>

#include "inspector/look/look.h"

namespace stowage::inspector {

/// A compiled folder that comes with the program.
struct Sample {
  QString name;
  QString summary;
  QString folder;
};
/// Those that are there (for worker threads): beside the program in a build, under share/stowage when installed.
std::vector<Sample> find_samples();

class StartPage : public QWidget {
  Q_OBJECT
 public:
  explicit StartPage(const Look& look, QWidget* parent = nullptr);
  void setSamples(const std::vector<Sample>& samples);
  [[nodiscard]] const QListWidget& samples() const { return *samples_; }
  void setRecent(const QStringList& recent);
  void setProgress(bool busy, const QString& text);

 Q_SIGNALS:
  void openRequested(const QString& path);
  void sampleRequested(const QString& folder);
  void modelDialogRequested();
  void folderDialogRequested();
  void cancelRequested();

 private:
  void restyle();

  const Look& look_;
  QLabel* title_;
  QLabel* summary_;
  QListWidget* samples_;
  QListWidget* recent_;
  QWidget* progress_row_;
  QLabel* progress_text_;
};

}  // namespace stowage::inspector
