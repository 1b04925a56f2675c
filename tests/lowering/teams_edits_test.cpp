// SPDX-License-Identifier: Apache-2.0
// Nests with transfers of teams that are drawn and changed by chance: what is accepted computes the product.
#include <array>

#include <fmt/format.h>

#include "lowering/check/check_nest.h"
#include "lowering/nest/passes.h"
#include "lowering/verify/verify_rules.h"
#include "nest_edits.h"
#include "team_nests.h"

namespace stowage::teams_edits_test {
namespace {

using namespace team_nests;
using fixtures::damage;
using fixtures::edited_nest;
using fixtures::Move;
using fixtures::moved;
using fixtures::read_or_refused;

constexpr std::array spaces = {Space::ldm, Space::row, Space::column, Space::mesh};

/// A product on a mesh of its own: its rows take tiles of x and its columns tiles of y, or the other way round.
struct Drawn {
  int rows, columns;
  bool rows_take_x;
  std::string text;

  explicit Drawn(std::mt19937& random) {
    const auto draw = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    rows = draw(1, 3);
    columns = draw(1, 3);
    rows_take_x = random() % 2 == 0;
    const int of_x = rows_take_x ? rows : columns;
    const int of_y = rows_take_x ? columns : rows;
    const int tile_x = draw(1, 3), tile_y = draw(1, 9), tile_k = draw(1, 5), trips = draw(1, 3);
    // The last tiles may be short.
    const int m = of_x * tile_x - draw(0, tile_x - 1), n = of_y * tile_y - draw(0, tile_y - 1);
    const int k = trips * tile_k - draw(0, tile_k - 1);
    const auto bytes = [](int elements) { return 4 * elements; };
    const auto aligned = [&](int elements) { return (bytes(elements) + 31) / 32 * 32; };
    const std::string x = fmt::format("{0}*cx:{0}*cx + min(-{0}*cx + {1}, {0})", tile_x, m);
    const std::string y = fmt::format("{0}*cy:{0}*cy + min(-{0}*cy + {1}, {0})", tile_y, n);
    const std::string ks = fmt::format("{0}*ko:{0}*ko + min(-{0}*ko + {1}, {0})", tile_k, k);
    const int b_at = aligned(tile_x * tile_k), c_at = b_at + aligned(tile_k * tile_y);
    text = fmt::format(
        "nest matmul {{\n  input A f32[{0},{2}]\n  input B f32[{2},{1}]\n  output C f32[{0},{1}]\n"
        "  stage matmul {{\n    C[x < {0}, y < {1}] = sum over k < {2} of (#0 * #1)\n    #0 = A[x, k]\n"
        "    #1 = B[k, y]\n  }}\n  variables cx, cy, ko\n",
        m, n, k);
    text += fmt::format("  core cx < {} of x stride {}\n  core cy < {} of y stride {}\n  mesh {} rows {} columns\n",
                        of_x, rows_take_x ? columns : 1, of_y, rows_take_x ? 1 : columns, rows, columns);
    text += fmt::format(
        "  memory A = A strides [{1}, 1]\n  memory B = B strides [{0}, 1]\n  memory C = C strides [{0}, 1] written\n",
        n, k);
    text += fmt::format(
        "  ldm {0} bytes\n  buffer AA f32[{1},{3}] at 0, {4} bytes = A[{1}*cx, {3}*ko]\n"
        "  buffer BB f32[{3},{2}] at {5}, {6} bytes = B[{3}*ko, {2}*cy]\n"
        "  buffer CC f32[{1},{2}] at {7}, {8} bytes = C[{1}*cx, {2}*cy]\n",
        c_at + aligned(tile_x * tile_y), tile_x, tile_y, tile_k, bytes(tile_x * tile_k), b_at, bytes(tile_k * tile_y),
        c_at, bytes(tile_x * tile_y));
    text += fmt::format(
        "  body {{\n    0  fill CC with 0\n    1  for ko < {0} of k {{\n    2    get A[{1}, {3}] -> AA\n"
        "    3    get B[{3}, {2}] -> BB\n    4    wait 2\n    5    wait 3\n"
        "    6    compute update CC = matmul(AA, BB) over x={1}, y={2}, k={3}\n       }}\n"
        "    7  put CC -> C[{1}, {2}]\n    8  wait 7\n  }}\n}}\n",
        trips, x, y, ks);
  }
};

LoopNest with_space(LoopNest nest, StatementId get, Space to) {
  nest.body = edited<Dma>(nest.body, [&](const Stmt& s, Dma& dma) {
    if (s.id != get) return false;
    dma.to = to;
    return true;
  });
  return nest;
}

TEST_CASE("what one get brings to a team is what each of it would get", "[teams]") {
  const unsigned seed = 23;
  std::mt19937 random(seed);
  int accepted = 0, refused = 0, seen_in_numbers = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const Drawn drawn(random);
    const Target target = machine(drawn.rows, drawn.columns);
    const LoopNest own = parsed(drawn.text);
    INFO("seed " << seed << ", trial " << trial << "\n" << drawn.text);
    REQUIRE(verdict(own, target) == "sound");
    REQUIRE(wrong_elements_of(own) == 0);
    for (const Space of_a : spaces) {
      for (const Space of_b : spaces) {
        const LoopNest nest = with_space(with_space(own, StatementId(2), of_a), StatementId(3), of_b);
        const std::string found = verdict(nest, target);
        INFO(name_of(of_a) << ", " << name_of(of_b) << ": " << found);
        // A tile of A is the same for all that have the same rows of C.
        const Space alike_in_a = drawn.rows_take_x ? Space::row : Space::column;
        const Space alike_in_b = drawn.rows_take_x ? Space::column : Space::row;
        const bool must = (of_a == Space::ldm || of_a == alike_in_a) && (of_b == Space::ldm || of_b == alike_in_b);
        if (must) REQUIRE(found == "sound");
        if (found == "sound") {
          ++accepted;
          REQUIRE(wrong_elements_of(nest) == 0);
        } else {
          ++refused;
          REQUIRE_THAT(found, Catch::StartsWith("team-same-box"));
          seen_in_numbers += wrong_elements(nest) > 0 ? 1 : 0;
        }
      }
    }
  }
  CHECK(accepted > 900);
  CHECK(refused > 500);
  CHECK(seen_in_numbers > refused / 2);
}

/// One change to what moves where and when, and on which cores; what is computed stays.
class Edits {
 public:
  explicit Edits(std::mt19937& random) : random_(random) {}

