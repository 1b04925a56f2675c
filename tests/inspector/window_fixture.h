// SPDX-License-Identifier: Apache-2.0
// Plans to look at, and the few things that every test of a window needs.
#pragma once

#include <QString>
#include <functional>
#include <string>

#include "inspector/state/document.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::test {

/// "matmul" (the papers', one core) or "lenet": the samples that the build compiled.
QString sample_folder(const std::string& name);
/// Read on a thread of its own, as the window does; once per program.
inspector::PlanPtr sample_plan(const std::string& name);

/// Lets events happen until something holds; false after `seconds`.
bool wait_until(const std::function<bool()>& holds, double seconds = 20);

}  // namespace stowage::test
