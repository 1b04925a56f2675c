// SPDX-License-Identifier: Apache-2.0
// A box goes from the LDM of one core to those of all others of its row or column. The machine sends it register by
// register, which takes some 50 switches between cores for a box of 5 KiB. So does level strict; at the others the box
// is copied at once, when the last of the cores has come. On the machine a sender goes on when its last registers are in
// the others' buffers, and no other core does anything else meanwhile.
#include <string.h>

#include "swemu.h"
#include "swemu_config.h"
#include "swemu_report.h"
#include "swemu_state.h"

static long place_in_ldm(const struct swemu_core* core) {
  return (long)((const char*)core->mesh.broadcast.to - core->fiber->arena);
}

/* All cores of the team stand still. */
static void copy_to_team(enum swemu_bus bus) {
  const struct swemu_team team = swemu_team_of(swemu_core->id, bus);
  const struct swemu_core* sender = NULL;
  for (int i = 0; i < team.size; ++i) {
    const struct swemu_core* core = &swemu_cores[team.first + i * team.step];
    if (!core->mesh.broadcast.sends) continue;
    if (sender)
      swemu_fatal("emulation-broadcast", core->waiting.at, core->id, "sends what core %d sends too", sender->id);
    sender = core;
  }
  if (!sender)
    swemu_fatal("emulation-broadcast", swemu_cores[team.first].waiting.at, team.first,
                "takes %d bytes, which none of the cores that take them sends",
                swemu_cores[team.first].mesh.broadcast.bytes);
  for (int i = 0; i < team.size; ++i) {
    const struct swemu_core* core = &swemu_cores[team.first + i * team.step];
    const struct swemu_inbox* inbox = &core->mesh.inboxes[bus];
    if (inbox->count > 0)
      swemu_fatal("emulation-broadcast", core->waiting.at, core->id,
                  "takes a box, where a register of core %d has come first (%s:%d)", inbox->held[inbox->first].sender,
                  inbox->held[inbox->first].sent_at->file, inbox->held[inbox->first].sent_at->line);
    if (place_in_ldm(core) != place_in_ldm(sender) || core->mesh.broadcast.bytes != sender->mesh.broadcast.bytes)
      swemu_fatal("emulation-broadcast", core->waiting.at, core->id,
                  "takes %d bytes at LDM byte %ld, of which core %d sends %d bytes to byte %ld",
                  core->mesh.broadcast.bytes, place_in_ldm(core), sender->id, sender->mesh.broadcast.bytes,
                  place_in_ldm(sender));
    if (core->mesh.broadcast.to != sender->mesh.broadcast.from)
      memcpy(core->mesh.broadcast.to, sender->mesh.broadcast.from, (size_t)sender->mesh.broadcast.bytes);
  }
}

static void copy_down_column(void) { copy_to_team(SWEMU_COLUMN); }
static void copy_along_row(void) { copy_to_team(SWEMU_ROW); }

static void broadcast(struct swemu_site* site, enum swemu_bus bus, swemu_by_register by_register, int sends,
                      const void* from, void* to, int bytes) {
  struct swemu_core* core = swemu_core;
  if (!core) swemu_fatal("emulation-misuse", site, -1, "a broadcast began on the management core");
  const int idle = swemu_team_of(core->id, bus).idle;
  if (idle > 0)
    swemu_fatal("emulation-broadcast", site, core->id, "a box for all cores of a %s, on %d of which nothing runs",
                swemu_bus_name(bus), idle);
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
