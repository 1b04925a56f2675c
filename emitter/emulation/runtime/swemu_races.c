// SPDX-License-Identifier: Apache-2.0
// Main memory that two cores touched without a barrier between: both wrote it (always wrong), one wrote what the other
// read (level strict), or both wrote into one line of main memory (what that costs on the machine is not known: a warning).
#include <stdlib.h>
#include <string.h>

#include "swemu_state.h"

void swemu_log_interval(struct swemu_log* log, uint64_t begin, uint64_t end, struct swemu_site* site, int core) {
  if (log->count) {
    struct swemu_interval* last = &log->items[log->count - 1];
    if (last->site == site && begin >= last->begin && begin <= last->end) {
      if (end > last->end) last->end = end;
      return;
    }
  }
  if (log->count == log->capacity) {
    log->capacity = log->capacity ? 2 * log->capacity : 256;
    log->items = swemu_checked_realloc(log->items, (size_t)log->capacity * sizeof *log->items);
  }
  log->items[log->count++] = (struct swemu_interval){begin, end, site, core};
}

static int by_begin(const void* left, const void* right) {
  const struct swemu_interval *a = left, *b = right;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  if (a->core != b->core) return a->core < b->core ? -1 : 1;
  return 0;
}

static struct swemu_log all_puts, all_gets;

static void gather(struct swemu_log* all, int gets) {
  all->count = 0;
  for (int i = 0; i < swemu_run.threads; ++i) {
    struct swemu_log* log = gets ? &swemu_cores[i].gets : &swemu_cores[i].puts;
    if (all->count + log->count > all->capacity) {
      all->capacity = 2 * (all->count + log->count);
      all->items = swemu_checked_realloc(all->items, (size_t)all->capacity * sizeof *all->items);
    }
    if (log->count) memcpy(all->items + all->count, log->items, (size_t)log->count * sizeof *log->items);
    all->count += log->count;
    log->count = 0;
  }
  if (all->count > 1) qsort(all->items, (size_t)all->count, sizeof *all->items, by_begin);
}

static void report(const struct swemu_interval* a, const struct swemu_interval* b, int reading) {
  const uint64_t begin = a->begin > b->begin ? a->begin : b->begin;
  const uint64_t end = a->end < b->end ? a->end : b->end;
  char text[400];
  const char* where = swemu_memory_text(text, sizeof text, (const void*)(uintptr_t)begin, (int64_t)(end - begin));
  if (reading)
    swemu_problem(SWEMU_ERROR, "emulation-read-conflict", b->site, b->core,
                  "core %d reads %s, which core %d writes at %s:%d without a barrier between", b->core, where, a->core,
                  a->site->file, a->site->line);
  else
    swemu_problem(SWEMU_ERROR, "emulation-write-conflict", b->site, b->core,
                  "cores %d and %d both write %s (the first at %s:%d)", a->core, b->core, where, a->site->file,
                  a->site->line);
}

/* Sweeps intervals by their begin. What an interval may overlap is found by remembering, among those before it, the
 * furthest end and the furthest end of any other core. */
static void check_puts(const struct swemu_log* puts) {
  const struct swemu_interval *first = NULL, *second = NULL, *shared_line = NULL;
  int64_t shared_lines = 0;
  const uint64_t line = (uint64_t)swemu_config.line;
  for (int64_t i = 0; i < puts->count; ++i) {
    const struct swemu_interval* it = &puts->items[i];
    const struct swemu_interval* other = first && first->core != it->core ? first : second;
    if (other && other->core != it->core) {
      if (other->end > it->begin) {
        report(other, it, 0);
      } else if ((other->end - 1) / line == it->begin / line) {
        ++shared_lines;
        if (!shared_line) shared_line = it;
      }
    }
    if (!first || it->end > first->end) {
      if (first && first->core != it->core) second = first;
      first = it;
    } else if (it->core != first->core && (!second || it->end > second->end)) {
      second = it;
    }
  }
  if (shared_line) {
    char text[400];
    swemu_problem(SWEMU_WARNING, "emulation-shared-line", shared_line->site, shared_line->core,
                  "%lld times two cores put into one %d-byte line of main memory, first at %s", (long long)shared_lines,
                  swemu_config.line,
                  swemu_memory_text(text, sizeof text, (const void*)(uintptr_t)shared_line->begin,
                                    (int64_t)(shared_line->end - shared_line->begin)));
  }
}

/* Both lists are sorted; `first` trails behind the gets, so that long puts are seen again by each get they reach. */
static void check_gets(const struct swemu_log* puts, const struct swemu_log* gets) {
  uint64_t longest = 0;
  for (int64_t i = 0; i < puts->count; ++i) {
    const uint64_t length = puts->items[i].end - puts->items[i].begin;
    if (length > longest) longest = length;
  }
  int64_t first = 0;
  for (int64_t i = 0; i < gets->count; ++i) {
    const struct swemu_interval* get = &gets->items[i];
    while (first < puts->count && puts->items[first].begin + longest <= get->begin) ++first;
    for (int64_t k = first; k < puts->count && puts->items[k].begin < get->end; ++k) {
      const struct swemu_interval* put = &puts->items[k];
      if (put->end > get->begin && put->core != get->core) {
        report(put, get, 1);
        break;
      }
    }
  }
}

void swemu_check_races(void) {
  if (swemu_config.level == SWEMU_COUNT) return;
  gather(&all_puts, 0);
  check_puts(&all_puts);
  if (swemu_config.level != SWEMU_STRICT) return;
  gather(&all_gets, 1);
  check_gets(&all_puts, &all_gets);
}
