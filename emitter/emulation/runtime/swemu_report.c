// SPDX-License-Identifier: Apache-2.0
// Counts, problems and dumps. Problems go to standard error for people and, with everything else, to the result file.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "swemu_state.h"

#if SWEMU_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum { EXIT_PROBLEMS = 86, SIGNAL_STACK = 65536 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- sites ---- */

static struct swemu_site** sites;
static int site_count, site_capacity;

int swemu_site_id(struct swemu_site* site) {
  int id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);
  if (id) return id;
  pthread_mutex_lock(&lock);
  if (!site->id) {
    if (site_count == site_capacity) {
      site_capacity = site_capacity ? 2 * site_capacity : 64;
      sites = swemu_checked_realloc(sites, (size_t)site_capacity * sizeof *sites);
    }
    sites[site_count++] = site;
    __atomic_store_n(&site->id, site_count, __ATOMIC_RELEASE);
  }
  id = site->id;
  pthread_mutex_unlock(&lock);
  return id;
}

/* ---- problems ---- */

struct problem {
  enum swemu_severity severity;
  const char* code;
  const char* file;
  int line, core;
  int64_t launch;
  const char* kernel;
  char* text;
};

static struct problem* problems; /* in the order of launches */
static int problem_count, problem_capacity, error_count;

static void record(enum swemu_severity severity, const char* code, const char* file, int line, int core,
                   const char* text) {
  struct problem* p = NULL;
  for (int i = problem_count - 1; i >= 0 && problems[i].launch == swemu_run.launch && !p; --i)
    if (problems[i].line == line && !strcmp(problems[i].code, code) && !strcmp(problems[i].file, file))
      p = &problems[i];
  if (p && p->core <= core) return;
  if (!p) {
    if (problem_count == problem_capacity) {
      problem_capacity = problem_capacity ? 2 * problem_capacity : 16;
      problems = swemu_checked_realloc(problems, (size_t)problem_capacity * sizeof *problems);
    }
    p = &problems[problem_count++];
    p->text = NULL;
    error_count += severity == SWEMU_ERROR;
  }
  free(p->text);
  *p = (struct problem){severity, code, file, line, core, swemu_run.launch, swemu_run.kernel, NULL};
  const size_t n = strlen(text) + 1;
  p->text = memcpy(swemu_checked_realloc(NULL, n), text, n);
}

static void record_formatted(enum swemu_severity severity, const char* code, const struct swemu_site* site, int core,
                             const char* format, va_list arguments) {
  char text[20000];
  vsnprintf(text, sizeof text, format, arguments);
  pthread_mutex_lock(&lock);
  record(severity, code, site ? site->file : "", site ? site->line : 0, core, text);
  pthread_mutex_unlock(&lock);
}

void swemu_problem(enum swemu_severity severity, const char* code, struct swemu_site* site, int core,
                   const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  record_formatted(severity, code, site, core, format, arguments);
  va_end(arguments);
}

void swemu_fatal(const char* code, struct swemu_site* site, int core, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  record_formatted(SWEMU_ERROR, code, site, core, format, arguments);
  va_end(arguments);
  swemu_fail();
}

int swemu_has_errors(void) { return error_count > 0; }

/* ---- what was counted ---- */

static char* counted; /* text of the result file, growing launch by launch */
static size_t counted_bytes, counted_capacity;
static int64_t argument_fetches;
static double seconds;

static void print_count(const char* format, ...) {
  char line[600];
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (n < 0 || (size_t)n >= sizeof line) return;
  if (counted_bytes + (size_t)n > counted_capacity) {
    counted_capacity = 2 * (counted_bytes + (size_t)n);
    counted = swemu_checked_realloc(counted, counted_capacity);
  }
  memcpy(counted + counted_bytes, line, (size_t)n);
  counted_bytes += (size_t)n;
}

void swemu_add_seconds(double more) { seconds += more; }

