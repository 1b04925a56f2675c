// SPDX-License-Identifier: Apache-2.0
// Sums of products, and poolings, in named vector accumulators, rows of the block axis x vectors of the lane axis, over
// all reduction axes of the box: 4 x 4, more rows where the lanes fill fewer vectors, or more vectors where there are
// fewer rows. Named variables stay in registers with every compiler and at -O2; local arrays of accumulators do not.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/athread_machine.h"
#include "core/check.h"
#include "emitter/athread/block_ends.h"
#include "emitter/athread/compute_writer.h"
#include "emitter/athread/vector_strips.h"
#include "lowering/ir/compute_form.h"

namespace stowage {
namespace {

constexpr std::int64_t lanes = lanes_of_floatv4;
constexpr std::int64_t group_lanes = register_block_vectors * lanes;

struct Operand {
  ReadId read;
  char letter = 'a';
  bool by_block = false;
  std::int64_t lane_step = 0;  ///< 0: the same for all lanes; 1: contiguous; else gathered
  bool by_steps = false;       ///< all rows lie constant steps behind the first one, from whose address they are loaded
  [[nodiscard]] bool is_gathered() const { return lane_step != 0 && lane_step != 1; }
};

}  // namespace

class RegisterBlock {
 public:
  explicit RegisterBlock(ComputeWriter& w) : w_(w), ends_(w), lane_(w.compute_.lane_axis.value().index()) {
    if (const auto block = w.compute_.block_axis; block && w.axes_[block->index()].constant != 1)
      block_ = block->index();
    if (const auto* product = std::get_if<ScalarNode::Binary>(&w.stage_.body->value)) {
      operands_ = {operand(product->a, 'a'), operand(product->b, 'b')};
    } else {
      operands_ = {operand(w.stage_.body, 'a')};
    }
  }

  void write() {
    std::vector<std::size_t> outer;
    for (std::size_t i = 0; i < w_.axes_.size(); ++i) {
      if (w_.axes_[i].spatial && i != lane_ && i != block_) outer.push_back(i);
    }
    for (const std::size_t i : outer) w_.open_loop(i, false);
    write_blocks();
    for (const std::size_t i : outer) w_.close_loop(i);
  }

 private:
  Operand operand(const ScalarExpr& e, char letter) const {
    Operand o;
    o.read = as_float_read(e)->read;
    o.letter = letter;
    const IndexExpr flat = w_.flat_index(*w_.compute_.read_buffers[o.read], w_.read_index(o.read));
    o.lane_step = linear_in(flat, w_.axes_[lane_].variable).value_or(0);
    o.by_block = block_ && mentions(flat, w_.axes_[*block_].variable);
    return o;
  }

  void write_blocks() {
    if (!block_) {
      write_lanes(1, 0);
      return;
    }
    const LocalAxis& block = w_.axes_[*block_];
    if (block.constant) {
      write_constant_rows(*block.constant);
      return;
    }
    if (const auto known = w_.k_.rows.find(w_.stmt_.id); known != w_.k_.rows.end()) {
      write_known_rows(known->second);
      return;
    }
    w_.k_.out.open(fmt::format("if ({} == {}) {{", block.end, block.max_extent));
    write_constant_rows(block.max_extent);
    w_.k_.out.else_branch("} else {");
    write_any_rows();
    w_.k_.out.close();
  }

  /// Each number of rows that there is for itself; there are no others.
  void write_known_rows(const KnownRows& known) {
    const LocalAxis& block = w_.axes_[*block_];
    for (const std::int64_t rows : known) {
      if (rows == known.front()) {
        w_.k_.out.open(fmt::format("if ({} == {}) {{", block.end, rows));
      } else {
        w_.k_.out.else_branch(fmt::format("}} else if ({} == {}) {{", block.end, rows));
      }
      write_constant_rows(rows);
    }
    w_.k_.out.close();
  }

