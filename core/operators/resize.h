// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/operators/define.h"

namespace stowage::operators {

OperatorRow resize_row();

}  // namespace stowage::operators