void swemu_count_meeting(struct swemu_core* core, struct swemu_site* site, int bytes) {
  const int id = swemu_site_id(site) - 1;
  if (id >= core->meeting_capacity) {
    const int capacity = 2 * (id + 1);
    core->meetings = swemu_checked_realloc(core->meetings, (size_t)capacity * sizeof *core->meetings);
    memset(core->meetings + core->meeting_capacity, 0,
           (size_t)(capacity - core->meeting_capacity) * sizeof *core->meetings);
    core->meeting_capacity = capacity;
  }
  ++core->meetings[id].times;
  core->meetings[id].registers += swemu_registers_of(bytes);
}

/* Of the core that has most. */
static void print_meetings(int id) {
  struct swemu_meetings most = {0, 0};
  for (int c = 0; c < swemu_run.threads; ++c) {
    if (id >= swemu_cores[c].meeting_capacity) continue;
    struct swemu_meetings* meetings = &swemu_cores[c].meetings[id];
    if (meetings->times > most.times) most.times = meetings->times;
    if (meetings->registers > most.registers) most.registers = meetings->registers;
    *meetings = (struct swemu_meetings){0, 0};
  }
  if (most.times)
    print_count("meet %" PRId64 " %d %" PRId64 " %" PRId64 " %s\n", swemu_run.launch, sites[id]->line, most.times,
                most.registers, sites[id]->file);
}

void swemu_end_launch(struct swemu_worker* workers, int worker_count) {
  int64_t peak = 0;
  for (int w = 0; w < worker_count; ++w) {
    if (workers[w].ldm_peak > peak) peak = workers[w].ldm_peak;
    argument_fetches += workers[w].argument_fetches;
    workers[w].ldm_peak = workers[w].argument_fetches = 0;
  }
  print_count("ldm %" PRId64 " %" PRId64 "\n", swemu_run.launch, peak);
  for (int id = 0; id < site_count; ++id) {
    struct swemu_count sum = {0, 0, 0};
    for (int w = 0; w < worker_count; ++w) {
      if (id >= workers[w].count_capacity) continue;
      struct swemu_count* count = &workers[w].counts[id];
      sum.operations += count->operations;
      sum.bytes += count->bytes;
      sum.transfers += count->transfers;
      *count = (struct swemu_count){0, 0, 0};
    }
    if (sum.operations)
      print_count("count %" PRId64 " %d %" PRId64 " %" PRId64 " %" PRId64 " %s\n", swemu_run.launch, sites[id]->line,
                  sum.operations, sum.bytes, sum.transfers, sites[id]->file);
    print_meetings(id);
  }
}

/* ---- dumps ---- */

void swemu_write_dumps(int64_t after_launch) {
  if (!swemu_config.dump_path) return;
  FILE* file = NULL;
  for (int i = 0; i < swemu_config.dump_count; ++i) {
    const struct swemu_dump* dump = &swemu_config.dumps[i];
    if (dump->after_launch != after_launch) continue;
    if (!file) file = fopen(swemu_config.dump_path, "ab");
    const struct swemu_area* area = &swemu_areas[dump->area];
    const int inside = dump->area < swemu_area_count && dump->offset >= 0 && dump->offset + dump->bytes <= area->bytes;
    if (!file || !inside || fwrite(area->memory + dump->offset, 1, (size_t)dump->bytes, file) != (size_t)dump->bytes)
      swemu_fatal("emulation-dump", NULL, -1, "cannot keep the output of launch %" PRId64, after_launch);
  }
  if (file && fclose(file) != 0)
    swemu_fatal("emulation-dump", NULL, -1, "cannot keep the output of launch %" PRId64, after_launch);
}

/* ---- the end ---- */

static int compare_problems(const void* left, const void* right) {
  const struct problem *a = left, *b = right;
  if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
  const int files = strcmp(a->file, b->file);
  if (files) return files;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  return strcmp(a->code, b->code);
}

static void print_problem(const struct problem* p) {
  fflush(stdout);
  if (*p->file) fprintf(stderr, "%s:%d: ", p->file, p->line);
  if (p->core >= 0) fprintf(stderr, "core %d: ", p->core);
  fprintf(stderr, "%s: %s [%s]\n", p->severity == SWEMU_ERROR ? "error" : "warning", p->text, p->code);
}

