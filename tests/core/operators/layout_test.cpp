// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "run_operator.h"

using namespace stowage;
using namespace stowage::test;
