// SPDX-License-Identifier: Apache-2.0
// Every element of a written tensor is written exactly once. The region of a put is a box whose dimensions mostly
// depend on different variables: then each dimension by itself must be covered exactly once by its intervals, and
// variables that no dimension depends on must not repeat the put. Dimensions that share variables (a core's number
// taken apart by division and remainder) are painted together, and so is a tensor that several statements write.
#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "lowering/ir/prover.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

constexpr std::int64_t max_boxes = 4'000'000;
constexpr std::int64_t max_painted = std::int64_t{1} << 30;

/// Dimensions of a region, and the variables that decide them.
struct Part {
  std::vector<std::size_t> dimensions;
  std::set<std::size_t> variables;
};

struct Put {
  const Stmt* statement = nullptr;
  const Dma* dma = nullptr;
  Enclosing around;
  Prover prover;
};

class WritesCheck {
 public:
  explicit WritesCheck(const LoopNest& nest) : nest_(nest), prover_(nest) {}

  Broken run() {
    std::map<NestTensorId, std::vector<Put>> puts;
    visit_with_enclosing(nest_, [&](const Stmt& s, const Enclosing& around) {
      if (const auto* loop = std::get_if<Loop>(&s.node)) prover_.enter(*loop, around);
      const auto* dma = std::get_if<Dma>(&s.node);
      if (dma == nullptr || dma->direction != DmaDirection::put) return;
      puts[dma->nest_tensor].push_back({&s, dma, around, prover_});
    });
    for (const NestTensorId t : nest_.tensors.ids()) {
      const NestTensor& tensor = nest_.tensors[t];
      if (!tensor.written || element_count(shape_of(t)) == 0) continue;
      if (puts[t].empty()) return of_nest("write-coverage", fmt::format("{} is never written", tensor.name));
      if (auto broken = puts[t].size() == 1 ? one_put(t, puts[t].front()) : paint_all(t, puts[t])) return broken;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] const Shape& shape_of(NestTensorId tensor) const {
    return nest_.stages.tensors[nest_.tensors[tensor].tensor].shape;
  }

  /// Groups what shares variables; the last part holds the variables that no dimension depends on.
  std::vector<Part> parts_of(const Put& put) const {
    const auto& loops = put.around.loops();
    std::vector<Part> parts;
    const auto join = [&](Part part) {
      for (std::size_t p = parts.size(); p-- > 0;) {
        const bool shares = std::any_of(parts[p].variables.begin(), parts[p].variables.end(),
                                        [&](std::size_t v) { return part.variables.contains(v); });
        if (!shares) continue;
        part.variables.insert(parts[p].variables.begin(), parts[p].variables.end());
        part.dimensions.insert(part.dimensions.end(), parts[p].dimensions.begin(), parts[p].dimensions.end());
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(p));
      }
      std::sort(part.dimensions.begin(), part.dimensions.end());
      parts.push_back(std::move(part));
    };
    for (std::size_t d = 0; d < put.dma->region.size(); ++d) {
      Part part;
      part.dimensions = {d};
      for (const IndexExpr& e : {put.dma->region[d].start, put.dma->region[d].extent}) {
        part.variables.merge(put.around.expression(e).variables);
      }
      join(std::move(part));
    }
    for (const EnclosingGuard& guard : put.around.guards()) {
      Part part;
      for (const Expression& e : guard) part.variables.insert(e.variables.begin(), e.variables.end());
      join(std::move(part));
    }
    for (const EnclosingLoop& loop : loops) {
      Part part;
      part.variables = loop.trips.variables;
      part.variables.insert(loop.variable);
      join(std::move(part));
    }
    for (const CoreAxis& axis : nest_.core_grid) join({{}, {axis.variable.index()}});
    return parts;
  }

  Broken one_put(NestTensorId tensor, const Put& put) const {
    for (const Part& part : parts_of(put)) {
      if (auto broken = part.dimensions.empty() ? runs_once(put, part) : paint_part(tensor, put, part)) return broken;
    }
    return std::nullopt;
  }

