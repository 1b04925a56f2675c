// SPDX-License-Identifier: Apache-2.0
// The LDM of a core and its DMA. In level count data moves when an operation is issued; in check it moves when the
// operation is awaited, and its target holds NaN until then; in strict at a random moment in between.
#include <stdlib.h>
#include <string.h>

#include "swemu_state.h"

#if SWEMU_ASAN
#include <sanitizer/asan_interface.h>
#define FORBID(p, n) __asan_poison_memory_region((p), (size_t)(n))
#define ALLOW(p, n) __asan_unpoison_memory_region((p), (size_t)(n))
#else
#define FORBID(p, n) ((void)(p), (void)(n))
#define ALLOW(p, n) ((void)(p), (void)(n))
#endif

enum { GET = 1, PUT = 0, CANARY_BYTE = 0xa5, NAN_BYTE = 0xff };

static char* arena_of(const struct swemu_core* core) { return core->fiber->arena; }
static int checked(void) { return swemu_config.level != SWEMU_COUNT; }

/* ---- LDM ---- */

void swemu_begin_core(struct swemu_core* core) {
  core->ldm_size = 0;
  core->flight_count = 0;
  core->put_low = UINT64_MAX;
  core->put_high = 0;
  core->random = swemu_config.seed * 0x9e3779b97f4a7c15u + (uint64_t)swemu_run.launch * 4099 + (uint64_t)core->id;
}

void* swemu_ldm(size_t bytes, size_t buffer_bytes) {
  struct swemu_core* core = swemu_core;
  if (!core) swemu_fatal("emulation-misuse", NULL, -1, "the LDM was asked for on the management core");
  if ((int64_t)bytes > swemu_config.ldm_bytes)
    swemu_fatal("emulation-ldm-overflow", NULL, core->id,
                "kernel %s keeps %lld bytes in the LDM, which holds %lld for it", swemu_run.kernel, (long long)bytes,
                (long long)swemu_config.ldm_bytes);
  char* arena = arena_of(core);
  if ((int64_t)buffer_bytes > swemu_worker->ldm_peak) swemu_worker->ldm_peak = (int64_t)buffer_bytes;
  if ((int64_t)bytes <= core->ldm_size) return arena;
  core->ldm_size = (int64_t)bytes;
#if SWEMU_ASAN
  ALLOW(arena - SWEMU_CANARY, swemu_config.ldm_bytes + 2 * SWEMU_CANARY);
#endif
  memset(arena - SWEMU_CANARY, CANARY_BYTE, SWEMU_CANARY);
  memset(arena + bytes, CANARY_BYTE, SWEMU_CANARY);
  if (checked()) memset(arena, NAN_BYTE, bytes);
#if SWEMU_ASAN
  FORBID(arena - SWEMU_CANARY, SWEMU_CANARY);
  FORBID(arena + bytes, swemu_config.ldm_bytes - (int64_t)bytes + SWEMU_CANARY);
  const struct swemu_launch* launch = swemu_run.expected;
  for (int i = 0; launch && i < launch->gap_count; ++i)
    if (launch->gaps[i].offset + launch->gaps[i].bytes <= (int64_t)bytes)
      FORBID(arena + launch->gaps[i].offset, launch->gaps[i].bytes);
#endif
  return arena;
}

static int canary_broken(const char* canary, int* at) {
  for (*at = 0; *at < SWEMU_CANARY; ++*at)
    if ((unsigned char)canary[*at] != CANARY_BYTE) return 1;
  return 0;
}

static void check_canaries(struct swemu_core* core) {
  if (!core->ldm_size) return;
  char* arena = arena_of(core);
  int at = 0;
#if SWEMU_ASAN
  ALLOW(arena - SWEMU_CANARY, swemu_config.ldm_bytes + 2 * SWEMU_CANARY);
#endif
  if (canary_broken(arena + core->ldm_size, &at))
    swemu_problem(SWEMU_ERROR, "emulation-ldm-overrun", swemu_run.spawn_site, core->id,
                  "kernel %s wrote at byte %lld of the LDM, behind the %lld that it declares", swemu_run.kernel,
                  (long long)core->ldm_size + at, (long long)core->ldm_size);
  if (canary_broken(arena - SWEMU_CANARY, &at))
    swemu_problem(SWEMU_ERROR, "emulation-ldm-overrun", swemu_run.spawn_site, core->id,
                  "kernel %s wrote %d bytes before the start of the LDM", swemu_run.kernel, SWEMU_CANARY - at);
}

