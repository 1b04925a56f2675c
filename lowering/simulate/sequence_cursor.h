// SPDX-License-Identifier: Apache-2.0
// A place in a core's sequence of requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowering/simulate/request_sequences.h"

namespace stowage {

/// What comes next: a request, several computations of so many cycles in all, with a request if all are like it, or
/// with neither the end.
struct SequenceStep {
  const Request* request = nullptr;
  std::int64_t cycles = 0;  ///< of a request that computes, too
  [[nodiscard]] bool is_end() const { return request == nullptr && cycles == 0; }
};

/// Whether what only computes is one step, that of one statement in the same slots is, or each computation is one.
enum class Computations : std::uint8_t { together, alike, each };

class SequenceCursor {
 public:
  /// A part of a sequence that is under way, and how often it was done before.
  struct Level {
    SequenceId sequence;
    std::size_t part = 0;
    std::int64_t done = 0;
  };
  static constexpr std::size_t no_level = static_cast<std::size_t>(-1);

  /// `all` must outlive it.
  SequenceCursor(const RequestSequences& all, SequenceId sequence, Computations computations);

  /// Goes on to what comes next.
  SequenceStep next();

  /// Outermost first; none at the end.
  [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }
  [[nodiscard]] std::int64_t times(std::size_t level) const { return part_at(levels_[level]).times; }
  /// The outermost level that has begun another time since this was asked last; no_level if none has.
  std::size_t take_repeated();
  /// As if a level had been done so many times more.
  void skip(std::size_t level, std::int64_t times) { levels_[level].done += times; }

 private:
  [[nodiscard]] const SequencePart& part_at(const Level& level) const {
    return all_->sequences[level.sequence].parts[level.part];
  }
  /// The innermost level's part was done once more.
  void done_once();

  const RequestSequences* all_;
  Computations computations_;
  std::vector<Level> levels_;
  std::size_t repeated_ = no_level;
};

}  // namespace stowage