  /// Variables that no dimension depends on must have one value: each further one repeats the put.
  Broken runs_once(const Put& put, const Part& part) const {
    std::int64_t runs = 0;
    std::vector<std::size_t> variables;
    std::vector<std::int64_t> first, second;
    put.prover.enumerate(
        put.around, part.variables, max_boxes,
        [&](std::span<const std::int64_t> values) {
          (++runs == 1 ? first : second).assign(values.begin(), values.end());
          return runs < 2;
        },
        &variables);
    if (runs == 1) return std::nullopt;
    const NestTensor& written = nest_.tensors[put.dma->nest_tensor];
    if (runs == 0) {
      return broken_rule(nest_, "write-coverage", *put.statement, fmt::format("{} is never written", written.name));
    }
    return broken_rule(nest_, "write-once", *put.statement,
                       fmt::format("the same elements of {} are written with {} and with {}", written.name,
                                   text(put, first, variables), text(put, second, variables)));
  }

  [[nodiscard]] std::string text(const Put& put, const std::vector<std::int64_t>& values,
                                 const std::vector<std::size_t>& variables) const {
    const std::string text = put.prover.text({values, variables, false});
    return text.empty() ? "no variable" : text;
  }

  /// Elements of some dimensions, each with the number of the box that wrote it.
  struct Canvas {
    std::vector<std::int64_t> extents;
    std::vector<std::int64_t> strides;
    std::vector<std::int32_t> writer;  ///< 0: nobody yet
  };

  static std::optional<Canvas> canvas_of(const std::vector<std::int64_t>& extents) {
    Canvas canvas;
    canvas.extents = extents;
    canvas.strides = row_major_strides(extents);
    const auto elements = checked_element_count(extents);
    if (!elements || *elements > max_painted) return std::nullopt;
    canvas.writer.assign(static_cast<std::size_t>(*elements), 0);
    return canvas;
  }

