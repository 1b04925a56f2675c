// SPDX-License-Identifier: Apache-2.0
#include "driver/page/report_page.h"

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "driver/drawing/roofline.h"
#include "driver/page/page_parts.h"
#include "driver/report/plan_tables.h"
#include "driver/report/table_text.h"
#include "emitter/pictures/draw_graph.h"
#include "emitter/pictures/graph_picture.h"
#include "emitter/pictures/graphviz.h"
#include "lowering/model/ldm_room.h"

namespace stowage {

namespace {

/// Pictures of larger networks would be most of the page and take Graphviz minutes.
constexpr std::size_t max_operators_drawn = 600;

std::string tile(const std::string& name, const std::string& value, const std::string& more) {
  return fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>\n", name, value, more);
}

std::string tiles(const Program& program) {
  const ProgramTotals totals = totals_of(program);
  const double peak = drawing::peak_rate(program.target);
  const double rate = totals.seconds > 0 ? static_cast<double>(totals.flops) / totals.seconds : 0;
  const double ldm = 100.0 * static_cast<double>(totals.ldm_peak_bytes) / static_cast<double>(ldm_for_buffers(program));
  std::string html = "<dl class=\"tiles\">\n";
  html += tile("predicted time", seconds_text(totals.seconds), grouped_digits(totals.cycles) + " cycles");
  html += tile("DMA bytes", bytes_text(totals.dma.bytes), grouped_digits(totals.dma.bytes));
  html += tile("DMA transfers", grouped_digits(totals.dma.transfers),
               grouped_digits(totals.dma.operations) + " operations");
  html += tile("LDM peak of a core", bytes_text(totals.ldm_peak_bytes),
               fmt::format("{:.1f} % of what buffers may use", ldm));
  html += tile("fused operators", grouped_digits(totals.groups),
               fmt::format("of {}, {}", counted(totals.operators, "operator"), counted(totals.kernels, "kernel")));
  html +=
      tile("arithmetic", fmt::format("{:.2f} Gflop/s", rate / 1e9),
           fmt::format("{} flop, {:.1f} % of peak", grouped_digits(totals.flops), peak > 0 ? 100 * rate / peak : 0));
  html += tile("parameters", bytes_text(program.memory.parameter_bytes), "in main memory");
  html += tile("activations", bytes_text(program.memory.activation_bytes), "in main memory");
  return html + "</dl>\n";
}

std::string time_part(const PageScope& scope) {
  return "<h2 id=\"time\">Where the time goes</h2>\n<figure>" + cost_chart(scope) +
         "<figcaption>Of transfers it is what no computation hides, so that the parts add up.</figcaption></figure>\n";
}

/// What a network of very many fused operators leaves out, and how to get it; "" of a page that is whole.
std::string cut_part(const PageScope& scope) {
  if (scope.is_whole()) return "";
  return fmt::format(
      "<p class=\"cut\">Of {} fused operators this page tells in full the {}; the others have their row in the table "
      "of fused operators. <code>stowage report DIR -o FILE.html --details all</code> tells all, "
      "<code>stowage explain DIR --op NAME</code> one of them.</p>\n",
      scope.program().steps.size(), slowest_text(scope.count()));
}

/// What a fused operator's time is spent on; nothing for one that is not told in full: many thousands of them are still
/// a page to mail.
std::string spent_cell(const PageScope& scope, StepId step, std::int64_t maximum) {
  const Plan* const plan = scope.program().steps[step].plan();
  const StepKind& kind = scope.program().steps[step].kind();
  if (plan == nullptr) return fmt::format("<td>{}</td>", kind.by.empty() ? "no kernel: a view" : kind.by);
  if (!scope.has(step)) return "<td></td>";
  TimeShares shares;
  shares.add(plan->time);
  return fmt::format("<td>{}</td>", time_bar(shares, maximum));
}

std::string groups_table(const PageScope& scope) {
  const Program& program = scope.program();
  std::int64_t maximum = 0;
  for (const ProgramStep& step : program.steps) {
    if (step.plan() != nullptr) maximum = std::max(maximum, step.plan()->time.cycles);
  }
  const PlanTable table = plan_groups_table(program);
  const auto columns = columns_by_key(table.columns, {"step", "fused operator", "template", "operators", "cycles",
                                                      "share", "dma_bytes", "dma_transfers", "ldm_bytes"});
  const std::size_t name = columns[1];
  const std::size_t share = columns[5];  // what it is made of stands beside it
  std::string html =
      "<h2 id=\"groups\">Fused operators</h2>\n<div class=\"scroll\"><table class=\"sortable\"><thead><tr>";
  for (const std::size_t c : columns) {
    html += html_heading(table.columns[c]);
    if (c == share) html += "<th class=\"unsorted\">spent on</th>";
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const PlanRow& row : table.rows) {
    const StepId step = *row.step;
    const bool is_told = scope.has(step);
    html += is_told ? "<tr>" : "<tr class=\"brief\">";
    for (const std::size_t c : columns) {
      html +=
          is_told && c == name
              ? fmt::format("<td><a href=\"#{}\">{}</a></td>", anchor_of(step), escaped(program.steps[step].group.name))
              : html_cell(row.cells[c], table.columns[c], is_told ? CellForm::full : CellForm::brief);
      if (c == share) html += spent_cell(scope, step, maximum);
    }
    html += "</tr>\n";
  }
  html += "</tbody><tfoot><tr>";
  for (const std::size_t c : columns) {
    html += c == name ? "<td>all</td>" : html_cell(sum_of(table, c), table.columns[c]);
    if (c == share) html += "<td></td>";
  }
  return html + "</tr></tfoot></table></div>\n" + time_key();
}

std::string pictures_part(const std::vector<PagePicture>& pictures) {
  std::string html = "<h2 id=\"pictures\">Pictures</h2>\n";
  for (const PagePicture& picture : pictures) {
    html += fmt::format("<details><summary>{}</summary>\n", escaped(picture.title));
    html += picture.svg.empty() ? fmt::format("<p>{}</p>\n", escaped(picture.missing))
                                : fmt::format("<div class=\"picture\">{}</div>\n", picture.svg);
    html += "</details>\n";
  }
  return html;
}

std::string roofline_part(const PageScope& scope) {
  return "<h2 id=\"roofline\">Roofline</h2>\n<figure>" + roofline_chart(scope) + "<figcaption>" +
         (scope.is_whole() ? "" : "Only those that are told in full. ") +
         "On the slope DMA limits a fused operator, under the level line arithmetic does; the distance to the roof is "
         "what launches, start-ups of transfers and "
         "small blocks cost. Operations are those of the operators' definitions.</figcaption></figure>\n";
}

std::string memory_part(const PageScope& scope) {
  const Program& program = scope.program();
  const MemoryMap& memory = program.memory;
  std::string html = fmt::format(
      "<h2 id=\"memory\">Main memory</h2>\n<p>{} of parameters and {} of activations. Activations share addresses "
      "where "
      "their lifetimes allow{}:</p>\n<figure>{}</figure>\n",
      bytes_text(memory.parameter_bytes), bytes_text(memory.activation_bytes),
      scope.is_whole() ? "" : "; here are those that fused operators told in full read and write", memory_chart(scope));
  html +=
      "<details><summary>" + std::string(scope.is_whole() ? "All places" : "Their places") +
      "</summary>\n<div class=\"scroll\"><table "
      "class=\"sortable\"><thead><tr><th>tensor</th>"
      "<th>area</th><th class=\"number\">address</th><th class=\"number\">bytes</th><th class=\"number\">from step</th>"
      "<th class=\"number\">to step</th><th>shares with</th></tr></thead><tbody>\n";
  const auto step_text = [&](int step) {
    if (step < 0) return std::string("before");
    return step < static_cast<int>(program.steps.size()) ? std::to_string(step) : std::string("after");
  };
  for (const MemoryAllocation& place : memory.allocations) {
    if (!scope.has(place.tensor)) continue;
    html += fmt::format("<tr><td><code>{}</code></td><td>{}</td>{}{}{}{}<td>{}</td></tr>\n",
                        escaped(program.fused.graph.tensor(place.tensor).name),
                        place.area == MemoryAllocation::Area::parameters ? "parameters" : "activations",
                        number_cell(place.offset, grouped_digits(place.offset)),
                        number_cell(place.bytes, grouped_digits(place.bytes)),
                        number_cell(place.first_step, step_text(place.first_step)),
                        number_cell(place.last_step, step_text(place.last_step)),
                        place.shares_with ? escaped(program.fused.graph.tensor(*place.shares_with).name) : "");
  }
  return html + "</tbody></table></div>\n</details>\n";
}

std::string group_sections(const PageScope& scope) {
  const std::int64_t cycles = totals_of(scope.program()).cycles;
  std::string html =
      "<h2 id=\"each\">Each fused operator</h2>\n<p>Counts are sums over all cores: how often a statement fills or "
      "empties "
      "its buffer, with blocks of which size, and the bandwidth that the time model predicts with start-ups.</p>\n"
      "<div class=\"controls\"><button type=\"button\" id=\"open-all\">open all</button>"
      "<button type=\"button\" id=\"close-all\">close all</button>"
      "<input id=\"filter\" type=\"search\" placeholder=\"filter by name or kind\" aria-label=\"filter\"/></div>\n";
  for (const StepId i : scope.program().steps.ids()) {
    if (scope.has(i)) html += group_section(scope, i, cycles);
  }
  return html;
}

/// Pictures of a page, one after the other.
struct PictureMaker {
  std::chrono::milliseconds layout_time;
  Diagnostics& diagnostics;
  const std::stop_token& stop;

