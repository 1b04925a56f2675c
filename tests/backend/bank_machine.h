// SPDX-License-Identifier: Apache-2.0
// An invented family of targets, to show that nothing but its backend has to know a machine. The bank machine has one
// core beside an SRAM of banks, each of which holds a part of one tensor, and runs a text of stack instructions:
//
//     tensor 1 P+512        tensor 1 lies among the parameters (A: activations) from that byte on
//     load 1 64 3 80 1 16 500
//                           its words from word 64 on, to the SRAM from bank 3 on: 80, 1 apart, and that 16 times, 500
//                           apart
//     loop 0 8 24           register 0 from 8 to 23
//     number 0              onto the stack
//     push 3 7 25 0 1 2     word 7 + 25 * register 0 + 1 * register 2 behind the first of bank 3 onto the stack
//     *                     of the two on top
//     end                   of the innermost loop
//     pop 9 0 1 0           the top into a word of the SRAM
//     store 2 0 9 24 1      and back to main memory
#pragma once

#include "driver/backend/stepwise.h"

namespace stowage::test {

inline constexpr std::int64_t word_bytes = 4;

/// Plays the machine on one kernel's text, of which it knows nothing else; throws LineFailed.
KernelRun play_banks(const std::string& text, const Target& target, MemoryImage& memory);

extern const char* const bank16;  ///< a target of the family, as a file
Backends all_backends();          ///< the built-in families and the invented one

}  // namespace stowage::test
