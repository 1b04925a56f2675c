// SPDX-License-Identifier: Apache-2.0
// Runs the bank machine's assembly: nothing is known here of graphs, stages or plans.
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "tests/backend/bank_machine.h"

namespace stowage::test {
namespace {

struct Term {
  std::int64_t factor = 0;
  std::size_t counter = 0;
};

/// A line of assembly as the machine holds it.
struct Line {
  std::string op;
  double (*unary)(double) = nullptr;
  double (*binary)(double, double) = nullptr;
  std::int64_t word = 0;  ///< of the SRAM
  std::vector<Term> terms;
  char area = 0;
  std::int64_t byte = 0;
  std::int64_t count = 0;
  std::int64_t rows = 1;
  std::int64_t apart = 0;
  double value = 0;
  std::size_t partner = 0;  ///< of a loop its end, of an end its loop
};

const std::map<std::string, double (*)(double)> unaries = {{"exp", [](double a) { return std::exp(a); }},
                                                           {"neg", [](double a) { return -a; }},
                                                           {"sqrt", [](double a) { return std::sqrt(a); }}};
const std::map<std::string, double (*)(double, double)> binaries = {{"+", [](double a, double b) { return a + b; }},
                                                                    {"-", [](double a, double b) { return a - b; }},
                                                                    {"*", [](double a, double b) { return a * b; }},
                                                                    {"/", [](double a, double b) { return a / b; }},
                                                                    {"min", [](double a, double b) { return b < a ? b : a; }},
                                                                    {"max", [](double a, double b) { return a < b ? b : a; }}};

[[noreturn]] void wrong(const std::string& what) { throw std::runtime_error(what); }

std::int64_t integer(const std::string& text, std::size_t from, std::size_t to) {
  std::int64_t value = 0;
  const char* const end = text.data() + std::min(to, text.size());
  const auto [stop, error] = std::from_chars(text.data() + from, end, value);
  if (error != std::errc() || stop != end) wrong("a number was wanted in '" + text + "'");
  return value;
}

class Machine {
 public:
  Machine(const Target& target, std::vector<std::byte>& parameters, std::vector<std::byte>& activations)
      : bank_words_(static_cast<std::int64_t>(target.own.at("bank_bytes")) / word_bytes),
        sram_(static_cast<std::size_t>(bank_words_ * static_cast<std::int64_t>(target.own.at("sram_banks")))),
        areas_{{'P', &parameters}, {'A', &activations}} {}

  [[nodiscard]] Line parse(const std::string& text) const {
    std::istringstream words(text);
    Line line;
    words >> line.op;
    std::string word;
    if (line.op == "load" || line.op == "store") {
      words >> word;
      line.word = integer(word, 1, word.size()) * bank_words_;
      words >> word;
      line.area = word.at(0);
      if (!areas_.contains(line.area)) wrong("no area '" + word + "'");
      line.byte = integer(word, 2, word.size());
      words >> line.count >> line.rows >> line.apart;
    } else if (line.op == "push" || line.op == "pop") {
      words >> word;
      const auto plus = word.find('+');
      line.word = integer(word, 1, plus) * bank_words_ + integer(word, plus + 1, word.size());
      while (words >> word) {
        const auto times = word.find("*r");
        line.terms.push_back(
            {integer(word, 0, times), static_cast<std::size_t>(integer(word, times + 2, word.size()))});
      }
    } else if (line.op == "loop") {
      words >> word >> line.count;
      line.word = integer(word, 1, word.size());
    } else if (line.op == "begin" || line.op == "number") {
      words >> word;
      line.value = std::stod(word);
    } else if (const auto one = unaries.find(line.op); one != unaries.end()) {
      line.unary = one->second;
    } else if (const auto two = binaries.find(line.op); two != binaries.end()) {
      line.binary = two->second;
    } else if (line.op != "end" && line.op != "acc" && line.op != "sum" && line.op != "least" && line.op != "most" &&
               line.op != "set") {
      wrong("no instruction '" + line.op + "'");
    }
    return line;
  }

