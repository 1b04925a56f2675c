// SPDX-License-Identifier: Apache-2.0
// Registers on the buses of the mesh. What one core sends to all others of its row comes to all of them at once, so
// that registers of one sender stay in front of those of another that sends after having taken the first. (The matrix
// product of swDNN changes senders in this way, without a barrier between.)
#include <string.h>

#include "swemu_state.h"

struct swemu_team swemu_team_of(int core, enum swemu_bus bus) {
  const int columns = swemu_config.columns;
  const int row = core / columns;
  const int column = core % columns;
  if (bus == SWEMU_ROW) {
    const int left = swemu_run.threads - row * columns;
    const int size = left < columns ? left : columns;
    return (struct swemu_team){row * columns, 1, size, column, columns - size};
  }
  const int size = (swemu_run.threads - column + columns - 1) / columns;
  return (struct swemu_team){column, columns, size, row, (swemu_config.cores - column + columns - 1) / columns - size};
}

const char* swemu_bus_name(enum swemu_bus bus) { return bus == SWEMU_ROW ? "row" : "column"; }

static struct swemu_core* core_on(struct swemu_site** site, enum swemu_bus bus, size_t bytes, const char* what) {
  struct swemu_core* core = swemu_core;
  if (!core) swemu_fatal("emulation-misuse", *site, -1, "a register is %s on the management core", what);
  if (core->mesh.broadcasting_from) *site = core->mesh.broadcasting_from;
  if (bytes > SWEMU_REGISTER_BYTES)
    swemu_fatal("emulation-registers", *site, core->id, "%zu bytes are %s along the %s, and a register has %d", bytes,
                what, swemu_bus_name(bus), SWEMU_REGISTER_BYTES);
  return core;
}

static int box_of(const struct swemu_core* core) {
  return core->mesh.broadcasting_from ? core->mesh.broadcast.bytes : 0;
}

/* A core that has no room for one more register, of those that it goes to. */
static struct swemu_core* full_one(const struct swemu_team* team, enum swemu_bus bus, int to) {
  for (int i = 0; i < team->size; ++i) {
    if (to == SWEMU_TO_ALL ? i == team->place : i != to) continue;
    struct swemu_core* core = &swemu_cores[team->first + i * team->step];
    if (core->mesh.inboxes[bus].count == core->mesh.inboxes[bus].room) return core;
  }
  return NULL;
}

static void come_to(struct swemu_core* core, enum swemu_bus bus, const struct swemu_register* sent) {
  struct swemu_inbox* inbox = &core->mesh.inboxes[bus];
  inbox->held[(inbox->first + inbox->count++) % SWEMU_BUFFERED_REGISTERS] = *sent;
  if (!inbox->is_awaited) return;
  inbox->is_awaited = 0;
  swemu_go_on(core);
  swemu_raise(&inbox->came);
}

void swemu_send_register(struct swemu_site* site, enum swemu_bus bus, const void* value, size_t bytes, int to) {
  struct swemu_core* core = core_on(&site, bus, bytes, "sent");
  const struct swemu_team team = swemu_team_of(core->id, bus);
  if (to != SWEMU_TO_ALL && (to < 0 || to >= team.size || to == team.place))
    swemu_fatal("emulation-registers", site, core->id,
                "sends to core %d of its %s, which has %d, itself number %d of these (%d: to all others)", to,
                swemu_bus_name(bus), team.size, team.place, SWEMU_TO_ALL);
  if (to == SWEMU_TO_ALL && team.idle > 0)
    swemu_fatal("emulation-registers", site, core->id,
                "sends to all cores of its %s, on %d of which nothing runs that would take it", swemu_bus_name(bus),
                team.idle);
  struct swemu_register sent = {.bytes = (int)bytes, .box_bytes = box_of(core), .sender = core->id, .sent_at = site};
  memcpy(sent.value, value, bytes);
  pthread_mutex_lock(&swemu_lock);
  for (struct swemu_core* full = full_one(&team, bus, to); full; full = full_one(&team, bus, to)) {
    struct swemu_inbox* inbox = &full->mesh.inboxes[bus];
    ++inbox->waiting_senders;
    swemu_stand_still(core, (struct swemu_waiting){SWEMU_TO_SEND, site, bus, full->id}, &inbox->left);
    pthread_mutex_lock(&swemu_lock);
  }
  for (int i = 0; i < team.size; ++i) {
    if (to == SWEMU_TO_ALL ? i != team.place : i == to) come_to(&swemu_cores[team.first + i * team.step], bus, &sent);
  }
  pthread_mutex_unlock(&swemu_lock);
}

