// SPDX-License-Identifier: Apache-2.0
// Matrices transposed in memory: how weights come into the order in which kernels read them.
#pragma once

#include <cstddef>
#include <span>

namespace stowage {

/// `from` holds matrices of rows x columns elements of `width` bytes (1, 2, 4 or 8), one behind the other; `to`, which
/// is as long and does not overlap it, gets each of them transposed. Large ones are done on all of the host's cores.
void transpose_each(std::span<const std::byte> from, std::span<std::byte> to, int width, std::size_t rows,
                    std::size_t columns);

}  // namespace stowage
