// SPDX-License-Identifier: Apache-2.0
// Register communication down a column of the mesh. The machine sends register by register, each core of the column
// taking what the first one sends; here the box is copied at once, when the last core of the column has come. Nothing
// of the order in which registers go can be seen: no core does anything else meanwhile, on the machine either.
#include <string.h>

#include "swemu.h"
#include "swemu_config.h"
#include "swemu_report.h"
#include "swemu_state.h"

static long place_in_ldm(const struct swemu_core* core) {
  return (long)((const char*)core->broadcast_box - core->fiber->arena);
}

/* The cores of the column of the one that came last stand still. */
static void copy_down_column(void) {
  const int column = swemu_core->id % swemu_config.columns;
  const struct swemu_core* sender = &swemu_cores[column];
  for (int id = column; id < swemu_run.threads; id += swemu_config.columns) {
    const struct swemu_core* core = &swemu_cores[id];
    if (place_in_ldm(core) != place_in_ldm(sender) || core->broadcast_bytes != sender->broadcast_bytes)
      swemu_fatal("emulation-broadcast", core->blocked_at, id,
                  "takes %d bytes at LDM byte %ld, of which core %d sends %d bytes from byte %ld", core->broadcast_bytes,
                  place_in_ldm(core), sender->id, sender->broadcast_bytes, place_in_ldm(sender));
    if (core != sender) memcpy(core->broadcast_box, sender->broadcast_box, (size_t)sender->broadcast_bytes);
  }
}

void swemu_broadcast_down_column(struct swemu_site* site, void* box, int bytes) {
  struct swemu_core* core = swemu_core;
  if (!core) swemu_fatal("emulation-misuse", site, -1, "a broadcast down a column began on the management core");
  core->broadcast_box = box;
  core->broadcast_bytes = bytes;
  swemu_meet_in_column(core, site, copy_down_column);
}
