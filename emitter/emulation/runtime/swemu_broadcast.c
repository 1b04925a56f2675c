// SPDX-License-Identifier: Apache-2.0
// A box goes from the LDM of one core to those of all others of its row or column. The machine sends it register by
// register, which takes some 50 switches between cores for a box of 5 KiB. So does level strict; at the others the box
// is copied at once, when the last of the cores has come: no core does anything else meanwhile, on the machine either.
#include <string.h>

#include "swemu.h"
#include "swemu_config.h"
#include "swemu_report.h"
#include "swemu_state.h"

static long place_in_ldm(const struct swemu_core* core) {
  return (long)((const char*)core->mesh.broadcast.to - core->fiber->arena);
}

/* The cores of the team, each so many behind the last, stand still. */
static void copy_to_team(int first, int step, int end) {
  const struct swemu_core* sender = NULL;
  for (int id = first; id < end; id += step) {
    const struct swemu_core* core = &swemu_cores[id];
    if (!core->mesh.broadcast.sends) continue;
    if (sender) swemu_fatal("emulation-broadcast", core->waiting.at, id, "sends what core %d sends too", sender->id);
    sender = core;
  }
  if (!sender)
    swemu_fatal("emulation-broadcast", swemu_cores[first].waiting.at, first,
                "takes %d bytes, which none of the cores that take them sends",
                swemu_cores[first].mesh.broadcast.bytes);
  for (int id = first; id < end; id += step) {
    const struct swemu_core* core = &swemu_cores[id];
    if (place_in_ldm(core) != place_in_ldm(sender) || core->mesh.broadcast.bytes != sender->mesh.broadcast.bytes)
      swemu_fatal("emulation-broadcast", core->waiting.at, id,
                  "takes %d bytes at LDM byte %ld, of which core %d sends %d bytes to byte %ld",
                  core->mesh.broadcast.bytes, place_in_ldm(core), sender->id, sender->mesh.broadcast.bytes,
                  place_in_ldm(sender));
    if (core->mesh.broadcast.to != sender->mesh.broadcast.from)
      memcpy(core->mesh.broadcast.to, sender->mesh.broadcast.from, (size_t)sender->mesh.broadcast.bytes);
  }
}

static void copy_down_column(void) {
  copy_to_team(swemu_core->id % swemu_config.columns, swemu_config.columns, swemu_run.threads);
}

static void copy_along_row(void) {
  const int row = swemu_core->id / swemu_config.columns;
  copy_to_team(row * swemu_config.columns, 1, (row + 1) * swemu_config.columns);
}

static void broadcast(struct swemu_site* site, enum swemu_bus bus, swemu_by_register by_register, int sends,
                      const void* from, void* to, int bytes) {
  struct swemu_core* core = swemu_core;
  if (!core) swemu_fatal("emulation-misuse", site, -1, "a broadcast began on the management core");
  core->mesh.broadcast.sends = sends;
  core->mesh.broadcast.from = from;
  core->mesh.broadcast.to = to;
  core->mesh.broadcast.bytes = bytes;
  swemu_count_meeting(core, site, bytes);
  if (swemu_config.level == SWEMU_STRICT) {
    core->mesh.broadcasting_from = site;
    by_register(sends, from, to, bytes);
    core->mesh.broadcasting_from = NULL;
  } else if (bus == SWEMU_ROW) {
    swemu_meet_in_row(core, site, copy_along_row);
  } else {
    swemu_meet_in_column(core, site, copy_down_column);
  }
}

void swemu_broadcast_down_column(struct swemu_site* site, swemu_by_register by_register, int sends, const void* from,
                                 void* to, int bytes) {
  broadcast(site, SWEMU_COLUMN, by_register, sends, from, to, bytes);
}

void swemu_broadcast_along_row(struct swemu_site* site, swemu_by_register by_register, int sends, const void* from,
                               void* to, int bytes) {
  broadcast(site, SWEMU_ROW, by_register, sends, from, to, bytes);
}