  [[nodiscard]] PagePicture make(const std::string& title, const std::string& prefix, const DotGraph& graph) const {
    Diagnostics own;
    const auto svg = draw_graph(graph, "svg", layout_time, own, stop);
    if (svg) {
      for (const Diagnostic& warning : own.entries()) {
        diagnostics.warning(warning.code, {}, fmt::format("{}: {}", title, warning.message), warning.remedy);
      }
      return {title, inline_svg(*svg, prefix), ""};
    }
    std::string missing = "Not drawn";
    for (const Diagnostic& diagnostic : own.entries()) missing += ": " + diagnostic.message;
    if (!has_graphviz()) {
      missing += ". To have it here, install Graphviz (Debian: apt-get install graphviz) and write the report again";
    }
    return {title, "", missing + "."};
  }
};

}  // namespace

void TimeShares::add(const TimeEstimate& time) {
  for (const auto& [kind, cycles] : cycles_by_kind(time)) {
    switch (kind) {
      case CostKind::launch: launch += cycles; break;
      case CostKind::get: get += cycles; break;
      case CostKind::barrier:
      case CostKind::broadcast: barrier += cycles; break;
      case CostKind::compute: compute += cycles; break;
      case CostKind::fill: fill += cycles; break;
      case CostKind::put: put += cycles; break;
    }
  }
}

std::string time_bar(const TimeShares& shares, std::int64_t whole, const std::string& css_class) {
  std::string html = fmt::format("<span class=\"{}\">", css_class);
  const auto part = [&](const char* name, const char* words, std::int64_t cycles) {
    if (cycles == 0 || whole == 0) return;
    html += fmt::format("<i class=\"{}\" style=\"width:{:.2f}%\" title=\"{}: {} cycles, {:.1f} %\"></i>", name,
                        100.0 * static_cast<double>(cycles) / static_cast<double>(whole), words, grouped_digits(cycles),
                        100.0 * static_cast<double>(cycles) / static_cast<double>(shares.sum()));
  };
  part("launch", "launch", shares.launch);
  part("get", "DMA get", shares.get);
  part("launch", "barriers", shares.barrier);
  part("compute", "compute", shares.compute);
  part("put", "DMA put", shares.put);
  part("filling", "fill", shares.fill);
  return html + "</span>";
}

std::string time_key() {
  return "<p class=\"key\"><span style=\"--swatch: var(--launch)\">launch</span>"
         "<span style=\"--swatch: var(--get)\">DMA get</span><span style=\"--swatch: var(--compute)\">compute</span>"
         "<span style=\"--swatch: var(--put)\">DMA put</span><span style=\"--swatch: "
         "var(--filling)\">fill</span></p>\n";
}

std::string anchor_of(StepId step) { return fmt::format("step-{}", step.index()); }

std::string number_cell(std::int64_t value, const std::string& shown) {
  return fmt::format("<td class=\"number\" data-value=\"{}\" title=\"{}\">{}</td>", value, grouped_digits(value),
                     shown);
}

std::vector<PagePicture> page_pictures(const Compilation& compilation, std::chrono::milliseconds layout_time,
                                       Diagnostics& diagnostics, std::stop_token stop) {
  const Program& program = compilation.program;
  const std::string fused = "The fused operators and the tensors between them";
  const std::string graph = "The computation graph";
  const std::size_t operators = program.fused.graph.operators().size();
  if (operators > max_operators_drawn) {
    const std::string missing = fmt::format(
        "Not drawn here, since the network has {} operators: 'stowage graph DIR -o FILE.svg' draws it.", operators);
    return {{fused, "", missing}, {graph, "", missing}};
  }
  const PictureMaker maker{layout_time, diagnostics, stop};
  std::vector<PagePicture> pictures = {maker.make(fused, "fused-", fused_picture(program))};
  if (!stop.stop_requested()) {
    pictures.push_back(maker.make(graph, "graph-", graph_picture(program.fused.graph)));
  }
  if (!stop.stop_requested() && !compilation.fusion.graphs.empty()) {
    pictures.push_back(maker.make("What the strategy searched, with the chosen path", "strategy-",
                                  strategy_picture(program.fused.graph, compilation.fusion)));
  }
  return pictures;
}

std::string report_page(const Compilation& compilation, const std::vector<PagePicture>& pictures, std::size_t details,
                        const std::stop_token& stop) {
  const PageScope scope(compilation, details, stop);
  const Program& program = compilation.program;
  std::string html = html_head(compilation.network + " on " + program.target.name);
  html += fmt::format(
      "<h1>{} on {}</h1>\n<p>Fusion {}, planner {}, layout {}{}.</p>\n<p class=\"origin\"><code>{}</code></p>\n",
      escaped(compilation.network), escaped(program.target.name), escaped(program.fusion), escaped(program.planner),
      escaped(program.layout),
      program.evaluated_by == EvaluatedBy::closed_form
          ? ""
          : fmt::format(", groups compared by {}", text_of(program.evaluated_by)),
      escaped(reproducer_line(compilation)));
  html += tiles(program) + cut_part(scope);
  html +=
      "<nav><a href=\"#time\">time</a><a href=\"#groups\">fused operators</a><a href=\"#pictures\">pictures</a>"
      "<a href=\"#roofline\">roofline</a><a href=\"#memory\">main memory</a><a href=\"#fusion\">fusion</a>"
      "<a href=\"#each\">each fused operator</a></nav>\n";
  html += time_part(scope) + groups_table(scope) + pictures_part(pictures) + roofline_part(scope) + memory_part(scope);
  html += fusion_part(scope);
  html += group_sections(scope);
  return html + html_foot();
}

}  // namespace stowage