  void write_constant_rows(std::int64_t count) {
    const LocalAxis& block = w_.axes_[*block_];
    block_rows_ = rows_of_block(count, w_.axes_[lane_].max_extent, lanes);
    const std::int64_t whole = count / block_rows_ * block_rows_;
    if (whole == block_rows_) {
      write_lanes(block_rows_, 0);
    } else if (whole > 0) {
      w_.k_.out.open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2}) {{", block.name, whole, block_rows_),
                     w_.stmt_.id);
      write_lanes(block_rows_, IndexExpr(block.variable));
      w_.k_.out.close();
    }
    if (whole < count) write_lanes(count - whole, whole);
  }

  /// Fewer rows than a full tile has, whose number is not known: whole blocks, then half of one, and so on.
  void write_any_rows() {
    const LocalAxis& block = w_.axes_[*block_];
    block_rows_ = register_block_rows(w_.axes_[lane_].max_extent, lanes);
    w_.k_.out.line(fmt::format("int {} = 0;", block.name));
    for (std::int64_t rows = block_rows_; rows > 0; rows = smaller_block(rows)) {
      if (rows >= block.max_extent) continue;
      w_.k_.out.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1}) {{", block.name, rows, block.end), w_.stmt_.id);
      write_lanes(rows, IndexExpr(block.variable));
      w_.k_.out.close();
    }
  }

  /// `rows` rows of the block axis from `block_base`, all lanes.
  void write_lanes(std::int64_t rows, const IndexExpr& block_base) {
    const LocalAxis& lane = w_.axes_[lane_];
    if (lane.constant) {
      write_constant_lanes(rows, block_base, *lane.constant);
      return;
    }
    if (lane.max_extent < lanes) {
      write_any_lanes(rows, block_base);
      return;
    }
    w_.k_.out.open(fmt::format("if ({} == {}) {{", lane.end, lane.max_extent));
    write_constant_lanes(rows, block_base, lane.max_extent);
    w_.k_.out.else_branch("} else {");
    write_any_lanes(rows, block_base);
    w_.k_.out.close();
  }

