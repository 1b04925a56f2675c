// SPDX-License-Identifier: Apache-2.0
// The wait for DMA as the machine's header has it: it reads an unsigned reply word and takes a signed count.
#ifndef VENDOR_DMA_H
#define VENDOR_DMA_H

#ifndef VENDOR_SLAVE_H
#error "dma.h needs what slave.h declares"
#endif

static __inline void dma_wait(unsigned int volatile *reply, int count) {
  while (*reply != (unsigned int)count) {
  }
}

#endif
