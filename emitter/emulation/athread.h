// SPDX-License-Identifier: Apache-2.0
// Management-core side of Athread, emulated. On the machine the compiler of compute-core files prefixes functions with
// "slave_"; here both sides share one name space, so a kernel must not be named like a function of the management core.
#ifndef SWEMU_ATHREAD_H
#define SWEMU_ATHREAD_H

#include "swemu.h"

#define SLAVE_FUN(x) x
#define athread_init() swemu_init()
#define athread_halt() swemu_halt()
/* The size of what `a` points to bounds what kernels may fetch of it. */
#define athread_spawn(f, a) swemu_spawn(SWEMU_SITE, #f, SLAVE_FUN(f), (a), sizeof(*(a)))
#define athread_join() swemu_join(SWEMU_SITE)

#endif
