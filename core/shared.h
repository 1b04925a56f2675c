// SPDX-License-Identifier: Apache-2.0
// Values that many hold and nobody changes.
#pragma once

#include <memory>
#include <utility>

namespace stowage {

/// A value that copies of this share: as the value itself to whoever reads it.
template <class Value>
class Shared {
 public:
  Shared() : Shared(Value{}) {}
  Shared(Value value) : value_(std::make_shared<const Value>(std::move(value))) {}
  operator const Value&() const { return *value_; }
  const Value& operator*() const { return *value_; }
  const Value* operator->() const { return value_.get(); }

 private:
  std::shared_ptr<const Value> value_;
};

}  // namespace stowage
