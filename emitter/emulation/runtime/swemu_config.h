// SPDX-License-Identifier: Apache-2.0
// What the runtime was told about the program, and main memory; private to the runtime.
#ifndef SWEMU_CONFIG_H
#define SWEMU_CONFIG_H

#include <stddef.h>
#include <stdint.h>

enum { SWEMU_AREAS = 2, SWEMU_CANARY = 64, SWEMU_ATHREAD_THREADS = 64 };
enum swemu_level { SWEMU_COUNT, SWEMU_CHECK, SWEMU_STRICT };

struct swemu_range { /* a tensor, as one launch may use it */
  char* name;
  int area;
  int64_t offset, bytes;
  int writable;
  int shared;         /* overlaps a writable range of its launch: reads must be checked against puts */
  uint64_t low, high; /* its addresses, once main memory is allocated */
};

struct swemu_gap {
  int64_t offset, bytes;
}; /* LDM that no buffer owns */

struct swemu_dump {
  int64_t after_launch, offset, bytes;
  int area;
};

struct swemu_launch {
  char* name;
  struct swemu_range* ranges;
  int range_count;
  struct swemu_gap* gaps;
  int gap_count;
};

struct swemu_place { /* a source line */
  char* file;
  int line;
};

struct swemu_config {
  int configured;
  enum swemu_level level;
  int workers;
  int cores;   /* that the machine has; a launch runs on as many of them as athread_set_num_threads said */
  int columns; /* of the mesh: core number = row * columns + column */
  int64_t ldm_bytes;
  int alignment; /* of DMA, in bytes */
  int line;      /* bytes of a line of main memory */
  uint64_t seed;
  char *result_path, *dump_path;
  struct swemu_launch* launches;
  int64_t launch_count;
  struct swemu_dump* dumps;
  int dump_count;
  struct swemu_place* unaligned; /* lines whose DMA may be unaligned */
  int unaligned_count;
};

extern struct swemu_config swemu_config;
void swemu_read_config(void);
/* What a launch may use, its addresses filled in; null where there are fewer. Without a configuration: all of it. */
const struct swemu_launch* swemu_launch_at(int64_t launch);

struct swemu_area {
  char* memory;
  int64_t bytes;
};
extern struct swemu_area swemu_areas[SWEMU_AREAS];
extern int swemu_area_count;

/* Zeroed memory that is never given back, at a multiple of `alignment`; null where there is none. */
char* swemu_map(size_t bytes, size_t alignment);

/* realloc that ends the program where there is no memory. */
void* swemu_checked_realloc(void* memory, size_t bytes);

#endif
