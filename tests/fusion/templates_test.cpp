// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "fusion/pattern.h"
#include "fusion/template.h"

using namespace stowage;

TEST_CASE("the built-in templates are read") { CHECK(built_in_templates().size() == 5); }
