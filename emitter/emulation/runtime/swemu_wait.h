// SPDX-License-Identifier: Apache-2.0
// How cores wait for each other, at barriers and for registers, and host threads for cores; private to the runtime.
#ifndef SWEMU_WAIT_H
#define SWEMU_WAIT_H

#include <pthread.h>

#include "swemu.h"

struct swemu_core;

/* What a core that stands still waits for. */
enum swemu_wait { SWEMU_GOES_ON, SWEMU_AT_BARRIER, SWEMU_TO_TAKE, SWEMU_TO_SEND };

struct swemu_waiting {
  enum swemu_wait what;
  struct swemu_site* at;
  enum swemu_bus bus; /* of what it takes or sends */
  int receiver;       /* that has no room for what it sends */
};

/* Held while cores begin to stand still or are told to go on. */
extern pthread_mutex_t swemu_lock;
extern unsigned swemu_raised; /* counts what any core or host thread may wait for */

void swemu_init_barriers(void);
void swemu_begin_waiting(void); /* of a spawn: no core waits or has returned */
void swemu_core_returned(struct swemu_core* core);

/* Waits for all cores, those of its column or row; `at_opening` is called on the last one, while they stand still. */
void swemu_meet_all(struct swemu_core* core, struct swemu_site* site, void (*at_opening)(void));
void swemu_meet_in_column(struct swemu_core* core, struct swemu_site* site, void (*at_opening)(void));
void swemu_meet_in_row(struct swemu_core* core, struct swemu_site* site, void (*at_opening)(void));

/* With the lock, which it gives back: the core stands still until swemu_raise(word). Ends the program where no core is
 * left that could do that. */
void swemu_stand_still(struct swemu_core* core, struct swemu_waiting waiting, unsigned* word);
/* With the lock: a core that waits for a word goes on. The word has to be raised next. */
void swemu_go_on(struct swemu_core* core);
void swemu_raise(unsigned* word);

/* A host thread waits until *word differs from (or equals) `value`. */
void swemu_await_word(unsigned* word, unsigned value, int until_equal);
void swemu_wake_all(void);

#endif