static int written;

static void write_result(void) {
  if (written) return;
  written = 1;
  if (problem_count > 1) qsort(problems, (size_t)problem_count, sizeof *problems, compare_problems);
  FILE* file = swemu_config.result_path ? fopen(swemu_config.result_path, "w") : NULL;
  if (file) {
    fprintf(file, "seconds %.9f\nfetches %" PRId64 "\n", seconds, argument_fetches);
    if (counted_bytes) fwrite(counted, 1, counted_bytes, file);
  }
  for (int i = 0; i < problem_count; ++i) {
    const struct problem* p = &problems[i];
    if (file)
      fprintf(file, "%s %s\t%" PRId64 "\t%d\t%s\t%d\t%s\n", p->severity == SWEMU_ERROR ? "error" : "warning", p->code,
              p->launch, p->core, p->file, p->line, p->text);
    else
      print_problem(p);
  }
  if (file) {
    fprintf(file, "end\n");
    fclose(file);
  }
}

void swemu_fail(void) {
  pthread_mutex_lock(&lock); /* and keep it: no other thread may report any more */
  write_result();
  fflush(NULL);
  _Exit(EXIT_PROBLEMS);
}

void swemu_finish(void) {
  if (written) return;
  if (swemu_run.running)
    swemu_fatal("emulation-misuse", swemu_run.spawn_site, -1, "kernel %s was not joined before the end",
                swemu_run.kernel);
  if (swemu_run.launch < 0) swemu_write_dumps(-1);
  write_result();
}

/* ---- addresses and crashes ---- */

static const char* place_text(char* text, size_t size, const char* name, int64_t begin, int64_t bytes, int64_t whole) {
  snprintf(text, size, "bytes [%" PRId64 ", %" PRId64 ") of %s, which has %" PRId64, begin, begin + bytes, name, whole);
  return text;
}

const char* swemu_memory_text(char* text, size_t size, const void* begin, int64_t bytes) {
  static const char* const area_names[SWEMU_AREAS] = {"the parameter area", "the activation area"};
  const struct swemu_launch* launch = swemu_run.expected;
  /* The tensor that holds its begin, or that it runs into from before, or that it follows closest. */
  const struct swemu_range* best = NULL;
  int64_t best_at = 0;
  for (int i = 0; launch && i < launch->range_count; ++i) {
    const struct swemu_range* range = &launch->ranges[i];
    if (range->area >= swemu_area_count) continue;
    const int64_t at = (int64_t)((uintptr_t)begin - (uintptr_t)swemu_areas[range->area].memory) - range->offset;
    if (at <= -bytes || at > range->bytes + swemu_config.line) continue;
    if (!best || (at >= 0 && (best_at < 0 || at < best_at))) {
      best = range;
      best_at = at;
    }
  }
  if (best) {
    char name[200];
    snprintf(name, sizeof name, "'%s'", best->name);
    return place_text(text, size, name, best_at, bytes, best->bytes);
  }
  for (int i = 0; i < swemu_area_count; ++i) {
    const int64_t at = (int64_t)((uintptr_t)begin - (uintptr_t)swemu_areas[i].memory);
    if (at > -bytes && at < swemu_areas[i].bytes + swemu_config.line)
      return place_text(text, size, area_names[i], at, bytes, swemu_areas[i].bytes);
  }
  const int64_t at = (int64_t)((uintptr_t)begin - (uintptr_t)swemu_run.argument);
  if (at > -bytes && at < swemu_run.argument_bytes + swemu_config.line)
    return place_text(text, size, "the kernel's argument", at, bytes, swemu_run.argument_bytes);
  snprintf(text, size, "%" PRId64 " bytes at %p, which is not main memory of the program,", bytes, begin);
  return text;
}