/* ---- busy bytes of the LDM: one bit each ---- */

static uint64_t bits(int from, int to) { /* [from, to) of one word, to <= 64 */
  const uint64_t upper = to == 64 ? ~(uint64_t)0 : ((uint64_t)1 << to) - 1;
  return upper & ~(((uint64_t)1 << from) - 1);
}

enum busy { IS_BUSY, SET_BUSY, CLEAR_BUSY };

/* Asks or changes the bits of an operation's bytes; the answer is whether any was set. A broadcast of another core may
 * change bits of the same words meanwhile. */
static inline int busy(uint64_t* map, const struct swemu_flight* f, enum busy what) {
  const int64_t end = f->at + f->length;
  uint64_t any = 0;
  for (int64_t at = f->at; at < end;) {
    const int64_t next = (at | 63) + 1 < end ? (at | 63) + 1 : end;
    const uint64_t mask = bits((int)(at & 63), (int)(next - (at & ~(int64_t)63)));
    uint64_t* word = &map[at >> 6];
    if (what == IS_BUSY) any |= __atomic_load_n(word, __ATOMIC_RELAXED) & mask;
    if (what != IS_BUSY && mask == ~(uint64_t)0) /* a plain store, which is many times as fast, says the same */
      __atomic_store_n(word, what == SET_BUSY ? mask : 0, __ATOMIC_RELAXED);
    else if (what == SET_BUSY)
      __atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
    else if (what == CLEAR_BUSY)
      __atomic_fetch_and(word, ~mask, __ATOMIC_RELAXED);
    at = next;
  }
  return any != 0;
}

/* ---- the cores whose LDMs an operation fills or empties: its own, or all of the rows that it is broadcast to ---- */

static const struct swemu_core* first_core(const struct swemu_core* core, const struct swemu_flight* f) {
  return f->rows_filled ? &swemu_cores[0] : core;
}

static int fills(const struct swemu_core* core, const struct swemu_flight* f, const struct swemu_core* asked) {
  return f->rows_filled ? f->rows_filled >> (asked->id / swemu_config.columns) & 1 : asked == core;
}

static int is_core(const struct swemu_core* core, const struct swemu_flight* f, const struct swemu_core* asked) {
  return f->rows_filled ? asked < &swemu_cores[swemu_run.threads] : asked == core;
}

#define FOR_CORES(it, core, f)                                                                   \
  for (const struct swemu_core* it = first_core((core), (f)); is_core((core), (f), it); ++it) \
    if (fills((core), (f), it))

static uint64_t* busy_map(const struct swemu_core* core, const struct swemu_flight* f) {
  return f->is_get ? core->get_busy : core->put_busy;
}

/* ---- moving ---- */

static uint64_t checksum(const char* bytes, int length) {
  uint64_t sum = 0x243f6a8885a308d3u;
  int i = 0;
  for (; i + 8 <= length; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, 8);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
  for (; i < length; ++i) sum = (sum ^ (unsigned char)bytes[i]) * 0x100000001b3u;
  return sum;
}

static inline void move_for(const struct swemu_flight* f, char* ldm) {
  char* memory = f->memory;
  for (int64_t row = 0; row < f->rows; ++row) {
    if (f->is_get)
      memcpy(ldm, memory, (size_t)f->block);
    else
      memcpy(memory, ldm, (size_t)f->block);
    ldm += f->block;
    memory += f->block + f->stride;
  }
}

static void move_to_all(const struct swemu_core* core, const struct swemu_flight* f) {
  FOR_CORES(filled, core, f) {
    char* ldm = arena_of(filled) + f->at;
    ALLOW(ldm, f->length);
    move_for(f, ldm);
  }
}

