// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace stowage {

/// What is wrong with a folder; becomes one diagnostic.
class Damage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace stowage
