// SPDX-License-Identifier: Apache-2.0
// Chooses a position of a nest: a slider for the core, and one for every loop.
#pragma once

#include <QGridLayout>
#include <QSlider>
#include <QWidget>

#include "inspector/ldm/regions.h"

namespace stowage::inspector {

class LoopSliders : public QWidget {
  Q_OBJECT
 public:
  explicit LoopSliders(QWidget* parent = nullptr);
  /// Sliders for another nest, all at their first trip; null for none.
  void setStep(const StepFacts* step);
  [[nodiscard]] const LoopPosition& position() const { return position_; }
  /// Moves all of them; loops that are not named go to their first trip. Says so once.
  void setPosition(const LoopPosition& position);
  /// Of a loop, by its name; null without one.
  [[nodiscard]] QSlider* loop(const std::string& name) const;
  [[nodiscard]] QSlider* core() const { return core_; }

 Q_SIGNALS:
  void moved();

 private:
  QSlider* add(const QString& name, const QString& tip, std::int64_t count, const std::function<void(int)>& set);

  LoopPosition position_;
  QWidget* rows_ = nullptr;
  QGridLayout* grid_ = nullptr;
  QSlider* core_ = nullptr;
  std::map<std::string, QSlider*> loops_;
  std::map<StatementId, QSlider*> loop_of_statement_;
};

}  // namespace stowage::inspector