/* Nothing but DMA may touch what a get fills, or it may again. */
static void forbid(const struct swemu_core* core, const struct swemu_flight* f, int forbidden) {
  FOR_CORES(filled, core, f) {
    char* ldm = arena_of(filled) + f->at;
    if (forbidden)
      FORBID(ldm, f->length);
    else
      ALLOW(ldm, f->length);
  }
}

/* The data moves and the reply word counts it. The operation stays in flight until it is awaited. */
static inline void arrive(const struct swemu_core* core, struct swemu_flight* f) {
  f->done = 1;
  if (!f->refused) {
    if (f->rows_filled) {
      move_to_all(core, f);
    } else {
      if (f->is_get) ALLOW(f->ldm, f->length);
      move_for(f, f->ldm);
    }
  }
  ++*f->reply;
}

static inline void arrive_at_random(struct swemu_core* core) {
  if (swemu_config.level != SWEMU_STRICT || !core->flight_count) return;
  const uint64_t random = swemu_random(&core->random);
  struct swemu_flight* f = &core->flights[(random >> 1) % (uint64_t)core->flight_count];
  if (!(random & 1) || f->done) return;
  arrive(core, f);
  if (f->is_get && !f->refused) forbid(core, f, 1); /* the kernel cannot know that it is there */
}

/* What was forbidden while the operation was in flight is free again. */
static inline void land(struct swemu_core* core, struct swemu_flight* f) {
  if (!f->done) arrive(core, f);
  if (f->refused || !checked()) return;
  FOR_CORES(filled, core, f) busy(busy_map(filled, f), f, CLEAR_BUSY);
  const int64_t begin = f->at;
  if (f->is_get)
    forbid(core, f, 0);
  else if (checksum(f->ldm, f->length) != f->checksum)
    swemu_problem(SWEMU_ERROR, "emulation-put-source-changed", f->site, core->id,
                  "the source of this put (LDM bytes [%lld, %lld)) was overwritten before the put was awaited",
                  (long long)begin, (long long)begin + f->length);
}

/* ---- checks of one operation ---- */

static uint64_t address(const void* p) { return (uint64_t)(uintptr_t)p; }
static int64_t pitch(const struct swemu_flight* f) { return (int64_t)f->block + f->stride; }
/* Main memory from the first byte of the first block to the last of the last. */
static int64_t hull_of(const struct swemu_flight* f) { return (f->rows - 1) * pitch(f) + f->block; }

static inline int in_argument(uint64_t begin, int64_t bytes) {
  const uint64_t at = begin - address(swemu_run.argument);
  return at < (uint64_t)swemu_run.argument_bytes && at + (uint64_t)bytes <= (uint64_t)swemu_run.argument_bytes;
}

static inline const struct swemu_range* find_range(uint64_t begin, int64_t bytes, int writing) {
  const struct swemu_launch* launch = swemu_run.expected;
  for (int i = 0; i < launch->range_count; ++i) {
    const struct swemu_range* range = &launch->ranges[i];
    if (begin >= range->low && begin + (uint64_t)bytes <= range->high && (!writing || range->writable)) return range;
  }
  return NULL;
}

static int refuse_memory(struct swemu_core* core, struct swemu_flight* f, int64_t bytes) {
  char text[400];
  const char* where = swemu_memory_text(text, sizeof text, f->memory, bytes);
  if (!f->is_get && find_range(address(f->memory), bytes, 0))
    swemu_problem(SWEMU_ERROR, "emulation-read-only", f->site, core->id,
                  "athread_put to %s, which kernel %s may only read", where, swemu_run.kernel);
  else
    swemu_problem(SWEMU_ERROR, "emulation-dma-out-of-bounds", f->site, core->id,
                  "athread_%s %s %s lies outside every tensor of kernel %s", f->is_get ? "get" : "put",
                  f->is_get ? "from" : "to", where, swemu_run.kernel);
  return 0;
}

