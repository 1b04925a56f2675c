// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inspector/tables/table.h"

namespace stowage::inspector {

/// A table of the driver, each row with the subject that it stands for.
Table placed(PlanTable from);

}  // namespace stowage::inspector