  void write_constant_lanes(std::int64_t rows, const IndexExpr& block_base, std::int64_t count) {
    const LocalAxis& lane = w_.axes_[lane_];
    const std::int64_t of_group = vectors_of_group(count, rows, lanes) * lanes;
    std::int64_t whole = count / of_group;
    // One to three lanes beyond the last group cannot fill a vector: that group gives some of its own.
    if (count % of_group > 0 && count % of_group < lanes && whole > 0) --whole;
    if (whole > 1) {
      w_.k_.out.open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2}) {{", lane.name, whole * of_group, of_group),
                     w_.stmt_.id);
      write_group(rows, block_base, IndexExpr(lane.variable), offsets_of_lanes(of_group));
      w_.k_.out.close();
    } else if (whole == 1) {
      write_group(rows, block_base, 0, offsets_of_lanes(of_group));
    }
    std::int64_t from = whole * of_group;
    if (count - from > of_group && of_group > lanes) {
      write_group(rows, block_base, from, offsets_of_lanes(of_group - lanes));
      from += of_group - lanes;
    }
    if (count > from) write_group(rows, block_base, from, offsets_of_lanes(count - from));
  }

  /// Any number of lanes: groups of four vectors, then single vectors, then single lanes.
  void write_any_lanes(std::int64_t rows, const IndexExpr& block_base) {
    const LocalAxis& lane = w_.axes_[lane_];
    const IndexExpr variable(lane.variable);
    w_.k_.out.line(fmt::format("int {} = 0;", lane.name));
    for (const std::int64_t step : {group_lanes, lanes}) {
      if (lane.max_extent <= step) continue;  // a full tile has a version of its own
      w_.k_.out.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1}) {{", lane.name, step, lane.end), w_.stmt_.id);
      write_group(rows, block_base, variable, offsets_of_lanes(step));
      w_.k_.out.close();
    }
    w_.k_.out.open(fmt::format("for (; {0} < {1}; {0}++) {{", lane.name, lane.end), w_.stmt_.id);
    write_group(rows, block_base, variable, {});
    w_.k_.out.close();
  }

  /// The accumulators of one group: loaded, summed over all reductions, stored. No vectors: one lane in plain floats.
  void write_group(std::int64_t rows, const IndexExpr& block_base, const IndexExpr& lane_base,
                   const LaneOffsets& group) {
    CWriter& out = w_.k_.out;
    rows_ = rows;
    block_base_ = block_base;
    lane_base_ = lane_base;
    vectors_ = !group.empty();
    const LaneOffsets offsets = vectors_ ? group : LaneOffsets{0};

    // A group in a loop of lanes has the loop's braces.
    const bool own_braces = lane_base.is_constant();
    if (own_braces) out.open("{");
    const bool apart =
        operands_.size() == 1 || std::any_of(operands_.begin(), operands_.end(), std::mem_fn(&Operand::is_gathered));
    const AccumulatorGroup accumulators{
        rows,
        offsets,
        strips_of(offsets, apart),
        vectors_,
        [&](std::vector<IndexExpr> index, std::int64_t row, std::int64_t at) {
          return at_lane(std::move(index), row, at);
        },
        [&](BufferId buffer, const std::vector<IndexExpr>& index) { return aligned(buffer, index); }};
    group_ = &accumulators;
    for (std::int64_t r = 0; r < rows; ++r) declare({AccumulatorGroup::row_name(r)});
    ends_.write_start(accumulators, [&] { move_accumulators(w_, false); });
    const std::size_t spatial = w_.stage_.spatial;
    for (std::size_t i = spatial; i < w_.axes_.size(); ++i) w_.open_loop(i, false);
    write_terms();
    for (std::size_t i = spatial; i < w_.axes_.size(); ++i) w_.close_loop(i);
    ends_.write_ends(accumulators);
    move_accumulators(ends_.stored(), true);
    if (own_braces) out.close();
  }

  /// Vectors of rows: the strips each in a line, then all that stand alone.
  void declare(const std::vector<std::string>& rows_of_vectors, std::vector<std::string> alone = {}) {
    for (const std::string& row : rows_of_vectors) {
      for (const VectorStrip& strip : group_->strips) {
        const std::string name = strip_name(row, strip);
        if (strip.is_one())
          alone.push_back(name);
        else
          w_.k_.out.line(fmt::format("{}({});", strip_macro("VECTORS", strip), name));
      }
    }
    if (!alone.empty()) w_.k_.out.line(fmt::format("{} {};", vectors_ ? "floatv4" : "float", fmt::join(alone, ", ")));
  }

  /// The accumulators from the LDM, or into it.
  void move_accumulators(ComputeWriter& of, bool store) {
    const BufferUse& output = of.compute_.output_buffer;
    for (std::int64_t r = 0; r < rows_; ++r) {
      for (const VectorStrip& strip : store ? ends_.strips_stored(*group_) : group_->strips) {
        const auto index = at_lane(of.output_index(), r, group_->offsets[strip.first]);
        const std::string name =
            strip.is_one() ? group_->name(r, strip.first) : strip_name(AccumulatorGroup::row_name(r), strip);
        const std::string place = of.element(output, index);
        if (vectors_) {
          w_.k_.out.line(strip_move(store, aligned(output, index), strip, name, "&" + place));
        } else {
          w_.k_.out.line(store ? fmt::format("{} = {};", place, name) : fmt::format("{} = {};", name, place));
        }
      }
    }
  }

  void write_terms() {
    CWriter& out = w_.k_.out;
    const auto reduced = std::span(w_.axes_).subspan(w_.stage_.spatial);
    const bool loops =
        std::any_of(reduced.begin(), reduced.end(), [](const LocalAxis& axis) { return axis.constant != 1; });
    if (!loops) out.open("{");
    for (Operand& o : operands_) {
      o.by_steps = steps_by_rows(o);
      std::vector<std::string> along_lanes;
      std::vector<std::string> alone;
      for (std::int64_t r = 0; r < (o.by_block ? rows_ : 1); ++r) {
        if (o.lane_step == 0) {
          alone.push_back(name_of(o, r, {}));
        } else if (in_strips()) {
          along_lanes.push_back(row_name(o, r));
        } else {
          for (const VectorStrip& strip : group_->strips) alone.push_back(name_of(o, r, strip));
        }
      }
      declare(along_lanes, alone);
    }
    const auto load = [&](const Operand& o, std::int64_t row) {
      if (row == 0 && o.by_steps) {
        const auto index = at_lane(w_.read_index(o.read), 0, group_->offsets.front());
        const std::string element = w_.element(*w_.compute_.read_buffers[o.read], index);
        out.line(fmt::format("const float *{} = &{};", first_row(o), element));
      }
      for (const VectorStrip& strip : group_->strips) {
        write_load(o, row, strip);
        if (o.lane_step == 0) break;
      }
    };
    for (const Operand& o : operands_) {
      if (!o.by_block) load(o, 0);
    }
    for (std::int64_t r = 0; r < rows_; ++r) {
      for (const Operand& o : operands_) {
        if (o.by_block) load(o, r);
      }
      for (const VectorStrip& strip : group_->strips)
        out.line(operands_.size() > 1 ? product(r, strip) : pooled(r, strip));
    }
    if (!loops) out.close();
  }

  /// The accumulators of a strip go on by the product of the operands.
  std::string product(std::int64_t row, const VectorStrip& strip) {
    const Operand& first = operands_.front();
    const Operand& second = operands_.back();
    const std::string a = name_of(first, row, strip);
    const std::string b = name_of(second, row, strip);
    const std::string sum = strip_name(AccumulatorGroup::row_name(row), strip);
    if (!vectors_) return fmt::format("{} += {} * {};", sum, a, b);
    if (strip.is_one()) return fmt::format("{0} = simd_vmas({1}, {2}, {0});", sum, a, b);
    if (first.lane_step != 0 && second.lane_step != 0)
      return fmt::format("{}({}, {}, {});", strip_macro("MAS_EACH", strip), sum, a, b);
    const bool turned = first.lane_step != 0;  // the one vector comes first
    return fmt::format("{}({}, {}, {});", strip_macro("MAS", strip), sum, turned ? b : a, turned ? a : b);
  }

  /// An accumulator of a pooling goes on by the one operand.
  [[nodiscard]] std::string pooled(std::int64_t row, const VectorStrip& strip) const {
    const std::string term = name_of(operands_.front(), row, strip);
    const std::string sum = strip_name(AccumulatorGroup::row_name(row), strip);
    const bool largest = w_.stage_.reduction == Reduction::maximum;
    check(largest || w_.stage_.reduction == Reduction::sum, "a reduction that has no register block");
    if (largest) return fmt::format("{0} = {2}({0}, {1});", sum, term, vectors_ ? "SW_VMAX" : "sw_max_float");
    return vectors_ ? fmt::format("{0} = simd_vadds({0}, {1});", sum, term) : fmt::format("{} += {};", sum, term);
  }

  [[nodiscard]] bool in_strips() const {
    return std::any_of(group_->strips.begin(), group_->strips.end(),
                       [](const VectorStrip& strip) { return !strip.is_one(); });
  }

  /// Of an operand's vectors in strips.
  [[nodiscard]] static std::string row_name(const Operand& o, std::int64_t row) {
    return o.by_block ? fmt::format("{}{}_v", o.letter, row) : fmt::format("{}_v", o.letter);
  }

  [[nodiscard]] std::string name_of(const Operand& o, std::int64_t row, const VectorStrip& strip) const {
    if (o.lane_step != 0 && in_strips()) return strip_name(row_name(o, row), strip);
    std::string name(1, o.letter);
    if (o.by_block) name += std::to_string(row);
    if (o.lane_step != 0) name += (o.by_block ? "_" : "") + std::to_string(strip.first);
    return name + "_";
  }

  /// Elements from the group's first one to one of another row and lane, where that is a number.
  [[nodiscard]] std::optional<std::int64_t> step_to(const Operand& o, std::int64_t row, std::int64_t lane) const {
    const BufferUse& buffer = *w_.compute_.read_buffers[o.read];
    const auto flat = [&](std::int64_t r, std::int64_t l) {
      return w_.flat_index(buffer, at_lane(w_.read_index(o.read), r, l));
    };
    const IndexExpr step = flat(row, lane) - flat(0, group_->offsets.front());
    if (!step.is_constant()) return std::nullopt;
    return step.constant();
  }

  /// Whether one address is enough for all rows, which leaves registers to others.
  [[nodiscard]] bool steps_by_rows(const Operand& o) const {
    if (!vectors_ || !o.by_block || rows_ == 1 || o.is_gathered()) return false;
    for (std::int64_t r = 1; r < rows_; ++r) {
      if (!step_to(o, r, group_->offsets.front())) return false;
    }
    return true;
  }

  [[nodiscard]] static std::string first_row(const Operand& o) { return fmt::format("{}_row0", o.letter); }

  void write_load(const Operand& o, std::int64_t row, const VectorStrip& strip) {
    const BufferUse& buffer = *w_.compute_.read_buffers[o.read];
    const std::string name = name_of(o, row, strip);
    const std::int64_t lane = o.lane_step == 0 ? group_->offsets.front() : group_->offsets[strip.first];
    const auto place = [&](std::int64_t offset) {
      return w_.element(buffer, at_lane(w_.read_index(o.read), row, lane + offset));
    };
    const auto address = [&] {
      if (!o.by_steps) return fmt::format("&{}", place(0));
      const std::int64_t step = step_to(o, row, lane).value();
      return step == 0 ? first_row(o) : fmt::format("{} {} {}", first_row(o), step < 0 ? '-' : '+', std::abs(step));
    };
    if (!vectors_) {
      w_.k_.out.line(fmt::format("{} = {};", name, place(0)));
    } else if (o.lane_step == 0) {
      w_.k_.out.line(fmt::format("simd_loade({}, {});", name, address()));
    } else if (o.lane_step == 1) {
      const bool is_aligned = aligned(buffer, at_lane(w_.read_index(o.read), row, lane));
      w_.k_.out.line(strip_move(false, is_aligned, strip, name, address()));
    } else {
      w_.k_.out.line(
          fmt::format("{} = simd_set_floatv4({}, {}, {}, {});", name, place(0), place(1), place(2), place(3)));
    }
  }

  /// An index with the block axis at row `row` and the lane axis at `lane` of the present group.
  [[nodiscard]] std::vector<IndexExpr> at_lane(std::vector<IndexExpr> index, std::int64_t row,
                                               std::int64_t lane) const {
    for (IndexExpr& e : index) {
      e = substitute(e, [&](VarId v) -> IndexExpr {
        if (v == w_.axes_[lane_].variable) return lane_base_ + IndexExpr(lane);
        if (block_ && v == w_.axes_[*block_].variable) return block_base_ + IndexExpr(row);
        return v;
      });
    }
    return index;
  }

  /// True if the element is at a multiple of 16 bytes whatever the loops do. Lane loops step by whole vectors, block
  /// loops by whole blocks, and by smaller ones behind these.
  [[nodiscard]] bool aligned(BufferId buffer, const std::vector<IndexExpr>& index) const {
    std::vector<VarId> by_vectors = {w_.axes_[lane_].variable};
    if (block_ && block_rows_ % lanes == 0 && rows_ % lanes == 0) by_vectors.push_back(w_.axes_[*block_].variable);
    return w_.begins_vector(buffer, index, by_vectors);
  }

  ComputeWriter& w_;
  BlockEnds ends_;
  std::size_t lane_;
  std::optional<std::size_t> block_;
  std::int64_t block_rows_ = 1;
  std::vector<Operand> operands_;
  // Of the group being written.
  std::int64_t rows_ = 1;
  IndexExpr block_base_;
  IndexExpr lane_base_;
  bool vectors_ = true;
  const AccumulatorGroup* group_ = nullptr;
};

void ComputeWriter::write_register_block() { RegisterBlock(*this).write(); }

}  // namespace stowage
