// SPDX-License-Identifier: Apache-2.0
// Plays the bank machine: nothing is known here of graphs, stages or plans.
#include <array>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "core/index.h"
#include "core/scalar_operation.h"
#include "tests/backend/bank_machine.h"

namespace stowage::test {
namespace {

using Instruction = std::function<void()>;

std::span<std::byte> part_of(std::span<std::byte> bytes, std::int64_t from, std::int64_t count) {
  if (from < 0 || count < 0 || at(from + count) > bytes.size()) throw std::runtime_error("a word outside of its area");
  return bytes.subspan(at(from), at(count));
}

class Machine {
 public:
  Machine(const Target& target, MemoryImage& memory)
      : memory_(memory),
        bank_words_(own_number(target, "bank_bytes") / word_bytes),
        sram_(at(bank_words_ * own_number(target, "sram_banks")), std::numeric_limits<float>::quiet_NaN()) {}

  KernelRun run(const std::string& text) {
    std::vector<Instruction> code;
    try {
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line); ++running_) {
        std::istringstream words(line);
        code.push_back(instruction({std::istream_iterator<std::string>(words), {}}));
      }
      while (next_ < code.size()) {
        running_ = next_++;
        code[running_]();
      }
    } catch (const std::exception& failure) {
      throw LineFailed{static_cast<int>(running_) + 1, failure.what()};
    }
    ran_.peak_bytes = ceil_div(used_words_, bank_words_) * bank_words_ * word_bytes;
    return ran_;
  }

 private:
  struct Dimension {
    std::int64_t extent;
    std::int64_t stride;  ///< bytes in main memory
  };
  struct Loop {
    std::int64_t* counter;
    std::int64_t bound;
    std::size_t line;
  };

  /// What the line that is read does when it runs.
  Instruction instruction(const std::vector<std::string>& words) {
    const std::string& op = words.at(0);
    const auto number = [&](std::size_t word) { return std::stoll(words.at(word)); };
    if (op == ";") return [] {};
    if (op == "tensor") {
      using Area = MemoryAllocation::Area;
      const auto area = memory_.area(words.at(2).starts_with("P+") ? Area::parameters : Area::activations);
      const std::int64_t offset = std::stoll(words[2].substr(2));
      tensors_[words[1]] = part_of(area, offset, std::ssize(area) - offset);
      return [] {};
    }
    if (op == "load" || op == "store") {
      std::vector<Dimension> box;
      for (std::size_t w = 4; w < words.size(); w += 2) box.push_back({number(w), number(w + 1) * word_bytes});
      return [this, tensor = tensors_.at(words.at(1)), from = number(2) * word_bytes, first = number(3) * bank_words_,
              box, loads = op == "load"] {
        const std::int64_t moved = move(loads, tensor, from, box, first) - first;
        ran_.transfers[static_cast<int>(running_) + 1] = {1, 1, moved * word_bytes, {}, {}};
      };
    }
    if (op == "loop") {
      loops_.push_back({&registers_.at(at(number(1))), number(3), running_});
      return [loop = loops_.back(), from = number(2)] { *loop.counter = from; };
    }
    if (op == "end") {
      const Loop loop = loops_.at(loops_.size() - 1);
      loops_.pop_back();
      return [this, loop] {
        if (++*loop.counter < loop.bound) next_ = loop.line + 1;
      };
    }
    if (op == "number") return [this, value = std::stod(words.at(1))] { stack_.push_back(value); };
    if (op == "push" || op == "pop") {
      std::vector<std::pair<std::int64_t, const std::int64_t*>> terms;
      for (std::size_t w = 3; w < words.size(); w += 2)
        terms.emplace_back(number(w), &registers_.at(at(number(w + 1))));
      return [this, terms, first = number(1) * bank_words_ + number(2), pushes = op == "push"] {
        std::int64_t word = first;
        for (const auto& [factor, counter] : terms) word += factor * *counter;
        if (pushes) stack_.push_back(static_cast<double>(word_at(word)));
        if (!pushes) word_at(word) = static_cast<float>(take());
      };
    }
    Instruction computes;
    if (const auto unary = find_unary(op)) {
      with_float_operation(*unary, [&](auto of) { computes = [this, of] { stack_.push_back(of(take())); }; });
    } else if (const auto binary = find_binary(op)) {
      with_float_operation(*binary, [&](auto of) {
        computes = [this, of] {
          const double second = take();
          stack_.push_back(of(take(), second));
        };
      });
    } else {
      throw std::runtime_error("no instruction '" + op + "'");
    }
    return computes;
  }

  double take() {
    const double top = stack_.at(stack_.size() - 1);
    stack_.pop_back();
    return top;
  }

  float& word_at(std::int64_t word) {
    used_words_ = std::max(used_words_, word + 1);
    return sram_.at(at(word));
  }

  /// Moves a box, whose innermost dimension is its first, and says which word of the SRAM is behind it.
  std::int64_t move(bool loads, std::span<std::byte> tensor, std::int64_t byte, std::span<const Dimension> box,
                    std::int64_t word) {
    if (box.empty()) {
      std::byte* const outside = part_of(tensor, byte, word_bytes).data();
      if (loads) std::memcpy(&word_at(word), outside, sizeof(float));
      if (!loads) std::memcpy(outside, &word_at(word), sizeof(float));
      return word + 1;
    }
    for (std::int64_t i = 0; i < box.back().extent; ++i) {
      word = move(loads, tensor, byte + i * box.back().stride, box.first(box.size() - 1), word);
    }
    return word;
  }

  MemoryImage& memory_;
  std::int64_t bank_words_;
  std::vector<float> sram_;
  std::int64_t used_words_ = 0;
  std::vector<double> stack_;
  std::array<std::int64_t, 16> registers_{};
  std::map<std::string, std::span<std::byte>> tensors_;  ///< from the first byte of each
  std::vector<Loop> loops_;                              ///< that have no end yet
  std::size_t running_ = 0;                              ///< line that is read or runs, from 0
  std::size_t next_ = 0;
  KernelRun ran_;
};

}  // namespace

KernelRun play_banks(const std::string& text, const Target& target, MemoryImage& memory) {
  return Machine(target, memory).run(text);
}

}  // namespace stowage::test