/* One pass over everything that must hold, for the millions of operations where it does. */
static inline int plainly_allowed(const struct swemu_core* core, struct swemu_flight* f, int mode, int mask) {
  const int whole = f->block == 0 ? f->stride == 0 : f->block == f->length;
  const uint64_t units = address(f->memory) | address(f->ldm) | (uint64_t)f->length;
  const int64_t at = f->at;
  if ((mode | mask) != 0 || !whole || f->length <= 0 || (units & (uint64_t)(swemu_config.alignment - 1)) != 0 ||
      at < 0 || at + f->length > core->ldm_size)
    return 0;
  f->block = f->length;
  f->stride = 0;
  if (f->of_argument) return 1;
  const struct swemu_range* range = find_range(address(f->memory), f->length, !f->is_get);
  if (range) f->shared = range->shared;
  return range != NULL;
}

static int may_be_unaligned(const struct swemu_site* site) {
  for (int i = 0; i < swemu_config.unaligned_count; ++i) {
    const struct swemu_place* place = &swemu_config.unaligned[i];
    if (place->line == site->line && !strcmp(place->file, site->file)) return 1;
  }
  return 0;
}

/* A broadcast goes to the same place of the LDM of every core of the rows in its mask. */
static int may_broadcast(struct swemu_core* core, struct swemu_flight* f, int mask) {
  const int rows = (swemu_run.threads + swemu_config.columns - 1) / swemu_config.columns;
  if (mask <= 0 || (rows < 31 && mask >> rows)) {
    swemu_problem(SWEMU_ERROR, "emulation-broadcast-mask", f->site, core->id,
                  "a broadcast to rows 0x%x of the mesh, which has %d: one bit a row was wanted", (unsigned)mask, rows);
    return 0;
  }
  f->rows_filled = mask;
  FOR_CORES(filled, core, f) {
    const int64_t held = filled->finished ? 0 : __atomic_load_n(&filled->ldm_size, __ATOMIC_ACQUIRE);
    if (f->at + f->length <= held) continue;
    swemu_problem(SWEMU_ERROR, "emulation-broadcast-absent", f->site, core->id,
                  "a broadcast of LDM bytes [%lld, %lld) to core %d, which %s: a barrier is missing before it",
                  (long long)f->at, (long long)f->at + f->length, filled->id,
                  filled->finished ? "has returned" : "has not come to its LDM yet");
    f->rows_filled = 0;
    return 0;
  }
  return 1;
}

/* Shape, alignment and places of an operation; 1 if it may run. Fills in the block of a contiguous one. */
static int allowed(struct swemu_core* core, struct swemu_flight* f, int mode, int mask) {
  const char* name = f->is_get ? "athread_get" : "athread_put";
  enum { PE = 0, BCAST = 1 };
  char* arena = arena_of(core);
  if (!(mode == PE && mask == 0) && !(mode == BCAST && f->is_get)) {
    swemu_problem(SWEMU_ERROR, "emulation-unsupported", f->site, core->id,
                  "%s in mode %d with mask %d: only PE_MODE without a mask and, of gets, BCAST_MODE are emulated", name,
                  mode, mask);
    return 0;
  }
  if (f->length <= 0 || f->block < 0 || f->stride < 0 || (f->stride > 0 && f->block == 0)) {
    swemu_problem(SWEMU_ERROR, "emulation-dma-shape", f->site, core->id,
                  "%s of %d bytes with stride %d and block %d: lengths must be positive", name, f->length, f->stride,
                  f->block);
    return 0;
  }
  if (f->block == 0) f->block = f->length;
  f->rows = f->block == f->length ? 1 : f->length / f->block;
  if (f->rows * f->block != f->length) {
    swemu_problem(SWEMU_ERROR, "emulation-dma-shape", f->site, core->id,
                  "%s of %d bytes, which is no multiple of its block of %d bytes", name, f->length, f->block);
    return 0;
  }
  if ((address(f->memory) | address(f->ldm) | (uint64_t)f->length | (uint64_t)f->stride | (uint64_t)f->block) &
      (uint64_t)(swemu_config.alignment - 1)) {
    char text[400];
    const int known = may_be_unaligned(f->site);
    swemu_problem(known ? SWEMU_WARNING : SWEMU_ERROR, "emulation-dma-misaligned", f->site, core->id,
                  "%s of %d bytes (stride %d, block %d) between LDM byte %lld and %s: all must be multiples of %d%s",
                  name, f->length, f->stride, f->block, (long long)(f->ldm - arena),
                  swemu_memory_text(text, sizeof text, f->memory, f->length), swemu_config.alignment,
                  known ? "; the machine would refuse it, here it is done byte by byte" : "");
    if (!known) return 0;
  }
  const int64_t at = (int64_t)(address(f->ldm) - address(arena));
  if (at < 0 || at + f->length > core->ldm_size) {
    swemu_problem(SWEMU_ERROR, "emulation-dma-ldm-bounds", f->site, core->id,
                  "%s of LDM bytes [%lld, %lld), of which the kernel declares [0, %lld)", name, (long long)at,
                  (long long)at + f->length, (long long)core->ldm_size);
    return 0;
  }
  if (mode == BCAST && !may_broadcast(core, f, mask)) return 0;
  if (f->of_argument) return 1;
  const int64_t hull = hull_of(f);
  const struct swemu_range* range = find_range(address(f->memory), hull, !f->is_get);
  if (!range) return refuse_memory(core, f, hull);
  f->shared = range->shared;
  return 1;
}

