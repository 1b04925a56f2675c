// SPDX-License-Identifier: Apache-2.0
// What a planner has proved of a plan, in plan.json and in what compile prints.
#pragma once

#include "driver/json/json.h"
#include "lowering/model/certificate.h"
#include "lowering/program/program.h"

namespace stowage {

Json to_json(const Certificate& certificate);
/// Throws Damage, or what the JSON library does.
Certificate read_certificate(const Json& json);

/// One for every fused operator that has one, with its name as "op".
Json certificates_json(const Program& program);

}  // namespace stowage
