// SPDX-License-Identifier: Apache-2.0
// Maps and finishes along lanes of which some reads are strided (a sum whose lanes lie innermost, stored as the graph
// has it): four elements are gathered into a vector, and what is computed is computed in vectors. And those along a few
// vectors of contiguous lanes (the channels of a block), all of which are computed in one trip of the loop around them.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/athread_machine.h"
#include "core/check.h"
#include "emitter/athread/compute_writer.h"
#include "emitter/athread/vector_expression.h"
#include "lowering/ir/compute_form.h"

namespace stowage {

class GatheredLanes {
 public:
  explicit GatheredLanes(ComputeWriter& w)
      : w_(w),
        lane_(w.compute_.lane_axis.value().index()),
        lane_base_(w.axes_[lane_].variable),
        expression_(w.compute_.part == Compute::Part::finish ? w.stage_.finish : w.stage_.body),
        expressions_(w.k_.out, {[this](const std::string& constant) { return constants_.at(constant); },
                                [this](ReadId read) { return name_of(read); }, [this] { return accumulator(); }}) {
    visit_nodes(expression_, [&](const ScalarNode& node) {
      if (const auto* read = std::get_if<ScalarNode::Read>(&node.value)) reads_.insert(read->read);
      accumulates_ = accumulates_ || std::holds_alternative<ScalarNode::Accumulator>(node.value);
      if (const auto* constant = std::get_if<ScalarNode::Constant>(&node.value)) {
        constants_.emplace(c_constant(node.type, constant->value), std::string());
      }
    });
  }

  void write() {
    std::vector<std::size_t> outer;
    for (std::size_t i = 0; i < w_.axes_.size(); ++i) {
      if (i != lane_) outer.push_back(i);
    }
    const bool unrolled = lane_loop(w_.k_.nest, w_.compute_, w_.k_.target) == LaneLoop::unrolled;
    const bool own_braces = unrolled ? declares_beside_row(outer) : !has_loop(outer, outer.size());
    if (own_braces) w_.k_.out.open("{");
    if (unrolled) {
      write_unrolled(outer);
    } else {
      for (const std::size_t i : outer) w_.open_loop(i, false);
      write_row();
      for (const std::size_t i : outer) w_.close_loop(i);
    }
    if (own_braces) w_.k_.out.close();
  }

 private:
  /// Whether one of the first `count` axes is a loop, whose braces hold what is declared.
  [[nodiscard]] bool has_loop(const std::vector<std::size_t>& outer, std::size_t count) const {
    return std::any_of(outer.begin(), outer.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](std::size_t i) { return w_.axes_[i].constant != 1; });
  }

  /// Whether what an unrolled row declares would stand beside that of other computations, which has the same names.
  [[nodiscard]] bool declares_beside_row(const std::vector<std::size_t>& outer) const {
    if (!has_loop(outer, outer.size())) return true;
    const auto row = std::find(outer.begin(), outer.end(), row_axis(w_.compute_).value().index());
    if (has_loop(outer, static_cast<std::size_t>(row - outer.begin()))) return false;
    return !constants_.empty() ||
           std::any_of(reads_.begin(), reads_.end(), [&](ReadId read) { return !is_by_row(read); });
  }

  [[nodiscard]] bool is_by_row(ReadId read) const {
    return moves_along(w_.stage_.reads[read], row_axis(w_.compute_).value());
  }

