// SPDX-License-Identifier: Apache-2.0
// Management-core side of Athread, emulated. On the machine the compiler of compute-core files prefixes functions with
// "slave_"; here both sides share one name space, so a kernel must not be named like a function of the management core.
#ifndef SWEMU_ATHREAD_H
#define SWEMU_ATHREAD_H

#include "swemu.h"

#define SLAVE_FUN(x) x
#define athread_init() swemu_init()
#define athread_halt() swemu_halt()
/* 64 threads, or as many as the machine has cores if it has fewer, are started where this is not called. */
#define athread_set_num_threads(threads) swemu_set_threads(SWEMU_SITE, (threads))
/* The size of what `a` points to bounds what kernels may fetch of it. */
#define athread_spawn(f, a) swemu_spawn(SWEMU_SITE, #f, SLAVE_FUN(f), (a), sizeof(*(a)))
#define athread_join() swemu_join(SWEMU_SITE)

#endif
