// SPDX-License-Identifier: Apache-2.0
// What the emulated headers (athread.h, slave.h, dma.h) call. Emitted sources use the vendor's names, not these,
// except swemu_ldm and swemu_alloc, which sw_rt.h names where SW_EMULATION is defined.
#ifndef SWEMU_H
#define SWEMU_H

#include <stddef.h>

/* A place in the sources: every call of the interface owns one, so that counts and messages know their line. */
struct swemu_site {
  const char* file;
  int line;
  int id; /* index + 1 into the runtime's table of sites; 0 until the first call */
};
#define SWEMU_SITE                                                      \
  (__extension__({                                                      \
    static struct swemu_site swemu_this_site = {__FILE__, __LINE__, 0}; \
    &swemu_this_site;                                                   \
  }))

enum swemu_bus { SWEMU_ROW, SWEMU_COLUMN };

/* Both sides. */
/* Main memory of one area, aligned to a line of main memory. The first call is the parameter area, the second the
 * activations; the configuration names tensors by area and offset. */
void* swemu_alloc(size_t bytes);

/* Management core. */
int swemu_init(void);
int swemu_halt(void);
int swemu_set_threads(struct swemu_site* site, int threads);
int swemu_spawn(struct swemu_site* site, const char* kernel, void (*function)(void*), void* argument,
                size_t argument_bytes);
int swemu_join(struct swemu_site* site);
/* The management core has computed a layer itself: for outputs and counts a launch, on no core. */
void swemu_layer_done(struct swemu_site* site, const char* layer);

/* Compute cores. */
/* The core's LDM: the kernel's struct has `bytes`, of which the first `buffer_bytes` are buffers (what is counted). */
void* swemu_ldm(size_t bytes, size_t buffer_bytes);
int swemu_core_id(struct swemu_site* site, int core);
int swemu_get(struct swemu_site* site, int mode, const void* source, void* target, int length, volatile void* reply,
              int mask, int stride, int block);
int swemu_put(struct swemu_site* site, int mode, const void* source, void* target, int length, volatile void* reply,
              int stride, int block);
void swemu_wait(struct swemu_site* site, volatile unsigned* reply, int count);
int swemu_barrier(struct swemu_site* site, int scope, int mask);
/* Along the core's row, or down its column: a register to the core of that number there, or to all others (8), and the
 * first one that has come and was not taken. */
void swemu_send_register(struct swemu_site* site, enum swemu_bus bus, const void* value, size_t bytes, int to);
void swemu_take_register(struct swemu_site* site, enum swemu_bus bus, void* value, size_t bytes);
/* From one LDM of the column, or of the row, to one place in all of them, the sender's own included: at once, or by a
 * function of the program that sends and takes registers. */
typedef void (*swemu_by_register)(int sends, const void* from, void* to, int bytes);
void swemu_broadcast_down_column(struct swemu_site* site, swemu_by_register by_register, int sends, const void* from,
                                 void* to, int bytes);
void swemu_broadcast_along_row(struct swemu_site* site, swemu_by_register by_register, int sends, const void* from,
                               void* to, int bytes);
/* Between two kernels of one spawn: a barrier of all cores, with which one launch ends and the next one begins. */
void swemu_next_kernel(struct swemu_site* site, const char* kernel, const void* argument, size_t argument_bytes);

#endif
