// SPDX-License-Identifier: Apache-2.0
// Cores that wait: at barriers of all cores, of a row or of a column, or for a word that another core raises. When all
// cores wait or have returned, nobody can go on any more: that is told with all of them.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "swemu_state.h"

enum { SPINS = 4000 }; /* some 50 microseconds of spinning before a worker sleeps */

pthread_mutex_t swemu_lock = PTHREAD_MUTEX_INITIALIZER;
unsigned swemu_raised;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

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
static int waiting, returned; /* cores */

/* ---- host threads ---- */

static void pause_briefly(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

void swemu_await_word(unsigned* word, unsigned value, int until_equal) {
  for (int i = 0; i < SPINS; ++i) {
    if ((__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) == until_equal) return;
    pause_briefly();
  }
  pthread_mutex_lock(&swemu_lock);
  while ((__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) != until_equal) pthread_cond_wait(&changed, &swemu_lock);
  pthread_mutex_unlock(&swemu_lock);
}

void swemu_wake_all(void) {
  pthread_mutex_lock(&swemu_lock);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&swemu_lock);
}

/* ---- barriers ---- */

void swemu_init_barriers(void) {
  const int columns = swemu_config.columns;
  const int rows = (swemu_config.cores + columns - 1) / columns;
  of_all = (struct barrier){.step = 1, .end = swemu_config.cores};
  of_rows = swemu_checked_realloc(NULL, (size_t)rows * sizeof *of_rows);
  for (int r = 0; r < rows; ++r)
    of_rows[r] = (struct barrier){.first = r * columns, .step = 1, .end = (r + 1) * columns};
  of_columns = swemu_checked_realloc(NULL, (size_t)columns * sizeof *of_columns);
  for (int c = 0; c < columns; ++c)
    of_columns[c] = (struct barrier){.first = c, .step = columns, .end = swemu_config.cores};
}

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
  return core->waiting.what == SWEMU_AT_BARRIER && core->fiber->word == &barrier->epoch;
}

/* ---- deadlock ---- */

struct text {
  char* at;
  size_t left;
};

