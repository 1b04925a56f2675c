// SPDX-License-Identifier: Apache-2.0
// The compute cores' side of Athread as emitted sources see it on the machine: the vendor's names and signatures,
// written by ourselves, nothing behind them. Only this header knows __thread_local.
#ifndef VENDOR_SLAVE_H
#define VENDOR_SLAVE_H

#ifdef SW_EMULATION
#error "these headers are for sources as the machine compiles them"
#endif

#define __thread_local __attribute__((section(".tdata_local")))

typedef enum { PE_MODE, BCAST_MODE, ROW_MODE, BROW_MODE, RANK_MODE } dma_mode;
typedef enum { DMA_PUT, DMA_GET, DMA_PUT_P, DMA_GET_P, DMA_BARRIER = 5 } DMA_OP;
typedef enum { ROW_SCOPE, COL_SCOPE, ARRAY_SCOPE } scope;

extern int athread_get(dma_mode mode, void *src, void *dest, int len, void *reply, char mask, int stride, int bsize);
extern int athread_put(dma_mode mode, void *src, void *dest, int len, void *reply, int stride, int bsize);
extern int athread_get_core(int id);
extern int athread_get_id(int core);
extern int athread_syn(scope scp, int mask);

#endif