static inline void check_reply(struct swemu_core* core, struct swemu_flight* f) {
  const int64_t at = (int64_t)(address((const void*)f->reply) - address(arena_of(core)));
  if (at < 0 || at + (int64_t)sizeof(int) > core->ldm_size || at % (int64_t)sizeof(int))
    swemu_problem(SWEMU_ERROR, "emulation-reply-place", f->site, core->id,
                  "the reply word of this operation is not an aligned word of the core's LDM");
}

/* ---- operations that overlap in flight ---- */

static int memory_overlaps(const struct swemu_flight* a, const struct swemu_flight* b) {
  for (int64_t row = 0; row < a->rows; ++row) {
    /* The rows of b that end behind the begin of this one start with index `first`. */
    const int64_t begin = (int64_t)(address(a->memory) - address(b->memory)) + row * pitch(a);
    const int64_t first = begin < b->block ? 0 : (begin - b->block) / pitch(b) + 1;
    if (first < b->rows && first * pitch(b) < begin + a->block) return 1;
  }
  return 0;
}

static int ldm_overlaps(const struct swemu_flight* a, const struct swemu_flight* b) {
  return a->ldm < b->ldm + b->length && b->ldm < a->ldm + a->length;
}

static int report_overlap(struct swemu_core* core, const struct swemu_flight* f, int in_ldm) {
  for (int i = 0; i < core->flight_count; ++i) {
    const struct swemu_flight* other = &core->flights[i];
    if (other->refused || (!f->is_get && !other->is_get && in_ldm)) continue;
    if (in_ldm ? !ldm_overlaps(f, other) : other->is_get || !memory_overlaps(f, other)) continue;
    const long long at = f->ldm - arena_of(core), there = other->ldm - arena_of(core);
    char text[400], other_text[400];
    if (in_ldm)
      swemu_problem(SWEMU_ERROR, "emulation-dma-overlap", f->site, core->id,
                    "athread_%s of LDM bytes [%lld, %lld) while the athread_%s of [%lld, %lld) issued at %s:%d is in "
                    "flight",
                    f->is_get ? "get" : "put", at, at + f->length, other->is_get ? "get" : "put", there,
                    there + other->length, other->site->file, other->site->line);
    else
      swemu_problem(SWEMU_ERROR, "emulation-dma-overlap", f->site, core->id,
                    "athread_%s of %s while the athread_put of %s issued at %s:%d is in flight",
                    f->is_get ? "get" : "put", swemu_memory_text(text, sizeof text, f->memory, f->length),
                    swemu_memory_text(other_text, sizeof other_text, other->memory, other->length), other->site->file,
                    other->site->line);
    return 1;
  }
  return 0;
}

