// SPDX-License-Identifier: Apache-2.0
// Pieces of the report page, each a piece of HTML or SVG.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/page/page_scope.h"
#include "driver/report/table.h"

namespace stowage {

/// Cycles of a plan or program by what they are spent on.
struct TimeShares {
  std::int64_t launch = 0;
  std::int64_t get = 0;
  std::int64_t barrier = 0;
  std::int64_t compute = 0;
  std::int64_t put = 0;
  std::int64_t fill = 0;

  void add(const TimeEstimate& time);
  [[nodiscard]] std::int64_t sum() const { return launch + get + barrier + compute + put + fill; }
};

/// A bar of the shares; `whole` cycles are its full width.
std::string time_bar(const TimeShares& shares, std::int64_t whole, const std::string& css_class = "bar");
/// What the bar's colours mean.
std::string time_key();

/// Fragment of the page where step i is.
std::string anchor_of(StepId step);
/// "[12 KiB]" with a tooltip of the exact number and the number as value for sorting.
std::string number_cell(std::int64_t value, const std::string& shown);

/// What a page begins with, its title and style included, and what it ends with, its script included.
std::string html_head(const std::string& title);
std::string html_foot();

// Tables of a plan (driver/report/table.h).

std::string html_heading(const Column& column);
/// A brief cell has no tooltip: of many thousand rows they would be most of a page.
enum class CellForm : std::uint8_t { full, brief };
std::string html_cell(const Cell& cell, const Column& column, CellForm form = CellForm::full);
/// The columns with these keys.
std::string html_table(const PlanTable& table, const std::vector<std::string_view>& keys);
/// One that its reader may sort; `row_class` is the style of a row, "" without.
std::string html_table(const PlanTable& table, const std::vector<std::string_view>& keys,
                       const std::function<std::string(std::size_t row)>& row_class);

// Pictures (driver/drawing).

std::string roofline_chart(const PageScope& scope);
/// The terms of a fused operator's time, and the bytes of its tensors.
std::string cost_chart(const PageScope& scope, StepId step);
/// What a network's time is spent on.
std::string cost_chart(const PageScope& scope);
/// One core's scratchpad over the statements of a fused operator's nest.
std::string ldm_chart(const Program& program, StepId step);
/// The area of activations.
std::string memory_chart(const PageScope& scope);

/// The section of one fused operator.
std::string group_section(const PageScope& scope, StepId step, std::int64_t all_cycles);
/// What strategies chose, every candidate group and every decision.
std::string fusion_part(const PageScope& scope);
/// Candidates that hold operators of a group and were not chosen; "" if there are none.
std::string alternatives_part(const PageScope& scope, const FusedOperator& group);
/// The records that `wanted` takes, as a table, with what they are about if they are not all about one thing; "" if
/// there are none.
std::string decisions_table(std::span<const TraceRecord* const> records, bool with_subjects,
                            bool (*wanted)(const TraceRecord& record));
/// True for records about which operators are fused.
bool is_about_fusion(const TraceRecord& record);

}  // namespace stowage
