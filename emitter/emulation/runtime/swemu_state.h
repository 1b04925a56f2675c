// SPDX-License-Identifier: Apache-2.0
// State of the emulation runtime; private to its own sources.
#ifndef SWEMU_STATE_H
#define SWEMU_STATE_H

#include <pthread.h>
#include <stdint.h>

#include "swemu.h"
#include "swemu_config.h"
#include "swemu_registers.h"
#include "swemu_report.h"
#include "swemu_wait.h"

#if defined(__SANITIZE_ADDRESS__)
#define SWEMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SWEMU_ASAN 1
#endif
#endif
#ifndef SWEMU_ASAN
#define SWEMU_ASAN 0
#endif

/* ---- cores and workers (swemu_run.c) ---- */

struct swemu_flight { /* an operation that was issued and not yet awaited */
  struct swemu_site* site;
  volatile unsigned* reply;
  char *ldm, *memory;
  int length, stride, block;
  int64_t rows; /* blocks */
  int is_get;
  int64_t at;        /* place in the LDM, in bytes from its start */
  int rows_filled;   /* one bit for each row of the mesh that a broadcast fills the LDMs of; 0: its core's LDM */
  int of_argument;   /* fetches the kernel's argument, which is no tensor */
  int shared;        /* uses main memory that several cores may write or read in this launch */
  int refused;       /* by a check: counts for the reply word, moves nothing */
  int done;          /* its data has moved and the reply word was raised */
  uint64_t checksum; /* of a put's source when it was issued */
};

struct swemu_interval { /* main memory that a core read or wrote since the last barrier */
  uint64_t begin, end;
  struct swemu_site* site;
  int core;
};

struct swemu_log {
  struct swemu_interval* items;
  int64_t count, capacity;
};

struct swemu_core {
  int id;
  struct swemu_fiber* fiber;
  int64_t ldm_size; /* what the kernel declared, 0 before */
  struct swemu_flight* flights;
  int flight_count, flight_capacity;
  uint64_t put_low, put_high;    /* hull of main memory that puts in flight write; empty: low >= high */
  uint64_t *get_busy, *put_busy; /* one bit a byte of LDM */
  struct swemu_log puts, gets;
  struct swemu_on_mesh mesh;
  struct swemu_meetings {
    int64_t times, registers;
  } * meetings; /* by site id */
  int meeting_capacity;
  struct swemu_waiting waiting;
  int finished;
  uint64_t random;
};

struct swemu_count {
  int64_t operations, bytes, transfers;
};

struct swemu_worker {
  pthread_t thread;
  int index;
  void* scheduler_sp;
  struct swemu_fiber* idle;                   /* finished fibers, to be used again */
  struct swemu_fiber *blocked, *blocked_tail; /* that wait, first come first */
  int blocked_count;
  uint64_t random;
  struct swemu_count* counts; /* by site id */
  int count_capacity;
  int64_t ldm_peak;
  int64_t argument_fetches;
};

struct swemu_run {
  int threads;    /* cores that a launch runs on */
  int64_t launch; /* number of the running or last launch, from 0; -1 before the first */
  const char* kernel;
  const char* argument;
  int64_t argument_bytes;
  const struct swemu_launch* expected; /* what it may do */
  int running;                         /* between spawn and join */
  struct swemu_site* spawn_site;
};

extern struct swemu_run swemu_run;
extern struct swemu_core* swemu_cores;
extern __thread struct swemu_core* swemu_core; /* the core whose fiber runs on this thread, or null */
extern __thread struct swemu_worker* swemu_worker;

uint64_t swemu_random(uint64_t* state); /* splitmix64 */

/* ---- fibers (swemu_fiber.c) ---- */

struct swemu_fiber {
  struct swemu_fiber* next;
  char* stack; /* lowest usable address */
  size_t stack_bytes;
  char* arena; /* LDM of the core that runs here */
  void* sp;
  struct swemu_core* core;
  unsigned* word;   /* that is raised when it may go on */
  unsigned seen;    /* of it when it began to wait */
  void* fake_stack; /* the address sanitizer's */
};

struct swemu_fiber* swemu_new_fiber(void (*body)(void));
void swemu_reset_fiber(struct swemu_fiber* fiber, void (*body)(void));
void swemu_enter_fiber(struct swemu_worker* worker, struct swemu_fiber* fiber);
/* The first call on a fiber. */
void swemu_fiber_entered(struct swemu_fiber* fiber);
/* Called on a fiber: back to its worker's loop. */
void swemu_leave_fiber(struct swemu_worker* worker, struct swemu_fiber* fiber, int for_good);

/* ---- checks (swemu_dma.c, swemu_races.c) ---- */

void swemu_begin_core(struct swemu_core* core);
void swemu_end_core(struct swemu_core* core);
/* Which cores touched the same main memory since the last barrier; forgets it. All cores stand still. */
void swemu_check_races(void);
void swemu_log_interval(struct swemu_log* log, uint64_t begin, uint64_t end, struct swemu_site* site, int core);

#endif
