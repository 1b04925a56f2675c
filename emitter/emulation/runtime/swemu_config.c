// SPDX-License-Identifier: Apache-2.0
// The configuration: a text file, named by SWEMU_CONFIG, of one setting a line. Without it the program runs in level
// check and every area is one tensor that all launches may write.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "swemu_state.h"

struct swemu_config swemu_config = {.level = SWEMU_CHECK, .cores = 64, .columns = 8, .ldm_bytes = 65536, .alignment = 4, .line = 128};
struct swemu_area swemu_areas[SWEMU_AREAS];
int swemu_area_count;

void* swemu_checked_realloc(void* memory, size_t bytes) {
  void* result = realloc(memory, bytes ? bytes : 1);
  if (!result) {
    fprintf(stderr, "emulation: out of memory\n");
    _Exit(70);
  }
  return result;
}

static char* copy_text(const char* text) {
  const size_t n = strlen(text) + 1;
  return memcpy(swemu_checked_realloc(NULL, n), text, n);
}

static void refuse(const char* path, int line, const char* text) {
  fprintf(stderr, "%s:%d: unknown or incomplete setting: %s\n", path, line, text);
  _Exit(70);
}

#define APPEND(items, count) \
  ((items) = swemu_checked_realloc((items), (size_t)((count) + 1) * sizeof *(items)), &(items)[(count)++])

static void find_shared(struct swemu_launch* launch) {
  for (int i = 0; i < launch->range_count; ++i) {
    struct swemu_range* a = &launch->ranges[i];
    for (int k = 0; k < launch->range_count; ++k) {
      const struct swemu_range* b = &launch->ranges[k];
      if (b->writable && a->area == b->area && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes)
        a->shared = 1;
    }
  }
}

static void read_file(const char* path, FILE* file) {
  struct swemu_config* config = &swemu_config;
  char* text = NULL;
  size_t capacity = 0;
  int line = 0;
  while (getline(&text, &capacity, file) >= 0) {
    ++line;
    text[strcspn(text, "\n")] = 0;
    if (!*text) continue;
    const char* rest = strchr(text, ' ');
    if (!rest) refuse(path, line, text);
    const size_t key_length = (size_t)(rest - text);
    ++rest;
    struct swemu_launch* launch = config->launch_count ? &config->launches[config->launch_count - 1] : NULL;
    long long a = 0, b = 0, c = 0, d = 0;
    int used = 0;
#define KEY(name) (key_length == strlen(name) && strncmp(text, name, key_length) == 0)
    if (KEY("level")) {
      config->level = !strcmp(rest, "count") ? SWEMU_COUNT : !strcmp(rest, "strict") ? SWEMU_STRICT : SWEMU_CHECK;
    } else if (KEY("workers")) {
      config->workers = atoi(rest);
    } else if (KEY("cores")) {
      config->cores = atoi(rest);
    } else if (KEY("columns")) {
      config->columns = atoi(rest);
    } else if (KEY("ldm")) {
      config->ldm_bytes = atoll(rest);
    } else if (KEY("alignment")) {
      config->alignment = atoi(rest);
    } else if (KEY("line")) {
      config->line = atoi(rest);
    } else if (KEY("unaligned") && sscanf(rest, "%lld %n", &a, &used) == 1 && used > 0) {
      struct swemu_place* place = APPEND(config->unaligned, config->unaligned_count);
      *place = (struct swemu_place){copy_text(rest + used), (int)a};
    } else if (KEY("seed")) {
      config->seed = strtoull(rest, NULL, 10);
    } else if (KEY("result")) {
      config->result_path = copy_text(rest);
    } else if (KEY("dumps")) {
      config->dump_path = copy_text(rest);
    } else if (KEY("launch")) {
      launch = APPEND(config->launches, config->launch_count);
      memset(launch, 0, sizeof *launch);
      launch->name = copy_text(rest);
    } else if ((KEY("read") || KEY("write")) && launch && sscanf(rest, "%lld %lld %lld %n", &a, &b, &c, &used) == 3 &&
               used > 0 && a >= 0 && a < SWEMU_AREAS) {
      struct swemu_range* range = APPEND(launch->ranges, launch->range_count);
      *range = (struct swemu_range){copy_text(rest + used), (int)a, b, c, text[0] == 'w', 0, 0, 0};
    } else if (KEY("gap") && launch && sscanf(rest, "%lld %lld", &a, &b) == 2) {
      struct swemu_gap* gap = APPEND(launch->gaps, launch->gap_count);
      *gap = (struct swemu_gap){a, b};
    } else if (KEY("dump") && sscanf(rest, "%lld %lld %lld %lld", &a, &b, &c, &d) == 4 && b >= 0 && b < SWEMU_AREAS) {
      struct swemu_dump* dump = APPEND(config->dumps, config->dump_count);
      *dump = (struct swemu_dump){a, c, d, (int)b};
    } else {
      refuse(path, line, text);
    }
#undef KEY
  }
  free(text);
  for (int64_t i = 0; i < config->launch_count; ++i) find_shared(&config->launches[i]);
  if (config->cores < 1 || config->columns < 1 || config->ldm_bytes < 1 || config->alignment < 1 ||
      (config->alignment & (config->alignment - 1)) != 0 || config->line < 1 ||
      (config->line & (config->line - 1)) != 0)
    refuse(path, 0, "cores, columns, ldm, alignment or line out of range");
}

