// SPDX-License-Identifier: Apache-2.0
// How the bank machine's kernels are planned and written.
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "tests/backend/bank_machine.h"

#include "core/index.h"

namespace stowage::test {
namespace {

using Op = Instruction::Op;

Decision no_form(const std::string& what) {
  return Decision::refuse("bank-machine-form", "no instruction for " + what);
}

/// Words of a tensor that one tile reads or writes, and the bank that they lie in from its first word on.
struct Piece {
  StageTensorId tensor;
  IndexExpr address;  ///< of a point, in words of the tensor; over the stage's axes
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t rows = 1;
  std::int64_t apart = 0;
  std::int64_t bank = 0;
  bool moved = true;  ///< from or to main memory; an intermediate stays
};

class BankPlanner {
 public:
  BankPlanner(const StageList& list, const Target& target)
      : list_(list),
        target_(target),
        banks_(static_cast<std::int64_t>(target.own.at("sram_banks"))),
        bank_words_(static_cast<std::int64_t>(target.own.at("bank_bytes")) / word_bytes) {}

  std::variant<BankPlan, Decision> run() {
    for (const StageTensor& tensor : list_.tensors) {
      if (tensor.type != ElementType::f32) return no_form("elements of type " + std::string(name_of(tensor.type)));
      const bool gaps = !tensor.strides.empty() && tensor.strides != row_major_strides(tensor.shape);
      if (gaps && tensor.role == TensorRole::output) return no_form("a result that lies with gaps");
    }
    for (const Stage& stage : list_.stages) {
      if (auto refused = add_stage(stage)) return *std::move(refused);
    }
    return BankPlan(list_, std::move(out_), most_, target_);
  }

 private:
  [[nodiscard]] IndexExpr address_of(StageTensorId tensor, const std::vector<IndexExpr>& index) const {
    const StageTensor& t = list_.tensors[tensor];
    const std::vector<std::int64_t> strides = t.strides.empty() ? row_major_strides(t.shape) : t.strides;
    IndexExpr sum;
    for (std::size_t d = 0; d < index.size(); ++d) sum += index[d] * strides[d];
    return sum;
  }

  [[nodiscard]] std::optional<Decision> form_of(const Stage& stage, const Access& read) const {
    const Shape& shape = list_.tensors[read.tensor].shape;
    for (std::size_t d = 0; d < read.index.size(); ++d) {
      if (!read.index[d].is_affine()) return no_form("an index that is no sum");
      const Interval reach = bounds(read.index[d], [&](VarId v) {
        return Interval{0, stage.axes[v.index()].extent - 1};
      });
      if (reach.low < 0 || reach.high >= shape[d]) return no_form("reading padding");
    }
    return std::nullopt;
  }

  /// Where the words of a tile lie with gaps (a column of a matrix), only they are loaded, row behind row.
  static void cut_into_rows(Piece& piece, const Stage& stage, int axis) {
    int outer = -1;
    for (int a = 0; a < static_cast<int>(stage.axes.size()); ++a) {
      const std::int64_t step = piece.address.coefficient_of(VarId(at(a)));
      if (a != axis && step > piece.apart) {
        piece.apart = step;
        outer = a;
      }
    }
    const std::int64_t rows = outer < 0 ? 1 : stage.axes[at(outer)].extent;
    const std::int64_t width = piece.count - piece.apart * (rows - 1);
    if (rows == 1 || width < 1 || width >= piece.apart) {
      piece.apart = 0;
      return;
    }
    piece.count = width;
    piece.rows = rows;
    piece.address += IndexExpr(VarId(at(outer))) * (width - piece.apart);
  }

  /// What a tile of the axis takes, result last; nothing where the banks do not hold it.
  std::optional<std::vector<Piece>> pieces_of(const Stage& stage, int axis, Interval tile) {
    std::vector<Piece> pieces;
    std::int64_t bank = kept_;
    const auto add = [&](StageTensorId tensor, IndexExpr address) {
      Piece piece;
      piece.tensor = tensor;
      piece.address = std::move(address);
      piece.moved = list_.tensors[tensor].role != TensorRole::intermediate;
      if (piece.moved) {
        const Interval reach = bounds(piece.address, [&](VarId v) {
          return static_cast<int>(v.index()) == axis ? tile : Interval{0, stage.axes[v.index()].extent - 1};
        });
        piece.first = reach.low;
        piece.count = reach.high - reach.low + 1;
        if (pieces.size() < stage.reads.size()) cut_into_rows(piece, stage, axis);
        piece.bank = bank;
        bank += ceil_div(piece.count * piece.rows, bank_words_);
      } else {
        piece.bank = bank_of_.at(tensor);
      }
      pieces.push_back(std::move(piece));
    };
    for (const Access& read : stage.reads) add(read.tensor, address_of(read.tensor, read.index));
    std::vector<IndexExpr> own;
    for (const VarId a : stage.spatial_axes()) own.emplace_back(a);
    add(stage.output, address_of(stage.output, own));
    needed_ = bank;
    if (bank > banks_) return std::nullopt;
    most_ = std::max(most_, bank);
    return pieces;
  }

