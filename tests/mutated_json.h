// SPDX-License-Identifier: Apache-2.0
// Damages JSON files as careless editors, disks and adversaries do: an entry that is gone, double, of another type, or
// out of range, a word of a line that is another one; rarely a byte. What it does depends on the random numbers alone.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace stowage::test {

class JsonMutator {
 public:
  /// Mistakes are made below `places`, JSON pointers.
  JsonMutator(const std::string& text, std::vector<std::string> places, std::uint64_t seed)
      : text_(text), file_(nlohmann::ordered_json::parse(text)), places_(std::move(places)), random_(seed) {
    collect_words(file_);
    if (words_.empty()) words_.emplace_back();
  }

  /// The file with one to three mistakes.
  std::string next() {
    if (random_() % 20 == 0) return with_damaged_bytes();
    nlohmann::ordered_json damaged = file_;
    for (std::uint64_t mistakes = 1 + random_() % 3; mistakes > 0; --mistakes) {
      const nlohmann::ordered_json::json_pointer place(places_[below(places_.size())]);
      if (damaged.contains(place)) damage_somewhere(damaged.at(place));
    }
    return damaged.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

 private:
  using Json = nlohmann::ordered_json;

  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }

  /// Iterators of objects know no sums.
  static Json::iterator element(Json& around, std::size_t at) {
    auto found = around.begin();
    while (at-- > 0) ++found;
    return found;
  }

  void collect_words(const Json& json) {
    if (json.is_string()) {
      words_.push_back(json.get<std::string>());
      for (const std::string& part : split(words_.back())) words_.push_back(part);
    }
    if (json.is_structured()) {
      for (const Json& element : json) collect_words(element);
    }
  }

  /// Words, and what stands between them.
  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c < 0; };
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (parts.empty() || !in_word(text[i]) || !in_word(text[i - 1])) parts.emplace_back();
      parts.back() += text[i];
    }
    return parts;
  }

  std::string with_damaged_bytes() {
    std::string damaged = text_;
    switch (below(3)) {
      case 0: damaged.resize(below(damaged.size())); break;
      case 1: damaged[below(damaged.size())] = static_cast<char>(random_() % 256); break;
      default: damaged.insert(below(damaged.size()), 1 + below(300), "[{\"-0"[below(5)]); break;
    }
    return damaged;
  }

  Json another_value() {
    static const Json values = Json::parse(R"([null, true, -1, 0, 1, 2, 64, 1048576, 1099511627776,
        -9223372036854775808, 18446744073709551615, 0.5, 1e308, "", "-1", "99999999999999999999", "\u0000", "\u202e",
        [], {}, [["", ""]]])");
    if (below(8) == 0) return words_[below(words_.size())];
    return values[below(values.size())];
  }

  void damage_somewhere(Json& root) {
    Json* place = &root;
    Json* around = nullptr;
    std::size_t at = 0;
    while (place->is_structured() && !place->empty() && (around == nullptr || random_() % 12 != 0)) {
      around = place;
      at = below(place->size());
      place = &*element(*place, at);
    }
    if (around == nullptr) return;
    switch (below(8)) {
      case 0: around->erase(element(*around, at)); return;
      case 1:
        if (around->is_array()) {
          const Json copy = *place;
          around->insert(element(*around, below(around->size() + 1)), copy);
        }
        return;
      case 2: {
        Json& other = *element(*around, below(around->size()));
        if (&other != place) std::swap(other, *place);
        return;
      }
      case 3: *place = another_value(); return;
      default: break;
    }
    if (place->is_string() && random_() % 3 != 0) {
      std::vector<std::string> parts = split(place->get<std::string>());
      if (!parts.empty()) parts[below(parts.size())] = words_[below(words_.size())];
      std::string line;
      for (const std::string& part : parts) line += part;
      *place = line;
    } else if (place->is_string()) {
      *place = words_[below(words_.size())];
    } else if (place->is_number_integer()) {
      *place =
          static_cast<std::int64_t>(place->get<std::uint64_t>() + below(5) - 2);  // it may be at an end of the range
    } else {
      *place = another_value();
    }
  }

  std::string text_;
  Json file_;
  std::vector<std::string> places_;
  std::mt19937_64 random_;
  std::vector<std::string> words_;
};

}  // namespace stowage::test