  LoopNest edited(LoopNest nest) {
    std::vector<const Stmt*> all, moving;
    visit_statements(nest.body, [&](const Stmt& s) {
      all.push_back(&s);
      if (route_of(s) || std::holds_alternative<Wait>(s.node)) moving.push_back(&s);
    });
    const Stmt& chosen = *moving[draw(moving.size())];
    const Stmt& other = *all[draw(all.size())];
    const std::uint64_t kind = draw(9);
    const Move move{chosen, other, draw(2) == 0, kind == 2};
    nest.body = rewritten(nest.body, [&](const Stmt& s) -> Replacement {
      if (kind < 3) return moved(s, move);
      if (kind == 3 && s.id == other.id) {  // some cores, or trips, leave it out
        const auto variable = IndexExpr(VarId(draw(nest.variables.size())));
        Guard guard{{draw(2) == 0 ? variable : variable * -1 + 1}, {std::make_shared<const Stmt>(s)}};
        return Block{std::make_shared<const Stmt>(Stmt{StatementId(1001), std::move(guard), ""})};
      }
      if (kind > 3 && s.id == (kind < 7 ? chosen.id : other.id)) return Block{with_node(s, changed(s.node))};
      return std::nullopt;
    });
    return nest;
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

  /// By a few, or by what differs from core to core.
  IndexExpr changed(const IndexExpr& e) {
    static constexpr std::int64_t by[] = {-8, -1, 1, 8};
    return draw(2) == 0 ? e + by[draw(4)] : e + IndexExpr(VarId(draw(3))) * by[draw(4)];
  }

  void change(std::vector<Range>& region) {
    Range& range = region[draw(2)];
    if (draw(2) == 0) {
      range.start = changed(range.start);
    } else {
      range.extent = range.max_extent = std::max<std::int64_t>(1, range.max_extent - 1);
    }
  }

  void change(BufferUse& use) {
    if (!use.origin.empty() && draw(2) == 0) {
      IndexExpr& begin = use.origin[draw(use.origin.size())];
      begin = changed(begin);
    } else {
      use.slot = remainder(changed(use.slot), 2);
    }
  }

  Stmt::Node changed(Stmt::Node node) {
    if (auto* dma = std::get_if<Dma>(&node)) {
      if (draw(2) == 0) {
        change(dma->region);
      } else if (dma->direction == DmaDirection::get) {
        dma->to = spaces[draw(4)];
      }
    } else if (auto* broadcast = std::get_if<Broadcast>(&node)) {
      switch (draw(5)) {
        case 0: change(broadcast->region); break;
        case 1: broadcast->to = spaces[1 + draw(3)]; break;
        case 2: change(broadcast->buffer); break;
        case 3: change(broadcast->source); break;
        default: broadcast->sender = draw(2) == 0 ? IndexExpr(VarId(draw(3))) : changed(broadcast->sender);
      }
    } else if (auto* wait = std::get_if<Wait>(&node)) {
      if (wait->slot) change(*wait->slot);
    } else if (auto* guard = std::get_if<Guard>(&node)) {
      guard->any_positive[0] = changed(guard->any_positive[0]);
    } else if (auto* loop = std::get_if<Loop>(&node)) {
      loop->extent = changed(loop->extent);
    } else if (auto* compute = std::get_if<Compute>(&node)) {
      change(draw(2) == 0 ? *compute->read_buffers[ReadId(0)] : *compute->read_buffers[ReadId(1)]);
    }
    return node;
  }

  std::mt19937& random_;
};

/// Loops and guards decide what is summed; the verifier does not ask whether that is all.
bool sums_everything(const LoopNest& nest) {
  bool all = true;
  visit_statements(nest.body, [&](const Stmt& s) {
    if (const auto* loop = std::get_if<Loop>(&s.node)) all = all && loop->extent == IndexExpr(2);
    const Block* body = std::holds_alternative<Guard>(s.node) ? body_of(s) : nullptr;
    if (body == nullptr) return;
    visit_statements(*body, [&](const Stmt& inside) {
      all = all && !std::holds_alternative<Compute>(inside.node) && !std::holds_alternative<Loop>(inside.node) &&
            !std::holds_alternative<Fill>(inside.node);
    });
  });
  return all;
}

TEST_CASE("what is accepted of teams computes the same, whatever moves when", "[teams]") {
  const unsigned seed = 41;
  std::mt19937 random(seed);
  int accepted = 0, seen_in_numbers = 0, good_of_checker = 0;
  std::map<std::string, int> rules;
  for (int trial = 0; trial < 6000; ++trial) {
    const std::string good = std::array{with_shared_gets(), with_broadcasts(), with_broadcasts_ahead()}[random() % 3];
    Edits edits(random);
    const auto edited = edited_nest(parsed(good), edits, random, [](const LoopNest& nest) { return verdict(nest); });
    if (!edited) continue;
    const auto& [nest, found] = *edited;
    INFO("seed " << seed << ", trial " << trial << "\n" << to_text(nest) << found);
    ++rules[found.substr(0, found.find(':'))];
    // The checker, which knows the numbers: what it finds nothing in computes right, and what the verifier accepts it
    // accepts, but for sums that lack terms.
    const NestCheck check = check_nest(nest, machine());
    if (check.faults.empty() && check.complete) {
      ++good_of_checker;
      REQUIRE(wrong_elements(nest) == 0);
    } else if (found == "sound" && sums_everything(nest)) {
      for (const Fault& fault : check.faults) INFO(name_of(fault.family) << ": " << fault.what);
      REQUIRE(check.faults.empty());
    }
    if (found == "sound") {
      if (!sums_everything(nest)) continue;
      ++accepted;
      REQUIRE(wrong_elements(nest) == 0);
    } else {
      seen_in_numbers += wrong_elements(nest) > 0 ? 1 : 0;
    }
  }
  CHECK(accepted > 200);
  CHECK(good_of_checker > 200);
  CHECK(seen_in_numbers > 1500);
  for (const char* rule : {"team-in-step", "team-same-box", "team-same-sender", "sender-in-team", "transfer-awaited",
                           "buffer-in-flight", "transfer-in-buffer", "read-before-there"}) {
    INFO(rule);
    CHECK(rules[rule] > 10);
  }
}

TEST_CASE("damaged texts with teams are refused or judged, never more", "[teams]") {
  const unsigned seed = 29;
  std::mt19937 random(seed);
  const std::string alphabet = "[]()%/*+-0123456789 skxyABR:,";
  const std::array words = {"row", "column", "mesh", "core",    "of",     "broadcast",
                            "get", "wait",   "over", "slots 2", "4000000"};
  const Target target = machine();
  for (int trial = 0; trial < 4000; ++trial) {
    std::string text = std::array{with_shared_gets(), with_broadcasts(), with_broadcasts_ahead()}[random() % 3];
    const std::size_t from = text.find("  variables");
    for (std::uint64_t change = 0; change < 1 + random() % 3; ++change) {
      const std::size_t at = damage(text, from, alphabet, trial % 4, random);
      if (trial % 4 == 3) {
        const std::string old = words[random() % words.size()];
        const std::size_t place = text.find(old, at);
        if (place != std::string::npos) text.replace(place, old.size(), words[random() % words.size()]);
      }
    }
    CAPTURE(seed, trial, text);
    const auto nest = read_or_refused(text);
    if (!nest) continue;
    bool sound = false;
    CHECK_NOTHROW(sound = !verify(*nest, target));
    // As `stowage pass` runs them.
    for (const Pass& pass : nest_passes) {
      if (sound || (pass.mends && !verify_structure(*nest))) {
        CHECK_NOTHROW(verify(pass.run(*nest, target), target));
      }
    }
  }
}

}  // namespace
}  // namespace stowage::teams_edits_test
