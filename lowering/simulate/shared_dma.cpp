// SPDX-License-Identifier: Apache-2.0
#include "lowering/simulate/shared_dma.h"

#include <algorithm>

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

void SharedDma::push(std::vector<Due>& heap, std::int64_t at, int transfer) {
  heap.push_back({at, transfer, ++pushed_});
  std::push_heap(heap.begin(), heap.end(), later);
}

int SharedDma::pop(std::vector<Due>& heap) {
  std::pop_heap(heap.begin(), heap.end(), later);
  const int transfer = heap.back().transfer;
  heap.pop_back();
  return transfer;
}

int SharedDma::start(std::int64_t moves, std::int64_t parts, std::int64_t cores, std::size_t queue) {
  int number = 0;
  if (free_.empty()) {
    number = static_cast<int>(transfers_.size());
    transfers_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  transfers_[static_cast<std::size_t>(number)] = {moves, parts, 0, cores, queue, false};
  push(starting_, moves, number);
  return number;
}

void SharedDma::move(int number) {
  Transfer& transfer = transfers_[static_cast<std::size_t>(number)];
  transfer.is_moving = true;
  transfer.moves = now_;
  transfer.ends = served_ + transfer.parts;
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
  return next;
}

const std::vector<int>& SharedDma::advance(std::int64_t cycle) {
  if (moving_ > 0) {
    served_ += product_over(cycle - now_, parts_of_cycle, moving_, false);
    busy_ += cycle - now_;
  }
  now_ = cycle;
  free_.insert(free_.end(), ended_.begin(), ended_.end());
  ended_.clear();
  while (!starting_.empty() && starting_.front().at <= now_) {
    const int number = pop(starting_);
    if (order_ == DmaOrder::queued) {
      const std::size_t queue = transfers_[static_cast<std::size_t>(number)].queue;
      if (queue >= queues_.size()) queues_.resize(queue + 1);
      queues_[queue].push_back(number);
      if (queues_[queue].size() > 1) continue;
    }
    move(number);
  }
  while (!ending_.empty() && ending_.front().at <= served_) {
    const int number = pop(ending_);
    const Transfer& transfer = transfers_[static_cast<std::size_t>(number)];
    moving_ -= transfer.cores;
    ended_.push_back(number);
    if (order_ == DmaOrder::shared) continue;
    std::vector<int>& queue = queues_[transfer.queue];
    queue.erase(queue.begin());
    if (!queue.empty()) move(queue.front());
  }
  return ended_;
}

SharedDma::Progress SharedDma::progress_of(int transfer) const {
  const Transfer& of = transfers_[static_cast<std::size_t>(transfer)];
  return {of.is_moving, of.is_moving ? of.ends - served_ : of.moves - now_};
}

void SharedDma::skip(std::int64_t cycles, std::int64_t busy) {
  now_ += cycles;
  busy_ += busy;
  for (Due& due : starting_) due.at += cycles;
  for (Transfer& transfer : transfers_) transfer.moves += cycles;
}

}  // namespace stowage