void swemu_read_config(void) {
  static int done;
  if (done) return;
  done = 1;
  const char* path = getenv("SWEMU_CONFIG");
  if (!path || !*path) return;
  FILE* file = fopen(path, "r");
  if (!file) {
    fprintf(stderr, "emulation: cannot read the configuration %s\n", path);
    _Exit(70);
  }
  read_file(path, file);
  fclose(file);
  swemu_config.configured = 1;
}

const struct swemu_launch* swemu_launch_at(int64_t number) {
  static char parameters[] = "the parameters", activations[] = "the activations", any[] = "any";
  static struct swemu_range areas[SWEMU_AREAS] = {{parameters, 0, 0, 0, 1, 1, 0, 0},
                                                  {activations, 1, 0, 0, 1, 1, 0, 0}};
  static struct swemu_launch everything = {any, areas, SWEMU_AREAS, NULL, 0};
  if (swemu_config.configured && number >= swemu_config.launch_count) return NULL;
  struct swemu_launch* launch = swemu_config.configured ? &swemu_config.launches[number] : &everything;
  for (int i = 0; i < launch->range_count; ++i) {
    struct swemu_range* range = &launch->ranges[i];
    const struct swemu_area* area = &swemu_areas[range->area];
    if (!swemu_config.configured) range->bytes = area->bytes;
    const int inside = range->offset >= 0 && range->bytes >= 0 && range->offset <= area->bytes - range->bytes;
    range->low = inside ? (uint64_t)(uintptr_t)area->memory + (uint64_t)range->offset : 0;
    range->high = inside ? range->low + (uint64_t)range->bytes : 0;
  }
  return launch;
}

char* swemu_map(size_t bytes, size_t alignment) {
  char* memory = mmap(NULL, bytes + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  return memory + (alignment - (uintptr_t)memory % alignment) % alignment;
}

void* swemu_alloc(size_t bytes) {
  swemu_read_config();
  if (swemu_area_count == SWEMU_AREAS)
    swemu_fatal("emulation-misuse", NULL, -1, "more than two areas of main memory were allocated");
  char* memory = swemu_map(bytes ? bytes : 1, (size_t)swemu_config.line);
  if (!memory) return NULL;
  /* Nothing may be read from main memory before it was written: activations start as NaN. In level count the zeros
   * only make pages exist before the run is timed. */
  if (swemu_area_count == 1) memset(memory, swemu_config.level == SWEMU_COUNT ? 0 : 0xff, bytes);
  swemu_areas[swemu_area_count++] = (struct swemu_area){memory, (int64_t)bytes};
  return memory;
}
