// SPDX-License-Identifier: Apache-2.0
#include "lowering/simulate/shared_dma.h"

#include <algorithm>

#include "core/check.h"
#include "lowering/simulate/execution_cost.h"

namespace stowage {
namespace {

__extension__ using Wide = unsigned __int128;

/// a * b / c without overflow on the way.
std::int64_t product_over(std::int64_t a, std::int64_t b, std::int64_t c, bool up) {
  const Wide product = static_cast<Wide>(a) * static_cast<Wide>(b);
  const auto divisor = static_cast<Wide>(c);
  return static_cast<std::int64_t>((product + (up ? divisor - 1 : 0)) / divisor);
}

}  // namespace

void SharedDma::push(std::vector<Due>& heap, std::int64_t at, std::size_t transfer) {
  heap.push_back({at, transfer, ++pushed_});
  std::push_heap(heap.begin(), heap.end(), later);
}

std::size_t SharedDma::pop(std::vector<Due>& heap) {
  std::pop_heap(heap.begin(), heap.end(), later);
  const std::size_t transfer = heap.back().transfer;
  heap.pop_back();
  return transfer;
}

std::size_t SharedDma::start(std::int64_t moves, std::int64_t parts, std::int64_t least, std::int64_t cores,
                             std::size_t queue) {
  std::size_t number = 0;
  if (free_.empty()) {
    number = transfers_.size();
    transfers_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  transfers_[number] = {moves, parts, 0, 0, least, cores, queue, Transfer::Phase::waits};
  if (queue >= takes_from_.size()) takes_from_.resize(queue + 1, 0);
  push(starting_, moves, number);
  return number;
}

void SharedDma::move(std::size_t number) {
  Transfer& transfer = transfers_[number];
  transfer.phase = Transfer::Phase::moves;
  transfer.moves = now_;
  transfer.ends = served_ + transfer.parts;
  std::int64_t& takes_from = takes_from_[transfer.queue];
  transfer.taken = std::max(now_, takes_from);
  takes_from = transfer.taken + transfer.least;
  moving_ += transfer.cores;
  push(ending_, transfer.ends, number);
}

std::int64_t SharedDma::next_event() const {
  std::int64_t next = never;
  if (!starting_.empty()) next = starting_.front().at;
  if (!ending_.empty()) {
    const std::int64_t left = std::max<std::int64_t>(0, ending_.front().at - served_);
    next = std::min(next, now_ + product_over(left, moving_, parts_of_cycle, true));
  }
  if (!draining_.empty()) next = std::min(next, draining_.front().at);
  return next;
}

const std::vector<std::size_t>& SharedDma::advance(std::int64_t cycle) {
  if (moving_ > 0) {
    served_ += product_over(cycle - now_, parts_of_cycle, moving_, false);
    busy_ += cycle - now_;
  }
  now_ = cycle;
  free_.insert(free_.end(), ended_.begin(), ended_.end());
  ended_.clear();
  while (!starting_.empty() && starting_.front().at <= now_) {
    const std::size_t number = pop(starting_);
    if (order_ == DmaOrder::queued) {
      const std::size_t queue = transfers_[number].queue;
      if (queue >= queues_.size()) queues_.resize(queue + 1);
      queues_[queue].push_back(number);
      if (queues_[queue].size() > 1) continue;
    }
    move(number);
  }
  // What queues up behind one that ends may end in the same cycle, if it needs nothing.
  while ((!ending_.empty() && ending_.front().at <= served_) || (!draining_.empty() && draining_.front().at <= now_)) {
    if (!draining_.empty() && draining_.front().at <= now_) {
      end(pop(draining_));
      continue;
    }
    const std::size_t number = pop(ending_);
    Transfer& transfer = transfers_[number];
    moving_ -= transfer.cores;
    transfer.phase = Transfer::Phase::served;
    push(draining_, std::max(now_, transfer.taken + transfer.least), number);
  }
  return ended_;
}

void SharedDma::end(std::size_t number) {
  ended_.push_back(number);
  if (order_ == DmaOrder::shared) return;
  std::vector<std::size_t>& queue = queues_[transfers_[number].queue];
  queue.erase(queue.begin());
  if (!queue.empty()) move(queue.front());
}

SharedDma::Progress SharedDma::progress_of(std::size_t transfer) const {
  const Transfer& of = transfers_[transfer];
  const auto phase = static_cast<std::int64_t>(of.phase);
  const std::int64_t taken_in = std::max<std::int64_t>(0, of.taken + of.least - now_);
  switch (of.phase) {
    case Transfer::Phase::waits: return {phase, of.moves - now_, 0};
    case Transfer::Phase::moves: return {phase, of.ends - served_, taken_in};
    case Transfer::Phase::served: return {phase, 0, taken_in};
  }
  fail_check("unknown phase of a transfer");
}

void SharedDma::skip(std::int64_t cycles, std::int64_t busy) {
  now_ += cycles;
  busy_ += busy;
  for (Due& due : starting_) due.at += cycles;
  for (Due& due : draining_) due.at += cycles;
  for (Transfer& transfer : transfers_) {
    transfer.moves += cycles;
    transfer.taken += cycles;
  }
  for (std::int64_t& takes_from : takes_from_) takes_from += cycles;
}

}  // namespace stowage
