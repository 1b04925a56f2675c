// SPDX-License-Identifier: Apache-2.0
// Writes counts.txt: "file line transfers operations bytes" for every line with a transfer or a wait.
#include "stub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { cores = STUB_CORES, ldm_bytes = 65536, max_places = 4096 };

static int core;
static char ldm[ldm_bytes] __attribute__((aligned(128)));
static struct place {
  const char *file;
  int line;
  long transfers, operations, bytes;
} places[max_places];
static int place_count;

static void fail(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: core %d: %s\n", file, line, core, what);
  exit(3);
}

static struct place *place_of(const char *file, int line) {
  for (int i = 0; i < place_count; i++) {
    if (places[i].line == line && strcmp(places[i].file, file) == 0) return &places[i];
  }
  if (place_count == max_places) fail(file, line, "too many places");
  places[place_count] = (struct place){file, line, 0, 0, 0};
  return &places[place_count++];
}

static void write_counts(void) {
  FILE *file = fopen("counts.txt", "w");
  for (int i = 0; file != NULL && i < place_count; i++) {
    fprintf(file, "%s %d %ld %ld %ld\n", places[i].file, places[i].line, places[i].transfers, places[i].operations,
            places[i].bytes);
  }
  if (file != NULL) fclose(file);
}

void stub_spawn(void (*kernel)(void *), void *argument) {
  static int registered;
  if (!registered) atexit(write_counts);
  registered = 1;
  for (core = 0; core < cores; core++) {
    memset(ldm, 0xff, sizeof ldm); /* NaN */
    kernel(argument);
  }
}

int stub_core_id(void) { return core; }

void *swemu_ldm(size_t bytes, size_t buffer_bytes) {
  (void)buffer_bytes;
  if (bytes > sizeof ldm) fail(__FILE__, __LINE__, "more LDM than there is");
  return ldm;
}

void *swemu_alloc(size_t bytes) {
  void *memory = NULL;
  return posix_memalign(&memory, 128, bytes) == 0 ? memory : NULL;
}

void stub_dma(const char *file, int line, const void *source, void *target, int length, void *reply, int stride,
              int block, int is_get) {
  struct place *place = place_of(file, line);
  const char *in_ldm = is_get ? target : source;
  if (length <= 0) fail(file, line, "a transfer of nothing");
  if (in_ldm < ldm || in_ldm + length > ldm + sizeof ldm) fail(file, line, "not in the LDM");
  if (block == 0) block = length;
  if (length % block != 0 || stride < 0) fail(file, line, "no whole number of blocks");
  for (int done = 0, at = 0; done < length; done += block, at += block + stride) {
    memcpy((char *)target + (is_get ? done : at), (const char *)source + (is_get ? at : done), (size_t)block);
  }
  if (*(volatile unsigned *)reply == 0) place->transfers++;
  ++*(volatile unsigned *)reply;
  place->operations++;
  place->bytes += length;
}

void stub_wait(const char *file, int line, volatile unsigned *reply, int count) {
  if ((int)*reply != count) fail(file, line, "a wait for another number than there are transfers");
}
