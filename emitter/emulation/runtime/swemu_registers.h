// SPDX-License-Identifier: Apache-2.0
// Register communication; private to the runtime. A core sends a register along its row or down its column, to one
// core or to all others there; what comes along the row, and what comes down the column, waits in a buffer of each
// core until it takes that. A core stands still that takes where nothing has come, or sends where there is no room.
#ifndef SWEMU_REGISTERS_H
#define SWEMU_REGISTERS_H

#include "swemu_wait.h"

/* How many registers a buffer of the machine holds nobody has published. 4 are assumed; at level strict 1 to 4, as the
 * seed says, the same ones for all kernels of a spawn. */
enum { SWEMU_REGISTER_BYTES = 32, SWEMU_BUFFERED_REGISTERS = 4, SWEMU_TO_ALL = 8 };

static inline int swemu_registers_of(int bytes) { return (bytes + SWEMU_REGISTER_BYTES - 1) / SWEMU_REGISTER_BYTES; }

struct swemu_register {
  unsigned char value[SWEMU_REGISTER_BYTES];
  int bytes;
  int box_bytes; /* of the box that it is a part of; 0: of none */
  int sender;
  struct swemu_site* sent_at;
};

/* What has come to a core along one bus and was not taken yet, first come first. */
struct swemu_inbox {
  struct swemu_register held[SWEMU_BUFFERED_REGISTERS];
  int first, count;
  int room;            /* registers that it holds at most */
  int is_awaited;      /* its core stands still until something comes */
  int waiting_senders; /* that stand still until something is taken */
  unsigned came, left; /* raised for these */
};

struct swemu_on_mesh {
  struct swemu_inbox inboxes[2];        /* by bus */
  struct swemu_site* broadcasting_from; /* the statement whose registers it sends or takes; null: none */
  struct {                              /* what it sends to all, or takes */
    int sends;
    const void* from; /* of the sender */
    void* to;
    int bytes;
  } broadcast;
};

/* The cores along a bus are those from `first` on, each `step` behind the last. */
struct swemu_team {
  int first, step, size;
  int place; /* in it, of the core that asks */
  int idle;  /* cores of the bus on which nothing runs */
};
struct swemu_team swemu_team_of(int core, enum swemu_bus bus);
const char* swemu_bus_name(enum swemu_bus bus);

void swemu_begin_registers(void); /* of a spawn: nothing has been sent */
/* What was sent and never taken, of which the next kernel would take the first. All cores stand still. */
void swemu_check_registers(void);

#endif
