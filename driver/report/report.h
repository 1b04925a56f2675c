// SPDX-License-Identifier: Apache-2.0
// A compilation in words and tables: report.md, and what `stowage explain` prints.
#pragma once

#include <string>

#include "driver/session/session.h"

namespace stowage {

/// The whole report: totals, a row for every fused operator, then a section for each (of very many: for those that take
/// the most time, usual_details).
std::string report_markdown(const Compilation& compilation);

/// Totals and the row for every fused operator.
std::string summary_text(const Compilation& compilation);
/// One fused operator: what it computes, split, loop order, LDM buffers, DMA with counts, time.
std::string step_text(const Program& program, StepId step);
/// What a step without loop nest is, and why: "A view: its elements lie where they are wanted, nothing to do."
std::string without_nest_text(const ProgramStep& step);
/// What a trace's algorithm is, in words: "algorithm 1, LDM management".
std::string algorithm_title(const std::string& algorithm);
/// The decisions of the trace about one fused operator, in the order in which they were taken ("" for all), each with
/// the line of the published algorithm or the rule.
std::string decisions_text(const Trace& trace, const std::string& subject);

}  // namespace stowage
