// SPDX-License-Identifier: Apache-2.0
// Several lambdas as one visitor: std::visit(Overloaded{[](const A&) { … }, [](const B&) { … }}, variant).
#pragma once

namespace stowage {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace stowage