/* Something that another core has to do with: a broadcast that is in flight or would be. */
static int report_broadcast(struct swemu_core* core, const struct swemu_flight* f, const struct swemu_core* filled) {
  swemu_problem(SWEMU_ERROR, "emulation-dma-overlap", f->site, core->id,
                f->rows_filled ? "a broadcast of LDM bytes [%lld, %lld) while an operation of core %d is in flight there"
                               : "DMA of LDM bytes [%lld, %lld) of core %d while a broadcast to it is in flight there",
                (long long)f->at, (long long)f->at + f->length, filled->id);
  return 1;
}

static int overlaps_flight(struct swemu_core* core, const struct swemu_flight* f) {
  FOR_CORES(filled, core, f) {
    if (!busy(filled->get_busy, f, IS_BUSY) && !(f->is_get && busy(filled->put_busy, f, IS_BUSY))) continue;
    if (filled == core && report_overlap(core, f, 1)) return 1;
    return report_broadcast(core, f, filled);
  }
  const uint64_t begin = address(f->memory), end = begin + (uint64_t)hull_of(f);
  if (begin < core->put_high && core->put_low < end && report_overlap(core, f, 0)) return 1;
  if (!f->is_get) {
    if (begin < core->put_low) core->put_low = begin;
    if (end > core->put_high) core->put_high = end;
  }
  return 0;
}

static void log_memory(struct swemu_core* core, const struct swemu_flight* f) {
  if (f->is_get && swemu_config.level != SWEMU_STRICT) return;
  struct swemu_log* log = f->is_get ? &core->gets : &core->puts;
  uint64_t begin = address(f->memory);
  for (int64_t row = 0; row < f->rows; ++row, begin += (uint64_t)pitch(f))
    swemu_log_interval(log, begin, begin + (uint64_t)f->block, f->site, core->id);
}

/* ---- the calls ---- */

static inline struct swemu_count* count_of(struct swemu_site* site) {
  struct swemu_worker* worker = swemu_worker;
  const int id = swemu_site_id(site);
  if (id > worker->count_capacity) {
    const int capacity = id + 64;
    worker->counts = swemu_checked_realloc(worker->counts, (size_t)capacity * sizeof *worker->counts);
    memset(worker->counts + worker->count_capacity, 0,
           (size_t)(capacity - worker->count_capacity) * sizeof *worker->counts);
    worker->count_capacity = capacity;
  }
  return &worker->counts[id - 1];
}

/* A place at the end of the list of operations in flight, not yet counted in. */
static inline struct swemu_flight* new_flight(struct swemu_site* site) {
  struct swemu_core* core = swemu_core;
  if (!core) swemu_fatal("emulation-misuse", site, -1, "DMA was issued on the management core");
  if (core->flight_count == core->flight_capacity) {
    core->flight_capacity = core->flight_capacity ? 2 * core->flight_capacity : 16;
    core->flights = swemu_checked_realloc(core->flights, (size_t)core->flight_capacity * sizeof *core->flights);
  }
  return &core->flights[core->flight_count];
}

/* Marks the operation as begun: from here to its completion nothing else may touch its LDM. */
static void take_off(struct swemu_core* core, struct swemu_flight* f) {
  if (f->shared) log_memory(core, f);
  FOR_CORES(filled, core, f) busy(busy_map(filled, f), f, SET_BUSY);
  if (f->is_get) {
    FOR_CORES(filled, core, f) {
      char* ldm = arena_of(filled) + f->at;
      ALLOW(ldm, f->length);
      memset(ldm, NAN_BYTE, (size_t)f->length);
      FORBID(ldm, f->length);
    }
  } else {
    f->checksum = checksum(f->ldm, f->length);
  }
}

/* The first operation since the reply word was zeroed begins a transfer. */
static inline int begins_transfer(const struct swemu_core* core, const struct swemu_flight* f) {
  if (*f->reply != 0) return 0;
  for (int i = 0; i < core->flight_count; ++i)
    if (core->flights[i].reply == f->reply) return 0;
  return 1;
}

