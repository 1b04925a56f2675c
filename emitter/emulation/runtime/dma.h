// SPDX-License-Identifier: Apache-2.0
// dma_wait(reply, n): until n transfers have completed since *reply was last zeroed.
#ifndef SWEMU_DMA_H
#define SWEMU_DMA_H

#include "swemu.h"

#define dma_wait(reply, count) swemu_wait(SWEMU_SITE, (reply), (count))

#endif
