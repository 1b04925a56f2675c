// SPDX-License-Identifier: Apache-2.0
/* The one arena in the LDM that all kernels overlay. In emulation the runtime has it. */
#include "slave.h"
#include "sw_rt.h"

SW_CHECK(the_arena_fits, SW_ARENA_BYTES < SW_LDM_BYTES);

#ifndef SW_EMULATION
__thread_local char sw_ldm[SW_ARENA_BYTES] __attribute__((aligned(SW_LDM_ALIGNMENT)));
#endif
