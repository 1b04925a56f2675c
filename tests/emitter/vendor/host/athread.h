// SPDX-License-Identifier: Apache-2.0
// The management core's side of Athread as emitted sources see it on the machine: the vendor's names and signatures,
// written by ourselves, nothing behind them. Sources are held against it without SW_EMULATION (vendor_compile.h).
#ifndef VENDOR_ATHREAD_H
#define VENDOR_ATHREAD_H

#ifdef SW_EMULATION
#error "these headers are for sources as the machine compiles them"
#endif

/* The compilers of the compute cores prefix every function's name. */
#define SLAVE_FUN(x) slave_##x
#define athread_spawn(function, argument) __real_athread_spawn(slave_##function, argument)

extern int athread_init(void);
extern int __real_athread_spawn(void *fpc, void *arg);
extern int athread_join(void);
extern int athread_halt(void);
extern int athread_set_num_threads(int num_threads);
extern int athread_get_num_threads(void);

#endif
