// SPDX-License-Identifier: Apache-2.0
// A table that is indexed by its own kind of id, so that an index into another one does not compile.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace stowage {

/// All ids of a table, first to last.
template <class IdType>
class IdRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = IdType;
    using difference_type = std::ptrdiff_t;
    using pointer = const IdType*;
    using reference = IdType;

    Iterator() = default;
    explicit Iterator(std::size_t at) : at_(at) {}
    IdType operator*() const { return IdType(at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    std::size_t at_ = 0;
  };

  explicit IdRange(std::size_t size) : size_(size) {}
  [[nodiscard]] Iterator begin() const { return Iterator(0); }
  [[nodiscard]] Iterator end() const { return Iterator(size_); }

 private:
  std::size_t size_;
};

template <class IdType, class T>
class IdVector {
 public:
  using value_type = T;
  using Reference = typename std::vector<T>::reference;
  using ConstReference = typename std::vector<T>::const_reference;

  IdVector() = default;
  IdVector(std::initializer_list<T> entries) : entries_(entries) {}
  explicit IdVector(std::size_t size, const T& value = T()) : entries_(size, value) {}
  explicit IdVector(std::vector<T> entries) : entries_(std::move(entries)) {}

  Reference operator[](IdType id) { return entries_[id.index()]; }
  ConstReference operator[](IdType id) const { return entries_[id.index()]; }
  /// Throws std::out_of_range where there is no such entry.
  Reference at(IdType id) { return entries_.at(id.index()); }
  [[nodiscard]] ConstReference at(IdType id) const { return entries_.at(id.index()); }
  [[nodiscard]] bool contains(IdType id) const { return id.index() < entries_.size(); }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] IdRange<IdType> ids() const { return IdRange<IdType>(entries_.size()); }
  /// What push_back would number the next entry.
  [[nodiscard]] IdType next_id() const { return IdType(entries_.size()); }
  /// Of one of the entries.
  [[nodiscard]] IdType id_of(const T& entry) const {
    return IdType(static_cast<std::size_t>(&entry - entries_.data()));
  }

  IdType push_back(T entry) {
    entries_.push_back(std::move(entry));
    return IdType(entries_.size() - 1);
  }
  void assign(std::size_t size, const T& value) { entries_.assign(size, value); }
  void resize(std::size_t size) { entries_.resize(size); }
  void reserve(std::size_t size) { entries_.reserve(size); }
  void pop_back() { entries_.pop_back(); }
  /// The entries behind it get the ids before theirs.
  void erase(IdType id) { entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(id.index())); }

  [[nodiscard]] auto begin() { return entries_.begin(); }
  [[nodiscard]] auto end() { return entries_.end(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }
  Reference front() { return entries_.front(); }
  [[nodiscard]] ConstReference front() const { return entries_.front(); }
  Reference back() { return entries_.back(); }
  [[nodiscard]] ConstReference back() const { return entries_.back(); }

  friend bool operator==(const IdVector&, const IdVector&) = default;

 private:
  std::vector<T> entries_;
};

}  // namespace stowage
