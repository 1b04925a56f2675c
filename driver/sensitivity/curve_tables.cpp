// SPDX-License-Identifier: Apache-2.0
#include "driver/sensitivity/curve_tables.h"

#include <fmt/format.h>

#include "driver/json/json.h"
#include "driver/report/table_text.h"
#include "driver/text/listed.h"

namespace stowage {

namespace {

using Kind = ColumnKind;

/// Number of the knee at a point, from 1 on; 0: there is none.
std::size_t knee_at(const Curve& curve, std::size_t point) {
  for (std::size_t k = 0; k < curve.knees.size(); ++k) {
    if (curve.knees[k].point == point) return k + 1;
  }
  return 0;
}

Json value_json(const SweptValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.value.is)) return *whole;
  return number_of(value.value).value();
}

}  // namespace

PlanTable curve_table(const Curve& curve) {
  PlanTable table;
  table.title = curve.key;
  table.columns = {
      keyed("value", curve.key, Kind::text, "value of the target"),
      keyed("groups", "groups", Kind::count, "fused operators"),
      keyed("kernels", "kernels", Kind::count, "those of them that are launched"),
      keyed("dma_transfers", "transfers", Kind::count, "fillings and emptyings of LDM buffers, all cores"),
      keyed("dma_bytes", "DMA bytes", Kind::bytes, "moved between main memory and LDM, all cores"),
      keyed("ldm_peak_bytes", "LDM", Kind::bytes, "peak of one core's scratchpad"),
      keyed("cycles", "cycles", Kind::cycles, "predicted"),
      keyed("time_s", "time", Kind::seconds, "predicted"),
      keyed("knee", "knee", Kind::text, "its number: here time or DMA bytes bend"),
      keyed("changes", "what changes there", Kind::text, "what is planned otherwise than for the value above"),
      keyed("refused", "refused", Kind::text, "why there is no plan"),
  };
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const CurvePoint& point = curve.points[i];
    PlanRow row;
    row.name = point.value.toml;
    row.cells = {point.value.toml};
    if (point.numbers) {
      const PlanNumbers& n = *point.numbers;
      row.cells.insert(row.cells.end(), {n.groups, n.kernels, n.transfers, n.bytes, n.ldm_bytes, n.cycles, n.seconds});
    } else {
      row.cells.resize(row.cells.size() + 7);
    }
    const std::size_t knee = knee_at(curve, i);
    row.cells.emplace_back(knee > 0 ? std::to_string(knee) : "");
    row.cells.emplace_back(point.changes);
    row.cells.emplace_back(point.refusal);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string curve_csv(const Curve& curve) {
  const PlanTable table = curve_table(curve);
  std::vector<std::string_view> keys;
  for (const Column& column : table.columns) keys.emplace_back(column.key);
  return csv_text(table, keys);
}

std::vector<std::string> knee_lines(const Curve& curve) {
  if (curve.knees.empty())
    return {"no knee: neither time nor DMA bytes bend at a value between the first and the last"};
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < curve.knees.size(); ++k) {
    lines.push_back(fmt::format("knee {}: {}", k + 1, curve.knees[k].words));
  }
  return lines;
}

std::vector<std::string> refusal_lines(const Curve& curve) {
  std::vector<std::string> lines;
  for (const CurvePoint& point : curve.points) {
    if (!point.numbers)
      lines.push_back(fmt::format("no plan at {}: {}", value_words(point.value, curve.in_bytes), point.refusal));
  }
  return lines;
}

std::string curve_text(const Curve& curve) {
  std::string text = report_table(curve_table(curve), {"value", "groups", "dma_transfers", "dma_bytes",
                                                       "ldm_peak_bytes", "cycles", "time_s", "knee"})
                         .text();
  text += "\n";
  for (const std::string& line : knee_lines(curve)) text += line + "\n";
  for (const std::string& line : refusal_lines(curve)) text += line + "\n";
  return text;
}

Json to_json(const Curve& curve) {
  Json json = {{"key", curve.key},       {"network", curve.network}, {"target", curve.target},
               {"fusion", curve.fusion}, {"planner", curve.planner}, {"own_value", curve.own}};
  json["points"] = Json::array();
  for (const CurvePoint& point : curve.points) {
    Json row = {{"value", value_json(point.value)}};
    if (point.numbers) {
      const PlanNumbers& n = *point.numbers;
      row.update(Json{{"groups", n.groups},
                      {"kernels", n.kernels},
                      {"dma_transfers", n.transfers},
                      {"dma_operations", n.operations},
                      {"dma_bytes", n.bytes},
                      {"ldm_peak_bytes", n.ldm_bytes},
                      {"cycles", n.cycles},
                      {"time_s", n.seconds},
                      {"changes", point.changes}});
    } else {
      row["refused"] = point.refusal;
    }
    json["points"].push_back(std::move(row));
  }
  json["knees"] = Json::array();
  for (const CurveKnee& knee : curve.knees) {
    Json of = Json::array();
    if (knee.of_time) of.push_back("time_s");
    if (knee.of_bytes) of.push_back("dma_bytes");
    json["knees"].push_back({{"value", value_json(curve.points[knee.point].value)},
                             {"before", value_json(curve.points[knee.before].value)},
                             {"of", of},
                             {"words", knee.words}});
  }
  return json;
}

}  // namespace stowage
