// SPDX-License-Identifier: Apache-2.0
// Plays the bank machine: nothing is known here of graphs, stages or plans.
#include <array>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>

#include "core/index.h"
#include "core/scalar_operation.h"
#include "tests/backend/bank_machine.h"

namespace stowage::test {
namespace {

class Machine {
 public:
  Machine(const Target& target, MemoryImage& memory)
      : memory_(memory),
        bank_words_(static_cast<std::int64_t>(target.own.at("bank_bytes")) / word_bytes),
        sram_(at(bank_words_ * static_cast<std::int64_t>(target.own.at("sram_banks"))),
              std::numeric_limits<float>::quiet_NaN()) {}

  /// Takes the next line.
  void add(const std::string& line) {
    std::istringstream stream(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    const std::string& op = words.at(0);
    const auto number = [&](std::size_t word) { return std::stoll(words.at(word)); };
    if (op == "tensor") {
      const bool is_parameter = words.at(2).starts_with("P+");
      const auto area = is_parameter ? MemoryAllocation::Area::parameters : MemoryAllocation::Area::activations;
      tensors_[words[1]] = {memory_.area(area), std::stoll(words[2].substr(2))};
    } else if (op == "load" || op == "store") {
      std::vector<Dimension> box;
      for (std::size_t w = 4; w < words.size(); w += 2) box.push_back({number(w), number(w + 1) * word_bytes});
      Address address = tensors_.at(words.at(1));
      address.byte += number(2) * word_bytes;
      code_.emplace_back([this, address, box, loads = op == "load", first = number(3) * bank_words_] {
        const std::int64_t words_moved = move(loads, address, box, first) - first;
        moved_[StatementId(running_)] = {1, 1, words_moved * word_bytes, {}, {}};
      });
    } else if (op == "loop") {
      loops_.push_back({&registers_.at(at(number(1))), number(3), code_.size()});
      code_.emplace_back([loop = loops_.back(), from = number(2)] { *loop.counter = from; });
    } else if (op == "end") {
      code_.emplace_back([this, loop = loops_.at(loops_.size() - 1)] {
        if (++*loop.counter < loop.bound) next_ = loop.begin + 1;
      });
      loops_.pop_back();
    } else if (op == "number") {
      code_.emplace_back([this, value = std::stod(words.at(1))] { stack_.push_back(value); });
    } else if (op == "push" || op == "pop") {
      std::vector<Term> terms;
      for (std::size_t w = 3; w < words.size(); w += 2) terms.push_back({number(w), &registers_.at(at(number(w + 1)))});
      code_.emplace_back([this, terms, first = number(1) * bank_words_ + number(2), pushes = op == "push"] {
        std::int64_t word = first;
        for (const Term& term : terms) word += term.factor * *term.counter;
        if (pushes) stack_.push_back(static_cast<double>(word_at(word)));
        if (!pushes) word_at(word) = static_cast<float>(take());
      });
    } else if (op == "set") {
      code_.emplace_back([this] { accumulator_ = take(); });
    } else if (op == "acc") {
      code_.emplace_back([this] { stack_.push_back(accumulator_); });
    } else if (const auto unary = find_unary(op)) {
      with_float_operation(*unary, [&](auto of) { code_.emplace_back([this, of] { stack_.push_back(of(take())); }); });
    } else if (const auto binary = find_binary(op)) {
      with_float_operation(*binary, [&](auto of) {
        code_.emplace_back([this, of] {
          const double second = take();
          stack_.push_back(of(take(), second));
        });
      });
    } else {
      throw std::runtime_error("no instruction '" + op + "'");
    }
  }

  KernelRun run() {
    moved_ = IdVector<StatementId, DmaTotals>(code_.size());
    while (next_ < code_.size()) {
      running_ = next_++;
      code_[running_]();
    }
    return {moved_, ceil_div(used_words_, bank_words_) * bank_words_ * word_bytes};
  }

  /// Instructions behind the one that runs; none while lines are taken.
  [[nodiscard]] std::size_t behind() const { return next_ > 0 ? code_.size() - running_ - 1 : 0; }

 private:
  struct Address {
    std::span<std::byte> area;
    std::int64_t byte;
  };
  struct Dimension {
    std::int64_t extent;
    std::int64_t stride;  ///< bytes in main memory
  };
  struct Term {
    std::int64_t factor;
    const std::int64_t* counter;
  };
  struct Loop {
    std::int64_t* counter;
    std::int64_t bound;
    std::size_t begin;
  };

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
  std::int64_t move(bool loads, const Address& address, std::span<const Dimension> box, std::int64_t word) {
    if (!box.empty()) {
      for (std::int64_t i = 0; i < box.back().extent; ++i) {
        word = move(loads, {address.area, address.byte + i * box.back().stride}, box.first(box.size() - 1), word);
      }
      return word;
    }
    const auto& [area, byte] = address;
    if (byte < 0 || at(byte + word_bytes) > area.size()) throw std::runtime_error("a word outside of its area");
    if (loads) std::memcpy(&word_at(word), &area[at(byte)], sizeof(float));
    if (!loads) std::memcpy(&area[at(byte)], &word_at(word), sizeof(float));
    return word + 1;
  }

  MemoryImage& memory_;
  std::int64_t bank_words_;
  std::vector<float> sram_;
  std::int64_t used_words_ = 0;
  std::vector<double> stack_;
  double accumulator_ = 0;
  std::array<std::int64_t, 16> registers_{};
  std::map<std::string, Address> tensors_;
  std::vector<std::function<void()>> code_;
  std::vector<Loop> loops_;  ///< that have no end yet
  std::size_t next_ = 0;
  std::size_t running_ = 0;
  IdVector<StatementId, DmaTotals> moved_;
};

}  // namespace

Result<KernelRun> play(const EmittedFile& kernel, const Target& target, MemoryImage& memory, Diagnostics& diagnostics) {
  Machine machine(target, memory);
  std::size_t lines = 1;
  try {
    std::istringstream text(kernel.text);
    std::string line;
    for (std::getline(text, line); std::getline(text, line); machine.add(line)) ++lines;  // behind the signature
    return machine.run();
  } catch (const std::exception& failure) {
    SourceLocation location;
    location.file = kernel.path;
    location.line = static_cast<int>(lines - machine.behind());
    diagnostics.error("emulation-failed", location, failure.what());
    return Failed{};
  }
}

}  // namespace stowage::test
