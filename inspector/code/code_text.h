// SPDX-License-Identifier: Apache-2.0
// Lines of a loop nest or of emitted C, coloured, with a gutter and the subjects they stand for.
#pragma once

#include <QColor>
#include <QString>
#include <optional>
#include <vector>

#include "inspector/look/look.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

struct CodeRun {
  QString text;
  QColor color;
};

struct CodeLine {
  std::vector<CodeRun> runs;
  std::vector<QString> gutter;  ///< one per gutter column
  QString badge;                ///< "get", "put", "wait": a coloured label in the gutter
  QColor badge_color;
  double own = 0;        ///< share of the step's time, from 0 to 1
  double inclusive = 0;  ///< the same with everything inside
  std::optional<Subject> subject;
  std::vector<BufferId> buffers;  ///< LDM buffers that it touches
  QString tip;
  [[nodiscard]] QString text() const;
};

struct CodeText {
  std::vector<QString> gutter_titles;
  bool has_badges = false;
  bool has_costs = false;
  std::vector<CodeLine> lines;
};

/// The nest of a step: DMA in the gutter at its place with its counts, costs as bars. Without `declarations` only the
/// statements.
CodeText nest_code(const LoadedPlan& plan, std::optional<StepId> step, bool declarations, const Look& look);
/// The compute-core source of a step, its lines tied to the statements of the nest.
CodeText emitted_code(const LoadedPlan& plan, std::optional<StepId> step, const Theme& theme);

/// Colours one line; `in_comment` carries a comment that runs over lines.
std::vector<CodeRun> highlight_c(const QString& line, bool& in_comment, const Theme& theme);
std::vector<CodeRun> highlight_nest(const QString& line, const Theme& theme);

/// Several sentences about a statement with its numbers.
QString statement_tip(const LoadedPlan& plan, std::optional<StepId> step, StatementId statement, const Look& look);

}  // namespace stowage::inspector