static void tell_senders(struct swemu_core* core, enum swemu_bus bus) {
  struct swemu_inbox* inbox = &core->mesh.inboxes[bus];
  if (!inbox->waiting_senders) return;
  const struct swemu_team team = swemu_team_of(core->id, bus);
  for (int i = 0; i < team.size; ++i) {
    struct swemu_core* other = &swemu_cores[team.first + i * team.step];
    const struct swemu_waiting* waits = &other->waiting;
    if (waits->what == SWEMU_TO_SEND && waits->bus == bus && waits->receiver == core->id) swemu_go_on(other);
  }
  inbox->waiting_senders = 0;
  swemu_raise(&inbox->left);
}

void swemu_take_register(struct swemu_site* site, enum swemu_bus bus, void* value, size_t bytes) {
  struct swemu_core* core = core_on(&site, bus, bytes, "taken");
  struct swemu_inbox* inbox = &core->mesh.inboxes[bus];
  pthread_mutex_lock(&swemu_lock);
  while (!inbox->count) {
    inbox->is_awaited = 1;
    swemu_stand_still(core, (struct swemu_waiting){SWEMU_TO_TAKE, site, bus, -1}, &inbox->came);
    pthread_mutex_lock(&swemu_lock);
  }
  const struct swemu_register* taken = &inbox->held[inbox->first];
  if (taken->bytes != (int)bytes)
    swemu_fatal("emulation-registers", site, core->id, "takes %zu bytes, where core %d sent %d (%s:%d)", bytes,
                taken->sender, taken->bytes, taken->sent_at->file, taken->sent_at->line);
  if (taken->box_bytes != box_of(core))
    swemu_fatal("emulation-broadcast", site, core->id,
                "takes a register of a box of %d bytes, where core %d sent one of a box of %d (%s:%d; 0: of none)",
                box_of(core), taken->sender, taken->box_bytes, taken->sent_at->file, taken->sent_at->line);
  memcpy(value, taken->value, bytes);
  inbox->first = (inbox->first + 1) % SWEMU_BUFFERED_REGISTERS;
  --inbox->count;
  tell_senders(core, bus);
  pthread_mutex_unlock(&swemu_lock);
}

void swemu_begin_registers(void) {
  uint64_t state = swemu_config.seed * 7368787u + (uint64_t)swemu_run.launch;
  for (int i = 0; i < swemu_run.threads; ++i) {
    for (int bus = 0; bus < 2; ++bus) {
      struct swemu_inbox* inbox = &swemu_cores[i].mesh.inboxes[bus];
      memset(inbox, 0, sizeof *inbox);
      inbox->room = SWEMU_BUFFERED_REGISTERS;
      if (swemu_config.level == SWEMU_STRICT)
        inbox->room = 1 + (int)(swemu_random(&state) % (uint64_t)SWEMU_BUFFERED_REGISTERS);
    }
  }
}

void swemu_check_registers(void) {
  for (int i = 0; i < swemu_run.threads; ++i) {
    for (int bus = 0; bus < 2; ++bus) {
      struct swemu_inbox* inbox = &swemu_cores[i].mesh.inboxes[bus];
      if (!inbox->count) continue;
      const struct swemu_register* left = &inbox->held[inbox->first];
      swemu_problem(SWEMU_ERROR, "emulation-registers", left->sent_at, left->sender,
                    "core %d never took what was sent here along its %s: the kernel ended with %d register%s waiting",
                    i, swemu_bus_name((enum swemu_bus)bus), inbox->count, inbox->count > 1 ? "s" : "");
      inbox->count = 0;
    }
  }
}