static const char* address_text(char* text, size_t size, const void* address) {
  const struct swemu_core* core = swemu_core;
  const int64_t in_ldm = core ? (int64_t)((uintptr_t)address - (uintptr_t)core->fiber->arena) : -1;
  if (!core || in_ldm < -4096 || in_ldm > swemu_config.ldm_bytes + 8192)
    return swemu_memory_text(text, size, address, 1);
  for (int i = 0; i < core->flight_count; ++i) {
    const struct swemu_flight* f = &core->flights[i];
    const int64_t begin = f->ldm - core->fiber->arena;
    if (!f->is_get || in_ldm < begin || in_ldm >= begin + f->length) continue;
    snprintf(text, size,
             "LDM byte %" PRId64 ", in the target of the athread_get issued at %s:%d, which is not awaited yet", in_ldm,
             f->site->file, f->site->line);
    return text;
  }
  const struct swemu_launch* launch = swemu_run.expected;
  for (int i = 0; launch && i < launch->gap_count; ++i) {
    const struct swemu_gap* gap = &launch->gaps[i];
    if (in_ldm < gap->offset || in_ldm >= gap->offset + gap->bytes) continue;
    snprintf(text, size, "LDM byte %" PRId64 ", which belongs to no buffer, %" PRId64 " bytes behind the end of one",
             in_ldm, in_ldm - gap->offset);
    return text;
  }
  snprintf(text, size, "LDM byte %" PRId64 ", of which the kernel declares [0, %" PRId64 ")", in_ldm, core->ldm_size);
  return text;
}

#if SWEMU_ASAN

/* Finds the first "FILE.c:LINE" of a stack frame that is not the runtime's own. */
static int find_frame(const char* report, char* file, size_t size, int* line) {
  for (const char* at = report; (at = strstr(at, ".c:")) != NULL; at += 3) {
    const char* begin = at;
    while (begin > report && begin[-1] != ' ' && begin[-1] != '/' && begin[-1] != '\n') --begin;
    if (strncmp(begin, "swemu_", 6) == 0 || strncmp(begin, "asan_", 5) == 0) continue;
    snprintf(file, size, "%.*s", (int)(at + 2 - begin), begin);
    *line = atoi(at + 3);
    return 1;
  }
  return 0;
}

static void on_sanitizer_report(const char* report) {
  static char file[256];
  int line = 0;
  char text[600], place[400];
  if (!find_frame(report, file, sizeof file, &line)) file[0] = 0;
  const void* address = __asan_get_report_address();
  snprintf(text, sizeof text, "%s of %d bytes at %s", __asan_get_report_access_type() ? "write" : "read",
           (int)__asan_get_report_access_size(), address_text(place, sizeof place, address));
  pthread_mutex_lock(&lock);
  record(SWEMU_ERROR, "emulation-forbidden-access", file, line, swemu_core ? swemu_core->id : -1, text);
  write_result();
  pthread_mutex_unlock(&lock);
}

void swemu_install_crash_handler(void) { __asan_set_error_report_callback(on_sanitizer_report); }
void swemu_use_signal_stack(void) {}

#else

static void on_crash(int signal_number, siginfo_t* info, void* context) {
  (void)context;
  char place[400];
  const char* what = signal_number == SIGFPE   ? "an arithmetic trap"
                     : signal_number == SIGILL ? "a bad instruction"
                                               : "";
  if (!swemu_core) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    return;
  }
  if (*what)
    swemu_fatal("emulation-crash", swemu_run.spawn_site, swemu_core->id, "kernel %s ended by %s", swemu_run.kernel,
                what);
  swemu_fatal("emulation-crash", swemu_run.spawn_site, swemu_core->id, "kernel %s touched %s", swemu_run.kernel,
              info->si_addr ? address_text(place, sizeof place, info->si_addr)
                            : "an address that is no memory, or used simd_load or simd_store unaligned");
}

void swemu_install_crash_handler(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  sigaction(SIGFPE, &action, NULL);
  sigaction(SIGILL, &action, NULL);
}

void swemu_use_signal_stack(void) {
  stack_t stack = {.ss_sp = swemu_checked_realloc(NULL, SIGNAL_STACK), .ss_size = SIGNAL_STACK};
  sigaltstack(&stack, NULL);
}

#endif
