// SPDX-License-Identifier: Apache-2.0
// State of the emulation runtime; private to its own sources.
#ifndef SWEMU_STATE_H
#define SWEMU_STATE_H

#include <pthread.h>
#include <stdint.h>

#include "swemu.h"

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

enum { SWEMU_LINE = 128, SWEMU_AREAS = 2, SWEMU_CANARY = 64, SWEMU_MAX_LDM = 1 << 20 };
enum swemu_level { SWEMU_COUNT, SWEMU_CHECK, SWEMU_STRICT };

/* ---- configuration (swemu_config.c) ---- */

struct swemu_range {  /* a tensor, as one launch may use it */
  char *name;
  int area;
  int64_t offset, bytes;
  int writable;
  int shared;         /* overlaps a writable range of its launch: reads must be checked against puts */
  uint64_t low, high; /* its addresses, once main memory is allocated */
};

struct swemu_gap { int64_t offset, bytes; };  /* LDM that no buffer owns */

struct swemu_dump { int64_t after_launch, offset, bytes; int area; };

struct swemu_launch {
  char *name;
  struct swemu_range *ranges;
  int range_count;
  struct swemu_gap *gaps;
  int gap_count;
};

struct swemu_config {
  int configured;
  enum swemu_level level;
  int workers, cores;
  int64_t ldm_bytes;
  int alignment;
  uint64_t seed;
  char *result_path, *dump_path;
  struct swemu_launch *launches;
  int64_t launch_count;
  struct swemu_dump *dumps;
  int dump_count;
};

extern struct swemu_config swemu_config;
void swemu_read_config(void);
/* What a launch may use, its addresses filled in; null where there are fewer. Without a configuration: all of it. */
const struct swemu_launch *swemu_launch_at(int64_t launch);

struct swemu_area { char *memory; int64_t bytes; };
extern struct swemu_area swemu_areas[SWEMU_AREAS];
extern int swemu_area_count;

/* ---- cores and workers (swemu_run.c) ---- */

struct swemu_flight {  /* an operation that was issued and not yet awaited */
  struct swemu_site *site;
  volatile int *reply;
  char *ldm, *memory;
  int length, stride, block;
  int64_t rows;        /* blocks */
  int is_get;
  int of_argument;     /* fetches the kernel's argument, which is no tensor */
  int shared;          /* uses main memory that several cores may write or read in this launch */
  int refused;         /* by a check: counts for the reply word, moves nothing */
  int done;            /* its data has moved and the reply word was raised */
  uint64_t checksum;   /* of a put's source when it was issued */
};

struct swemu_interval {  /* main memory that a core read or wrote since the last barrier */
  uint64_t begin, end;
  struct swemu_site *site;
  int core;
};

struct swemu_log {
  struct swemu_interval *items;
  int64_t count, capacity;
};

struct swemu_core {
  int id;
  struct swemu_fiber *fiber;
  int64_t ldm_size;          /* what the kernel declared, 0 before */
  struct swemu_flight *flights;
  int flight_count, flight_capacity;
  uint64_t put_low, put_high;  /* hull of main memory that puts in flight write; empty: low >= high */
  uint64_t *get_busy, *put_busy;  /* one bit a byte of LDM */
  struct swemu_log puts, gets;
  struct swemu_site *blocked_at;
  int blocked;               /* at the barrier */
  int finished;
  uint64_t random;
};

struct swemu_count { int64_t operations, bytes, waits; };

struct swemu_worker {
  pthread_t thread;
  int index;
  void *scheduler_sp;
  struct swemu_fiber *idle;                /* finished fibers, to be used again */
  struct swemu_fiber *blocked, *blocked_tail;  /* at the barrier, first come first */
  struct swemu_count *counts;              /* by site id */
  int count_capacity;
  int64_t ldm_peak;
  int64_t argument_fetches;
};

struct swemu_run {
  int64_t launch;            /* number of the running or last launch, from 0; -1 before the first */
  const char *kernel;
  const char *argument;
  int64_t argument_bytes;
  const struct swemu_launch *expected;  /* what it may do */
  int running;               /* between spawn and join */
  struct swemu_site *spawn_site;
};

extern struct swemu_run swemu_run;
extern struct swemu_core *swemu_cores;
extern __thread struct swemu_core *swemu_core;      /* the core whose fiber runs on this thread, or null */
extern __thread struct swemu_worker *swemu_worker;

/* ---- fibers (swemu_fiber.c) ---- */

struct swemu_fiber {
  struct swemu_fiber *next;
  char *stack;               /* lowest usable address */
  size_t stack_bytes;
  char *arena;               /* LDM of the core that runs here */
  void *sp;
  struct swemu_core *core;
  unsigned epoch;            /* of the barrier it waits at */
  void *fake_stack;          /* the address sanitizer's */
};

struct swemu_fiber *swemu_new_fiber(void (*body)(void));
void swemu_reset_fiber(struct swemu_fiber *fiber, void (*body)(void));
void swemu_enter_fiber(struct swemu_worker *worker, struct swemu_fiber *fiber);
/* Called on a fiber: back to its worker's loop. */
void swemu_leave_fiber(struct swemu_worker *worker, struct swemu_fiber *fiber, int for_good);

/* ---- checks (swemu_dma.c, swemu_races.c) ---- */

void swemu_begin_core(struct swemu_core *core);
void swemu_end_core(struct swemu_core *core);
/* Which cores touched the same main memory since the last barrier; forgets it. All cores stand still. */
void swemu_check_races(void);
void swemu_log_interval(struct swemu_log *log, uint64_t begin, uint64_t end, struct swemu_site *site, int core);

/* ---- reports (swemu_report.c) ---- */

enum swemu_severity { SWEMU_ERROR, SWEMU_WARNING };

int swemu_site_id(struct swemu_site *site);
int swemu_site_count(void);
struct swemu_site *swemu_site_at(int id);
/* Records a problem once per code, site and launch: the one of the lowest core is kept. core -1: none. */
void swemu_problem(enum swemu_severity severity, const char *code, struct swemu_site *site, int core,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Records a problem after which nothing can go on, and ends the program. */
void swemu_fatal(const char *code, struct swemu_site *site, int core, const char *format, ...)
    __attribute__((format(printf, 4, 5), noreturn));
int swemu_has_errors(void);
void swemu_end_launch(struct swemu_worker *workers, int worker_count);
void swemu_write_dumps(int64_t after_launch);
void swemu_add_seconds(double seconds);
void swemu_finish(int write_dumps);
void swemu_fail(void) __attribute__((noreturn));
void swemu_install_crash_handler(void);
void swemu_use_signal_stack(void);

/* "bytes [0, 64) of 'x'": main memory as the running launch knows it. Uses `text`. */
const char *swemu_memory_text(char *text, size_t size, const void *begin, int64_t bytes);
uint64_t swemu_random(uint64_t *state);
void *swemu_checked_realloc(void *memory, size_t bytes);

#endif
