// SPDX-License-Identifier: Apache-2.0
// Edits of nests and of their texts by chance, for property tests of what moves when.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "core/check.h"
#include "lowering/ir/renumber.h"
#include "lowering/ir/rewrite.h"
#include "parsed_nest.h"

namespace stowage::fixtures {

/// A statement that goes before or behind another one, or stands there too, under a number that no other has.
struct Move {
  const Stmt& moved;
  const Stmt& to;
  bool behind = false;
  bool stays = false;
};

/// What a move makes of a statement of the nest.
inline Replacement moved(const Stmt& s, const Move& move) {
  if (s.id == move.to.id && move.to.id != move.moved.id) {
    const auto kept = std::make_shared<const Stmt>(s);
    const StatementId id = move.stays ? StatementId(1000) : move.moved.id;
    const auto added = std::make_shared<const Stmt>(Stmt{id, move.moved.node, move.moved.note});
    return move.behind ? Block{kept, added} : Block{added, kept};
  }
  if (!move.stays && s.id == move.moved.id) return Block{};
  return std::nullopt;
}

struct EditedNest {
  LoopNest nest;
  std::string verdict;
};

/// One to three edits, and what is said of the nest then. Nothing where a wait has lost its transfer: it has no number
/// to wait for.
template <class Edits, class Verdict>
std::optional<EditedNest> edited_nest(LoopNest nest, Edits& edits, std::mt19937& random, const Verdict& verdict) try {
  const std::uint64_t changes = 1 + random() % 3;
  for (std::uint64_t change = 0; change < changes; ++change) {
    nest = edits.edited(std::move(nest));
    nest.body = renumbered(nest.body);
  }
  std::string found = verdict(nest);
  return EditedNest{std::move(nest), std::move(found)};
} catch (const InternalError&) {
  return std::nullopt;
}

/// Another character behind `from` (how = 0), one more (1), or up to three fewer (2); where that is.
inline std::size_t damage(std::string& text, std::size_t from, const std::string& alphabet, int how,
                          std::mt19937& random) {
  const std::size_t at = from + random() % (text.size() - from);
  const char with = alphabet[random() % alphabet.size()];
  if (how == 0) text[at] = with;
  if (how == 1) text.insert(at, 1, with);
  if (how == 2) text.erase(at, 1 + random() % 3);
  return at;
}

/// The nest of a damaged text, which reads back as it was written; nothing where that is refused, with an error.
inline std::optional<LoopNest> read_or_refused(const std::string& text) {
  Diagnostics diagnostics;
  auto nest = parse_loop_nest(text, diagnostics);
  REQUIRE(static_cast<bool>(nest) != diagnostics.has_errors());
  if (!nest) return std::nullopt;
  REQUIRE(to_text(parsed(to_text(*nest))) == to_text(*nest));
  return *std::move(nest);
}

}  // namespace stowage::fixtures