  /// What all vectors of a row have in common, the vectors, and the lanes that fill none.
  void write_row() {
    CWriter& out = w_.k_.out;
    const LocalAxis& lane = w_.axes_[lane_];
    if (lane.constant && *lane.constant < lanes_of_floatv4) {
      w_.open_loop(lane_, false);
      w_.write_assignment();
      w_.close_loop(lane_);
      return;
    }
    write_common();
    if (!lane.constant) {
      out.line(fmt::format("int {} = 0;", lane.name));
      out.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1}) {{", lane.name, lanes_of_floatv4, lane.end),
               w_.stmt_.id);
      write_vector();
      out.close();
      out.open(fmt::format("for (; {0} < {1}; {0}++) {{", lane.name, lane.end), w_.stmt_.id);
      w_.write_assignment();
      out.close();
      return;
    }
    const std::int64_t in_vectors = *lane.constant - *lane.constant % lanes_of_floatv4;
    out.open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2}) {{", lane.name, in_vectors, lanes_of_floatv4),
             w_.stmt_.id);
    write_vector();
    out.close();
    if (in_vectors == *lane.constant) return;
    out.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0}++) {{", lane.name, in_vectors, lane.end), w_.stmt_.id);
    w_.write_assignment();
    out.close();
  }

  /// The vectors of a row one behind another; in front of the loop over the rows what they have in common.
  void write_unrolled(const std::vector<std::size_t>& outer) {
    const std::size_t row = row_axis(w_.compute_).value().index();
    const std::int64_t vectors = *w_.axes_[lane_].constant / lanes_of_floatv4;
    const auto write_loads = [&](bool by_row) {
      for (const ReadId read : reads_) {
        if (is_by_row(read) == by_row) write_row_of(read, vectors);
      }
    };
    for (const std::size_t i : outer) {
      if (i == row) {
        write_constants();
        write_loads(false);
      }
      w_.open_loop(i, false);
    }
    write_loads(true);
    expressions_.begin_scope();
    for (std::int64_t v = 0; v < vectors; ++v) {
      at_vector(v);
      write_result();
    }
    for (const std::size_t i : outer) w_.close_loop(i);
  }

  void write_row_of(ReadId read, std::int64_t vectors) {
    const BufferUse& buffer = *w_.compute_.read_buffers[read];
    const bool one = use_of(read) == LaneUse::none;
    for (std::int64_t v = 0; v < (one ? 1 : vectors); ++v) {
      at_vector(v);
      if (one) {
        write_one_for_all(read);
      } else {
        write_load(name_of(read), buffer, w_.read_index(read));
      }
    }
  }

  /// What is written next is one of the vectors of an unrolled row.
  void at_vector(std::int64_t v) {
    vector_ = v;
    lane_base_ = IndexExpr(v * lanes_of_floatv4);
  }

  [[nodiscard]] LaneUse use_of(ReadId read) const { return lane_use(w_.stage_.reads[read], VarId(lane_)); }

  [[nodiscard]] std::string name_of(ReadId read) const {
    if (!vector_ || use_of(read) == LaneUse::none) return fmt::format("v{}_", read.index());
    return fmt::format("v{}_{}_", read.index(), *vector_);
  }

  void write_constants() {
    int number = 0;
    for (auto& [text, name] : constants_) {
      name = fmt::format("c{}_", number++);
      w_.k_.out.line(fmt::format("floatv4 {0} = simd_set_floatv4({1}, {1}, {1}, {1});", name, text));
    }
  }

  void write_common() {
    write_constants();
    for (const ReadId read : reads_) {
      if (use_of(read) == LaneUse::none) write_one_for_all(read);
    }
  }

  void write_one_for_all(ReadId read) {
    w_.k_.out.line(fmt::format("floatv4 {};", name_of(read)));
    w_.k_.out.line(fmt::format("simd_loade({}, &{});", name_of(read), w_.read(read)));
  }

  void write_vector() {
    for (const ReadId read : reads_) {
      const BufferUse& buffer = *w_.compute_.read_buffers[read];
      const std::vector<IndexExpr> index = w_.read_index(read);
      if (use_of(read) == LaneUse::contiguous) write_load(name_of(read), buffer, index);
      if (use_of(read) == LaneUse::strided) write_gather(name_of(read), buffer, index);
    }
    expressions_.begin_scope();
    write_result();
  }

  void write_result() {
    const BufferUse& buffer = w_.compute_.output_buffer;
    const std::vector<IndexExpr> output = w_.output_index();
    if (accumulates_) write_load(accumulator(), buffer, output);
    const std::string result = expressions_.value(expression_);
    const std::vector<IndexExpr> index = at_lane_base(output);
    w_.k_.out.line(fmt::format("simd_store{}({}, &{});", suffix(buffer, index), result, w_.element(buffer, index)),
                   w_.stmt_.id);
  }

  [[nodiscard]] std::string accumulator() const { return vector_ ? fmt::format("acc{}_", *vector_) : "acc_"; }

  [[nodiscard]] std::vector<IndexExpr> at_lane_base(std::vector<IndexExpr> index) const {
    for (IndexExpr& e : index) {
      e = substitute(e, [&](VarId v) { return v == w_.axes_[lane_].variable ? lane_base_ : IndexExpr(v); });
    }
    return index;
  }

  void write_load(const std::string& name, const BufferUse& buffer, const std::vector<IndexExpr>& at_lane) {
    const std::vector<IndexExpr> index = at_lane_base(at_lane);
    w_.k_.out.line(fmt::format("floatv4 {};", name));
    w_.k_.out.line(fmt::format("simd_load{}({}, &{});", suffix(buffer, index), name, w_.element(buffer, index)));
  }

  void write_gather(const std::string& name, const BufferUse& buffer, const std::vector<IndexExpr>& index) {
    const auto place = [&](std::int64_t offset) {
      std::vector<IndexExpr> at = index;
      for (IndexExpr& e : at) {
        e = substitute(e, [&](VarId v) {
          return v == w_.axes_[lane_].variable ? IndexExpr(v) + IndexExpr(offset) : IndexExpr(v);
        });
      }
      return w_.element(buffer, at);
    };
    w_.k_.out.line(
        fmt::format("floatv4 {} = simd_set_floatv4({}, {}, {}, {});", name, place(0), place(1), place(2), place(3)));
  }

  /// "u" for what may begin within a vector of the LDM.
  [[nodiscard]] std::string_view suffix(const BufferUse& buffer, const std::vector<IndexExpr>& index) const {
    const VarId by_vectors[] = {w_.axes_[lane_].variable};
    return w_.begins_vector(buffer, index, by_vectors) ? "" : "u";
  }

  ComputeWriter& w_;
  std::size_t lane_;
  IndexExpr lane_base_;                 ///< first lane of the vector being written
  std::optional<std::int64_t> vector_;  ///< its number in an unrolled row
  const ScalarExpr& expression_;
  std::set<ReadId> reads_;
  bool accumulates_ = false;
  std::map<std::string, std::string> constants_;  ///< by their text in C
  VectorExpression expressions_;
};

void ComputeWriter::write_gathered() { GatheredLanes(*this).write(); }

}  // namespace stowage
