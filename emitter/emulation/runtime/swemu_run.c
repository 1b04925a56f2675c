// SPDX-License-Identifier: Apache-2.0
// Launches: one worker per host core claims compute cores from a counter and runs each on a fiber. A core that never
// blocks runs to its end and hands its stack and LDM to the next; only one that waits makes a worker hold several, and then
// no more than its share, as it keeps them to their ends.
//
// One spawn may run several kernels with barriers between. For counts, checks and messages each of them is a launch.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "swemu_state.h"

enum { MAX_WORKERS = 256 };

struct swemu_run swemu_run = {.launch = -1};
struct swemu_core* swemu_cores;
__thread struct swemu_core* swemu_core;
__thread struct swemu_worker* swemu_worker;

static struct swemu_worker* workers;
static int worker_count;
static int initialised;
static void (*function)(void*);
static void* argument;
static int* order; /* in which cores are claimed */
static struct timespec spawn_time;

static unsigned generation;     /* raised by every launch */
static int next_claim;          /* into order */
static unsigned active_helpers; /* that have not finished their share of this launch */

uint64_t swemu_random(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* ---- workers ---- */

static void fiber_body(void) {
  struct swemu_core* core = swemu_core;
  struct swemu_fiber* fiber = core->fiber;
  swemu_fiber_entered(fiber);
  swemu_begin_core(core);
  function(argument);
  swemu_end_core(core);
  swemu_core_returned(core);
  swemu_leave_fiber(swemu_worker, fiber, 1);
}

static int is_ready(const struct swemu_fiber* fiber) {
  return fiber->seen != __atomic_load_n(fiber->word, __ATOMIC_ACQUIRE);
}

/* How many of those that are ready go on later: at level strict in no particular order. */
static int ready_to_pass(struct swemu_worker* worker) {
  if (swemu_config.level != SWEMU_STRICT) return 0;
  int ready = 0;
  for (struct swemu_fiber* fiber = worker->blocked; fiber; fiber = fiber->next) ready += is_ready(fiber);
  return ready ? (int)(swemu_random(&worker->random) % (uint64_t)ready) : 0;
}

static struct swemu_fiber* take_ready(struct swemu_worker* worker) {
  struct swemu_fiber* before = NULL;
  int pass = ready_to_pass(worker);
  for (struct swemu_fiber* fiber = worker->blocked; fiber; before = fiber, fiber = fiber->next) {
    if (!is_ready(fiber) || pass-- > 0) continue;
    *(before ? &before->next : &worker->blocked) = fiber->next;
    if (worker->blocked_tail == fiber) worker->blocked_tail = before;
    --worker->blocked_count;
    return fiber;
  }
  return NULL;
}

static struct swemu_fiber* claim_core(struct swemu_worker* worker) {
  const int share = (swemu_run.threads + worker_count - 1) / worker_count;
  if (worker->blocked_count >= share) return NULL; /* the shares of all workers hold all cores */
  const int claim = __atomic_fetch_add(&next_claim, 1, __ATOMIC_RELAXED);
  if (claim >= swemu_run.threads) {
    __atomic_store_n(&next_claim, swemu_run.threads, __ATOMIC_RELAXED);
    return NULL;
  }
  struct swemu_fiber* fiber = worker->idle;
  if (fiber) {
    worker->idle = fiber->next;
    swemu_reset_fiber(fiber, fiber_body);
  } else {
    fiber = swemu_new_fiber(fiber_body);
  }
  fiber->core = &swemu_cores[order[claim]];
  fiber->core->fiber = fiber;
  return fiber;
}

static void work(struct swemu_worker* worker) {
  for (;;) {
    const unsigned seen = __atomic_load_n(&swemu_raised, __ATOMIC_ACQUIRE);
    struct swemu_fiber* fiber = take_ready(worker);
    if (!fiber) fiber = claim_core(worker);
    if (!fiber) {
      if (!worker->blocked) return;
      swemu_await_word(&swemu_raised, seen, 0);
      continue;
    }
    struct swemu_core* core = fiber->core;
    swemu_enter_fiber(worker, fiber);
    if (core->finished) {
      fiber->next = worker->idle;
      worker->idle = fiber;
    }
  }
}

static void* helper(void* pointer) {
  swemu_worker = pointer;
  swemu_use_signal_stack();
  unsigned seen = 0;
  for (;;) {
    swemu_await_word(&generation, seen, 0);
    seen = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    work(swemu_worker);
    if (__atomic_sub_fetch(&active_helpers, 1, __ATOMIC_ACQ_REL) == 0) swemu_wake_all();
  }
  return NULL;
}

/* ---- management core ---- */

static int host_cores(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? n : 1;
}

int swemu_init(void) {
  if (initialised) return 0;
  swemu_read_config();
  initialised = 1;
  worker_count = swemu_config.workers > 0 ? swemu_config.workers : host_cores();
  if (worker_count > swemu_config.cores) worker_count = swemu_config.cores;
  if (worker_count > MAX_WORKERS) worker_count = MAX_WORKERS;
  const size_t cores = (size_t)swemu_config.cores;
  swemu_cores = swemu_checked_realloc(NULL, cores * sizeof *swemu_cores);
  memset(swemu_cores, 0, cores * sizeof *swemu_cores);
  order = swemu_checked_realloc(NULL, cores * sizeof *order);
  swemu_init_barriers();
  const size_t words = ((size_t)swemu_config.ldm_bytes + 63) / 64;
  swemu_run.threads = swemu_config.cores < SWEMU_ATHREAD_THREADS ? swemu_config.cores : SWEMU_ATHREAD_THREADS;
  for (int i = 0; i < swemu_config.cores; ++i) {
    swemu_cores[i].id = i;
    order[i] = i;
    if (swemu_config.level == SWEMU_COUNT) continue;
    /* Pages that no kernel's LDM reaches are never touched. */
    swemu_cores[i].get_busy = (uint64_t*)(void*)swemu_map(words * sizeof(uint64_t), sizeof(uint64_t));
    swemu_cores[i].put_busy = (uint64_t*)(void*)swemu_map(words * sizeof(uint64_t), sizeof(uint64_t));
    if (!swemu_cores[i].get_busy || !swemu_cores[i].put_busy)
      swemu_fatal("emulation-memory", NULL, -1, "no memory for the LDM of %d cores", swemu_config.cores);
  }
  workers = swemu_checked_realloc(NULL, (size_t)worker_count * sizeof *workers);
  memset(workers, 0, (size_t)worker_count * sizeof *workers);
  swemu_install_crash_handler();
  swemu_worker = &workers[0];
  swemu_use_signal_stack();
  for (int i = 0; i < worker_count; ++i) workers[i].random = swemu_config.seed + (uint64_t)i;
  for (int i = 1; i < worker_count; ++i) {
    workers[i].index = i;
    if (pthread_create(&workers[i].thread, NULL, helper, &workers[i]) != 0) {
      worker_count = i; /* fewer host threads: slower, not wrong */
      break;
    }
  }
  atexit(swemu_finish);
  return 0;
}

int swemu_set_threads(struct swemu_site* site, int threads) {
  if (!initialised) swemu_fatal("emulation-misuse", site, -1, "athread_set_num_threads before athread_init");
  if (threads < 1 || threads > swemu_config.cores)
    swemu_fatal("emulation-misuse", site, -1, "athread_set_num_threads(%d): the machine has %d cores", threads,
                swemu_config.cores);
  swemu_run.threads = threads;
  for (int i = 0; i < threads; ++i) order[i] = i;
  return 0;
}

static void shuffle_order(void) {
  uint64_t state = swemu_config.seed * 1000003u + (uint64_t)swemu_run.launch;
  for (int i = swemu_run.threads - 1; i > 0; --i) {
    const int j = (int)(swemu_random(&state) % (uint64_t)(i + 1));
    const int other = order[j];
    order[j] = order[i];
    order[i] = other;
  }
}

/* ---- kernels of one spawn ---- */

static void begin_launch(struct swemu_site* site, int core, const char* kernel, const void* pointer, size_t bytes) {
  ++swemu_run.launch;
  swemu_run.kernel = kernel;
  swemu_run.argument = pointer;
  /* sizeof(void) is 1: nothing is known, so as much as an LDM can hold. */
  swemu_run.argument_bytes = bytes > 1 ? (int64_t)bytes : swemu_config.ldm_bytes;
  swemu_run.expected = swemu_launch_at(swemu_run.launch);
  if (!swemu_run.expected)
    swemu_fatal("emulation-misuse", site, core, "launch %lld (%s) is one more than the program has",
                (long long)swemu_run.launch, kernel);
}

static void end_launch(void) {
  swemu_check_registers();
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  swemu_add_seconds((double)(now.tv_sec - spawn_time.tv_sec) + 1e-9 * (double)(now.tv_nsec - spawn_time.tv_nsec));
  swemu_end_launch(workers, worker_count);
  if (swemu_has_errors()) swemu_fail();
  swemu_write_dumps(swemu_run.launch);
}

/* Of the core that comes last, the same for all: checked when they leave. */
static struct {
  struct swemu_site* site;
  const char* kernel;
  const void* argument;
  size_t bytes;
} next;

static void go_to_next(void) {
  end_launch();
  begin_launch(next.site, swemu_core->id, next.kernel, next.argument, next.bytes);
  clock_gettime(CLOCK_MONOTONIC, &spawn_time);
}

void swemu_next_kernel(struct swemu_site* site, const char* kernel, const void* pointer, size_t bytes) {
  struct swemu_core* core = swemu_core;
  if (!core) swemu_fatal("emulation-misuse", site, -1, "a kernel follows another one on the management core");
  swemu_end_core(core);
  pthread_mutex_lock(&swemu_lock);
  next.site = site;
  next.kernel = kernel;
  next.argument = pointer;
  next.bytes = bytes;
  pthread_mutex_unlock(&swemu_lock);
  swemu_meet_all(core, site, go_to_next);
  if (swemu_run.argument != pointer)
    swemu_fatal("emulation-misuse", site, core->id, "the cores do not go on to the same kernel: to %s and %s", kernel,
                swemu_run.kernel);
  swemu_begin_core(core);
}

int swemu_spawn(struct swemu_site* site, const char* kernel, void (*body)(void*), void* pointer, size_t bytes) {
  if (!initialised) swemu_fatal("emulation-misuse", site, -1, "athread_spawn before athread_init");
  if (swemu_core) swemu_fatal("emulation-misuse", site, swemu_core->id, "athread_spawn on a compute core");
  if (swemu_run.running)
    swemu_fatal("emulation-misuse", site, -1, "athread_spawn of %s while %s has not been joined", kernel,
                swemu_run.kernel);
  if (swemu_run.launch < 0) swemu_write_dumps(-1);
  begin_launch(site, -1, kernel, pointer, bytes);
  swemu_run.running = 1;
  swemu_run.spawn_site = site;
  function = body;
  argument = pointer;
  for (int i = 0; i < swemu_run.threads; ++i) {
    swemu_cores[i].finished = 0;
    swemu_cores[i].fiber = NULL;
    swemu_cores[i].ldm_size = 0;
  }
  if (swemu_config.level == SWEMU_STRICT) shuffle_order();
  swemu_begin_waiting();
  swemu_begin_registers();
  next_claim = 0;
  active_helpers = (unsigned)worker_count - 1;
  clock_gettime(CLOCK_MONOTONIC, &spawn_time);
  __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
  if (worker_count > 1) swemu_wake_all();
  return 0;
}

int swemu_join(struct swemu_site* site) {
  if (!swemu_run.running) swemu_fatal("emulation-misuse", site, -1, "athread_join without a kernel that runs");
  work(&workers[0]);
  swemu_await_word(&active_helpers, 0, 1);
  swemu_check_races();
  swemu_run.running = 0;
  end_launch();
  return 0;
}

void swemu_layer_done(struct swemu_site* site, const char* layer) {
  if (swemu_core) swemu_fatal("emulation-misuse", site, swemu_core->id, "%s on a compute core", layer);
  if (swemu_run.running)
    swemu_fatal("emulation-misuse", site, -1, "%s while %s has not been joined", layer, swemu_run.kernel);
  if (swemu_run.launch < 0) swemu_write_dumps(-1);
  begin_launch(site, -1, layer, NULL, 0);
  swemu_end_launch(workers, worker_count);
  swemu_write_dumps(swemu_run.launch);
}

int swemu_halt(void) {
  swemu_finish();
  return 0;
}

int swemu_core_id(struct swemu_site* site, int core) {
  if (!swemu_core) swemu_fatal("emulation-misuse", site, -1, "athread_get_id on the management core");
  if (core != -1)
    swemu_fatal("emulation-unsupported", site, swemu_core->id, "athread_get_id(%d): only -1 is emulated", core);
  return swemu_core->id;
}