static inline int issue(struct swemu_flight* f, int mode, int mask) {
  struct swemu_core* core = swemu_core;
  f->done = f->shared = f->rows_filled = 0;
  f->at = f->ldm - arena_of(core);
  f->rows = 1;
  f->of_argument = f->is_get && in_argument(address(f->memory), f->length);
  f->refused = !plainly_allowed(core, f, mode, mask) && !allowed(core, f, mode, mask);
  check_reply(core, f);
  if (f->of_argument) {
    ++swemu_worker->argument_fetches;
  } else {
    struct swemu_count* count = count_of(f->site);
    ++count->operations;
    count->bytes += f->length;
    count->transfers += begins_transfer(core, f);
  }
  if (checked()) {
    arrive_at_random(core);
    if (!f->refused) f->refused = overlaps_flight(core, f);
    if (!f->refused) take_off(core, f);
  }
  ++core->flight_count;
  if (!checked()) arrive(core, f);
  return 0;
}

int swemu_get(struct swemu_site* site, int mode, const void* source, void* target, int length, volatile void* reply,
              int mask, int stride, int block) {
  struct swemu_flight* f = new_flight(site);
  f->site = site;
  f->reply = reply;
  f->ldm = target;
  f->memory = (char*)(uintptr_t)source;
  f->length = length;
  f->stride = stride;
  f->block = block;
  f->is_get = GET;
  return issue(f, mode, mask);
}

int swemu_put(struct swemu_site* site, int mode, const void* source, void* target, int length, volatile void* reply,
              int stride, int block) {
  struct swemu_flight* f = new_flight(site);
  f->site = site;
  f->reply = reply;
  f->ldm = (char*)(uintptr_t)source;
  f->memory = target;
  f->length = length;
  f->stride = stride;
  f->block = block;
  f->is_get = PUT;
  return issue(f, mode, 0);
}

/* Lands and forgets the operations of one reply word. */
static int settle(struct swemu_core* core, const volatile unsigned* reply) {
  int kept = 0, settled = 0;
  for (int i = 0; i < core->flight_count; ++i) {
    struct swemu_flight* f = &core->flights[i];
    if (f->reply == reply) {
      land(core, f);
      ++settled;
    } else {
      if (kept != i) core->flights[kept] = *f;
      ++kept;
    }
  }
  core->flight_count = kept;
  if (!kept) {
    core->put_low = UINT64_MAX;
    core->put_high = 0;
  }
  return settled;
}

void swemu_wait(struct swemu_site* site, volatile unsigned* reply, int count) {
  struct swemu_core* core = swemu_core;
  if (!core) swemu_fatal("emulation-misuse", site, -1, "dma_wait on the management core");
  arrive_at_random(core);
  const int settled = settle(core, reply);
  const int value = (int)*reply;
  if (value < count)
    swemu_problem(
        SWEMU_ERROR, "emulation-wait-never-ends", site, core->id,
        "dma_wait for %d completions can never end: only %d of the reply word were issued since it was zeroed", count,
        value);
  else if (value > count || settled > count)
    swemu_problem(SWEMU_ERROR, "emulation-wait-count", site, core->id,
                  "dma_wait for %d completions, but the reply word counts %d: it was not zeroed before, or operations "
                  "are missing in the count",
                  count, value > settled ? value : settled);
}

void swemu_end_core(struct swemu_core* core) {
  for (int i = 0; i < core->flight_count; ++i) {
    struct swemu_flight* f = &core->flights[i];
    swemu_problem(SWEMU_ERROR, "emulation-never-awaited", f->site, core->id,
                  "kernel %s returned without waiting for this athread_%s of LDM bytes [%lld, %lld)", swemu_run.kernel,
                  f->is_get ? "get" : "put", (long long)(f->ldm - arena_of(core)),
                  (long long)(f->ldm - arena_of(core)) + f->length);
    if (!f->refused && checked()) {
      FOR_CORES(filled, core, f) busy(busy_map(filled, f), f, CLEAR_BUSY);
    }
  }
  core->flight_count = 0;
  check_canaries(core);
}
