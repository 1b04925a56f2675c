// SPDX-License-Identifier: Apache-2.0
// Register communication down a column of the mesh, or along a row. The machine sends register by register, each other
// core taking what the one sends; here the box is copied at once, when the last of the cores has come. Nothing of the
// order in which registers go can be seen: no core does anything else meanwhile, on the machine either.
#include <string.h>

#include "swemu.h"
#include "swemu_config.h"
#include "swemu_report.h"
#include "swemu_state.h"

static long place_in_ldm(const struct swemu_core* core) {
  return (long)((const char*)core->broadcast.to - core->fiber->arena);
}

/* The cores of the team, each so many behind the last, stand still. */
static void copy_to_team(int first, int step, int end) {
  const struct swemu_core* sender = NULL;
  for (int id = first; id < end; id += step) {
    const struct swemu_core* core = &swemu_cores[id];
    if (!core->broadcast.sends) continue;
    if (sender)
      swemu_fatal("emulation-broadcast", core->blocked_at, id, "sends what core %d sends too", sender->id);
    sender = core;
  }
  if (!sender)
    swemu_fatal("emulation-broadcast", swemu_cores[first].blocked_at, first,
                "takes %d bytes, which none of the cores that take them sends", swemu_cores[first].broadcast.bytes);
  for (int id = first; id < end; id += step) {
    const struct swemu_core* core = &swemu_cores[id];
    if (place_in_ldm(core) != place_in_ldm(sender) || core->broadcast.bytes != sender->broadcast.bytes)
      swemu_fatal("emulation-broadcast", core->blocked_at, id,
                  "takes %d bytes at LDM byte %ld, of which core %d sends %d bytes to byte %ld", core->broadcast.bytes,
                  place_in_ldm(core), sender->id, sender->broadcast.bytes, place_in_ldm(sender));
    if (core->broadcast.to != sender->broadcast.from)
      memcpy(core->broadcast.to, sender->broadcast.from, (size_t)sender->broadcast.bytes);
  }
}

static void copy_down_column(void) {
  copy_to_team(swemu_core->id % swemu_config.columns, swemu_config.columns, swemu_run.threads);
}

static void copy_along_row(void) {
  const int row = swemu_core->id / swemu_config.columns;
  copy_to_team(row * swemu_config.columns, 1, (row + 1) * swemu_config.columns);
}

static struct swemu_core* begin(struct swemu_site* site, int sends, const void* from, void* to, int bytes) {
  struct swemu_core* core = swemu_core;
  if (!core) swemu_fatal("emulation-misuse", site, -1, "a broadcast began on the management core");
  core->broadcast.sends = sends;
  core->broadcast.from = from;
  core->broadcast.to = to;
  core->broadcast.bytes = bytes;
  swemu_count_meeting(core, site, bytes);
  return core;
}

void swemu_broadcast_down_column(struct swemu_site* site, int sends, const void* from, void* to, int bytes) {
  swemu_meet_in_column(begin(site, sends, from, to, bytes), site, copy_down_column);
}

void swemu_broadcast_along_row(struct swemu_site* site, int sends, const void* from, void* to, int bytes) {
  swemu_meet_in_row(begin(site, sends, from, to, bytes), site, copy_along_row);
}
