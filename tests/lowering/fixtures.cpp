// SPDX-License-Identifier: Apache-2.0
#include "fixtures.h"

#include <utility>

#include <fmt/format.h>

#include "core/check.h"

namespace stowage::fixtures {

NestBuilder::NestBuilder(std::string name, StageList stages) {
  nest_.name = std::move(name);
  nest_.stages = std::move(stages);
  open_.push_back({Barrier{}, StatementId(), {}});
}

VarId NestBuilder::variable(const std::string& name, NestVariable::Kind kind, Interval range) {
  nest_.variables.push_back({name, kind, range});
  return VarId(nest_.variables.size() - 1);
}

Interval NestBuilder::range_of(const IndexExpr& e) const {
  return bounds(e, [&](VarId v) { return nest_.variables[v.index()].range; });
}

VarId NestBuilder::core(const std::string& name, const std::string& iterator, int parts, int stride) {
  const VarId v = variable(name, NestVariable::Kind::core, {0, parts - 1});
  nest_.core_grid.push_back({v, iterator, parts, stride});
  return v;
}

NestTensorId NestBuilder::tensor(std::size_t stage_tensor, bool written) {
  const StageTensorId of(stage_tensor);
  const StageTensor& t = nest_.stages.tensors[of];
  return nest_.tensors.push_back({t.name, of, row_major_strides(t.shape), written});
}

BufferId NestBuilder::buffer(const std::string& name, std::size_t stage_tensor, std::vector<std::int64_t> extents,
                             std::vector<IndexExpr> origin) {
  Buffer buffer;
  buffer.name = name;
  buffer.tensor = StageTensorId(stage_tensor);
  buffer.type = nest_.stages.tensors[buffer.tensor].type;
  buffer.extents = std::move(extents);
  buffer.origin = std::move(origin);
  buffer.offset = ceil_div(nest_.ldm_bytes, 32) * 32;
  nest_.ldm_bytes = buffer.offset + buffer.bytes();
  return nest_.buffers.push_back(std::move(buffer));
}

StatementId NestBuilder::append(Stmt::Node node, const std::string& note) {
  const StatementId id = next_id_++;
  open_.back().body.push_back(std::make_shared<const Stmt>(Stmt{id, std::move(node), note}));
  return id;
}

VarId NestBuilder::begin_loop(const std::string& name, const IndexExpr& extent, const std::string& iterator) {
  const std::int64_t last = std::max<std::int64_t>(0, range_of(extent).high - 1);
  const VarId v = variable(name, NestVariable::Kind::loop, {0, last});
  open_.push_back({Loop{v, extent, iterator, {}}, next_id_++, {}});
  return v;
}

void NestBuilder::begin_guard(std::vector<IndexExpr> any_positive) {
  open_.push_back({Guard{std::move(any_positive), {}}, next_id_++, {}});
}

void NestBuilder::end() {
  check(open_.size() > 1, "end() without a begin");
  Open closed = std::move(open_.back());
  open_.pop_back();
  if (auto* loop = std::get_if<Loop>(&closed.node)) loop->body = std::move(closed.body);
  if (auto* guard = std::get_if<Guard>(&closed.node)) guard->body = std::move(closed.body);
  open_.back().body.push_back(std::make_shared<const Stmt>(Stmt{closed.id, std::move(closed.node), {}}));
}

VarId NestBuilder::let(const std::string& name, const IndexExpr& value) {
  const VarId v = variable(name, NestVariable::Kind::let, range_of(value));
  append(Let{v, value});
  return v;
}

std::vector<Range> NestBuilder::ranges(const std::vector<Span>& spans) const {
  std::vector<Range> result;
  for (const Span& span : spans) {
    result.push_back({span.start, span.extent, std::max<std::int64_t>(0, range_of(span.extent).high)});
  }
  return result;
}

StatementId NestBuilder::get(NestTensorId nest_tensor, BufferId buffer, const std::vector<Span>& region,
                             const std::string& note) {
  return append(Dma{DmaDirection::get, nest_tensor, buffer, ranges(region)}, note);
}

StatementId NestBuilder::put(NestTensorId nest_tensor, BufferId buffer, const std::vector<Span>& region,
                             const std::string& note) {
  return append(Dma{DmaDirection::put, nest_tensor, buffer, ranges(region)}, note);
}

void NestBuilder::wait(StatementId dma) { append(Wait{dma}); }

void NestBuilder::fill(BufferId buffer, double value) { append(Fill{buffer, value}); }

void NestBuilder::fill_around(BufferId buffer, double value, const std::vector<Span>& kept) {
  append(Fill{buffer, value, ranges(kept)});
}

StatementId NestBuilder::compute(Compute compute, const std::vector<Span>& box) {
  compute.box = ranges(box);
  return append(std::move(compute));
}

void NestBuilder::barrier() { append(Barrier{}); }

LoopNest NestBuilder::build() && {
  check(open_.size() == 1, "a loop or guard was left open");
  nest_.body = std::move(open_.front().body);
  return std::move(nest_);
}

namespace {

StageTensor stage_tensor(std::string name, Shape shape, TensorRole role) {
  return {std::move(name), ElementType::f32, std::move(shape), role, std::nullopt, std::nullopt};
}

}  // namespace

StageList matmul_stages(std::int64_t m, std::int64_t n, std::int64_t k) {
  StageList list;
  list.tensors = {stage_tensor("A", {m, k}, TensorRole::input), stage_tensor("B", {k, n}, TensorRole::input),
                  stage_tensor("C", {m, n}, TensorRole::output)};
  const VarId x(0), y(1), r(2);
  Stage stage;
  stage.name = "matmul";
  stage.output = StageTensorId(2);
  stage.axes = {{"x", m}, {"y", n}, {"k", k}};
  stage.spatial = 2;
  stage.reduction = Reduction::sum;
  stage.reads = {{StageTensorId(0), {x, r}, std::nullopt}, {StageTensorId(1), {r, y}, std::nullopt}};
  stage.body = scalar_read(ElementType::f32, ReadId(0)) * scalar_read(ElementType::f32, ReadId(1));
  list.stages = {stage};
  return list;
}

LoopNest paper_matmul() {
  NestBuilder nest("matmul", matmul_stages(1, 1024, 1024));
  const NestTensorId a = nest.tensor(0), b = nest.tensor(1), c = nest.tensor(2, true);
  const VarId x = nest.begin_loop("x", 1, "x");
  const VarId yo = nest.begin_loop("yo", 8, "y");
  const IndexExpr y = IndexExpr(yo) * 128;
  const BufferId cc = nest.buffer("CC", 2, {1, 128}, {x, y});
  nest.fill(cc, 0);
  const VarId ko = nest.begin_loop("ko", 16, "k");
  const IndexExpr k = IndexExpr(ko) * 64;
  const BufferId aa = nest.buffer("AA", 0, {1, 64}, {x, k});
  const BufferId bb = nest.buffer("BB", 1, {64, 128}, {k, y});
  nest.wait(nest.get(a, aa, {{x, 1}, {k, 64}}, "A inside ko"));
  nest.wait(nest.get(b, bb, {{k, 64}, {y, 128}}, "B inside ko"));
  Compute compute;
  compute.part = Compute::Part::update;
  compute.output_buffer = cc;
  compute.read_buffers = {aa, bb};
  compute.form = ComputeForm::vector;
  compute.lane_axis = VarId(1);
  nest.compute(compute, {{x, 1}, {y, 128}, {k, 64}});
  nest.end();
  nest.wait(nest.put(c, cc, {{x, 1}, {y, 128}}, "C inside yo"));
  nest.end();
  nest.end();
  return std::move(nest).build();
}

LoopNest padded_convolution() {
  StageList list;
  list.tensors = {stage_tensor("X", {3, 11, 11}, TensorRole::input),
                  stage_tensor("W", {4, 3, 3, 3}, TensorRole::constant),
                  stage_tensor("Y", {4, 6, 6}, TensorRole::output)};
  {
    const VarId k(0), y(1), x(2), c(3), r(4), s(5);
    Stage stage;
    stage.name = "conv";
    stage.output = StageTensorId(2);
    stage.axes = {{"k", 4}, {"y", 6}, {"x", 6}, {"c", 3}, {"r", 3}, {"s", 3}};
    stage.spatial = 3;
    stage.reduction = Reduction::sum;
    stage.reads = {{StageTensorId(0), {c, IndexExpr(y) * 2 + r - 1, IndexExpr(x) * 2 + s - 1}, 0.0},
                   {StageTensorId(1), {k, c, r, s}, std::nullopt}};
    stage.body = scalar_read(ElementType::f32, ReadId(0)) * scalar_read(ElementType::f32, ReadId(1));
    list.stages = {stage};
  }
  NestBuilder nest("conv", list);
  const VarId cy = nest.core("cy", "y", 2, 1);
  const NestTensorId x_tensor = nest.tensor(0), w_tensor = nest.tensor(1), y_tensor = nest.tensor(2, true);
  const BufferId ww = nest.buffer("WW", 1, {4, 3, 3, 3}, {0, 0, 0, 0});
  nest.wait(nest.get(w_tensor, ww, {{0, 4}, {0, 3}, {0, 3}, {0, 3}}, "W before the loops"));
  const VarId yo = nest.begin_loop("yo", 2, "y");
  const VarId y0 = nest.let("y0", IndexExpr(cy) * 3 + IndexExpr(yo) * 2);
  const VarId ny = nest.let("ny", minimum(2, IndexExpr(3) - IndexExpr(yo) * 2));
  const IndexExpr first = IndexExpr(y0) * 2 - 1;
  const VarId r0 = nest.let("r0", maximum(0, first));
  const VarId nr = nest.let("nr", minimum(11, first + IndexExpr(ny) * 2 + 1) - r0);
  const BufferId xx = nest.buffer("XX", 0, {3, 5, 13}, {0, first, -1});
  const BufferId yy = nest.buffer("YY", 2, {4, 2, 6}, {0, y0, 0});
  nest.fill_around(xx, 0, {{0, 3}, {IndexExpr(r0) - first, nr}, {1, 11}});
  nest.wait(nest.get(x_tensor, xx, {{0, 3}, {r0, nr}, {0, 11}}, "X inside yo"));
  nest.fill(yy, 0);
  Compute compute;
  compute.part = Compute::Part::update;
  compute.output_buffer = yy;
  compute.read_buffers = {xx, ww};
  nest.compute(compute, {{0, 4}, {y0, ny}, {0, 6}, {0, 3}, {0, 3}, {0, 3}});
  nest.wait(nest.put(y_tensor, yy, {{0, 4}, {y0, ny}, {0, 6}}, "Y inside yo"));
  nest.end();
  return std::move(nest).build();
}

LoopNest ragged_chain() {
  StageList list;
  list.tensors = {stage_tensor("A", {1000}, TensorRole::input), stage_tensor("B", {1000}, TensorRole::input),
                  stage_tensor("T", {1000}, TensorRole::intermediate), stage_tensor("Y", {1000}, TensorRole::output)};
  {
    const VarId x(0);
    Stage add;
    add.name = "add";
    add.output = StageTensorId(2);
    add.axes = {{"x", 1000}};
    add.spatial = 1;
    add.reads = {{StageTensorId(0), {x}, std::nullopt}, {StageTensorId(1), {x}, std::nullopt}};
    add.body = scalar_read(ElementType::f32, ReadId(0)) + scalar_read(ElementType::f32, ReadId(1));
    Stage relu = add;
    relu.name = "relu";
    relu.output = StageTensorId(3);
    relu.reads = {{StageTensorId(2), {x}, std::nullopt}};
    relu.body = scalar_constant(ElementType::f32, 2) *
                max(scalar_read(ElementType::f32, ReadId(0)), scalar_constant(ElementType::f32, 0));
    list.stages = {add, relu};
  }
  NestBuilder nest("chain", list);
  const VarId cx = nest.core("cx", "x", 64, 1);
  const NestTensorId a = nest.tensor(0), b = nest.tensor(1), y = nest.tensor(3, true);
  const VarId n = nest.let("n", minimum(16, IndexExpr(1000) - IndexExpr(cx) * 16));
  const VarId xo = nest.begin_loop("xo", floor_div(IndexExpr(n) + 5, 6), "x");
  const VarId x0 = nest.let("x0", IndexExpr(cx) * 16 + IndexExpr(xo) * 6);
  const VarId nx = nest.let("nx", minimum(6, IndexExpr(n) - IndexExpr(xo) * 6));
  const BufferId aa = nest.buffer("AA", 0, {6}, {x0});
  const BufferId bb = nest.buffer("BB", 1, {6}, {x0});
  const BufferId tt = nest.buffer("TT", 2, {6}, {x0});
  const BufferId yy = nest.buffer("YY", 3, {6}, {x0});
  const StatementId get_a = nest.get(a, aa, {{x0, nx}}, "A inside xo");
  const StatementId get_b = nest.get(b, bb, {{x0, nx}}, "B inside xo");
  nest.wait(get_a);
  nest.wait(get_b);
  Compute add;
  add.stage = StageId(0);
  add.output_buffer = tt;
  add.read_buffers = {aa, bb};
  nest.compute(add, {{x0, nx}});
  Compute relu;
  relu.stage = StageId(1);
  relu.output_buffer = yy;
  relu.read_buffers = {tt};
  nest.compute(relu, {{x0, nx}});
  nest.wait(nest.put(y, yy, {{x0, nx}}, "Y inside xo"));
  nest.end();
  return std::move(nest).build();
}

namespace {

/// Grows a random body. Extents are small so that a plain walk stays quick.
class RandomNest {
 public:
  explicit RandomNest(std::mt19937& random) : random_(random), nest_("random", matmul_stages(40, 40, 40)) {}