  /// Paints a box; the offset of an element that was painted before, or nothing. One that has no element, because of
  /// a dimension that is another part's, may lie anywhere.
  static std::optional<std::int64_t> paint(Canvas& canvas, std::vector<std::int64_t> start,
                                           std::vector<std::int64_t> extent, std::int32_t writer) {
    const std::size_t rank = extent.size();
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t end = std::min(start[d] + extent[d], canvas.extents[d]);
      start[d] = std::max<std::int64_t>(start[d], 0);
      extent[d] = end - start[d];
    }
    if (std::any_of(extent.begin(), extent.end(), [](std::int64_t e) { return e <= 0; })) return std::nullopt;
    std::vector<std::int64_t> index(rank, 0);
    for (;;) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < rank; ++d) offset += (start[d] + index[d]) * canvas.strides[d];
      const std::int64_t row = rank == 0 ? 1 : extent[rank - 1];
      for (std::int64_t i = 0; i < row; ++i) {
        std::int32_t& cell = canvas.writer[static_cast<std::size_t>(offset + i)];
        if (cell != 0) return offset + i;
        cell = writer;
      }
      std::size_t d = rank == 0 ? 0 : rank - 1;
      while (d > 0 && ++index[d - 1] == extent[d - 1]) index[--d] = 0;
      if (d == 0) return std::nullopt;
    }
  }

  static std::string element_text(const Canvas& canvas, const std::vector<std::size_t>& dimensions,
                                  std::int64_t offset) {
    std::string text;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      text += fmt::format("{}{} of dimension {}", text.empty() ? "" : ", ", offset / canvas.strides[i], dimensions[i]);
      offset %= canvas.strides[i];
    }
    return text.empty() ? "its only element" : "element " + text;
  }

  /// True if the part is one dimension and its boxes are seen to tile it, which needs no canvas (for a long dimension
  /// that takes gigabytes); false: paint them, and see what is wrong.
  bool tiles_dimension(NestTensorId tensor, const Put& put, const Part& part) const {
    if (part.dimensions.size() != 1) return false;
    const Range& range = put.dma->region[part.dimensions[0]];
    const Expression start = put.around.expression(range.start);
    const Expression length = put.around.expression(range.extent);
    return put.prover.tiles(put.around, part.variables, max_boxes, start, length, shape_of(tensor)[part.dimensions[0]]);
  }

  Broken paint_part(NestTensorId tensor, const Put& put, const Part& part) const {
    if (tiles_dimension(tensor, put, part)) return std::nullopt;
    const NestTensor& written = nest_.tensors[tensor];
    std::vector<std::int64_t> extents;
    std::vector<Expression> starts, lengths;
    for (const std::size_t d : part.dimensions) {
      extents.push_back(shape_of(tensor)[d]);
      starts.push_back(put.around.expression(put.dma->region[d].start));
      lengths.push_back(put.around.expression(put.dma->region[d].extent));
    }
    auto canvas = canvas_of(extents);
    if (!canvas) return of_nest(unchecked_rule, fmt::format("{} has too many elements", written.name));
    Broken broken;
    std::vector<std::vector<std::int64_t>> boxes;
    std::vector<std::size_t> variables;
    const bool all = put.prover.enumerate(
        put.around, part.variables, max_boxes,
        [&](std::span<const std::int64_t> values) {
          boxes.emplace_back(values.begin(), values.end());
          std::vector<std::int64_t> start, extent;
          for (std::size_t i = 0; i < starts.size(); ++i) {
            start.push_back(starts[i].compiled(values));
            extent.push_back(lengths[i].compiled(values));
          }
          const auto again = paint(*canvas, start, extent, static_cast<std::int32_t>(boxes.size()));
          if (again) {
            const auto first = canvas->writer[static_cast<std::size_t>(*again)];
            broken = broken_rule(
                nest_, "write-once", *put.statement,
                fmt::format("{} of {} is written with {} and with {}", element_text(*canvas, part.dimensions, *again),
                            written.name, text(put, boxes[static_cast<std::size_t>(first) - 1], variables),
                            text(put, boxes.back(), variables)));
          }
          return !broken;
        },
        &variables);
    if (broken) return broken;
    if (!all) return of_nest(unchecked_rule, fmt::format("{} is written in too many parts", written.name));
    return covered(*canvas, part.dimensions, written, put.statement);
  }

  Broken covered(const Canvas& canvas, const std::vector<std::size_t>& dimensions, const NestTensor& written,
                 const Stmt* statement) const {
    const auto missing = std::find(canvas.writer.begin(), canvas.writer.end(), 0);
    if (missing == canvas.writer.end()) return std::nullopt;
    const auto offset = static_cast<std::int64_t>(missing - canvas.writer.begin());
    const std::string message =
        fmt::format("{} of {} is never written", element_text(canvas, dimensions, offset), written.name);
    if (statement == nullptr) return of_nest("write-coverage", message);
    return broken_rule(nest_, "write-coverage", *statement, message);
  }

  /// Several statements write one tensor: every box of each is painted.
  Broken paint_all(NestTensorId tensor, const std::vector<Put>& puts) const {
    const NestTensor& written = nest_.tensors[tensor];
    std::vector<std::size_t> dimensions(shape_of(tensor).size());
    std::iota(dimensions.begin(), dimensions.end(), std::size_t{0});
    auto canvas = canvas_of(shape_of(tensor));
    if (!canvas) return of_nest(unchecked_rule, fmt::format("{} has too many elements", written.name));
    for (std::size_t p = 0; p < puts.size(); ++p) {
      const Put& put = puts[p];
      std::set<std::size_t> everything;
      for (const Part& part : parts_of(put)) everything.insert(part.variables.begin(), part.variables.end());
      std::vector<Expression> starts, lengths;
      for (const Range& range : put.dma->region) {
        starts.push_back(put.around.expression(range.start));
        lengths.push_back(put.around.expression(range.extent));
      }
      Broken broken;
      std::vector<std::size_t> variables;
      const bool all = put.prover.enumerate(
          put.around, everything, max_boxes,
          [&](std::span<const std::int64_t> values) {
            std::vector<std::int64_t> start, extent;
            for (std::size_t i = 0; i < starts.size(); ++i) {
              start.push_back(starts[i].compiled(values));
              extent.push_back(lengths[i].compiled(values));
            }
            if (const auto again = paint(*canvas, start, extent, static_cast<std::int32_t>(p) + 1)) {
              const auto first = static_cast<std::size_t>(canvas->writer[static_cast<std::size_t>(*again)]) - 1;
              broken = broken_rule(
                  nest_, "write-once", *put.statement,
                  fmt::format("{} of {} was written by statement {} already ({})",
                              element_text(*canvas, dimensions, *again), written.name,
                              puts[first].statement->id.index(), text(put, {values.begin(), values.end()}, variables)));
            }
            return !broken;
          },
          &variables);
      if (broken) return broken;
      if (!all) return of_nest(unchecked_rule, fmt::format("{} is written in too many parts", written.name));
    }
    return covered(*canvas, dimensions, written, nullptr);
  }

  const LoopNest& nest_;
  Prover prover_;
};

}  // namespace

Broken verify_writes(const LoopNest& nest) { return WritesCheck(nest).run(); }

}  // namespace stowage
