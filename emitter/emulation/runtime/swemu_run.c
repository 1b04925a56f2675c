// SPDX-License-Identifier: Apache-2.0
// Launches: one worker per host core claims compute cores from a counter and runs each on a fiber. A core that never
// blocks runs to its end and hands its stack and LDM to the next; only a barrier makes a worker hold several, and then
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

enum { SPINS = 4000, MAX_WORKERS = 256 }; /* some 50 microseconds of spinning before a worker sleeps */

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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned generation;     /* raised by every launch */
static int next_claim;          /* into order */
static unsigned active_helpers; /* that have not finished their share of this launch */

/* A place where cores wait for each other: those of a row, those of a column in some rows, or all. */
struct barrier {
  unsigned epoch; /* raised whenever it opens */
  int arrived;
  int first, step, end;
  int rows;  /* of a column's that take part, as those have said who have come; 0: all */
  int sends; /* those who have come are at a broadcast */
};
static struct barrier of_all;
static struct barrier* of_rows;
static struct barrier* of_columns;
static unsigned opened; /* raised whenever any of them opens */
static int waiting, finished;

static void pause_briefly(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Waits until *word differs from (or equals) `value`: spins, then sleeps. Whoever changes a word calls wake_all. */
static void await_word(unsigned* word, unsigned value, int until_equal) {
  for (int i = 0; i < SPINS; ++i) {
    if ((__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) == until_equal) return;
    pause_briefly();
  }
  pthread_mutex_lock(&lock);
  while ((__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) != until_equal) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

static void wake_all(void) {
  pthread_mutex_lock(&lock);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

uint64_t swemu_random(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* ---- barriers ---- */

/* The members of a barrier are the cores from its first one on, each so many behind the last, in rows of its mask. */
static int is_member(const struct barrier* barrier, int core) {
  if (core < barrier->first || (core - barrier->first) % barrier->step || core >= barrier->end) return 0;
  return !barrier->rows || ((barrier->rows >> (core / swemu_config.columns)) & 1);
}

static int members_of(const struct barrier* barrier) {
  int members = 0;
  for (int i = barrier->first; i < swemu_run.threads; i += barrier->step) members += is_member(barrier, i);
  return members;
}

static int waits_at(const struct swemu_core* core, const struct barrier* barrier) {
  return core->blocked && core->fiber->barrier == &barrier->epoch;
}

/* All cores have returned or wait, and no barrier can open. */
static void report_deadlock(void) {
  const struct swemu_core* first = NULL;
  for (int i = 0; i < swemu_run.threads && !first; ++i)
    if (swemu_cores[i].blocked) first = &swemu_cores[i];
  const int row = first->id / swemu_config.columns;
  const int column = first->id % swemu_config.columns;
  const struct barrier* barrier = &of_all;
  if (waits_at(first, &of_rows[row])) barrier = &of_rows[row];
  if (waits_at(first, &of_columns[column])) barrier = &of_columns[column];
  int returned = -1;
  const struct swemu_core* elsewhere = NULL;
  for (int i = 0; i < swemu_run.threads; ++i) {
    const struct swemu_core* core = &swemu_cores[i];
    if (!is_member(barrier, i)) continue;
    if (core->finished && returned < 0) returned = i;
    if (core->blocked && !waits_at(core, barrier) && !elsewhere) elsewhere = core;
  }
  const int all = members_of(barrier);
  const char* what = barrier->sends ? "broadcast" : "barrier";
  char which[40] = "all cores";
  if (barrier == &of_rows[row]) snprintf(which, sizeof which, "row %d of the mesh", row);
  if (barrier == &of_columns[column]) snprintf(which, sizeof which, "column %d of the mesh", column);
  if (returned >= 0)
    swemu_fatal("emulation-deadlock", first->blocked_at, first->id,
                "%d of %d cores wait at a %s of %s that the other %d never reach (core %d has returned)",
                barrier->arrived, all, what, which, all - barrier->arrived, returned);
  swemu_fatal("emulation-deadlock", first->blocked_at, first->id,
              "%d of %d cores wait at a %s of %s that the other %d never reach (core %d waits at %s:%d)",
              barrier->arrived, all, what, which, all - barrier->arrived, elsewhere->id, elsewhere->blocked_at->file,
              elsewhere->blocked_at->line);
}

static struct barrier* barrier_of(struct swemu_site* site, const struct swemu_core* core, int scope, int mask) {
  enum { ROW = 0, COLUMN = 1, ARRAY = 2 };
  if (scope == ARRAY && (mask & 0xffff) == 0xffff) return &of_all;
  const int of_row = swemu_config.columns < 31 ? (1 << swemu_config.columns) - 1 : 0;
  if (scope == ROW && mask == of_row && of_row) return &of_rows[core->id / swemu_config.columns];
  const int row = core->id / swemu_config.columns;
  const int rows = (swemu_run.threads + swemu_config.columns - 1) / swemu_config.columns;
  if (scope == COLUMN && mask > 0 && rows <= 8 && mask < 1 << rows && ((mask >> row) & 1))
    return &of_columns[core->id % swemu_config.columns];
  swemu_fatal("emulation-unsupported", site, core->id,
              "athread_syn(%d, 0x%x): only ARRAY_SCOPE with mask 0xffff, ROW_SCOPE with mask 0x%x and COL_SCOPE with a "
              "mask of rows that has the core's own are emulated",
              scope, (unsigned)mask, (unsigned)of_row);
}

/* `at_opening`, if any, is called when the last core has come, while all stand still; cores of a row or of a column have
   one for a broadcast. `rows`: of a column's barrier, its mask. */
static void wait_at(struct barrier* barrier, int rows, struct swemu_core* core, struct swemu_site* site,
                    void (*at_opening)(void)) {
  struct swemu_fiber* fiber = core->fiber;
  const int sends = at_opening != NULL && barrier != &of_all;
  pthread_mutex_lock(&lock);
  if (!barrier->arrived) {
    barrier->rows = rows;
    barrier->sends = sends;
  }
  if (barrier->sends != sends) {
    const int of_row = barrier == &of_rows[core->id / swemu_config.columns];
    swemu_fatal("emulation-barrier", site, core->id, "%s while other cores of %s %d are at %s",
                sends ? "a broadcast" : "a barrier", of_row ? "row" : "column",
                of_row ? core->id / swemu_config.columns : core->id % swemu_config.columns,
                sends ? "a barrier" : "a broadcast");
  }
  if (barrier->rows != rows)
    swemu_fatal("emulation-barrier", site, core->id,
                "athread_syn(COL_SCOPE, 0x%x): other cores of column %d wait for rows 0x%x", (unsigned)rows,
                core->id % swemu_config.columns, (unsigned)barrier->rows);
  core->blocked = 1;
  core->blocked_at = site;
  fiber->barrier = &barrier->epoch;
  ++waiting;
  if (++barrier->arrived == members_of(barrier)) {
    if (barrier == &of_all) swemu_check_races();
    if (at_opening) at_opening();
    waiting -= barrier->arrived;
    barrier->arrived = 0;
    for (int i = 0; i < swemu_run.threads; ++i)
      if (is_member(barrier, i)) swemu_cores[i].blocked = 0;
    __atomic_add_fetch(&barrier->epoch, 1, __ATOMIC_RELEASE);
    __atomic_add_fetch(&opened, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return;
  }
  if (waiting + finished == swemu_run.threads) report_deadlock();
  fiber->epoch = barrier->epoch;
  pthread_mutex_unlock(&lock);
  struct swemu_worker* worker = swemu_worker;
  fiber->next = NULL;
  if (worker->blocked_tail)
    worker->blocked_tail->next = fiber;
  else
    worker->blocked = fiber;
  worker->blocked_tail = fiber;
  ++worker->blocked_count;
  swemu_leave_fiber(worker, fiber, 0);
}

int swemu_barrier(struct swemu_site* site, int scope, int mask) {
  struct swemu_core* core = swemu_core;
  if (!core) swemu_fatal("emulation-misuse", site, -1, "athread_syn was called on the management core");
  struct barrier* barrier = barrier_of(site, core, scope, mask);
  swemu_count_meeting(core, site, 0);
  wait_at(barrier, barrier >= of_columns && barrier < of_columns + swemu_config.columns ? mask : 0, core, site, NULL);
  return 0;
}

void swemu_meet_in_column(struct swemu_core* core, struct swemu_site* site, void (*at_opening)(void)) {
  wait_at(&of_columns[core->id % swemu_config.columns], 0, core, site, at_opening);
}

void swemu_meet_in_row(struct swemu_core* core, struct swemu_site* site, void (*at_opening)(void)) {
  wait_at(&of_rows[core->id / swemu_config.columns], 0, core, site, at_opening);
}

/* ---- workers ---- */

static void fiber_body(void) {
  struct swemu_core* core = swemu_core;
  struct swemu_fiber* fiber = core->fiber;
  swemu_fiber_entered(fiber);
  swemu_begin_core(core);
  function(argument);
  swemu_end_core(core);
  pthread_mutex_lock(&lock);
  core->finished = 1;
  ++finished;
  if (waiting > 0 && waiting + finished == swemu_run.threads) report_deadlock();
  pthread_mutex_unlock(&lock);
  swemu_leave_fiber(swemu_worker, fiber, 1);
}

static int is_ready(const struct swemu_fiber* fiber) {
  return fiber->epoch != __atomic_load_n(fiber->barrier, __ATOMIC_ACQUIRE);
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
    const unsigned seen = __atomic_load_n(&opened, __ATOMIC_ACQUIRE);
    struct swemu_fiber* fiber = take_ready(worker);
    if (!fiber) fiber = claim_core(worker);
    if (!fiber) {
      if (!worker->blocked) return;
      await_word(&opened, seen, 0);
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
    await_word(&generation, seen, 0);
    seen = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    work(swemu_worker);
    if (__atomic_sub_fetch(&active_helpers, 1, __ATOMIC_ACQ_REL) == 0) wake_all();
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
  const size_t rows = (cores + (size_t)swemu_config.columns - 1) / (size_t)swemu_config.columns;
  const int columns = swemu_config.columns;
  of_all = (struct barrier){.step = 1, .end = (int)cores};
  of_rows = swemu_checked_realloc(NULL, rows * sizeof *of_rows);
  for (int r = 0; r < (int)rows; ++r)
    of_rows[r] = (struct barrier){.first = r * columns, .step = 1, .end = (r + 1) * columns};
  of_columns = swemu_checked_realloc(NULL, (size_t)columns * sizeof *of_columns);
  for (int c = 0; c < columns; ++c)
    of_columns[c] = (struct barrier){.first = c, .step = columns, .end = (int)cores};
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
  pthread_mutex_lock(&lock);
  next.site = site;
  next.kernel = kernel;
  next.argument = pointer;
  next.bytes = bytes;
  pthread_mutex_unlock(&lock);
  wait_at(&of_all, 0, core, site, go_to_next);
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
    swemu_cores[i].finished = swemu_cores[i].blocked = 0;
    swemu_cores[i].fiber = NULL;
    swemu_cores[i].ldm_size = 0;
  }
  if (swemu_config.level == SWEMU_STRICT) shuffle_order();
  waiting = finished = 0;
  next_claim = 0;
  active_helpers = (unsigned)worker_count - 1;
  clock_gettime(CLOCK_MONOTONIC, &spawn_time);
  __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
  if (worker_count > 1) wake_all();
  return 0;
}

int swemu_join(struct swemu_site* site) {
  if (!swemu_run.running) swemu_fatal("emulation-misuse", site, -1, "athread_join without a kernel that runs");
  work(&workers[0]);
  await_word(&active_helpers, 0, 1);
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