  LoopNest run() {
    int stride = 1;
    for (std::int64_t axis = draw(0, 2); axis > 0; --axis) {
      const int parts = static_cast<int>(draw(1, 4));
      variables_.push_back(nest_.core(fmt::format("c{}", axis), "x", parts, stride));
      stride *= parts;
    }
    nest_.tensor(0);
    nest_.tensor(1);
    nest_.tensor(2, true);
    const std::int64_t buffers = draw(1, 3);
    for (std::int64_t b = 0; b < buffers; ++b) {
      nest_.buffer(fmt::format("buffer{}", b), static_cast<int>(draw(0, 2)), {draw(1, 6), draw(1, 6)},
                   {expression(), expression()});
      buffers_ = static_cast<int>(b) + 1;
    }
    block(0);
    return std::move(nest_).build();
  }

 private:
  std::int64_t draw(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  /// A sum of some of the variables in scope, at times through a quasi-affine operation.
  IndexExpr expression() {
    IndexExpr e = draw(-2, 8);
    for (const VarId v : variables_) {
      if (draw(0, 2) == 0) e += IndexExpr(v) * draw(-3, 3);
    }
    switch (draw(0, 7)) {
      case 0: return floor_div(e, draw(2, 4));
      case 1: return remainder(e, draw(2, 4));
      case 2: return maximum(e, draw(-1, 2));
      case 3: return lookup(table_, remainder(e, 5));
      case 4: return minimum(e, maximum(expression(), draw(0, 3)));
      default: return minimum(e, draw(1, 6));
    }
  }

  std::vector<Span> box(std::size_t rank) {
    std::vector<Span> spans;
    for (std::size_t d = 0; d < rank; ++d) {
      const IndexExpr extent = draw(0, 1) == 0 ? IndexExpr(draw(1, 6)) : expression();
      spans.push_back({expression(), extent});
    }
    return spans;
  }

  void block(int depth) {
    const std::size_t in_scope = variables_.size();
    for (std::int64_t statements = draw(1, 4); statements > 0; --statements) {
      switch (draw(0, depth < 4 ? 9 : 5)) {
        case 0: variables_.push_back(nest_.let(fmt::format("v{}", ++names_), expression())); break;
        case 1: {
          const BufferId buffer = any_buffer();
          const double value = draw(0, 1) == 0 ? 0.0 : 0.1;
          if (draw(0, 1) == 0) {
            nest_.fill(buffer, value);
          } else {
            nest_.fill_around(buffer, value, box(2));
          }
          break;
        }
        case 2: {
          Compute compute;
          compute.part = draw(0, 1) == 0 ? Compute::Part::update : Compute::Part::map;
          compute.output_buffer = any_buffer();
          compute.read_buffers = {std::nullopt, any_buffer()};
          compute.form = static_cast<ComputeForm>(draw(0, 2));
          if (compute.form != ComputeForm::scalar) compute.lane_axis = VarId(1);
          if (compute.form == ComputeForm::register_block) compute.block_axis = VarId(0);
          nest_.compute(compute, box(3));
          break;
        }
        case 3:
        case 4:
        case 5: {
          const NestTensorId tensor(static_cast<std::size_t>(draw(0, 2)));
          const BufferId buffer = any_buffer();
          const StatementId dma = draw(0, 1) == 0
                                      ? nest_.get(tensor, buffer, box(2), draw(0, 2) == 0 ? "a note, \"quoted\"" : "")
                                      : nest_.put(tensor, buffer, box(2));
          if (draw(0, 1) == 0) nest_.wait(dma);
          break;
        }
        case 6:
          nest_.begin_guard({expression(), expression()});
          block(depth + 1);
          nest_.end();
          break;
        default:
          variables_.push_back(nest_.begin_loop(fmt::format("v{}", ++names_),
                                                draw(0, 2) == 0 ? expression() : IndexExpr(draw(0, 5)), "y"));
          block(depth + 1);
          nest_.end();
          variables_.pop_back();
      }
    }
    variables_.resize(in_scope);
  }

  std::mt19937& random_;
  NestBuilder nest_;
  std::vector<VarId> variables_;
  std::shared_ptr<const IndexTable> table_ = std::make_shared<const IndexTable>(IndexTable{"steps", {0, 1, 1, 2, 5}});
  BufferId any_buffer() { return BufferId(static_cast<std::size_t>(draw(0, buffers_ - 1))); }

  int buffers_ = 0;
  int names_ = 0;
};

}  // namespace

LoopNest random_nest(std::mt19937& random) { return RandomNest(random).run(); }

}  // namespace stowage::fixtures
