// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "inspector/panes/check_pane.h"
#include "inspector/panes/compare_pane.h"
#include "inspector/panes/cost_pane.h"
#include "inspector/panes/fusion_pane.h"
#include "inspector/panes/graph_pane.h"
#include "inspector/panes/ldm_pane.h"
#include "inspector/panes/loops_pane.h"
#include "inspector/panes/pane.h"
#include "inspector/panes/problems_pane.h"
#include "inspector/panes/replay_pane.h"
#include "inspector/panes/sensitivity_pane.h"
#include "inspector/panes/tables_pane.h"
#include "inspector/panes/timeline_pane.h"
#include "inspector/panes/what_if_pane.h"

namespace stowage::inspector {

namespace {

template <class Made>
Pane* make(const PaneContext& context) {
  return new Made(context);
}

}  // namespace

std::span<const PaneRow> pane_table() {
  static const std::array rows = {
      PaneRow{"graph", "Graph", "the computation graph and the fused graph, coloured by template or by cost",
              Qt::LeftDockWidgetArea, make<GraphPane>},
      PaneRow{"fusion", "Fusion", "candidate groups with their fate, what strategies choose among, and why not fused",
              Qt::LeftDockWidgetArea, make<FusionPane>},
      PaneRow{"loops", "Loops", "the loop nest with its DMA, and the emitted C beside it", Qt::RightDockWidgetArea,
              make<LoopsPane>, true},
      PaneRow{"ldm", "LDM", "a core's scratchpad over the program, and main memory with lifetimes",
              Qt::RightDockWidgetArea, make<LdmPane>},
      PaneRow{"timeline", "Timeline",
              "cores, DMA and buffer slots over the cycles of a launch, as the simulation has them",
              Qt::RightDockWidgetArea, make<TimelinePane>},
      PaneRow{"cost", "Cost", "terms of the estimate with their formulas, bytes per tensor, and the roofline",
              Qt::RightDockWidgetArea, make<CostPane>},
      PaneRow{"replay", "Replay",
              "how a plan came about: every step of the algorithms, with loops and LDM as they stood",
              Qt::RightDockWidgetArea, make<ReplayPane>, true},
      PaneRow{"whatif", "What if", "a copy of the plan to be changed, and what each change comes to",
              Qt::RightDockWidgetArea, make<WhatIfPane>, true},
      PaneRow{"compare", "Compare", "two plans: a verdict, gains and losses of every group, differences of one",
              Qt::RightDockWidgetArea, make<ComparePane>},
      PaneRow{"tables", "Tables", "groups, operators, buffers and DMA operations with their numbers",
              Qt::BottomDockWidgetArea, make<TablesPane>},
      PaneRow{"problems", "Problems", "what was found wrong with the input, and what to do about it",
              Qt::BottomDockWidgetArea, make<ProblemsPane>},
      PaneRow{"sensitivity", "Sensitivity",
              "what the network takes as one value of the target changes, and what changes at its knees",
              Qt::RightDockWidgetArea, make<SensitivityPane>},
      PaneRow{"check", "Check", "what goes wrong in a nest, where and in which iteration; exercises and their answers",
              Qt::RightDockWidgetArea, make<CheckPane>},
  };
  return rows;
}

const PaneRow* find_pane(std::string_view name) {
  for (const PaneRow& row : pane_table()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace stowage::inspector
