// SPDX-License-Identifier: Apache-2.0
// Random edits of nests with several slots: what is accepted computes the same, and damaged texts are refused.
#include <array>
#include <random>

#include <catch2/catch.hpp>

#include "fixtures.h"
#include "lowering/nest/passes.h"
#include "lowering/verify/verify.h"
#include "nest_edits.h"
#include "slot_products.h"

namespace stowage::slots_edits_test {
namespace {

using namespace fixtures;

/// One change to when and where data moves; what is computed stays. Nothing where the nest has no place for it.
class Edits {
 public:
  explicit Edits(std::mt19937& random) : random_(random) {}

  LoopNest edited(LoopNest nest) {
    std::vector<const Stmt*> all, moving;
    visit_statements(nest.body, [&](const Stmt& s) {
      all.push_back(&s);
      const bool moves = std::holds_alternative<Dma>(s.node) || std::holds_alternative<Wait>(s.node);
      if (moves || std::holds_alternative<Guard>(s.node)) moving.push_back(&s);
    });
    const Stmt& chosen = *moving[draw(moving.size())];
    const Stmt& other = *all[draw(all.size())];
    const std::uint64_t kind = draw(8);
    const Move move{chosen, other, draw(2) == 0, kind == 2};
    nest.body = rewritten(nest.body, [&](const Stmt& s) -> Replacement {
      if (kind < 3) return moved(s, move);
      if (kind == 3 && s.id == chosen.id) return Block{};
      if (kind > 3 && s.id == (kind == 4 ? chosen.id : other.id)) return Block{with_node(s, changed(s.node))};
      return std::nullopt;
    });
    return nest;
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

  IndexExpr shifted(const IndexExpr& e) {
    static constexpr std::int64_t by[] = {-16, -1, 1, 16};
    return e + by[draw(4)];
  }

  IndexExpr slot(const IndexExpr& old) {
    if (draw(3) == 0) return static_cast<std::int64_t>(draw(3));
    return remainder(old + IndexExpr(VarId(draw(2))) * static_cast<std::int64_t>(draw(2)) + 1,
                     2 + static_cast<std::int64_t>(draw(5) == 0));
  }

  void change(BufferUse& use, bool with_origin) {
    if (with_origin && !use.origin.empty() && draw(2) == 0) {
      IndexExpr& begin = use.origin[draw(use.origin.size())];
      begin = shifted(begin);
    } else {
      use.slot = slot(use.slot);
    }
  }

  Stmt::Node changed(Stmt::Node node) {
    if (auto* dma = std::get_if<Dma>(&node)) {
      Range& range = dma->region[draw(2)];
      switch (draw(4)) {
        case 0: range.start = shifted(range.start); break;
        case 1: range.extent = range.max_extent = std::max<std::int64_t>(1, range.max_extent - 1); break;
        default: change(dma->buffer, true);
      }
    } else if (auto* wait = std::get_if<Wait>(&node)) {
      if (wait->slot) change(*wait->slot, false);
    } else if (auto* fill = std::get_if<Fill>(&node)) {
      change(fill->buffer, false);
    } else if (auto* guard = std::get_if<Guard>(&node)) {
      guard->any_positive[0] += draw(2) == 0 ? 1 : -1;
    } else if (auto* compute = std::get_if<Compute>(&node)) {
      change(draw(2) == 0 ? compute->output_buffer : *compute->read_buffers[ReadId(1)], true);
    }
    return node;
  }

  std::mt19937& random_;
};

TEST_CASE("what is accepted computes the same, whenever its data moves", "[slots]") {
  const unsigned seed = 7;
  std::mt19937 random(seed);
  int accepted = 0, seen_in_numbers = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const std::string good = std::array{double_buffered, peeled, across, single_slot}[random() % 4];
    Edits edits(random);
    const auto edited = edited_nest(parsed(good), edits, random, [](const LoopNest& nest) { return verdict(nest); });
    if (!edited) continue;
    const auto& [nest, found] = *edited;
    INFO("seed " << seed << ", trial " << trial << "\n" << to_text(nest) << found);
    if (found == "sound") {
      ++accepted;
      REQUIRE(wrong_elements(nest) == 0);
      continue;
    }
    seen_in_numbers += wrong_elements(nest) > 0 ? 1 : 0;
  }
  CHECK(accepted > 100);
  CHECK(seen_in_numbers > 1000);
}

TEST_CASE("damaged texts with slots are refused or judged, never more", "[slots]") {
  const unsigned seed = 19;
  std::mt19937 random(seed);
  const std::string alphabet = "[]()%/*+-0123456789 kyo:,";
  const std::string header = double_buffered.substr(0, double_buffered.find("  body {"));
  for (int trial = 0; trial < 4000; ++trial) {
    std::string text = trial % 2 == 0 ? double_buffered : across;
    for (std::uint64_t change = 0; change < 1 + random() % 3; ++change)
      damage(text, header.size(), alphabet, trial % 3, random);
    CAPTURE(seed, trial, text);
    if (const auto nest = read_or_refused(text)) CHECK_NOTHROW(verify(*nest, Target{}));
  }
  const auto loop_of = [&](const std::string& trips) {
    return verdict(replaced(double_buffered, "for ko < 4 of k", "for ko < " + trips + " of k"));
  };
  CHECK_THAT(loop_of("1000000000000"), Catch::StartsWith("transfer-in-tensor") ||
                                           Catch::StartsWith("compute-in-stage") || Catch::StartsWith("unchecked"));
  const auto with_slots = [&](const std::string& slots) {
    return verdict(replaced(double_buffered, "slots 2\n",
                            "slots 2\n  buffer ZZ f32[0,0] at 0, 0 bytes = A[0, 0] slots " + slots + "\n"));
  };
  CHECK(with_slots("1020") == "sound");
  CHECK(with_slots("1021") == "unchecked: the buffers have too many slots");
}

}  // namespace
}  // namespace stowage::slots_edits_test