  /// Runs one kernel; `at` is the line that runs, `counts` and `peak` what it has moved and reached.
  void run(std::vector<Line>& lines, std::size_t& at, std::vector<StatementCount>& counts, std::int64_t& peak) {
    std::fill(sram_.begin(), sram_.end(), std::numeric_limits<float>::quiet_NaN());  // of a kernel before
    std::vector<std::size_t> open;
    for (at = 0; at < lines.size(); ++at) {
      if (lines[at].op == "loop") open.push_back(at);
      if (lines[at].op != "end") continue;
      if (open.empty()) wrong("'end' without 'loop'");
      lines[at].partner = open.back();
      lines[open.back()].partner = at;
      open.pop_back();
    }
    if (!open.empty()) wrong("'loop' without 'end'");
    std::array<std::int64_t, 16> registers{};
    std::vector<double> stack;
    double accumulator = 0;
    const auto take = [&] {
      if (stack.empty()) wrong("the stack is empty");
      const double top = stack.back();
      stack.pop_back();
      return top;
    };
    const auto word_of = [&](const Line& line) -> float& {
      std::int64_t word = line.word;
      for (const Term& term : line.terms) word += term.factor * registers.at(term.counter);
      return word_at(word, peak);
    };
    for (at = 0; at < lines.size(); ++at) {
      const Line& line = lines[at];
      if (line.binary != nullptr) {
        const double b = take();
        stack.push_back(line.binary(take(), b));
      } else if (line.op == "push") {
        stack.push_back(static_cast<double>(word_of(line)));
      } else if (line.op == "sum") {
        accumulator += take();
      } else if (line.op == "end") {
        const Line& loop = lines[line.partner];
        std::int64_t& counter = registers.at(static_cast<std::size_t>(loop.word));
        if (++counter < loop.count) at = line.partner;
      } else if (line.op == "loop") {
        registers.at(static_cast<std::size_t>(line.word)) = 0;
        if (line.count < 1) at = line.partner;
      } else if (line.op == "most") {
        accumulator = std::max(accumulator, take());
      } else if (line.op == "least") {
        accumulator = std::min(accumulator, take());
      } else if (line.op == "set") {
        accumulator = take();
      } else if (line.op == "begin") {
        accumulator = line.value;
      } else if (line.op == "acc") {
        stack.push_back(accumulator);
      } else if (line.op == "number") {
        stack.push_back(line.value);
      } else if (line.op == "pop") {
        word_of(line) = static_cast<float>(take());
      } else if (line.unary != nullptr) {
        stack.push_back(line.unary(take()));
      } else {
        move(line, peak);
        StatementCount& count = counts.at(at);
        ++count.transfers;
        ++count.operations;
        count.bytes += line.count * line.rows * word_bytes;
      }
    }
  }

  [[nodiscard]] std::int64_t bank_words() const { return bank_words_; }

 private:
  float& word_at(std::int64_t word, std::int64_t& peak) {
    if (word < 0 || word >= static_cast<std::int64_t>(sram_.size())) {
      wrong(fmt::format("word {} lies outside of the SRAM, which has {}", word, sram_.size()));
    }
    peak = std::max(peak, word + 1);
    return sram_[static_cast<std::size_t>(word)];
  }

  void move(const Line& line, std::int64_t& peak) {
    std::vector<std::byte>& area = *areas_.at(line.area);
    for (std::int64_t row = 0; row < line.rows; ++row) {
      const std::int64_t byte = line.byte + row * line.apart * word_bytes;
      if (line.count < 1 || byte < 0 || byte + line.count * word_bytes > static_cast<std::int64_t>(area.size())) {
        wrong(fmt::format("{} words from byte {} lie outside of their area", line.count, byte));
      }
      const std::int64_t word = line.word + row * line.count;
      word_at(word + line.count - 1, peak);
      float& first = word_at(word, peak);
      const auto bytes = static_cast<std::size_t>(line.count) * sizeof(float);
      if (line.op == "load") std::memcpy(&first, area.data() + byte, bytes);
      if (line.op == "store") std::memcpy(area.data() + byte, &first, bytes);
    }
  }

  std::int64_t bank_words_;
  std::vector<float> sram_;
  std::map<char, std::vector<std::byte>*> areas_;
};

}  // namespace

Result<BankRun> simulate(const EmittedFile& file, const Target& target, std::vector<std::byte>& parameters,
                         std::vector<std::byte>& activations, const std::function<void(int kernel)>& after,
                         Diagnostics& diagnostics) {
  Machine machine(target, parameters, activations);
  BankRun run;
  std::vector<Line> lines;
  int first_line = 0;
  int number = 0;
  std::size_t at = 0;
  bool running = false;
  const auto run_kernel = [&] {
    const int kernel = static_cast<int>(run.counts.size());
    std::vector<StatementCount> counts(lines.size());
    std::int64_t peak = 0;
    running = true;
    machine.run(lines, at, counts, peak);
    running = false;
    run.counts.push_back(std::move(counts));
    run.peak_banks.push_back(ceil_div(peak, machine.bank_words()));
    after(kernel);
  };
  try {
    std::istringstream stream(file.text);
    for (std::string text; std::getline(stream, text);) {
      ++number;
      if (text.empty() || text.front() == ';') continue;
      if (text.starts_with("kernel ")) {
        if (first_line != 0) run_kernel();
        first_line = number + 1;
        lines.clear();
      } else {
        lines.push_back(machine.parse(text));
      }
    }
    if (first_line != 0) run_kernel();
  } catch (const std::exception& failure) {
    SourceLocation location;
    location.file = file.path;
    location.line = running ? first_line + static_cast<int>(at) : number;
    diagnostics.error("emulation-failed", location, failure.what());
    return Failed{};
  }
  return run;
}

}  // namespace stowage::test
