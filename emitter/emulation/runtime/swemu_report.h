// SPDX-License-Identifier: Apache-2.0
// Counts, problems and the end of the program; private to the runtime.
#ifndef SWEMU_REPORT_H
#define SWEMU_REPORT_H

#include <stddef.h>
#include <stdint.h>

struct swemu_core;
struct swemu_site;
struct swemu_worker;

enum swemu_severity { SWEMU_ERROR, SWEMU_WARNING };

int swemu_site_id(struct swemu_site* site);
/* Records a problem once per code, site and launch: the one of the lowest core is kept. core -1: none. */
void swemu_problem(enum swemu_severity severity, const char* code, struct swemu_site* site, int core,
                   const char* format, ...) __attribute__((format(printf, 5, 6)));
/* Records a problem after which nothing can go on, and ends the program. */
void swemu_fatal(const char* code, struct swemu_site* site, int core, const char* format, ...)
    __attribute__((format(printf, 4, 5), noreturn));
int swemu_has_errors(void);
/* A core waits for others at a site; `bytes` are what one of them sends to all. */
void swemu_count_meeting(struct swemu_core* core, struct swemu_site* site, int bytes);
void swemu_end_launch(struct swemu_worker* workers, int worker_count);
void swemu_write_dumps(int64_t after_launch);
void swemu_add_seconds(double seconds);
void swemu_finish(void);
void swemu_fail(void) __attribute__((noreturn));
void swemu_install_crash_handler(void);
void swemu_use_signal_stack(void);

/* "bytes [0, 64) of 'x'": main memory as the running launch knows it. Uses `text`. */
const char* swemu_memory_text(char* text, size_t size, const void* begin, int64_t bytes);

#endif