static void append(struct text* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void append(struct text* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(text->at, text->left, format, arguments);
  va_end(arguments);
  const size_t used = n < 0 ? 0 : (size_t)n < text->left ? (size_t)n : text->left - 1;
  text->at += used;
  text->left -= used;
}

static int waits_alike(const struct swemu_core* a, const struct swemu_core* b) {
  return a->waiting.what == b->waiting.what &&
         (a->waiting.what == SWEMU_GOES_ON || (a->waiting.at == b->waiting.at && a->waiting.bus == b->waiting.bus));
}

/* "cores 0-7, 12 wait at k.s.c:8 (to take along a row)": those that wait as one does, of which it is the first. */
static void append_alike(struct text* text, const struct swemu_core* first) {
  static const char* const said_as[] = {"", "at a barrier", "to take", "to send"};
  int count = 0;
  for (int i = first->id; i < swemu_run.threads; ++i) count += waits_alike(&swemu_cores[i], first);
  append(text, count > 1 ? "cores " : "core ");
  for (int i = first->id, ranges = 0; i < swemu_run.threads; ++i) {
    if (!waits_alike(&swemu_cores[i], first)) continue;
    int last = i;
    while (last + 1 < swemu_run.threads && waits_alike(&swemu_cores[last + 1], first)) ++last;
    append(text, ranges++ ? ", %d" : "%d", i);
    if (last > i) append(text, "-%d", last);
    i = last;
  }
  const char* s = count > 1 ? "" : "s";
  const struct swemu_waiting* waits = &first->waiting;
  if (waits->what == SWEMU_GOES_ON) {
    append(text, count > 1 ? " have returned" : " has returned");
    return;
  }
  append(text, " wait%s at %s:%d", s, waits->at->file, waits->at->line);
  append(text,
         waits->what == SWEMU_AT_BARRIER ? " (%s)"
         : waits->bus == SWEMU_ROW       ? " (%s along the row)"
                                         : " (%s down the column)",
         said_as[waits->what]);
}

/* What each core does, those that wait alike together. */
static const char* what_cores_do(char* buffer, size_t size) {
  struct text text = {buffer, size};
  int groups = 0;
  for (int i = 0; i < swemu_run.threads; ++i) {
    int is_first = 1;
    for (int k = 0; k < i && is_first; ++k) is_first = !waits_alike(&swemu_cores[k], &swemu_cores[i]);
    if (!is_first) continue;
    if (groups++) append(&text, "; ");
    append_alike(&text, &swemu_cores[i]);
  }
  return buffer;
}

static const char* bus_text(char* text, size_t size, enum swemu_bus bus, int core) {
  snprintf(text, size, bus == SWEMU_ROW ? "along row %d" : "down column %d",
           bus == SWEMU_ROW ? core / swemu_config.columns : core % swemu_config.columns);
  return text;
}

/* All cores have returned or wait, and none of what they wait for can come. */
static void report_deadlock(void) {
  const struct swemu_core* first = NULL;
  for (int i = 0; i < swemu_run.threads && !first; ++i)
    if (swemu_cores[i].waiting.what != SWEMU_GOES_ON) first = &swemu_cores[i];
  struct swemu_site* at = first->waiting.at;
  static char all[16384]; /* 64 cores, each at a place of its own */
  what_cores_do(all, sizeof all);
  char bus[40];
  bus_text(bus, sizeof bus, first->waiting.bus, first->id);
  if (first->waiting.what == SWEMU_TO_TAKE)
    swemu_fatal("emulation-deadlock", at, first->id, "waits for a register that nobody sends %s: %s", bus, all);
  if (first->waiting.what == SWEMU_TO_SEND)
    swemu_fatal("emulation-deadlock", at, first->id, "waits to send %s, where core %d takes none of those it has: %s",
                bus, first->waiting.receiver, all);
  const int row = first->id / swemu_config.columns;
  const int column = first->id % swemu_config.columns;
  const struct barrier* barrier = &of_all;
  if (waits_at(first, &of_rows[row])) barrier = &of_rows[row];
  if (waits_at(first, &of_columns[column])) barrier = &of_columns[column];
  const int members = members_of(barrier);
  const struct swemu_core* missing = NULL; /* one of them */
  for (int i = swemu_run.threads - 1; i >= 0; --i)
    if (is_member(barrier, i) && !waits_at(&swemu_cores[i], barrier)) missing = &swemu_cores[i];
  char instead[300] = "has returned";
  if (missing->waiting.what != SWEMU_GOES_ON)
    snprintf(instead, sizeof instead, "waits at %s:%d", missing->waiting.at->file, missing->waiting.at->line);
  char which[40] = "all cores";
  if (barrier == &of_rows[row]) snprintf(which, sizeof which, "row %d of the mesh", row);
  if (barrier == &of_columns[column]) snprintf(which, sizeof which, "column %d of the mesh", column);
  swemu_fatal("emulation-deadlock", at, first->id,
              "%d of %d cores wait at a %s of %s that the other %d never reach (core %d %s): %s", barrier->arrived,
              members, barrier->sends ? "broadcast" : "barrier", which, members - barrier->arrived, missing->id,
              instead, all);
}

/* ---- standing still ---- */

void swemu_begin_waiting(void) {
  waiting = returned = 0;
  for (int i = 0; i < swemu_run.threads; ++i) swemu_cores[i].waiting.what = SWEMU_GOES_ON;
}

void swemu_core_returned(struct swemu_core* core) {
  pthread_mutex_lock(&swemu_lock);
  core->finished = 1;
  ++returned;
  if (waiting > 0 && waiting + returned == swemu_run.threads) report_deadlock();
  pthread_mutex_unlock(&swemu_lock);
}

static void note_waiting(struct swemu_core* core, struct swemu_waiting how, unsigned* word) {
  core->waiting = how;
  core->fiber->word = word;
  ++waiting;
}

/* With the lock, which it gives back: the core's worker goes on with others until the word is raised. */
static void leave_until_raised(struct swemu_fiber* fiber) {
  if (waiting + returned == swemu_run.threads) report_deadlock();
  fiber->seen = __atomic_load_n(fiber->word, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&swemu_lock);
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

void swemu_stand_still(struct swemu_core* core, struct swemu_waiting how, unsigned* word) {
  note_waiting(core, how, word);
  leave_until_raised(core->fiber);
}

void swemu_go_on(struct swemu_core* core) {
  core->waiting.what = SWEMU_GOES_ON;
  --waiting;
}

void swemu_raise(unsigned* word) {
  __atomic_add_fetch(word, 1, __ATOMIC_RELEASE);
  __atomic_add_fetch(&swemu_raised, 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&changed);
}

/* ---- waiting at barriers ---- */

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

/* `at_opening`, if any, is called when the last core has come, while all stand still; cores of a row or of a column
   have one for a broadcast. `rows`: of a column's barrier, its mask. */
static void wait_at(struct barrier* barrier, int rows, struct swemu_core* core, struct swemu_site* site,
                    void (*at_opening)(void)) {
  const int sends = at_opening != NULL && barrier != &of_all;
  pthread_mutex_lock(&swemu_lock);
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
  note_waiting(core, (struct swemu_waiting){.what = SWEMU_AT_BARRIER, .at = site}, &barrier->epoch);
  if (++barrier->arrived < members_of(barrier)) {
    leave_until_raised(core->fiber);
    return;
  }
  if (barrier == &of_all) swemu_check_races();
  if (at_opening) at_opening();
  barrier->arrived = 0;
  for (int i = 0; i < swemu_run.threads; ++i)
    if (is_member(barrier, i)) swemu_go_on(&swemu_cores[i]);
  swemu_raise(&barrier->epoch);
  pthread_mutex_unlock(&swemu_lock);
}

int swemu_barrier(struct swemu_site* site, int scope, int mask) {
  struct swemu_core* core = swemu_core;
  if (!core) swemu_fatal("emulation-misuse", site, -1, "athread_syn was called on the management core");
  struct barrier* barrier = barrier_of(site, core, scope, mask);
  swemu_count_meeting(core, site, 0);
  wait_at(barrier, barrier >= of_columns && barrier < of_columns + swemu_config.columns ? mask : 0, core, site, NULL);
  return 0;
}

void swemu_meet_all(struct swemu_core* core, struct swemu_site* site, void (*at_opening)(void)) {
  wait_at(&of_all, 0, core, site, at_opening);
}

void swemu_meet_in_column(struct swemu_core* core, struct swemu_site* site, void (*at_opening)(void)) {
  wait_at(&of_columns[core->id % swemu_config.columns], 0, core, site, at_opening);
}

void swemu_meet_in_row(struct swemu_core* core, struct swemu_site* site, void (*at_opening)(void)) {
  wait_at(&of_rows[core->id / swemu_config.columns], 0, core, site, at_opening);
}
