// SPDX-License-Identifier: Apache-2.0
// Names of rules that several parts refuse by or ask for (fusion/rules/legality.cpp says what each of them is).
#pragma once

namespace stowage {

inline constexpr const char* ldm_capacity_rule = "ldm-capacity";
inline constexpr const char* dma_alignment_rule = "dma-alignment";
inline constexpr const char* schedule_rule = "schedule";  ///< what a person fixed cannot be completed
inline constexpr const char* fixed_rule = "fixed";        ///< a person fixed groups otherwise
inline constexpr const char* stopped_rule = "stopped";    ///< nothing was found out any more

}  // namespace stowage