  std::optional<Decision> add_stage(const Stage& stage) {
    for (const Access& read : stage.reads) {
      if (auto refused = form_of(stage, read)) return refused;
    }
    if (list_.tensors[stage.output].role == TensorRole::intermediate) {
      bank_of_[stage.output] = kept_;
      kept_ += ceil_div(element_count(list_.tensors[stage.output].shape), bank_words_);
    }
    int axis = 0;
    while (at(axis + 1) < stage.spatial && stage.axes[at(axis)].extent == 1) ++axis;
    const std::int64_t extent = stage.spatial == 0 ? 1 : stage.axes[at(axis)].extent;
    for (std::int64_t size = extent; size > 0; size = size == 1 ? 0 : (size + 1) / 2) {
      std::vector<std::vector<Piece>> tiles;
      for (std::int64_t from = 0; from < extent; from += size) {
        auto pieces = pieces_of(stage, axis, {from, std::min(from + size, extent) - 1});
        if (!pieces) break;
        tiles.push_back(*std::move(pieces));
      }
      if (static_cast<std::int64_t>(tiles.size()) < ceil_div(extent, size)) continue;
      std::vector<Piece> before;
      for (std::size_t t = 0; t < tiles.size(); ++t) {
        const std::int64_t from = static_cast<std::int64_t>(t) * size;
        if (auto refused = add_tile(stage, axis, {from, std::min(from + size, extent) - 1}, tiles[t], before)) {
          return refused;
        }
        before = std::move(tiles[t]);
      }
      return std::nullopt;
    }
    return Decision::refuse("sram-capacity",
                            fmt::format("stage {} needs {} banks, has {}", stage.name, needed_, banks_));
  }

  void add(Instruction instruction) { out_.push_back(std::move(instruction)); }

  void add_word(Op op, const Piece& piece, int axis, std::int64_t from) {
    const IndexExpr address =
        substitute(piece.address,
                   [&](VarId v) {
                     return static_cast<int>(v.index()) == axis ? IndexExpr(v) + IndexExpr(from) : IndexExpr(v);
                   }) -
        IndexExpr(piece.first);
    add({.op = op,
         .bank = piece.bank,
         .offset = address.constant(),
         .address = address - IndexExpr(address.constant())});
  }

  std::optional<Decision> add_expression(const ScalarExpr& e, const std::vector<Piece>& pieces, int axis,
                                         std::int64_t from) {
    std::optional<Decision> refused;
    visit_nodes(e, [&](const ScalarNode& node) {
      if (const auto* constant = std::get_if<ScalarNode::Constant>(&node.value)) {
        add({.op = Op::number, .value = constant->value});
      } else if (const auto* read = std::get_if<ScalarNode::Read>(&node.value)) {
        add_word(Op::push, pieces[read->read.index()], axis, from);
      } else if (std::holds_alternative<ScalarNode::Accumulator>(node.value)) {
        add({.op = Op::acc});
      } else if (const auto* unary = std::get_if<ScalarNode::Unary>(&node.value)) {
        add({.op = Op::call, .name = std::string(name_of(unary->op))});
      } else if (const auto* binary = std::get_if<ScalarNode::Binary>(&node.value)) {
        add({.op = Op::call, .name = std::string(name_of(binary->op))});
      } else {
        refused = no_form("this arithmetic");
      }
    });
    return refused;
  }

  std::optional<Decision> add_tile(const Stage& stage, int axis, Interval tile, const std::vector<Piece>& pieces,
                                   const std::vector<Piece>& before) {
    for (std::size_t r = 0; r + 1 < pieces.size(); ++r) {
      const Piece& piece = pieces[r];
      const bool there = !before.empty() && before[r].first == piece.first && before[r].count == piece.count &&
                         before[r].rows == piece.rows && before[r].bank == piece.bank;
      if (piece.moved && !there)
        add({Op::load, piece.bank, piece.tensor, piece.first, piece.count, piece.rows, piece.apart});
    }
    const auto loops = [&](int begin, int end) {
      for (int a = begin; a < end; ++a) {
        const std::int64_t times = a == axis ? tile.high - tile.low + 1 : stage.axes[at(a)].extent;
        add({.op = Op::loop, .bank = a, .count = times});
      }
    };
    const auto ends = [&](int count) {
      for (int i = 0; i < count; ++i) add({.op = Op::end});
    };
    const std::map<Reduction, Op> folds = {{Reduction::none, Op::set},
                                           {Reduction::sum, Op::sum},
                                           {Reduction::minimum, Op::least},
                                           {Reduction::maximum, Op::most}};
    if (!folds.contains(stage.reduction)) return no_form("a product of many");
    const int axes = static_cast<int>(stage.axes.size());
    const int spatial = static_cast<int>(stage.spatial);
    loops(0, spatial);
    if (stage.reduction != Reduction::none) {
      add({.op = Op::begin, .value = identity_of(stage.reduction, ElementType::f32)});
    }
    loops(spatial, axes);
    if (auto refused = add_expression(stage.body, pieces, axis, tile.low)) return refused;
    add({.op = folds.at(stage.reduction)});
    ends(axes - spatial);
    const ScalarExpr finish = stage.finish ? stage.finish : scalar_accumulator(ElementType::f32);
    if (auto refused = add_expression(finish, pieces, axis, tile.low)) return refused;
    add_word(Op::pop, pieces.back(), axis, tile.low);
    ends(spatial);
    const Piece& result = pieces.back();
    if (result.moved) add({Op::store, result.bank, result.tensor, result.first, result.count});
    return std::nullopt;
  }

