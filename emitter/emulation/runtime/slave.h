// SPDX-License-Identifier: Apache-2.0
// Compute-core side of Athread, emulated: the calls that emitted kernels use, with the vendor's argument order.
// stride is the gap between two blocks, len, stride and bsize are in bytes, and only main memory is strided.
#ifndef SWEMU_SLAVE_H
#define SWEMU_SLAVE_H

/* gcc 12 turns a choice between elements of two arrays into masked loads that read the wrong one where the choice
 * changes inside an outer loop (a Concat of 116 + 116 channels in tiles of 26). */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-if-convert")
#endif

#include "swemu.h"

typedef enum { PE_MODE, BCAST_MODE, ROW_MODE, BROW_MODE, RANK_MODE } dma_mode;
typedef enum { ROW_SCOPE, COL_SCOPE, ARRAY_SCOPE } scope;

#define athread_get(mode, src, dest, len, reply, mask, stride, bsize) \
  swemu_get(SWEMU_SITE, (mode), (src), (dest), (len), (reply), (unsigned char)(mask), (stride), (bsize))
#define athread_put(mode, src, dest, len, reply, stride, bsize) \
  swemu_put(SWEMU_SITE, (mode), (src), (dest), (len), (reply), (stride), (bsize))
#define athread_get_id(core) swemu_core_id(SWEMU_SITE, (core))
#define athread_syn(scp, mask) swemu_barrier(SWEMU_SITE, (scp), (mask))

#endif
