// SPDX-License-Identifier: Apache-2.0
// Heights of addresses in a picture of memory. Where everything is large enough they are to scale; otherwise what is
// small gets a readable height and what is free gives way, piece by piece, in the order of addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/drawing/sheet.h"

namespace stowage::drawing {

class AddressAxis {
 public:
  /// A stretch of memory that somebody wants to see, or only where it ends.
  struct Piece {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    bool free = false;  ///< counts as free
  };
  /// From address 0 at `bottom` to `top_address` at `top` (pixels, growing downwards). Stretches that no piece covers
  /// count as free. Each of the stretches between ends of pieces gets at least `least` pixels, if there is room; with 0
  /// all is to scale.
  AddressAxis(std::int64_t top_address, const std::vector<Piece>& pieces, double top, double bottom, double least);

  [[nodiscard]] double y(double address) const;
  [[nodiscard]] bool to_scale() const { return to_scale_; }
  /// Where stretches meet, ascending, 0 and the top among them.
  [[nodiscard]] const std::vector<std::int64_t>& ends() const { return ends_; }

 private:
  std::vector<std::int64_t> ends_;
  std::vector<double> heights_;  ///< of ends_, pixels
  bool to_scale_ = true;
};

/// Addresses left of an area, as many as have room, with lines across it: round ones where they are to scale, otherwise
/// those where stretches meet. The ends always have theirs.
void add_addresses(Scene& scene, const Sheet& sheet, const Box& area, const AddressAxis& axis);
/// Width that addresses up to a size take.
double address_width(const Sheet& sheet, std::int64_t most);

}  // namespace stowage::drawing