  const StageList& list_;
  const Target& target_;
  std::int64_t banks_;
  std::int64_t bank_words_;
  std::int64_t kept_ = 0;    ///< banks of intermediates, which stay while the group runs
  std::int64_t needed_ = 0;  ///< by the last tile that was tried
  std::int64_t most_ = 0;
  std::map<StageTensorId, std::int64_t> bank_of_;  ///< of intermediates
  std::vector<Instruction> out_;
};

/// Every instruction takes a cycle, and a transfer as many as its bytes need.
std::int64_t cycles_of(const std::vector<Instruction>& instructions, double bytes_per_cycle) {
  std::int64_t cycles = 0;
  std::vector<std::int64_t> times = {1};
  for (const Instruction& instruction : instructions) {
    const bool moves = instruction.op == Op::load || instruction.op == Op::store;
    cycles +=
        times.back() *
        (moves ? static_cast<std::int64_t>(static_cast<double>(words_of(instruction) * word_bytes) / bytes_per_cycle)
               : 1);
    if (instruction.op == Op::loop) times.push_back(times.back() * instruction.count);
    if (instruction.op == Op::end) times.pop_back();
  }
  return cycles;
}

}  // namespace

BankPlan::BankPlan(StageList stages, std::vector<Instruction> instructions, std::int64_t banks, const Target& target)
    : stages_(std::move(stages)),
      instructions_(std::move(instructions)),
      banks_(banks),
      cycles_(cycles_of(instructions_, target.own.at("bytes_per_cycle"))) {}

std::vector<StageTensorId> BankPlan::memory_tensors() const {
  std::set<StageTensorId> tensors;
  for (const Instruction& instruction : instructions_) {
    if (instruction.op == Op::load || instruction.op == Op::store) tensors.insert(instruction.tensor);
  }
  return {tensors.begin(), tensors.end()};
}

DmaTotals BankPlan::traffic() const {
  DmaTotals sum;
  for (const Instruction& instruction : instructions_) {
    if (instruction.op != Op::load && instruction.op != Op::store) continue;
    ++sum.transfers;
    ++sum.operations;
    sum.bytes += words_of(instruction) * word_bytes;
  }
  return sum;
}

Scratchpad BankPlan::scratchpad(const Target& target) const {
  const auto bytes = static_cast<std::int64_t>(target.own.at("bank_bytes"));
  return {"SRAM", banks_ * bytes, static_cast<std::int64_t>(target.own.at("sram_banks")) * bytes};
}

std::string BankPlan::text() const {
  std::string text;
  for (const Instruction& instruction : instructions_) {
    text += to_text(instruction,
                    [&](StageTensorId tensor, std::int64_t word) {
                      return fmt::format("{}[{}]", stages_.tensors[tensor].name, word);
                    }) +
            "\n";
  }
  return text;
}

std::variant<BankPlan, Decision> plan_banks(const StageList& stages, const Target& target) {
  return BankPlanner(stages, target).run();
}

std::string to_text(const Instruction& instruction,
                    const std::function<std::string(StageTensorId tensor, std::int64_t word)>& place) {
  const auto word = [&](const char* op) {
    std::string text = fmt::format("{} b{}+{}", op, instruction.bank, instruction.offset);
    for (const IndexTerm& term : instruction.address.terms()) {
      text += fmt::format(" {}*r{}", term.coefficient, term.atom.variable.index());
    }
    return text;
  };
  const auto move = [&](const char* op) {
    return fmt::format("{} b{} {} {} {} {}", op, instruction.bank, place(instruction.tensor, instruction.offset),
                       instruction.count, instruction.rows, instruction.apart);
  };
  switch (instruction.op) {
    case Op::load: return move("load");
    case Op::store: return move("store");
    case Op::loop: return fmt::format("loop r{} {}", instruction.bank, instruction.count);
    case Op::end: return "end";
    case Op::begin: return fmt::format("begin {}", instruction.value);
    case Op::push: return word("push");
    case Op::pop: return word("pop");
    case Op::number: return fmt::format("number {}", instruction.value);
    case Op::acc: return "acc";
    case Op::sum: return "sum";
    case Op::least: return "least";
    case Op::most: return "most";
    case Op::set: return "set";
    case Op::call: return instruction.name;
  }
  return "";
}

}  // namespace stowage::test
