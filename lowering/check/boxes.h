// SPDX-License-Identifier: Apache-2.0
// Boxes of elements and what is left of them: the arithmetic by which the checker knows what a slot holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stowage {

/// Elements low .. end - 1 of every dimension, highest first; of no dimension one element.
struct ElementBox {
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> end;

  [[nodiscard]] bool is_empty() const;
  [[nodiscard]] bool holds(const ElementBox& other) const;
  friend bool operator==(const ElementBox&, const ElementBox&) = default;
};

/// All elements of a tensor or buffer.
ElementBox whole(const std::vector<std::int64_t>& extents);
/// The box moved in each dimension by `by` elements, times the sign.
ElementBox moved(ElementBox box, const std::vector<std::int64_t>& by, std::int64_t sign);
/// "[0:16, 4:8]".
std::string text_of(const ElementBox& box);

/// Boxes have the same number of dimensions.
bool overlap(const ElementBox& a, const ElementBox& b);
ElementBox common(const ElementBox& a, const ElementBox& b);

/// Boxes without common elements that hold what `from` has and `taken` has not.
std::vector<ElementBox> without(const ElementBox& from, const ElementBox& taken);

/// Of `wanted` what none of these boxes holds; empty where they hold all of it.
std::vector<ElementBox> missing(const ElementBox& wanted, const std::vector<const ElementBox*>& held);

}  // namespace stowage
